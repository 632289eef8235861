"""Sections on CEAT: effects by category, model and length, all their numbers, and how they change with length."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from statistics import median
from typing import Any

import polars as pl
from markupsafe import Markup

from prasanga.base.parquet import remade_by, require_columns
from prasanga.report.ceat_table import NOT_BY_DRAWS
from prasanga.report.findings import NEEDED_OF_SETTLING, findings_of_differences, headline_findings
from prasanga.report.grid import (
    FIRST_DRAWS,
    Estimate,
    Grid,
    anchor_of,
    few_words,
    grid_of,
    is_number,
    natural_order,
    why_missing,
)
from prasanga.report.methods_text import QUANTITIES
from prasanga.report.section import (
    Section,
    conventions_note,
    count,
    figure_of,
    preset_of,
    prose,
    render,
)
from prasanga.report.sections.estimates import (
    NUMBERS,
    SIDES,
    THRESHOLDS,
    components_of,
    conventions_of,
    interval_of,
    is_marked,
    number_cells,
    shade_of,
    words_in_full,
)
from prasanga.report.sections.lengths import chart
from prasanga.report.sheet import (
    MARK,
    MINUS,
    MISSING,
    Cell,
    Row,
    Sheet,
    from_log,
    from_twins,
    html,
    numbers,
    plain,
    probability,
    row_of,
    sheet_to_html,
    signed,
)
from prasanga.report.study import Results

IN_PAPER: Mapping[float, int] = {0.2: 2, 0.5: 3, 0.8: 4}
"""The shades of Tables 5 and 6 of Sadhu et al. (2024), small, medium and large, each with the step that shows it."""

_AT_FIRST = (
    "effect size",
    "95 % interval over words",
    "p_association",
    "Holm",
    "difference from twins",
    "fewest contexts",
)

_NEEDED_OF_CEAT = (
    *("effect_size", "ci_low", "ci_high", "p_stimuli", "p_stimuli_exact", "n_partitions", "p_attributes"),
    *("p_attributes_exact", "n_attribute_partitions", "p_association", "p_association_holm", "p_association_bh"),
    *("leave_out_low", "leave_out_high", "twin_effect_size", "shuffled_low", "shuffled_high"),
    *("n_twins", "twin_difference", "twin_difference_low", "twin_difference_high"),
    *("smallest_effect", "contexts_enough", "draws_settled", "standard_error", "p_draws", "log_p_draws"),
    *("tau2", "i2", "q", "n_samples", "contexts_min", "dropped", "std", "variance", "tau2_method", "draws", "pool"),
    *SIDES,
)

_CONVENTIONS_OF_CEAT = (
    *("std", "alternative", "statistic", "interval", "variance", "tau2_method"),
    *("draws", "pool", "n_samples", "band", "seed"),
)

_MODES = ("fixed", "random")


def effect_by_length(results: Results) -> Section | None:
    """Return the section of effects against segment lengths, in a picture that answers when it is asked."""
    grid = ceat_grid(results)
    if grid is None:
        return None
    drawn = chart(grid, grid.categories, texts_of(grid), choose=True)
    return Section(
        "Effect size against context length",
        "figure",
        text=[prose("effect_by_length")],
        widget=drawn,
        notes=list(_findings_of_variance(grid)),
    )


def texts_of(grid: Grid) -> dict[tuple[str, str, str, str], str]:
    """Return what a cell or a point tells of its estimate, by category, model, length and sample mode."""
    return {key: _told(row, f"{key[1]}, {key[2]} words, {key[3]} draws") for key, row in grid.estimates.items()}


def _findings_of_variance(grid: Grid) -> Iterator[str]:
    """Yield how much of what an effect rests on is words, and how much the contexts that they stand in."""
    rows = [grid.at(c.name, m, n, grid.modes[0]) for c in grid.categories for m in grid.models for n in grid.lengths]
    found = [components for row in rows if row is not None and (components := components_of(row)) is not None]
    shares = [of_row for each in found if (of_row := each.shares)[0] >= 0]
    if shares:
        words, attributes, contexts, rest = (median(column) for column in zip(*shares, strict=True))
        of_contexts = [of_row[2] for of_row in shares]
        yield (
            "What the difference of means would vary with, had there been other words, each in one other context:"
            f" contexts {contexts:.0f} % (from {min(of_contexts):.0f} to {max(of_contexts):.0f} %), target words"
            f" {words:.0f} %, attribute words {attributes:.0f} %, their combinations {rest:.0f} %; medians of"
            f" {count(len(shares), 'estimate')}."
        )


def effects(config: Mapping[str, Any], results: Results) -> Section | None:
    """Return the section of the heat table: CEAT's effects by category, model and length, a table for each mode."""
    grid = ceat_grid(results)
    if grid is None or results.ceat is None:
        return None
    in_paper = preset_of(config) == "paper"
    text = prose("effects", in_paper=in_paper)
    tables = {mode: sheet_to_html(heat_sheet(grid, mode, in_paper=in_paper)) for mode in grid.modes}
    widget = render("heat", tables=tables, legend=_legend(grid, in_paper=in_paper), in_paper=in_paper)
    return Section(
        "Effects by category, model and length",
        "effects",
        text=[text],
        widget=widget,
        parts=[Section("What the numbers say, in sentences", findings=headline_findings(results.ceat), folded=True)],
    )


