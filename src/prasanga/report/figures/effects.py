"""The figures of effects: by context length and number of draws, by word, by method, against a paper.

Figure 1 of Sadhu et al. (2024) shows significant effects only; `plot_effect_by_length` does so if asked. In
`plot_convergence` and `plot_settling` the line is thick where the effect has settled: from there on it stays within the
band around the last one. In all figures a marker is filled if an association was found. `plot_scales` shows the effect
if the vectors' mean is removed or their dimensions are standardized (Timkey and van Schijndel 2021).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import polars as pl
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from prasanga.methods import PAIRS
from prasanga.pairs.preferences import OVERALL
from prasanga.report import grid as tables
from prasanga.report.comparison import comparison_rows
from prasanga.report.figures import LINE, MUTED, PAPER, canvas
from prasanga.report.figures.canvas import SIZES, WIDTHS, NothingToDrawError, Width, draw_points, handle, look
from prasanga.report.grid import METHODS, PUBLISHED_AS, grid_of, natural_order

FARTHEST = 2.0
"""Effect sizes are rarely larger: two target sets of one size are at most two standard deviations apart. Bars
are cut here, unless an effect is larger."""

MOST = 36
"""Words of a set that are drawn, at most, as the caption says: more do not fit on a sheet of paper."""

SCALES = {
    "effect_size": "vectors as they are",
    "effect_centered": "mean removed",
    "effect_standardized": "dimensions standardized",
}
"""The effects of `plot_scales`, by their columns."""

_NUMBERS = {"y": "effect_size", "low": "ci_low", "high": "ci_high"}


def _finite(**columns: str) -> dict[str, pl.Expr]:
    """Return columns of numbers under new names, null where they are NaN or infinite."""
    numbers = {new: pl.col(name).cast(pl.Float64) for new, name in columns.items()}
    return {new: pl.when(number.is_finite()).then(number) for new, number in numbers.items()}


def _place(name: str, names: Sequence[str]) -> pl.Expr:
    """Return the place of a column's value among names, null if it is not one of them."""
    return pl.col(name).replace_strict(names, range(len(names)), default=None, return_dtype=pl.Float64)


def _with_room(rows: pl.DataFrame, *others: float) -> tuple[float, float]:
    """Return the ends of an axis with all effects, zero, and intervals as far as `FARTHEST`."""
    ends = pl.concat([rows[name].clip(-FARTHEST, FARTHEST) for name in ("low", "high")])
    return canvas.widen([0.0, *others, *rows["y"].drop_nulls(), *ends.drop_nulls()], 0.05)


def _open_unless_found(rows: pl.DataFrame, ceat: pl.DataFrame) -> pl.DataFrame:
    """Return rows of CEAT with `is_open`: lengths are not tested, so a category and model share what was found."""
    place = ["category", "model"]
    found = tables.select_primary(ceat).filter("is_found").select(*place, is_open=pl.lit(value=False))
    return rows.join(found, on=place, how="left", maintain_order="left").with_columns(
        pl.col("is_open").fill_null(value=True)
    )


def _keys_of_found(width: Width) -> list[Any]:
    """Return the handles of the markers and the interval for the legend."""
    dot = {**look(0, SIZES[width]), "color": MUTED}
    bar = {**dot, "marker": "|", "markersize": SIZES[width]["font"], "markeredgewidth": SIZES[width]["line"] * 0.8}
    return [
        handle("association found", **dot),
        handle("not found", **dot, markerfacecolor=PAPER),
        handle("95% interval", **bar),
    ]


@canvas.drawn
def plot_effect_by_length(ceat: pl.DataFrame, *, alpha: float | None = None, width: Width = "page") -> Figure:
    """Plot effect size against segment length, one panel per category, with 95% intervals over words as bars.

    Args:
        ceat: the table of estimates.
        alpha: effects with a larger p_draws are left out; None to draw every effect.
        width: "column" (3.3 in) or "page" (6.8 in).
    """
    grid = grid_of(ceat)
    rows = ceat.with_columns(**_finite(**_NUMBERS), x=_place("segment_length", grid.lengths)).drop_nulls("x")
    if alpha is not None:
        rows = rows.with_columns(pl.when(pl.col("p_draws") <= alpha).then(pl.col(*_NUMBERS)))
    figure, panels = canvas.draw_categories(
        grid,
        width,
        _open_unless_found(rows, ceat),
        labels=("segment length (words)", "effect size (CEAT)"),
        keys=_keys_of_found(width),
    )
    panels[0].set_ylim(_with_room(rows))
    return figure


