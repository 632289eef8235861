"""What figures are drawn on: their style, panels side by side, labels, legend and note, and files.

Everything is laid out in inches and points from the size of the text, so that nothing is cut or covered at either
width, whatever the names. A function that draws is `drawn`: widths of text are measured with the font in force.

`lay_out_categories` has one panel a category, in the study's order, so that a category or a model looks the same in
each figure. Text is drawn as paths: a figure looks the same on every machine, and the same table gives the same bytes.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial, wraps
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, NamedTuple, ParamSpec, get_args

import numpy as np
import polars as pl
from matplotlib import rcParams
from matplotlib.artist import Artist
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.markers import TICKDOWN, TICKLEFT
from matplotlib.patheffects import Normal
from matplotlib.style import context as style_context
from matplotlib.text import Text
from matplotlib.ticker import MaxNLocator

from prasanga.base.documents import read_document
from prasanga.base.errors import InputError
from prasanga.base.parquet import replacing
from prasanga.report.figures import COLUMN, INK, LINE, MARKERS, MODELS, MUTED, PAPER
from prasanga.report.figures.fonts import font_families, shortened, shortened_apart, thinned, width_of, wrapped
from prasanga.report.grid import Grid
from prasanga.schema import read_table

Given = ParamSpec("Given")
Width = Literal["column", "page"]

WIDTHS: dict[str, float] = {"column": 3.3, "page": 6.8}
"""Inches: one column of a two-column page, and both."""

_TICKS = {"color": MUTED, "labelcolor": INK, "major.width": 0.6, "major.size": 2, "major.pad": 2}

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
    **{f"{axis}tick.{name}": value for axis in "xy" for name, value in _TICKS.items()},
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


class NothingToDrawError(Exception):
    """Why a figure has nothing to show, as a sentence that is drawn in its place."""


def drawn(plot: Callable[Given, Figure]) -> Callable[Given, Figure]:
    """Have a function draw in the house style at its `width`; where there is nothing to draw, a note says why.

    Raises:
        InputError: the width is not known.
    """

    @wraps(plot)
    def at_width(*args: Given.args, **options: Given.kwargs) -> Figure:
        width: Any = options.get("width", "page")
        if width not in WIDTHS:
            raise InputError(f"width: {width!r}. Write {' or '.join(WIDTHS)}.")
        with house_style(width):
            try:
                return plot(*args, **options)
            except NothingToDrawError as why:
                return _only_a_note(width, f"Not drawn: {why}")

    return at_width


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


def dots(model: int, sizes: dict[str, float], share: float = 1.0, *, mode: int = 0) -> dict[str, Any]:
    """Return the style of a model's points where no line joins them, `share` as large as on a line."""
    return {**look(model, mode, sizes), "linestyle": "none", "markersize": sizes["marker"] * share}


def handle(label: str, **style: Any) -> Line2D:
    """Return what a legend shows of lines or points in this style."""
    return Line2D([], [], label=label, **style)


def widened(values: Iterable[float], share: float) -> tuple[float, float]:
    """Return the ends of an axis: all values are inside, with a share of their range, or 1, beyond them."""
    ends = list(values)
    low, high = min(ends), max(ends)
    beyond = share * (high - low) or 1.0
    return low - beyond, high + beyond


def draw_bars(panel: Any, bars: Sequence[tuple[float, float, float]], **style: Any) -> None:
    """Draw intervals, each as (x, low, high), as upright lines without caps. The axis does not grow with them."""
    lines = [((x, low), (x, high)) for x, low, high in bars]
    panel.add_collection(LineCollection(lines, **{"zorder": 2, "capstyle": "butt", **style}), autolim=False)


