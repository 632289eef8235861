"""Views of CEAT: effects by category, model and length, all their numbers, and how they change with length."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise, product
from statistics import median
from typing import Any, NamedTuple

from markupsafe import Markup

from prasanga.losses import describe_losses
from prasanga.methods import CEAT
from prasanga.report.cards import quantities
from prasanga.report.figures import MARKERS, MODELS
from prasanga.report.findings import findings_of_differences, headline_findings, is_found
from prasanga.report.grid import (
    FIRST_DRAWS,
    MODES,
    NOT_BY_DRAWS,
    Category,
    Estimate,
    Grid,
    address_of_number,
    anchor_of,
    conventions_of,
    few_words,
    grid_of,
    is_number,
    natural_order,
)
from prasanga.report.section import (
    Section,
    conventions_note,
    count,
    figure_of,
    fold,
    preset_of,
    prose,
    render,
    sheet_to_html,
)
from prasanga.report.sections.estimates import (
    FIRST_NUMBERS,
    MORE_NUMBERS,
    THRESHOLDS,
    heat_cell,
    list_estimates,
    shade_of,
    told_of,
)
from prasanga.report.sheet import MARK, MINUS, Cell, Sheet, html, list_numbers, plain, row_of, with_sign
from prasanga.report.study import Results
from prasanga.stats.crossed import VarianceComponents

_IN_PAPER = ((0.2, 0.5, 0.8), 2)
"""Where the shades of Tables 5 and 6 of Sadhu et al. (2024) begin, small, medium and large, and the first shade."""


def ceat_grid(results: Results) -> Grid | None:
    """Return the estimates of CEAT as a grid; None without any."""
    return None if results.ceat is None or results.ceat.is_empty() else grid_of(results.ceat)


def effect_by_length(results: Results) -> Section | None:
    """Return the section of effects against segment lengths, in a picture that answers when it is asked."""
    if (grid := ceat_grid(results)) is None:
        return None
    return Section(
        "Effect size against context length",
        "figure",
        text=[prose("effect_by_length")],
        widget=chart(grid, grid.categories, texts_of(grid), choose=True),
        notes=_findings_of_variance(grid),
    )


def texts_of(grid: Grid) -> dict[tuple[str, str, str, str], str]:
    """Return what a point tells of its estimate, by category, model, length and sample mode."""
    return {key: told_of(row, _where(*key[1:])) for key, row in grid.estimates.items()}


def _where(model: str, length: str, mode: str) -> str:
    return f"{model}, {length} words, {mode} draws"


def _findings_of_variance(grid: Grid) -> list[str]:
    """Return how much of the variance of an effect is due to words, and how much to their contexts."""
    names = [f"variance_{name}" for name in VarianceComponents._fields]
    rows = (row for (*_, mode), row in grid.estimates.items() if mode == grid.modes[0])
    parts = [VarianceComponents(*(row[name] for name in names)) for row in rows if is_number(row.get(names[0]))]
    shares = [each for part in parts if (each := part.shares)[0] >= 0]
    if not shares:
        return []
    columns = list(zip(*shares, strict=True))
    values = [*map(median, columns), min(columns[2]), max(columns[2])]
    return [prose("variance", of=[f"{value:.0f}" for value in values], estimates=count(len(shares), "estimate"))]


def effects(config: Mapping[str, Any], results: Results) -> Section | None:
    """Return the section of the heat table: CEAT's effects by category, model and length, a table for each mode."""
    grid = ceat_grid(results)
    if grid is None or results.ceat is None:
        return None
    in_paper = preset_of(config) == "paper"
    tables = {mode: sheet_to_html(heat_sheet(grid, mode, in_paper=in_paper)) for mode in grid.modes}
    widget = render("heat", tables=tables, legend=_legend(grid, in_paper=in_paper), in_paper=in_paper)
    return Section(
        "Effects by category, model and length",
        "effects",
        text=[prose("effects", in_paper=in_paper)],
        widget=widget,
        parts=[Section("What the numbers say, in sentences", findings=headline_findings(results.ceat), folded=True)],
    )


