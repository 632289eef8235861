"""What figures are drawn on: their style, panels side by side, labels, legend and note, and text that fits.

Everything is laid out in inches and points from the size of the text, so that nothing is cut or covered at either
width, whatever the names. All that draws is called in `house_style`: widths of text are measured with the font in
force.

`Panels` has one panel a category, in the study's order, so that a category or a model looks the same in each figure.
Text is drawn as paths: a figure looks the same on every machine, and the same table gives the same bytes.
"""

from __future__ import annotations

import itertools
import math
import re
import unicodedata
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any, Literal, NamedTuple

from matplotlib import rcParams
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.lines import Line2D
from matplotlib.markers import TICKDOWN, TICKLEFT
from matplotlib.style import context as style_context
from matplotlib.textpath import text_to_path
from matplotlib.ticker import MaxNLocator

from prasanga.base.errors import InputError
from prasanga.report.figures.fonts import font_families
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

GAP = 0.09
"""Room between panels side by side, as a share of their width."""

NOTE = 0.92
"""Size of notes and second lines, as a share of that of other text: 5.5 points at column width, and not less."""

_HANDLE, _PAD, _APART = 2.6, 0.8, 1.4
"""Length of a handle in a legend, room to its text and between columns, in units of the font's size."""

TOLD = "told:"
"""How the link of a mark begins whose rest a reader is told who points at it (`set_urls`; in SVG alone)."""

_EDGE = 0.006
"""Left free at both sides, as a share of the width."""

ELLIPSIS = "\N{HORIZONTAL ELLIPSIS}"

_HASANTAS = ("\N{BENGALI SIGN VIRAMA}", "\N{DEVANAGARI SIGN VIRAMA}")
_JOINERS = ("\N{ZERO WIDTH JOINER}", "\N{ZERO WIDTH NON-JOINER}")
_SPARE = 1.02
"""The same text is a little wider in one format than in another, where letters are moved to whole dots."""


def check_width(width: str) -> None:
    """Refuse a width that is none of `WIDTHS`.

    Raises:
        InputError: the width is not known.
    """
    if width not in WIDTHS:
        raise InputError(f"width: {width!r}. Write {' or '.join(WIDTHS)}.")


def house_style(width: Width) -> AbstractContextManager[None]:
    """Return the style of all figures, for as long as something is drawn."""
    return style_context(["default", {**STYLE, "font.size": SIZES[width]["font"]}])


