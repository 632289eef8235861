"""The figures of effects: against context length, as distance to the longest length, and against the number of draws.

The first is after Figure 1 of Sadhu et al. (2024); other than the paper's it shows every estimate, whatever its p, with
its interval over words and contexts. The others tell how much data is enough: a filled marker stands where the effect
has settled, so that here and everywhere to the right it lies within the band around the last one. Each has one panel a
category and one line a model.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import polars as pl
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import NullLocator

from prasanga.base.errors import InputError
from prasanga.report.figures.canvas import (
    SIZES,
    NothingToDrawError,
    Width,
    close_panel,
    draw_bars,
    drawn,
    lay_out_categories,
    look,
)
from prasanga.report.figures.palette import LINE, MUTED, PAPER
from prasanga.report.grid import FIRST_DRAWS, Category, Estimate, Grid, few_words, grid_of, is_number

FARTHEST = 2.0
"""An effect size hardly gets beyond this: two target sets of one size lie two standard deviations apart at most. Bars
are cut here, unless an effect lies beyond; intervals of the bootstrap-t may be of any width."""

_BAR: dict[str, Any] = {"alpha": 0.3}
"""Intervals are pale and wide, effects strong and thin: bars of several models do not hide the lines."""

_CELL = ("category", "model", "sample_mode")


@drawn
def plot_effect_by_length(ceat: pl.DataFrame, *, width: Width = "page") -> Figure:
    """Plot effect size against segment length, one panel a category, with 95 % intervals over words as pale bars.

    Every estimate is drawn; bars are those of the first sample mode (fixed, where there is such a mode), as those
    of the other modes are about the same words and would hide the lines.

    Args:
        ceat: the table of estimates.
        width: "column" (3.3 in) or "page" (6.8 in).

    Raises:
        InputError: a table without estimates, or a width that is not one of these.
    """
    grid = grid_of(ceat)
    bottom, top = _limits_of_effects(grid)
    frame, ticks = lay_out_categories(
        grid,
        width,
        labels=("segment length (words)", "effect size (CEAT)"),
        keys=[_keys_of_modes(grid, SIZES[width])],
        note=_note_on_intervals(grid, bottom, top),
        ticks=grid.lengths,
        places=_places(grid),
    )
    for panel, category in zip(frame.panels, grid.categories, strict=False):
        close_panel(panel, empty=not _draw_effects(panel, grid, category, frame.sizes))
    _set_lengths(frame.panels[0], grid, ticks)
    frame.panels[0].set_ylim(bottom, top)
    return frame.finish(grid=True)


@drawn
def plot_convergence(ceat: pl.DataFrame, convergence: pl.DataFrame, *, band: float, width: Width = "page") -> Figure:
    """Plot the combined effect against the number of draws, with the band around the last one of each model.

    Effects are those at the longest segment length, of the first sample mode (fixed, where there is such a mode).

    With up to 100 draws there is one point, the last, and the figure is a sentence that says so.

    Args:
        ceat: the table of estimates, for categories and models.
        convergence: columns category, model, segment_length, sample_mode, n, effect_size.
        band: distance from the last effect that is small enough.
        width: "column" (3.3 in) or "page" (6.8 in).

    Raises:
        InputError: tables that lack columns or rows, another width.
    """
    grid = _checked(ceat, "convergence", convergence, ("segment_length", "n", "effect_size"))
    length, mode = grid.lengths[-1], grid.modes[0]
    shown = convergence.filter(segment_length=length, sample_mode=mode).sort("n")
    steps = sorted(set(shown["n"].to_list()))
    if len(steps) == 1:
        raise NothingToDrawError(
            f"with {steps[0]} draws (associations.n_samples) there is one point. Points begin at {FIRST_DRAWS} draws."
        )
    low, high = (steps[0] / 1.25, steps[-1] * 1.25) if steps else (1.0, 10.0)
    frame, ticks = lay_out_categories(
        grid,
        width,
        labels=("number of draws", "effect size (CEAT)"),
        keys=_band_keys(width, f"within {band:g} of the effect of all draws"),
        note=f"Draws in the order drawn; {length} words, {mode} draws. More draws add neither contexts nor words.",
        ticks=[_count(n) for n in steps],
        places=[math.log(n / low) / math.log(high / low) for n in steps],
    )
    for panel, category in zip(frame.panels, grid.categories, strict=False):
        for number, model in enumerate(grid.models):
            points = shown.filter(pl.col("effect_size").is_finite(), category=category.name, model=model)
            if len(points):
                effects, style = points["effect_size"].to_list(), look(number, 0, frame.sizes)
                last = effects[-1]
                panel.axhspan(last - band, last + band, color=style["color"], alpha=0.13, linewidth=0, zorder=0.5)
                settled = _settled([effect - last for effect in effects], band)
                _line(panel, points["n"].to_list(), effects, settled, style)
        close_panel(panel, empty=not _has_points(panel))
    if not steps:
        return frame.finish()
    frame.panels[0].set_xscale("log")  # the panels share their axis
    frame.panels[0].set_xticks(steps, ticks)
    frame.panels[0].xaxis.set_minor_locator(NullLocator())
    frame.panels[0].set_xlim(low, high)
    return frame.finish(grid=True)


@drawn
def plot_settling(
    ceat: pl.DataFrame, differences: pl.DataFrame, settling: pl.DataFrame, *, band: float, width: Width = "page"
) -> Figure:
    """Plot the distance of the effect at each length to that at the longest.

    It comes with its paired 95 % interval, and the band; of the first sample mode (fixed, where there is such a mode).

    Args:
        ceat: the table of estimates, for categories, models and lengths.
        differences: columns kind, category, model, sample_mode, first, second, difference, ci_low, ci_high.
        settling: columns category, model, sample_mode, band, longest, settled_length.
        band: distance from the effect at the longest length that is small enough.
        width: "column" (3.3 in) or "page" (6.8 in).

    Raises:
        InputError: tables that lack columns or rows, rows of another band, another width.
    """
    needed = ("kind", "first", "second", "difference", "ci_low", "ci_high")
    grid = _checked(ceat, "differences", differences, needed)
    _checked(ceat, "settling", settling, ("band", "longest", "settled_length"))
    mode = grid.modes[0]
    between = {
        (row["category"], row["model"], row["first"], row["second"]): row
        for row in differences.filter(kind="length", sample_mode=mode).iter_rows(named=True)
    }
    cells = {(row["category"], row["model"]): row for row in settling.filter(sample_mode=mode).iter_rows(named=True)}
    others = {row["band"] for row in cells.values()} - {band}
    if others:
        raise InputError(f"band: {band}, but the table of settling has {sorted(others)}. Make it again with this band.")
    frame, ticks = lay_out_categories(
        grid,
        width,
        labels=("segment length (words)", "distance to the longest"),
        keys=_band_keys(width, f"within {band:g} of the effect at the longest"),
        note=f"Bars: 95 % interval of the paired difference, over words and contexts; {mode} draws.",
        ticks=grid.lengths,
        places=_places(grid),
    )
    shown = [0.0, band, -band]
    for panel, category in zip(frame.panels, grid.categories, strict=False):
        panel.axhspan(-band, band, color=LINE, alpha=0.6, linewidth=0, zorder=0.5)
        for number, model in enumerate(grid.models):
            cell = cells.get((category.name, model))
            if cell is None or cell["longest"] is None:
                continue
            style, step = look(number, 0, frame.sizes), _step(number, len(grid.models))
            distances = [
                _distance(between.get((category.name, model, length, cell["longest"])), length == cell["longest"])
                for length in grid.lengths
            ]
            places = [x + step for x in range(len(grid.lengths))]
            bars = [
                (x, low, high)
                for x, (_, low, high) in zip(places, distances, strict=True)
                if low is not None and high is not None
            ]
            draw_bars(panel, bars, color=style["color"], linewidth=style["linewidth"] * 0.8)
            shown += [distance for distance, _, _ in distances if is_number(distance)]
            shown += [max(-FARTHEST, min(FARTHEST, end)) for _, *ends in bars for end in ends]
            settled = cell["settled_length"] or cell["longest"]
            _line(panel, places, [d for d, _, _ in distances], grid.lengths.index(settled), style)
        close_panel(panel, empty=not _has_points(panel))
    _set_lengths(frame.panels[0], grid, ticks)
    margin = 0.05 * (max(shown) - min(shown))
    frame.panels[0].set_ylim(min(shown) - margin, max(shown) + margin)
    return frame.finish(grid=True)


def _places(grid: Grid) -> list[float]:
    """Return where the lengths stand, as shares of a panel's width."""
    return [(x + 0.45) / (len(grid.lengths) - 0.1) for x in range(len(grid.lengths))]


