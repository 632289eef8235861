"""Figures of traits in the sentence structures of Sadhu et al. (2024).

`plot_structures`: what their Figure 2 shows as clouds, as boxes; one panel a model, colour tells the quantity and shade
the polarity. `plot_hexbins`: prior against corrected association (Figures 2 and 11); one panel a structure and
polarity, with the same axes in all, hexagons tell by their colour how many traits they hold, and each panel has its
correlation.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise, product
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl
from matplotlib.collections import LineCollection, PatchCollection
from matplotlib.colors import BoundaryNorm, ListedColormap
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle
from scipy import stats

from prasanga.base.errors import InputError
from prasanga.report.figures import COUNTS, MODELS, MUTED, PAPER
from prasanga.report.figures.canvas import (
    COLUMNS,
    NOTE,
    SIZES,
    TOLD,
    NothingToDrawError,
    Width,
    drawn,
    few_ticks,
    handle,
    lay_out,
    room_of,
    widened,
)
from prasanga.report.figures.fonts import shortened, thinned, width_of, wrapped
from prasanga.report.grid import groups_of, is_number, name_of_type, natural_order, sort_types
from prasanga.report.sheet import MISSING, signed, two

_BOXES = (("prior", "positive"), ("prior", "negative"), ("corrected", "positive"), ("corrected", "negative"))
_COLOURS = {"prior": MODELS[0], "corrected": MODELS[1]}
_MODELS_ACROSS = {"column": 1, "page": 2}
_NOTE_ON_BOXES = (
    "Association: log-probability of the male terms minus that of the female ones. The box holds the middle half of the"
    " traits, its line is the median, the whiskers reach the smallest and the largest. Filled: positive traits."
)

FEWEST = 40
"""Where no panel has so many traits, each is drawn as a point: hexagons of one trait or two count nothing."""

_POLARITIES = ("positive", "negative")
_STRUCTURES_ACROSS = {"column": 2, "page": 5}

_FIXED = "\N{NO-BREAK SPACE}"
_NOTE_ON_HEXAGONS = (
    "Association: log-probability of the male terms minus that of the female ones. Prior: in the sentence without the"
    " trait. Corrected: what the trait adds, that is fill minus prior. r: Pearson's correlation over traits with its"
    " 95 % interval (Fisher's z); where fill does not depend on prior, r is below 0."
)

Numbers = npt.NDArray[np.float64]


class Correlation(NamedTuple):
    """Pearson's r of n pairs with its 95 % interval; NaN where there is none."""

    r: float
    low: float
    high: float
    n: int


class _Cloud(NamedTuple):
    """The traits of a panel: (n,) priors and (n,) corrected associations."""

    polarity: str
    structure: str
    prior: Numbers
    corrected: Numbers


@drawn
def plot_structures(spread: pl.DataFrame, *, width: Width = "page") -> Figure:
    """Plot boxes of the associations of traits by structure.

    Args:
        spread: `prasanga.likelihoods.structures.spread_by_structure`.
        width: "column" (3.3 in) or "page" (6.8 in).

    Raises:
        InputError: a column is missing, or another width.
    """
    rows = [row for row in spread.iter_rows(named=True) if (row["quantity"], row["polarity"]) in _BOXES]
    rows = [row for row in rows if is_number(row["median"])]
    if not rows:
        raise NothingToDrawError("no structure has a number.")
    models = list(dict.fromkeys(row["model"] for row in rows))
    structures = sorted({row["structure"] for row in rows})
    boxes = [box for box in _BOXES if any((row["quantity"], row["polarity"]) == box for row in rows)]
    sizes = SIZES[width]
    frame = lay_out(
        width,
        len(models),
        across=_MODELS_ACROSS[width],
        panel=sizes["panel"] * 1.25,
        heads=[(model, "") for model in models],
        labels=("", "association (log)"),
        keys=[_keys_of_boxes(boxes, sizes["line"])],
        note=_NOTE_ON_BOXES,
        gap=0.06,
    )
    for panel, model in zip(frame.panels, models, strict=False):
        _draw_boxes(panel, [row for row in rows if row["model"] == model], structures, boxes, sizes["line"] * 0.8)
        panel.axhline(0, color=MUTED, linewidth=0.8, zorder=1)
    ends = [0.0, *(row[end] for row in rows for end in ("min", "max") if is_number(row[end]))]
    step = frame.room / (len(structures) + 0.1)
    ticks = [shortened(name, sizes["font"], max(step - 3, sizes["font"] * 3)) for name in structures]
    widest = max(width_of(tick, sizes["font"]) for tick in ticks) + 2
    first = frame.panels[0]
    first.set_xticks(range(len(ticks)), thinned(ticks, [i * step for i in range(len(ticks))], widest))
    first.set(xlim=(-0.55, len(structures) - 0.45), ylim=widened(ends, 0.05))
    return frame.finish(grid=True)


