"""Figures of how much data is enough: the effect with more draws, and with longer contexts.

They look like the figure of effects (`figures`): one panel a category, one line a model in the same colour, the same
table gives the same bytes. In both a filled marker stands where the effect has settled: here and everywhere to the
right it lies within the band around the last one.
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

from prasanga.errors import InputError
from prasanga.report.figures.frame import finish_axes, only_a_note
from prasanga.report.figures.palette import LINE, MUTED, PAPER
from prasanga.report.figures.panels import SIZES, WIDTHS, Panels, Width, check_width, draw_bars, house_style
from prasanga.report.grid import FIRST_DRAWS, Grid, grid_of, is_number

FARTHEST = 2.0
"""Bars are cut here, unless an effect lies beyond: intervals of the bootstrap-t may be of any width."""

_CELL = ("category", "model", "sample_mode")


def plot_convergence(
    ceat: pl.DataFrame,
    convergence: pl.DataFrame,
    *,
    band: float,
    segment_length: str | None = None,
    sample_mode: str | None = None,
    width: Width = "page",
) -> Figure:
    """Combined effect against the number of draws, with the band around the last one of each model.

    With up to 100 draws there is one point, the last, and the figure is a sentence that says so.

    Args:
        ceat: the table of estimates, for categories and models.
        convergence: columns category, model, segment_length, sample_mode, n, effect_size.
        band: distance from the last effect that is small enough.
        segment_length: the one that is drawn; None for the longest.
        sample_mode: the one that is drawn; None for the first (fixed, where there is such a mode).
        width: "column" (3.3 in) or "page" (6.8 in).

    Raises:
        InputError: tables that lack columns or rows, a length or mode that is not there, another width.
    """
    grid = _checked(ceat, "convergence", convergence, ("segment_length", "n", "effect_size"), width)
    length = _chosen("segment_length", segment_length, grid.lengths, grid.lengths[-1])
    mode = _chosen("sample_mode", sample_mode, grid.modes, grid.modes[0])
    drawn = convergence.filter(segment_length=length, sample_mode=mode).sort("n")
    steps = sorted(set(drawn["n"].to_list()))
    if len(steps) == 1:
        why = (
            f"Not drawn: with {steps[0]} draws (associations.n_samples) there is one point. Points begin at"
            f" {FIRST_DRAWS} draws."
        )
        with house_style(width):
            return only_a_note(WIDTHS[width], SIZES[width], why)
    low, high = (steps[0] / 1.25, steps[-1] * 1.25) if steps else (1.0, 10.0)
    note = f"Draws in the order drawn; {length} words, {mode} draws. More draws add neither contexts nor words."
    with house_style(width):
        frame = Panels(
            grid,
            width,
            labels=("number of draws", "effect size (CEAT)"),
            keys=_band_keys(width, f"within {band:g} of the effect of all draws"),
            note=note,
            ticks=[_count(n) for n in steps],
            places=[math.log(n / low) / math.log(high / low) for n in steps],
        )
        for panel, category in zip(frame.panels, grid.categories, strict=False):
            for number, model in enumerate(grid.models):
                rows = drawn.filter(category=category.name, model=model).select("n", "effect_size").rows()
                points = [(n, effect) for n, effect in rows if is_number(effect)]
                if points:
                    last = points[-1][1]
                    look = frame.look(number)
                    panel.axhspan(last - band, last + band, color=look["color"], alpha=0.13, linewidth=0, zorder=0.5)
                    distances = [effect - last for _, effect in points]
                    _line(panel, [n for n, _ in points], [e for _, e in points], _settled(distances, band), look)
            frame.finish(panel, category, empty=not _drawn(panel))
        if steps:  # the panels share their axis
            frame.panels[0].set_xscale("log")
            frame.panels[0].set_xticks(steps, frame.ticks)
            frame.panels[0].xaxis.set_minor_locator(NullLocator())
            frame.panels[0].set_xlim(low, high)
            finish_axes(frame.panels, grid=True)
    return frame.figure


def plot_settling(
    ceat: pl.DataFrame,
    differences: pl.DataFrame,
    settling: pl.DataFrame,
    *,
    band: float,
    sample_mode: str | None = None,
    width: Width = "page",
) -> Figure:
    """Distance of the effect at each length to that at the longest, with its paired 95 % interval, and the band.

    Args:
        ceat: the table of estimates, for categories, models and lengths.
        differences: columns kind, category, model, sample_mode, first, second, difference, ci_low, ci_high.
        settling: columns category, model, sample_mode, band, longest, settled_length.
        band: distance from the effect at the longest length that is small enough.
        sample_mode: the one that is drawn; None for the first (fixed, where there is such a mode).
        width: "column" (3.3 in) or "page" (6.8 in).

    Raises:
        InputError: tables that lack columns or rows, a mode that is not there, rows of another band, another width.
    """
    needed = ("kind", "first", "second", "difference", "ci_low", "ci_high")
    grid = _checked(ceat, "differences", differences, needed, width)
    _checked(ceat, "settling", settling, ("band", "longest", "settled_length"), width)
    mode = _chosen("sample_mode", sample_mode, grid.modes, grid.modes[0])
    between = {
        (row["category"], row["model"], row["first"], row["second"]): row
        for row in differences.filter(kind="length", sample_mode=mode).iter_rows(named=True)
    }
    cells = {(row["category"], row["model"]): row for row in settling.filter(sample_mode=mode).iter_rows(named=True)}
    others = {row["band"] for row in cells.values()} - {band}
    if others:
        raise InputError(f"band: {band}, but the table of settling has {sorted(others)}. Make it again with this band.")
    note = f"Bars: 95 % interval of the paired difference, over words and contexts; {mode} draws."
    with house_style(width):
        frame = Panels(
            grid,
            width,
            labels=("segment length (words)", "distance to the longest"),
            keys=_band_keys(width, f"within {band:g} of the effect at the longest"),
            note=note,
            ticks=grid.lengths,
            places=[(x + 0.45) / (len(grid.lengths) - 0.1) for x in range(len(grid.lengths))],
        )
        shown = [0.0, band, -band]
        for panel, category in zip(frame.panels, grid.categories, strict=False):
            panel.axhspan(-band, band, color=LINE, alpha=0.6, linewidth=0, zorder=0.5)
            for number, model in enumerate(grid.models):
                cell = cells.get((category.name, model))
                if cell is None or cell["longest"] is None:
                    continue
                look, step = frame.look(number), _step(number, len(grid.models))
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
                draw_bars(panel, bars, color=look["color"], linewidth=look["linewidth"] * 0.8)
                shown += [distance for distance, _, _ in distances if is_number(distance)]
                shown += [max(-FARTHEST, min(FARTHEST, end)) for _, *ends in bars for end in ends]
                settled = cell["settled_length"] or cell["longest"]
                _line(panel, places, [d for d, _, _ in distances], grid.lengths.index(settled), look)
            frame.finish(panel, category, empty=not _drawn(panel))
        frame.panels[0].set_xticks(range(len(grid.lengths)), frame.ticks)  # the panels share their axes
        frame.panels[0].set_xlim(-0.45, len(grid.lengths) - 0.55)
        margin = 0.05 * (max(shown) - min(shown))
        frame.panels[0].set_ylim(min(shown) - margin, max(shown) + margin)
        finish_axes(frame.panels, grid=True)
    return frame.figure


def _distance(row: dict[str, Any] | None, longest: bool) -> tuple[float, float | None, float | None]:
    """Shorter minus longest, where the table has longest minus shorter; NaN leaves a gap."""
    if row is None or not is_number(row["difference"]):
        return (0.0 if longest else math.nan), None, None
    low, high = (-end if is_number(end) else None for end in (row["ci_high"], row["ci_low"]))
    return -row["difference"], low, high


def _step(number: int, total: int) -> float:
    """A step to the side for each line, so that markers and bars of equal estimates do not hide each other."""
    return (number - (total - 1) / 2) * min(0.09, 0.6 / max(1, total))


def _settled(distances: Sequence[float], band: float) -> int:
    """The first place at and after which all distances are within the band."""
    place = len(distances)
    while place and abs(distances[place - 1]) <= band:
        place -= 1
    return place


def _line(panel: Any, x: Sequence[float], y: Sequence[float], settled: int, look: dict[str, Any]) -> None:
    """A line with open markers before the place where it settled, and filled ones from there on."""
    panel.plot(x, y, **{**look, "marker": "", "zorder": 2.5})
    markers = {**look, "linestyle": "none"}
    panel.plot(x[:settled], y[:settled], **{**markers, "markerfacecolor": PAPER})
    panel.plot(x[settled:], y[settled:], **markers)


def _band_keys(width: Width, band: str) -> list[list[Any]]:
    """The handles of the band and of the markers for the legend, by row from the bottom up."""
    dot: dict[str, Any] = {"color": MUTED, "linestyle": "none", "marker": "o", "markersize": SIZES[width]["marker"]}
    patch = Patch(color=LINE, label=band)
    markers = [
        Line2D([], [], label="stays there", **dot),
        Line2D([], [], label="not yet", **{**dot, "markerfacecolor": PAPER}),
    ]
    return [markers, [patch]] if width == "column" else [[patch, *markers]]


def _drawn(panel: Any) -> bool:
    """Whether a panel has a line with a point in it."""
    return any(len(line.get_xdata()) for line in panel.lines)


def _checked(ceat: pl.DataFrame, name: str, table: pl.DataFrame, columns: Iterable[str], width: str) -> Grid:
    """The grid of the estimates, with the other table looked at."""
    check_width(width)
    missing = [column for column in (*_CELL, *columns) if column not in table.columns]
    if missing:
        raise InputError(
            f"{name}: no column {', '.join(missing)}; there are {', '.join(table.columns)}. Make the table again with"
            " the associations stage."
        )
    return grid_of(ceat)


def _chosen(name: str, value: str | None, there: Sequence[str], otherwise: str) -> str:
    if value is not None and value not in there:
        raise InputError(f"{name}: {value!r} is not in the table of estimates. Write {' or '.join(there)}.")
    return otherwise if value is None else value


def _count(n: int) -> str:
    """A number of draws for an axis: 500, 1k, 10k."""
    return f"{n // 1000}k" if n >= 1000 and n % 1000 == 0 else f"{n}"