def sample_modes(results: Results) -> Section | None:
    """Return the section on how far effects by fixed and by random draws are apart."""
    grid = ceat_grid(results)
    if grid is None or not set(_MODES) <= set(grid.modes):
        return None
    rows: list[Row] = []
    apart: list[tuple[float, str]] = []
    for category in grid.categories:
        for model in grid.models:
            for length in grid.lengths:
                fixed, random = (grid.at(category.name, model, length, mode) for mode in _MODES)
                if fixed is None and random is None:
                    continue
                first, second = _number(fixed, "effect_size"), _number(random, "effect_size")
                difference = None
                if first is not None and second is not None:
                    difference = second - first
                    apart.append((abs(difference), f"{category.name}, {model}, {length} words"))
                p = next((p for row in (fixed, random) if (p := _number(row, "p_association")) is not None), None)
                effects = (
                    Cell(signed(value, minus=MINUS), words=few_words(row))
                    for value, row in ((first, fixed), (second, random), (difference, None))
                )
                rows.append(row_of(category.name, model, length, *effects, probability(p)))
    names = ("fixed", "random", "difference", "p_association")
    sheet = Sheet(
        ("Category",),
        numbers("Model", "Length", *names),
        tuple(rows),
        "Effect sizes by both kinds of draws; difference: random minus fixed",
        kinds={"Model": "text"},
    )
    n_samples = " or ".join(map(str, sorted({row["n_samples"] for row in grid.estimates.values()} - {None})))
    compared = "No estimate has a number by both."
    if apart:
        largest, where = max(apart)
        middle = plain(median(distance for distance, _ in apart))
        compared = (
            f"Over {count(len(apart), 'estimate')} the median distance is {middle} and the largest {plain(largest)}"
            f" ({where})."
        )
    return Section(
        "Fixed against random draws",
        "sample_modes",
        text=[
            prose("sample_modes", n_samples=f" ({n_samples})" if n_samples else ""),
            compared,
        ],
        figures=figure_of(results, "sample_modes", label=prose("sample_modes_label")),
        parts=[Section("Fixed and random draws: all numbers", sheets=[sheet], folded=True)],
    )


def reading(results: Results) -> Section | None:
    """Return the section on what the numbers of CEAT say, and what not."""
    if ceat_grid(results) is None:
        return None
    text = prose("reading")
    meanings = [(each.name, f"{each.meaning} {each.limit}") for each in QUANTITIES if "ceat" in each.methods]
    return Section("Reading the numbers", "reading", text=[text], definitions=meanings)


def all_numbers(results: Results) -> Section | None:
    """Return the section with every number of every estimate of CEAT."""
    grid = ceat_grid(results)
    if grid is None:
        return None
    rows = [
        Row(
            (category.name,),
            (
                Cell(model),
                Cell(length, order=str(grid.lengths.index(length))),
                Cell(mode),
                *number_cells(estimate, NUMBERS),
                Cell(str(estimate["dropped"] or "")),
            ),
            search=f"{category.name} {category.title}",
            order=str(number),
        )
        for number, category in enumerate(grid.categories, start=1)
        for model in grid.models
        for length in grid.lengths
        for mode in grid.modes
        if (estimate := grid.at(category.name, model, length, mode)) is not None
    ]
    sheet = Sheet(
        ("Category",),
        numbers("Model", "Words", "Draws", *(number.name for number in NUMBERS), "left out"),
        tuple(_with_anchors(rows, "numbers")),
        "All estimates of CEAT. Left out: stimuli that an estimate does without, and why",
        "explorable estimates",
        {**dict.fromkeys(("Category", "Model", "Words", "Draws"), "list"), "left out": "text note"},
        [*(number.name for number in NUMBERS if number.name not in _AT_FIRST), "left out"],
    )
    categories = [
        html(
            '<a href="#numbers" data-row="numbers-{}">{}</a> {}: {} and {}, {} and {}',
            n,
            *(category.name, category.title),
            *(category.target_x, category.target_y, category.attribute_a, category.attribute_b),
        )
        for n, category in enumerate(grid.categories, start=1)
    ]
    text = conventions_note(
        conventions_of(grid.estimates.values(), _CONVENTIONS_OF_CEAT),
        prose("all_numbers"),
        head="Conventions of these estimates",
    )
    title = html("<strong>{}</strong> estimate{} with all their numbers", len(rows), "" if len(rows) == 1 else "s")
    return Section(
        "All numbers",
        "numbers",
        text=[text],
        items=categories,
        parts=[Section(title, sheets=[sheet], folded=True)],
    )


