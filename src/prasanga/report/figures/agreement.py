"""Figures of what agrees: draws, a paper and a study, methods, kinds of vectors, choices.

`plot_sample_modes`: estimates by fixed and by random draws of contexts, one panel per segment length, one point per
category and model. `plot_published`: what a study measured against what a paper prints, one panel per method, each with
a scale of its own, one point per row of the comparison. Both have the line on which the two numbers are equal.
`plot_scales` shows whether an effect is one of the vectors as they are, or also of vectors whose mean is removed or
whose dimensions are standardized (Timkey and van Schijndel 2021). `plot_methods` has all methods side by side,
`plot_specifications` all estimates of a category in order, and below each the choices that made it (Simonsohn, Simmons
and Nelson 2020).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from statistics import median
from typing import Any, NamedTuple

import polars as pl
from matplotlib.figure import Figure

from prasanga.base.errors import InputError
from prasanga.pairs.preferences import OVERALL
from prasanga.report.agreement import SPECIFIED, has_star, specifications
from prasanga.report.comparison import PAIRS, comparison_rows
from prasanga.report.figures import LINE, MUTED, PAPER
from prasanga.report.figures.canvas import (
    SIZES,
    NothingToDrawError,
    Width,
    dots,
    drawn,
    few_ticks,
    handle,
    lay_out,
    room_of,
    widen,
    width_of,
)
from prasanga.report.grid import METHODS, MODES, Estimate, grid_of, is_number, natural_order
from prasanga.report.published import PUBLISHED_AS
from prasanga.report.sheet import MINUS

SCALES = {
    "effect_size": "vectors as they are",
    "effect_centered": "mean removed",
    "effect_standardized": "dimensions standardized",
}
"""The effects of `plot_scales`, by their columns."""

_CURVE = 14
"""Height of the curve of specifications, in rows of choices."""

_FIXED = "\N{NO-BREAK SPACE}"


class _Draws(NamedTuple):
    """An estimate by fixed and by random draws."""

    category: str
    model: str
    length: str
    fixed: float
    random: float

    @property
    def distance(self) -> float:
        return abs(self.random - self.fixed)


@drawn
def plot_sample_modes(ceat: pl.DataFrame, *, width: Width = "page") -> Figure:
    """Plot effect sizes by random against fixed draws.

    Each estimate is a point; a line shows where both are the same.

    Args:
        ceat: the table of estimates.
        width: "column" (3.3 in) or "page" (6.8 in).

    Raises:
        InputError: a table without estimates or with only one of the modes, or another width.
    """
    grid = grid_of(ceat)
    if absent := [mode for mode in MODES if mode not in grid.modes]:
        raise InputError(
            f"the table of estimates has no {absent[0]} draws, so there is nothing to compare. Measure both: write"
            " `sample_modes: [fixed, random]` under associations."
        )
    points, unpaired = [], 0
    for category, model, length in grid.places:
        found = [grid.at(category.name, model, length, mode) for mode in MODES]
        effects = [float(row["effect_size"]) for row in found if row and is_number(row["effect_size"])]
        if len(effects) == len(MODES):
            points.append(_Draws(category.name, model, length, *effects))
        else:
            unpaired += len(effects)
    if not points:
        raise NothingToDrawError("no estimate has a number by fixed and by random draws.")
    lengths = {length: shown for length in grid.lengths if (shown := [p for p in points if p.length == length])}
    sizes, across = SIZES[width], min({"column": 3, "page": 4}[width], len(lengths))
    looks = {
        model: dots(number, sizes)
        for number, model in enumerate(grid.models)
        if any(point.model == model for point in points)
    }
    figure, panels = lay_out(
        width,
        len(lengths),
        across=across,
        # square, but no larger than the figure of many lengths has them
        panel=min(room_of(width, across) / 72, sizes["panel"] * 1.2),
        heads=[(f"{length} words", _describe_distances(shown)) for length, shown in lengths.items()],
        labels=("effect size, fixed draws", "random draws"),
        keys=[handle(model, **style) for model, style in looks.items()],
        note=_note_on_draws(points, unpaired),
    )
    limits = widen([0.0, *(value for point in points for value in (point.fixed, point.random))], 0.06)
    for panel, shown in zip(panels, lengths.values(), strict=False):
        _draw_equality(panel, limits, 0.0)
        for model, style in looks.items():
            pairs = [(point.fixed, point.random) for point in shown if point.model == model]
            panel.plot([x for x, _ in pairs], [y for _, y in pairs], **{**style, "alpha": 0.75})
    few_ticks(panels[0].xaxis, panels[0].yaxis)
    return figure


def _describe_distances(points: Sequence[_Draws]) -> str:
    distances = [point.distance for point in points]
    return f"median{_FIXED}{_distance(median(distances))}, max{_FIXED}{_distance(max(distances))}"


def _distance(value: float) -> str:
    return f"{value:.3f}" if value < 10 else f"{value:.3g}"


def _note_on_draws(points: Sequence[_Draws], unpaired: int) -> str:
    farthest = max(points, key=lambda point: point.distance)
    said = (
        f"Each point is a category; on the line both draws give the same. Distance of random from fixed draws over"
        f" {len(points)} estimate{'' if len(points) == 1 else 's'}: median"
        f" {_distance(median(point.distance for point in points))}, at most {_distance(farthest.distance)}"
        f" ({farthest.category}, {farthest.model}, {farthest.length} words)."
    )
    return f"{said} Left out: {unpaired} with a number by one kind of draws alone." if unpaired else said


def _draw_equality(panel: Any, limits: tuple[float, float], middle: float) -> None:
    """Draw the line on which both numbers are the same, and thin ones where each is of no bias."""
    for draw_line in (panel.axhline, panel.axvline):
        draw_line(middle, color=LINE, linewidth=0.6, zorder=1)
    panel.plot(limits, limits, color=MUTED, linewidth=0.7, zorder=1.5)
    panel.set(xlim=limits, ylim=limits)


@drawn
def plot_published(table: pl.DataFrame, *, width: Width = "page") -> Figure:
    """Plot measured against published numbers, with the intervals of the measured ones.

    Args:
        table: rows of `prasanga.report.comparison`, also as read from CSV. A row without a measured number, or of which
            the paper prints only a bound, is not drawn and counted in the note.
        width: "column" (3.3 in) or "page" (6.8 in).

    Raises:
        InputError: a column is missing, or another width.
    """
    rows = comparison_rows(table)
    by_type = rows.filter((pl.col("method") != PAIRS) | (pl.col("category") != OVERALL))
    # the row over all pairs repeats those of the bias types, and is left out of their agreement as well
    rows = by_type if len(by_type) else rows
    points = rows.filter(
        pl.col("measured").is_finite() & pl.col("published").is_finite() & (pl.col("bound").fill_null("") == "")
    )
    if points.is_empty():
        why = "no row of the comparison has a number of both" if len(rows) else "the comparison has no rows"
        raise NothingToDrawError(f"{why}.")
    # points without an interval have bars of no length; all points are inside a panel, intervals may leave it
    has_interval = pl.col("ci_low").is_finite() & pl.col("ci_high").is_finite()
    points = points.with_columns(doubtful=pl.col("doubt").is_not_null(), barred=has_interval.fill_null(value=False))
    methods = points.partition_by("method", as_dict=True, maintain_order=True)
    even = {method: 50.0 if method == (PAIRS,) else 0.0 for method in methods}
    limits = {
        method: widen([even[method], *shown["published"], *shown["measured"]], 0.08)
        for method, shown in methods.items()
    }
    sizes, models = SIZES[width], points["model"].unique(maintain_order=True)
    across = min(len(methods), 2) if width == "column" or len(methods) == 4 else min(len(methods), 3)
    in_doubt = handle("the published number is in doubt", **{**dots(0, sizes, mode=1), "color": MUTED})
    figure, panels = lay_out(
        width,
        len(methods),
        across=across,
        # square where there are several, and no larger than two of them side by side
        panel=min(room_of(width, each) for each in (across, 2)) / 72,
        heads=[_head_of_method(method, shown) for (method,), shown in methods.items()],
        labels=("published", "measured"),
        keys=[
            *(handle(model, **dots(n, sizes)) for n, model in enumerate(models)),
            *[in_doubt] * points["doubtful"].any(),
        ],
        note=_note_on_rows(methods, limits, len(rows)),
        sharex=False,
        sharey=False,
    )
    for panel, (method, shown) in zip(panels, methods.items(), strict=False):
        _draw_equality(panel, limits[method], even[method])
        for number, model in enumerate(models):
            of_model, style = shown.filter(model=model), dots(number, sizes, 0.9)
            for doubtful in (False, True):
                of_kind = of_model.filter(doubtful=doubtful)
                face = {"markerfacecolor": PAPER} if doubtful else {}
                panel.plot(of_kind["published"], of_kind["measured"], **{**style, **face})
            bars = of_model.filter("barred").select("published", "ci_low", "ci_high").to_numpy().T
            panel.vlines(*bars, color=style["color"], linewidth=sizes["line"] * 0.6, alpha=0.35, zorder=2)
        panel.set(xlim=limits[method], ylim=limits[method])
        few_ticks(panel.xaxis, panel.yaxis)
    return figure


def _head_of_method(method: str, points: pl.DataFrame) -> tuple[str, str]:
    signs, is_pairs = points["same_sign"].drop_nulls(), method == PAIRS
    said = f"{'side' if is_pairs else 'sign'} agrees in {signs.sum()} of {len(signs)}"
    return "Sentence pairs" if is_pairs else PUBLISHED_AS[method], said


def _note_on_rows(methods: Mapping[Any, pl.DataFrame], limits: Mapping[Any, tuple[float, float]], n_rows: int) -> str:
    said, missing = "On the line both are equal.", n_rows - sum(map(len, methods.values()))
    bars = {method: points.filter("barred") for method, points in methods.items()}
    if any(map(len, bars.values())):
        beyond = any(
            shown.filter((pl.col("ci_low") < limits[method][0]) | (pl.col("ci_high") > limits[method][1])).height
            for method, shown in bars.items()
        )
        said += f" Bars: 95 % interval of what was measured{'; some go on beyond the panel.' if beyond else '.'}"
    return f"{said} Not drawn: {missing} of {n_rows} rows, without a number of both." if missing else said


@drawn
def plot_specifications(multiverse: pl.DataFrame, *, category: str, width: Width = "page") -> Figure:
    """Plot all estimates of a category in ascending order, with their choices as marks below; one panel per method.

    A filled marker has a star: p_association below .05 after Holm's correction within its specification.

    Args:
        multiverse: the table of all specifications.
        category: its name.
        width: "column" (3.3 in) or "page" (6.8 in).

    Raises:
        InputError: a column is missing, or another width.
    """
    rows, sizes = specifications(multiverse).filter(category=category).sort("effect_size"), SIZES[width]
    shown = {method: found.to_dicts() for method in METHODS if (found := rows.filter(method=method)).height}
    if not shown:
        raise NothingToDrawError(f"{category} has no estimate under any choices.")
    choices = {method: _list_choices(of_method) for method, of_method in shown.items()}
    most, font, style = max(map(len, choices.values())), sizes["font"], dots(0, sizes, 0.6)
    widest = max((width_of(label, font) for listed in choices.values() for label in listed), default=0.0)
    figure, panels = lay_out(
        width,
        len(shown),
        across=1,
        panel=(_CURVE + most + 1) * font * 1.45 / 72,
        left=widest + 3 * font,
        heads=[(f"{METHODS[method]}, {category}", _describe_shares(of_method)) for method, of_method in shown.items()],
        labels=("specifications, by effect size", ""),
        keys=[handle("with a star", **style), handle("without", **{**style, "markerfacecolor": PAPER})],
        note="Upper part: effect sizes in ascending order. Marks below: the choices behind each.",
        sharex=False,
        sharey=False,
    )
    for panel, of_method, listed in zip(panels, shown.values(), choices.values(), strict=True):
        _draw_curve(panel, of_method, listed, most, style)
    return figure


def _list_choices(rows: Sequence[Estimate]) -> list[str]:
    """Return the choices that differ within a panel, as "name: value", in the order of `SPECIFIED`."""
    values = {name: {str(row[name]) for row in rows if row[name] is not None} for name in SPECIFIED}
    return [
        f"{name}: {value}"
        for name, found in values.items()
        if len(found) > 1
        for value in sorted(found, key=natural_order)
    ]


def _draw_curve(panel: Any, rows: Sequence[Estimate], choices: Sequence[str], most: int, style: dict[str, Any]) -> None:
    """Draw the curve as rows 0 to `_CURVE` - 1 of the axis, which points down, and below it one row per choice."""
    effects = [0.0, *(row["effect_size"] for row in rows)]
    top, height = max(effects), (max(effects) - min(effects)) or 1.0

    def place(effect: float) -> float:
        return float((top - effect) / height * (_CURVE - 1))

    panel.axhline(place(0.0), color=MUTED, linewidth=0.8, zorder=1)
    panel.axhline(_CURVE, color=LINE, linewidth=0.6, zorder=0.5)
    for starred, face in ((True, style["markerfacecolor"]), (False, PAPER)):
        points = [(n, place(row["effect_size"])) for n, row in enumerate(rows) if has_star(row) == starred]
        panel.plot([n for n, _ in points], [y for _, y in points], **{**style, "markerfacecolor": face})
    for y, label in enumerate(choices, start=_CURVE + 1):
        name, _, value = label.partition(": ")
        marked = [n for n, row in enumerate(rows) if str(row[name]) == value]
        panel.vlines(marked, y - 0.35, y + 0.35, color=style["color"], linewidth=0.5)
    panel.set(xlim=(-0.02 * len(rows) - 0.5, 1.02 * len(rows) - 0.5), ylim=(_CURVE + most + 0.8, -0.8))
    ticks = [effect for effect in {0.0, top, top - height} if effect == 0 or abs(place(effect) - place(0.0)) > 1]
    names = [f"{effect:.2f}".replace("-", MINUS) for effect in sorted(ticks)]
    places = [*map(place, sorted(ticks)), *range(_CURVE + 1, _CURVE + 1 + len(choices))]
    panel.set_yticks(places, [*names, *choices])


def _describe_shares(rows: Sequence[Estimate]) -> str:
    positive = sum(row["effect_size"] > 0 for row in rows)
    sign = 1 if 2 * positive >= len(rows) else -1
    stars = sum(has_star(row) and row["effect_size"] * sign > 0 for row in rows)
    same, stars = (100 * n / len(rows) for n in (max(positive, len(rows) - positive), stars))
    return f"{len(rows)} specifications; sign holds in {same:.0f} %, star in {stars:.0f} %"


class _Point(NamedTuple):
    """An effect in a row, with its interval where there is one; open where it rests on few words."""

    panel: str
    category: str
    series: str
    effect: float
    low: float = math.nan
    high: float = math.nan
    is_open: bool = False


@drawn
def plot_scales(ceat: pl.DataFrame, *, width: Width = "page") -> Figure:
    """Plot the effect of each category by vectors as they are, centered and standardized; one panel per model.

    Effects are those at the longest segment length, of the first sample mode.

    Args:
        ceat: the table of estimates.
        width: "column" (3.3 in) or "page" (6.8 in).

    Raises:
        InputError: a table without estimates or without these columns, or another width.
    """
    grid = grid_of(ceat)
    length, mode = grid.lengths[-1], grid.modes[0]
    points = [
        _Point(model, category, label, row[name])
        for model in grid.models
        for (category, *place), row in grid.estimates.items()
        if place == [model, length, mode]
        for name, label in SCALES.items()
        if is_number(row[name])
    ]
    note = (
        f"CEAT at {length} words, {mode} draws. Where the markers of a category lie apart, the mean of all vectors or a"
        " few dimensions of large variance decide about cosines."
    )
    return _plot_rows(points, [category.name for category in grid.categories], SCALES.values(), note, width)


@drawn
def plot_methods(methods: pl.DataFrame, *, width: Width = "page") -> Figure:
    """Plot the effect of each category by each method, with its interval; one panel per method, one series per model.

    Args:
        methods: estimates from `prasanga.report.agreement.side_by_side`, also as read from CSV.
        width: "column" (3.3 in) or "page" (6.8 in).

    Raises:
        InputError: a column is missing, or another width.
    """
    columns = ("method", "category", "model", "effect_size", "ci_low", "ci_high", "few_words")
    points = [
        _Point(METHODS[method], str(category), str(model), effect, low, high, bool(few))
        for method, category, model, effect, low, high, few in methods.select(columns).iter_rows()
    ]
    note = "Bars: 95 % interval over words, where every set has at least eight. Open markers: few words."
    categories = sorted({point.category for point in points}, key=natural_order)
    return _plot_rows(points, categories, dict.fromkeys(point.series for point in points), note, width)


def _plot_rows(
    points: Sequence[_Point], categories: Iterable[str], series: Iterable[str], note: str, width: Width
) -> Figure:
    """Plot points by category; series have a colour and a marker each, and a place in the row."""
    if not points:
        raise NothingToDrawError("there is no estimate with a number.")
    sizes, titles = SIZES[width], list(dict.fromkeys(point.panel for point in points))
    there = {point.category for point in points}
    shown = [name for name in categories if name in there]
    styles = {name: dots(number, sizes, 0.8) for number, name in enumerate(series)}
    figure, panels = lay_out(
        width,
        len(titles),
        across={"column": 2, "page": 4}[width],
        panel=0.2 + len(shown) * max(1, len(styles) / 4) * 1.9 * sizes["font"] / 72,
        heads=[(title,) for title in titles],
        labels=("effect size", "category"),
        keys=[handle(name, **style) for name, style in styles.items()],
        note=note,
    )
    for panel, title in zip(panels, titles, strict=False):
        of_panel = [point for point in points if point.panel == title]
        there = {point.series for point in of_panel}
        places = {name: n for n, name in enumerate(name for name in styles if name in there)}
        panel.axvline(0, color=MUTED, linewidth=0.8, zorder=1)
        panel.hlines([row - 0.5 for row in range(1, len(shown))], 0, 1, transform=panel.get_yaxis_transform(),
                     color=LINE, linewidth=0.4, zorder=0.5)  # fmt: skip
        for point in of_panel:
            y = shown.index(point.category) + ((places[point.series] + 0.5) / len(places) - 0.5) * 0.8
            style = styles[point.series]
            panel.plot([point.effect], [y], **{**style, **({"markerfacecolor": PAPER} if point.is_open else {})})
            if is_number(point.low) and is_number(point.high):
                bar = {"color": style["color"], "alpha": 0.35, "linewidth": style["markersize"] * 0.4}
                panel.hlines(y, point.low, point.high, **bar)
    few_ticks(panels[0].xaxis)
    panels[0].set_yticks(range(len(shown)), shown)
    panels[0].set_ylim(len(shown) - 0.5, -0.5)
    return figure
