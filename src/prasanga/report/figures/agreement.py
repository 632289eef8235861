"""Figures of what agrees: draws, a paper and a study, methods, kinds of vectors, choices.

`plot_sample_modes`: estimates by fixed and by random draws of contexts, one panel a segment length, one point a
category and model. `plot_published`: what a study measured against what a paper prints, one panel a method, each with a
scale of its own, one point a row of the comparison. Both have the line on which the two numbers are equal.
`plot_scales` shows whether an effect is one of the vectors as they are, or also of vectors whose mean is removed or
whose dimensions are standardized (Timkey and van Schijndel 2021). `plot_methods` has all methods side by side,
`plot_specifications` all estimates of a category in order, and below each the choices that made it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any, NamedTuple, TypeAlias

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
    draw_bars,
    drawn,
    few_ticks,
    handle,
    lay_out,
    left_of,
    room_of,
    widened,
)
from prasanga.report.figures.fonts import width_of
from prasanga.report.grid import METHODS, MODES, Estimate, Grid, grid_of, is_number, natural_order
from prasanga.report.published import PUBLISHED_AS
from prasanga.report.sheet import MINUS

_LENGTHS_ACROSS = {"column": 3, "page": 4}

_METHODS_ACROSS = {"column": (1, 2), "page": (1, 2, 3, 4, 3)}
"""Panels side by side, by how many there are; the last also for more."""

_Published: TypeAlias = dict[str, Any]
"""A row of a comparison that has a number of both."""

_GAP = 0.24
_EVEN = 50.0
"""No preference, of sentence pairs."""


class _Draws(NamedTuple):
    category: str
    model: str
    length: str
    fixed: float
    random: float

    @property
    def apart(self) -> float:
        return abs(self.random - self.fixed)


@drawn
def plot_sample_modes(ceat: pl.DataFrame, *, width: Width = "page") -> Figure:
    """Plot effect sizes by random against fixed draws.

    Each estimate is a point; a line shows where both are the same.

    Args:
        ceat: the table of estimates.
        width: "column" (3.3 in) or "page" (6.8 in).

    Raises:
        InputError: a table without estimates or with one of the modes alone, or another width.
    """
    grid = grid_of(ceat)
    absent = [mode for mode in MODES if mode not in grid.modes]
    if absent:
        raise InputError(
            f"the table of estimates has no {absent[0]} draws, so there is nothing to compare. Measure both: write"
            " `sample_modes: [fixed, random]` under associations."
        )
    points, unpaired = _by_both(grid)
    if not points:
        raise NothingToDrawError("no estimate has a number by fixed and by random draws.")
    lengths = {length: of_length for length in grid.lengths if (of_length := [p for p in points if p.length == length])}
    models = [model for model in grid.models if any(point.model == model for point in points)]
    sizes, across = SIZES[width], min(_LENGTHS_ACROSS[width], len(lengths))
    frame = lay_out(
        width,
        len(lengths),
        across=across,
        # square, but no larger than the figure of many lengths has them
        panel=min(room_of(width, across) / 72, sizes["panel"] * 1.2),
        heads=[(f"{length} words", _distances(of_length)) for length, of_length in lengths.items()],
        labels=("effect size, fixed draws", "random draws"),
        keys=[[handle(model, **dots(grid.models.index(model), sizes)) for model in models]],
        note=_note_on_draws(points, unpaired),
    )
    limits = widened([0.0, *(value for point in points for value in (point.fixed, point.random))], 0.06)
    for panel, of_length in zip(frame.panels, lengths.values(), strict=False):
        _draw_equality(panel, *limits, 0.0)
        for model in models:
            shown = [p for p in of_length if p.model == model]
            style = {**dots(grid.models.index(model), sizes, 0.9), "alpha": 0.75}
            panel.plot([p.fixed for p in shown], [p.random for p in shown], **style)
    frame.panels[0].set(xlim=limits, ylim=limits)
    few_ticks(frame.panels[0].xaxis, frame.panels[0].yaxis)
    return frame.finish()


@drawn
def plot_published(table: pl.DataFrame, *, width: Width = "page") -> Figure:
    """Plot measured against published numbers, with the intervals of the measured ones.

    Args:
        table: rows of `prasanga.report.comparison`, also as read from CSV. A row without a measured number, or of which
            the paper prints a bound only, is not drawn and counted in the note.
        width: "column" (3.3 in) or "page" (6.8 in).

    Raises:
        InputError: a column is missing, or another width.
    """
    rows = comparison_rows(table)
    of_types = rows.filter((pl.col("method") != PAIRS) | (pl.col("category") != OVERALL))
    # the row over all pairs repeats those of the bias types, and is left out of their agreement as well
    rows = of_types if len(of_types) else rows
    points = rows.filter(
        pl.col("measured").is_finite() & pl.col("published").is_finite() & (pl.col("bound").fill_null("") == "")
    ).to_dicts()
    if not points:
        why = "no row of the comparison has a number of both" if len(rows) else "the comparison has no rows"
        raise NothingToDrawError(f"{why}.")
    sizes, models = SIZES[width], list(dict.fromkeys(point["model"] for point in points))
    methods: dict[str, list[_Published]] = {}
    for point in points:
        methods.setdefault(point["method"], []).append(point)
    # all points are inside, intervals may leave the panel
    limits = {
        method: widened(
            [_even(method), *(point[end] for point in of_method for end in ("published", "measured"))], 0.08
        )
        for method, of_method in methods.items()
    }
    of_doubt = {**dots(0, sizes, mode=1), "color": MUTED}
    is_in_doubt = any(point["doubt"] is not None for point in points)
    doubtful = [handle("the published number is in doubt", **of_doubt)] if is_in_doubt else []
    across = _METHODS_ACROSS[width][min(len(methods), len(_METHODS_ACROSS[width])) - 1]
    frame = lay_out(
        width,
        len(methods),
        across=across,
        # square where there are several, and no larger than two of them side by side
        panel=min(room_of(width, each, gap=_GAP) for each in (across, 2)) / 72,
        heads=[_head(method, of_method) for method, of_method in methods.items()],
        labels=("published", "measured"),
        keys=[doubtful, [handle(model, **dots(number, sizes)) for number, model in enumerate(models)]],
        note=_note_on_rows(points, len(rows), limits),
        gap=_GAP,
        sharex=False,
        sharey=False,
    )
    for panel, (method, of_method) in zip(frame.panels, methods.items(), strict=False):
        _draw_equality(panel, *limits[method], _even(method))
        for number, model in enumerate(models):
            _draw_published(panel, [point for point in of_method if point["model"] == model], number, sizes)
        panel.set(xlim=limits[method], ylim=limits[method])
        few_ticks(panel.xaxis, panel.yaxis)
    return frame.finish()


def _draw_equality(panel: Any, low: float, high: float, middle: float) -> None:
    """Draw the line on which both numbers are the same, and thin ones where each is of no bias."""
    for line in (panel.axhline, panel.axvline):
        line(middle, color=LINE, linewidth=0.6, zorder=1)
    panel.plot([low, high], [low, high], color=MUTED, linewidth=0.7, zorder=1.5)


def _by_both(grid: Grid) -> tuple[list[_Draws], int]:
    """Return every estimate that has a number by both modes, and how many have one by one of them alone."""
    points, unpaired = [], 0
    for category, model, length in grid.places:
        found = [grid.at(category.name, model, length, mode) for mode in MODES]
        effects = [float(row["effect_size"]) for row in found if row and is_number(row["effect_size"])]
        if len(effects) == len(MODES):
            points.append(_Draws(category.name, model, length, *effects))
        else:
            unpaired += len(effects)
    return points, unpaired


def _distances(points: list[_Draws]) -> str:
    apart = [point.apart for point in points]
    space = "\N{NO-BREAK SPACE}"
    return f"median{space}{_distance(median(apart))}, max{space}{_distance(max(apart))}"


def _distance(value: float) -> str:
    return f"{value:.3f}" if value < 10 else f"{value:.3g}"


def _note_on_draws(points: list[_Draws], unpaired: int) -> str:
    apart = [point.apart for point in points]
    farthest = max(points, key=lambda point: point.apart)
    said = (
        f"Each point is a category; on the line both draws give the same. Distance of random from fixed draws over"
        f" {len(points)} estimate{'' if len(points) == 1 else 's'}: median {_distance(median(apart))}, at most"
        f" {_distance(farthest.apart)} ({farthest.category}, {farthest.model}, {farthest.length} words)."
    )
    if unpaired:
        said += f" Left out: {unpaired} with a number by one kind of draws alone."
    return said


def _draw_published(panel: Any, points: Sequence[_Published], model: int, sizes: dict[str, float]) -> None:
    for doubtful in (False, True):
        of_kind = [point for point in points if (point["doubt"] is not None) == doubtful]
        style = dots(model, sizes, 0.9, mode=int(doubtful))
        panel.plot([point["published"] for point in of_kind], [point["measured"] for point in of_kind], **style)
    bars = [(point["published"], point["ci_low"], point["ci_high"]) for point in points if _has_interval(point)]
    draw_bars(panel, bars, color=style["color"], linewidth=sizes["line"] * 0.6, alpha=0.35)


def _has_interval(point: _Published) -> bool:
    return is_number(point["ci_low"]) and is_number(point["ci_high"])


def _even(method: str) -> float:
    """Return the number of no bias."""
    return _EVEN if method == PAIRS else 0.0


def _head(method: str, points: Sequence[_Published]) -> tuple[str, str]:
    name = "Sentence pairs" if method == PAIRS else PUBLISHED_AS[method]
    signs = [point["same_sign"] for point in points if point["same_sign"] is not None]
    return name, f"{'side' if method == PAIRS else 'sign'} agrees in {sum(signs)} of {len(signs)}"


def _note_on_rows(points: Sequence[_Published], n_rows: int, limits: Mapping[str, tuple[float, float]]) -> str:
    said = "On the line both are equal."
    if barred := [point for point in points if _has_interval(point)]:
        said += " Bars: 95 % interval of what was measured"
        ends = [(point["ci_low"], point["ci_high"], *limits[point["method"]]) for point in barred]
        beyond = any(low < least or high > most for low, high, least, most in ends)
        said += "; some go on beyond the panel." if beyond else "."
    if missing := n_rows - len(points):
        said += f" Not drawn: {missing} of {n_rows} rows, without a number of both."
    return said


# --------------------
# The specification curve of a category: all its estimates in order, and below each the choices that made it.
#
# One panel a method. A filled marker has a star: p_association below .05 after Holm's correction within its
# specification (Simonsohn, Simmons and Nelson 2020).


_CURVE = 14
"""Height of the curve, in rows of choices."""


@drawn
def plot_specifications(multiverse: pl.DataFrame, *, category: str, width: Width = "page") -> Figure:
    """Plot all estimates of a category in ascending order, with their choices as marks below; one panel a method.

    Args:
        multiverse: the table of all specifications.
        category: its name.
        width: "column" (3.3 in) or "page" (6.8 in).

    Raises:
        InputError: a column is missing, or another width.
    """
    sizes = SIZES[width]
    rows = specifications(multiverse).filter(category=category).sort("effect_size")
    methods = [method for method in METHODS if method in rows["method"]]
    if not methods:
        raise NothingToDrawError(f"{category} has no estimate under any choices.")
    panels = [rows.filter(method=method).to_dicts() for method in methods]
    choices = [_choices(of_panel) for of_panel in panels]
    most = max(map(len, choices))
    widest = max((width_of(label, sizes["font"]) for of_panel in choices for label in of_panel), default=0.0)
    style = dots(0, sizes, 0.6)
    frame = lay_out(
        width,
        len(panels),
        across=1,
        panel=(_CURVE + most + 1) * sizes["font"] * 1.45 / 72,
        left=max(left_of(sizes, ""), (widest + sizes["font"]) / 72),  # names of choices are wider than numbers
        heads=[(f"{METHODS[m]}, {category}", _shares(of_panel)) for m, of_panel in zip(methods, panels, strict=True)],
        labels=("specifications, by effect size", ""),
        keys=[[handle("with a star", **style), handle("without", **{**style, "markerfacecolor": PAPER})]],
        note="Upper part: effect sizes in ascending order. Marks below: the choices behind each.",
        sharex=False,
        sharey=False,
    )
    for panel, of_panel, of_choices in zip(frame.panels, panels, choices, strict=True):
        _draw_panel(panel, of_panel, of_choices, most, style)
    return frame.finish()


def _choices(rows: Sequence[Estimate]) -> list[str]:
    """Return the choices that differ within a panel, as "name: value", in the order of `SPECIFIED`."""
    found = []
    for name in SPECIFIED:
        values = list(dict.fromkeys(str(row[name]) for row in rows if row[name] is not None))
        if len(values) > 1:
            found += [f"{name}: {value}" for value in sorted(values, key=natural_order)]
    return found


def _draw_panel(panel: Any, rows: Sequence[Estimate], choices: Sequence[str], most: int, style: dict[str, Any]) -> None:
    """Draw the curve as rows 0 to `_CURVE` - 1 of the axis, which points down, and below it a row for each choice."""
    effects = [0.0, *(row["effect_size"] for row in rows)]
    top, height = max(effects), (max(effects) - min(effects)) or 1.0

    def place(effect: float) -> float:
        return float((top - effect) / height * (_CURVE - 1))

    panel.axhline(place(0.0), color=MUTED, linewidth=0.8, zorder=1)
    panel.axhline(_CURVE, color=LINE, linewidth=0.6, zorder=0.5)
    for starred, face in ((True, style["markerfacecolor"]), (False, PAPER)):
        shown = [(n, place(row["effect_size"])) for n, row in enumerate(rows) if has_star(row) == starred]
        panel.plot([n for n, _ in shown], [y for _, y in shown], **{**style, "markerfacecolor": face})
    for number, label in enumerate(choices):
        name, _, value = label.partition(": ")
        marked = [n for n, row in enumerate(rows) if str(row[name]) == value]
        y = _CURVE + 1 + number
        panel.vlines(marked, y - 0.35, y + 0.35, color=style["color"], linewidth=0.5)
    panel.set_xlim(-0.02 * len(rows) - 0.5, 1.02 * len(rows) - 0.5)
    panel.set_ylim(_CURVE + most + 0.8, -0.8)
    places = {effect: place(effect) for effect in sorted({0.0, top, top - height})}
    kept = {effect: y for effect, y in places.items() if effect == 0 or abs(y - place(0.0)) > 1}
    labels = [f"{effect:.2f}".replace("-", MINUS) for effect in kept]
    panel.set_yticks([*kept.values(), *range(_CURVE + 1, _CURVE + 1 + len(choices))], [*labels, *choices])


def _shares(rows: Sequence[Estimate]) -> str:
    positive = sum(row["effect_size"] > 0 for row in rows)
    same: float = max(positive, len(rows) - positive)
    sign = 1 if 2 * positive >= len(rows) else -1
    stars: float = sum(has_star(row) and row["effect_size"] * sign > 0 for row in rows)
    same, stars = 100 * same / len(rows), 100 * stars / len(rows)
    return f"{len(rows)} specifications; sign holds in {same:.0f} %, star in {stars:.0f} %"


# --------------------


SCALES = {
    "effect_size": "vectors as they are",
    "effect_centered": "mean removed",
    "effect_standardized": "dimensions standardized",
}
"""The effects of `plot_scales`, by their columns."""

_ACROSS = {"column": 2, "page": 4}
_ROW = 1.9
"""Height of a row, in sizes of the letters."""


_BARS = "Bars: 95 % interval over words, where every set has at least eight. Open markers: few words."


class Point(NamedTuple):
    """An effect in a row, with its interval where there is one; open where it rests on few words."""

    category: str
    series: str
    effect: float
    low: float | None = None
    high: float | None = None
    is_open: bool = False


@drawn
def plot_scales(ceat: pl.DataFrame, *, width: Width = "page") -> Figure:
    """Plot the effect of each category by vectors as they are, centered and standardized; one panel a model.

    Effects are those at the longest segment length, of the first sample mode.

    Args:
        ceat: the table of estimates.
        width: "column" (3.3 in) or "page" (6.8 in).

    Raises:
        InputError: a table without estimates or without these columns, or another width.
    """
    grid = grid_of(ceat)
    length, mode = grid.lengths[-1], grid.modes[0]
    panels: dict[str, list[Point]] = {model: [] for model in grid.models}
    for (category, model, *place), row in grid.estimates.items():
        if place == [length, mode]:
            found = [Point(category, label, row[name]) for name, label in SCALES.items() if is_number(row[name])]
            panels[model] += found
    note = (
        f"CEAT at {length} words, {mode} draws. Where the markers of a category lie apart, the mean of all vectors or a"
        " few dimensions of large variance decide about cosines."
    )
    categories = [category.name for category in grid.categories]
    return _plot_rows(panels, categories, list(SCALES.values()), note, width)


@drawn
def plot_methods(methods: pl.DataFrame, *, width: Width = "page") -> Figure:
    """Plot the effect of each category by each method, with its interval; one panel a method, a series a model.

    Args:
        methods: estimates from `prasanga.report.agreement.side_by_side`, also as read from CSV.
        width: "column" (3.3 in) or "page" (6.8 in).

    Raises:
        InputError: a column is missing, or another width.
    """
    panels: dict[str, list[Point]] = {}
    for row in methods.iter_rows(named=True):
        ends = row["ci_low"], row["ci_high"]
        point = Point(str(row["category"]), str(row["model"]), row["effect_size"], *ends, bool(row["few_words"]))
        panels.setdefault(METHODS[row["method"]], []).append(point)
    points = [point for of_method in panels.values() for point in of_method]
    categories = sorted({point.category for point in points}, key=natural_order)
    return _plot_rows(panels, categories, list(dict.fromkeys(point.series for point in points)), _BARS, width)


def _plot_rows(
    panels: Mapping[str, Sequence[Point]], categories: Sequence[str], series: Sequence[str], note: str, width: Width
) -> Figure:
    """Plot points by category, one panel a title; series have a colour and a marker each, and a place in the row."""
    sizes = SIZES[width]
    panels = {title: points for title, points in panels.items() if points}
    if not panels:
        raise NothingToDrawError("there is no estimate with a number.")
    there = {point.category for points in panels.values() for point in points}
    shown = [name for name in categories if name in there]
    height = max(1, len(series) / 4) * _ROW * sizes["font"] / 72
    styles = {name: dots(number, sizes, 0.8) for number, name in enumerate(series)}
    frame = lay_out(
        width,
        len(panels),
        across=min(_ACROSS[width], len(panels)),
        panel=0.2 + len(shown) * height,
        heads=[(title, "") for title in panels],
        labels=("effect size", "category"),
        keys=[[handle(name, **style) for name, style in styles.items()]],
        note=note,
    )
    for panel, points in zip(frame.panels, panels.values(), strict=False):
        panel.axvline(0, color=MUTED, linewidth=0.8, zorder=1)
        for row in range(1, len(shown)):
            panel.axhline(row - 0.5, color=LINE, linewidth=0.4, zorder=0.5)
        of_panel = [name for name in series if any(point.series == name for point in points)]
        for point in points:
            y = shown.index(point.category) + ((of_panel.index(point.series) + 0.5) / len(of_panel) - 0.5) * 0.8
            style = styles[point.series]
            panel.plot([point.effect], [y], **{**style, **({"markerfacecolor": PAPER} if point.is_open else {})})
            if is_number(point.low) and is_number(point.high):
                bar = {"color": style["color"], "alpha": 0.35, "linewidth": style["markersize"] * 0.4}
                panel.hlines(y, point.low, point.high, **bar)
    first = frame.panels[0]
    few_ticks(first.xaxis)
    frame.finish()
    first.set_yticks(range(len(shown)), shown)
    first.set_ylim(len(shown) - 0.5, -0.5)
    return frame.figure
