"""The figure of effect size against context length, after Figure 1 of Sadhu et al. (2024).

One panel a category, one line a model. Other than the paper's it shows every estimate, whatever its p, with the
interval of the draws. Text is drawn as paths: the figure looks the same on every machine, and the same table gives the
same bytes.
"""

from __future__ import annotations

import math
import textwrap
from pathlib import Path
from typing import Any, Literal

import polars as pl
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.style import context as style_context
from matplotlib.ticker import MaxNLocator

from prasanga.errors import InputError
from prasanga.parquet import replacing
from prasanga.report.grid import Category, Grid, grid_of, is_number
from prasanga.report.palette import INK, LINE, MARKERS, MODELS, MUTED, PAPER

Width = Literal["column", "page"]

WIDTHS: dict[str, float] = {"column": 3.3, "page": 6.8}
"""Inches: one column of a two-column page, and both."""

_STYLE: dict[str, Any] = {
    "font.family": "DejaVu Sans",  # comes with matplotlib, so it is there on every machine
    "text.color": INK,
    "axes.edgecolor": MUTED,
    "axes.labelcolor": INK,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.unicode_minus": True,
    "grid.color": LINE,
    "grid.linewidth": 0.5,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.major.size": 2,
    "ytick.major.size": 2,
    "xtick.major.pad": 2,
    "ytick.major.pad": 2,
    "legend.frameon": False,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "svg.fonttype": "path",
    "svg.hashsalt": "prasanga",
    "pdf.fonttype": 42,
}
_SIZES: dict[str, dict[str, float]] = {
    "column": {"font": 6.0, "title": 6.4, "marker": 2.5, "line": 0.9, "panel": 0.98, "top": 0.35},
    "page": {"font": 7.5, "title": 8.0, "marker": 3.6, "line": 1.2, "panel": 1.5, "top": 0.42},
}
_COLUMNS = 3


def plot_effect_by_length(ceat: pl.DataFrame, *, width: Width = "page") -> Figure:
    """Effect size against segment length, one panel a category, with the 95 % interval of the draws as bars.

    Args:
        ceat: the table of estimates.
        width: "column" (3.3 in) or "page" (6.8 in).

    Raises:
        InputError: a table without estimates, or a width that is not one of these.
    """
    if width not in WIDTHS:
        raise InputError(f"width: {width!r}. Write {' or '.join(WIDTHS)}.")
    grid, sizes = grid_of(ceat), _SIZES[width]
    n_rows = math.ceil(len(grid.categories) / _COLUMNS)
    n_columns = min(_COLUMNS, len(grid.categories))
    legend_rows = math.ceil(len(grid.models) / _legend_columns(grid, width))
    line = sizes["font"] * 1.75 / 72
    below = (legend_rows + 1) * line + _note_lines(width) * line * 0.85 + (2.4 + _many(grid)) * line
    height = n_rows * (sizes["panel"] + sizes["top"]) + (n_rows - 1) * 0.14 + below
    with style_context(["default", {**_STYLE, "font.size": sizes["font"]}]):
        figure = Figure(figsize=(WIDTHS[width], height))
        FigureCanvasAgg(figure)
        left = (sizes["font"] * 5.2 / 72) / WIDTHS[width]
        axes = figure.subplots(
            n_rows,
            n_columns,
            sharex=True,
            sharey=True,
            squeeze=False,
            gridspec_kw={
                "left": left,
                "right": 0.995,
                "top": 1 - sizes["top"] / height,
                "bottom": below / height,
                "wspace": 0.09,
                "hspace": (sizes["top"] + 0.14) / sizes["panel"],
            },
        )
        panels = list(axes.flat)
        for panel, category in zip(panels, grid.categories, strict=False):
            _draw_panel(panel, grid, category, sizes)
        for panel in panels[len(grid.categories) :]:
            panel.set_visible(False)
        _label_axes(figure, panels, grid, n_columns, below / height, line / height)
        _add_legend(figure, grid, sizes, width, line / height)
    return figure


def save_figure(figure: Figure, path: str | Path, *, made_from: str = "") -> None:
    """Write a figure as SVG, PDF or PNG (300 dots an inch), by the ending of `path`, whole or not at all.

    `made_from` says what the figure was made from, and is kept in the file's metadata. No date goes in.

    Raises:
        InputError: another ending.
    """
    path = Path(path)
    metadata: dict[str, dict[str, str | None]] = {
        ".svg": {"Date": None, "Source": made_from or None},
        ".pdf": {"CreationDate": None, "Subject": made_from or None},
        ".png": {"Source": made_from} if made_from else {},
    }
    if path.suffix not in metadata:
        raise InputError(f"{path}: a figure cannot be saved as {path.suffix!r}. Write {', '.join(metadata)}.")
    with style_context(["default", _STYLE]), replacing(path) as temporary:
        paper = "white" if path.suffix == ".png" else "none"
        figure.savefig(temporary, format=path.suffix[1:], dpi=300, facecolor=paper, metadata=metadata[path.suffix])


