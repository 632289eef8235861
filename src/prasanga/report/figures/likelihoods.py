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
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import polars as pl
from matplotlib.colors import BoundaryNorm, ListedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from scipy import stats

from prasanga.report.figures import COUNTS, MODELS, MUTED, PAPER, canvas
from prasanga.report.figures.canvas import SIZES, NothingToDrawError, Width, few_ticks, handle, widen
from prasanga.report.grid import groups_of, is_number, name_of_type, natural_order, sort_types
from prasanga.report.sheet import two

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

_Panel = tuple[str, str, list[tuple[int, bool, "Numbers"]]]
"""Title, the text below it, and lines: number in the legend, whether it is of the random twin, and its differences."""

FEWEST_DIFFERENCES = 5
"""A density is drawn of so many differences and more: of fewer it would show the width of its own kernel."""

_DASHES: tuple[Any, ...] = ("-", (0, (4, 1.4)), (0, (1.2, 1.2)), (0, (5, 1.2, 1.2, 1.2)))

_FILLED = 6
"""Areas under more lines, twins counted, would only darken the panel."""

Numbers = npt.NDArray[np.float64]


@canvas.drawn
def plot_structures(spread: pl.DataFrame, *, width: Width = "page") -> Figure:
    """Plot boxes of the associations of traits by structure.

    Args:
        spread: `prasanga.likelihoods.structures.spread_by_structure`.
        width: "column" (3.3 in) or "page" (6.8 in).

    Raises:
        InputError: another width.
    """
    boxes = spread.filter(
        pl.col("median").is_finite(), pl.col("quantity").is_in(_QUANTITIES), pl.col("polarity").is_in(_POLARITIES)
    )
    if boxes.is_empty():
        raise NothingToDrawError("no structure has a number.")
    models, structures = boxes["model"].unique(maintain_order=True), sorted(set(boxes["structure"]))
    kinds = list(product(_QUANTITIES, _POLARITIES))
    sizes, across = SIZES[width], 1 if width == "column" else 2
    line, room = sizes["line"] * 0.8, 0.8 / len(kinds)
    styles: list[dict[str, Any]] = [
        {"facecolor": color if polarity == "positive" else PAPER, "edgecolor": color, "linewidth": line}
        for color, polarity in ((_QUANTITIES[quantity], polarity) for quantity, polarity in kinds)
    ]
    keys = zip(styles, kinds, strict=True)
    figure, panels = canvas.lay_out(
        width,
        heads=[(model,) for model in models],
        across=across,
        panel=sizes["panel"] * 1.25,
        labels=("", "association (log)"),
        keys=[Patch(**style, label=f"{quantity}, {polarity} traits") for style, (quantity, polarity) in keys],
        note=_NOTE_ON_BOXES,
    )
    for (axes, model), (place, (quantity, polarity)) in product(zip(panels, models, strict=False), enumerate(kinds)):
        rows, style = boxes.filter(model=model, quantity=quantity, polarity=polarity), styles[place]
        found = axes.bxp(
            rows.select(whislo="min", q1="q25", med="median", q3="q75", whishi="max").to_dicts(),
            positions=[structures.index(name) - 0.4 + (place + 0.5) * room for name in rows["structure"]],
            **{"widths": room * 0.78, "patch_artist": True, "manage_ticks": False},
            **{"showfliers": False, "showcaps": False, "boxprops": style},
            whiskerprops={"color": style["edgecolor"], "linewidth": line * 0.7},
            medianprops={"linewidth": line * 1.3, "color": style["edgecolor"]},
        )
        # in a filled box the median has the color of the paper, under which a box of no height would vanish
        has_height = rows["q75"] - rows["q25"] >= 0.01 * (rows["max"] - rows["min"])
        for number in np.flatnonzero(has_height) if polarity == "positive" else ():
            found["medians"][number].set_color(PAPER)
    for panel in panels[: len(models)]:
        panel.axhline(0, color=MUTED, linewidth=0.8, zorder=1)
        panel.grid(axis="y")
    ends = [0.0, *filter(is_number, (*boxes["min"], *boxes["max"]))]
    font, most = sizes["font"], max(canvas.room_of(width, across) / len(structures) - 3, sizes["font"] * 3)
    panels[0].set_xticks(range(len(structures)), [canvas.shortened(name, font, most) for name in structures])
    panels[0].set(xlim=(-0.55, len(structures) - 0.45), ylim=widen(ends, 0.05))
    return figure