@canvas.drawn
def plot_convergence(ceat: pl.DataFrame, convergence: pl.DataFrame, *, band: float, width: Width = "page") -> Figure:
    """Plot the combined effect against the number of draws, with the band around the last one of each model.

    Effects are those at the longest segment length. Up to 100 draws are one point, and the figure says so.

    Args:
        ceat: the table of estimates, for categories and models.
        convergence: columns category, model, segment_length, n, effect_size.
        band: distance from the last effect that is small enough.
        width: "column" (3.3 in) or "page" (6.8 in).
    """
    grid = grid_of(ceat)
    length = grid.lengths[-1]
    shown = convergence.filter(segment_length=length).sort("n").with_columns(x="n", **_finite(y="effect_size"))
    steps = shown["n"].unique(maintain_order=True).to_list()
    if len(steps) == 1:
        raise NothingToDrawError(f"{steps[0]} draws are one point. Points begin at {tables.FIRST_DRAWS} draws.")
    last = pl.col("y").drop_nulls().last()
    is_beyond = ((pl.col("y") - last).abs() > band).fill_null(value=False)
    shown = shown.with_columns(
        last=last.over("category", "model"), is_settled=~is_beyond.cum_max(reverse=True).over("category", "model")
    )
    figure, panels = canvas.draw_categories(
        grid,
        width,
        _open_unless_found(shown, ceat),
        labels=("number of draws", f"effect size (CEAT, {length} words)"),
        keys=_band_keys(width, f"within ±{band:g} of all draws"),
        of_draws=True,
    )
    for panel, category in zip(panels, grid.categories, strict=False):
        ends = shown.filter(category=category.name).unique("model", maintain_order=True).drop_nulls("last")
        for model, end in ends.select("model", "last").iter_rows():
            color = look(grid.models.index(model), SIZES[width])["color"]
            panel.axhspan(end - band, end + band, color=color, alpha=0.13, linewidth=0, zorder=0.5)
    if steps:
        panels[0].set_xlim(steps[0] / 1.25, steps[-1] * 1.25)
    return figure


@canvas.drawn
def plot_settling(
    ceat: pl.DataFrame, differences: pl.DataFrame, settling: pl.DataFrame, *, band: float, width: Width = "page"
) -> Figure:
    """Plot the distance of the effect at each length to that at the longest, with paired 95% intervals and the band.

    Args:
        ceat: the table of estimates, for categories, models and lengths.
        differences: columns kind, category, model, first, second, difference, ci_low, ci_high.
        settling: columns category, model, band, longest, settled_length.
        band: distance from the effect at the longest length that is small enough.
        width: "column" (3.3 in) or "page" (6.8 in).
    """
    grid, place = grid_of(ceat), ["category", "model"]
    cells = settling.drop_nulls("longest").with_columns(settled=pl.coalesce("settled_length", "longest"))
    # shorter minus longest, where the table has longest minus shorter
    y, high, low = (-number for number in _finite(y="difference", high="ci_low", low="ci_high").values())
    distances = (
        differences.filter(kind="length")
        .join(cells, left_on=[*place, "second"], right_on=[*place, "longest"])
        .select(*place, "settled", length="first", y=y, low=low, high=high)
    )
    longest = cells.select(*place, "settled", length="longest", y=0.0)
    x = _place("length", grid.lengths)
    rows = pl.concat([distances, longest], how="diagonal").with_columns(
        x=x, is_settled=x >= _place("settled", grid.lengths)
    )
    figure, panels = canvas.draw_categories(
        grid,
        width,
        _open_unless_found(rows, ceat),
        labels=("segment length (words)", f"difference from {' or '.join(cells['longest'].unique())} words"),
        keys=_band_keys(width, f"within ±{band:g}"),
    )
    for panel in panels:
        panel.axhspan(-band, band, color=LINE, alpha=0.6, linewidth=0, zorder=0.5)
    panels[0].set_ylim(_with_room(rows, band, -band))
    return figure


