"""What figures are drawn on: their style and fonts, panels with heads and legend, points, and files.

A function that draws is `drawn`: the house style is in force, and text is measured with its fonts. `lay_out` returns
panels that matplotlib's constrained layout keeps apart, and `draw_points` draws points with their intervals in one.
`draw_categories` has one panel per category, in the study's order, so a category or a model looks the same in each
figure; `draw_rows` has named rows. The same table gives the same bytes.

Letters that DejaVu Sans lacks come from the fonts for Bangla and Hindi, which are shipped with the package.
"""

from __future__ import annotations

import itertools
import math
import re
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import lru_cache, wraps
from importlib import import_module
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal, ParamSpec

import numpy as np
import polars as pl
import regex
from matplotlib import font_manager
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.font_manager import FontEntry, FontProperties
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.lines import Line2D
from matplotlib.patheffects import Normal
from matplotlib.style import context as style_context
from matplotlib.text import Text
from matplotlib.textpath import text_to_path
from matplotlib.ticker import MaxNLocator, NullLocator

from prasanga.base.io import read_document, replacing
from prasanga.report import ASSETS
from prasanga.report.figures import COLUMN, MARKERS, MODELS, MUTED, PAPER, figure_named
from prasanga.report.grid import Grid
from prasanga.schema import read_table

Given = ParamSpec("Given")
Width = Literal["column", "page"]

WIDTHS: dict[str, float] = {"column": 3.3, "page": 6.8}
"""Inches: one column of a two-column page, and both."""

SIZES: dict[str, dict[str, float]] = {
    "column": {"font": 6.0, "title": 6.4, "marker": 2.5, "line": 0.9, "panel": 0.98},
    "page": {"font": 7.5, "title": 8.0, "marker": 3.6, "line": 1.2, "panel": 1.5},
}
"""By width: fonts, markers and lines in points; the height of a panel in inches."""

COLUMNS = {"column": 3, "page": 4}
"""Panels side by side, at most, by width."""

THICK = 2.6
"""How much thicker a line is where an effect has settled."""

DOTS = 300
"""Dots per inch of PNG."""

NOTE = 0.92
"""Size of second lines relative to other text: 5.5 points at column width, and not less."""

SCRIPTS = ("Bengali", "Devanagari")
"""The scripts of Bangla and Hindi as Unicode calls them."""

ELLIPSIS = "\N{HORIZONTAL ELLIPSIS}"
_PADS: dict[str, Any] = {"w_pad": 3 / 72, "h_pad": 2 / 72, "wspace": 0.01, "hspace": 0.0}
_ROUND = [1, 2, 2.5, 5, 10]
_UPRIGHT = 4  # of more lengths the labels are upright


@lru_cache
def font_families() -> tuple[str, ...]:
    """Return the families for `font.family`, in the order in which a letter is looked for.

    Matplotlib learns of the shipped files here, since no search for fonts finds them. They have names of their own,
    because a machine's own Noto may be of another version.
    """
    fonts = ASSETS / "vendor/fonts"
    for script, weight in itertools.product(SCRIPTS, (400, 700)):
        file = str(fonts / f"noto-sans-{script.lower()}-{weight}.ttf")
        font = FontEntry(fname=file, name=f"prasanga {script}", weight=weight, stretch="normal", size="scalable")
        font_manager.fontManager.ttflist.append(font)
    return ("DejaVu Sans", *(f"prasanga {script}" for script in SCRIPTS))


font_families()
STYLE = str(files(__package__) / "house.mplstyle")
"""Settings of matplotlib for all figures."""


class NothingToDrawError(Exception):
    """Why a figure has nothing to show, as a sentence that is drawn in its place."""


