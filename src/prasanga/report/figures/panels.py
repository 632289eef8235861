"""Small multiples: one panel a category, in the study's order, with the same titles, colours, sizes and legend below.

All figures of a study are made of them, so that a category or a model looks the same in each. Text in SVG is drawn as
paths, in PDF with its font: a figure looks the same on every machine, and the same table gives the same bytes.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any, Literal

from matplotlib.collections import LineCollection
from matplotlib.lines import Line2D
from matplotlib.style import context as style_context
from matplotlib.ticker import MaxNLocator

from prasanga.errors import InputError
from prasanga.report.figures.fitting import shortened, thinned, width_of
from prasanga.report.figures.fonts import font_families
from prasanga.report.figures.frame import NOTE, lay_out, left_of, panel_width
from prasanga.report.figures.palette import INK, LINE, MARKERS, MODELS, MUTED, PAPER
from prasanga.report.grid import Category, Grid

Width = Literal["column", "page"]

WIDTHS: dict[str, float] = {"column": 3.3, "page": 6.8}
"""Inches: one column of a two-column page, and both."""

STYLE: dict[str, Any] = {
    "font.family": list(font_families()),
    "text.parse_math": False,  # a name of a study may hold dollar signs
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
}
"""Settings of matplotlib for all figures."""

SIZES: dict[str, dict[str, float]] = {
    "column": {"font": 6.0, "title": 6.4, "marker": 2.5, "line": 0.9, "panel": 0.98, "top": 0.35},
    "page": {"font": 7.5, "title": 8.0, "marker": 3.6, "line": 1.2, "panel": 1.5, "top": 0.42},
}
"""By width: fonts, markers and lines in points; the height of a panel and of the title above it in inches."""

COLUMNS = 3
"""Panels side by side, at most."""


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


def draw_bars(panel: Any, bars: Sequence[tuple[float, float, float]], **style: Any) -> None:
    """Intervals as upright lines without caps, each as (x, low, high). The axis does not grow with them."""
    lines = [((x, low), (x, high)) for x, low, high in bars]
    panel.add_collection(LineCollection(lines, **{"zorder": 2, "capstyle": "butt", **style}), autolim=False)


class Panels:
    """A figure with a panel for each category, the labels of its axes, the legend and a note below.

    Attributes:
        figure: the figure, as wide as asked for and as high as its panels need.
        panels: its axes by row; those beyond the last category are not visible.
        sizes: the entry of `SIZES` for its width.
        ticks: labels of the horizontal axis, "" for those that there is no room for.
    """

    def __init__(
        self,
        grid: Grid,
        width: Width,
        *,
        labels: tuple[str, str],
        keys: Sequence[Sequence[Any]],
        note: str,
        ticks: Sequence[str],
        places: Sequence[float],
    ) -> None:
        """Lay the figure out. To be called in `house_style`, as is all that draws.

        Args:
            grid: the estimates; its categories are the panels, its models the lines.
            width: "column" or "page".
            labels: of the horizontal and of the vertical axis.
            keys: groups of handles for the legend besides those of the models, from the bottom up.
            note: a sentence or two below the legend.
            ticks: labels of the horizontal axis.
            places: where they stand, as shares of a panel's width.
        """
        self.sizes = sizes = SIZES[width]
        font, across = sizes["font"], min(COLUMNS, len(grid.categories))
        room = panel_width(WIDTHS[width], across, left=left_of(sizes, labels[1]))
        self._heads = {category.name: _head(category, sizes["title"], room) for category in grid.categories}
        top = sizes["top"] + max(len(lines) - 2 for _, lines in self._heads.values()) * self._second_line() / 72
        steps = [(after - before) * room for before, after in itertools.pairwise(places)]
        widest = max((width_of(tick, font) for tick in ticks), default=0.0)
        upright = min(steps, default=room) < widest + 0.5 * font
        self.ticks = thinned(ticks, [place * room for place in places], font * 1.05) if upright else list(ticks)
        models = [Line2D([], [], label=model, **self.look(i)) for i, model in enumerate(grid.models)]
        self.figure, self.panels = lay_out(
            WIDTHS[width],
            sizes,
            len(grid.categories),
            across=across,
            panel=sizes["panel"],
            top=top,
            labels=labels,
            keys=[*keys, models],
            note=note,
            ticks=widest if upright else None,
        )
        self.panels[0].yaxis.set_major_locator(MaxNLocator(7, steps=[1, 2, 2.5, 5, 10]))
        if upright:
            for panel in self.panels:
                panel.tick_params(axis="x", labelrotation=90)

    def look(self, model: int, mode: int = 0) -> dict[str, Any]:
        """Colour, marker and line of a model, as `look`."""
        return look(model, mode, self.sizes)

    def finish(self, panel: Any, category: Category, *, empty: bool) -> None:
        """Title, zero line and grid of a panel, after its lines; `empty` says that there are none."""
        if empty:
            panel.text(0.5, 0.62, "not computed", transform=panel.transAxes, ha="center", color=MUTED)
        panel.axhline(0, color=MUTED, linewidth=0.8, zorder=1)
        size, (name, sets) = self.sizes["title"], self._heads[category.name]
        above = size * 2.55 + (len(sets) - 2) * self._second_line()
        anchor: dict[str, Any] = {"textcoords": "offset points", "xycoords": "axes fraction"}
        panel.annotate(name, (0, 1), (0, above), fontsize=size, fontweight="bold", **anchor)
        panel.annotate("\n".join(sets), (0, 1), (0, 2.5), fontsize=size * NOTE, linespacing=1.1, color=INK, **anchor)

    def _second_line(self) -> float:
        """Height of a line with the names of two sets, in points."""
        return self.sizes["title"] * NOTE * 1.12


def _head(category: Category, size: float, room: float) -> tuple[str, list[str]]:
    """Name of a category, and the lines of its targets and attributes, no wider than `room`; all in points."""
    lines = [line for names in (category.targets, category.attributes) for line in _broken(names, size * NOTE, room)]
    return shortened(category.name, size, room, bold=True), lines


def _broken(names: str, size: float, room: float) -> list[str]:
    """Two names in one line, or in two where that is wider than `room`, each shortened to it."""
    wide = width_of(names, size) > room
    return [shortened(line, size, room) for line in (re.split("(?<=/)", names, maxsplit=1) if wide else [names])]