def _set_lengths(panel: Any, grid: Grid, ticks: Sequence[str]) -> None:
    """Set the horizontal axis, which all panels share."""
    panel.set_xticks(range(len(grid.lengths)), ticks)
    panel.set_xlim(-0.45, len(grid.lengths) - 0.55)


def _draw_effects(panel: Any, grid: Grid, category: Category, sizes: dict[str, float]) -> int:
    """Draw the lines of a category, and say how many estimates they show."""
    shown = 0
    for number, model in enumerate(grid.models):
        for mode_number, mode in enumerate(grid.modes):
            style, step = look(number, mode_number, sizes), _step_of_modes(number, len(grid.models), mode_number)
            cells = [grid.at(category.name, model, length, mode) for length in grid.lengths]
            # NaN where there is no estimate: a line must not run over a gap.
            effects = [math.nan if few_words(cell) else _effect(cell) for cell in cells]
            few = [_effect(cell) if few_words(cell) else math.nan for cell in cells]
            if mode_number == 0:
                bars = [(x + step, *interval) for x, cell in enumerate(cells) if (interval := _interval(cell))]
                draw_bars(panel, bars, color=style["color"], linewidth=style["linewidth"] * 2.2, **_BAR)
            x = [place + step for place in range(len(cells))]
            panel.plot(x, effects, **style)
            if any(map(math.isfinite, few)):
                panel.plot(x, few, **{**style, "linestyle": "none", "marker": "x"})
            shown += sum(map(math.isfinite, [*effects, *few]))
    return shown


