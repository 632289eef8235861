"""Figures of traits in the sentence structures of Sadhu et al. (2024), and of the scores of sentence pairs.

`plot_structures`: what their Figure 2 shows as clouds, as boxes; one panel per model, colour shows the quantity and
shade the polarity. `plot_hexbins`: prior against corrected association (Figures 2 and 11); one panel per structure and
polarity, with the same axes in all. Hexagons show by their colour how many traits they count, and each panel has its
correlation. `plot_differences`: densities of the difference of scores, after Figures 4 and 5 of Sahoo et al. (2024).
The paper has one figure per language with a line for each model. Here each model has a panel, so that its lines can be
told apart: languages, or bias types.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise, product
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl
from matplotlib.colors import BoundaryNorm, ListedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Patch
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
    shortened,
    widen,
)
from prasanga.report.grid import groups_of, is_number, name_of_type, natural_order, sort_types
from prasanga.report.sheet import MISSING, signed, two

_QUANTITIES = {"prior": MODELS[0], "corrected": MODELS[1]}
_POLARITIES = ("positive", "negative")
_NOTE_ON_BOXES = (
    "Association: log-probability of the male terms minus that of the female ones. The box holds the middle half of the"
    " traits, its line is the median, the whiskers reach the smallest and the largest. Filled: positive traits."
)

FEWEST = 40
"""Where no panel has so many traits, each is drawn as a point: hexagons of one trait or two count nothing."""

_FIXED = "\N{NO-BREAK SPACE}"
_NOTE_ON_HEXAGONS = (
    "Association: log-probability of the male terms minus that of the female ones. Prior: in the sentence without the"
    " trait. Corrected: what the trait adds, that is fill minus prior. r: Pearson's correlation over traits with its"
    " 95 % interval (Fisher's z); where fill does not depend on prior, r is below 0."
)

Lines = Literal["language", "bias_type"]

FEWEST_DIFFERENCES = 5
"""A density is drawn of so many differences and more: of fewer it would show the width of its own kernel."""

_DASHES: tuple[Any, ...] = ("-", (0, (4, 1.4)), (0, (1.2, 1.2)), (0, (5, 1.2, 1.2, 1.2)))

_FILLED = 6
"""Areas under more lines, twins counted, would only darken the panel."""

Numbers = npt.NDArray[np.float64]


class Correlation(NamedTuple):
    """Pearson's r of n pairs with its 95% interval; NaN where there is none."""

    r: float
    low: float
    high: float
    n: int


@drawn
def plot_structures(spread: pl.DataFrame, *, width: Width = "page") -> Figure:
    """Plot boxes of the associations of traits by structure.

    Args:
        spread: `prasanga.likelihoods.structures.spread_by_structure`.
        width: "column" (3.3 in) or "page" (6.8 in).

    Raises:
        InputError: a column is missing, or another width.
    """
    boxes = spread.filter(
        pl.col("median").is_finite(), pl.col("quantity").is_in(_QUANTITIES), pl.col("polarity").is_in(_POLARITIES)
    )
    if boxes.is_empty():
        raise NothingToDrawError("no structure has a number.")
    models, structures = boxes["model"].unique(maintain_order=True), sorted(set(boxes["structure"]))
    there = set(boxes.select("quantity", "polarity").iter_rows())
    kinds = [kind for kind in product(_QUANTITIES, _POLARITIES) if kind in there]
    sizes, across = SIZES[width], 1 if width == "column" else 2
    line, room = sizes["line"] * 0.8, 0.8 / len(kinds)
    styles: dict[tuple[str, str], dict[str, Any]] = {
        (quantity, polarity): {
            "facecolor": _QUANTITIES[quantity] if polarity == "positive" else PAPER,
            "edgecolor": _QUANTITIES[quantity],
            "linewidth": line,
        }
        for quantity, polarity in kinds
    }
    figure, panels = lay_out(
        width,
        len(models),
        across=across,
        panel=sizes["panel"] * 1.25,
        heads=[(model,) for model in models],
        labels=("", "association (log)"),
        keys=[Patch(**style, label=f"{kind[0]}, {kind[1]} traits") for kind, style in styles.items()],
        note=_NOTE_ON_BOXES,
    )
    for panel, model in zip(panels, models, strict=False):
        for place, ((quantity, polarity), style) in enumerate(styles.items()):
            rows = boxes.filter(model=model, quantity=quantity, polarity=polarity)
            drawn_boxes = panel.bxp(
                [
                    {"whislo": low, "q1": q25, "med": median, "q3": q75, "whishi": high}
                    for low, q25, median, q75, high in rows.select("min", "q25", "median", "q75", "max").iter_rows()
                ],
                positions=[structures.index(name) - 0.4 + (place + 0.5) * room for name in rows["structure"]],
                **{"widths": room * 0.78, "patch_artist": True, "manage_ticks": False},
                **{"showfliers": False, "showcaps": False, "boxprops": style},
                whiskerprops={"color": style["edgecolor"], "linewidth": line * 0.7},
                medianprops={"linewidth": line * 1.3},
            )
            for median, row in zip(drawn_boxes["medians"], rows.iter_rows(named=True), strict=True):
                # a box of no height would vanish under a line in the colour of the paper
                is_flat = row["q75"] - row["q25"] < 0.01 * (row["max"] - row["min"])
                median.set_color(PAPER if polarity == "positive" and not is_flat else style["edgecolor"])
        panel.axhline(0, color=MUTED, linewidth=0.8, zorder=1)
        panel.grid(axis="y")
    ends = [0.0, *filter(is_number, (end for name in ("min", "max") for end in boxes[name]))]
    most = max(room_of(width, across) / len(structures) - 3, sizes["font"] * 3)
    panels[0].set_xticks(range(len(structures)), [shortened(name, sizes["font"], most) for name in structures])
    panels[0].set(xlim=(-0.55, len(structures) - 0.45), ylim=widen(ends, 0.05))
    return figure