def drawn(plot: Callable[Given, Figure]) -> Callable[Given, Figure]:
    """Have a function draw in the house style at its `width`; where there is nothing to draw, a note says why."""

    @wraps(plot)
    def at_width(*args: Given.args, **options: Given.kwargs) -> Figure:
        width: Any = options.get("width", "page")
        with house_style(width):
            try:
                figure = plot(*args, **options)
                # panels are placed once for all formats: each time takes as long as to draw them
                ConstrainedLayoutEngine(**_PADS).execute(figure)
                return figure
            except NothingToDrawError as why:
                lines = textwrap.wrap(f"Not drawn: {why}", int(WIDTHS[width] * 130 / SIZES[width]["font"]))
                figure = Figure((WIDTHS[width], (len(lines) + 1) * SIZES[width]["font"] * 1.3 / 72))
                FigureCanvasAgg(figure)
                figure.text(0.5, 0.5, "\n".join(lines), ha="center", va="center", color=MUTED)
                return figure

    return at_width


def house_style(width: Width) -> AbstractContextManager[None]:
    """Return the style of all figures, for as long as something is drawn."""
    return style_context(["default", STYLE, {"font.size": SIZES[width]["font"]}])


def look(number: int, sizes: Mapping[str, float], share: float = 1.0) -> dict[str, Any]:
    """Return the style of a model's points by its number, `share` as large as usual."""
    color = MODELS[number % len(MODELS)]
    return {
        "color": color,
        "marker": MARKERS[number % len(MARKERS)],
        "markersize": sizes["marker"] * share,
        "markeredgewidth": sizes["line"] * 0.7,
        "linewidth": sizes["line"],
        "linestyle": "none",
        "zorder": 3,
    }


def draw_points(
    panel: Any, rows: pl.DataFrame, style: Mapping[str, Any], *, joined: bool = False, upright: bool = True
) -> None:
    """Draw points, and their intervals as thin bars of the same color.

    Args:
        panel: where to draw.
        rows: `x` and `y`; `low` and `high` for intervals; `is_open` where some markers are open; `is_settled` where the
            line is thick.
        style: of the points, from `look`.
        joined: whether a line joins them; it has a gap where `y` is null.
        upright: whether intervals are along the vertical axis.
    """
    if "low" in rows.columns:
        bars = rows.drop_nulls(["low", "high"])
        draw, place = (panel.vlines, bars["x"]) if upright else (panel.hlines, bars["y"])
        draw(place, bars["low"], bars["high"], color=style["color"], linewidth=style["linewidth"] * 0.8)
    if joined:
        line = {**style, "marker": "", "linestyle": "-", "zorder": 2.5}
        panel.plot(rows["x"], rows["y"], **line)
        if "is_settled" in rows.columns:
            settled = rows.select(pl.when("is_settled").then("y"))["y"]
            panel.plot(rows["x"], settled, **{**line, "linewidth": THICK * style["linewidth"]})
    is_open = rows["is_open"] if "is_open" in rows.columns else pl.repeat(value=False, n=len(rows), eager=True)
    for points, face in ((rows.filter(~is_open), style["color"]), (rows.filter(is_open), PAPER)):
        if len(points):
            panel.plot(points["x"], points["y"], **{**style, "markerfacecolor": face})


def handle(label: str, **style: Any) -> Line2D:
    """Return what a legend shows of lines or points in this style."""
    return Line2D([], [], label=label, **style)


def widen(values: Iterable[float], share: float) -> tuple[float, float]:
    """Return the ends of an axis: all values are inside, with a share of their range, or 1, beyond them."""
    ends = list(values)
    beyond = share * (max(ends) - min(ends)) or 1.0
    return min(ends) - beyond, max(ends) + beyond


def few_ticks(*axes: Any, most: int = 4) -> None:
    """Have axes bear few ticks, at round numbers."""
    for axis in axes:
        axis.set_major_locator(MaxNLocator(most, steps=_ROUND))


def room_of(width: Width, across: int, left: float | None = None) -> float:
    """Return about how wide each of `across` panels side by side is, in points; `left` as of `lay_out`."""
    font = SIZES[width]["font"]
    return (WIDTHS[width] * 72 - (font * 4.6 if left is None else left)) / across - font


def panels_across(n_panels: int, most: int) -> int:
    """Return how many panels go side by side: full rows if possible, so 4 are in one row or in two, never 3 + 1."""
    full = (n for n in range(min(most, n_panels), 1, -1) if n_panels % n == 0 and n_panels <= 5 * n)
    return next(full, math.ceil(n_panels / math.ceil(n_panels / most)))


