"""Pictures of effects by context length: a small one for each category and model, and one that answers when asked.

They are drawn here and not by matplotlib: a cell of the small picture is a link, and each point of the large one
tells its interval, its p and its random twins.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from markupsafe import Markup

from prasanga.methods import CEAT
from prasanga.report.figures import MARKERS, MODELS
from prasanga.report.findings import is_found
from prasanga.report.grid import Category, Estimate, Grid, address_of_number, anchor_of, few_words, interval, is_number
from prasanga.report.section import render
from prasanga.report.sheet import from_twins, html, probability, with_sign

_BEYOND = 0.8
"""So far beyond all effects their intervals are drawn."""

SHAPES: Mapping[str, str] = {
    "o": "M-4.6 0a4.6 4.6 0 1 0 9.2 0a4.6 4.6 0 1 0 -9.2 0z",
    "s": "M-4.1 -4.1H4.1V4.1H-4.1z",
    "^": "M0 -5.2L5 4.1H-5z",
    "D": "M0 -5.6L5.6 0L0 5.6L-5.6 0z",
    "v": "M0 5.2L5 -4.1H-5z",
    "P": "M-1.8 -5.2H1.8V-1.8H5.2V1.8H1.8V5.2H-1.8V1.8H-5.2V-1.8H-1.8z",
    "X": "M-5 -2.5L-2.5 -5L0 -2.5L2.5 -5L5 -2.5L2.5 0L5 2.5L2.5 5L0 2.5L-2.5 5L-5 2.5L-2.5 0z",
    "<": "M-5.2 0L4.1 -5V5z",
    ">": "M5.2 0L-4.1 -5V5z",
    "h": "M0 -5.2L4.5 -2.6V2.6L0 5.2L-4.5 2.6V-2.6z",
}
"""Each marker of the figures as an SVG path around 0, 0."""


def describe_estimate(row: Estimate, where: str = "") -> str:
    """Return what a cell or a point tells of an estimate, a line each: place, effect, interval, p, copies, words."""
    twins, words = row.get("twin_effect_size"), few_words(row)
    note = row.get("interval_note") if is_number(row["ci_low"]) else ""
    lines = [
        where or row["model"],
        f"effect size: {with_sign(row['effect_size'])}",
        f"95 % interval over words: {interval(row['ci_low'], row['ci_high'], with_sign)}",
        f"about the interval: {note}" if note else "",
        f"p_association: {probability(row['p_association'])}, {probability(row['p_association_holm'])} by Holm",
        f"random twins: {with_sign(twins)}{from_twins(row, 3)}" if is_number(twins) else "",
        f"words used of those listed: {words}, too few for a finding" if words else "",
    ]
    return "\n".join(filter(None, lines))


def name_place(model: str, length: object, mode: object) -> str:
    """Return model, length and sample mode of an estimate of CEAT in words."""
    return f"{model}, {length} words, {mode} draws"


def draw_line(grid: Grid, category: Category, model: str, *, changed: bool) -> Markup:
    """Return the effects of a category and model as a line over the fixed lengths with its intervals.

    Contexts above a length (">75") are other texts: their effect is a point apart from the line.
    """
    scale = _Scale(grid, 120, 40, left=6, right=6, top=4, bottom=4)
    rows = [grid.at(category.name, model, length, grid.modes[0]) for length in grid.lengths]
    fixed = [row for row, length in zip(rows, grid.lengths, strict=True) if not length.startswith(">")]
    points = Markup("").join(
        html('<circle class="{}" r="2.6" cx="{}" cy="{}"/>', "found" if is_found(row) else "", *at)
        for row, at in scale.points(rows)
    )
    svg = (
        '<svg class="spark{}" viewBox="0 0 120 40" aria-hidden="true"><path class="zero-line" d="M0 {}H120"/>{}{}</svg>'
    )
    # those above a length come last
    line = scale.line(fixed if len(fixed) > 1 else rows)
    return html(svg, " changed" if changed else "", scale.y(0.0), line, points)


def draw_chart(grid: Grid, categories: Sequence[Category], *, choose: bool) -> Markup:
    """Return effects against length, a panel for each of these categories; panels have one scale.

    Args:
        grid: all estimates.
        categories: those that are shown.
        choose: whether models and draws can be chosen.
    """
    scale = _Scale(grid, 300, 180, left=36, right=12, top=10, bottom=26)
    looks = [(model, n % len(MODELS) + 1, SHAPES[MARKERS[n % len(MARKERS)]]) for n, model in enumerate(grid.models)]
    panels = []
    for category in categories:
        lines = []
        for mode in grid.modes:
            for model, colour, _ in looks:
                rows = [grid.at(category.name, model, length, mode) for length in grid.lengths]
                points = [
                    (
                        *at,
                        not is_found(row),
                        describe_estimate(row, name_place(model, row["segment_length"], mode)),
                        link,
                    )
                    for row, at in scale.points(rows)
                    for link in [address_of_number(CEAT.name, row)]
                ]
                lines.append((scale.line(rows, colour), points))
        panels.append((category, anchor_of(category.name), lines))
    return render(
        "chart",
        choose=choose,
        looks=looks,
        modes=grid.modes,
        panels=panels,
        ticks=[(scale.y(value), with_sign(value, 1)) for value in scale.ticks],
        lengths=[(scale.x(n), length) for n, length in enumerate(grid.lengths)],
        zero=scale.y(0.0),
    )


class _Scale:
    """Where lengths and effects are in a picture of this size with these margins; all effects are within it."""

    def __init__(self, grid: Grid, width: int, height: int, *, left: int, right: int, top: int, bottom: int) -> None:
        rows = [row for row in grid.estimates.values() if is_number(row["effect_size"])]
        effects = [*(row["effect_size"] for row in rows), -0.5, 0.5]
        ends = [row[end] for row in rows for end in ("ci_low", "ci_high") if is_number(row[end])]
        self._low = max(min([*effects, *ends]), min(effects) - _BEYOND) - 0.1
        self._high = min(max([*effects, *ends]), max(effects) + _BEYOND) + 0.1
        self._left, self._top, self._height = left, top, height - top - bottom
        self._step = (width - left - right) / max(len(grid.lengths) - 1, 1)

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
        there = [(n, row) for n, row in enumerate(rows) if row is not None and is_number(row["effect_size"])]
        return [(row, (self.x(n), self.y(row["effect_size"]))) for n, row in there]

    def line(self, rows: Sequence[Estimate | None], colour: int = 0) -> Markup:
        """Return the line through the effects, with the 95 % intervals as a band where all of them are known."""
        points = self.points(rows)
        if not points:
            return Markup("")
        style = html(' style="--line-colour: var(--model-{})"', colour) if colour else ""
        known = [(row, x) for row, (x, _) in points if is_number(row["ci_low"])]
        band = [(x, self.y(row["ci_low"])) for row, x in known]
        band += [(x, self.y(row["ci_high"])) for row, x in reversed(known)]
        drawn = html('<path class="band" d="M{}z"/>', _join(band)) if len(known) == len(points) > 1 else ""
        return html('<g{}>{}<path class="line" d="M{}"/></g>', style, drawn, _join(at for _, at in points))


def _join(points: Iterable[tuple[float, float]]) -> str:
    return "L".join(f"{x} {y}" for x, y in points)
