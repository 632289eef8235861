"""Views of the methods besides CEAT, and of other choices: all methods together, other vectors, other conventions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from prasanga.methods import CEAT, method_named
from prasanga.report.agreement import agreement, at_longest, shares_that_hold, side_by_side
from prasanga.report.figures import FOLDER, name_of
from prasanga.report.findings import other_method
from prasanga.report.grid import (
    HOLM,
    LABELS,
    METHODS,
    Category,
    Estimate,
    address_of_number,
    category_of,
    conventions_of,
    excludes_zero,
    few_words,
    interval,
    is_number,
    natural_order,
    why_missing,
)
from prasanga.report.section import Section, conventions_note, count, figure_of, fold, prose
from prasanga.report.sheet import (
    MARK,
    Cell,
    Row,
    Sheet,
    from_twins,
    html,
    list_numbers,
    numbers,
    probability,
    two,
    with_sign,
)
from prasanga.report.study import Results

THRESHOLDS = (0.1, 0.2, 0.5, 0.8, 1.2)
"""Where the shades of the heat table begin: 0.2, 0.5 and 0.8 are called small, medium and large."""

FIRST_NUMBERS = (
    "effect_size ci_low ci_high p_association_holm twin_difference p_twins smallest_effect n_x n_y n_a n_b lost"
)
"""The numbers of an estimate that a table shows at first."""

MORE_NUMBERS = (
    "p_association p_association_bh p_stimuli p_attributes p_sentences interval_note leave_out_low leave_out_high"
    " twin_effect_size n_twins twin_difference_low twin_difference_high shuffled_low shuffled_high p_equivalence"
    " equivalent_within n_templates ci_templates_low ci_templates_high by_template_low by_template_high"
    " without_template_low without_template_high variance_words variance_attributes variance_contexts variance_rest"
    " contexts_min contexts_enough draws_settled standard_error p_draws tau2 i2 q n_samples"
    " listed_x listed_y listed_a listed_b"
)
"""The others, which are shown when they are chosen."""


def list_estimates(
    rows: Sequence[tuple[str, Estimate]], names: str, *, caption: str, hidden: str = "", look: str = "explorable"
) -> Sheet:
    """Return a table of estimates with columns of the registry; effects are shaded and lead to their words.

    Args:
        rows: methods and rows of their tables.
        names: columns, the label first.
        caption: of the table.
        hidden: columns that are shown when they are chosen.
        look: classes of the table on the page.
    """
    named = [{**row, "method": METHODS[method]} for method, row in rows]
    sheet = list_numbers(named, f"{names} {hidden}", caption=caption, hidden=hidden, look=look)
    at = [name for _, name in sheet.columns].index("Effect size")
    lines = []
    for line, (method, row) in zip(sheet.rows, rows, strict=True):
        cells = list(line.cells)
        cells[at] = shaded(row, cells[at], method)
        lines.append(replace(line, cells=tuple(cells)))
    return replace(sheet, rows=lines)


def shaded(row: Estimate, cell: Cell, method: str = "") -> Cell:
    """Return the cell of an effect in its shade, bold with a mark if it is significant, with a link to its words."""
    effect = row["effect_size"]
    if not is_number(effect):
        return replace(cell, shade="missing")
    marked, link = HOLM.marks(row), address_of_number(method, row) if method else cell.link
    return replace(
        cell, mark=MARK * marked, bold=marked, shade=shade_of(effect), words=few_words(row), link=link or cell.link
    )


def shade_of(value: float, steps: Sequence[float] = THRESHOLDS, *, first: int = 1) -> str:
    """Return the class of a cell's shade: `zero`, `plus-1` to `plus-5` above it, `minus-1` to `minus-5` below.

    Args:
        value: of the cell.
        steps: where the shades begin.
        first: number of the first shade.
    """
    reached = sum(abs(value) >= threshold for threshold in steps)
    return f"{'plus' if value > 0 else 'minus'}-{first + reached - 1}" if reached else "zero"


def told_of(row: Estimate, where: str = "") -> str:
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


def other_methods(results: Results) -> list[Section]:
    """Return the sections of SEAT, WEAT and log-probability bias, as far as they were measured."""
    return [_other_method(method, table) for method, table in results.methods]


def _other_method(method: str, table: pl.DataFrame) -> Section:
    rows, about = _by_category(table), method_named(method)
    twin, no_twin = " and the difference from its twins", ""
    if not about.has_twins:
        twin, no_twin = "", ", and no twins of static vectors"
    more = f"There is no interval where a set has fewer than eight words{no_twin}."
    named, caption = [(method, row) for row in rows], f"{LABELS[method]}: all numbers"
    every = list_estimates(named, f"category model {FIRST_NUMBERS}", caption=caption, hidden=MORE_NUMBERS)
    return Section(
        about.title,
        method,
        text=[prose("other_method", about=f"{about.about}{_exchanged(table)}", twin=twin)],
        findings=[*filter(None, [other_method(LABELS[method], table)]), *_findings_of_templates(rows)],
        sheets=[_overview_sheet(method, rows)],
        parts=[fold(count(len(rows), "estimate"), "with all their numbers", sheets=[every])],
        notes=[conventions_note(conventions_of(rows), more)],
    )


def _by_category(table: pl.DataFrame) -> list[Estimate]:
    return sorted(table.iter_rows(named=True), key=lambda row: natural_order(row["category"]))


def _findings_of_templates(rows: Sequence[Estimate]) -> list[str]:
    """Return in how many estimates the sign depends on the template, and how much wider templates make intervals."""
    known = [row for row in rows if is_number(row.get("by_template_low")) and (row.get("n_templates") or 0) > 1]
    if not known:
        return []
    turned, changed = (
        sum(row[f"{name}_low"] < 0 < row[f"{name}_high"] for row in known)
        for name in ("by_template", "without_template")
    )
    both = [row for row in known if is_number(row.get("ci_templates_low")) and is_number(row["ci_low"])]
    of_words, of_both = (sum(excludes_zero(row, name) for row in both) for name in ("ci", "ci_templates"))
    found = {"turned": turned, "changed": changed, "of_words": of_words, "of_both": of_both}
    estimates, intervals = count(len(known), "estimate"), count(len(both), "interval") if both else ""
    return [prose("templates", **found, estimates=estimates, intervals=intervals)]


def _overview_sheet(method: str, rows: Sequence[Estimate]) -> Sheet:
    """Return the effects by category and model."""
    models = list(dict.fromkeys(row["model"] for row in rows))
    estimates = {(row["category"], row["model"]): row for row in rows}
    categories = list(dict.fromkeys(map(category_of, rows)))
    lines = [
        Row(
            (with_sets(category),),
            tuple(heat_cell(method, estimates.get((category.name, model)), model) for model in models),
            hover=category.title,
        )
        for category in categories
    ]
    unit = "vectors" if method_named(method).unit == "vectors" else "model"
    caption = f"Effect size by category and {unit}"
    return Sheet(("Category",), numbers(*models), lines, caption, "heat-table overview", {"Category": "corner"})


def with_sets(category: Category) -> str:
    """Return a category with its sets, in HTML."""
    return html('{} <span class="sets">{}; {}</span>', category.name, category.targets, category.attributes)


def heat_cell(method: str, row: Estimate | None, where: str) -> Cell:
    """Return a cell of a heat table."""
    if row is None or not is_number(row["effect_size"]):
        return Cell(shade="missing", hover=f"{where}: {why_missing(row)}")
    return shaded(row, Cell(two(row["effect_size"]), hover=told_of(row, where)), method)


def _exchanged(table: pl.DataFrame) -> str:
    """Return which categories have their targets and attributes exchanged, as a sentence after others."""
    if "exchanged" not in table.columns:
        return ""
    names = sorted(set(table.filter(pl.col("exchanged"))["category"]), key=natural_order)
    return f" Targets and attributes change places in {', '.join(names)}." if names else ""


# --------------------
# Other vectors, other methods, other choices.


def raw_numbers(results: Results) -> Section | None:
    """Return the section on differences of mean cosines: of vectors scaled otherwise, and of words that are alike."""
    rows = [
        {**row, "method": METHODS[method]}
        for method, table in results.estimates.items()
        if {"difference_centered", "difference_adjusted"} <= set(table.columns)
        for row in _by_category(at_longest(table) if method == CEAT.name else table)
        if is_number(row["effect_size"])
    ]
    if not rows:
        return None
    names = "category method model difference difference_centered difference_standardized effect_size effect_centered"
    more = "effect_standardized difference_adjusted adjusted_low adjusted_high effect_adjusted adjusted_note"
    caption = "Differences of mean cosines, and effect sizes of the same vectors"
    sheet = list_numbers(rows, f"{names} {more}", caption=caption, lists="category method model")
    title = f"{count(len(rows), 'estimate')}, raw and adjusted: all numbers"
    return Section(
        "Raw numbers, and what cosines rest on",
        "raw",
        text=[prose("raw_numbers")],
        findings=list(_findings_of_scales(rows)),
        figures=figure_of(results, "scales", label=prose("scales_label")),
        parts=[Section(title, sheets=[sheet], folded=True)],
    )


def methods_agree(results: Results) -> Section | None:
    """Return the section with all methods side by side, and Kendall's tau of every two."""
    estimates = side_by_side(results.estimates)
    if estimates["method"].n_unique() < 2:
        return None
    found = agreement(estimates)
    named = found.with_columns(pl.col("method_1", "method_2").replace(METHODS)).rows(named=True)
    names = "method_1 method_2 tau tau_low tau_high twin_tau same_sign n_points n_categories n_models"
    sheet = list_numbers(named, names, caption="Agreement of every two methods", look="", forms={"same_sign": ".0%"})
    every = list_numbers(
        estimates.with_columns(pl.col("method").replace(METHODS)).rows(named=True),
        "category method model effect_size ci_low ci_high p_association_holm twin_effect_size",
        caption="Effect size by every method, with its 95% interval over words",
        lists="category method model",
    )
    return Section(
        "Agreement of methods",
        "agreement",
        text=[prose("agreement")],
        findings=list(_findings_of_agreement(found)),
        sheets=[sheet],
        figures=figure_of(results, "methods", label=prose("methods_label")),
        parts=[Section("Each category by every method", sheets=[every], folded=True)],
    )


