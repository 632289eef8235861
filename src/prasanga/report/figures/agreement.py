"""Figures of two numbers for the same thing, on the line where both are equal.

`plot_sample_modes`: estimates by fixed and by random draws of contexts, one panel a segment length, one point a
category and model. `plot_published`: what a study measured against what a paper prints, one panel a method, each with a
scale of its own, one point a row of the comparison.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any, NamedTuple, TypeAlias

import polars as pl
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from prasanga.base.errors import InputError
from prasanga.pairs.preferences import OVERALL
from prasanga.report.comparison import PAIRS, comparison_rows
from prasanga.report.figures.canvas import (
    SIZES,
    NothingToDrawError,
    Width,
    draw_bars,
    drawn,
    few_ticks,
    lay_out,
    look,
    room_of,
)
from prasanga.report.figures.palette import LINE, MUTED
from prasanga.report.grid import MODES, Grid, grid_of, is_number
from prasanga.report.published import METHODS

_LENGTHS_ACROSS = {"column": 3, "page": 4}

_METHODS_ACROSS = {"column": (1, 2), "page": (1, 2, 3, 4, 3)}
"""Panels side by side, by how many there are; the last also for more."""

_Published: TypeAlias = dict[str, Any]
"""A row of a comparison that has a number of both."""

_GAP = 0.24
_EVEN = 50.0
"""No preference, of sentence pairs."""


class _Draws(NamedTuple):
    category: str
    model: str
    length: str
    fixed: float
    random: float

    @property
    def apart(self) -> float:
        return abs(self.random - self.fixed)


@drawn
def plot_sample_modes(ceat: pl.DataFrame, *, width: Width = "page") -> Figure:
    """Plot effect sizes by random against fixed draws.

    Each estimate is a point; a line shows where both are the same.

    Args:
        ceat: the table of estimates.
        width: "column" (3.3 in) or "page" (6.8 in).

    Raises:
        InputError: a table without estimates or with one of the modes alone, or another width.
    """
    grid = grid_of(ceat)
    absent = [mode for mode in MODES if mode not in grid.modes]
    if absent:
        raise InputError(
            f"the table of estimates has no {absent[0]} draws, so there is nothing to compare. Measure both: write"
            " `sample_modes: [fixed, random]` under associations."
        )
    points = _estimates_by_both(grid)
    if not points:
        raise NothingToDrawError("no estimate has a number by fixed and by random draws.")
    lengths = {length: [p for p in points if p.length == length] for length in grid.lengths}
    lengths = {length: of_length for length, of_length in lengths.items() if of_length}
    models = [model for model in grid.models if any(point.model == model for point in points)]
    sizes, across = SIZES[width], min(_LENGTHS_ACROSS[width], len(lengths))
    frame = lay_out(
        width,
        len(lengths),
        across=across,
        # square, but no larger than the figure of many lengths has them
        panel=min(room_of(width, across) / 72, sizes["panel"] * 1.2),
        heads=[(f"{length} words", _distances(of_length)) for length, of_length in lengths.items()],
        labels=("effect size, fixed draws", "random draws"),
        keys=[[_key(grid.models, model, sizes) for model in models]],
        note=_note_on_draws(points, _unpaired(grid, points)),
    )
    low, high = _limits([value for point in points for value in (point.fixed, point.random)], 0.0, 0.06)
    for panel, of_length in zip(frame.panels, lengths.values(), strict=False):
        _draw_equality(panel, low, high, 0.0)
        for model in models:
            shown = [p for p in of_length if p.model == model]
            style = {**look(grid.models.index(model), 0, sizes), "linestyle": "none", "alpha": 0.75}
            style["markersize"] = sizes["marker"] * 0.9
            panel.plot([p.fixed for p in shown], [p.random for p in shown], **style)
    frame.panels[0].set(xlim=(low, high), ylim=(low, high))
    few_ticks(frame.panels[0].xaxis, frame.panels[0].yaxis)
    return frame.finish()


@drawn
def plot_published(table: pl.DataFrame, *, width: Width = "page") -> Figure:
    """Plot measured against published numbers, with the intervals of the measured ones.

    Args:
        table: rows of `prasanga.report.comparison`, also as read from CSV. A row without a measured number, or of which
            the paper prints a bound only, is not drawn and counted in the note.
        width: "column" (3.3 in) or "page" (6.8 in).

    Raises:
        InputError: a column is missing, or another width.
    """
    rows = comparison_rows(table)
    of_types = rows.filter((pl.col("method") != PAIRS) | (pl.col("category") != OVERALL))
    # the row over all pairs repeats those of the bias types, and is left out of their agreement as well
    rows = of_types if len(of_types) else rows
    points = rows.filter(
        pl.col("measured").is_finite() & pl.col("published").is_finite() & (pl.col("bound").fill_null("") == "")
    ).to_dicts()
    if not points:
        why = "no row of the comparison has a number of both" if len(rows) else "the comparison has no rows"
        raise NothingToDrawError(f"{why}.")
    sizes, models = SIZES[width], list(dict.fromkeys(point["model"] for point in points))
    methods: dict[str, list[_Published]] = {}
    for point in points:
        methods.setdefault(point["method"], []).append(point)
    limits = {method: _limits_of_method(of_method) for method, of_method in methods.items()}
    across = _METHODS_ACROSS[width][min(len(methods), len(_METHODS_ACROSS[width])) - 1]
    frame = lay_out(
        width,
        len(methods),
        across=across,
        # square where there are several, and no larger than two of them side by side
        panel=min(room_of(width, each, gap=_GAP) for each in (across, 2)) / 72,
        heads=[_head(method, of_method) for method, of_method in methods.items()],
        labels=("published", "measured"),
        keys=[_keys_of_doubt(points, sizes), [_key(models, model, sizes) for model in models]],
        note=_note_on_rows(points, len(rows), limits),
        gap=_GAP,
        sharex=False,
        sharey=False,
    )
    for panel, (method, of_method) in zip(frame.panels, methods.items(), strict=False):
        _draw_equality(panel, *limits[method], _EVEN if method == PAIRS else 0.0)
        for number, model in enumerate(models):
            _draw_published(panel, [point for point in of_method if point["model"] == model], number, sizes)
        panel.set(xlim=limits[method], ylim=limits[method])
        few_ticks(panel.xaxis, panel.yaxis)
    return frame.finish()


def _draw_equality(panel: Any, low: float, high: float, middle: float) -> None:
    """Draw the line on which both numbers are the same, and thin ones where each is of no bias."""
    for line in (panel.axhline, panel.axvline):
        line(middle, color=LINE, linewidth=0.6, zorder=1)
    panel.plot([low, high], [low, high], color=MUTED, linewidth=0.7, zorder=1.5)


def _estimates_by_both(grid: Grid) -> list[_Draws]:
    """Return every estimate that has a number by both modes."""
    points = []
    for category, model, length in grid.places:
        found = [grid.at(category.name, model, length, mode) for mode in MODES]
        effects = [float(row["effect_size"]) for row in found if row and is_number(row["effect_size"])]
        if len(effects) == len(MODES):
            points.append(_Draws(category.name, model, length, *effects))
    return points


def _unpaired(grid: Grid, points: list[_Draws]) -> int:
    """Count the estimates with a number by one of the modes alone."""
    known = {
        (category, model, length)
        for (category, model, length, mode), row in grid.estimates.items()
        if mode in MODES and is_number(row["effect_size"])
    }
    return len(known) - len(points)


def _limits(values: Sequence[float], middle: float, margin: float) -> tuple[float, float]:
    """Return the limits of both axes: all values and the middle are inside, with a margin."""
    low, high = min(*values, middle), max(*values, middle)
    beyond = margin * (high - low) or 1.0
    return low - beyond, high + beyond


def _distances(points: list[_Draws]) -> str:
    apart = [point.apart for point in points]
    space = "\N{NO-BREAK SPACE}"
    return f"median{space}{_distance(median(apart))}, max{space}{_distance(max(apart))}"


def _distance(value: float) -> str:
    return f"{value:.3f}" if value < 10 else f"{value:.3g}"


def _key(models: Sequence[str], model: str, sizes: dict[str, float]) -> Line2D:
    return Line2D([], [], label=model, **{**look(models.index(model), 0, sizes), "linestyle": "none"})


def _note_on_draws(points: list[_Draws], unpaired: int) -> str:
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


def _draw_published(panel: Any, points: Sequence[_Published], model: int, sizes: dict[str, float]) -> None:
    for doubtful in (False, True):
        of_kind = [point for point in points if (point["doubt"] is not None) == doubtful]
        style = {**look(model, int(doubtful), sizes), "linestyle": "none", "markersize": sizes["marker"] * 0.9}
        panel.plot([point["published"] for point in of_kind], [point["measured"] for point in of_kind], **style)
    bars = [(point["published"], point["ci_low"], point["ci_high"]) for point in points if _has_interval(point)]
    draw_bars(panel, bars, color=look(model, 0, sizes)["color"], linewidth=sizes["line"] * 0.6, alpha=0.35)


def _has_interval(point: _Published) -> bool:
    return is_number(point["ci_low"]) and is_number(point["ci_high"])


def _limits_of_method(points: Sequence[_Published]) -> tuple[float, float]:
    """Return the limits of both axes of a panel: all points are inside, intervals may leave it."""
    ends = [point[end] for point in points for end in ("published", "measured")]
    return _limits(ends, _EVEN if points[0]["method"] == PAIRS else 0.0, 0.08)


def _head(method: str, points: Sequence[_Published]) -> tuple[str, str]:
    name = "Sentence pairs" if method == PAIRS else METHODS[method]
    signs = [point["same_sign"] for point in points if point["same_sign"] is not None]
    return name, f"{'side' if method == PAIRS else 'sign'} agrees in {sum(signs)} of {len(signs)}"


def _keys_of_doubt(points: Sequence[_Published], sizes: dict[str, float]) -> list[Line2D]:
    """Return what open markers mean, where there are any."""
    if all(point["doubt"] is None for point in points):
        return []
    style = {**look(0, 1, sizes), "linestyle": "none", "color": MUTED}
    return [Line2D([], [], label="the published number is in doubt", **style)]


def _note_on_rows(points: Sequence[_Published], n_rows: int, limits: Mapping[str, tuple[float, float]]) -> str:
    said = "On the line both are equal."
    if barred := [point for point in points if _has_interval(point)]:
        said += " Bars: 95 % interval of what was measured"
        ends = [(point["ci_low"], point["ci_high"], *limits[point["method"]]) for point in barred]
        beyond = any(low < least or high > most for low, high, least, most in ends)
        said += "; some go on beyond the panel." if beyond else "."
    if missing := n_rows - len(points):
        said += f" Not drawn: {missing} of {n_rows} rows, without a number of both."
    return said