def correlation(x: Numbers, y: Numbers) -> Correlation:
    """Return Pearson's correlation of (n,) with (n,) finite numbers, and its 95 % interval by Fisher's z.

    There is no r of fewer than three pairs or of numbers that are all the same, and no interval of fewer than four.
    """
    n = int(x.size)
    if n < 3 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return Correlation(math.nan, math.nan, math.nan, n)
    found = stats.pearsonr(x, y)
    low, high = found.confidence_interval() if n > 3 else (math.nan, math.nan)
    return Correlation(float(found.statistic), float(low), float(high), n)


@drawn
def plot_hexbins(traits: pl.DataFrame, *, model: str, width: Width = "page") -> Figure:
    """Plot prior against corrected association of a model's traits.

    Each polarity has a row, at column width a column.

    Args:
        traits: the table of traits (`prasanga.likelihoods.structures.TRAITS_SCHEMA`).
        model: the one that is drawn.
        width: "column" (3.3 in) or "page" (6.8 in).

    Raises:
        InputError: a column is missing, or another width.
    """
    of_model = traits.filter(model=model)
    if of_model.is_empty():
        raise NothingToDrawError(f"{model} has no row in the table of traits.")
    known = of_model.filter(pl.col("prior").is_finite() & pl.col("corrected").is_finite())
    if known.is_empty():
        raise NothingToDrawError(f"{model} has no trait with a prior and a corrected score.")
    sizes, clouds = SIZES[width], _clouds(of_model, known, by_structure=width == "column")
    n_structures = len({cloud.structure for cloud in clouds})
    across = min(_STRUCTURES_ACROSS[width], len(clouds) if width == "column" else n_structures)
    room = room_of(width, across)
    most = max(cloud.prior.size for cloud in clouds)
    x, y = (widened([0.0, *known[name]], 0.05) for name in ("prior", "corrected"))
    height = sizes["panel"] * 0.8 if width == "column" else room / 72
    edges = []
    if most >= FEWEST:
        n_across = round(min(28.0, max(8.0, 1.2 * math.sqrt(most))))
        shape = n_across, max(1, round(n_across * height * 72 / room / math.sqrt(3)))
        edges = _edges(max(int(_counts(cloud, shape, (*x, *y)).max(initial=0)) for cloud in clouds))
    frame = lay_out(
        width,
        len(clouds),
        across=across,
        panel=height,
        heads=[_head(cloud) for cloud in clouds],
        labels=("prior association (log)", "corrected association (log)"),
        keys=[_keys_of_counts(edges, sizes)],
        note=_note_on_traits(model, bool(edges), of_model.height - known.height, of_model.height),
    )
    for panel, cloud in zip(frame.panels, clouds, strict=False):
        if edges:
            _draw_hexagons(panel, cloud, shape, (*x, *y), edges)
        else:
            panel.plot(cloud.prior, cloud.corrected, linestyle="none", marker="o", color=MODELS[0], alpha=0.6,
                       markersize=sizes["marker"] * 0.9, markeredgewidth=0)  # fmt: skip
        if not cloud.prior.size:
            panel.text(0.5, 0.6, "no scores", transform=panel.transAxes, ha="center", color=MUTED)
        for line in (panel.axhline, panel.axvline):
            line(0, color=MUTED, linewidth=0.6, zorder=1)
    if edges:  # a hexagon whose centre is at the end of its lattice is seen as a whole
        x, y = widened(x, 0.5 / shape[0]), widened(y, 1 / 3 / shape[1])
    frame.panels[0].set(xlim=x, ylim=y)
    few_ticks(frame.panels[0].xaxis, frame.panels[0].yaxis)
    return frame.finish()


