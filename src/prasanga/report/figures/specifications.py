"""The specification curve of a category: all its estimates in order, and below each the choices that made it.

One panel a method. A filled marker has a star: p_association below .05 after Holm's correction within its specification
(Simonsohn, Simmons and Nelson 2020).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from prasanga.report.agreement import SPECIFIED, has_star, specifications
from prasanga.report.figures.canvas import (
    SIZES,
    NothingToDrawError,
    Width,
    drawn,
    lay_out,
    left_of,
    look,
    width_of,
)
from prasanga.report.figures.palette import LINE, MUTED, PAPER
from prasanga.report.grid import METHODS, Estimate, natural_order

_CURVE = 14
"""Height of the curve, in rows of choices."""


@drawn
def plot_specifications(multiverse: pl.DataFrame, *, category: str, width: Width = "page") -> Figure:
    """Plot all estimates of a category in ascending order, with their choices as marks below; one panel a method.

    Args:
        multiverse: the table of all specifications.
        category: its name.
        width: "column" (3.3 in) or "page" (6.8 in).

    Raises:
        InputError: a column is missing, or another width.
    """
    sizes = SIZES[width]
    rows = specifications(multiverse).filter(category=category).sort("effect_size")
    methods = [method for method in METHODS if method in rows["method"]]
    if not methods:
        raise NothingToDrawError(f"{category} has no estimate under any choices.")
    panels = [rows.filter(method=method).to_dicts() for method in methods]
    choices = [_choices(of_panel) for of_panel in panels]
    most = max(map(len, choices))
    widest = max((width_of(label, sizes["font"]) for of_panel in choices for label in of_panel), default=0.0)
    style = {**look(0, 0, sizes), "linestyle": "none", "markersize": sizes["marker"] * 0.6}
    stars = (("with a star", style), ("without", {**style, "markerfacecolor": PAPER}))
    frame = lay_out(
        width,
        len(panels),
        across=1,
        panel=(_CURVE + most + 1) * sizes["font"] * 1.45 / 72,
        left=max(left_of(sizes, ""), (widest + sizes["font"]) / 72),  # names of choices are wider than numbers
        heads=[(f"{METHODS[m]}, {category}", _shares(of_panel)) for m, of_panel in zip(methods, panels, strict=True)],
        labels=("specifications, by effect size", ""),
        keys=[[Line2D([], [], label=label, **each) for label, each in stars]],
        note="Upper part: effect sizes in ascending order. Marks below: the choices behind each.",
        sharex=False,
        sharey=False,
    )
    for panel, of_panel, of_choices in zip(frame.panels, panels, choices, strict=True):
        _draw_panel(panel, of_panel, of_choices, most, style)
        _ticks(panel, of_panel, of_choices)
    return frame.finish()


def _choices(rows: Sequence[Estimate]) -> list[str]:
    """Return the choices that differ within a panel, as "name: value", in the order of `SPECIFIED`."""
    found = []
    for name in SPECIFIED:
        values = list(dict.fromkeys(str(row[name]) for row in rows if row[name] is not None))
        if len(values) > 1:
            found += [f"{name}: {value}" for value in sorted(values, key=natural_order)]
    return found


def _scale(rows: Sequence[Estimate]) -> tuple[float, float]:
    """Return the middle and the height of the effects: the curve is drawn as rows 0 to -`_CURVE` of the axis."""
    effects = [0.0, *(row["effect_size"] for row in rows)]
    return max(effects), (max(effects) - min(effects)) or 1.0


def _place(effect: float, rows: Sequence[Estimate]) -> float:
    top, height = _scale(rows)
    return (top - effect) / height * (_CURVE - 1)


def _draw_panel(panel: Any, rows: Sequence[Estimate], choices: Sequence[str], most: int, style: dict[str, Any]) -> None:
    panel.axhline(_place(0.0, rows), color=MUTED, linewidth=0.8, zorder=1)
    panel.axhline(_CURVE, color=LINE, linewidth=0.6, zorder=0.5)
    for starred, face in ((True, style["markerfacecolor"]), (False, PAPER)):
        shown = [(n, _place(row["effect_size"], rows)) for n, row in enumerate(rows) if has_star(row) == starred]
        panel.plot([n for n, _ in shown], [y for _, y in shown], **{**style, "markerfacecolor": face})
    for number, label in enumerate(choices):
        name, _, value = label.partition(": ")
        marked = [n for n, row in enumerate(rows) if str(row[name]) == value]
        y = _CURVE + 1 + number
        panel.vlines(marked, y - 0.35, y + 0.35, color=style["color"], linewidth=0.5)
    panel.set_xlim(-0.02 * len(rows) - 0.5, 1.02 * len(rows) - 0.5)
    panel.set_ylim(_CURVE + most + 0.8, -0.8)


def _ticks(panel: Any, rows: Sequence[Estimate], choices: Sequence[str]) -> None:
    top, height = _scale(rows)
    effects = sorted({0.0, top, top - height})
    places = [_place(effect, rows) for effect in effects]
    labels = [f"{effect:.2f}".replace("-", "\N{MINUS SIGN}") for effect in effects]
    kept = [i for i, place in enumerate(places) if effects[i] == 0 or abs(place - _place(0.0, rows)) > 1]
    panel.set_yticks(
        [*(places[i] for i in kept), *(_CURVE + 1 + n for n in range(len(choices)))],
        [*(labels[i] for i in kept), *choices],
    )


def _shares(rows: Sequence[Estimate]) -> str:
    positive = sum(row["effect_size"] > 0 for row in rows)
    same: float = max(positive, len(rows) - positive)
    sign = 1 if 2 * positive >= len(rows) else -1
    stars: float = sum(has_star(row) and row["effect_size"] * sign > 0 for row in rows)
    same, stars = 100 * same / len(rows), 100 * stars / len(rows)
    return f"{len(rows)} specifications; sign holds in {same:.0f} %, star in {stars:.0f} %"