def _findings_of_agreement(found: pl.DataFrame) -> Iterator[str]:
    """Yield one sentence per pair of methods, whether it agrees by more than chance and by more than its twins."""
    for row in found.iter_rows(named=True):
        if row["tau"] is None:
            continue
        if row["tau_low"] is None:
            known = "too few categories for an interval"
        else:
            ends = interval(row["tau_low"], row["tau_high"], two)
            known = f"95 % interval {ends}, which {'excludes' if excludes_zero(row, 'tau') else 'includes'} zero"
        twins = ""
        if row["twin_tau"] is not None:
            more = "no more than" if row["tau"] <= row["twin_tau"] else "more than"
            twins = f"; {more} twins with random weights, {two(row['twin_tau'])}"
        both = f"{METHODS[row['method_1']]} and {METHODS[row['method_2']]}"
        yield f"{both}: Kendall's tau {two(row['tau'])} over {count(row['n_points'], 'point')} ({known}{twins})."


def other_choices(results: Results) -> Section | None:
    """Return the section on what holds under other choices: a row per method, category and model."""
    if results.multiverse is None or (shares := shares_that_hold(results.multiverse)).is_empty():
        return None
    sheet = list_numbers(
        shares.with_columns(pl.col("method").replace(METHODS)).rows(named=True),
        "category method model n sign_holds star_holds low median high",
        caption="Estimates under all choices",
        lists="category method model",
        forms={"median": "+.2f"},
    )
    file = f"{FOLDER}/{name_of('specifications_{category}', category=shares['category'][0])}.svg"
    title = f"{count(len(shares), 'estimate')} under all choices"
    return Section(
        "Other choices",
        "choices",
        text=[prose("other_choices", file=file)],
        findings=list(_findings_of_choices(shares)),
        parts=[Section(title, sheets=[sheet], folded=True)],
    )


