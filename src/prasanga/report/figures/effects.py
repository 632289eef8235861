"""The figures of effects: against context length, as distance to the longest length, and against the number of draws.

The first is after Figure 1 of Sadhu et al. (2024); other than the paper's it shows every estimate, whatever its p, with
its interval over words and contexts. The next two show how much data is enough: a marker is filled where the effect has
settled, so that here and everywhere to the right it lies within the band around the last one. The figure of words shows
which of them carry the effect of a category; its numbers are those of `prasanga.report.grid`.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.patches import Patch

from prasanga.base.errors import InputError
from prasanga.report.figures import LINE, MUTED, PAPER
from prasanga.report.figures.canvas import (
    SIZES,
    WIDTHS,
    NothingToDrawError,
    Width,
    can_show,
    close_panel,
    dots,
    drawn,
    few_ticks,
    handle,
    lay_out,
    lay_out_categories,
    look,
    say_what_is_missing,
    shortened,
    widen,
)
from prasanga.report.grid import (
    FIRST_DRAWS,
    Estimate,
    MeasuredSet,
    few_words,
    gloss_of,
    glosses_of,
    grid_of,
    is_number,
    measured_sets,
    measured_words,
    title_of_set,
)

FARTHEST = 2.0
"""An effect size hardly gets beyond this: two target sets of one size lie two standard deviations apart at most. Bars
are cut here, unless an effect lies beyond; intervals of the bootstrap-t may be of any width."""

MOST: dict[Width, int] = {"column": 34, "page": 60}
"""Words of a set that are drawn, at most: more do not fit on a sheet of paper. By width."""

_PALE = 0.3


@drawn
def plot_effect_by_length(ceat: pl.DataFrame, *, width: Width = "page") -> Figure:
    """Plot effect size against segment length, one panel per category, with 95% intervals over words as pale bars.

    Every estimate is drawn; bars are those of the first sample mode (fixed, where there is such a mode), as those
    of the other modes are about the same words and would hide the lines.

    Args:
        ceat: the table of estimates.
        width: "column" (3.3 in) or "page" (6.8 in).

    Raises:
        InputError: a table without estimates, or a width that is not one of these.
    """
    grid, sizes = grid_of(ceat), SIZES[width]
    first = [row for (*_, mode), row in grid.estimates.items() if mode == grid.modes[0]]
    intervals = [_interval(row) for row in first if is_number(_interval(row)[0])]
    effects = [0.0, *filter(math.isfinite, map(_effect, grid.estimates.values()))]
    lowest, highest = (max(-FARTHEST, min(FARTHEST, end)) for end in _ends(intervals))
    bottom, top = widen([*effects, lowest, highest], 0.05)
    few = any(map(few_words, grid.estimates.values()))
    note = _note_on_intervals(grid.modes, intervals, bottom, top, sum(math.isfinite(_effect(row)) for row in first))
    modes = [
        handle(f"{mode} draws", **{**look(0, n, sizes), **_GREY, "markerfacecolor": PAPER if n else MUTED})
        for n, mode in enumerate(grid.modes)
    ]
    bar = [Patch(facecolor=MUTED, alpha=_PALE, linewidth=0, label="95 % interval")] if intervals else []
    figure, panels = lay_out_categories(
        grid,
        width,
        labels=("segment length (words)", "effect size (CEAT)"),
        keys=[*modes, *bar],
        note=f"{note} Crosses rest on few words." if few else note,
        ticks=grid.lengths,
        places=range(len(grid.lengths)),
    )
    between, x = min(0.16, 0.68 / len(grid.models)), np.arange(len(grid.lengths))
    for panel, category in zip(panels, grid.categories, strict=False):
        for (number, model), (mode_number, mode) in itertools.product(enumerate(grid.models), enumerate(grid.modes)):
            # at a length models are apart, modes of a model close to each other
            places = x + (number - (len(grid.models) - 1) / 2) * between + mode_number * between / 2
            style = look(number, mode_number, sizes)
            cells = [grid.at(category.name, model, length, mode) for length in grid.lengths]
            if mode_number == 0:
                low, high = np.array([_interval(cell) for cell in cells]).T
                panel.vlines(places, low, high, color=style["color"], linewidth=style["linewidth"] * 2.2, alpha=_PALE)
            # NaN where there is no estimate: a line must not run over a gap
            is_few = np.array([bool(few_words(cell)) for cell in cells])
            found = np.array([_effect(cell) for cell in cells])
            panel.plot(places, np.where(is_few, np.nan, found), **style)
            if np.isfinite(found[is_few]).any():
                panel.plot(places, np.where(is_few, found, np.nan), **{**style, "linestyle": "none", "marker": "x"})
        close_panel(panel)
    panels[0].set(xlim=(-0.45, len(grid.lengths) - 0.55), ylim=(bottom, top))
    return figure


@drawn
def plot_convergence(ceat: pl.DataFrame, convergence: pl.DataFrame, *, band: float, width: Width = "page") -> Figure:
    """Plot the combined effect against the number of draws, with the band around the last one of each model.

    Effects are those at the longest segment length, of the first sample mode (fixed, where there is such a mode).

    With up to 100 draws there is one point, the last, and the figure is a sentence that says so.

    Args:
        ceat: the table of estimates, for categories and models.
        convergence: columns category, model, segment_length, sample_mode, n, effect_size.
        band: distance from the last effect that is small enough.
        width: "column" (3.3 in) or "page" (6.8 in).

    Raises:
        InputError: tables that lack columns or rows, another width.
    """
    grid = grid_of(ceat)
    length, mode = grid.lengths[-1], grid.modes[0]
    shown = convergence.filter(segment_length=length, sample_mode=mode).sort("n")
    steps = sorted(set(shown["n"].to_list()))
    if len(steps) == 1:
        raise NothingToDrawError(
            f"with {steps[0]} draws (associations.n_samples) there is one point. Points begin at {FIRST_DRAWS} draws."
        )
    # a label that the next would cover is left out
    labelled = [n for n, after in itertools.pairwise([*steps, math.inf]) if after > 1.2 * n]
    figure, panels = lay_out_categories(
        grid,
        width,
        labels=("number of draws", "effect size (CEAT)"),
        keys=_band_keys(width, f"within {band:g} of the effect of all draws"),
        note=f"Draws in the order drawn; {length} words, {mode} draws. More draws add neither contexts nor words.",
        ticks=[f"{n // 1000}k" if n % 1000 == 0 else f"{n}" for n in labelled],
        places=labelled,
        scale="log",
    )
    for panel, category in zip(panels, grid.categories, strict=False):
        for number, model in enumerate(grid.models):
            points = shown.filter(pl.col("effect_size").is_finite(), category=category.name, model=model)
            if len(points):
                effects, style = points["effect_size"].to_numpy(), look(number, 0, SIZES[width])
                low, high = effects[-1] - band, effects[-1] + band
                panel.axhspan(low, high, color=style["color"], alpha=0.13, linewidth=0, zorder=0.5)
                (beyond,) = np.nonzero(abs(effects - effects[-1]) > band)
                _draw_settled(panel, points["n"].to_numpy(), effects, int(max(beyond + 1, default=0)), style)
        close_panel(panel)
    if steps:
        panels[0].set_xlim(steps[0] / 1.25, steps[-1] * 1.25)
    return figure


@drawn
def plot_settling(
    ceat: pl.DataFrame, differences: pl.DataFrame, settling: pl.DataFrame, *, band: float, width: Width = "page"
) -> Figure:
    """Plot the distance of the effect at each length to that at the longest.

    It comes with its paired 95% interval, and the band; of the first sample mode (fixed, where there is such a mode).

    Args:
        ceat: the table of estimates, for categories, models and lengths.
        differences: columns kind, category, model, sample_mode, first, second, difference, ci_low, ci_high.
        settling: columns category, model, sample_mode, band, longest, settled_length.
        band: distance from the effect at the longest length that is small enough.
        width: "column" (3.3 in) or "page" (6.8 in).

    Raises:
        InputError: tables that lack columns or rows, rows of another band, another width.
    """
    grid, sizes = grid_of(ceat), SIZES[width]
    mode, n_models = grid.modes[0], len(grid.models)
    names = ("difference", "ci_low", "ci_high")
    between = {
        tuple(key): [float(end) if is_number(end) else math.nan for end in ends]
        for *key, ends in differences.filter(kind="length", sample_mode=mode)
        .select("category", "model", "first", "second", pl.concat_list(names))
        .iter_rows()
    }
    cells = {(row["category"], row["model"]): row for row in settling.filter(sample_mode=mode).iter_rows(named=True)}
    if others := {row["band"] for row in cells.values()} - {band}:
        raise InputError(f"band: {band}, but the table of settling has {sorted(others)}. Make it again with this band.")
    figure, panels = lay_out_categories(
        grid,
        width,
        labels=("segment length (words)", "distance to the longest"),
        keys=_band_keys(width, f"within {band:g} of the effect at the longest"),
        note=f"Bars: 95 % interval of the paired difference, over words and contexts; {mode} draws.",
        ticks=grid.lengths,
        places=range(len(grid.lengths)),
    )
    shown = [0.0, band, -band]
    for panel, category in zip(panels, grid.categories, strict=False):
        panel.axhspan(-band, band, color=LINE, alpha=0.6, linewidth=0, zorder=0.5)
        for number, model in enumerate(grid.models):
            cell = cells.get((category.name, model))
            if cell is None or cell["longest"] is None:
                continue
            # markers and bars of equal estimates do not hide each other
            style, step = look(number, 0, sizes), (number - (n_models - 1) / 2) * min(0.09, 0.6 / n_models)
            places = np.arange(len(grid.lengths)) + step
            # shorter minus longest, where the table has longest minus shorter; NaN leaves a gap
            missing = {cell["longest"]: [0.0, math.nan, math.nan]}
            found = [
                between.get((category.name, model, length, cell["longest"]), missing.get(length, [math.nan] * 3))
                for length in grid.lengths
            ]
            distances, high, low = 0 - np.array(found).T
            panel.vlines(places, low, high, color=style["color"], linewidth=style["linewidth"] * 0.8)
            ends = np.clip([low, high], -FARTHEST, FARTHEST)[:, np.isfinite(distances)]
            shown += [float(end) for end in (*distances, *ends.flat) if math.isfinite(end)]
            settled = grid.lengths.index(cell["settled_length"] or cell["longest"])
            _draw_settled(panel, places, distances, settled, style)
        close_panel(panel)
    panels[0].set(xlim=(-0.45, len(grid.lengths) - 0.55), ylim=widen(shown, 0.05))
    return figure


def _note_on_intervals(
    modes: Sequence[str], intervals: Sequence[tuple[float, float]], bottom: float, top: float, n_effects: int
) -> str:
    if not intervals:
        return "No intervals: they are given where every resampled set has at least eight words."
    which = f", {modes[0]} draws" if len(modes) > 1 else ""
    none = "; none where a set has fewer than eight words" if len(intervals) < n_effects else ""
    is_cut = any(low < bottom or high > top for low, high in intervals)
    cut = " Bars are cut where they leave the frame." if is_cut else ""
    return f"Pale bars: 95 % interval over words and contexts{which}{none}.{cut}"


def _effect(row: Estimate | None) -> float:
    """Return the effect size of an estimate, NaN if it has none."""
    return float(row["effect_size"]) if row is not None and is_number(row["effect_size"]) else math.nan


def _interval(row: Estimate | None) -> tuple[float, float]:
    """Return both ends of the interval of an estimate, NaN if it has none."""
    if row is None or not all(is_number(row.get(name)) for name in ("effect_size", "ci_low", "ci_high")):
        return math.nan, math.nan
    return float(row["ci_low"]), float(row["ci_high"])


def _ends(intervals: Iterable[tuple[float, float]]) -> tuple[float, float]:
    """Return the lowest and the highest end, zero without any interval."""
    ends = [end for interval in intervals for end in interval]
    return min(ends, default=0.0), max(ends, default=0.0)


def _draw_settled(panel: Any, x: Any, y: Any, settled: int, style: dict[str, Any]) -> None:
    """Draw a line with open markers before the place where it settled, and filled ones from there on."""
    panel.plot(x, y, **{**style, "marker": "", "zorder": 2.5})
    markers = {**style, "linestyle": "none"}
    panel.plot(x[:settled], y[:settled], **{**markers, "markerfacecolor": PAPER})
    panel.plot(x[settled:], y[settled:], **markers)


_GREY: dict[str, Any] = {"color": MUTED, "marker": "o"}


def _band_keys(width: Width, band: str) -> list[Any]:
    """Return the handles of the band and of the markers for the legend."""
    dot = {**dots(0, SIZES[width]), **_GREY, "markerfacecolor": MUTED}
    not_yet = handle("not yet", **{**dot, "markerfacecolor": PAPER})
    return [Patch(color=LINE, label=band), handle("stays there", **dot), not_yet]


@drawn
def plot_words(words: pl.DataFrame, categories: Mapping[str, Any], category: str, *, width: Width = "page") -> Figure:
    """Plot the associations of the target words of a category: one row per word, one colour and marker per model.

    Words are sorted within their set, from those nearest to A down; above them is their mean. Of a set of more than
    `MOST` words those in the middle are left out, and a note says so. A word in letters that no font has is shown by
    its gloss.

    Args:
        words: columns category, model, segment_length, sample_mode, role (x, y, a or b), stimulus, association; every
            model has the colour of its place in it.
        categories: what the lexicon stage writes: sets with their words by category, and English glosses.
        category: one of the categories.
        width: "column" (3.3 in) or "page" (6.8 in).

    Raises:
        InputError: a column is missing, or the category or width is not known.
    """
    names = [name for name in categories if name != "glosses"]
    if category not in names:
        raise InputError(f"category: {category!r} is not in the lexicon. Write {' or '.join(names)}.")
    length, mode, table = measured = measured_words(words, category)
    if table.is_empty():
        raise NothingToDrawError("no target word has an association.")
    about, sizes = categories[category], SIZES[width]
    font, wide = sizes["font"], WIDTHS[width] * 72
    sets = measured_sets(measured, about["targets"])
    kept = [_keep_ends(found.words, MOST[width]) for found in sets]
    rows = [max(map(len, kept))] * 2 if width == "page" else list(map(len, kept))
    there = set(table["model"])
    looks = {
        model: {**dots(n, sizes), "alpha": 0.9}
        for n, model in enumerate(words["model"].unique(maintain_order=True))
        if model in there
    }
    a, b = (shortened(title_of_set(word_set), font, wide * 0.28) for word_set in about["attributes"])
    direction = f"← nearer to {b}      nearer to {a} →"
    beside = wide * (0.19 if width == "page" else 0.38)
    across = 2 if width == "page" else 1  # side by side on a page, below each other in a column
    figure, panels = lay_out(
        width,
        2,
        across=across,
        panel=(sum(rows) / 2 + 1) * font * 1.4 / 72,
        left=(beside + 2 * font) * across,
        labels=(direction, ""),
        keys=[handle(model, **style) for model, style in looks.items()],
        note=_note_on_words(sets, kept, f"Contexts of {length} words, {mode} draws.", table["stimulus"]),
        heads=[(found.title,) for found in sets],
        sharey=False,
        height_ratios=None if width == "page" else [n + 1 for n in rows],
    )
    title = [
        shortened(text, font, wide * 0.95, bold=True) for text in (category, str(about.get("title") or "")) if text
    ]
    figure.legends[0].set_title("\n".join(title), prop=FontProperties(weight="bold", size=font))
    for panel, found, shown, n_rows in zip(panels, sets, kept, rows, strict=True):
        points = [found.means, *(word.values for word in shown)]
        spans = [(y, min(row.values()), max(row.values())) for y, row in enumerate(points) if row]
        panel.hlines(*np.reshape(spans, (-1, 3)).T, color=MUTED, linewidth=0.6, alpha=0.6, zorder=1)
        for model, style in looks.items():
            places = [(row[model], y) for y, row in enumerate(points) if model in row]
            panel.plot(*np.reshape(places, (-1, 2)).T, **style)
        labels = _label_words(found, shown, glosses_of(categories), font, beside)
        panel.set_yticks(range(len(labels)), labels)
        panel.axvline(0, color=MUTED, linewidth=0.8, zorder=1)
        panel.axhline(0.5, color=MUTED, linewidth=0.6, zorder=1)
        panel.set_ylim(n_rows + 0.5, -0.5)
        panel.grid(axis="y")
    few_ticks(panels[0].xaxis, most=5)
    if width == "column":  # it may be wider than the panel, beside which the words are
        panels[-1].set_xlabel(direction, loc="right")
    return figure


def _keep_ends(words: list[Any], most: int) -> list[Any]:
    return words if len(words) <= most else [*words[: most // 2], *words[-(most // 2) :]]


def _label_words(
    found: MeasuredSet, shown: Sequence[Any], glosses: Mapping[str, str], font: float, room: float
) -> list[str]:
    """Return the labels of the rows of a set: that of its mean, and each word with its gloss."""
    labels = [f"mean of {len(found.words)}"]
    for place, word in enumerate(shown, start=1):
        text, gloss = word.stimulus[:200], gloss_of(word.stimulus, glosses)[:200]
        if not can_show(text):
            text, gloss = gloss if gloss and can_show(gloss) else f"word {place}", ""
        label = shortened(text, font, room * (0.55 if gloss else 1))
        labels.append(f"{label} · {shortened(gloss, font, room * 0.45)}" if gloss else label)
    return labels


def _note_on_words(sets: Sequence[MeasuredSet], kept: Sequence[Any], which: str, stimuli: Iterable[str]) -> str:
    said = ["Standardized for each model over both sets: 0 is their mean, 1 their standard deviation."]
    measured, listed = (sum(len(getattr(found, name)) for found in sets) for name in ("words", "listed"))
    if listed > measured:
        said.append(f"Without an association: {listed - measured} of {listed} words.")
    if hidden := measured - sum(map(len, kept)):
        said.append(f"Left out for want of room: {hidden} in the middle of their set.")
    return " ".join(filter(None, [*said, which, say_what_is_missing(stimuli)]))