def heat_sheet(grid: Grid, mode: str, *, in_paper: bool = False) -> Sheet:
    """Return the heat table of one sample mode.

    Args:
        grid: the estimates.
        mode: fixed or random.
        in_paper: whether marks and shades are those of Tables 5 and 6 of Sadhu et al.
    """
    places = list(product(grid.models, grid.lengths))
    rows = []
    for category in grid.categories:
        label = html(
            '<a href="#{}" title="{}">{}</a> <span class="sets">{}<br>{}</span>',
            *(anchor_of(category.name), Markup.escape(category.title)),
            *(category.name, category.targets, category.attributes),
        )
        found = [(grid.at(category.name, *place, mode), _where(*place, mode)) for place in places]
        cells = [(row, heat_cell(CEAT.name, row, where)) for row, where in found]
        rows.append(row_of(label, *(_as_in_paper(row, cell) if in_paper else cell for row, cell in cells)))
    columns = tuple((model, html('{}<span class="unseen"> words</span>', length)) for model, length in places)
    return Sheet(("Category",), columns, rows, f"Effect size, {mode} draws", "heat-table", {"Category": "corner"})


def _as_in_paper(row: Estimate | None, cell: Cell) -> Cell:
    """Return a cell with the mark and the shade of the paper."""
    if row is None or not is_number(row["effect_size"]):
        return cell
    steps, first = _IN_PAPER
    shade = shade_of(row["effect_size"], steps, first=first)
    return replace(cell, mark=MARK * NOT_BY_DRAWS.marks(row), bold=False, shade=shade)


def _legend(grid: Grid, *, in_paper: bool) -> list[tuple[str, str]]:
    """Return shade and range of each colour of the heat table, the most negative first; the hatching comes last."""
    steps, first = _IN_PAPER if in_paper else (THRESHOLDS, 1)

    def shades(sign: str, mark: str) -> list[tuple[str, str]]:
        ranges = [*(f"{mark}{low} to {mark}{high}" for low, high in pairwise(steps)), f"{mark}{steps[-1]} and beyond"]
        return [(f"{sign}-{step}", text) for step, text in enumerate(ranges, start=first)]

    hatched = [("few", "few words (used/listed): no finding")] * any(map(few_words, grid.estimates.values()))
    return [*reversed(shades("minus", MINUS)), ("zero", f"within ±{steps[0]}"), *shades("plus", "+"), *hatched]


def sample_modes(results: Results) -> Section | None:
    """Return the section on the distance of effects by fixed and by random draws."""
    grid = ceat_grid(results)
    if grid is None or not set(MODES) <= set(grid.modes):
        return None
    rows = []
    for category, model, length in grid.places:
        fixed, random = (grid.at(category.name, model, length, mode) or {} for mode in MODES)
        row = {"category": category.name, "model": model, "segment_length": length, **(fixed or random)}
        row |= {"fixed": fixed.get("effect_size"), "random": random.get("effect_size"), "difference": None}
        if is_number(row["fixed"]) and is_number(row["random"]):
            row["difference"] = row["random"] - row["fixed"]
        rows.append(row)
    names = "category model segment_length fixed random difference p_association"
    caption = "Effect sizes by both kinds of draws; difference: random minus fixed"
    sheet = list_numbers(rows, names, caption=caption)
    apart = [(abs(row["difference"]), row) for row in rows if is_number(row["difference"])]
    n_samples = " or ".join(map(str, sorted({row["n_samples"] for row in grid.estimates.values()} - {None})))
    compared = "No estimate has a number by both."
    if apart:
        largest, row = max(apart, key=lambda pair: pair[0])
        said = f"the median distance is {plain(median(distance for distance, _ in apart))}"
        where = f"{row['category']}, {row['model']}, {row['segment_length']} words"
        compared = f"Over {count(len(apart), 'estimate')} {said} and the largest {plain(largest)} ({where})."
    return Section(
        "Fixed against random draws",
        "sample_modes",
        text=[prose("sample_modes", n_samples=f" ({n_samples})" if n_samples else ""), compared],
        figures=figure_of(results, "sample_modes", label=prose("sample_modes_label")),
        parts=[Section("Fixed and random draws: all numbers", sheets=[sheet], folded=True)],
    )


def reading(results: Results) -> Section | None:
    """Return the section on the meaning of the numbers of CEAT."""
    if ceat_grid(results) is None:
        return None
    meanings = [(each.name, f"{each.meaning} {each.limit}") for each in quantities() if "ceat" in each.methods]
    return Section("Reading the numbers", "reading", text=[prose("reading")], definitions=meanings)


