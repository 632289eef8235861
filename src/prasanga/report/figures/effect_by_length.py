"""The figure of effect size against context length, after Figure 1 of Sadhu et al. (2024).

One panel a category, one line a model. Other than the paper's it shows every estimate, whatever its p, with its
interval over words and contexts.
"""

from __future__ import annotations

import math
from typing import Any

import polars as pl
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from prasanga.report.figures.frame import finish_axes
from prasanga.report.figures.palette import MUTED, PAPER
from prasanga.report.figures.panels import SIZES, Panels, Width, check_width, draw_bars, house_style, look
from prasanga.report.grid import Category, Estimate, Grid, grid_of, is_number

_FARTHEST = 2.0
"""An effect size hardly gets beyond this: two target sets of one size lie two standard deviations apart at most. Bars
are cut here, unless an effect lies beyond; intervals of the bootstrap-t may be of any width."""

_BAR: dict[str, Any] = {"alpha": 0.3}
"""Intervals are pale and wide, effects strong and thin: bars of several models do not hide the lines."""


def plot_effect_by_length(ceat: pl.DataFrame, *, width: Width = "page") -> Figure:
    """Effect size against segment length, one panel a category, with 95 % intervals over words as pale bars.

    Every estimate is drawn; bars are those of the first sample mode (fixed, where there is such a mode), as those
    of the other modes are about the same words and would hide the lines.

    Args:
        ceat: the table of estimates.
        width: "column" (3.3 in) or "page" (6.8 in).

    Raises:
        InputError: a table without estimates, or a width that is not one of these.
    """
    check_width(width)
    grid = grid_of(ceat)
    bottom, top = _limits(grid)
    with house_style(width):
        frame = Panels(
            grid,
            width,
            labels=("segment length (words)", "effect size (CEAT)"),
            keys=[_keys(grid, SIZES[width])],
            note=_note(grid, bottom, top),
            ticks=grid.lengths,
            places=[(x + 0.45) / (len(grid.lengths) - 0.1) for x in range(len(grid.lengths))],
        )
        for panel, category in zip(frame.panels, grid.categories, strict=False):
            shown = _draw_panel(panel, grid, category, frame)
            frame.finish(panel, category, empty=not shown)
        # the panels share their axes
        frame.panels[0].set_xticks(range(len(grid.lengths)), frame.ticks)
        frame.panels[0].set_xlim(-0.45, len(grid.lengths) - 0.55)
        frame.panels[0].set_ylim(bottom, top)
        finish_axes(frame.panels, grid=True)
    return frame.figure


def _draw_panel(panel: Any, grid: Grid, category: Category, frame: Panels) -> int:
    """Draw the lines of a category, and say how many estimates they show."""
    shown = 0
    for number, model in enumerate(grid.models):
        for mode_number, mode in enumerate(grid.modes):
            style, step = frame.look(number, mode_number), _step(number, len(grid.models), mode_number)
            cells = [grid.at(category.name, model, length, mode) for length in grid.lengths]
            # NaN where there is no estimate: a line must not run over a gap.
            effects = [_effect(cell) for cell in cells]
            if mode_number == 0:
                bars = [(x + step, *interval) for x, cell in enumerate(cells) if (interval := _interval(cell))]
                draw_bars(panel, bars, color=style["color"], linewidth=style["linewidth"] * 2.2, **_BAR)
            panel.plot([x + step for x in range(len(effects))], effects, **style)
            shown += sum(map(math.isfinite, effects))
    return shown


def _step(model: int, n_models: int, mode: int) -> float:
    """How far to the side of its length an estimate stands: models apart, modes of a model close to each other."""
    between = min(0.16, 0.68 / n_models)
    return (model - (n_models - 1) / 2) * between + mode * between / 2


def _limits(grid: Grid) -> tuple[float, float]:
    """The ends of the vertical axis: all effects, zero, and the intervals as far as `_FARTHEST`."""
    effects = [0.0, *filter(math.isfinite, map(_effect, grid.estimates.values()))]
    ends = [end for row in _first_mode(grid) for end in _interval(row) or ()]
    low = min(*effects, max(-_FARTHEST, min(ends, default=0)))
    high = max(*effects, min(_FARTHEST, max(ends, default=0)))
    margin = 0.05 * (high - low) or 1.0
    return low - margin, high + margin


def _note(grid: Grid, bottom: float, top: float) -> str:
    rows = _first_mode(grid)
    intervals = [interval for row in rows if (interval := _interval(row))]
    which = f", {grid.modes[0]} draws" if len(grid.modes) > 1 else ""
    if not intervals:
        return "No intervals: they are given where every resampled set has at least eight words."
    said = f"Pale bars: 95 % interval over words and contexts{which}"
    if len(intervals) < sum(math.isfinite(_effect(row)) for row in rows):
        said += "; none where a set has fewer than eight words"
    cut = any(low < bottom or high > top for low, high in intervals)
    return f"{said}. Bars are cut where they leave the frame." if cut else f"{said}."


def _first_mode(grid: Grid) -> list[Estimate]:
    return [row for (*_, mode), row in grid.estimates.items() if mode == grid.modes[0]]


def _effect(row: Estimate | None) -> float:
    """The effect size of an estimate, NaN if it has none."""
    return float(row["effect_size"]) if row is not None and is_number(row["effect_size"]) else math.nan


def _interval(row: Estimate | None) -> tuple[float, float] | None:
    """Both ends of the interval of an estimate, None if it has none."""
    if row is None or not all(is_number(row.get(name)) for name in ("effect_size", "ci_low", "ci_high")):
        return None
    return float(row["ci_low"]), float(row["ci_high"])


def _keys(grid: Grid, sizes: dict[str, float]) -> list[Any]:
    """The handles of the sample modes and of the bars for the legend."""
    modes = [
        {**look(0, number, sizes), "color": MUTED, "marker": "o", "markerfacecolor": PAPER if number else MUTED}
        for number in range(len(grid.modes))
    ]
    handles: list[Any] = [
        Line2D([], [], label=f"{mode} draws", **style) for mode, style in zip(grid.modes, modes, strict=True)
    ]
    if any(map(_interval, _first_mode(grid))):
        handles.append(Patch(facecolor=MUTED, alpha=_BAR["alpha"], linewidth=0, label="95 % interval"))
    return handles
