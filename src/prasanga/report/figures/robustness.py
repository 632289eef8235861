"""Figures with a row a category: effects beside each other that were measured in different ways.

`plot_scales` shows whether an effect is one of the vectors as they are, or also of vectors whose mean is removed or
whose dimensions are standardized (Timkey and van Schijndel 2021). `plot_methods` has all methods side by
side.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import polars as pl
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from prasanga.base.parquet import remade_by, require_columns
from prasanga.report.agreement import SIDE_BY_SIDE_SCHEMA, SPECIFIED, has_star, specifications
from prasanga.report.figures.canvas import (
    SIZES,
    NothingToDrawError,
    Width,
    drawn,
    few_ticks,
    lay_out,
    left_of,
    look,
    width_of,
)
from prasanga.report.figures.palette import LINE, MUTED, PAPER
from prasanga.report.grid import METHODS, Estimate, grid_of, is_number, natural_order
from prasanga.report.sheet import MINUS

# --------------------
# The specification curve of a category: all its estimates in order, and below each the choices that made it.
#
# One panel a method. A filled marker has a star: p_association below .05 after Holm's correction within its
# specification (Simonsohn, Simmons and Nelson 2020).


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
    places = {effect: _place(effect, rows) for effect in sorted({0.0, top, top - height})}
    kept = {effect: y for effect, y in places.items() if effect == 0 or abs(y - _place(0.0, rows)) > 1}
    labels = [f"{effect:.2f}".replace("-", MINUS) for effect in kept]
    panel.set_yticks([*kept.values(), *range(_CURVE + 1, _CURVE + 1 + len(choices))], [*labels, *choices])


def _shares(rows: Sequence[Estimate]) -> str:
    positive = sum(row["effect_size"] > 0 for row in rows)
    same: float = max(positive, len(rows) - positive)
    sign = 1 if 2 * positive >= len(rows) else -1
    stars: float = sum(has_star(row) and row["effect_size"] * sign > 0 for row in rows)
    same, stars = 100 * same / len(rows), 100 * stars / len(rows)
    return f"{len(rows)} specifications; sign holds in {same:.0f} %, star in {stars:.0f} %"


# --------------------


SCALES = {
    "effect_size": "vectors as they are",
    "effect_centered": "mean removed",
    "effect_standardized": "dimensions standardized",
}
"""The effects of `plot_scales`, by their columns."""

_ACROSS = {"column": 2, "page": 4}
_ROW = 1.9
"""Height of a row, in sizes of the letters."""


_BARS = "Bars: 95 % interval over words, where every set has at least eight. Open markers: few words."


class Point(NamedTuple):
    """An effect in a row, with its interval where there is one; open where it rests on few words."""

    category: str
    series: str
    effect: float
    low: float | None = None
    high: float | None = None
    is_open: bool = False


@drawn
def plot_scales(ceat: pl.DataFrame, *, width: Width = "page") -> Figure:
    """Plot the effect of each category by vectors as they are, centered and standardized; one panel a model.

    Effects are those at the longest segment length, of the first sample mode.

    Args:
        ceat: the table of estimates.
        width: "column" (3.3 in) or "page" (6.8 in).

    Raises:
        InputError: a table without estimates or without these columns, or another width.
    """
    require_columns("estimates", ceat, tuple(SCALES), remade_by("associations"))
    grid = grid_of(ceat)
    length, mode = grid.lengths[-1], grid.modes[0]
    panels: dict[str, list[Point]] = {model: [] for model in grid.models}
    for (category, model, *place), row in grid.estimates.items():
        if place == [length, mode]:
            found = [Point(category, label, row[name]) for name, label in SCALES.items() if is_number(row[name])]
            panels[model] += found
    note = (
        f"CEAT at {length} words, {mode} draws. Where the markers of a category lie apart, the mean of all vectors or a"
        " few dimensions of large variance decide about cosines."
    )
    categories = [category.name for category in grid.categories]
    return _plot_rows(panels, categories, list(SCALES.values()), note, width)


@drawn
def plot_methods(methods: pl.DataFrame, *, width: Width = "page") -> Figure:
    """Plot the effect of each category by each method, with its interval; one panel a method, a series a model.

    Args:
        methods: estimates from `prasanga.report.agreement.side_by_side`, also as read from CSV.
        width: "column" (3.3 in) or "page" (6.8 in).

    Raises:
        InputError: a column is missing, or another width.
    """
    require_columns("methods", methods, tuple(SIDE_BY_SIDE_SCHEMA), remade_by("report"))
    panels: dict[str, list[Point]] = {}
    for row in methods.iter_rows(named=True):
        ends = row["ci_low"], row["ci_high"]
        point = Point(str(row["category"]), str(row["model"]), row["effect_size"], *ends, bool(row["few_words"]))
        panels.setdefault(METHODS[row["method"]], []).append(point)
    points = [point for of_method in panels.values() for point in of_method]
    categories = sorted({point.category for point in points}, key=natural_order)
    return _plot_rows(panels, categories, list(dict.fromkeys(point.series for point in points)), _BARS, width)


def _plot_rows(
    panels: Mapping[str, Sequence[Point]], categories: Sequence[str], series: Sequence[str], note: str, width: Width
) -> Figure:
    """Plot points by category, one panel a title; series have a colour and a marker each, and a place in the row."""
    sizes = SIZES[width]
    panels = {title: points for title, points in panels.items() if points}
    if not panels:
        raise NothingToDrawError("there is no estimate with a number.")
    there = {point.category for points in panels.values() for point in points}
    shown = [name for name in categories if name in there]
    height = max(1, len(series) / 4) * _ROW * sizes["font"] / 72
    own = {"linestyle": "none", "markersize": sizes["marker"] * 0.8}
    styles = {name: {**look(number, 0, sizes), **own} for number, name in enumerate(series)}
    frame = lay_out(
        width,
        len(panels),
        across=min(_ACROSS[width], len(panels)),
        panel=0.2 + len(shown) * height,
        heads=[(title, "") for title in panels],
        labels=("effect size", "category"),
        keys=[[Line2D([], [], label=name, **style) for name, style in styles.items()]],
        note=note,
    )
    for panel, points in zip(frame.panels, panels.values(), strict=False):
        panel.axvline(0, color=MUTED, linewidth=0.8, zorder=1)
        for row in range(1, len(shown)):
            panel.axhline(row - 0.5, color=LINE, linewidth=0.4, zorder=0.5)
        of_panel = [name for name in series if any(point.series == name for point in points)]
        for point in points:
            y = shown.index(point.category) + ((of_panel.index(point.series) + 0.5) / len(of_panel) - 0.5) * 0.8
            _draw_point(panel, point, y, styles[point.series])
    first = frame.panels[0]
    few_ticks(first.xaxis)
    frame.finish()
    first.set_yticks(range(len(shown)), shown)
    first.set_ylim(len(shown) - 0.5, -0.5)
    return frame.figure


def _draw_point(panel: Any, point: Point, y: float, style: Mapping[str, Any]) -> None:
    panel.plot([point.effect], [y], **{**style, **({"markerfacecolor": PAPER} if point.is_open else {})})
    if is_number(point.low) and is_number(point.high):
        panel.hlines(y, point.low, point.high, color=style["color"], alpha=0.35, linewidth=style["markersize"] * 0.4)