class Frame(NamedTuple):
    """A figure with its panels by row; those beyond the last are not visible.

    Attributes:
        figure: as wide as asked for, and as high as its panels, legend and note need.
        panels: its axes by row.
        heads: title of each panel, and the lines below it.
        room: width of a panel in points.
        sizes: the entry of `SIZES` for its width.
    """

    figure: Figure
    panels: list[Any]
    heads: list[tuple[str, list[str]]]
    room: float
    sizes: dict[str, float]

    def finish(self, *, grid: bool = False) -> Figure:
        """Write the heads, and draw ticks (`_finish_axes`), after all else is drawn and the limits are set."""
        anchor: dict[str, Any] = {"textcoords": "offset points", "xycoords": "axes fraction"}
        size, step = self.sizes["title"], _head_step(self.sizes)
        bold, small = {"fontsize": size, "fontweight": "bold"}, {"fontsize": size * NOTE, "linespacing": 1.1}
        for panel, (title, lines) in zip(self.panels, self.heads, strict=False):
            panel.annotate(title, (0, 1), (0, 4 + step * len(lines)), **bold, **anchor)
            if lines:
                panel.annotate("\n".join(lines), (0, 1), (0, 3), color=INK, **small, **anchor)
        _finish_axes(self.panels, grid=grid)
        return self.figure


def lay_out_categories(
    grid: Grid,
    width: Width,
    *,
    labels: tuple[str, str],
    keys: Sequence[Sequence[Any]],
    note: str,
    ticks: Sequence[str],
    places: Sequence[float],
) -> tuple[Frame, list[str]]:
    """Lay out a figure with a panel for each category, and its sets in the panel's head.

    Args:
        grid: the estimates; its categories are the panels, its models the lines.
        width: "column" or "page".
        labels: of the horizontal and of the vertical axis.
        keys: groups of handles for the legend besides those of the models, from the bottom up.
        note: a sentence or two below the legend.
        ticks: labels of the horizontal axis.
        places: where they stand, as shares of a panel's width.

    Returns:
        The figure, and the labels of the horizontal axis, "" for those that there is no room for.
    """
    font, across = SIZES[width]["font"], min(COLUMNS, len(grid.categories))
    room = room_of(width, across)
    steps = [(after - before) * room for before, after in itertools.pairwise(places)]
    widest = max((width_of(tick, font) for tick in ticks), default=0.0)
    upright = min(steps, default=room) < widest + 0.5 * font
    frame = lay_out(
        width,
        len(grid.categories),
        across=across,
        heads=[(category.name, (category.targets, category.attributes)) for category in grid.categories],
        labels=labels,
        keys=[*keys, [handle(name, **look(i, 0, SIZES[width])) for i, name in enumerate(grid.models)]],
        note=note,
        ticks=widest if upright else None,
    )
    frame.panels[0].yaxis.set_major_locator(MaxNLocator(7, steps=[1, 2, 2.5, 5, 10]))
    if not upright:
        return frame, list(ticks)
    for panel in frame.panels:
        panel.tick_params(axis="x", labelrotation=90)
    return frame, thinned(ticks, [place * room for place in places], font * 1.05)


def close_panel(panel: Any) -> None:
    """Draw the line at zero, after all else; a panel without a point says so."""
    if not any(np.isfinite(line.get_ydata()).any() for line in panel.lines):
        panel.text(0.5, 0.62, "not computed", transform=panel.transAxes, ha="center", color=MUTED)
    panel.axhline(0, color=MUTED, linewidth=0.8, zorder=1)


def few_ticks(*axes: Any, most: int = 4) -> None:
    """Have axes bear few ticks, at round numbers."""
    for axis in axes:
        axis.set_major_locator(MaxNLocator(most, steps=[1, 2, 2.5, 5, 10]))


def left_of(sizes: dict[str, float], label: str) -> float:
    """Return the room left of the panels in inches.

    It is for the ticks and the label of the vertical axis, if it has one.
    """
    return sizes["font"] * (5.4 if label else 0.6) / 72


def room_of(width: Width, across: int, *, label: str = "y", gap: float = GAP, left: float | None = None) -> float:
    """Return the width of each of `across` panels side by side, in points; the other arguments as of `lay_out`."""
    left = left_of(SIZES[width], label) if left is None else left
    return (WIDTHS[width] * (1 - _EDGE) - left) / (across + (across - 1) * gap) * 72


