"""Estimates by fixed and by random draws of contexts against each other.

One panel a segment length, one point a category and model. On the line it does not matter which contexts were drawn.
"""

from __future__ import annotations

from statistics import median
from typing import Any, NamedTuple

import polars as pl
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from prasanga.errors import InputError
from prasanga.report.figures.fitting import shortened, wrapped
from prasanga.report.figures.frame import NOTE, finish_axes, lay_out, left_of, only_a_note, panel_width
from prasanga.report.figures.palette import INK, LINE, MUTED
from prasanga.report.figures.panels import SIZES, WIDTHS, Width, check_width, house_style, look
from prasanga.report.grid import Grid, grid_of, is_number

MODES = ("fixed", "random")

_ACROSS = {"column": 3, "page": 4}


class _Point(NamedTuple):
    category: str
    model: str
    length: str
    fixed: float
    random: float

    @property
    def apart(self) -> float:
        return abs(self.random - self.fixed)


def plot_sample_modes(ceat: pl.DataFrame, *, width: Width = "page") -> Figure:
    """Effect sizes by random against fixed draws, each estimate a point, with the line on which both are the same.

    Args:
        ceat: the table of estimates.
        width: "column" (3.3 in) or "page" (6.8 in).

    Raises:
        InputError: a table without estimates or with one of the modes alone, or another width.
    """
    check_width(width)
    grid = grid_of(ceat)
    absent = [mode for mode in MODES if mode not in grid.modes]
    if absent:
        raise InputError(
            f"the table of estimates has no {absent[0]} draws, so there is nothing to compare. Measure both: write"
            " `sample_modes: [fixed, random]` under associations."
        )
    points = _points(grid)
    sizes, inches = SIZES[width], WIDTHS[width]
    with house_style(width):
        if not points:
            return only_a_note(inches, sizes, "Not drawn: no estimate has a number by fixed and by random draws.")
        lengths = [length for length in grid.lengths if any(point.length == length for point in points)]
        models = [model for model in grid.models if any(point.model == model for point in points)]
        across = min(_ACROSS[width], len(lengths))
        room = panel_width(inches, across, left=left_of(sizes, "y"))
        heads = [_head(length, [p for p in points if p.length == length], sizes, room) for length in lengths]
        step = sizes["title"] * NOTE * 1.15
        frame = lay_out(
            inches,
            sizes,
            len(lengths),
            across=across,
            # square, but no larger than the figure of many lengths has them
            panel=min(room / 72, sizes["panel"] * 1.2),
            top=(sizes["title"] * 1.5 + max(len(lines) for _, lines in heads) * step + 3) / 72,
            labels=("effect size, fixed draws", "random draws"),
            keys=[[_key(grid, model, sizes) for model in models]],
            note=_note(points, _unpaired(grid, points)),
        )
        low, high = _limits(points)
        for panel, length, head in zip(frame.panels, lengths, heads, strict=False):
            panel.axhline(0, color=LINE, linewidth=0.6, zorder=1)
            panel.axvline(0, color=LINE, linewidth=0.6, zorder=1)
            panel.plot([low, high], [low, high], color=MUTED, linewidth=0.7, zorder=1.5)
            for model in models:
                shown = [p for p in points if (p.length, p.model) == (length, model)]
                style = {**look(grid.models.index(model), 0, sizes), "linestyle": "none", "alpha": 0.75}
                style["markersize"] = sizes["marker"] * 0.9
                panel.plot([p.fixed for p in shown], [p.random for p in shown], **style)
            _add_head(panel, head, sizes)
        first = frame.panels[0]
        first.set_xlim(low, high)
        first.set_ylim(low, high)
        for axis in (first.xaxis, first.yaxis):
            axis.set_major_locator(MaxNLocator(4, steps=[1, 2, 2.5, 5, 10]))
        finish_axes(frame.panels)
    return frame.figure


def _points(grid: Grid) -> list[_Point]:
    """Every estimate that has a number by both modes."""
    points = []
    for category in grid.categories:
        for model in grid.models:
            for length in grid.lengths:
                found = [grid.at(category.name, model, length, mode) for mode in MODES]
                effects = [float(row["effect_size"]) for row in found if row and is_number(row["effect_size"])]
                if len(effects) == len(MODES):
                    points.append(_Point(category.name, model, length, *effects))
    return points


def _unpaired(grid: Grid, points: list[_Point]) -> int:
    """Estimates with a number by one of the modes alone."""
    known = {
        (category, model, length)
        for (category, model, length, mode), row in grid.estimates.items()
        if mode in MODES and is_number(row["effect_size"])
    }
    return len(known) - len(points)


def _limits(points: list[_Point]) -> tuple[float, float]:
    ends = [0.0, *(value for point in points for value in (point.fixed, point.random))]
    margin = 0.06 * (max(ends) - min(ends)) or 1.0
    return min(ends) - margin, max(ends) + margin


def _head(length: str, points: list[_Point], sizes: dict[str, float], room: float) -> tuple[str, list[str]]:
    apart = [point.apart for point in points]
    space = "\N{NO-BREAK SPACE}"
    said = f"median{space}{_distance(median(apart))}, max{space}{_distance(max(apart))}"
    title = shortened(f"{length} words", sizes["title"], room, bold=True)
    return title, wrapped(said, sizes["title"] * NOTE, room)


def _distance(value: float) -> str:
    return f"{value:.3f}" if value < 10 else f"{value:.3g}"


def _add_head(panel: Any, head: tuple[str, list[str]], sizes: dict[str, float]) -> None:
    title, lines = head
    size, step = sizes["title"], sizes["title"] * NOTE * 1.15
    anchor: dict[str, Any] = {"textcoords": "offset points", "xycoords": "axes fraction"}
    panel.annotate(title, (0, 1), (0, 3 + step * len(lines) + 1), fontsize=size, fontweight="bold", **anchor)
    for number, line in enumerate(reversed(lines)):
        panel.annotate(line, (0, 1), (0, 3 + step * number), fontsize=size * NOTE, color=INK, **anchor)


def _key(grid: Grid, model: str, sizes: dict[str, float]) -> Line2D:
    return Line2D([], [], label=model, **{**look(grid.models.index(model), 0, sizes), "linestyle": "none"})


def _note(points: list[_Point], unpaired: int) -> str:
    apart = [point.apart for point in points]
    farthest = max(points, key=lambda point: point.apart)
    said = (
        f"Each point is a category; on the line both draws give the same. Distance of random from fixed draws over"
        f" {len(points)} estimate{'' if len(points) == 1 else 's'}: median {_distance(median(apart))}, at most"
        f" {_distance(farthest.apart)} ({farthest.category}, {farthest.model}, {farthest.length} words)."
    )
    if unpaired:
        said += f" Left out: {unpaired} with a number by one kind of draws alone."
    return said