def _step_of_modes(model: int, n_models: int, mode: int) -> float:
    """Return how far to the side of its length an estimate stands.

    Models stand apart, modes of a model close to each other.
    """
    between = min(0.16, 0.68 / n_models)
    return (model - (n_models - 1) / 2) * between + mode * between / 2


def _limits_of_effects(grid: Grid) -> tuple[float, float]:
    """Return the ends of the vertical axis: all effects, zero, and the intervals as far as `FARTHEST`."""
    effects = [0.0, *filter(math.isfinite, map(_effect, grid.estimates.values()))]
    ends = [end for row in _first_mode(grid) for end in _interval(row) or ()]
    low = min(*effects, max(-FARTHEST, min(ends, default=0)))
    high = max(*effects, min(FARTHEST, max(ends, default=0)))
    margin = 0.05 * (high - low) or 1.0
    return low - margin, high + margin


def _note_on_intervals(grid: Grid, bottom: float, top: float) -> str:
    rows = _first_mode(grid)
    few = " Crosses rest on few words." if any(map(few_words, grid.estimates.values())) else ""
    intervals = [interval for row in rows if (interval := _interval(row))]
    which = f", {grid.modes[0]} draws" if len(grid.modes) > 1 else ""
    if not intervals:
        return f"No intervals: they are given where every resampled set has at least eight words.{few}"
    said = f"Pale bars: 95 % interval over words and contexts{which}"
    if len(intervals) < sum(math.isfinite(_effect(row)) for row in rows):
        said += "; none where a set has fewer than eight words"
    cut = any(low < bottom or high > top for low, high in intervals)
    return f"{said}. Bars are cut where they leave the frame.{few}" if cut else f"{said}.{few}"


