"""Small multiples: one panel a category, in the study's order, with the same titles, colours, sizes and legend below.

All figures of a study are made of them, so that a category or a model looks the same in each. Text is drawn as paths: a
figure looks the same on every machine, and the same table gives the same bytes.
"""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Literal

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.style import context as style_context
from matplotlib.textpath import TextPath
from matplotlib.ticker import MaxNLocator

from prasanga.errors import InputError
from prasanga.parquet import replacing
from prasanga.report.figures.palette import INK, LINE, MARKERS, MODELS, MUTED, PAPER
from prasanga.report.grid import Category, Grid

Width = Literal["column", "page"]

WIDTHS: dict[str, float] = {"column": 3.3, "page": 6.8}
"""Inches: one column of a two-column page, and both."""

STYLE: dict[str, Any] = {
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
"""Settings of matplotlib for all figures."""

SIZES: dict[str, dict[str, float]] = {
    "column": {"font": 6.0, "title": 6.4, "marker": 2.5, "line": 0.9, "panel": 0.98, "top": 0.35},
    "page": {"font": 7.5, "title": 8.0, "marker": 3.6, "line": 1.2, "panel": 1.5, "top": 0.42},
}
"""By width: fonts, markers and lines in points; the height of a panel and of the title above it in inches."""

COLUMNS = 3
"""Panels side by side, at most."""

MANY = 6
"""More labels than this do not fit side by side below a panel; they stand upright."""

_BETWEEN = 0.09
"""Room between panels side by side, as a share of their width."""


def check_width(width: str) -> None:
    """Refuse a width that is none of `WIDTHS`.

    Raises:
        InputError: the width is not known.
    """
    if width not in WIDTHS:
        raise InputError(f"width: {width!r}. Write {' or '.join(WIDTHS)}.")


def house_style(width: Width) -> AbstractContextManager[None]:
    """The style of all figures, for as long as something is drawn."""
    return style_context(["default", {**STYLE, "font.size": SIZES[width]["font"]}])


def look(model: int, mode: int, sizes: dict[str, float]) -> dict[str, Any]:
    """Colour and shape tell the model; solid and filled is the first sample mode, dashed and open any other.

    Args:
        model: number of the model in the grid.
        mode: number of the sample mode in the grid.
        sizes: one of `SIZES`.
    """
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


def draw_bar(panel: Any, x: float, low: float, high: float, **style: Any) -> None:
    """An interval as an upright line without caps."""
    panel.plot([x, x], [low, high], **{"zorder": 2, **style})


class Panels:
    """A figure with a panel for each category, the labels of its axes, the legend and a note below.

    Attributes:
        figure: the figure, as wide as asked for and as high as its panels need.
        panels: its axes by row; those beyond the last category are not visible.
        sizes: the entry of `SIZES` for its width.
    """

    def __init__(
        self,
        grid: Grid,
        width: Width,
        *,
        labels: tuple[str, str],
        keys: Sequence[Sequence[Any]],
        note: str,
        upright: bool = False,
    ) -> None:
        """Lay the figure out. To be called in `house_style`, as is all that draws.

        Args:
            grid: the estimates; its categories are the panels, its models the lines.
            width: "column" or "page".
            labels: of the horizontal and of the vertical axis.
            keys: rows of handles for the legend besides those of the models, from the bottom up.
            note: a sentence or two below the legend.
            upright: leave room below for labels of the ticks that stand upright.
        """
        self.grid, self.width, self.sizes = grid, width, SIZES[width]
        sizes, line = self.sizes, self.sizes["font"] * 1.75 / 72
        lines = textwrap.wrap(note, 66 if width == "column" else 130)
        n_rows, n_columns = math.ceil(len(grid.categories) / COLUMNS), min(COLUMNS, len(grid.categories))
        legend_rows = math.ceil(len(grid.models) / self._legend_columns()) + len(keys)
        key = (legend_rows + len(lines) * 0.85) * line
        below = key + (2.9 if upright else 2.0) * line
        left = sizes["font"] * 5.4 / 72
        self._sets = self._names_of_sets((WIDTHS[width] * 0.995 - left) / (n_columns + (n_columns - 1) * _BETWEEN))
        more = max(0, *map(len, self._sets.values())) - 2
        top = sizes["top"] + max(0, more) * self._set_line() / 72
        height = n_rows * (sizes["panel"] + top) + (n_rows - 1) * 0.14 + below
        self.figure = Figure(figsize=(WIDTHS[width], height))
        FigureCanvasAgg(self.figure)
        axes = self.figure.subplots(
            n_rows,
            n_columns,
            sharex=True,
            sharey=True,
            squeeze=False,
            gridspec_kw={
                "left": left / WIDTHS[width],
                "right": 0.995,
                "top": 1 - top / height,
                "bottom": below / height,
                "wspace": _BETWEEN,
                "hspace": (top + 0.14) / sizes["panel"],
            },
        )
        self.panels: list[Any] = list(axes.flat)
        for number, panel in enumerate(self.panels):
            panel.set_visible(number < len(grid.categories))
            # Panels above an empty place keep their labels, which a shared axis would take away.
            panel.tick_params(
                axis="x", labelbottom=number + n_columns >= len(grid.categories), labelrotation=90 if upright else 0
            )
        self.figure.text(0.5, (key + 0.6 * line) / height, labels[0], ha="center", va="center")
        self.figure.text(0.004, (height + below) / 2 / height, labels[1], rotation=90, ha="left", va="center")
        self._add_legend(keys, lines, line / height)

    def look(self, model: int, mode: int = 0) -> dict[str, Any]:
        """Colour, marker and line of a model, as `look`."""
        return look(model, mode, self.sizes)

    def finish(self, panel: Any, category: Category, *, empty: bool) -> None:
        """Title, zero line and grid of a panel, after its lines; `empty` says that there are none."""
        if empty:
            panel.text(0.5, 0.62, "not computed", transform=panel.transAxes, ha="center", color=MUTED)
        panel.grid(axis="y")
        panel.set_axisbelow(True)
        panel.axhline(0, color=MUTED, linewidth=0.8, zorder=1)
        panel.yaxis.set_major_locator(MaxNLocator(7, steps=[1, 2, 2.5, 5, 10]))
        size, sets = self.sizes["title"], self._sets[category.name]
        above = size * 2.55 + (len(sets) - 2) * self._set_line()
        anchor: dict[str, Any] = {"textcoords": "offset points", "xycoords": "axes fraction"}
        panel.annotate(category.name, (0, 1), (0, above), fontsize=size, fontweight="bold", **anchor)
        panel.annotate("\n".join(sets), (0, 1), (0, 2.5), fontsize=size * 0.92, linespacing=1.1, color=INK, **anchor)

    def _set_line(self) -> float:
        """Height of a line with the names of two sets, in points."""
        return self.sizes["title"] * 0.92 * 1.28

    def _names_of_sets(self, panel: float) -> dict[str, list[str]]:
        """The lines above each panel: targets, attributes, broken after their / where they are wider than a panel."""
        size = self.sizes["title"] * 0.92
        return {
            category.name: [
                line for names in (category.targets, category.attributes) for line in _broken(names, size, panel * 72)
            ]
            for category in self.grid.categories
        }

    def _legend_columns(self) -> int:
        """How many models fit side by side: a letter is some 0.6 of the font size wide, line and gap some 4.5 of it."""
        entry = (0.6 * max(map(len, self.grid.models)) + 4.5) * self.sizes["font"] / 72
        return max(1, min(len(self.grid.models), int(WIDTHS[self.width] / entry)))

    def _add_legend(self, keys: Sequence[Sequence[Any]], note: Sequence[str], line: float) -> None:
        font = self.sizes["font"]
        models = [Line2D([], [], label=model, **self.look(i)) for i, model in enumerate(self.grid.models)]
        keywords: dict[str, Any] = {
            "handlelength": 2.6, "columnspacing": 1.4, "borderaxespad": 0, "borderpad": 0, "labelspacing": 0.4,
            "fontsize": font, "loc": "lower center",
        }  # fmt: skip
        base = line * (len(note) * 0.85 + 0.25)
        for handles in keys:
            self.figure.legend(handles=handles, ncols=len(handles), bbox_to_anchor=(0.5, base), **keywords)
            base += line
        self.figure.legend(handles=models, ncols=self._legend_columns(), bbox_to_anchor=(0.5, base), **keywords)
        self.figure.text(0.5, line * 0.1, "\n".join(note), ha="center", va="bottom", color=MUTED,
                         fontsize=font * 0.92, linespacing=1.2)  # fmt: skip


def _broken(names: str, size: float, room: float) -> list[str]:
    """Two names in one line, or in two where that is wider than `room`; all in points."""
    wide = TextPath((0, 0), names, size=size).get_extents().width > room
    return re.split("(?<=/)", names, maxsplit=1) if wide else [names]


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
    with style_context(["default", STYLE]), replacing(path) as temporary:
        paper = "white" if path.suffix == ".png" else "none"
        figure.savefig(temporary, format=path.suffix[1:], dpi=300, facecolor=paper, metadata=metadata[path.suffix])