def lay_out(
    width: Width,
    *,
    heads: Sequence[Sequence[str]],
    across: int,
    labels: tuple[str, str],
    keys: Sequence[Any],
    panel: float | None = None,
    left: float | None = None,
    **shared: Any,
) -> tuple[Figure, list[Any]]:
    """Return a figure that is as high as its panels and legend need, and its panels by row.

    Args:
        width: "column" or "page".
        heads: one entry per panel: its title, and texts below the title, each in a line or two.
        across: panels side by side, at most.
        labels: of the horizontal axis, below each panel of the last row or, if too long, once; and of the vertical one.
        keys: handles for the legend, in as many columns as fit. Long labels are shortened.
        panel: height of a panel in inches, None for the usual one.
        left: room for the ticks and the label of the vertical axis in points, None for ticks that are numbers.
        shared: arguments of `Figure.subplots`; by default panels share both axes, with labels at the outer ones only.
    """
    inches, sizes, n_panels = WIDTHS[width], SIZES[width], len(heads)
    font, title, n_columns = sizes["font"], sizes["title"], panels_across(n_panels, across)
    room, n_rows = room_of(width, n_columns, left), math.ceil(n_panels / n_columns)
    below = [[line for text in texts for line in fold(text, title * NOTE, room)] for _, *texts in heads]
    for key in keys:
        key.set_label(shortened(str(key.get_label()), font, inches * 72 - 5 * font))
    widths = [width_of(key.get_label(), font) + 4.8 * font for key in keys]  # with a handle and the room next to it
    columns = len(keys) if sum(widths) <= inches * 72 else max(1, int(inches * 72 / max(widths)))
    n_lines = math.ceil(len(keys) / max(1, columns)) * 1.4 + 3.5
    head = title * (1.4 + 1.1 * max(map(len, below)))
    high = (n_lines * font + n_rows * (head + font * 1.8)) / 72 + n_rows * (panel or sizes["panel"])
    figure = Figure((inches, high), dpi=DOTS)  # hinted letters are as wide as they will be
    FigureCanvasAgg(figure)
    panels: list[Any] = list(
        figure.subplots(n_rows, n_columns, squeeze=False, **{"sharex": True, "sharey": True, **shared}).flat
    )
    is_short = width_of(labels[0], font) <= room
    for number, axes in enumerate(panels):
        axes.set_visible(number < n_panels)
        axes.tick_params(labelsize=font)  # ticks are made when a figure is drawn, in the style in force at that time
        is_last = number + n_columns >= n_panels  # so is a panel above an empty place
        if shared.get("sharex", True):
            axes.tick_params(axis="x", labelbottom=is_last)
        axes.set_xlabel(labels[0] if is_last and is_short else "")
    small = {"fontsize": title * NOTE, "linespacing": 1.1, "textcoords": "offset points", "xycoords": "axes fraction"}
    for axes, (name, *_), under in zip(panels, heads, below, strict=False):
        name = shortened(name, title, room, bold=True)
        axes.set_title(name, fontsize=title, pad=4 + len(under) * title * NOTE * 1.15)
        axes.annotate("\n".join(under), (0, 1), (0, 3), **small)
    figure.supylabel(labels[1], fontsize=font)
    figure.supxlabel("" if is_short else labels[0], fontsize=font)
    if keys:
        figure.legend(handles=keys, ncols=columns, loc="outside upper center", borderaxespad=0.5, borderpad=0)
    return figure, panels