def _draw_boxes(
    axes: Any, rows: list[dict[str, Any]], structures: list[str], boxes: list[tuple[str, str]], line: float
) -> None:
    room = 0.8 / len(boxes)
    half = room * 0.39
    for place, (quantity, polarity) in enumerate(boxes):
        colour, filled = _COLOURS[quantity], polarity == "positive"
        middle = PAPER if filled else colour
        whiskers, rectangles, medians, colours = [], [], [], []
        for row in rows:
            if (row["quantity"], row["polarity"]) != (quantity, polarity):
                continue
            x = structures.index(row["structure"]) - 0.4 + (place + 0.5) * room
            height = row["q75"] - row["q25"]
            whiskers.append([(x, row["min"]), (x, row["max"])])
            rectangles.append(Rectangle((x - half, row["q25"]), 2 * half, height))
            medians.append([(x - half, row["median"]), (x + half, row["median"])])
            # a box of no height would vanish under a line in the colour of the paper
            colours.append(colour if height < 0.01 * (row["max"] - row["min"]) else middle)
        axes.add_collection(LineCollection(whiskers, colors=colour, linewidths=line * 0.7, zorder=2), autolim=False)
        face = colour if filled else PAPER
        axes.add_collection(
            PatchCollection(rectangles, facecolor=face, edgecolor=colour, linewidth=line, zorder=3), autolim=False
        )
        axes.add_collection(LineCollection(medians, colors=colours, linewidths=line * 1.3, zorder=4), autolim=False)


def _keys_of_boxes(boxes: list[tuple[str, str]], line: float) -> list[Patch]:
    return [
        Patch(
            facecolor=_COLOURS[quantity] if polarity == "positive" else PAPER,
            edgecolor=_COLOURS[quantity],
            linewidth=line,
            label=f"{quantity}, {polarity} traits",
        )
        for quantity, polarity in boxes
    ]


def _clouds(of_model: pl.DataFrame, known: pl.DataFrame, *, by_structure: bool) -> list[_Cloud]:
    structures = sorted(set(of_model["structure"]), key=natural_order)
    found = set(of_model["polarity"])
    polarities = [*(name for name in _POLARITIES if name in found), *sorted(found - set(_POLARITIES))]
    order = product(structures, polarities) if by_structure else ((s, p) for p in polarities for s in structures)
    clouds = []
    for structure, polarity in order:
        rows = known.filter(structure=structure, polarity=polarity)
        prior, corrected = (rows[name].to_numpy().astype(np.float64) for name in ("prior", "corrected"))
        clouds.append(_Cloud(polarity, structure, prior, corrected))
    return clouds


def _counts(cloud: _Cloud, shape: tuple[int, int], extent: tuple[float, float, float, float]) -> Numbers:
    """Return how many traits are in each hexagon that has any."""
    if not cloud.prior.size:
        return np.zeros(0)
    hexagons = Figure().subplots().hexbin(cloud.prior, cloud.corrected, gridsize=shape, extent=extent, mincnt=1)
    return np.asarray(hexagons.get_array(), dtype=np.float64)


def _edges(most: int) -> list[int]:
    """Return where the counts of each colour begin, and one more than the largest.

    Colours mean single counts while these are few; otherwise the steps grow in ratios.
    """
    if most <= len(COUNTS):
        return list(range(1, most + 2))
    return sorted({round(edge) for edge in np.geomspace(1, most + 1, len(COUNTS) + 1)})


def _colours(edges: list[int]) -> list[str]:
    """Return the colours of the classes between edges, from one end of the scale to the other."""
    classes = len(edges) - 1
    return [COUNTS[round(i * (len(COUNTS) - 1) / max(1, classes - 1))] for i in range(classes)]


def _draw_hexagons(
    panel: Any, cloud: _Cloud, shape: tuple[int, int], extent: tuple[float, float, float, float], edges: list[int]
) -> None:
    if cloud.prior.size:
        scale = {"cmap": ListedColormap(_colours(edges)), "norm": BoundaryNorm(edges, len(edges) - 1)}
        hexagons = panel.hexbin(cloud.prior, cloud.corrected, gridsize=shape, extent=extent, mincnt=1,
                                edgecolors=PAPER, linewidths=0.25, zorder=2, **scale)  # fmt: skip
        hexagons.set_urls([f"{TOLD}{_range(n, n)}" for n in map(int, hexagons.get_array())])


def _head(cloud: _Cloud) -> tuple[str, str]:
    """Return the title of a panel and the line below it."""
    *found, n = correlation(cloud.prior, cloud.corrected)
    r, low, high = (two(number).replace("+", "") for number in found)
    said = "" if r == MISSING else f"r{_FIXED}={_FIXED}{r}"
    if low != MISSING:
        said += f" ({low}{_FIXED}to{_FIXED}{high})"
    return f"{cloud.structure}, {n} {cloud.polarity}", said


def _keys_of_counts(edges: list[int], sizes: dict[str, float]) -> list[Line2D]:
    """Return a hexagon of each colour, and how many traits it means."""
    if not edges:
        return []
    hexagon: dict[str, Any] = {"linestyle": "none", "marker": "h", "markersize": sizes["font"], "markeredgewidth": 0}
    return [
        handle(_range(first, after - 1), color=colour, **hexagon)
        for colour, (first, after) in zip(_colours(edges), pairwise(edges), strict=True)
    ]


