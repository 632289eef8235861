"""The figures of effects: by context length and number of draws, by word, by method, against a paper, by choices.

Other than Figure 1 of Sadhu et al. (2024), `plot_effect_by_length` shows every estimate, whatever its p. In
`plot_convergence` and `plot_settling` a marker is filled where the effect has settled: from there on it stays within
the band around the last one. `plot_scales` shows what becomes of an effect if the vectors' mean is removed or their
dimensions are standardized (Timkey and van Schijndel 2021), `plot_specifications` all estimates of a category in
order, with the choices that made each (Simonsohn, Simmons and Nelson 2020).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.patches import Patch

from prasanga.pairs.preferences import OVERALL
from prasanga.report import grid as tables
from prasanga.report.agreement import SPECIFIED, specifications
from prasanga.report.comparison import PAIRS, comparison_rows
from prasanga.report.figures import LINE, MUTED, PAPER, canvas
from prasanga.report.figures.canvas import SIZES, WIDTHS, NothingToDrawError, Width, dots, few_ticks, handle, look
from prasanga.report.grid import METHODS, grid_of, natural_order
from prasanga.report.paper_tables import PUBLISHED_AS
from prasanga.report.sheet import MINUS
from prasanga.stats.permutation import ALPHA

FARTHEST = 2.0
"""Effect sizes are rarely larger: two target sets of one size are at most two standard deviations apart. Bars
are cut here, unless an effect is larger."""

MOST: dict[Width, int] = {"column": 34, "page": 60}
"""Words of a set that are drawn, at most: more do not fit on a sheet of paper. By width."""

SCALES = {
    "effect_size": "vectors as they are",
    "effect_centered": "mean removed",
    "effect_standardized": "dimensions standardized",
}
"""The effects of `plot_scales`, by their columns."""

_PALE, _PALER = 0.3, 0.35
_FIXED = "\N{NO-BREAK SPACE}"
_GREY: dict[str, Any] = {"color": MUTED, "marker": "o"}
_CURVE = 14
"""Height of the curve of specifications, in rows of choices."""


def _finite(*names: str) -> list[pl.Expr]:
    """Return columns of numbers, null where they are NaN or infinite."""
    columns = [pl.col(name).cast(pl.Float64) for name in names]
    return [pl.when(column.is_finite()).then(column) for column in columns]


def _estimates(ceat: pl.DataFrame) -> pl.DataFrame:
    """Return the rows with finite effects or null; an interval has both ends and an effect; `few` marks few words."""
    few = pl.Series("few", [bool(tables.few_words(row)) for row in ceat.iter_rows(named=True)], dtype=pl.Boolean)
    numbers = ("effect_size", "ci_low", "ci_high")
    rows = ceat.with_columns(few, *_finite(*numbers))
    ends = [pl.when(pl.all_horizontal(pl.col(numbers).is_not_null())).then(name) for name in numbers[1:]]
    return rows.with_columns(*ends)


def _at_lengths(rows: pl.DataFrame, lengths: Sequence[str], **place: str) -> pl.DataFrame:
    """Return the rows of a place, one for each length; null where one is missing, so that a line has a gap."""
    every = pl.DataFrame({"segment_length": lengths})
    return every.join(rows.filter(**place), on="segment_length", how="left", maintain_order="left")


@canvas.drawn
def plot_effect_by_length(ceat: pl.DataFrame, *, width: Width = "page") -> Figure:
    """Plot effect size against segment length, one panel per category, with 95% intervals over words as pale bars.

    Every estimate of a length is drawn.

    Args:
        ceat: the table of estimates.
        width: "column" (3.3 in) or "page" (6.8 in).

    Raises:
        InputError: another width.
    """
    grid, sizes = grid_of(ceat), SIZES[width]
    rows = _estimates(ceat).filter(pl.col("segment_length") != tables.MEAN)
    bars = rows.filter(pl.col("ci_low").is_not_null())
    ends = np.clip(bars.select("ci_low", "ci_high").to_numpy(), -FARTHEST, FARTHEST)
    bottom, top = canvas.widen([0.0, *rows["effect_size"].drop_nulls(), *ends.flat], 0.05)
    bar = [Patch(facecolor=MUTED, alpha=_PALE, linewidth=0, label="95 % interval")] if len(bars) else []
    figure, panels = canvas.lay_out_categories(
        grid,
        width,
        labels=("segment length (words)", "effect size (CEAT)"),
        keys=bar,
        note=_note_on_intervals(rows, bars),
    )
    between, x = min(0.16, 0.68 / len(grid.models)), np.arange(len(grid.lengths))
    for panel, category in zip(panels, grid.categories, strict=False):
        for number, model in enumerate(grid.models):
            places = x + (number - (len(grid.models) - 1) / 2) * between
            style = look(number, 0, sizes)
            line = _at_lengths(rows, grid.lengths, category=category.name, model=model)
            bar_style = {"linewidth": style["linewidth"] * 2.2, "alpha": _PALE}
            panel.vlines(places, line["ci_low"], line["ci_high"], color=style["color"], **bar_style)
            panel.plot(places, line.select(pl.when(~pl.col("few")).then("effect_size")), **style)
            crosses = line.select(pl.when("few").then("effect_size")).to_series()
            if crosses.count():
                panel.plot(places, crosses, **{**style, "linestyle": "none", "marker": "x"})
        canvas.close_panel(panel)
    panels[0].set_ylim(bottom, top)
    return figure


def _note_on_intervals(rows: pl.DataFrame, bars: pl.DataFrame) -> str:
    few = " Crosses rest on few words." if rows["few"].any() else ""
    if bars.is_empty():
        return f"No intervals: they are given where every set has at least eight words.{few}"
    none = "; none where a set has fewer than eight words" if len(bars) < rows["effect_size"].count() else ""
    return f"Pale bars: 95 % interval over words and contexts{none}. Bars beyond the frame are cut.{few}"


@canvas.drawn
def plot_convergence(ceat: pl.DataFrame, convergence: pl.DataFrame, *, band: float, width: Width = "page") -> Figure:
    """Plot the combined effect against the number of draws, with the band around the last one of each model.

    Effects are those at the longest segment length. Up to 100 draws are one point, and the figure says so.

    Args:
        ceat: the table of estimates, for categories and models.
        convergence: columns category, model, segment_length, n, effect_size.
        band: distance from the last effect that is small enough.
        width: "column" (3.3 in) or "page" (6.8 in).

    Raises:
        InputError: another width.
    """
    grid = grid_of(ceat)
    length = grid.lengths[-1]
    shown = convergence.filter(segment_length=length).sort("n")
    steps = shown["n"].unique(maintain_order=True).to_list()
    if len(steps) == 1:
        raise NothingToDrawError(f"{steps[0]} draws are one point. Points begin at {tables.FIRST_DRAWS} draws.")
    # a label that the next would cover is left out
    labelled = [n for n, after in pairwise([*steps, math.inf]) if after > 1.2 * n]
    figure, panels = canvas.lay_out_categories(
        grid,
        width,
        labels=("number of draws", "effect size (CEAT)"),
        keys=_band_keys(width, f"within {band:g} of the effect of all draws"),
        note=f"Draws in the order drawn; {length} words. More draws add neither contexts nor words.",
        draws={n: f"{n // 1000}k" if n % 1000 == 0 else f"{n}" for n in labelled},
    )
    for panel, category in zip(panels, grid.categories, strict=False):
        for number, model in enumerate(grid.models):
            points = shown.filter(pl.col("effect_size").is_finite(), category=category.name, model=model)
            if len(points):
                effects, style = points["effect_size"].to_numpy(), look(number, 0, SIZES[width])
                band_style = {"color": style["color"], "alpha": 0.13, "linewidth": 0, "zorder": 0.5}
                panel.axhspan(effects[-1] - band, effects[-1] + band, **band_style)
                (beyond,) = np.nonzero(abs(effects - effects[-1]) > band)
                _draw_settled(panel, points["n"].to_numpy(), effects, int(max(beyond + 1, default=0)), style)
        canvas.close_panel(panel)
    if steps:
        panels[0].set_xlim(steps[0] / 1.25, steps[-1] * 1.25)
    return figure


@canvas.drawn
def plot_settling(
    ceat: pl.DataFrame, differences: pl.DataFrame, settling: pl.DataFrame, *, band: float, width: Width = "page"
) -> Figure:
    """Plot the distance of the effect at each length to that at the longest.

    It comes with its paired 95% interval, and the band.

    Args:
        ceat: the table of estimates, for categories, models and lengths.
        differences: columns kind, category, model, first, second, difference, ci_low, ci_high.
        settling: columns category, model, band, longest, settled_length.
        band: distance from the effect at the longest length that is small enough.
        width: "column" (3.3 in) or "page" (6.8 in).

    Raises:
        InputError: another width.
    """
    grid, sizes, place = grid_of(ceat), SIZES[width], ["category", "model"]
    n_models, cells = len(grid.models), settling.filter(pl.col("longest").is_not_null())
    named = cells.select(*place, pl.coalesce("settled_length", "longest"))
    settled = {(category, model): length for category, model, length in named.iter_rows()}
    # shorter minus longest, where the table has longest minus shorter
    distance, low, high = (0 - number for number in _finite("difference", "ci_high", "ci_low"))
    rows = pl.concat(
        [
            differences.filter(kind="length")
            .join(cells, left_on=[*place, "second"], right_on=[*place, "longest"])
            .select(*place, segment_length="first", distance=distance, low=low, high=high),
            cells.select(*place, segment_length="longest", distance=0.0),
        ],
        how="diagonal",
    )
    figure, panels = canvas.lay_out_categories(
        grid,
        width,
        labels=("segment length (words)", "distance to the longest"),
        keys=_band_keys(width, f"within {band:g} of the effect at the longest"),
        note="Bars: 95 % interval of the paired difference, over words and contexts.",
    )
    for panel, category in zip(panels, grid.categories, strict=False):
        panel.axhspan(-band, band, color=LINE, alpha=0.6, linewidth=0, zorder=0.5)
        for number, model in enumerate(grid.models):
            if (category.name, model) in settled:
                # markers and bars of equal estimates do not hide each other
                style, step = look(number, 0, sizes), (number - (n_models - 1) / 2) * min(0.09, 0.6 / n_models)
                places = np.arange(len(grid.lengths)) + step
                line = _at_lengths(rows, grid.lengths, category=category.name, model=model)
                panel.vlines(places, line["low"], line["high"], color=style["color"], linewidth=sizes["line"] * 0.8)
                from_here = grid.lengths.index(settled[category.name, model])
                _draw_settled(panel, places, line["distance"].to_numpy(), from_here, style)
        canvas.close_panel(panel)
    drawn = rows.filter(pl.col("distance").is_not_null())
    ends = (end for name in ("low", "high") for end in drawn[name].clip(-FARTHEST, FARTHEST).drop_nulls())
    panels[0].set_ylim(canvas.widen([0.0, band, -band, *drawn["distance"], *ends], 0.05))
    return figure


def _draw_settled(panel: Any, x: Any, y: Any, settled: int, style: dict[str, Any]) -> None:
    """Draw a line with open markers before the place where it settled, and filled ones from there on."""
    panel.plot(x, y, **{**style, "marker": "", "zorder": 2.5})
    markers = {**style, "linestyle": "none"}
    panel.plot(x[:settled], y[:settled], **{**markers, "markerfacecolor": PAPER})
    panel.plot(x[settled:], y[settled:], **markers)


def _band_keys(width: Width, band: str) -> list[Any]:
    """Return the handles of the band and of the markers for the legend."""
    dot = {**dots(0, SIZES[width]), **_GREY, "markerfacecolor": MUTED}
    not_yet = handle("not yet", **{**dot, "markerfacecolor": PAPER})
    return [Patch(color=LINE, label=band), handle("stays there", **dot), not_yet]


@canvas.drawn
def plot_sample_modes(ceat: pl.DataFrame, *, width: Width = "page") -> Figure:
    """Plot effect sizes by random against fixed draws.

    Each estimate is a point; a line shows where both are the same.

    Args:
        ceat: the table of estimates.
        width: "column" (3.3 in) or "page" (6.8 in).

    Raises:
        InputError: another width.
    """
    grid = grid_of(ceat)
    found = ceat.with_columns(_finite("effect_size", "effect_random")).filter(pl.col("segment_length") != tables.MEAN)
    points = found.drop_nulls(["effect_size", "effect_random"])
    points = points.with_columns(distance=(pl.col("effect_random") - pl.col("effect_size")).abs())
    if points.is_empty():
        raise NothingToDrawError("no estimate has a number by fixed and by random draws.")
    by_length = points.partition_by("segment_length", as_dict=True)
    shown = {length: by_length[length,] for length in grid.lengths if (length,) in by_length}
    sizes, across = SIZES[width], min({"column": 3, "page": 4}[width], len(shown))
    looks = {model: dots(number, sizes) for number, model in enumerate(grid.models) if len(points.filter(model=model))}
    figure, panels = canvas.lay_out(
        width,
        heads=[(f"{length} words", _describe_distances(part)) for length, part in shown.items()],
        across=across,
        # square, but no larger than the figure of many lengths has them
        panel=min(canvas.room_of(width, across) / 72, sizes["panel"] * 1.2),
        labels=("effect size, fixed draws", "random draws"),
        keys=[handle(model, **style) for model, style in looks.items()],
        note="Each point is a category; on the line both draws give the same.",
    )
    limits = canvas.widen([0.0, *points["effect_size"], *points["effect_random"]], 0.06)
    for panel, part in zip(panels, shown.values(), strict=False):
        rows = part.select("model", x="effect_size", y="effect_random", is_open=pl.lit(value=False))
        _draw_equality(panel, rows, limits, 0.0, {model: {**style, "alpha": 0.75} for model, style in looks.items()})
    return figure


def _describe_distances(points: pl.DataFrame) -> str:
    ends = points.select(pl.col("distance").median(), largest=pl.col("distance").max()).row(0)
    middle, largest = (f"{value:.3f}" if value < 10 else f"{value:.3g}" for value in ends)
    return f"median{_FIXED}{middle}, max{_FIXED}{largest}"


def _draw_equality(
    panel: Any, rows: pl.DataFrame, limits: tuple[float, float], even: float, looks: Mapping[str, dict[str, Any]]
) -> None:
    """Draw points (model, x, y, is_open), the line on which both numbers are the same, and thin ones of no bias."""
    for draw_line in (panel.axhline, panel.axvline):
        draw_line(even, color=LINE, linewidth=0.6, zorder=1)
    panel.plot(limits, limits, color=MUTED, linewidth=0.7, zorder=1.5)
    for model, style in looks.items():
        for is_open, face in ((False, style["color"]), (True, PAPER)):
            points = rows.filter(model=model, is_open=is_open)
            panel.plot(points["x"], points["y"], **{**style, "markerfacecolor": face})
    panel.set(xlim=limits, ylim=limits)
    few_ticks(panel.xaxis, panel.yaxis)


@canvas.drawn
def plot_published(table: pl.DataFrame, *, width: Width = "page") -> Figure:
    """Plot measured against published numbers, with the intervals of the measured ones; one panel per method.

    Args:
        table: rows of `prasanga.report.comparison`, also as read from CSV. A row without a measured number, or of which
            the paper prints only a bound, is not drawn and counted in the note.
        width: "column" (3.3 in) or "page" (6.8 in).

    Raises:
        InputError: another width.
    """
    rows = comparison_rows(table)
    by_type = rows.filter((pl.col("method") != PAIRS) | (pl.col("category") != OVERALL))
    # the row over all pairs repeats the bias types, and their agreement leaves it out as well
    rows = by_type if len(by_type) else rows
    has_interval = (pl.col("ci_low").is_finite() & pl.col("ci_high").is_finite()).fill_null(value=False)
    points = rows.filter(
        pl.col("measured").is_finite() & pl.col("published").is_finite() & (pl.col("bound").fill_null("") == "")
    ).with_columns(doubtful=pl.col("doubt").is_not_null(), barred=has_interval)
    if points.is_empty():
        why = "no row of the comparison has a number of both" if len(rows) else "the comparison has no rows"
        raise NothingToDrawError(f"{why}.")
    methods = {str(part["method"][0]): part for part in points.partition_by("method", maintain_order=True)}
    even = {method: 50.0 if method == PAIRS else 0.0 for method in methods}
    # all points are inside a panel, intervals may leave it
    limits = {
        method: canvas.widen([even[method], *part["published"], *part["measured"]], 0.08)
        for method, part in methods.items()
    }
    sizes, models = SIZES[width], points["model"].unique(maintain_order=True)
    across = min(len(methods), 2) if width == "column" or len(methods) == 4 else min(len(methods), 3)
    in_doubt = handle("the published number is in doubt", **{**dots(0, sizes, mode=1), "color": MUTED})
    figure, panels = canvas.lay_out(
        width,
        heads=[_head_of_method(method, part) for method, part in methods.items()],
        across=across,
        # square where there are several, and no larger than two of them side by side
        panel=min(canvas.room_of(width, each) for each in (across, 2)) / 72,
        labels=("published", "measured"),
        keys=[
            *(handle(model, **dots(n, sizes)) for n, model in enumerate(models)),
            *[in_doubt] * points["doubtful"].any(),
        ],
        note=_note_on_rows(points, len(rows)),
        sharex=False,
        sharey=False,
    )
    looks = {model: dots(n, sizes, 0.9) for n, model in enumerate(models)}
    for panel, (method, part) in zip(panels, methods.items(), strict=False):
        rows = part.select("model", x="published", y="measured", is_open="doubtful")
        _draw_equality(panel, rows, limits[method], even[method], looks)
        for model, style in looks.items():
            bars = part.filter("barred", model=model).select("published", "ci_low", "ci_high").to_numpy().T
            panel.vlines(*bars, color=style["color"], linewidth=sizes["line"] * 0.6, alpha=_PALER, zorder=2)
    return figure


def _head_of_method(method: str, points: pl.DataFrame) -> tuple[str, str]:
    signs, is_pairs = points["same_sign"].drop_nulls(), method == PAIRS
    said = f"{'side' if is_pairs else 'sign'} agrees in {signs.sum()} of {len(signs)}"
    return "Sentence pairs" if is_pairs else PUBLISHED_AS[method], said


def _note_on_rows(points: pl.DataFrame, n_rows: int) -> str:
    bars = " Bars: 95 % interval of what was measured; bars beyond the panel are cut." if points["barred"].any() else ""
    missing = n_rows - len(points)
    rest = f" Not drawn: {missing} of {n_rows} rows, without a number of both." if missing else ""
    return f"On the line both are equal.{bars}{rest}"


@canvas.drawn
def plot_scales(ceat: pl.DataFrame, *, width: Width = "page") -> Figure:
    """Plot the effect of each category by vectors as they are, centered and standardized; one panel per model.

    Effects are those over the fixed lengths.

    Args:
        ceat: the table of estimates.
        width: "column" (3.3 in) or "page" (6.8 in).

    Raises:
        InputError: another width.
    """
    shown = tables.select_primary(ceat).with_columns(_finite(*SCALES))
    points = shown.unpivot(tuple(SCALES), index=("model", "category"), variable_name="series", value_name="effect")
    note = (
        "CEAT, mean over lengths. Where the markers of a category lie apart, the mean of all vectors or a few"
        " dimensions of large variance decide about cosines."
    )
    rows = points.rename({"model": "panel"}).with_columns(pl.col("series").replace(SCALES))
    return _plot_rows(rows, SCALES.values(), note, width)


@canvas.drawn
def plot_methods(methods: pl.DataFrame, *, width: Width = "page") -> Figure:
    """Plot the effect of each category by each method, with its interval; one panel per method, one series per model.

    Args:
        methods: estimates from `prasanga.report.agreement.side_by_side`, also as read from CSV.
        width: "column" (3.3 in) or "page" (6.8 in).

    Raises:
        InputError: another width.
    """
    is_open = pl.col("few_words").cast(pl.String).fill_null("") != ""
    rows = methods.with_columns(
        *_finite("effect_size", "ci_low", "ci_high"), panel=pl.col("method").replace(METHODS), is_open=is_open
    ).rename({"model": "series", "effect_size": "effect"})
    note = "Bars: 95 % interval over words, where every set has at least eight. Open markers: few words."
    return _plot_rows(rows, rows["series"].unique(maintain_order=True), note, width)


def _plot_rows(rows: pl.DataFrame, series: Iterable[str], note: str, width: Width) -> Figure:
    """Plot effects by category, one panel for each `panel`; series have a color and a marker each, and a place.

    `rows` have panel, category, series and effect, and may have ci_low, ci_high and is_open.
    """
    rows = rows.drop_nulls("effect")
    if rows.is_empty():
        raise NothingToDrawError("there is no estimate with a number.")
    sizes, parts = SIZES[width], rows.partition_by("panel", maintain_order=True)
    categories = sorted(set(rows["category"]), key=natural_order)
    styles = {name: dots(number, sizes, 0.8) for number, name in enumerate(series)}
    figure, panels = canvas.lay_out(
        width,
        heads=[(part["panel"][0],) for part in parts],
        across={"column": 2, "page": 4}[width],
        panel=0.2 + len(categories) * max(1, len(styles) / 4) * 1.9 * sizes["font"] / 72,
        labels=("effect size", "category"),
        keys=[handle(name, **style) for name, style in styles.items()],
        note=note,
    )
    for panel, part in zip(panels, parts, strict=False):
        panel.axvline(0, color=MUTED, linewidth=0.8, zorder=1)
        between = {"color": LINE, "linewidth": 0.4, "zorder": 0.5, "transform": panel.get_yaxis_transform()}
        panel.hlines([row - 0.5 for row in range(1, len(categories))], 0, 1, **between)
        there = [name for name in styles if name in part["series"]]
        for place, name in enumerate(there):
            style, of_series = styles[name], part.filter(series=name)
            y = of_series["category"].replace_strict(categories, range(len(categories)), return_dtype=pl.Float64)
            of_series = of_series.with_columns(y=y + ((place + 0.5) / len(there) - 0.5) * 0.8)
            is_open = pl.col("is_open") if "is_open" in of_series.columns else pl.lit(value=False)
            for chosen, face in ((~is_open, style["color"]), (is_open, PAPER)):
                points = of_series.filter(chosen)
                panel.plot(points["effect"], points["y"], **{**style, "markerfacecolor": face})
            if "ci_low" in of_series.columns:
                bars = of_series.drop_nulls(["ci_low", "ci_high"])
                bar = {"color": style["color"], "alpha": _PALER, "linewidth": style["markersize"] * 0.4}
                panel.hlines(bars["y"], bars["ci_low"], bars["ci_high"], **bar)
    few_ticks(panels[0].xaxis)
    panels[0].set_yticks(range(len(categories)), categories)
    panels[0].set_ylim(len(categories) - 0.5, -0.5)
    return figure


@canvas.drawn
def plot_specifications(multiverse: pl.DataFrame, *, category: str, width: Width = "page") -> Figure:
    """Plot all estimates of a category in ascending order, with their choices as marks below; one panel per method.

    A filled marker has a star: p_association of at most .05 after Holm's correction within its specification.

    Args:
        multiverse: the table of all specifications.
        category: its name.
        width: "column" (3.3 in) or "page" (6.8 in).

    Raises:
        InputError: another width.
    """
    starred = pl.col("p_association_holm") <= ALPHA
    rows = specifications(multiverse).filter(category=category).sort("effect_size").with_columns(starred=starred)
    shown = {method: part for method in METHODS if (part := rows.filter(method=method)).height}
    if not shown:
        raise NothingToDrawError(f"{category} has no estimate under any choices.")
    choices = [_list_choices(part) for part in shown.values()]
    most, font, style = max(map(len, choices)), SIZES[width]["font"], dots(0, SIZES[width], 0.6)
    names = [f"{name}: {value}" for listed in choices for name, value in listed]
    figure, panels = canvas.lay_out(
        width,
        heads=[(f"{METHODS[method]}, {category}", _describe_shares(part)) for method, part in shown.items()],
        across=1,
        panel=(_CURVE + most + 1) * font * 1.45 / 72,
        left=max((canvas.width_of(name, font) for name in names), default=0.0) + 3 * font,
        labels=("specifications, by effect size", ""),
        keys=[handle("with a star", **style), handle("without", **{**style, "markerfacecolor": PAPER})],
        note="Upper part: effect sizes in ascending order. Marks below: the choices behind each.",
        sharex=False,
        sharey=False,
    )
    for panel, part, listed in zip(panels, shown.values(), choices, strict=True):
        _draw_curve(panel, part, listed, style)
        panel.set_ylim(_CURVE + most + 0.8, -0.8)
    return figure


def _list_choices(rows: pl.DataFrame) -> list[tuple[str, str]]:
    """Return the names and values of the choices that differ within a panel, in the order of `SPECIFIED`."""
    values = {name: sorted(rows[name].drop_nulls().unique(), key=natural_order) for name in SPECIFIED}
    return [(name, value) for name, found in values.items() if len(found) > 1 for value in found]


def _draw_curve(panel: Any, rows: pl.DataFrame, choices: Sequence[tuple[str, str]], style: dict[str, Any]) -> None:
    """Draw the curve as rows 0 to `_CURVE` - 1 of the axis, which points down, and below it one row per choice."""
    effects, starred = rows["effect_size"].to_numpy(), rows["starred"].to_numpy()
    bottom, top = min(0.0, effects.min()), max(0.0, effects.max())

    def place(effect: Any) -> Any:
        return (top - effect) / ((top - bottom) or 1.0) * (_CURVE - 1)

    panel.axhline(place(0.0), color=MUTED, linewidth=0.8, zorder=1)
    panel.axhline(_CURVE, color=LINE, linewidth=0.6, zorder=0.5)
    for chosen, face in ((starred, style["markerfacecolor"]), (~starred, PAPER)):
        panel.plot(np.flatnonzero(chosen), place(effects[chosen]), **{**style, "markerfacecolor": face})
    for y, (name, value) in enumerate(choices, start=_CURVE + 1):
        marked = np.flatnonzero(rows[name].eq_missing(value))
        panel.vlines(marked, y - 0.35, y + 0.35, color=style["color"], linewidth=0.5)
    ticks = sorted(end for end in {0.0, top, bottom} if end == 0 or abs(place(end) - place(0.0)) > 1)
    names = [f"{effect:.2f}".replace("-", MINUS) for effect in ticks] + [f"{name}: {value}" for name, value in choices]
    panel.set_yticks([*map(place, ticks), *range(_CURVE + 1, _CURVE + 1 + len(choices))], names)
    panel.set_xlim(-0.02 * len(rows) - 0.5, 1.02 * len(rows) - 0.5)


def _describe_shares(rows: pl.DataFrame) -> str:
    positive = rows["effect_size"] > 0
    is_positive = 2 * positive.sum() >= len(rows)
    same = positive if is_positive else ~positive
    stars = rows["starred"] & (positive if is_positive else rows["effect_size"] < 0)
    shares = [f"{100 * held.sum() / len(rows):.0f} %" for held in (same, stars)]
    return f"{len(rows)} specifications; sign holds in {shares[0]}, star in {shares[1]}"


@canvas.drawn
def plot_words(words: pl.DataFrame, categories: Mapping[str, Any], category: str, *, width: Width = "page") -> Figure:
    """Plot the associations of the target words of a category: one row per word, one colour and marker per model.

    Words are sorted within their set, from those nearest to A down; above them is their mean. Of a set of more than
    `MOST` words those in the middle are left out, and a note says so. A word in letters that no font has is shown by
    its gloss.

    Args:
        words: columns category, model, segment_length, role (x, y, a or b), stimulus, association; every
            model has the colour of its place in it.
        categories: what the lexicon stage writes: sets with their words by category, and English glosses.
        category: one of the categories.
        width: "column" (3.3 in) or "page" (6.8 in).

    Raises:
        InputError: another width.
    """
    table = tables.measured_words(words, category)
    if table.is_empty():
        raise NothingToDrawError("no target word has an association.")
    about, sizes, is_page = categories[category], SIZES[width], width == "page"
    font, wide = sizes["font"], WIDTHS[width] * 72
    sets = tables.measured_sets(table, about["targets"])
    kept = [_keep_ends(found.words, MOST[width]) for found in sets]
    rows = [max(map(len, kept))] * 2 if is_page else list(map(len, kept))
    models = words["model"].unique(maintain_order=True)
    looks = {model: {**dots(n, sizes), "alpha": 0.9} for n, model in enumerate(models) if model in table["model"]}
    a, b = (canvas.shortened(tables.title_of_set(each), font, wide * 0.28) for each in about["attributes"])
    direction = f"← nearer to {b}      nearer to {a} →"
    beside = wide * (0.19 if is_page else 0.38)
    across = 2 if is_page else 1  # side by side on a page, below each other in a column
    figure, panels = canvas.lay_out(
        width,
        heads=[(found.title,) for found in sets],
        across=across,
        panel=(sum(rows) / 2 + 1) * font * 1.4 / 72,
        left=(beside + 2 * font) * across,
        labels=(direction, ""),
        keys=[handle(model, **style) for model, style in looks.items()],
        note=_note_on_words(sets, kept, "Means over the fixed lengths.", table["stimulus"]),
        sharey=False,
        height_ratios=None if is_page else [n + 1 for n in rows],
    )
    title = [canvas.shortened(str(text), font, wide * 0.95, bold=True) for text in (category, about.get("title") or "")]
    figure.legends[0].set_title("\n".join(filter(None, title)), prop=FontProperties(weight="bold", size=font))
    for panel, found, shown, n_rows in zip(panels, sets, kept, rows, strict=True):
        points = [found.means, *(word.values for word in shown)]
        spans = [(y, min(row.values()), max(row.values())) for y, row in enumerate(points) if row]
        panel.hlines(*np.reshape(spans, (-1, 3)).T, color=MUTED, linewidth=0.6, alpha=0.6, zorder=1)
        for model, style in looks.items():
            places = [(row[model], y) for y, row in enumerate(points) if model in row]
            panel.plot(*np.reshape(places, (-1, 2)).T, **style)
        labels = [f"mean of {len(found.words)}", *_label_words(shown, tables.glosses_of(categories), font, beside)]
        panel.set_yticks(range(len(labels)), labels)
        panel.axvline(0, color=MUTED, linewidth=0.8, zorder=1)
        panel.axhline(0.5, color=MUTED, linewidth=0.6, zorder=1)
        panel.set_ylim(n_rows + 0.5, -0.5)
        panel.grid(axis="y")
    few_ticks(panels[0].xaxis, most=5)
    if not is_page:  # it may be wider than the panel, which shares its row with the words
        panels[-1].set_xlabel(direction, loc="right")
    return figure


def _keep_ends(words: list[Any], most: int) -> list[Any]:
    return words if len(words) <= most else [*words[: most // 2], *words[-(most // 2) :]]


def _label_words(shown: Sequence[Any], glosses: Mapping[str, str], font: float, room: float) -> Iterable[str]:
    """Yield the labels of words: each with its gloss, or only the gloss where no font has the word's letters."""
    for place, word in enumerate(shown, start=1):
        text, gloss = word.stimulus[:200], tables.gloss_of(word.stimulus, glosses)[:200]
        if not canvas.can_show(text):
            text, gloss = gloss if gloss and canvas.can_show(gloss) else f"word {place}", ""
        label = canvas.shortened(text, font, room * (0.55 if gloss else 1))
        yield f"{label} · {canvas.shortened(gloss, font, room * 0.45)}" if gloss else label


def _note_on_words(sets: Sequence[tables.MeasuredSet], kept: Sequence[Any], which: str, stimuli: Iterable[str]) -> str:
    said = ["Standardized for each model over both sets: 0 is their mean, 1 their standard deviation."]
    measured, listed = (sum(len(getattr(found, name)) for found in sets) for name in ("words", "listed"))
    if listed > measured:
        said.append(f"Without an association: {listed - measured} of {listed} words.")
    if hidden := measured - sum(map(len, kept)):
        said.append(f"Left out for want of room: {hidden} in the middle of their set.")
    return " ".join(filter(None, [*said, which, canvas.say_what_is_missing(stimuli)]))
