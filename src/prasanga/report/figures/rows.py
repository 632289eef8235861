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
from prasanga.report.agreement import SIDE_BY_SIDE_SCHEMA
from prasanga.report.figures.canvas import SIZES, NothingToDrawError, Width, drawn, few_ticks, lay_out, look
from prasanga.report.figures.palette import LINE, MUTED, PAPER
from prasanga.report.grid import METHODS, grid_of, is_number, natural_order

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
    for (category, model, of_length, of_mode), row in grid.estimates.items():
        if (of_length, of_mode) == (length, mode):
            panels[model] += [
                Point(category, label, row[name]) for name, label in SCALES.items() if is_number(row[name])
            ]
    note = (
        f"CEAT at {length} words, {mode} draws. Where the markers of a category lie apart, the mean of all vectors or a"
        " few dimensions of large variance decide about cosines."
    )
    categories = [category.name for category in grid.categories]
    return _plot_rows(panels, categories, list(SCALES.values()), "effect size", note, width)


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
    series = list(dict.fromkeys(point.series for point in points))
    return _plot_rows(panels, categories, series, "effect size", _BARS, width)


def _plot_rows(
    panels: Mapping[str, Sequence[Point]],
    categories: Sequence[str],
    series: Sequence[str],
    label: str,
    note: str,
    width: Width,
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
        labels=(label, "category"),
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