def correlation(x: Numbers, y: Numbers) -> Correlation:
    """Return Pearson's correlation of (n,) with (n,) finite numbers, and its 95% interval by Fisher's z.

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
    structures = sorted(set(of_model["structure"]), key=natural_order)
    polarities = sorted(set(of_model["polarity"]), key=lambda name: (*(name != each for each in _POLARITIES), name))
    if width == "column":
        places, across = list(product(structures, polarities)), min(2, len(structures) * len(polarities))
    else:
        places, across = [(s, p) for p in polarities for s in structures], min(5, len(structures))
    clouds = {
        place: known.filter(structure=place[0], polarity=place[1]).select("prior", "corrected").to_numpy().T
        for place in places
    }
    sizes, room = SIZES[width], room_of(width, across)
    height = sizes["panel"] * 0.8 if width == "column" else room / 72
    x, y = (widen([0.0, *known[name]], 0.05) for name in ("prior", "corrected"))
    most = max(cloud.shape[1] for cloud in clouds.values())
    is_binned = most >= FEWEST
    n_across = round(min(28.0, max(8.0, 1.2 * math.sqrt(most))))
    shape = n_across, max(1, round(n_across * height * 72 / room / math.sqrt(3)))
    bins: dict[str, Any] = {"gridsize": shape, "extent": (*x, *y), "mincnt": 1}
    axes = Figure().subplots()
    counts: list[Any] = [
        axes.hexbin(*cloud, **bins).get_array() for cloud in clouds.values() if is_binned and cloud.size
    ]
    edges = _choose_edges(max((int(found.max()) for found in counts), default=0))
    colours = [COUNTS[round(i * (len(COUNTS) - 1) / max(1, len(edges) - 2))] for i in range(len(edges) - 1)]
    hexagon: dict[str, Any] = {"linestyle": "none", "marker": "h", "markersize": sizes["font"], "markeredgewidth": 0}
    figure, panels = lay_out(
        width,
        len(clouds),
        across=across,
        panel=height,
        heads=[
            (f"{structure}, {cloud.shape[1]} {polarity}", _describe_correlation(cloud))
            for (structure, polarity), cloud in clouds.items()
        ],
        labels=("prior association (log)", "corrected association (log)"),
        keys=[
            handle(_range(first, after - 1), color=colour, **hexagon)
            for colour, (first, after) in zip(colours, pairwise(edges), strict=True)
        ],
        note=_note_on_traits(model, is_binned, of_model.height - known.height, of_model.height),
    )
    for panel, cloud in zip(panels, clouds.values(), strict=False):
        if not cloud.size:
            panel.text(0.5, 0.6, "no scores", transform=panel.transAxes, ha="center", color=MUTED)
        elif is_binned:
            scale = {"cmap": ListedColormap(colours), "norm": BoundaryNorm(edges, len(edges) - 1)}
            found = panel.hexbin(*cloud, **bins, edgecolors=PAPER, linewidths=0.25, zorder=2, **scale)
            found.set_urls([f"{TOLD}{_range(n, n)}" for n in map(int, found.get_array())])
        else:
            dot = {"marker": "o", "markersize": sizes["marker"] * 0.9, "markeredgewidth": 0}
            panel.plot(*cloud, linestyle="none", color=MODELS[0], alpha=0.6, **dot)
        for draw_line in (panel.axhline, panel.axvline):
            draw_line(0, color=MUTED, linewidth=0.6, zorder=1)
    if is_binned:  # a hexagon whose centre is at the end of its lattice is seen as a whole
        x, y = widen(x, 0.5 / shape[0]), widen(y, 1 / 3 / shape[1])
    panels[0].set(xlim=x, ylim=y)
    few_ticks(panels[0].xaxis, panels[0].yaxis)
    return figure


def _choose_edges(most: int) -> list[int]:
    """Return where the counts of each colour begin, and one more than the largest.

    Colours mean single counts while these are few; otherwise the steps grow in ratios.
    """
    if most <= len(COUNTS):
        return list(range(1, most + 2))
    return sorted({round(edge) for edge in np.geomspace(1, most + 1, len(COUNTS) + 1)})


def _describe_correlation(cloud: Numbers) -> str:
    *found, _ = correlation(*cloud)
    r, low, high = (two(number).replace("+", "") for number in found)
    interval = f" ({low}{_FIXED}to{_FIXED}{high})" if low != MISSING else ""
    return "" if r == MISSING else f"r{_FIXED}={_FIXED}{r}{interval}"


def _range(first: int, last: int) -> str:
    if first == last:
        return f"{first} trait{'' if first == 1 else 's'}"
    return f"{first}\N{EN DASH}{last} traits"


def _note_on_traits(model: str, is_binned: bool, left_out: int, total: int) -> str:
    said = [f"{model}. {_NOTE_ON_HEXAGONS}"]
    if not is_binned:
        said.append(f"Each point is a trait: panels of fewer than {FEWEST} are not counted in hexagons.")
    if left_out:
        said.append(f"Left out: {left_out} of {total} rows (a trait in a structure) without a score.")
    return " ".join(said)


def density(differences: Numbers, points: Numbers) -> Numbers | None:
    """Return the (m,) Gaussian kernel density of (n,) differences at (m,) points.

    The bandwidth follows Scott's rule: standard deviation by n to the -1/5.

    None of fewer than `FEWEST_DIFFERENCES` differences, or of differences that are all the same.
    """
    if differences.size < FEWEST_DIFFERENCES or np.ptp(differences) == 0:
        return None
    return np.asarray(stats.gaussian_kde(differences)(points), dtype=np.float64)


class _Line(NamedTuple):
    """Differences that make one line; `place` is its number in the legend."""

    place: int
    differences: Numbers
    is_twin: bool = False


_Panel = tuple[str, str, list[_Line]]
"""Title, the text below it, and lines."""


@drawn
def plot_differences(differences: pl.DataFrame, *, lines: Lines = "language", width: Width = "page") -> Figure:
    """Plot densities of the difference of scores: stereotypical sentence minus the other.

    Args:
        differences: what `prasanga.likelihoods.bias.pair_differences` returns. Pairs left out have null.
        lines: `language` has one panel per model, one line per language (of a set, where there are several), and the
            random twin as a thin line of the same kind; `bias_type` has one panel per model and language, one line per
            bias type.
        width: "column" (3.3 in) or "page" (6.8 in).

    Raises:
        InputError: a column is missing, or an argument is not known.
    """
    if lines not in ("language", "bias_type"):
        raise InputError(f"lines: {lines!r} is not known. Write 'language' or 'bias_type'.")
    known = differences.with_columns(pl.col("set", "model").fill_null("")).filter(pl.col("difference").is_finite())
    if known.filter(~pl.col("random_twin")).is_empty():
        raise NothingToDrawError("no pair has a score for both of its sentences.")
    types, groups = sort_types(known["bias_type"].to_list()), groups_of(known.select("set", "language").iter_rows())
    if lines == "language":
        names, found = [group.title for group in groups], list(_divide_by_language(known, groups))
    else:
        names, found = [name_of_type(name) for name in types], list(_divide_by_type(known, groups, types))
    sizes, across = SIZES[width], min(COLUMNS, len(found))
    all_lines = [line for *_, of_panel in found for line in of_panel]
    values = np.concatenate([line.differences for line in all_lines if not line.is_twin])
    low, high = widen([0.0, *map(float, np.quantile(values, (0.005, 0.995)))], 0.15)
    beyond, has_twins = int(((values < low) | (values > high)).sum()), any(line.is_twin for line in all_lines)
    twin: dict[str, Any] = {"linewidth": sizes["line"] * 0.5, "alpha": 0.55}
    styles = [
        {"color": MODELS[n % len(MODELS)], "linestyle": _DASHES[n % len(_DASHES)], "linewidth": sizes["line"]}
        for n in range(len(names))
    ]
    keys = [handle(name, **style) for name, style in zip(names, styles, strict=True)]
    figure, panels = lay_out(
        width,
        len(found),
        across=across,
        heads=[(title, below) for title, below, _ in found],
        labels=("difference of scores (natural logarithm)", ""),
        keys=[*keys, *[handle("random twins", color=MUTED, **twin)] * has_twins],
        note=_note_on_differences(beyond, has_twins),
        left=sizes["font"],
        sharey=False,
    )
    points = np.linspace(low, high, 241)
    for (*_, of_panel), axes in zip(found, panels, strict=False):
        top, missing = 0.0, 0
        for line in of_panel:
            heights, style = density(line.differences, points), styles[line.place]
            if heights is None:
                missing += not line.is_twin
                continue
            axes.plot(points, heights, **{**style, **(twin if line.is_twin else {}), "zorder": 3 - line.is_twin})
            if not line.is_twin:
                top = max(top, float(heights.max()))
                if len(of_panel) <= _FILLED:
                    axes.fill_between(points, heights, color=style["color"], alpha=0.08, linewidth=0, zorder=1.5)
            # a line is too thin to point at: a broad one that is not seen lies on it
            broad = {"linewidth": sizes["line"] * 6, "alpha": 0, "zorder": 4 - line.is_twin / 2}
            axes.plot(
                points, heights, color=style["color"], url=f"{TOLD}{_describe_line(names[line.place], line)}", **broad
            )
        if missing:
            text = f"{missing} line{'s' if missing > 1 else ''} not drawn:\nfewer than {FEWEST_DIFFERENCES} differences"
            style = {"ha": "right", "va": "top", "color": MUTED, "fontsize": sizes["font"] * NOTE}
            axes.text(0.98, 0.95, text, transform=axes.transAxes, **style)
        axes.axvline(0, color=MUTED, linewidth=0.8, zorder=1)
        axes.spines["left"].set_visible(False)
        # a twin may be far steeper, and would press all else flat
        axes.set(ylim=(0, 1.08 * top or 1.0), yticks=[])
    few_ticks(panels[0].xaxis, most=4 if width == "column" else 5)
    panels[0].set_xlim(low, high)
    return figure


def _divide_by_language(known: pl.DataFrame, groups: Sequence[Any]) -> Iterator[_Panel]:
    for model in known.filter(~pl.col("random_twin"))["model"].unique(maintain_order=True):
        lines = [
            _Line(place, found, is_twin)
            for place, group in enumerate(groups)
            for is_twin in (False, True)
            if (found := _select(known, model=model, set=group.set, language=group.language, random_twin=is_twin)).size
        ]
        counts = [line.differences.size for line in lines if not line.is_twin]
        said = " to ".join(map(str, dict.fromkeys((min(counts), max(counts)))))
        yield model or "scores", f"{said} pair{'' if max(counts) == 1 else 's'}", lines


def _divide_by_type(known: pl.DataFrame, groups: Sequence[Any], types: Sequence[str]) -> Iterator[_Panel]:
    known = known.filter(~pl.col("random_twin"))
    for model, group in product(known["model"].unique(maintain_order=True), groups):
        of_group = known.filter(model=model, set=group.set, language=group.language)
        lines = [_Line(place, _select(of_group, bias_type=name)) for place, name in enumerate(types)]
        if of_group.height:
            yield model or "scores", group.title, [line for line in lines if line.differences.size]


def _select(known: pl.DataFrame, **where: Any) -> Numbers:
    return known.filter(**where)["difference"].to_numpy().astype(np.float64)


def _note_on_differences(beyond: int, has_twins: bool) -> str:
    said = [
        "Score of the stereotypical sentence minus that of the other. Each line has area 1, each panel its own height."
    ]
    if has_twins:
        said.append("Thin and pale: the model with random weights, whose peak may lie above the panel.")
    if beyond:
        said.append(f"{beyond} difference{' lies' if beyond == 1 else 's lie'} beyond the axis.")
    return " ".join(said)


def _describe_line(name: str, line: _Line) -> str:
    """Return what a reader is told who points at a line: its name, where its middle lies, how much of it is above 0."""
    found = line.differences
    above = f"{(found > 0).mean():.0%}".replace("%", " %")
    whose = ", random twins" if line.is_twin else ""
    return f"{name}{whose}\npairs: {found.size}\nmedian: {signed(float(np.median(found)))}\nabove 0: {above}"
