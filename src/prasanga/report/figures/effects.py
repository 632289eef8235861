"""The figures of effects: against context length, as distance to the longest length, and against the number of draws.

The first is after Figure 1 of Sadhu et al. (2024); other than the paper's it shows every estimate, whatever its p, with
its interval over words and contexts. The others tell how much data is enough: a filled marker stands where the effect
has settled, so that here and everywhere to the right it lies within the band around the last one. Each has one panel a
category and one line a model.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import polars as pl
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator, NullLocator

from prasanga.base.errors import InputError
from prasanga.report.figures import LINE, MUTED, PAPER
from prasanga.report.figures.canvas import (
    SIZES,
    WIDTHS,
    NothingToDrawError,
    Width,
    close_panel,
    dots,
    draw_bars,
    drawn,
    handle,
    lay_out,
    lay_out_categories,
    left_of,
    look,
    widened,
)
from prasanga.report.figures.fonts import can_show, say_what_is_missing, shortened, width_of, wrapped
from prasanga.report.grid import FIRST_DRAWS, Category, Estimate, Grid, few_words, grid_of, is_number
from prasanga.report.words import MeasuredSet, gloss_of, glosses_of, measured_sets, measured_words, title_of_set

FARTHEST = 2.0
"""An effect size hardly gets beyond this: two target sets of one size lie two standard deviations apart at most. Bars
are cut here, unless an effect lies beyond; intervals of the bootstrap-t may be of any width."""

_BAR: dict[str, Any] = {"alpha": 0.3}
"""Intervals are pale and wide, effects strong and thin: bars of several models do not hide the lines."""

_CELL = ("category", "model", "sample_mode")


@drawn
def plot_effect_by_length(ceat: pl.DataFrame, *, width: Width = "page") -> Figure:
    """Plot effect size against segment length, one panel a category, with 95 % intervals over words as pale bars.

    Every estimate is drawn; bars are those of the first sample mode (fixed, where there is such a mode), as those
    of the other modes are about the same words and would hide the lines.

    Args:
        ceat: the table of estimates.
        width: "column" (3.3 in) or "page" (6.8 in).

    Raises:
        InputError: a table without estimates, or a width that is not one of these.
    """
    grid = grid_of(ceat)
    bottom, top = _limits_of_effects(grid)
    frame, ticks = lay_out_categories(
        grid,
        width,
        labels=("segment length (words)", "effect size (CEAT)"),
        keys=[_keys_of_modes(grid, SIZES[width])],
        note=_note_on_intervals(grid, bottom, top),
        ticks=grid.lengths,
        places=_places(grid),
    )
    for panel, category in zip(frame.panels, grid.categories, strict=False):
        _draw_effects(panel, grid, category, frame.sizes)
        close_panel(panel)
    _set_lengths(frame.panels[0], grid, ticks)
    frame.panels[0].set_ylim(bottom, top)
    return frame.finish(grid=True)


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
    low, high = (steps[0] / 1.25, steps[-1] * 1.25) if steps else (1.0, 10.0)
    frame, ticks = lay_out_categories(
        grid,
        width,
        labels=("number of draws", "effect size (CEAT)"),
        keys=_band_keys(width, f"within {band:g} of the effect of all draws"),
        note=f"Draws in the order drawn; {length} words, {mode} draws. More draws add neither contexts nor words.",
        ticks=[f"{n // 1000}k" if n >= 1000 and n % 1000 == 0 else f"{n}" for n in steps],
        places=[math.log(n / low) / math.log(high / low) for n in steps],
    )
    for panel, category in zip(frame.panels, grid.categories, strict=False):
        for number, model in enumerate(grid.models):
            points = shown.filter(pl.col("effect_size").is_finite(), category=category.name, model=model)
            if len(points):
                effects, style = points["effect_size"].to_list(), look(number, 0, frame.sizes)
                last = effects[-1]
                panel.axhspan(last - band, last + band, color=style["color"], alpha=0.13, linewidth=0, zorder=0.5)
                beyond = [place for place, effect in enumerate(effects, start=1) if abs(effect - last) > band]
                _line(panel, points["n"].to_list(), effects, max(beyond, default=0), style)
        close_panel(panel)
    if not steps:
        return frame.finish()
    frame.panels[0].set_xscale("log")  # the panels share their axis
    frame.panels[0].set_xticks(steps, ticks)
    frame.panels[0].xaxis.set_minor_locator(NullLocator())
    frame.panels[0].set_xlim(low, high)
    return frame.finish(grid=True)


@drawn
def plot_settling(
    ceat: pl.DataFrame, differences: pl.DataFrame, settling: pl.DataFrame, *, band: float, width: Width = "page"
) -> Figure:
    """Plot the distance of the effect at each length to that at the longest.

    It comes with its paired 95 % interval, and the band; of the first sample mode (fixed, where there is such a mode).

    Args:
        ceat: the table of estimates, for categories, models and lengths.
        differences: columns kind, category, model, sample_mode, first, second, difference, ci_low, ci_high.
        settling: columns category, model, sample_mode, band, longest, settled_length.
        band: distance from the effect at the longest length that is small enough.
        width: "column" (3.3 in) or "page" (6.8 in).

    Raises:
        InputError: tables that lack columns or rows, rows of another band, another width.
    """
    grid = grid_of(ceat)
    mode = grid.modes[0]
    between = {
        (row["category"], row["model"], row["first"], row["second"]): row
        for row in differences.filter(kind="length", sample_mode=mode).iter_rows(named=True)
    }
    cells = {(row["category"], row["model"]): row for row in settling.filter(sample_mode=mode).iter_rows(named=True)}
    others = {row["band"] for row in cells.values()} - {band}
    if others:
        raise InputError(f"band: {band}, but the table of settling has {sorted(others)}. Make it again with this band.")
    frame, ticks = lay_out_categories(
        grid,
        width,
        labels=("segment length (words)", "distance to the longest"),
        keys=_band_keys(width, f"within {band:g} of the effect at the longest"),
        note=f"Bars: 95 % interval of the paired difference, over words and contexts; {mode} draws.",
        ticks=grid.lengths,
        places=_places(grid),
    )
    shown, n_models = [0.0, band, -band], len(grid.models)
    for panel, category in zip(frame.panels, grid.categories, strict=False):
        panel.axhspan(-band, band, color=LINE, alpha=0.6, linewidth=0, zorder=0.5)
        for number, model in enumerate(grid.models):
            cell = cells.get((category.name, model))
            if cell is None or cell["longest"] is None:
                continue
            # markers and bars of equal estimates do not hide each other
            style, step = look(number, 0, frame.sizes), (number - (n_models - 1) / 2) * min(0.09, 0.6 / n_models)
            places = [x + step for x in range(len(grid.lengths))]
            distances, bars = [], []
            for x, length in zip(places, grid.lengths, strict=True):
                row = between.get((category.name, model, length, cell["longest"]))
                if row is None or not is_number(row["difference"]):  # NaN leaves a gap
                    distances.append(0.0 if length == cell["longest"] else math.nan)
                    continue
                # shorter minus longest, where the table has longest minus shorter
                distances.append(-row["difference"])
                if is_number(row["ci_low"]) and is_number(row["ci_high"]):
                    bars.append((x, -row["ci_high"], -row["ci_low"]))
            draw_bars(panel, bars, color=style["color"], linewidth=style["linewidth"] * 0.8)
            shown += filter(is_number, distances)
            shown += [max(-FARTHEST, min(FARTHEST, end)) for _, *ends in bars for end in ends]
            settled = cell["settled_length"] or cell["longest"]
            _line(panel, places, distances, grid.lengths.index(settled), style)
        close_panel(panel)
    _set_lengths(frame.panels[0], grid, ticks)
    frame.panels[0].set_ylim(widened(shown, 0.05))
    return frame.finish(grid=True)


def _places(grid: Grid) -> list[float]:
    """Return where the lengths stand, as shares of a panel's width."""
    return [(x + 0.45) / (len(grid.lengths) - 0.1) for x in range(len(grid.lengths))]


