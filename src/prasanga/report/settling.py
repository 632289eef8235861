"""Figures of how much data is enough: the effect with more draws, and with longer contexts.

They look like the figure of effects (`figures`): one panel a category, one line a model in the same colour, the same
table gives the same bytes. In both a filled marker stands where the effect has settled: here and everywhere to the
right it lies within the band around the last one.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Sequence
from typing import Any

import polars as pl
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.style import context as style_context
from matplotlib.ticker import MaxNLocator, NullLocator

from prasanga.errors import InputError
from prasanga.report.figures import _COLUMNS, _SIZES, _STYLE, WIDTHS, Width, _legend_columns, _look, _shift
from prasanga.report.grid import Category, Grid, grid_of, is_number
from prasanga.report.palette import INK, LINE, MUTED, PAPER

_CELL = ("category", "model", "sample_mode")
# More labels than this do not fit side by side below a panel.
_MANY = 6


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
    note = f"Draws in the order drawn; {length} words, {mode} draws. More draws add neither contexts nor words."
    frame = _Frame(grid, width, f"within {band:g} of the effect of all draws", note)
    with frame.style():
        figure, panels = frame.panels("number of draws", "effect size (CEAT)", upright=True)
        for panel, category in zip(panels, grid.categories, strict=False):
            for number, model in enumerate(grid.models):
                rows = drawn.filter(category=category.name, model=model).select("n", "effect_size").rows()
                points = [(n, effect) for n, effect in rows if is_number(effect)]
                if points:
                    last = points[-1][1]
                    look = frame.look(number)
                    panel.axhspan(last - band, last + band, color=look["color"], alpha=0.13, linewidth=0, zorder=0.5)
                    distances = [effect - last for _, effect in points]
                    _line(panel, [n for n, _ in points], [e for _, e in points], _settled(distances, band), look)
            frame.finish(panel, category)
            if steps:
                panel.set_xscale("log")
                panel.set_xticks(steps, _labels(steps))
                panel.xaxis.set_minor_locator(NullLocator())
                panel.set_xlim(steps[0] / 1.25, steps[-1] * 1.25)
    return figure


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
    frame = _Frame(grid, width, f"within {band:g} of the effect at the longest", note)
    with frame.style():
        figure, panels = frame.panels(
            "segment length (words)", "distance to the effect at the longest", upright=len(grid.lengths) > _MANY
        )
        for panel, category in zip(panels, grid.categories, strict=False):
            panel.axhspan(-band, band, color=LINE, alpha=0.6, linewidth=0, zorder=0.5)
            for number, model in enumerate(grid.models):
                cell = cells.get((category.name, model))
                if cell is None or cell["longest"] is None:
                    continue
                look, shift = frame.look(number), _shift(number, len(grid.models))
                distances = [
                    _distance(between.get((category.name, model, length, cell["longest"])), length == cell["longest"])
                    for length in grid.lengths
                ]
                places = [x + shift for x in range(len(grid.lengths))]
                for x, (_, low, high) in zip(places, distances, strict=True):
                    if is_number(low) and is_number(high):
                        panel.plot(
                            [x] * 2, [low, high], color=look["color"], linewidth=look["linewidth"] * 0.8, zorder=2
                        )
                settled = cell["settled_length"] or cell["longest"]
                _line(panel, places, [d for d, _, _ in distances], grid.lengths.index(settled), look)
            frame.finish(panel, category)
            panel.set_xticks(range(len(grid.lengths)), grid.lengths)
            panel.set_xlim(-0.45, len(grid.lengths) - 0.55)
    return figure


def _distance(row: dict[str, Any] | None, longest: bool) -> tuple[float, float | None, float | None]:
    """Shorter minus longest, where the table has longest minus shorter; NaN leaves a gap."""
    if row is None or not is_number(row["difference"]):
        return (0.0 if longest else math.nan), None, None
    low, high = (-end if is_number(end) else None for end in (row["ci_high"], row["ci_low"]))
    return -row["difference"], low, high


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


class _Frame:
    """Small multiples with the titles, colours and sizes of the figure of effects, and room below for the legend."""

    def __init__(self, grid: Grid, width: Width, band: str, note: str) -> None:
        self.grid, self.width, self.sizes, self.band = grid, width, _SIZES[width], band
        self.note = textwrap.wrap(note, 66 if width == "column" else 130)
        self.line = self.sizes["font"] * 1.75 / 72
        self.legend_columns = _legend_columns(grid, width)

    def style(self) -> Any:
        """The house's style, while something is drawn."""
        return style_context(["default", {**_STYLE, "font.size": self.sizes["font"]}])

    def look(self, model: int) -> dict[str, Any]:
        """Colour and marker of a model."""
        return _look(model, 0, self.sizes)

    def panels(self, x_label: str, y_label: str, *, upright: bool = False) -> tuple[Figure, list[Any]]:
        """A figure with its panels, legend and labels; `upright` leaves room for labels of the ticks that stand."""
        grid, sizes, line = self.grid, self.sizes, self.line
        n_rows, n_columns = math.ceil(len(grid.categories) / _COLUMNS), min(_COLUMNS, len(grid.categories))
        legend_rows = math.ceil(len(grid.models) / self.legend_columns) + (2 if self.width == "column" else 1)
        key = (legend_rows + len(self.note) * 0.85) * line
        below = key + (2.9 if upright else 2.0) * line
        height = n_rows * (sizes["panel"] + sizes["top"]) + (n_rows - 1) * 0.14 + below
        figure = Figure(figsize=(WIDTHS[self.width], height))
        FigureCanvasAgg(figure)
        axes = figure.subplots(
            n_rows,
            n_columns,
            sharex=True,
            sharey=True,
            squeeze=False,
            gridspec_kw={
                "left": (sizes["font"] * 5.4 / 72) / WIDTHS[self.width],
                "right": 0.995,
                "top": 1 - sizes["top"] / height,
                "bottom": below / height,
                "wspace": 0.09,
                "hspace": (sizes["top"] + 0.14) / sizes["panel"],
            },
        )
        panels = list(axes.flat)
        for number, panel in enumerate(panels):
            panel.set_visible(number < len(grid.categories))
            # Panels above an empty place keep their labels, which a shared axis would take away.
            panel.tick_params(
                axis="x", labelbottom=number + n_columns >= len(grid.categories), labelrotation=90 if upright else 0
            )
        figure.text(0.5, (key + 0.6 * line) / height, x_label, ha="center", va="center")
        figure.text(0.004, (height + below) / 2 / height, y_label, rotation=90, ha="left", va="center")
        self._add_legend(figure, height)
        return figure, panels

    def finish(self, panel: Any, category: Category) -> None:
        """Title, zero line and grid of a panel; says so where nothing was drawn."""
        if not any(len(line.get_xdata()) for line in panel.lines):
            panel.text(0.5, 0.62, "not computed", transform=panel.transAxes, ha="center", color=MUTED)
        panel.grid(axis="y")
        panel.set_axisbelow(True)
        panel.axhline(0, color=MUTED, linewidth=0.8, zorder=1)
        panel.yaxis.set_major_locator(MaxNLocator(7, steps=[1, 2, 2.5, 5, 10]))
        size = self.sizes["title"]
        panel.annotate(
            category.name, (0, 1), (0, size * 2.55), textcoords="offset points", xycoords="axes fraction",
            fontsize=size, fontweight="bold",
        )  # fmt: skip
        panel.annotate(
            f"{category.targets}\n{category.attributes}", (0, 1), (0, 2.5), textcoords="offset points",
            xycoords="axes fraction", fontsize=size * 0.92, linespacing=1.1, color=INK,
        )  # fmt: skip

    def _add_legend(self, figure: Figure, height: float) -> None:
        line, sizes = self.line / height, self.sizes
        models = [Line2D([], [], label=model, **self.look(i)) for i, model in enumerate(self.grid.models)]
        dot: dict[str, Any] = {"color": MUTED, "linestyle": "none", "marker": "o", "markersize": sizes["marker"]}
        keys = [
            Patch(color=LINE, label=self.band),
            Line2D([], [], label="stays there", **dot),
            Line2D([], [], label="not yet", **{**dot, "markerfacecolor": PAPER}),
        ]
        keywords: dict[str, Any] = {
            "handlelength": 2.6, "columnspacing": 1.4, "borderaxespad": 0, "borderpad": 0, "labelspacing": 0.4,
            "fontsize": sizes["font"], "loc": "lower center",
        }  # fmt: skip
        base = line * (len(self.note) * 0.85 + 0.25)
        rows: list[list[Any]] = [keys[1:], keys[:1]] if self.width == "column" else [keys]
        for handles in rows:
            figure.legend(handles=handles, ncols=len(handles), bbox_to_anchor=(0.5, base), **keywords)
            base += line
        figure.legend(handles=models, ncols=self.legend_columns, bbox_to_anchor=(0.5, base), **keywords)
        figure.text(0.5, line * 0.1, "\n".join(self.note), ha="center", va="bottom", color=MUTED,
                    fontsize=sizes["font"] * 0.92, linespacing=1.2)  # fmt: skip


def _checked(ceat: pl.DataFrame, name: str, table: pl.DataFrame, columns: Iterable[str], width: str) -> Grid:
    """The grid of the estimates, with the other table looked at."""
    if width not in WIDTHS:
        raise InputError(f"width: {width!r}. Write {' or '.join(WIDTHS)}.")
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


def _labels(steps: Sequence[int]) -> list[str]:
    """Numbers of draws for an axis (500, 1k, 10k), without those that the next one would cover."""
    labels = [f"{n // 1000}k" if n >= 1000 and n % 1000 == 0 else f"{n}" for n in steps]
    return [
        "" if i + 1 < len(steps) and steps[i + 1] < 1.5 * n else label
        for i, (n, label) in enumerate(zip(steps, labels, strict=True))
    ]