def _first_mode(grid: Grid) -> list[Estimate]:
    return [row for (*_, mode), row in grid.estimates.items() if mode == grid.modes[0]]


def _effect(row: Estimate | None) -> float:
    """Return the effect size of an estimate, NaN if it has none."""
    return float(row["effect_size"]) if row is not None and is_number(row["effect_size"]) else math.nan


def _interval(row: Estimate | None) -> tuple[float, float] | None:
    """Return both ends of the interval of an estimate, None if it has none."""
    if row is None or not all(is_number(row.get(name)) for name in ("effect_size", "ci_low", "ci_high")):
        return None
    return float(row["ci_low"]), float(row["ci_high"])


def _keys_of_modes(grid: Grid, sizes: dict[str, float]) -> list[Any]:
    """Return the handles of the sample modes and of the bars for the legend."""
    handles: list[Any] = []
    for number, mode in enumerate(grid.modes):
        style = {**look(0, number, sizes), "color": MUTED, "marker": "o", "markerfacecolor": PAPER if number else MUTED}
        handles.append(Line2D([], [], label=f"{mode} draws", **style))
    if any(map(_interval, _first_mode(grid))):
        handles.append(Patch(facecolor=MUTED, alpha=_BAR["alpha"], linewidth=0, label="95 % interval"))
    return handles


def _distance(row: dict[str, Any] | None, longest: bool) -> tuple[float, float | None, float | None]:
    """Return shorter minus longest, where the table has longest minus shorter; NaN leaves a gap."""
    if row is None or not is_number(row["difference"]):
        return (0.0 if longest else math.nan), None, None
    low, high = (-end if is_number(end) else None for end in (row["ci_high"], row["ci_low"]))
    return -row["difference"], low, high


def _step(number: int, total: int) -> float:
    """Return a step to the side for each line, so that markers and bars of equal estimates do not hide each other."""
    return (number - (total - 1) / 2) * min(0.09, 0.6 / max(1, total))


def _settled(distances: Sequence[float], band: float) -> int:
    """Return the first place at and after which all distances are within the band."""
    place = len(distances)
    while place and abs(distances[place - 1]) <= band:
        place -= 1
    return place


def _line(panel: Any, x: Sequence[float], y: Sequence[float], settled: int, style: dict[str, Any]) -> None:
    """Draw a line with open markers before the place where it settled, and filled ones from there on."""
    panel.plot(x, y, **{**style, "marker": "", "zorder": 2.5})
    markers = {**style, "linestyle": "none"}
    panel.plot(x[:settled], y[:settled], **{**markers, "markerfacecolor": PAPER})
    panel.plot(x[settled:], y[settled:], **markers)


def _band_keys(width: Width, band: str) -> list[list[Any]]:
    """Return the handles of the band and of the markers for the legend, by row from the bottom up."""
    dot: dict[str, Any] = {"color": MUTED, "linestyle": "none", "marker": "o", "markersize": SIZES[width]["marker"]}
    patch = Patch(color=LINE, label=band)
    markers = [
        Line2D([], [], label="stays there", **dot),
        Line2D([], [], label="not yet", **{**dot, "markerfacecolor": PAPER}),
    ]
    return [markers, [patch]] if width == "column" else [[patch, *markers]]


def _has_points(panel: Any) -> bool:
    """Return whether a panel has a line with a point in it."""
    return any(len(line.get_xdata()) for line in panel.lines)


def _checked(ceat: pl.DataFrame, name: str, table: pl.DataFrame, columns: Iterable[str]) -> Grid:
    """Return the grid of the estimates, with the other table looked at."""
    missing = [column for column in (*_CELL, *columns) if column not in table.columns]
    if missing:
        raise InputError(
            f"{name}: no column {', '.join(missing)}; there are {', '.join(table.columns)}. Make the table again with"
            " the associations stage."
        )
    return grid_of(ceat)


def _count(n: int) -> str:
    """Return a number of draws for an axis: 500, 1k, 10k."""
    return f"{n // 1000}k" if n >= 1000 and n % 1000 == 0 else f"{n}"