def _set_lengths(panel: Any, grid: Grid, ticks: Sequence[str]) -> None:
    """Set the horizontal axis, which all panels share."""
    panel.set_xticks(range(len(grid.lengths)), ticks)
    panel.set_xlim(-0.45, len(grid.lengths) - 0.55)


def _draw_effects(panel: Any, grid: Grid, category: Category, sizes: dict[str, float]) -> None:
    """Draw the lines of a category. At a length models stand apart, modes of a model close to each other."""
    between = min(0.16, 0.68 / len(grid.models))
    for number, model in enumerate(grid.models):
        for mode_number, mode in enumerate(grid.modes):
            style = look(number, mode_number, sizes)
            step = (number - (len(grid.models) - 1) / 2) * between + mode_number * between / 2
            cells = [grid.at(category.name, model, length, mode) for length in grid.lengths]
            # NaN where there is no estimate: a line must not run over a gap.
            effects = [math.nan if few_words(cell) else _effect(cell) for cell in cells]
            few = [_effect(cell) if few_words(cell) else math.nan for cell in cells]
            if mode_number == 0:
                bars = [(x + step, *interval) for x, cell in enumerate(cells) if (interval := _interval(cell))]
                draw_bars(panel, bars, color=style["color"], linewidth=style["linewidth"] * 2.2, **_BAR)
            x = [place + step for place in range(len(cells))]
            panel.plot(x, effects, **style)
            if any(map(math.isfinite, few)):
                panel.plot(x, few, **{**style, "linestyle": "none", "marker": "x"})


