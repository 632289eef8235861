"""Which words carry an effect, as a figure for a paper: every target word of a category, by set and model.

The numbers are those of `prasanga.report.words`, which the page shows as a table.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import polars as pl
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from prasanga.base.errors import InputError
from prasanga.report.figures.canvas import (
    SIZES,
    WIDTHS,
    Width,
    drawn,
    lay_out,
    left_of,
    look,
    shortened,
    width_of,
    wrapped,
)
from prasanga.report.figures.fonts import can_show, which_font_to_install
from prasanga.report.figures.palette import LINE, MUTED
from prasanga.report.words import MeasuredSet, gloss_of, glosses_of, measured_sets, measured_words, title_of_set

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


class _Row(NamedTuple):
    """A word as it is written, its gloss, and its standardized association by model."""

    word: str
    gloss: str
    values: Mapping[str, float]


class _Set(NamedTuple):
    """A target set: the words that are drawn, the mean of all by model, and how many there are."""

    title: str
    rows: list[_Row]
    means: Mapping[str, float]
    measured: int
    listed: int


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
    models = words["model"].unique(maintain_order=True)
    there = set(table["model"])
    looks = {model: _look(number, width) for number, model in enumerate(models) if model in there}
    if looks:
        note = f"{_note(sets)} Contexts of {length} words, {mode} draws. {which_font_to_install(table['stimulus'])}"
    else:
        note = "Not drawn: no target word has an association."
    return _draw(category, categories[category], sets, looks, note, width)


def _set_of(found: MeasuredSet, glosses: Mapping[str, str], most: int) -> _Set:
    words = found.words
    kept = words if len(words) <= most else [*words[: most // 2], *words[-(most // 2) :]]
    rows = []
    for place, (stimulus, values) in enumerate(kept, start=1):
        word, gloss = stimulus, gloss_of(stimulus, glosses)
        if not can_show(word):
            word, gloss = gloss if gloss and can_show(gloss) else f"word {place}", ""
        rows.append(_Row(word, gloss, values))
    return _Set(found.title, rows, found.means, len(words), len(found.listed))


def _note(sets: Sequence[_Set]) -> str:
    said = ["Standardized for each model over both sets: 0 is their mean, 1 their standard deviation."]
    lost = sum(found.listed - found.measured for found in sets)
    if lost > 0:
        said.append(f"Without an association: {lost} of {sum(found.listed for found in sets)} words.")
    hidden = sum(found.measured - len(found.rows) for found in sets)
    if hidden:
        said.append(f"Left out for want of room: {hidden} in the middle of their set.")
    return " ".join(said)


def _draw(
    category: str,
    about: Mapping[str, Any],
    sets: Sequence[_Set],
    looks: Mapping[str, dict[str, Any]],
    note: str,
    width: Width,
) -> Figure:
    """Draw the sets side by side on a page, below each other in a column."""
    sizes, wide = SIZES[width], WIDTHS[width] * 72 * 0.98
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
        keys=[[Line2D([], [], label=model, **style) for model, style in looks.items()]],
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


class _Labels:
    """Titles, words and glosses of the rows of a panel, in two columns of `wide` points together."""

    def __init__(self, sets: Sequence[_Set], room: float, width: Width) -> None:
        self._sets, self._font, self._gloss, self._row = sets, SIZES[width]["font"], _GLOSS[width], _ROW[width]
        rows = [row for found in sets for row in found.rows]
        most = room * (0.55 if any(row.gloss for row in rows) else 1) - _GAP
        self._words = [shortened(row.word[:200], self._font, most) for row in rows]
        means = (width_of(f"mean of {found.measured}", self._font) for found in sets)
        self._middle = max(*means, *(width_of(word, self._font) for word in self._words), 0) + _GAP
        self._glosses = [shortened(row.gloss[:200], self._gloss, room - self._middle - _GAP) for row in rows]
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
            title = shortened(found.title, self._font, place.x1 * across - left, bold=True)
            figure.text(left / across, base(start) / high, title, fontweight="bold")
            figure.text(left / across, base(start + 1) / high, f"mean of {found.measured}", color=MUTED)
            for row, (word, gloss) in zip(range(start + 2, start + 2 + len(found.rows)), written, strict=False):
                figure.text(left / across, base(row) / high, word)
                figure.text((left + self._middle) / across, base(row) / high, gloss, size=self._gloss, color=MUTED)
            start += len(found.rows) + 3


def _draw_dots(panel: Any, sets: Sequence[_Set], looks: Mapping[str, dict[str, Any]]) -> None:
    """Draw a dot a model in each row, joined from the lowest to the highest.

    Above the words of a set stands their mean.
    """
    rows: list[Mapping[str, float] | None] = []
    for found in sets:
        top, bottom = len(rows) + 0.5, len(rows) + len(found.rows) + 1.5
        panel.plot([0, 0], [top, bottom], color=MUTED, linewidth=0.8, zorder=1)
        panel.axhline(top + 1, color=MUTED, linewidth=0.6, zorder=1)
        rows += [None, found.means, *(row.values for row in found.rows), None]
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


def _look(model: int, width: Width) -> dict[str, Any]:
    return {**look(model, 0, SIZES[width]), "linestyle": "none", "alpha": 0.9}