def _draw_panel(panel: Any, grid: Grid, category: Category, sizes: dict[str, float]) -> None:
    panel.grid(axis="y")
    panel.set_axisbelow(True)
    panel.axhline(0, color=MUTED, linewidth=0.8, zorder=1)
    shown = 0
    for number, model in enumerate(grid.models):
        for mode_number, mode in enumerate(grid.modes):
            points = [
                (x, estimate)
                for x, length in enumerate(grid.lengths)
                if (estimate := grid.at(category.name, model, length, mode)) and is_number(estimate["effect_size"])
            ]
            shift = _shift(number * len(grid.modes) + mode_number, len(grid.models) * len(grid.modes))
            _draw_line(panel, points, len(grid.lengths), shift, _look(number, mode_number, sizes))
            shown += len(points)
    if not shown:
        panel.text(0.5, 0.62, "not computed", transform=panel.transAxes, ha="center", color=MUTED)
    size = sizes["title"]
    panel.annotate(
        category.name, (0, 1), (0, size * 2.55), textcoords="offset points", xycoords="axes fraction",
        fontsize=size, fontweight="bold",
    )  # fmt: skip
    panel.annotate(
        f"{category.targets}\n{category.attributes}", (0, 1), (0, 2.5), textcoords="offset points",
        xycoords="axes fraction", fontsize=size * 0.92, linespacing=1.1, color=INK,
    )  # fmt: skip


def _draw_line(panel: Any, points: list[tuple[int, Any]], n_lengths: int, shift: float, look: dict[str, Any]) -> None:
    # NaN where there is no estimate: a line must not run over a gap.
    effects = [math.nan] * n_lengths
    for x, estimate in points:
        effects[x] = estimate["effect_size"]
        low, high = estimate.get("ci_low"), estimate.get("ci_high")
        if is_number(low) and is_number(high):
            panel.plot([x + shift] * 2, [low, high], color=look["color"], linewidth=look["linewidth"] * 0.8, zorder=2)
    panel.plot([x + shift for x in range(n_lengths)], effects, **look)


def _look(model: int, mode: int, sizes: dict[str, float]) -> dict[str, Any]:
    """Colour and shape tell the model; solid and filled is the first sample mode, dashed and open any other."""
    colour = MODELS[model % len(MODELS)]
    return {
        "color": colour,
        "marker": MARKERS[model % len(MARKERS)],
        "markersize": sizes["marker"],
        "markeredgewidth": sizes["line"] * 0.7,
        "markerfacecolor": PAPER if mode else colour,
        "linewidth": sizes["line"],
        "zorder": 2.5 if mode else 3,
        "linestyle": (0, (2.2, 1.4)) if mode else "-",
    }


def _shift(number: int, total: int) -> float:
    """A step to the side for each line, so that markers and bars of equal estimates do not hide each other."""
    return (number - (total - 1) / 2) * min(0.09, 0.6 / max(1, total))


def _label_axes(figure: Figure, panels: list[Any], grid: Grid, n_columns: int, bottom: float, line: float) -> None:
    many = _many(grid)
    for number, panel in enumerate(panels):
        panel.set_xticks(range(len(grid.lengths)), grid.lengths, rotation=90 if many else 0)
        panel.set_xlim(-0.45, len(grid.lengths) - 0.55)
        panel.yaxis.set_major_locator(MaxNLocator(7, steps=[1, 2, 2.5, 5, 10]))
        # Panels above an empty place keep their labels, which a shared axis would take away.
        lowest = number + n_columns >= len(grid.categories)
        panel.tick_params(axis="x", labelbottom=lowest)
    figure.text(0.5, bottom - line * (1.75 + many), "segment length (words)", ha="center", va="center")
    figure.text(0.004, (1 + bottom) / 2, "effect size (CEAT)", rotation=90, ha="left", va="center")


def _add_legend(figure: Figure, grid: Grid, sizes: dict[str, float], width: str, line: float) -> None:
    columns, note_height = _legend_columns(grid, width), _note_lines(width) * line * 0.85
    models = [Line2D([], [], label=model, **_look(i, 0, sizes)) for i, model in enumerate(grid.models)]
    modes = [Line2D([], [], label=f"{mode} draws", **{**_look(0, i, sizes), "color": MUTED, "marker": "o",
             "markerfacecolor": PAPER if i else MUTED}) for i, mode in enumerate(grid.modes)]  # fmt: skip
    keywords: dict[str, Any] = {
        "handlelength": 2.6, "columnspacing": 1.4, "borderaxespad": 0, "borderpad": 0, "labelspacing": 0.4,
        "fontsize": sizes["font"], "loc": "lower center",
    }  # fmt: skip
    base = note_height + line * 0.25
    figure.legend(handles=modes, ncols=len(modes), bbox_to_anchor=(0.5, base), **keywords)
    figure.legend(handles=models, ncols=columns, bbox_to_anchor=(0.5, base + line), **keywords)
    figure.text(0.5, line * 0.1, _note(width), ha="center", va="bottom", color=MUTED, fontsize=sizes["font"] * 0.92,
                linespacing=1.2)  # fmt: skip


def _many(grid: Grid) -> bool:
    """Whether the labels of the lengths have to stand upright to fit."""
    return len(grid.lengths) > 6


def _legend_columns(grid: Grid, width: str) -> int:
    """How many models fit side by side: a letter is some 0.6 of the font size wide, line and gap some 4.5 of it."""
    entry = (0.6 * max(map(len, grid.models)) + 4.5) * _SIZES[width]["font"] / 72
    return max(1, min(len(grid.models), int(WIDTHS[width] / entry)))


def _note(width: str) -> str:
    note = "Bars: 95 % interval over words and contexts; none where a set has fewer than eight words."
    return "\n".join(textwrap.wrap(note, 66 if width == "column" else 130))


def _note_lines(width: str) -> int:
    return _note(width).count("\n") + 1