def lay_out(
    width: Width,
    n_panels: int,
    *,
    across: int,
    labels: tuple[str, str],
    keys: Sequence[Sequence[Any]],
    note: str,
    heads: Sequence[tuple[str, str | tuple[str, ...]]] = (),
    panel: float | None = None,
    top: float | None = None,
    left: float | None = None,
    ticks: float | None = None,
    gap: float = GAP,
    sharex: bool = True,
    sharey: bool = True,
) -> Frame:
    """Return a figure that is as high as its panels, legend and note need.

    Args:
        width: "column" or "page".
        n_panels: how many.
        across: panels side by side, at most.
        labels: of the horizontal and of the vertical axis; "" for an axis without.
        keys: groups of handles for the legend from the bottom up, each in as many columns as fit. Long labels are
            shortened.
        note: sentences below the legend, "" for none.
        heads: title of each panel, and the text below it, or names of pairs of sets, a line or two each.
        panel: height of a panel in inches, None for the usual one.
        top: room above the panels in inches, None for that of the heads.
        left: room left of the panels in inches, None for that of the ticks and label.
        ticks: height of the labels of the ticks below a panel in points, None for one line.
        gap: between panels side by side, as a share of their width.
        sharex: whether panels share the horizontal axis; only the lowest have labels then.
        sharey: the same of the vertical axis; only the leftmost have labels then.
    """
    inches, sizes = WIDTHS[width], SIZES[width]
    font, title, n_columns = sizes["font"], sizes["title"], min(across, n_panels)
    room = room_of(width, n_columns, label=labels[1], gap=gap, left=left)
    left = left_of(sizes, labels[1]) if left is None else left
    written = [
        (
            shortened(name, title, room, bold=True),
            wrapped(below, title * NOTE, room)
            if isinstance(below, str)
            else [line for names in below for line in _broken(names, title * NOTE, room)],
        )
        for name, below in heads
    ]
    if top is None:
        most = max((len(lines) for _, lines in written), default=0)
        top = (title * 1.5 + most * _head_step(sizes) + 3) / 72
    panel = sizes["panel"] if panel is None else panel
    line = font * 1.75 / 72
    across_all = inches * 72 * (1 - 2 * _EDGE)
    lines = wrapped(note, font * NOTE, across_all)
    groups = [(_fit(group, font, across_all), group) for group in keys if group]
    key = (sum(math.ceil(len(group) / columns) for columns, group in groups) + len(lines) * 0.85 + 0.25) * line
    ticked = (ticks if ticks is not None else font * 1.1) / 72 + 0.07
    below = key + ticked + (1.0 * line if labels[0] else 0.0)
    n_rows = math.ceil(n_panels / n_columns)
    between = top + 0.14 + (0 if sharex else ticked)
    height = top + n_rows * panel + (n_rows - 1) * between + below
    figure = Figure(figsize=(inches, height))
    FigureCanvasAgg(figure)
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
    base = line * (len(lines) * 0.85 + 0.25) / height
    for columns, handles in groups:
        figure.legend(
            handles=handles,
            ncols=columns,
            loc="lower center",
            bbox_to_anchor=(0.5, base),
            **{"handlelength": _HANDLE, "handletextpad": _PAD, "columnspacing": _APART, "labelspacing": 0.4},
            **{"borderaxespad": 0, "borderpad": 0, "fontsize": font},
        )
        base += math.ceil(len(handles) / columns) * (line / height)
    figure.text(0.5, line * 0.1 / height, "\n".join(lines), ha="center", va="bottom", color=MUTED,
                fontsize=font * NOTE, linespacing=1.2)  # fmt: skip
    return Frame(figure, panels, written, room, sizes)


def _finish_axes(panels: Sequence[Any], *, grid: bool = False) -> None:
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
    xs, ys = _ticks_of(panels[0].xaxis), _ticks_of(panels[0].yaxis)
    for panel in filter(Artist.get_visible, panels):
        across, upright = panel.get_xaxis_transform(), panel.get_yaxis_transform()
        for axis, label, xy, marker, transform in (
            (panel.xaxis, "labelbottom", (xs, [0.0] * len(xs)), TICKDOWN, across),
            (panel.yaxis, "labelleft", ([0.0] * len(ys), ys), TICKLEFT, upright),
        ):
            if xy[0] and not axis.get_tick_params()[label]:
                axis.set_visible(False)
                panel.add_artist(Line2D(*xy, marker=marker, transform=transform, **marks))
        if grid:
            rules = [((0.0, y), (1.0, y)) for y in ys]
            panel.add_collection(LineCollection(rules, transform=upright, **lines), autolim=False)