def draw_categories(
    grid: Grid,
    width: Width,
    rows: pl.DataFrame,
    *,
    labels: tuple[str, str],
    keys: Sequence[Any],
    of_draws: bool = False,
) -> tuple[Figure, list[Any]]:
    """Return a figure with a panel for each category, its sets in the panel's head, and a line for each model.

    Args:
        grid: the estimates; its categories are the panels, its models the lines.
        width: "column" or "page".
        rows: category, model, and the columns of `draw_points`.
        labels: of the horizontal and of the vertical axis.
        keys: handles for the legend, after the models'.
        of_draws: whether the horizontal axis has numbers of draws; otherwise it has the grid's lengths, from 0 to the
            last one with a row.
    """
    sizes, n_models, n_lengths = SIZES[width], len(grid.models), int(rows["x"].max() or 0) + 1  # type: ignore[arg-type]
    looks = [look(number, sizes) for number in range(n_models)]
    figure, panels = lay_out(
        width,
        heads=[(each.name, each.targets, each.attributes) for each in grid.categories],
        across=COLUMNS[width],
        labels=labels,
        keys=[*(handle(name, **{**looks[i], "linestyle": "-"}) for i, name in enumerate(grid.models)), *keys],
    )
    panels[0].yaxis.set_major_locator(MaxNLocator(7, steps=_ROUND))
    if of_draws:
        panels[0].set_xscale("log")
        panels[0].xaxis.set_major_formatter("{x:,.0f}")
    else:
        panels[0].set_xticks(range(n_lengths), grid.lengths[:n_lengths])
        panels[0].set_xlim(-0.45, n_lengths - 0.55)
    panels[0].xaxis.set_minor_locator(NullLocator())
    places = rows.select(pl.col("x").unique().sort())
    for panel, category in zip(panels, grid.categories, strict=False):
        panel.tick_params(axis="x", labelrotation=90 if not of_draws and n_lengths > _UPRIGHT else 0)
        panel.grid(axis="y")
        for number, model in enumerate(grid.models):
            line = rows.filter(category=category.name, model=model)
            line = places.join(line, on="x", how="left", maintain_order="left")  # a missing length is a gap
            if not of_draws:  # markers and bars of equal estimates do not hide each other
                aside = (number - (n_models - 1) / 2) * min(0.12, 0.6 / n_models)
                line = line.with_columns(pl.col("x") + aside)
            draw_points(panel, line, looks[number], joined=True)
        if not any(np.isfinite(line.get_ydata()).any() for line in panel.lines):
            panel.text(0.5, 0.62, "nothing to draw", transform=panel.transAxes, ha="center", color=MUTED)
        panel.axhline(0, color=MUTED, linewidth=0.8, zorder=1)
    return figure, panels


def draw_rows(
    parts: Sequence[tuple[Sequence[str], Sequence[str], pl.DataFrame]],
    looks: Mapping[str, dict[str, Any]],
    width: Width,
    *,
    across: int,
    labels: tuple[str, str],
    left: float,
    height: float = 1.0,
    keys: Sequence[Any] = (),
) -> tuple[Figure, list[Any]]:
    """Return a figure with points in rows with names, from the top down, and its panels.

    `parts` are head, names of the rows, and points (series, and the columns of `draw_points`) of each panel; `height`
    is that of a row in lines of text; panels below each other are as high as their rows.
    """
    sizes, rows = SIZES[width], [len(names) for _, names, _ in parts]
    figure, panels = lay_out(
        width,
        heads=[head for head, *_ in parts],
        across=across,
        panel=((sum(rows) / len(rows) if across == 1 else max(rows)) * height + 1) * 1.4 * sizes["font"] / 72,
        left=left,
        labels=labels,
        keys=[*(handle(name, **style) for name, style in looks.items()), *keys],
        sharey=across > 1 and all(names == parts[0][1] for _, names, _ in parts),
        height_ratios=rows if across == 1 else None,
    )
    for panel, (_, names, points) in zip(panels, parts, strict=False):
        panel.axvline(0, color=MUTED, linewidth=0.8, zorder=1)
        for name, style in looks.items():
            draw_points(panel, points.filter(series=name), style, upright=False)
        panel.set_yticks(range(len(names)), names)
        panel.set_ylim((len(names) if across == 1 else max(rows)) - 0.5, -0.5)
        panel.grid(axis="y")
    few_ticks(panels[0].xaxis, most=5)
    return figure, panels


# --------------------
# Text that fits: widths are measured with the font in force, in points.


def width_of(text: str, size: float, *, bold: bool = False) -> float:
    """Return the width of one line of text."""
    font = FontProperties(size=size, weight="bold" if bold else "normal")
    return float(text_to_path.get_text_width_height_descent(text, font, False)[0]) * 1.02 if text else 0.0


