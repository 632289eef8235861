"""Pictures of effects by context length for the page: a small one for each category and model, and one to ask.

They are drawn here and not by matplotlib: a cell of the small picture is a link, and each point of the large one tells
its interval, its words and its controls. They have the numbers of the table of estimates and of its paired differences.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from markupsafe import Markup

from prasanga.base.parquet import remade_by, require_columns
from prasanga.report.findings import is_found
from prasanga.report.grid import Category, Estimate, Grid, anchor_of, few_words, is_number
from prasanga.report.section import render
from prasanga.report.sections.words import Look, looks_of
from prasanga.report.sheet import MINUS, html, signed
from prasanga.report.study import Results

_NEEDED = ("kind", "category", "model", "sample_mode", "first", "second", "difference", "ci_low", "ci_high")
_BEYOND = 0.8
"""So far beyond all effects their intervals are drawn."""


class Change(NamedTuple):
    """How an effect changes from one length to another: the difference, and its paired 95 % interval."""

    difference: float
    low: float
    high: float

    @property
    def is_shown(self) -> bool:
        """Whether the interval leaves out zero."""
        return self.low > 0 or self.high < 0


class Changes(NamedTuple):
    """Changes by category and model, from the shortest length to the longest with the same texts, in the first mode.

    Those that rest on few words, or were not computed, are not there.
    """

    shortest: str
    longest: str
    of: Mapping[tuple[str, str], Change]


def changes_of(grid: Grid, results: Results) -> Changes:
    """Return the changes with length; contexts above a length (">75") are other texts, so they are no end of it."""
    fixed = [length for length in grid.lengths if not length.startswith(">")]
    ends = fixed if len(fixed) > 1 else grid.lengths
    shortest, longest = ends[0], ends[-1]
    found = {}
    if results.differences is not None:
        require_columns("differences", results.differences, _NEEDED, remade_by("associations"))
        wanted = {"kind": "length", "sample_mode": grid.modes[0], "first": shortest, "second": longest}
        for row in results.differences.filter(**wanted).iter_rows(named=True):
            key, numbers = (row["category"], row["model"]), [row[n] for n in ("difference", "ci_low", "ci_high")]
            few = any(few_words(grid.at(*key, length, grid.modes[0])) for length in (shortest, longest))
            if all(map(is_number, numbers)) and not few:
                found[key] = Change(*numbers)
    return Changes(shortest, longest, found)


def small_picture(grid: Grid, category: Category, model: str, *, changed: bool) -> Markup:
    """Return the effects of a category and model by length as one line with its intervals."""
    place = _Place(grid, 120, 40, left=6, right=6, top=4, bottom=4)
    rows = [grid.at(category.name, model, length, grid.modes[0]) for length in grid.lengths]
    points = [
        html('<circle class="{}" r="2.6" cx="{}" cy="{}"/>', "found" if is_found(row) else "", *at)
        for row, at in place.points(rows)
    ]
    return html(
        '<svg class="spark{}" viewBox="0 0 120 40" aria-hidden="true">'
        '<path class="zero-line" d="M0 {}H120"/>{}{}</svg>',
        " changed" if changed else "",
        place.y(0.0),
        place.line(rows),
        Markup("").join(points),
    )


def chart(
    grid: Grid, categories: Sequence[Category], texts: Mapping[tuple[str, str, str, str], str], *, choose: bool
) -> Markup:
    """Return effects against length, a panel for each category.

    Args:
        grid: all estimates; panels have one scale.
        categories: those that are shown.
        texts: what a point tells, by category, model, length and mode.
        choose: whether models and draws can be chosen.
    """
    place = _Place(grid, 300, 180, left=36, right=12, top=10, bottom=26)
    looks = looks_of(grid.models)
    return render(
        "chart",
        choose=choose,
        looks=looks,
        modes=grid.modes,
        panels=[(each, anchor_of(each.name), _lines(grid, each.name, place, looks, texts)) for each in categories],
        ticks=[(place.y(value), signed(value, 1, minus=MINUS)) for value in place.ticks],
        lengths=[(place.x(n), length) for n, length in enumerate(grid.lengths)],
        zero=place.y(0.0),
    )


def _lines(
    grid: Grid, category: str, place: _Place, looks: Sequence[Look], texts: Mapping[tuple[str, str, str, str], str]
) -> list[tuple[str, Markup, list[tuple[float, float, Markup, str]]]]:
    """Return the class of each line of a panel, its path, and the place, mark and text of each of its points."""
    found = []
    for m, mode in enumerate(grid.modes, start=1):
        for n, look in enumerate(looks, start=1):
            rows = [grid.at(category, look.model, length, mode) for length in grid.lengths]
            points = [
                (*at, look.at(*at, is_open=not is_found(row)), texts[category, look.model, row["segment_length"], mode])
                for row, at in place.points(rows)
            ]
            found.append((f"model-{n} draws-{m}", place.line(rows, look.colour), points))
    return found


class _Place:
    """Where lengths and effects are in a picture of this size with these margins; all effects are within it."""

    def __init__(self, grid: Grid, width: int, height: int, *, left: int, right: int, top: int, bottom: int) -> None:
        rows = [row for row in grid.estimates.values() if is_number(row["effect_size"])]
        effects = [row["effect_size"] for row in rows]
        low, high = min([*effects, -0.5]), max([*effects, 0.5])
        ends = [row[end] for row in rows for end in ("ci_low", "ci_high") if is_number(row[end])]
        self._low = max(min([low, *ends]), low - _BEYOND) - 0.1
        self._high = min(max([high, *ends]), high + _BEYOND) + 0.1
        self._left, self._top = left, top
        self._step = (width - left - right) / max(len(grid.lengths) - 1, 1)
        self._height = height - top - bottom

    @property
    def ticks(self) -> list[float]:
        """Return effects to mark, at most nine of them."""
        step = 0.5 if self._high - self._low < 4 else 1.0
        return [n * step for n in range(-20, 21) if self._low <= n * step <= self._high]

    def x(self, n: int) -> float:
        """Return where the length of this number is."""
        return round(self._left + n * self._step, 1)

    def y(self, effect: float) -> float:
        """Return where an effect is; what is beyond the picture, the end of an interval, is at its edge."""
        share = (self._high - min(max(effect, self._low), self._high)) / (self._high - self._low)
        return float(round(self._top + share * self._height, 1))

    def points(self, rows: Sequence[Estimate | None]) -> list[tuple[Estimate, tuple[float, float]]]:
        """Return the rows that have an effect, in the order of lengths, and their places."""
        return [
            (row, (self.x(n), self.y(row["effect_size"])))
            for n, row in enumerate(rows)
            if row is not None and is_number(row["effect_size"])
        ]

    def line(self, rows: Sequence[Estimate | None], colour: int = 0) -> Markup:
        """Return the line through the effects, with the 95 % intervals as a band where all of them are known."""
        points = self.points(rows)
        style = html(' style="--line-colour: var(--model-{})"', colour) if colour else ""
        ends = [
            (x, self.y(row["ci_low"]), self.y(row["ci_high"])) for row, (x, _) in points if is_number(row["ci_low"])
        ]
        band = [(x, low) for x, low, _ in ends] + [(x, high) for x, _, high in reversed(ends)]
        drawn = html('<path class="band" d="M{}z"/>', _joined(band)) if len(ends) == len(points) > 1 else ""
        return (
            html('<g{}>{}<path class="line" d="M{}"/></g>', style, drawn, _joined(at for _, at in points))
            if points
            else html("")
        )


def _joined(points: Iterable[tuple[float, float]]) -> str:
    return "L".join(f"{x} {y}" for x, y in points)