def _only_a_note(width: Width, note: str) -> Figure:
    """Return a figure that says why there is nothing to draw."""
    inches, font = WIDTHS[width], SIZES[width]["font"]
    lines = wrapped(note, font, inches * 72 * (1 - 2 * _EDGE))
    figure = Figure(figsize=(inches, (len(lines) + 1.5) * font * 1.3 / 72))
    FigureCanvasAgg(figure)
    figure.text(0.5, 0.5, "\n".join(lines), ha="center", va="center", color=MUTED)
    return figure


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


# --------------------
# As files: SVG, PDF and PNG at both widths, whole or not at all, the same bytes from the same results.


_COMPRESSION = 3
"""Of PNG, 0 to 9: quicker than the usual 6, for files that are a little larger."""


def draw_figure(
    plot: str,
    tables: Iterable[str | Path],
    options: Mapping[str, Any],
    paths: Iterable[str | Path],
    *,
    made_from: str = "",
) -> None:
    """Draw one figure of a study to each path, as wide as `save_widths` says.

    Args:
        plot: the function that draws it, as `module.function` of this package.
        tables: files of its tables, in the order of its arguments.
        options: its other arguments, by name.
        paths: as for `save_widths`.
        made_from: as for `save_figure`.

    Raises:
        InputError: another ending, or what the function raises.
    """
    module, _, function = plot.rpartition(".")
    drawn = getattr(import_module(f"{__package__}.{module}"), function)
    save_widths(partial(drawn, *map(_read, tables), **options), paths, made_from=made_from)


def save_widths(plot: Callable[..., Figure], paths: Iterable[str | Path], *, made_from: str = "") -> None:
    """Write a figure to each path: at column width in a folder `column`, at page width in any other.

    Args:
        plot: draws the figure at a `width`; called once for each width that the paths ask for.
        paths: files that end with .svg, .pdf or .png.
        made_from: as for `save_figure`.

    Raises:
        InputError: another ending, or what `plot` raises.
    """
    files = [Path(path) for path in paths]
    for width in get_args(Width):
        of_width = [path for path in files if (path.parent.name == COLUMN) == (width == "column")]
        if of_width:
            figure = plot(width=width)
            for path in of_width:
                save_figure(figure, path, made_from=made_from)


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
    is_png = path.suffix == ".png"
    more: dict[str, Any] = {"pil_kwargs": {"compress_level": _COMPRESSION}} if is_png else {}
    paths = _as_paths(figure) if path.suffix == ".pdf" else nullcontext()  # the others have no fonts in them
    with style_context(["default", STYLE]), replacing(path) as temporary, paths:
        figure.savefig(
            temporary,
            format=path.suffix[1:],
            dpi=300,
            facecolor="white" if is_png else "none",
            metadata=metadata[path.suffix],
            **more,
        )
        if path.suffix == ".svg":
            _tell(temporary)


def _tell(file: Path) -> None:
    """Turn links of an SVG file that begin with `TOLD` into what a reader is told who points at the mark."""
    text = file.read_text(encoding="utf-8")
    told = re.sub(
        rf'<a xlink:href="{TOLD}([^"]*)"[^>]*>(.*?)</a>', r"<g><title>\1</title>\2</g>", text, flags=re.DOTALL
    )
    file.write_text(told, encoding="utf-8")


def _read(path: str | Path) -> Any:
    """Return the content of a result: a table from Parquet or CSV, a mapping from JSON."""
    match Path(path).suffix:
        case ".json":
            return read_document(path)
        case ".csv":  # every column by all its rows: in one without a number at first a later one would be refused
            return pl.read_csv(path, infer_schema_length=None)
    return read_table(path)


@contextmanager
def _as_paths(figure: Figure) -> Iterator[None]:
    """Draw text as paths in PDF, as it is in SVG: fonts need not be cut, and a figure looks the same in all formats.

    With its font embedded, matplotlib 3.11 misplaces what follows a joiner (বাঙ্‌লা), and takes half a second to cut
    it.
    """
    for axes in figure.axes:  # labels of ticks have their text once they are asked for
        axes.get_xticklabels()
        axes.get_yticklabels()
    texts = figure.findobj(Text)
    before = [text.get_path_effects() for text in texts]
    for text in texts:
        text.set_path_effects([Normal()])
    try:
        yield
    finally:
        for text, effects in zip(texts, before, strict=True):
            text.set_path_effects(effects)