def look(model: int, mode: int, sizes: dict[str, float]) -> dict[str, Any]:
    """Return the style of a model and sample mode.

    Colour and shape tell the model; solid and filled is the first sample mode, dashed and open any other.

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
    """Draw intervals, each as (x, low, high), as upright lines without caps. The axis does not grow with them."""
    lines = [((x, low), (x, high)) for x, low, high in bars]
    panel.add_collection(LineCollection(lines, **{"zorder": 2, "capstyle": "butt", **style}), autolim=False)


class Head(NamedTuple):
    """The title of a panel and the lines below it."""

    title: str
    lines: list[str]


def head_of(title: str, below: str, sizes: dict[str, float], room: float) -> Head:
    """Return the head of a panel, no wider than `room` in points."""
    return Head(shortened(title, sizes["title"], room, bold=True), wrapped(below, sizes["title"] * NOTE, room))


def height_of_heads(heads: Sequence[Head], sizes: dict[str, float]) -> float:
    """Return the height in inches that the highest of these heads needs above its panel."""
    return (sizes["title"] * 1.5 + max(len(head.lines) for head in heads) * _head_step(sizes) + 3) / 72


def add_head(panel: Any, head: Head, sizes: dict[str, float]) -> None:
    """Write a head above its panel."""
    size, step = sizes["title"], _head_step(sizes)
    anchor: dict[str, Any] = {"textcoords": "offset points", "xycoords": "axes fraction"}
    panel.annotate(head.title, (0, 1), (0, 3 + step * len(head.lines) + 1), fontsize=size, fontweight="bold", **anchor)
    for number, line in enumerate(reversed(head.lines)):
        panel.annotate(line, (0, 1), (0, 3 + step * number), fontsize=size * NOTE, color=INK, **anchor)


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
        """Return the colour, marker and line of a model, as `look`."""
        return look(model, mode, self.sizes)

    def finish(self, panel: Any, category: Category, *, empty: bool) -> None:
        """Draw the title, zero line and grid of a panel, after its lines; `empty` says that there are none."""
        if empty:
            panel.text(0.5, 0.62, "not computed", transform=panel.transAxes, ha="center", color=MUTED)
        panel.axhline(0, color=MUTED, linewidth=0.8, zorder=1)
        size, (name, sets) = self.sizes["title"], self._heads[category.name]
        above = size * 2.55 + (len(sets) - 2) * self._second_line()
        anchor: dict[str, Any] = {"textcoords": "offset points", "xycoords": "axes fraction"}
        panel.annotate(name, (0, 1), (0, above), fontsize=size, fontweight="bold", **anchor)
        panel.annotate("\n".join(sets), (0, 1), (0, 2.5), fontsize=size * NOTE, linespacing=1.1, color=INK, **anchor)

    def _second_line(self) -> float:
        """Return the height of a line with the names of two sets, in points."""
        return self.sizes["title"] * NOTE * 1.12


class Frame(NamedTuple):
    """A figure with its panels by row; those beyond the last are not visible."""

    figure: Figure
    panels: list[Any]


def left_of(sizes: dict[str, float], label: str) -> float:
    """Return the room left of the panels in inches.

    It is for the ticks and the label of the vertical axis, if it has one.
    """
    return sizes["font"] * (5.4 if label else 0.6) / 72


def panel_width(inches: float, across: int, *, left: float, gap: float = GAP) -> float:
    """Return the width of each of `across` panels side by side, in points."""
    return (inches * (1 - _EDGE) - left) / (across + (across - 1) * gap) * 72


def lay_out(
    inches: float,
    sizes: dict[str, float],
    n_panels: int,
    *,
    across: int,
    panel: float,
    top: float,
    labels: tuple[str, str],
    keys: Sequence[Sequence[Any]],
    note: str,
    ticks: float | None = None,
    gap: float = GAP,
    sharex: bool = True,
    sharey: bool = True,
) -> Frame:
    """Return a figure that is `inches` wide and as high as its panels, legend and note need.

    Args:
        inches: width of the figure.
        sizes: one of `panels.SIZES`.
        n_panels: how many.
        across: panels side by side, at most.
        panel: height of a panel in inches.
        top: height of its titles in inches.
        labels: of the horizontal and of the vertical axis; "" for an axis without.
        keys: groups of handles for the legend from the bottom up, each in as many columns as fit. Long labels are
            shortened.
        note: sentences below the legend, "" for none.
        ticks: height of the labels of the ticks below a panel in points, None for one line.
        gap: between panels side by side, as a share of their width.
        sharex: whether panels share the horizontal axis; only the lowest have labels then.
        sharey: the same of the vertical axis; only the leftmost have labels then.
    """
    font = sizes["font"]
    line = font * 1.75 / 72
    lines = wrapped(note, font * NOTE, inches * 72 * (1 - 2 * _EDGE))
    room = inches * 72 * (1 - 2 * _EDGE)
    groups = [(_fit(group, font, room), group) for group in keys if group]
    key = (sum(math.ceil(len(group) / columns) for columns, group in groups) + len(lines) * 0.85 + 0.25) * line
    ticked = (ticks if ticks is not None else font * 1.1) / 72 + 0.07
    below = key + ticked + (1.0 * line if labels[0] else 0.0)
    n_columns = min(across, n_panels)
    n_rows = math.ceil(n_panels / n_columns)
    between = top + 0.14 + (0 if sharex else ticked)
    height = top + n_rows * panel + (n_rows - 1) * between + below
    figure = Figure(figsize=(inches, height))
    FigureCanvasAgg(figure)
    left = left_of(sizes, labels[1])
    grid = figure.subplots(
        n_rows,
        n_columns,
        sharex=sharex,
        sharey=sharey,
        squeeze=False,
        gridspec_kw={
            "left": left / inches,
            "right": 1 - _EDGE,
            "top": 1 - top / height,
            "bottom": below / height,
            "wspace": gap,
            "hspace": between / panel,
        },
    )
    panels: list[Any] = list(grid.flat)
    for number, axes in enumerate(panels):
        axes.set_visible(number < n_panels)
        axes.set_axisbelow(True)
        axes.tick_params(labelsize=font)  # ticks are made when a figure is drawn, in whichever style is in force then
        if sharex:
            # panels above an empty place keep their labels, which a shared axis would take away
            axes.tick_params(axis="x", labelbottom=number + n_columns >= n_panels)
    middle = (left / inches + 1 - _EDGE) / 2
    if labels[0]:
        figure.text(middle, (key + 0.5 * line) / height, labels[0], ha="center", va="center")
    figure.text(0.004, (height - top + below) / 2 / height, labels[1], rotation=90, ha="left", va="center")
    _add_keys(figure, groups, line * (len(lines) * 0.85 + 0.25) / height, line / height, font)
    figure.text(0.5, line * 0.1 / height, "\n".join(lines), ha="center", va="bottom", color=MUTED,
                fontsize=font * NOTE, linespacing=1.2)  # fmt: skip
    return Frame(figure, panels)


def finish_axes(panels: Sequence[Any], *, grid: bool = False) -> None:
    """Draw the ticks of panels that share both axes, after their limits are set.

    An axis without labels becomes a single line of marks: a tick of matplotlib's is many objects, each drawn by itself,
    and ticks took half the time of a figure. `grid` draws lines across the panels at the ticks of the vertical axis.
    """
    marks: dict[str, Any] = {
        "linestyle": "none",
        "color": rcParams["xtick.color"],
        "markersize": rcParams["xtick.major.size"],
        "markeredgewidth": rcParams["xtick.major.width"],
        "clip_on": False,
        "zorder": 2.01,
    }
    lines: dict[str, Any] = {"colors": rcParams["grid.color"], "linewidths": rcParams["grid.linewidth"], "zorder": 0.4}
    places = {name: _ticks_of(getattr(panels[0], f"{name}axis")) for name in "xy"}
    for panel in panels:
        if not panel.get_visible():
            continue
        for name, marker in (("x", TICKDOWN), ("y", TICKLEFT)):
            axis = getattr(panel, f"{name}axis")
            labelled = axis.get_tick_params()["labelbottom" if name == "x" else "labelleft"]
            if labelled or not places[name]:
                continue
            axis.set_visible(False)
            transform = panel.get_xaxis_transform() if name == "x" else panel.get_yaxis_transform()
            at = [0.0] * len(places[name])
            xy = (places[name], at) if name == "x" else (at, places[name])
            panel.add_artist(Line2D(*xy, marker=marker, transform=transform, **marks))
        if grid:
            across = [((0.0, y), (1.0, y)) for y in places["y"]]
            panel.add_collection(LineCollection(across, transform=panel.get_yaxis_transform(), **lines), autolim=False)


def only_a_note(inches: float, sizes: dict[str, float], note: str) -> Figure:
    """Return a figure that says why there is nothing to draw."""
    lines = wrapped(note, sizes["font"], inches * 72 * (1 - 2 * _EDGE))
    figure = Figure(figsize=(inches, (len(lines) + 1.5) * sizes["font"] * 1.3 / 72))
    FigureCanvasAgg(figure)
    figure.text(0.5, 0.5, "\n".join(lines), ha="center", va="center", color=MUTED)
    return figure


def width_of(text: str, size: float, *, bold: bool = False) -> float:
    """Return the width of one line of text."""
    if not text:
        return 0.0
    font = FontProperties(size=size, weight="bold" if bold else "normal")
    width, _, _ = text_to_path.get_text_width_height_descent(text, font, False)
    return float(width) * _SPARE


def shortened(text: str, size: float, room: float, *, bold: bool = False) -> str:
    """Return one line of text, with an ellipsis in place of its middle where it is wider than `room`.

    Letters are not torn from their vowel signs, nor a conjunct apart. Line breaks and runs of spaces become one space.
    """
    text = " ".join(text.split())
    if width_of(text, size, bold=bold) <= room:
        return text
    letters = _letters(text)
    low, high = 0, len(letters) - 1
    while low < high:  # the most letters that may stay
        kept = (low + high + 1) // 2
        if width_of(_without_middle(letters, kept), size, bold=bold) <= room:
            low = kept
        else:
            high = kept - 1
    return _without_middle(letters, low)


def shortened_apart(texts: Sequence[str], size: float, room: float, *, bold: bool = False) -> list[str]:
    """Return each text shortened; those that would then look the same get a number."""
    short = [shortened(text, size, room, bold=bold) for text in texts]
    twice = {text for text in short if short.count(text) > 1}
    return [
        shortened(texts[i], size, room - width_of(f" ({i + 1})", size, bold=bold), bold=bold) + f" ({i + 1})"
        if text in twice
        else text
        for i, text in enumerate(short)
    ]


def wrapped(text: str, size: float, room: float, *, bold: bool = False) -> list[str]:
    """Break a text into lines no wider than `room`.

    Breaks are at spaces, not at no-break spaces; a word wider than that is shortened.
    """
    space = width_of("n n", size, bold=bold) - width_of("nn", size, bold=bold)
    lines: list[str] = []
    used = room
    for word in filter(None, re.split("[ \t\n]+", text)):
        if (width := width_of(word, size, bold=bold)) > room:
            word = shortened(word, size, room, bold=bold)
            width = width_of(word, size, bold=bold)
        if used + space + width > room:
            lines.append(word)
            used = width
        else:
            lines[-1] += f" {word}"
            used += space + width
    return lines


def thinned(labels: Sequence[str], places: Sequence[float], room: float) -> list[str]:
    """Return the labels of an axis, without those nearer than `room` to the next one that stays; the last stays.

    Args:
        labels: one a tick; empty ones stay empty.
        places: where they stand, rising.
        room: what a label needs, in the units of `places`.
    """
    kept: list[str] = []
    before = float("inf")
    for label, place in zip(reversed(labels), reversed(places), strict=True):
        stays = bool(label) and before - place >= room
        kept.append(label if stays else "")
        before = place if stays else before
    return kept[::-1]


def _head(category: Category, size: float, room: float) -> tuple[str, list[str]]:
    """Name of a category, and the lines of its targets and attributes, no wider than `room`; all in points."""
    lines = [line for names in (category.targets, category.attributes) for line in _broken(names, size * NOTE, room)]
    return shortened(category.name, size, room, bold=True), lines


def _head_step(sizes: dict[str, float]) -> float:
    """Return the height of a line under a panel's title, in points."""
    return sizes["title"] * NOTE * 1.15