def correlation(x: Numbers, y: Numbers) -> tuple[float, float, float]:
    """Return Pearson's correlation of (n,) with (n,) finite numbers, and its 95% interval by Fisher's z.

    r is NaN with fewer than three pairs or equal numbers, the interval with fewer than four pairs.
    """
    if x.size < 3 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return math.nan, math.nan, math.nan
    found = stats.pearsonr(x, y)
    low, high = found.confidence_interval() if x.size > 3 else (math.nan, math.nan)
    return float(found.statistic), float(low), float(high)


@canvas.drawn
def plot_hexbins(traits: pl.DataFrame, *, model: str, width: Width = "page") -> Figure:
    """Plot prior against corrected association of a model's traits.

    Each polarity has a row, at column width a column.

    Args:
        traits: the table of traits (`prasanga.likelihoods.structures.TRAITS_SCHEMA`).
        model: the one that is drawn.
        width: "column" (3.3 in) or "page" (6.8 in).

    Raises:
        InputError: another width.
    """
    of_model = traits.filter(model=model)
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
    sizes, room = SIZES[width], canvas.room_of(width, across)
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
    figure, panels = canvas.lay_out(
        width,
        heads=[
            (f"{structure}, {cloud.shape[1]} {polarity}", _describe_correlation(cloud))
            for (structure, polarity), cloud in clouds.items()
        ],
        across=across,
        panel=height,
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
            panel.hexbin(*cloud, **bins, edgecolors=PAPER, linewidths=0.25, zorder=2, **scale)
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
    found = correlation(*cloud)
    r, low, high = (two(number).replace("+", "") for number in found)
    interval = f" ({low}{_FIXED}to{_FIXED}{high})" if is_number(found[1]) else ""
    return f"r{_FIXED}={_FIXED}{r}{interval}" if is_number(found[0]) else ""


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


@canvas.drawn
def plot_differences(differences: pl.DataFrame, *, lines: Lines = "language", width: Width = "page") -> Figure:
    """Plot densities of the difference of scores: stereotypical sentence minus the other.

    Args:
        differences: what `prasanga.likelihoods.bias.pair_differences` returns. Pairs left out have null.
        lines: `language` has one panel per model, one line per language (of a set, where there are several), and the
            random twin as a thin line of the same kind; `bias_type` has one panel per model and language, one line per
            bias type.
        width: "column" (3.3 in) or "page" (6.8 in).

    Raises:
        InputError: another width.
    """
    known = differences.with_columns(pl.col("set", "model").fill_null("")).filter(pl.col("difference").is_finite())
    if known.filter(~pl.col("random_twin")).is_empty():
        raise NothingToDrawError("no pair has a score for both of its sentences.")
    types, groups = sort_types(known["bias_type"].to_list()), groups_of(known.select("set", "language").iter_rows())
    names = [group.title for group in groups] if lines == "language" else [name_of_type(name) for name in types]
    found = list(_divide(known, lines, groups, types))
    sizes, across = SIZES[width], min(canvas.COLUMNS, len(found))
    values = np.concatenate([line for *_, of_panel in found for _, is_twin, line in of_panel if not is_twin])
    low, high = widen([0.0, *map(float, np.quantile(values, (0.005, 0.995)))], 0.15)
    beyond = int(((values < low) | (values > high)).sum())
    has_twins = any(is_twin for *_, of_panel in found for _, is_twin, _ in of_panel)
    twin: dict[str, Any] = {"linewidth": sizes["line"] * 0.5, "alpha": 0.55, "zorder": 2}
    styles = [
        {"color": MODELS[n % len(MODELS)], "linestyle": _DASHES[n % len(_DASHES)], "linewidth": sizes["line"]}
        for n in range(len(names))
    ]
    keys = [handle(name, **style) for name, style in zip(names, styles, strict=True)]
    figure, panels = canvas.lay_out(
        width,
        heads=[(title, below) for title, below, _ in found],
        across=across,
        labels=("difference of scores (natural logarithm)", ""),
        keys=[*keys, *[handle("random twins", color=MUTED, **twin)] * has_twins],
        note=_note_on_differences(beyond, has_twins),
        left=sizes["font"],
        sharey=False,
    )
    points = np.linspace(low, high, 241)
    for (*_, of_panel), axes in zip(found, panels, strict=False):
        top, missing = 0.0, 0
        for place, is_twin, line in of_panel:
            heights, style = density(line, points), styles[place]
            if heights is None:
                missing += not is_twin
                continue
            axes.plot(points, heights, **{**style, "zorder": 3, **(twin if is_twin else {})})
            if not is_twin:
                top = max(top, float(heights.max()))
                if len(of_panel) <= _FILLED:
                    axes.fill_between(points, heights, color=style["color"], alpha=0.08, linewidth=0, zorder=1.5)
        if missing:
            text = f"{missing} line{'s' if missing > 1 else ''} not drawn:\nfewer than {FEWEST_DIFFERENCES} differences"
            style = {"ha": "right", "va": "top", "color": MUTED, "fontsize": sizes["font"] * canvas.NOTE}
            axes.text(0.98, 0.95, text, transform=axes.transAxes, **style)
        axes.axvline(0, color=MUTED, linewidth=0.8, zorder=1)
        axes.spines["left"].set_visible(False)
        # a twin may be far steeper, and would press all else flat
        axes.set(ylim=(0, 1.08 * top or 1.0), yticks=[])
    few_ticks(panels[0].xaxis, most=4 if width == "column" else 5)
    panels[0].set_xlim(low, high)
    return figure


def _divide(known: pl.DataFrame, lines: Lines, groups: Sequence[Any], types: Sequence[str]) -> Iterator[_Panel]:
    """Yield the panels: of a model with its twin a line per language, or of a model and language one per bias type."""
    own = known.filter(~pl.col("random_twin"))
    languages: list[dict[str, str]] = [{"set": group.set, "language": group.language} for group in groups]
    for model in own["model"].unique(maintain_order=True):
        if lines == "language":
            panels, parts = [("", known.filter(model=model))], languages
        else:
            found = zip(groups, languages, strict=True)
            panels = [(group.title, own.filter(model=model, **where)) for group, where in found]
            parts = [{"bias_type": name} for name in types]
        for below, rows in panels:
            divided = [
                (place, is_twin, values)
                for (place, part), is_twin in product(enumerate(parts), (False, True))
                if (values := rows.filter(random_twin=is_twin, **part)["difference"].to_numpy().astype(np.float64)).size
            ]
            if divided:
                yield (
                    model or "scores",
                    below or _count_pairs([line.size for _, twin, line in divided if not twin]),
                    divided,
                )


def _count_pairs(counts: Sequence[int]) -> str:
    said = " to ".join(map(str, dict.fromkeys((min(counts), max(counts)))))
    return f"{said} pair{'' if max(counts) == 1 else 's'}"


def _note_on_differences(beyond: int, has_twins: bool) -> str:
    said = [
        "Score of the stereotypical sentence minus that of the other. Each line has area 1, each panel its own height."
    ]
    if has_twins:
        said.append("Thin and pale: the model with random weights, whose peak may lie above the panel.")
    if beyond:
        said.append(f"{beyond} difference{' lies' if beyond == 1 else 's lie'} beyond the axis.")
    return " ".join(said)