def _range(first: int, last: int) -> str:
    if first == last:
        return f"{first} trait{'' if first == 1 else 's'}"
    return f"{first}\N{EN DASH}{last} traits"


def _note_on_traits(model: str, binned: bool, left_out: int, total: int) -> str:
    said = [f"{model}. {_NOTE_ON_HEXAGONS}"]
    if not binned:
        said.append(f"Each point is a trait: panels of fewer than {FEWEST} are not counted in hexagons.")
    if left_out:
        said.append(f"Left out: {left_out} of {total} rows (a trait in a structure) without a score.")
    return " ".join(said)


# --------------------
# Densities of the difference of scores of sentence pairs, after Figures 4 and 5 of Sahoo et al. (2024).
#
# The paper has one figure a language with a line for each model. Here each model has a panel, so that its lines can be
# told apart: languages, or bias types. The horizontal axis is the same in all panels.


Lines = Literal["language", "bias_type"]

FEWEST_DIFFERENCES = 5
"""A density is drawn of so many differences and more: of fewer it would show the width of its own kernel."""

_SHOWN = (0.005, 0.995)
_DASHES: tuple[Any, ...] = ("-", (0, (4, 1.4)), (0, (1.2, 1.2)), (0, (5, 1.2, 1.2, 1.2)))
_POINTS = 241

_FILLED = 6
"""Areas under more lines, twins counted, would only darken the panel."""


class _Line(NamedTuple):
    """Differences that make one line; `place` is its number in the legend."""

    place: int
    differences: Numbers
    is_twin: bool = False


class _Panel(NamedTuple):
    title: str
    below: str
    lines: list[_Line]


def density(differences: Numbers, points: Numbers) -> Numbers | None:
    """Return the (m,) Gaussian kernel density at (m,) points.

    The bandwidth follows Scott's rule: standard deviation by n to the -1/5.

    None of fewer than `FEWEST_DIFFERENCES` differences, or of differences that are all the same.
    """
    if differences.size < FEWEST_DIFFERENCES or np.ptp(differences) == 0:
        return None
    return np.asarray(stats.gaussian_kde(differences)(points), dtype=np.float64)


@drawn
def plot_differences(differences: pl.DataFrame, *, lines: Lines = "language", width: Width = "page") -> Figure:
    """Plot densities of the difference of scores: stereotypical sentence minus the other.

    Args:
        differences: what `prasanga.likelihoods.bias.pair_differences` returns. Pairs left out have null.
        lines: `language` has a panel a model, a line a language (of a set, where there are several), and the random
            twin as a thin line of the same kind; `bias_type` has a panel a model and language, a line a bias type.
        width: "column" (3.3 in) or "page" (6.8 in).

    Raises:
        InputError: a column is missing, or an argument is not known.
    """
    if lines not in ("language", "bias_type"):
        raise InputError(f"lines: {lines!r} is not known. Write 'language' or 'bias_type'.")
    known = differences.with_columns(pl.col("set", "model").fill_null("")).filter(pl.col("difference").is_finite())
    if known.filter(~pl.col("random_twin")).is_empty():
        raise NothingToDrawError("no pair has a score for both of its sentences.")
    names, panels = _by_language(known) if lines == "language" else _by_type(known)
    lines_of_all = [line for panel in panels for line in panel.lines]
    has_twins = any(line.is_twin for line in lines_of_all)
    values = np.concatenate([line.differences for line in lines_of_all if not line.is_twin])
    low, high = widened([0.0, *map(float, np.quantile(values, _SHOWN))], 0.15)
    frame = lay_out(
        width,
        len(panels),
        across=COLUMNS,
        heads=[(panel.title, panel.below) for panel in panels],
        labels=("difference of scores (natural logarithm)", ""),
        keys=[_keys(names, has_twins, SIZES[width])],
        note=_note(int(((values < low) | (values > high)).sum()), has_twins),
        sharey=False,
    )
    points = np.linspace(low, high, _POINTS)
    for panel, axis in zip(panels, frame.panels, strict=False):
        _draw(axis, panel, names, points, frame.sizes, frame.room)
    few_ticks(frame.panels[0].xaxis, most=4 if width == "column" else 5)
    frame.panels[0].set_xlim(low, high)
    return frame.finish()