def _band_keys(width: Width, band: str) -> list[Any]:
    """Return the handles of the band, of settled effects and of the markers for the legend."""
    thick = handle("stays there", color=MUTED, linewidth=canvas.THICK * SIZES[width]["line"])
    return [Patch(color=LINE, label=band), thick, *_keys_of_found(width)[:2]]


# --------------------
# Two numbers of each estimate against each other.


@canvas.drawn
def plot_sample_modes(ceat: pl.DataFrame, *, width: Width = "page") -> Figure:
    """Plot effect sizes by random against fixed draws, one panel per segment length.

    Args:
        ceat: the table of estimates.
        width: "column" (3.3 in) or "page" (6.8 in).
    """
    grid = grid_of(ceat)
    points = _open_unless_found(ceat, ceat).with_columns(**_finite(x="effect_size", y="effect_random"))
    points = points.drop_nulls(["x", "y"])
    parts = [(length, part) for length in grid.lengths if len(part := points.filter(segment_length=length))]
    if not parts:
        raise NothingToDrawError("no estimate has a number by fixed and by random draws.")
    return _plot_equality(
        [((f"{length} words",), part, 0.0) for length, part in parts],
        grid.models,
        width,
        labels=("effect size, fixed draws", "random draws"),
    )


@canvas.drawn
def plot_published(table: pl.DataFrame, *, width: Width = "page") -> Figure:
    """Plot measured against published numbers, with the intervals of the measured ones; one panel per method.

    Args:
        table: rows of `prasanga.report.comparison`, also as read from CSV. A row without a measured number, or of which
            the paper prints only a bound, is not drawn.
        width: "column" (3.3 in) or "page" (6.8 in).
    """
    rows = comparison_rows(table)
    by_type = rows.filter((pl.col("method") != PAIRS.name) | (pl.col("category") != OVERALL))
    # the row over all pairs repeats the bias types, and their agreement leaves it out as well
    rows = by_type if len(by_type) else rows
    points = rows.with_columns(**_finite(x="published", y="measured", low="ci_low", high="ci_high")).filter(
        pl.col("x").is_not_null() & pl.col("y").is_not_null() & (pl.col("bound").fill_null("") == "")
    )
    if points.is_empty():
        raise NothingToDrawError("no row of the comparison has a number of both.")
    return _plot_equality(
        [
            (_head_of_method(method, part), part, 50.0 if method == PAIRS.name else 0.0)
            for (method,), part in points.group_by("method", maintain_order=True)
        ],
        points["model"].unique(maintain_order=True),
        width,
        labels=("published", "measured"),
    )


def _head_of_method(method: Any, points: pl.DataFrame) -> tuple[str, str]:
    signs, is_pairs = points["same_sign"].drop_nulls(), method == PAIRS.name
    said = f"{'side' if is_pairs else 'sign'} agrees in {signs.sum()} of {len(signs)}"
    return "Sentence pairs" if is_pairs else PUBLISHED_AS[method], said


def _plot_equality(
    parts: Sequence[tuple[Sequence[str], pl.DataFrame, float]],
    models: Iterable[str],
    width: Width,
    *,
    labels: tuple[str, str],
) -> Figure:
    """Plot two numbers of each estimate, the line on which they are the same, and thin lines where there is no bias.

    `parts` are head, points (model, and the columns of `draw_points`) and the number without bias of each panel.
    """
    sizes, looks = SIZES[width], {model: look(number, SIZES[width], 0.9) for number, model in enumerate(models)}
    drawn = {model for _, points, _ in parts for model in points["model"]}
    across = canvas.panels_across(len(parts), canvas.COLUMNS[width])
    left = across * 4.6 * sizes["font"]  # each panel has ticks of its own
    figure, panels = canvas.lay_out(
        width,
        heads=[head for head, *_ in parts],
        across=across,
        panel=min(canvas.room_of(width, max(across, 2), left) / 72, sizes["panel"] * 1.5),
        left=left,
        labels=labels,
        keys=[handle(model, **style) for model, style in looks.items() if model in drawn],
        sharex=False,
        sharey=False,
    )
    for panel, (_, points, even) in zip(panels, parts, strict=False):
        limits = canvas.widen([even, *points["x"], *points["y"]], 0.08)
        for draw_line in (panel.axhline, panel.axvline):
            draw_line(even, color=LINE, linewidth=0.6, zorder=1)
        panel.plot(limits, limits, color=MUTED, linewidth=0.7, zorder=1.5)
        for model, style in looks.items():
            draw_points(panel, points.filter(model=model), style)
        panel.set(xlim=limits, ylim=limits)
        canvas.few_ticks(panel.xaxis, panel.yaxis)
    return figure


