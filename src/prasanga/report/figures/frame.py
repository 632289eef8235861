"""Where things stand in a figure: panels side by side, labels of the axes, and below them the legend and a note.

Everything is laid out in inches and points from the size of the text, so that nothing is cut or covered at either
width, whatever the names. To be called in `panels.house_style`, as all that draws.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from matplotlib import rcParams
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.markers import TICKDOWN, TICKLEFT

from prasanga.report.figures.fitting import shortened_apart, width_of, wrapped
from prasanga.report.figures.palette import MUTED

GAP = 0.09
"""Room between panels side by side, as a share of their width."""

NOTE = 0.92
"""Size of notes and second lines, as a share of that of other text: 5.5 points at column width, and not less."""

_HANDLE, _PAD, _APART = 2.6, 0.8, 1.4
"""Length of a handle in a legend, room to its text and between columns, in units of the font's size."""

_EDGE = 0.006
"""Left free at both sides, as a share of the width."""


class Frame(NamedTuple):
    """A figure with its panels by row; those beyond the last are not visible."""

    figure: Figure
    panels: list[Any]


def left_of(sizes: dict[str, float], label: str) -> float:
    """Room left of the panels in inches: for the ticks and the label of the vertical axis, if it has one."""
    return sizes["font"] * (5.4 if label else 0.6) / 72


def panel_width(inches: float, across: int, *, left: float, gap: float = GAP) -> float:
    """Width of each of `across` panels side by side, in points."""
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
    """A figure that is `inches` wide and as high as its panels, legend and note need.

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
    """Ticks of panels that share both axes, after their limits are set.

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


def _ticks_of(axis: Any) -> list[float]:
    low, high = sorted(axis.get_view_interval())
    return [float(place) for place in axis.get_majorticklocs() if low <= place <= high]


def only_a_note(inches: float, sizes: dict[str, float], note: str) -> Figure:
    """A figure that says why there is nothing to draw."""
    lines = wrapped(note, sizes["font"], inches * 72 * (1 - 2 * _EDGE))
    figure = Figure(figsize=(inches, (len(lines) + 1.5) * sizes["font"] * 1.3 / 72))
    FigureCanvasAgg(figure)
    figure.text(0.5, 0.5, "\n".join(lines), ha="center", va="center", color=MUTED)
    return figure


def _fit(handles: Sequence[Any], font: float, room: float) -> int:
    """How many columns the handles of a legend can have; their labels are shortened to the room there is."""
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