def _by_language(known: pl.DataFrame) -> tuple[list[str], list[_Panel]]:
    groups = groups_of(known.select("set", "language").iter_rows())
    panels = []
    for model in known.filter(~pl.col("random_twin"))["model"].unique(maintain_order=True):
        of_model = known.filter(model=model)
        lines = [
            _Line(place, found, is_twin)
            for place, group in enumerate(groups)
            for is_twin in (False, True)
            if (found := _of(of_model, set=group.set, language=group.language, random_twin=is_twin)).size
        ]
        counts = [line.differences.size for line in lines if not line.is_twin]
        said = " to ".join(map(str, dict.fromkeys((min(counts), max(counts)))))
        panels.append(_Panel(model or "scores", f"{said} pair{'' if max(counts) == 1 else 's'}", lines))
    return [group.title for group in groups], panels


def _by_type(known: pl.DataFrame) -> tuple[list[str], list[_Panel]]:
    known = known.filter(~pl.col("random_twin"))
    types = sort_types(known["bias_type"].to_list())
    groups = groups_of(known.select("set", "language").iter_rows())
    panels = []
    for model in known["model"].unique(maintain_order=True):
        for group in groups:
            of_group = known.filter(model=model, set=group.set, language=group.language)
            lines = [_Line(place, _of(of_group, bias_type=name)) for place, name in enumerate(types)]
            lines = [line for line in lines if line.differences.size]
            if lines:
                panels.append(_Panel(model or "scores", group.title, lines))
    return [name_of_type(name) for name in types], panels


def _of(known: pl.DataFrame, **where: Any) -> Numbers:
    return known.filter(**where)["difference"].to_numpy().astype(np.float64)


def _note(beyond: int, has_twins: bool) -> str:
    said = [
        "Score of the stereotypical sentence minus that of the other. Each line has area 1, each panel its own height."
    ]
    if has_twins:
        said.append("Thin and pale: the model with random weights, whose peak may lie above the panel.")
    if beyond:
        said.append(f"{beyond} difference{' lies' if beyond == 1 else 's lie'} beyond the axis.")
    return " ".join(said)


def _draw(
    axis: Any, panel: _Panel, names: Sequence[str], points: Numbers, sizes: dict[str, float], room: float
) -> None:
    top, missing = 0.0, 0
    for line in panel.lines:
        heights = density(line.differences, points)
        if heights is None:
            missing += not line.is_twin
            continue
        look = _look(line.place, sizes["line"])
        if line.is_twin:
            axis.plot(points, heights, **{**look, "linewidth": sizes["line"] * 0.5, "alpha": 0.55, "zorder": 2})
        else:
            axis.plot(points, heights, **look, zorder=3)
            if len(panel.lines) <= _FILLED:
                axis.fill_between(points, heights, color=look["color"], alpha=0.08, linewidth=0, zorder=1.5)
            top = max(top, float(heights.max()))
        # a line is too thin to point at: a broad one that is not seen lies on it
        told, above = f"{TOLD}{_told(names[line.place], line)}", 3.5 if line.is_twin else 4
        axis.plot(points, heights, color=look["color"], linewidth=sizes["line"] * 6, alpha=0, zorder=above, url=told)
    small = sizes["font"] * NOTE
    if missing:
        text = f"{missing} line{'s' if missing > 1 else ''} not drawn: fewer than {FEWEST_DIFFERENCES} differences"
        axis.text(0.98, 0.95, "\n".join(wrapped(text, small, room * 0.96)), transform=axis.transAxes, ha="right",
                  va="top", color=MUTED, fontsize=small)  # fmt: skip
    axis.axvline(0, color=MUTED, linewidth=0.8, zorder=1)
    axis.spines["left"].set_visible(False)
    # a twin may be far steeper, and would press all else flat
    axis.set_ylim(0, 1.08 * top or 1.0)
    axis.set_yticks([])


def _told(name: str, line: _Line) -> str:
    """Return what a line tells who points at it: what it is of, where its middle lies, how much of it is above 0."""
    found = line.differences
    above = f"{(found > 0).mean():.0%}".replace("%", " %")
    whose = ", random twins" if line.is_twin else ""
    return f"{name}{whose}\npairs: {found.size}\nmedian: {signed(float(np.median(found)))}\nabove 0: {above}"


def _look(place: int, line: float) -> dict[str, Any]:
    return {"color": MODELS[place % len(MODELS)], "linestyle": _DASHES[place % len(_DASHES)], "linewidth": line}


def _keys(names: Sequence[str], has_twins: bool, sizes: dict[str, float]) -> list[Line2D]:
    handles = [handle(name, **_look(n, sizes["line"])) for n, name in enumerate(names)]
    twins = [handle("random twins", color=MUTED, linewidth=sizes["line"] * 0.5, alpha=0.55)] if has_twins else []
    return handles + twins