# --------------------
# Effects in rows: one per category or word.


@canvas.drawn
def plot_scales(ceat: pl.DataFrame, *, width: Width = "page") -> Figure:
    """Plot the effect of each category by vectors as they are, centered and standardized; one panel per model.

    Effects are those over the fixed lengths.

    Args:
        ceat: the table of estimates.
        width: "column" (3.3 in) or "page" (6.8 in).
    """
    shown = tables.select_primary(ceat).with_columns(**_finite(**dict(zip(SCALES, SCALES, strict=True))))
    kept = ("model", "category", "category_title")
    points = shown.unpivot(tuple(SCALES), index=kept, variable_name="series", value_name="x")
    rows = points.rename({"model": "panel"}).with_columns(pl.col("series").replace(SCALES))
    looks = {name: look(number, SIZES[width], 0.8) for number, name in enumerate(SCALES.values())}
    for style, marker in zip(looks.values(), ("|", "x", "+"), strict=True):  # no marker here is filled or open
        style |= {"marker": marker, "markersize": SIZES[width]["marker"] * 1.4, "markeredgewidth": SIZES[width]["line"]}
    return _plot_by_category(rows, looks, width)


@canvas.drawn
def plot_methods(methods: pl.DataFrame, *, width: Width = "page") -> Figure:
    """Plot the effect of each category by each method, with its interval; one panel per method, one series per model.

    Panels have the categories of their method, and are side by side if these are the same.

    Args:
        methods: estimates from `prasanga.report.comparison.side_by_side`, also as read from CSV.
        width: "column" (3.3 in) or "page" (6.8 in).
    """
    rows = methods.with_columns(
        **_finite(x="effect_size", low="ci_low", high="ci_high"),
        panel=pl.col("method").replace(METHODS),
        is_open=~pl.col("is_found"),
        series="model",
    )
    looks = {name: look(n, SIZES[width], 0.8) for n, name in enumerate(rows["series"].unique(maintain_order=True))}
    return _plot_by_category(rows, looks, width, _keys_of_found(width))


def _plot_by_category(
    rows: pl.DataFrame, looks: Mapping[str, dict[str, Any]], width: Width, keys: Sequence[Any] = ()
) -> Figure:
    """Plot effects by category, one panel for each `panel`; series have their look, and a place within the category.

    `rows` have panel, category, category_title, series, and the columns of `draw_points` without `y`.
    """
    rows = rows.drop_nulls("x")
    if rows.is_empty():
        raise NothingToDrawError("there is no estimate with a number.")
    font, wide, titles = (
        SIZES[width]["font"],
        WIDTHS[width] * 72,
        dict(rows.select("category", "category_title").rows()),
    )
    names = {name: f"{name} {title}" if title != name else name for name, title in titles.items()}
    beside = min(wide * 0.45, max(canvas.width_of(name, font) for name in names.values()))
    labels = {name: canvas.fold(text, font, beside) for name, text in names.items()}
    aside, parts = (_place("series", list(looks)) + 0.5) / len(looks) - 0.5, []
    for part in rows.partition_by("panel", maintain_order=True):
        listed = sorted(set(part["category"]), key=natural_order)
        points = part.with_columns(y=_place("category", listed) + 0.8 * aside)
        parts.append(((part["panel"][0],), ["\n".join(labels[name]) for name in listed], points))
    same = all(listed == parts[0][1] for _, listed, _ in parts)
    figure, _ = canvas.draw_rows(
        parts,
        looks,
        width,
        across=canvas.COLUMNS[width] if same else 1,
        height=max(1.2 * max(1, len(looks) / 4), 0.85 * max(map(len, labels.values()))),
        labels=("effect size", ""),
        left=beside + 2 * font,
        keys=keys,
    )
    return figure