def settling_of(config: Mapping[str, Any], results: Results) -> Section | None:
    """Return the section on the length from which on effects stay, and on effects as draws are added."""
    if results.settling is None or results.differences is None or results.settling.is_empty():
        return None
    # with so few draws there is one point, which shows nothing
    drawn = results.ceat is not None and bool((results.ceat["n_samples"] > FIRST_DRAWS).any())
    distances = figure_of(
        results,
        "settling",
        label="Distance of each effect from the one at the longest segment length, one panel for each category.",
    )
    convergence = figure_of(
        results,
        "convergence",
        label="Effect against the number of draws at the longest segment length, one panel for each category.",
    )
    text = prose("settling", band=config["associations"]["band"])
    return Section(
        "Where effects settle",
        "lengths",
        text=[text],
        findings=list(findings_of_differences(results.differences, results.settling)),
        figures=[*distances, *(convergence if drawn else [])],
        parts=[Section("All categories and models", sheets=[_settling_sheet(results.settling)], folded=True)],
    )


def ceat_grid(results: Results) -> Grid | None:
    """Return the estimates of CEAT as a grid; None where there are none.

    Raises:
        InputError: a column is missing, or two rows are of the same cell.
    """
    if results.ceat is None or results.ceat.is_empty():
        return None
    require_columns("estimates of CEAT", results.ceat, _NEEDED_OF_CEAT, remade_by("associations"))
    return grid_of(results.ceat)


def heat_sheet(grid: Grid, mode: str, *, in_paper: bool = False) -> Sheet:
    """Return the heat table of one sample mode.

    Args:
        grid: the estimates.
        mode: fixed or random.
        in_paper: whether marks and shades are those of Tables 5 and 6 of Sadhu et al.
    """
    rows = tuple(
        row_of(
            html(
                '<a href="#{}" title="{}">{}</a> <span class="sets">{}<br>{}</span>',
                *(anchor_of(category.name), Markup.escape(category.title)),
                *(category.name, category.targets, category.attributes),
            ),
            *(
                _heat_cell(
                    grid.at(category.name, model, length, mode), f"{model}, {length} words, {mode} draws", in_paper
                )
                for model in grid.models
                for length in grid.lengths
            ),
        )
        for category in grid.categories
    )
    columns = tuple(
        (model, html('{}<span class="unseen"> words</span>', length))
        for model in grid.models
        for length in grid.lengths
    )
    return Sheet(("Category",), columns, rows, f"Effect size, {mode} draws", "heat-table", {"Category": "corner"})


def left_out_of_estimates(grid: Grid) -> list[Markup]:
    """Return what the estimates of each category say of stimuli left out: each text once, with where it holds."""
    found: dict[str, dict[str, list[str]]] = {}
    for (category, model, length, mode), row in grid.estimates.items():
        if row["dropped"]:
            found.setdefault(category, {}).setdefault(row["dropped"], []).append(f"{model} {length} {mode}")
    total = len(grid.models) * len(grid.lengths) * len(grid.modes)
    return [
        html(
            "<strong>{}</strong>: {} ({})",
            category.name,
            text,
            "all estimates" if len(where) == total else ", ".join(where),
        )
        for category in grid.categories
        for text, where in found.get(category.name, {}).items()
    ]


def _heat_cell(estimate: Estimate | None, where: str, in_paper: bool) -> Cell:
    if estimate is None or not is_number(estimate["effect_size"]):
        return Cell(shade="missing", hover=f"{where}: {why_missing(estimate)}")
    effect, hover = estimate["effect_size"], _told(estimate, where, in_paper=in_paper)
    text, words = signed(effect, 2, minus=MINUS), few_words(estimate)
    if in_paper:
        mark = MARK if NOT_BY_DRAWS.marks(estimate) else ""
        return Cell(text, mark, shade=_shade_in_paper(effect), hover=hover, words=words)
    marked = is_marked(estimate)
    return Cell(text, MARK if marked else "", bold=marked, shade=shade_of(effect), hover=hover, words=words)


