"""Figures of traits in the sentence structures of Sadhu et al. (2024), and of the scores of sentence pairs.

`plot_structures`: what their Figure 2 shows as clouds, as boxes; one panel per model, color shows the quantity and
shade the polarity. `plot_hexbins`: prior against corrected association (Figures 2 and 11); one panel per structure and
polarity, with the same axes in all. Hexagons show by their color how many traits they count, and each panel has its
correlation. `plot_differences`: the difference of scores, after Figures 4 and 5 of Sahoo et al. (2024).
The paper has one figure per language with a line for each model. Here each model may also have a panel, so that its
lines can be told apart: languages, or bias types.
"""

from __future__ import annotations

import math
from itertools import pairwise, product
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import polars as pl
from matplotlib.colors import BoundaryNorm, ListedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from scipy import stats

from prasanga.pairs.preferences import FEWEST_PAIRS
from prasanga.report.figures import COUNTS, MODELS, MUTED, PAPER, canvas
from prasanga.report.figures.canvas import SIZES, NothingToDrawError, Width, few_ticks, handle, widen
from prasanga.report.grid import groups_of, is_number, name_of_type, natural_order, sort_types
from prasanga.report.sheet import plural, two
from prasanga.stats.intervals import mean_interval

_QUANTITIES = {"prior": MODELS[0], "corrected": MODELS[1]}
_POLARITIES = ("positive", "negative")
_KINDS = tuple(product(_QUANTITIES, _POLARITIES))

EDGES = (1, 2, 4, 8, 16, 32)
"""Where the counts of each color of a hexagon begin."""

_FIXED = "\N{NO-BREAK SPACE}"

Lines = Literal["language", "bias_type", "model"]

_DASHES: tuple[Any, ...] = ("-", (0, (4, 1.4)), (0, (1.2, 1.2)), (0, (5, 1.2, 1.2, 1.2)))

Numbers = npt.NDArray[np.float64]