@canvas.drawn
def plot_words(words: pl.DataFrame, categories: Mapping[str, Any], category: str, *, width: Width = "page") -> Figure:
    """Plot the associations of the target words of a category: one row per word, one color and marker per model.

    Words are sorted within their set, from those nearest to A down; above them is their mean. Of a set of more than
    `MOST` words those in the middle are left out.

    Args:
        words: columns category, model, segment_length, role (x, y, a or b), stimulus, association; every
            model has the color of its place in it.
        categories: what the lexicon stage writes: sets with their words by category, and English glosses.
        category: one of the categories.
        width: "column" (3.3 in) or "page" (6.8 in).
    """
    table = _standardize_words(words, category)
    if table.is_empty():
        raise NothingToDrawError("no target word has an association.")
    about, font, wide = categories[category], SIZES[width]["font"], WIDTHS[width] * 72
    models, mean = words["model"].unique(maintain_order=True), pl.col("value").mean()
    looks = {model: look(n, SIZES[width]) for n, model in enumerate(models) if model in table["model"]}
    a, b = (canvas.shortened(tables.title_of_set(each), font, wide * 0.28) for each in about["attributes"])
    across, most, glosses = *((2, wide * 0.28) if width == "page" else (1, wide * 0.45)), tables.glosses_of(categories)
    parts = []
    for role, word_set in zip("xy", about["targets"], strict=True):
        of_set = table.filter(role=role)
        by_mean = of_set.group_by("stimulus").agg(mean).sort("value", "stimulus", descending=[True, False])
        ranked = by_mean["stimulus"].to_list()
        kept = ranked if len(ranked) <= MOST else [*ranked[: MOST // 2], *ranked[-MOST // 2 :]]
        means = of_set.group_by("model").agg(mean).with_columns(y=pl.lit(0.0))
        of_words = of_set.with_columns(y=_place("stimulus", kept) + 1).drop_nulls("y")
        points = pl.concat([means, of_words], how="diagonal").select("y", series="model", x="value")
        names = [f"mean of {len(ranked)}", *(_label_word(word, glosses, font, most) for word in kept)]
        parts.append(((f"{category}: {tables.title_of_set(word_set)}",), names, points))
    beside = max(canvas.width_of(name, font) for _, names, _ in parts for name in names)
    labels = (f"← nearer to {b}      nearer to {a} →", "")
    figure, panels = canvas.draw_rows(
        parts, looks, width, across=across, labels=labels, left=(beside + 2 * font) * across
    )
    for panel in panels:
        panel.axhline(0.5, color=MUTED, linewidth=0.6, zorder=1)
    return figure


def _standardize_words(words: pl.DataFrame, category: str) -> pl.DataFrame:
    """Return the standardized associations of the target words of a category over the fixed lengths.

    Models whose words all have the same association are left out, as are associations that are not finite.

    Each word of a set has one row per model: the columns of `words`, and `value`, the standardized association.
    """
    targets = words.filter(pl.col("role").is_in(["x", "y"]), category=category, segment_length=tables.MEAN)
    word, value = ["model", "role", "stimulus"], pl.col("association")
    once = targets.filter(value.is_finite()).sort(*word, "association").unique(word, keep="first", maintain_order=True)
    spread = value.std(ddof=1).over("model").replace(0.0, None)
    return once.with_columns(value=(value - value.mean().over("model")) / spread).filter(pl.col("value").is_finite())


def _label_word(word: str, glosses: Mapping[str, str], font: float, room: float) -> str:
    """Return the label of a word, with its gloss in the room that the word leaves."""
    gloss = tables.gloss_of(word, glosses)[:200]
    label = canvas.shortened(word[:200], font, room * (0.55 if gloss else 1))
    left = room - canvas.width_of(f"{label} · ", font)
    return f"{label} · {canvas.shortened(gloss, font, left)}" if gloss else label