def _broken(names: str, size: float, room: float) -> list[str]:
    """Return two names in one line, or in two where that is wider than `room`, each shortened to it."""
    wide = width_of(names, size) > room
    return [shortened(line, size, room) for line in (re.split("(?<=/)", names, maxsplit=1) if wide else [names])]


def _ticks_of(axis: Any) -> list[float]:
    low, high = sorted(axis.get_view_interval())
    return [float(place) for place in axis.get_majorticklocs() if low <= place <= high]


def _fit(handles: Sequence[Any], font: float, room: float) -> int:
    """Return how many columns the handles of a legend can have; their labels are shortened to the room there is."""
    besides = (_HANDLE + _PAD) * font
    names = shortened_apart([str(handle.get_label()) for handle in handles], font, room - besides)
    for handle, name in zip(handles, names, strict=True):
        handle.set_label(name)
    entries = [width_of(name, font) + besides for name in names]
    for columns in range(len(entries), 1, -1):
        # a legend is filled column by column, the first ones with one more where they are not even
        least, more = divmod(len(entries), columns)
        rows = itertools.accumulate((least + (column < more) for column in range(columns)), initial=0)
        widest = [max(entries[start:end]) for start, end in itertools.pairwise(rows)]
        if sum(widest) + (columns - 1) * _APART * font <= room:
            return columns
    return 1


def _add_keys(
    figure: Figure, groups: Sequence[tuple[int, Sequence[Any]]], base: float, line: float, font: float
) -> None:
    for columns, handles in groups:
        figure.legend(
            handles=handles,
            ncols=columns,
            loc="lower center",
            bbox_to_anchor=(0.5, base),
            handlelength=_HANDLE,
            handletextpad=_PAD,
            columnspacing=_APART,
            borderaxespad=0,
            borderpad=0,
            labelspacing=0.4,
            fontsize=font,
        )
        base += math.ceil(len(handles) / columns) * line


def _without_middle(letters: Sequence[str], kept: int) -> str:
    start = (kept + 1) // 2
    return "".join((*letters[:start], ELLIPSIS, *letters[len(letters) - (kept - start) :]))


def _letters(text: str) -> list[str]:
    """Return what a reader sees as one letter: with its marks, and with the letters that a hasanta joins to it."""
    letters: list[str] = []
    for before, sign in itertools.pairwise(("", *text)):
        joins = unicodedata.category(sign).startswith("M") or sign in _JOINERS
        if letters and (joins or before in _HASANTAS or before == _JOINERS[0]):
            letters[-1] += sign
        else:
            letters.append(sign)
    return letters