def _told(estimate: Estimate, where: str, *, in_paper: bool = False) -> str:
    """Return what is to be known of an effect besides itself, a line each: "name: value"."""
    by_draws = f"\np_draws (other draws): {from_log(estimate['log_p_draws'])}"
    return (
        f"{where}\neffect size: {signed(estimate['effect_size'], minus=MINUS)}"
        f"{f'{by_draws}, the p of the paper' if in_paper else ''}"
        f"\n95 % interval over words: {interval_of(estimate, 'ci_low', 'ci_high')}"
        f"\np_association (other words): {probability(estimate['p_association'])}, by Holm"
        f" {probability(estimate.get('p_association_holm'))}"
        f"\nof other targets: {probability(estimate['p_stimuli'])}, of other attributes:"
        f" {probability(estimate['p_attributes'])}"
        f"\nrandom twins: {signed(estimate.get('twin_effect_size'), minus=MINUS)}{from_twins(estimate, 3)}"
        f"\nattributes dealt anew: {interval_of(estimate, 'shuffled_low', 'shuffled_high')}"
        f"{'' if in_paper else by_draws}"
        f"\nfewest contexts of a stimulus: {plain(estimate['contexts_min'])}"
        f"{words_in_full(estimate)}"
        f"\nconventions: {estimate['std']}, V {estimate['variance']}, tau2 {estimate['tau2_method']},"
        f" {estimate['draws']}, pool {estimate['pool']}, N {estimate['n_samples']}"
    )


def _shade_in_paper(effect: float) -> str:
    """Return the class of a cell's shade in the paper's layout: `zero`, or small, medium and large to either side."""
    step = max((step for edge, step in IN_PAPER.items() if abs(effect) >= edge), default=0)
    return "zero" if step == 0 else f"{'plus' if effect > 0 else 'minus'}-{step}"


def _legend(grid: Grid, *, in_paper: bool) -> list[tuple[str, str]]:
    """Return shade and range of each colour of the heat table, from the most negative to the most positive effects.

    At the end stands the hatching, if a cell has it.
    """
    steps = IN_PAPER if in_paper else {edge: step for step, edge in enumerate(THRESHOLDS, start=1)}
    edges = [*map(str, steps), ""]
    shades = {
        sign: [
            (f"{sign}-{step}", f"{mark}{low} to {mark}{high}" if high else f"{mark}{low} and beyond")
            for (low, high), step in zip(pairwise(edges), steps.values(), strict=True)
        ]
        for sign, mark in (("minus", MINUS), ("plus", "+"))
    }
    hatched = [("few", "few words (used/listed): no finding")] * any(map(few_words, grid.estimates.values()))
    return [*reversed(shades["minus"]), ("zero", f"within ±{edges[0]}"), *shades["plus"], *hatched]


def _with_anchors(rows: Iterable[Row], name: str) -> Iterable[Row]:
    """Yield the rows, the first of each category with an anchor that links lead to."""
    seen: set[str] = set()
    for row in rows:
        if row.order in seen:
            yield row
        else:
            seen.add(row.order)
            yield Row(row.labels, row.cells, anchor=f"{name}-{row.order}", search=row.search, order=row.order)


def _settling_sheet(table: pl.DataFrame) -> Sheet:
    """Return the rows of the table of settling, by category; models keep the order of the table."""
    require_columns("settling", table, NEEDED_OF_SETTLING, remade_by("associations"))
    rows = sorted(table.iter_rows(named=True), key=lambda row: natural_order(row["category"]))
    return Sheet(
        ("Category",),
        numbers("Model", "Draws", "settled from", "largest distance", "sure"),
        tuple(
            row_of(
                row["category"],
                row["model"],
                row["sample_mode"],
                _settled(row),
                f"{row['largest_distance']:.2f}" if is_number(row["largest_distance"]) else MISSING,
                MISSING if row["longest"] is None else "yes" if row["sure"] else "no",
            )
            for row in rows
        ),
        "From which length on the effect stays",
        "explorable",
        dict.fromkeys(("Category", "Model", "Draws", "settled from", "sure"), "list"),
    )


def _settled(row: Estimate) -> str:
    if row["longest"] is None:
        return "not computed"
    return f"{row['settled_length']} words" if row["settled_length"] else "not before the longest"


def _number(row: Estimate | None, name: str) -> float | None:
    """Return a number of an estimate, None where it has none that can be shown."""
    value = None if row is None else row.get(name)
    return float(value) if value is not None and is_number(value) else None