def shortened(text: str, size: float, room: float, *, bold: bool = False) -> str:
    """Return one line of text, with an ellipsis in place of its middle where it is wider than `room`.

    Letters are not torn from their vowel signs, nor a conjunct apart. Line breaks and runs of spaces become one space.
    """
    text = " ".join(text.split())
    letters = regex.findall(r"\X", text)
    kept = len(letters)
    while width_of(text, size, bold=bold) > room and kept:
        kept -= max(1, kept // 40)
        start = (kept + 1) // 2
        text = "".join((*letters[:start], ELLIPSIS, *letters[len(letters) - (kept - start) :]))
    return text


def fold(text: str, size: float, room: float) -> list[str]:
    """Return a text in one line, or in two where that is wider than `room`, each shortened to it."""
    parts = [text] if width_of(text, size) <= room else re.split(r"(?<=/)|(?<=[,;:]) | (?=\()", text, maxsplit=1)
    return [shortened(part, size, room) for part in parts if part]


# --------------------
# As files: SVG, PDF and PNG at both widths, whole or not at all.


def draw_figure(
    plot: str,
    tables: Iterable[str | Path],
    options: Mapping[str, Any],
    paths: Iterable[str | Path],
    *,
    made_from: str = "",
) -> None:
    """Draw one figure of a study to each path: at column width in a folder `column`, at page width in any other.

    Args:
        plot: the function that draws it, as `module.function` of this package.
        tables: files of its tables, in the order of its arguments.
        options: its other arguments, by name.
        paths: files that end with .svg, .pdf or .png.
        made_from: as for `save_figure`.
    """
    module, _, function = plot.rpartition(".")
    draw = getattr(import_module(f"{__package__}.{module}"), function)
    read, places = [_read(Path(table)) for table in tables], [Path(path) for path in paths]
    for width in WIDTHS:
        figure = None
        for path in places:
            if (path.parent.name == COLUMN) == (width == "column"):
                figure = figure or draw(*read, **options, width=width)
                save_figure(figure, path, made_from=made_from)


def save_figure(figure: Figure, path: str | Path, *, made_from: str = "") -> None:
    """Write a figure as SVG, PDF or PNG, by the ending of `path`, whole or not at all.

    The file's metadata have its title, its caption, and what it was made from (`made_from`), but no date.
    """
    path = Path(path)
    title, caption = (shown.label, shown.caption) if (shown := figure_named(path.stem)) else (path.stem, "")
    metadata: dict[str, dict[str, str | None]] = {
        ".svg": {"Title": title, "Description": caption, "Source": made_from, "Date": None},
        ".pdf": {"Title": title, "Subject": caption, "Keywords": made_from, "CreationDate": None},
        ".png": {"Title": title, "Description": caption, "Source": made_from},
    }
    is_png = path.suffix == ".png"
    more: dict[str, Any] = {"pil_kwargs": {"compress_level": 3}} if is_png else {}  # quicker than the usual 6
    with style_context(["default", STYLE]), replacing(path) as temporary:
        for axis in (axis for axes in figure.axes for axis in (axes.xaxis, axes.yaxis)):
            axis.get_ticklabels()  # these have their text once they are asked for
        for text in figure.findobj(Text):
            # In PDF, Latin text is text. Other scripts are outlines: with an embedded font, matplotlib 3.11 misplaces
            # what follows a joiner (বাঙ্‌লা).
            is_outline = path.suffix == ".pdf" and regex.search(r"[^\p{Latin}\p{Common}]", text.get_text())
            text.set_path_effects([Normal()] if is_outline else [])
        facecolor = "white" if is_png else "none"
        figure.savefig(
            temporary, format=path.suffix[1:], dpi=DOTS, facecolor=facecolor, metadata=metadata[path.suffix], **more
        )


def _read(path: Path) -> Any:
    """Return the content of a result: a table from Parquet or CSV, a mapping from JSON."""
    if path.suffix == ".json":
        return read_document(path)
    # of CSV every column by all its rows: in one without a number at first a later one would be refused
    return pl.read_csv(path, infer_schema_length=None) if path.suffix == ".csv" else read_table(path)