def all_numbers(results: Results) -> Section | None:
    """Return the section with every number of every estimate of CEAT."""
    if (grid := ceat_grid(results)) is None:
        return None
    keys = [(each.name, model, length, mode) for (each, model, length), mode in product(grid.places, grid.modes)]
    rows = [grid.estimates[key] for key in keys if key in grid.estimates]
    names = f"category model segment_length sample_mode {FIRST_NUMBERS}"
    caption = "All estimates of CEAT. Lost words: stimuli that an estimate does without, and why"
    sheet = list_estimates([(CEAT.name, row) for row in rows], names, caption=caption, hidden=MORE_NUMBERS)
    order = {category.name: n for n, category in enumerate(grid.categories, start=1)}
    titles = {category.name: category.title for category in grid.categories}
    firsts = {row["category"]: at for at, row in reversed(list(enumerate(rows)))}
    # links lead to the first row of a category
    lines = [
        replace(
            line,
            anchor=f"numbers-{order[row['category']]}" if firsts[row["category"]] == at else "",
            search=f"{row['category']} {titles[row['category']]}",
            order=str(order[row["category"]]),
        )
        for at, (line, row) in enumerate(zip(sheet.rows, rows, strict=True))
    ]
    categories = [
        html(
            '<a href="#numbers" data-row="numbers-{}">{}</a> {}: {} and {}, {} and {}',
            n,
            *(category.name, category.title),
            *(category.target_x, category.target_y, category.attribute_a, category.attribute_b),
        )
        for n, category in enumerate(grid.categories, start=1)
    ]
    head = "Conventions of these estimates"
    text = conventions_note(conventions_of(grid.estimates.values()), prose("all_numbers"), head=head)
    title = f"estimate{'' if len(rows) == 1 else 's'} with all their numbers"
    parts = [fold(str(len(rows)), title, sheets=[replace(sheet, rows=lines)])]
    return Section("All numbers", "numbers", text=[text], items=categories, parts=parts)


def settling_of(config: Mapping[str, Any], results: Results) -> Section | None:
    """Return the section on the length from which on effects stay, and on effects as draws are added."""
    if results.settling is None or results.differences is None or results.settling.is_empty():
        return None
    label = "Distance of each effect from the one at the longest segment length, one panel for each category."
    figures = figure_of(results, "settling", label=label)
    # with so few draws there is one point, which shows nothing
    if results.ceat is not None and (results.ceat["n_samples"] > FIRST_DRAWS).any():
        label = "Effect against the number of draws at the longest segment length, one panel for each category."
        figures += figure_of(results, "convergence", label=label)
    sheet = list_numbers(
        sorted(results.settling.iter_rows(named=True), key=lambda row: natural_order(row["category"])),
        "category model sample_mode settled_length largest_distance sure",
        caption="From which length on the effect stays",
    )
    return Section(
        "Where effects settle",
        "lengths",
        text=[prose("settling", band=config["associations"]["band"])],
        findings=list(findings_of_differences(results.differences, results.settling)),
        figures=figures,
        parts=[Section("All categories and models", sheets=[sheet], folded=True)],
    )


def left_out_of_estimates(grid: Grid) -> list[Markup]:
    """Return what the estimates of each category say of stimuli left out: each text once, with where it holds."""
    found: dict[str, dict[str, list[str]]] = {category.name: {} for category in grid.categories}
    for (category, model, length, mode), row in grid.estimates.items():
        if said := describe_losses(row.get("lost")):
            found[category].setdefault(said, []).append(f"{model} {length} {mode}")
    total = len(grid.models) * len(grid.lengths) * len(grid.modes)
    return [
        html("<strong>{}</strong>: {} ({})", name, text, "all estimates" if len(at) == total else ", ".join(at))
        for name, of_category in found.items()
        for text, at in of_category.items()
    ]


# --------------------
# Pictures of effects by context length for the page: a small one for each category and model, and one to ask.
#
# They are drawn here and not by matplotlib: a cell of the small picture is a link, and each point of the large one
# tells its interval, its p and its random twins.


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


class Look(NamedTuple):
    """Colour and shape of a model, the same in all categories: n of `--model-n`, and an SVG path."""

    model: str
    colour: int
    shape: str

    def at(self, x: float, y: float, *, is_open: bool = False) -> Markup:
        """Return the mark of the model, at this place, filled or as an outline."""
        look = "fill:var(--surface);stroke" if is_open else "fill"
        mark = '<path transform="translate({} {})" style="{}:var(--model-{})" d="{}"/>'
        return html(mark, x, y, look, self.colour, Markup(self.shape))

    @property
    def head(self) -> Markup:
        """Return its mark and its name."""
        mark = html('<svg class="mark" viewBox="-7 -7 14 14" aria-hidden="true">{}</svg>', self.at(0, 0))
        return html("{} {}", mark, self.model)