def _limits_of_effects(grid: Grid) -> tuple[float, float]:
    """Return the ends of the vertical axis: all effects, zero, and the intervals as far as `FARTHEST`."""
    effects = [0.0, *filter(math.isfinite, map(_effect, grid.estimates.values()))]
    ends = [end for row in _first_mode(grid) for end in _interval(row) or ()]
    low = min(*effects, max(-FARTHEST, min(ends, default=0)))
    high = max(*effects, min(FARTHEST, max(ends, default=0)))
    return widened((low, high), 0.05)


def _note_on_intervals(grid: Grid, bottom: float, top: float) -> str:
    rows = _first_mode(grid)
    few = " Crosses rest on few words." if any(map(few_words, grid.estimates.values())) else ""
    intervals = [interval for row in rows if (interval := _interval(row))]
    which = f", {grid.modes[0]} draws" if len(grid.modes) > 1 else ""
    if not intervals:
        return f"No intervals: they are given where every resampled set has at least eight words.{few}"
    said = f"Pale bars: 95 % interval over words and contexts{which}"
    if len(intervals) < sum(math.isfinite(_effect(row)) for row in rows):
        said += "; none where a set has fewer than eight words"
    cut = any(low < bottom or high > top for low, high in intervals)
    return f"{said}. Bars are cut where they leave the frame.{few}" if cut else f"{said}.{few}"


def _first_mode(grid: Grid) -> list[Estimate]:
    return [row for (*_, mode), row in grid.estimates.items() if mode == grid.modes[0]]


def _effect(row: Estimate | None) -> float:
    """Return the effect size of an estimate, NaN if it has none."""
    return float(row["effect_size"]) if row is not None and is_number(row["effect_size"]) else math.nan


def _interval(row: Estimate | None) -> tuple[float, float] | None:
    """Return both ends of the interval of an estimate, None if it has none."""
    if row is None or not all(is_number(row.get(name)) for name in ("effect_size", "ci_low", "ci_high")):
        return None
    return float(row["ci_low"]), float(row["ci_high"])


def _keys_of_modes(grid: Grid, sizes: dict[str, float]) -> list[Any]:
    """Return the handles of the sample modes and of the bars for the legend."""
    handles: list[Any] = []
    for number, mode in enumerate(grid.modes):
        style = {**look(0, number, sizes), "color": MUTED, "marker": "o", "markerfacecolor": PAPER if number else MUTED}
        handles.append(handle(f"{mode} draws", **style))
    if any(map(_interval, _first_mode(grid))):
        handles.append(Patch(facecolor=MUTED, alpha=_BAR["alpha"], linewidth=0, label="95 % interval"))
    return handles


def _line(panel: Any, x: Sequence[float], y: Sequence[float], settled: int, style: dict[str, Any]) -> None:
    """Draw a line with open markers before the place where it settled, and filled ones from there on."""
    panel.plot(x, y, **{**style, "marker": "", "zorder": 2.5})
    markers = {**style, "linestyle": "none"}
    panel.plot(x[:settled], y[:settled], **{**markers, "markerfacecolor": PAPER})
    panel.plot(x[settled:], y[settled:], **markers)


def _band_keys(width: Width, band: str) -> list[list[Any]]:
    """Return the handles of the band and of the markers for the legend, by row from the bottom up."""
    dot: dict[str, Any] = {"color": MUTED, "linestyle": "none", "marker": "o", "markersize": SIZES[width]["marker"]}
    patch = Patch(color=LINE, label=band)
    markers = [handle("stays there", **dot), handle("not yet", **{**dot, "markerfacecolor": PAPER})]
    return [markers, [patch]] if width == "column" else [[patch, *markers]]