def _findings_of_choices(shares: pl.DataFrame) -> Iterator[str]:
    """Yield, for each method, in how many estimates sign and star hold whatever is chosen."""
    for method in shares["method"].unique(maintain_order=True):
        rows = shares.filter(method=method)
        always, starred, never = rows.filter(sign_holds=1.0), rows.filter(star_holds=1.0), rows.filter(star_holds=0.0)
        some = len(rows) - len(starred) - len(never)
        yield (
            f"{METHODS[method]}: the sign is the same under all choices in {len(always)} of"
            f" {count(len(rows), 'estimate')}; the star holds under all in {len(starred)}, under some in {some}, and"
            f" under none in {len(never)}."
        )


def _findings_of_scales(rows: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Yield how many signs depend on the mean or on few dimensions, and how many differences stay among words alike."""
    rows = list(rows)
    known = [row for row in rows if is_number(row["effect_standardized"])]
    if known:
        turned = [row for row in known if row["effect_size"] * row["effect_standardized"] < 0]
        effects = count(len(known), "effect")
        yield f"With every dimension standardized {len(turned)} of {effects} would have the other sign."
    adjusted = [row for row in rows if is_number(row["adjusted_low"])]
    if adjusted:
        n = sum(excludes_zero(row, "adjusted") for row in adjusted)
        have = (
            f"{n} of {count(len(adjusted), 'difference')} of mean cosines {'has' if n == 1 else 'have'} a 95 % interval"
        )
        yield f"Among words alike in corpus frequency and pieces, {have} that excludes zero."
    few = len(rows) - len(adjusted)
    if few:
        yield f"{count(few, 'estimate')} could not be adjusted for frequency and pieces; the table says why."