def looks_of(models: Iterable[str]) -> list[Look]:
    """Return a look for each model, by its place among them."""
    return [
        Look(model, number % len(MODELS) + 1, SHAPES[MARKERS[number % len(MARKERS)]])
        for number, model in enumerate(models)
    ]


class Change(NamedTuple):
    """How an effect changes from one length to another: the difference, and its paired 95 % interval."""

    difference: float
    low: float
    high: float

    @property
    def is_shown(self) -> bool:
        """Whether the interval excludes zero."""
        return self.low > 0 or self.high < 0


class Changes(NamedTuple):
    """Changes by category and model, from the shortest length to the longest with the same texts, in the first mode.

    Those that rest on few words, or were not computed, are not there. `apart` has the lengths of other texts.
    """

    shortest: str
    longest: str
    apart: tuple[str, ...]
    of: Mapping[tuple[str, str], Change]


def changes_of(grid: Grid, results: Results) -> Changes:
    """Return the changes with length; contexts above a length (">75") are other texts, so they are no end of it."""
    fixed = [length for length in grid.lengths if not length.startswith(">")]
    ends = fixed if len(fixed) > 1 else grid.lengths
    shortest, longest = ends[0], ends[-1]
    found = {}
    if results.differences is not None:
        wanted = {"kind": "length", "sample_mode": grid.modes[0], "first": shortest, "second": longest}
        for row in results.differences.filter(**wanted).iter_rows(named=True):
            key, numbers = (row["category"], row["model"]), [row[n] for n in ("difference", "ci_low", "ci_high")]
            few = any(few_words(grid.at(*key, length, grid.modes[0])) for length in (shortest, longest))
            if all(map(is_number, numbers)) and not few:
                found[key] = Change(*numbers)
    apart = tuple(length for length in grid.lengths if length.startswith(">") and length != longest)
    return Changes(shortest, longest, apart, found)


def small_picture(grid: Grid, category: Category, model: str, *, changed: bool) -> Markup:
    """Return the effects of a category and model as a line over the fixed lengths with its intervals.

    Contexts above a length (">75") are other texts: their effect is a point apart from the line.
    """
    place = _Place(grid, 120, 40, left=6, right=6, top=4, bottom=4)
    rows = [grid.at(category.name, model, length, grid.modes[0]) for length in grid.lengths]
    fixed = [row for row, length in zip(rows, grid.lengths, strict=True) if not length.startswith(">")]
    joined = fixed if len(fixed) > 1 else rows  # those above a length come last
    points = Markup("").join(
        html('<circle class="{}" r="2.6" cx="{}" cy="{}"/>', "found" if is_found(row) else "", *at)
        for row, at in place.points(rows)
    )
    svg = (
        '<svg class="spark{}" viewBox="0 0 120 40" aria-hidden="true"><path class="zero-line" d="M0 {}H120"/>{}{}</svg>'
    )
    return html(svg, " changed" if changed else "", place.y(0.0), place.line(joined), points)


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
        ticks=[(place.y(value), with_sign(value, 1)) for value in place.ticks],
        lengths=[(place.x(n), length) for n, length in enumerate(grid.lengths)],
        zero=place.y(0.0),
    )


def _lines(
    grid: Grid, category: str, place: _Place, looks: Sequence[Look], texts: Mapping[tuple[str, str, str, str], str]
) -> list[tuple[str, Markup, list[tuple[float, float, Markup, str, str]]]]:
    """Return the class of each line of a panel, its path, and place, mark, text and address of each of its points."""
    found = []
    for m, mode in enumerate(grid.modes, start=1):
        for n, look in enumerate(looks, start=1):
            rows = [grid.at(category, look.model, length, mode) for length in grid.lengths]
            points = [
                (
                    *at,
                    look.at(*at, is_open=not is_found(row)),
                    texts[category, look.model, row["segment_length"], mode],
                    address_of_number(CEAT.name, row),
                )
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
        if not points:
            return Markup("")
        style = html(' style="--line-colour: var(--model-{})"', colour) if colour else ""
        ends = [
            (x, self.y(row["ci_low"]), self.y(row["ci_high"])) for row, (x, _) in points if is_number(row["ci_low"])
        ]
        band = [(x, low) for x, low, _ in ends] + [(x, high) for x, _, high in reversed(ends)]
        drawn = html('<path class="band" d="M{}z"/>', _joined(band)) if len(ends) == len(points) > 1 else ""
        return html('<g{}>{}<path class="line" d="M{}"/></g>', style, drawn, _joined(at for _, at in points))


def _joined(points: Iterable[tuple[float, float]]) -> str:
    return "L".join(f"{x} {y}" for x, y in points)