# --------------------
# Which words carry an effect: every target word of a category, by set and model.
#
# The numbers are those of `prasanga.report.words`, which the page shows as a table.


MOST: dict[Width, int] = {"column": 34, "page": 60}
"""Words of a set that are drawn, at most: more do not fit on a sheet of paper. By width."""

_ROW: dict[Width, float] = {"column": 8.6, "page": 10.4}
_GLOSS: dict[Width, float] = {"column": 5.5, "page": 6.4}
"""By width: height of a row and size of a gloss, in points."""

_LABELS = 0.54
"""Share of a panel's width that its words and glosses may take."""

_GAP = 5.0
"""Points between a word, its gloss and the dots."""

_BETWEEN = 0.04
"""Room between panels side by side, as a share of their width."""


class _Set(NamedTuple):
    """A target set, and its words that are drawn: as written, gloss, and standardized association by model."""

    all: MeasuredSet
    rows: list[tuple[str, str, Mapping[str, float]]]


@drawn
def plot_words(words: pl.DataFrame, categories: Mapping[str, Any], category: str, *, width: Width = "page") -> Figure:
    """Plot the associations of the target words of a category: a row a word, a colour and marker a model.

    Words are sorted within their set, from those nearest to A down. Of a set of more than `MOST` words those in the
    middle are left out, and a note says so. A word in letters that no font has is shown by its gloss.

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
    sets = [
        _set_of(found, glosses_of(categories), MOST[width])
        for found in measured_sets(measured, categories[category]["targets"])
    ]
    there = set(table["model"])
    sizes, wide, about = SIZES[width], WIDTHS[width] * 72 * 0.98, categories[category]
    looks = {
        model: {**dots(n, sizes), "alpha": 0.9}
        for n, model in enumerate(words["model"].unique(maintain_order=True))
        if model in there
    }
    if looks:
        note = f"{_note(sets)} Contexts of {length} words, {mode} draws. {say_what_is_missing(table['stimulus'])}"
    else:
        note = "Not drawn: no target word has an association."
    # side by side on a page, below each other in a column
    blocks = ([[found] for found in sets] if width == "page" else [list(sets)]) if looks else []
    n_rows = max((sum(len(found.rows) + 3 for found in block) - 1 for block in blocks), default=1)
    title = [
        *wrapped(category, sizes["title"], wide, bold=True)[:1],
        *wrapped(str(about.get("title") or ""), sizes["font"], wide)[:3],
    ]
    line = sizes["title"] * 1.3
    frame = lay_out(
        width,
        max(1, len(blocks)),
        across=2,
        panel=n_rows * _ROW[width] / 72,
        top=(len(title) + 0.4) * line / 72,
        labels=(_direction(about, sizes["font"], wide) if looks else "", ""),
        keys=[[handle(model, **style) for model, style in looks.items()]],
        note=note,
        gap=_BETWEEN,
        sharey=False,
    )
    figure, axes = frame.figure, frame.panels
    for number, part in enumerate(title):
        style = {"color": MUTED} if number else {"fontsize": sizes["title"], "fontweight": "bold"}
        top = 1 - (number + 0.9) * line / 72 / figure.get_figheight()
        figure.text(left_of(sizes, "") / WIDTHS[width], top, part, **style)
    beside = [_Labels(block, frame.room * _LABELS, width) for block in blocks]
    shift = max((labels.wide for labels in beside), default=0) / 72 / WIDTHS[width]
    for panel, block, labels in zip(axes, blocks, beside, strict=False):
        place = panel.get_position()
        left = place.x0 * WIDTHS[width] * 72
        panel.set_position((place.x0 + shift, place.y0, place.width - shift, place.height))
        panel.set_ylim(n_rows - 0.5, -0.5)
        labels.write(panel, left)
        _draw_dots(panel, block, looks)
    if not blocks:
        axes[0].set_visible(False)
    return figure


def _set_of(found: MeasuredSet, glosses: Mapping[str, str], most: int) -> _Set:
    words = found.words
    kept = words if len(words) <= most else [*words[: most // 2], *words[-(most // 2) :]]
    rows = []
    for place, (stimulus, values) in enumerate(kept, start=1):
        word, gloss = stimulus, gloss_of(stimulus, glosses)
        if not can_show(word):
            word, gloss = gloss if gloss and can_show(gloss) else f"word {place}", ""
        rows.append((word, gloss, values))
    return _Set(found, rows)


def _note(sets: Sequence[_Set]) -> str:
    said = ["Standardized for each model over both sets: 0 is their mean, 1 their standard deviation."]
    measured, listed = (sum(len(getattr(found.all, which)) for found in sets) for which in ("words", "listed"))
    if listed > measured:
        said.append(f"Without an association: {listed - measured} of {listed} words.")
    if hidden := measured - sum(len(found.rows) for found in sets):
        said.append(f"Left out for want of room: {hidden} in the middle of their set.")
    return " ".join(said)


class _Labels:
    """Titles, words and glosses of the rows of a panel, in two columns of `wide` points together."""

    def __init__(self, sets: Sequence[_Set], room: float, width: Width) -> None:
        self._sets, self._font, self._gloss, self._row = sets, SIZES[width]["font"], _GLOSS[width], _ROW[width]
        rows = [row for found in sets for row in found.rows]
        most = room * (0.55 if any(gloss for _, gloss, _ in rows) else 1) - _GAP
        self._words = [shortened(word[:200], self._font, most) for word, _, _ in rows]
        names = [*(_mean_of(found) for found in sets), *self._words]
        self._middle = max((width_of(name, self._font) for name in names), default=0) + _GAP
        self._glosses = [shortened(gloss[:200], self._gloss, room - self._middle - _GAP) for _, gloss, _ in rows]
        beside = (width_of(text, self._gloss) + _GAP for text in self._glosses if text)
        self.wide = self._middle + max(beside, default=0.0)

    def write(self, panel: Any, left: float) -> None:
        """Write the labels from `left` on, in points, beside a panel whose vertical axis counts rows."""
        figure = panel.figure
        across, high = figure.get_size_inches() * 72
        place = panel.get_position()
        top = place.y1 * high

        def base(row: int) -> float:
            return float(top - (row + 0.5) * self._row - 0.35 * self._font)

        written, start = zip(self._words, self._glosses, strict=True), 0
        for found in self._sets:
            title = shortened(found.all.title, self._font, place.x1 * across - left, bold=True)
            figure.text(left / across, base(start) / high, title, fontweight="bold")
            figure.text(left / across, base(start + 1) / high, _mean_of(found), color=MUTED)
            for row, (word, gloss) in zip(range(start + 2, start + 2 + len(found.rows)), written, strict=False):
                figure.text(left / across, base(row) / high, word)
                figure.text((left + self._middle) / across, base(row) / high, gloss, size=self._gloss, color=MUTED)
            start += len(found.rows) + 3


def _mean_of(found: _Set) -> str:
    return f"mean of {len(found.all.words)}"


def _draw_dots(panel: Any, sets: Sequence[_Set], looks: Mapping[str, dict[str, Any]]) -> None:
    """Draw a dot a model in each row, joined from the lowest to the highest.

    Above the words of a set stands their mean.
    """
    rows: list[Mapping[str, float] | None] = []
    for found in sets:
        top, bottom = len(rows) + 0.5, len(rows) + len(found.rows) + 1.5
        panel.plot([0, 0], [top, bottom], color=MUTED, linewidth=0.8, zorder=1)
        panel.axhline(top + 1, color=MUTED, linewidth=0.6, zorder=1)
        rows += [None, found.all.means, *(values for _, _, values in found.rows), None]
    lines = [y for y, row in enumerate(rows) if row is not None]
    panel.hlines(lines, 0, 1, transform=panel.get_yaxis_transform(), color=LINE, linewidth=0.4, zorder=0.5)
    spans = [(y, min(row.values()), max(row.values())) for y, row in enumerate(rows) if row]
    if spans:
        panel.hlines(*zip(*spans, strict=True), color=MUTED, linewidth=0.6, alpha=0.6, zorder=1)
    for model, style in looks.items():
        points = [(row[model], y) for y, row in enumerate(rows) if row and model in row]
        if points:
            panel.plot(*zip(*points, strict=True), **style)
    panel.xaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
    panel.yaxis.set_visible(False)
    panel.spines["left"].set_visible(False)


def _direction(about: Mapping[str, Any], font: float, room: float) -> str:
    """Return what the two ends of the axis mean."""
    a, b = (shortened(title_of_set(word_set), font, room * 0.28) for word_set in about["attributes"])
    return f"← nearer to {b}      nearer to {a} →"