@canvas.drawn
def plot_structures(spread: pl.DataFrame, *, width: Width = "page") -> Figure:
    """Plot boxes of the associations of traits by structure.

    Args:
        spread: `prasanga.likelihoods.structures.spread_by_structure`.
        width: "column" (3.3 in) or "page" (6.8 in).
    """
    boxes = spread.filter(
        pl.col("median").is_finite(), pl.col("quantity").is_in(_QUANTITIES), pl.col("polarity").is_in(_POLARITIES)
    )
    if boxes.is_empty():
        raise NothingToDrawError("no structure has a number.")
    models, structures = boxes["model"].unique(maintain_order=True), sorted(set(boxes["structure"]))
    sizes, across = SIZES[width], 1 if width == "column" else 2
    line, room = sizes["line"] * 0.8, 0.8 / len(_KINDS)
    styles: list[dict[str, Any]] = [
        {"facecolor": color if polarity == "positive" else PAPER, "edgecolor": color, "linewidth": line}
        for (_, color), polarity in product(_QUANTITIES.items(), _POLARITIES)
    ]
    figure, panels = canvas.lay_out(
        width,
        heads=[(model,) for model in models],
        across=across,
        panel=sizes["panel"] * 1.25,
        labels=("", "association (log)"),
        keys=[Patch(**style, label="{}, {} traits".format(*kind)) for style, kind in zip(styles, _KINDS, strict=True)],
    )
    for (axes, model), (place, (quantity, polarity)) in product(zip(panels, models, strict=False), enumerate(_KINDS)):
        rows, style = boxes.filter(model=model, quantity=quantity, polarity=polarity), styles[place]
        axes.bxp(
            rows.select(whislo="min", q1="q25", med="median", q3="q75", whishi="max").to_dicts(),
            positions=[structures.index(name) - 0.4 + (place + 0.5) * room for name in rows["structure"]],
            **{"widths": room * 0.78, "patch_artist": True, "manage_ticks": False},
            **{"showfliers": False, "showcaps": False, "boxprops": style},
            whiskerprops={"color": style["edgecolor"], "linewidth": line * 0.7},
            medianprops={"linewidth": line * 1.3, "color": PAPER if polarity == "positive" else style["edgecolor"]},
        )
    for panel in panels[: len(models)]:
        panel.axhline(0, color=MUTED, linewidth=0.8, zorder=1)
        panel.grid(axis="y")
    font, most = sizes["font"], max(canvas.room_of(width, across) / len(structures) - 3, sizes["font"] * 3)
    panels[0].set_xticks(range(len(structures)), [canvas.shortened(name, font, most) for name in structures])
    panels[0].set(
        xlim=(-0.55, len(structures) - 0.45), ylim=widen(filter(is_number, (0.0, *boxes["min"], *boxes["max"])), 0.05)
    )
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
    """
    of_model = traits.filter(model=model)
    known = of_model.filter(pl.col("prior").is_finite() & pl.col("corrected").is_finite())
    if known.is_empty():
        raise NothingToDrawError(f"{model} has no trait with a prior and a corrected score.")
    structures = sorted(set(of_model["structure"]), key=natural_order)
    polarities = sorted(set(of_model["polarity"]), reverse=True)
    is_column = width == "column"
    places = product(structures, polarities) if is_column else ((s, p) for p in polarities for s in structures)
    across = len(polarities) if is_column else min(5, len(structures))
    clouds = {
        place: known.filter(structure=place[0], polarity=place[1]).select("prior", "corrected").to_numpy().T
        for place in places
    }
    room = canvas.room_of(width, across)
    height = SIZES[width]["panel"] * 0.8 if is_column else room / 72
    x, y = (widen([0.0, *known[name]], 0.05) for name in ("prior", "corrected"))
    n_across = round(min(28.0, max(8.0, 1.2 * math.sqrt(max(cloud.shape[1] for cloud in clouds.values())))))
    shape = n_across, max(1, round(n_across * height * 72 / room / math.sqrt(3)))
    hexagon = {"linestyle": "none", "marker": "h", "markersize": SIZES[width]["font"], "markeredgewidth": 0}
    names = ["1", *(f"{first}\N{EN DASH}{after - 1}" for first, after in pairwise(EDGES[1:])), f"{EDGES[-1]} or more"]
    figure, panels = canvas.lay_out(
        width,
        heads=[
            (f"{structure}, {cloud.shape[1]} {polarity}", _describe_correlation(cloud))
            for (structure, polarity), cloud in clouds.items()
        ],
        across=across,
        panel=height,
        labels=("prior association (log)", "corrected association (log)"),
        keys=[handle(name, color=color, **hexagon) for name, color in zip(names, COUNTS, strict=True)],
    )
    norm = BoundaryNorm([*EDGES, traits.height + EDGES[-1]], len(COUNTS))
    for panel, cloud in zip(panels, clouds.values(), strict=False):
        if cloud.size:
            bins: dict[str, Any] = {"gridsize": shape, "extent": (*x, *y), "mincnt": 1}
            scale = {"cmap": ListedColormap(COUNTS), "norm": norm}
            panel.hexbin(*cloud, **bins, **scale, edgecolors=PAPER, linewidths=0.25, zorder=2)
        else:
            panel.text(0.5, 0.6, "no scores", transform=panel.transAxes, ha="center", color=MUTED)
        for draw_line in (panel.axhline, panel.axvline):
            draw_line(0, color=MUTED, linewidth=0.6, zorder=1)
    # a hexagon whose center is at the end of its lattice is seen as a whole
    x, y = widen(x, 0.5 / shape[0]), widen(y, 1 / 3 / shape[1])
    panels[0].set(xlim=x, ylim=y)
    few_ticks(panels[0].xaxis, panels[0].yaxis)
    return figure


def _describe_correlation(cloud: Numbers) -> str:
    found = correlation(*cloud)
    r, low, high = (two(number).replace("+", "") for number in found)
    interval = f" ({low}{_FIXED}to{_FIXED}{high})" if is_number(found[1]) else ""
    return f"r{_FIXED}={_FIXED}{r}{interval}" if is_number(found[0]) else ""


def density(differences: Numbers, points: Numbers) -> Numbers | None:
    """Return the (m,) Gaussian kernel density of (n,) differences at (m,) points.

    The bandwidth follows Scott's rule: standard deviation by n to the -1/5.

    None without differences, or if they are all the same.
    """
    if differences.size == 0 or np.ptp(differences) == 0:
        return None
    return np.asarray(stats.gaussian_kde(differences)(points), dtype=np.float64)


@canvas.drawn
def plot_differences(differences: pl.DataFrame, *, lines: Lines = "language", width: Width = "page") -> Figure:
    """Plot the difference of scores, stereotypical sentence minus the other: densities, or dots of few pairs.

    If a line is of fewer than `FEWEST_PAIRS` pairs, its density would show the width of its own kernel. Then all lines
    are rows of dots.

    Args:
        differences: what `prasanga.pairs.preferences.pair_differences` returns. Pairs left out have null.
        lines: `language` has one panel per model, one line per language (of a set, where there are several), and the
            random twin in gray; `bias_type` has one panel per model and language, one line per
            bias type; `model` has one panel per language, one line per model.
        width: "column" (3.3 in) or "page" (6.8 in).
    """
    known = differences.with_columns(pl.col("set", "model").fill_null("")).filter(pl.col("difference").is_finite())
    own = known.filter(~pl.col("random_twin"))
    if own.is_empty():
        raise NothingToDrawError("no pair has a score for both of its sentences.")
    groups = groups_of(known.select("set", "language").iter_rows())
    titles = {(each.set, each.language): each.title for each in groups}
    types = sort_types(known["bias_type"].to_list())
    kind = pl.col("bias_type").replace_strict(types, list(map(name_of_type, types)))
    title = pl.Series([titles[place] for place in known.select("set", "language").rows()])
    known = known.with_columns(title=title, kind=kind, none=pl.lit(""))
    order = {"model": own["model"].unique(maintain_order=True).to_list(), "title": [each.title for each in groups]}
    order |= {"kind": list(map(name_of_type, types)), "none": [""]}
    above, below, line = {
        "language": ("model", "none", "title"),
        "bias_type": ("model", "title", "kind"),
        "model": ("title", "none", "model"),
    }[lines]
    known = known.filter(~pl.col("random_twin") | (lines == "language"))
    known = known.with_columns(above=above, below=below, line=line)
    names, places = order[line], list(product(order[above], order[below]))
    parts = [part for head, under in places if len(part := known.filter(above=head, below=under))]
    n_pairs = known.filter(~pl.col("random_twin")).group_by("above", "below", "line").len()["len"]
    return (_plot_dots if n_pairs.min() < FEWEST_PAIRS else _plot_densities)(parts, names, width)  # type: ignore[operator]


_LABELS, _COPIES = ("difference of scores (natural logarithm)", ""), "random-weight copies"


def _plot_densities(parts: list[pl.DataFrame], names: list[str], width: Width) -> Figure:
    """Plot a density for each line; that of a random twin, which may be far steeper, is scaled to fit."""
    sizes, every = SIZES[width], pl.concat(parts)
    low, high = widen([0.0, *np.quantile(every.filter(~pl.col("random_twin"))["difference"], (0.005, 0.995))], 0.15)
    twin: dict[str, Any] = {"color": MUTED, "linewidth": sizes["line"] * 0.7, "zorder": 2}
    styles: dict[str, dict[str, Any]] = {
        name: {"color": MODELS[n % len(MODELS)], "linestyle": _DASHES[n % len(_DASHES)], "linewidth": sizes["line"]}
        for n, name in enumerate(names)
    }
    figure, panels = canvas.lay_out(
        width,
        heads=[(part["above"][0] or "scores", part["below"][0] or _count_pairs(part)) for part in parts],
        across=canvas.COLUMNS[width],
        labels=_LABELS,
        keys=[
            *(handle(name, **style) for name, style in styles.items()),
            *[handle(_COPIES, **twin)] * bool(every["random_twin"].any()),
        ],
        left=sizes["font"],
        sharey=False,
    )
    points = np.linspace(low, high, 241)
    for axes, part in zip(panels, parts, strict=False):
        top = 0.0
        for is_twin, (name, style) in product((False, True), styles.items()):
            values = part.filter(line=name, random_twin=is_twin)["difference"].to_numpy().astype(np.float64)
            heights = density(values, points)
            if heights is not None:
                top = top if is_twin else max(top, float(heights.max()))
                scale = min(1.0, top / float(heights.max())) if is_twin else 1.0
                axes.plot(points, scale * heights, **{**style, "zorder": 3, **(twin if is_twin else {})})
        axes.axvline(0, color=MUTED, linewidth=0.8, zorder=1)
        axes.spines["left"].set_visible(False)
        axes.set(ylim=(0, 1.08 * top or 1.0), yticks=[])
    few_ticks(panels[0].xaxis, most=4 if width == "column" else 5)
    panels[0].set_xlim(low, high)
    return figure


def _plot_dots(parts: list[pl.DataFrame], names: list[str], width: Width) -> Figure:
    """Plot a row for each line: its pairs, the random twin's, and the mean with its 95% interval (Student's t)."""
    sizes, drawn = SIZES[width], []
    dot = {
        "linestyle": "none",
        "marker": "o",
        "markersize": 0.7 * sizes["marker"],
        "markeredgewidth": 0,
        "linewidth": 0,
    }
    bar = {"linestyle": "none", "marker": "|", "markersize": sizes["font"], "markeredgewidth": 1.5 * sizes["line"]}
    looks: dict[str, dict[str, Any]] = {
        "a pair": {**dot, "color": MODELS[0]},
        _COPIES: {**dot, "color": MUTED},
        "mean, 95% interval": {**bar, "color": MODELS[1], "linewidth": 1.5 * sizes["line"], "zorder": 3},
    }
    for part in parts:
        points: list[dict[str, Any]] = []
        labels: list[str] = []
        for name in (name for name in names if name in part.filter(~pl.col("random_twin"))["line"]):
            own, twin = (part.filter(line=name, random_twin=each)["difference"].to_numpy() for each in (False, True))
            ends = mean_interval(own) or (None, None)
            series = zip(looks, (own, twin, np.array([own.mean()])), (-0.2, 0.3, 0.05), strict=True)
            points += [{"series": each, "x": x, "y": len(labels) + aside} for each, xs, aside in series for x in xs]
            points[-1] |= dict(zip(("low", "high"), ends, strict=True))
            labels.append(f"{name} ({own.size})")
        rows = pl.DataFrame(
            points, schema={"series": pl.String, **dict.fromkeys(("x", "y", "low", "high"), pl.Float64)}
        )
        drawn.append(((part["above"][0] or "scores", part["below"][0]), labels, rows))
    every = pl.concat(rows for *_, rows in drawn)
    beside = max(canvas.width_of(label, sizes["font"]) for _, labels, _ in drawn for label in labels)
    across = canvas.panels_across(len(parts), 2)
    figure, panels = canvas.draw_rows(
        drawn,
        {name: style for name, style in looks.items() if name in every["series"]},
        width,
        across=across,
        labels=_LABELS,
        left=(min(beside, canvas.WIDTHS[width] * 24) + 2 * sizes["font"]) * across,
        height=1.3,
    )
    panels[0].set_xlim(widen([0.0, *every["x"]], 0.05))
    return figure


def _count_pairs(rows: pl.DataFrame) -> str:
    counts = rows.filter(~pl.col("random_twin")).group_by("line").len()["len"].to_list()
    return plural(max(counts), "pair") if len(set(counts)) == 1 else f"{min(counts)} to {max(counts)} pairs"
