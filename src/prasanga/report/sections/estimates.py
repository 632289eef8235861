"""The numbers of estimates as cells; sections of methods besides CEAT, and on what else could have been measured."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import polars as pl
from markupsafe import Markup

from prasanga.base.parquet import remade_by, require_columns
from prasanga.losses import Reason, group_lost_words
from prasanga.methods import CEAT, method_named
from prasanga.report.agreement import agreement, at_longest, shares_that_hold, side_by_side
from prasanga.report.ceat_table import HOLM
from prasanga.report.figures import FOLDER, name_of
from prasanga.report.findings import other_method
from prasanga.report.grid import (
    LABELS,
    METHODS,
    Category,
    Estimate,
    address_of_number,
    category_of,
    excludes_zero,
    few_words,
    interval,
    is_number,
    natural_order,
    why_missing,
    words_left_out,
)
from prasanga.report.section import Section, conventions_note, count, figure_of, fold, prose
from prasanga.report.sheet import (
    MARK,
    MISSING,
    Cell,
    Row,
    Sheet,
    from_log,
    html,
    numbers,
    plain,
    probability,
    row_of,
    two,
    with_sign,
)
from prasanga.report.study import Results
from prasanga.stats.crossed import VarianceComponents

THRESHOLDS = (0.1, 0.2, 0.5, 0.8, 1.2)
"""Where the shades of the heat table begin: 0.2, 0.5 and 0.8 are what is called small, medium and large."""

AXES = {"GR": "gender and religion", "GC": "gender and caste", "GA": "gender and age"}
"""What the categories of Sahoo et al. (2024) are about, by the letters of their names."""


class Number(NamedTuple):
    """A column of numbers of an estimate: its name, its text, and what it is sorted by.

    `counted` numbers are known of an estimate that was not computed as well.
    """

    name: str
    text: Callable[[Estimate], str]
    order: Callable[[Estimate], object]
    counted: bool = False


def _number(name: str, column: str, write: Callable[..., str] = plain, *decimals: int, counted: bool = False) -> Number:
    """Return the numbers of a column as `write` writes them."""
    return Number(name, lambda row: write(row.get(column), *decimals), lambda row: row.get(column), counted)


def _interval(name: str, column: str) -> Number:
    """Return the intervals between the columns `<column>_low` and `<column>_high`."""
    return Number(name, lambda row: interval_of(row, column), lambda row: row.get(f"{column}_low"))


def _used(name: str, *sides: str) -> Number:
    """Return how many words of these sets were used."""
    return Number(name, lambda row: _used_of(row, sides), lambda row: sum(row[f"n_{side}"] for side in sides), True)


def _partitions(name: str, exact: str, column: str) -> Number:
    """Return how many partitions a test counted, and whether these are all."""

    def text(row: Estimate) -> str:
        return f"{'all' if row[exact] else 'sampled'} {row[column]:,}" if is_number(row[column]) else MISSING

    return Number(name, text, lambda row: row.get(column))


def _of_twins(row: Estimate) -> str:
    mean = with_sign(row["twin_effect_size"])
    return f"{mean} (sd {plain(row['twin_sd'])}, {row['n_twins']})" if is_number(row.get("twin_sd")) else mean


def components_of(row: Estimate) -> VarianceComponents | None:
    """Return the components of variance of an estimate of CEAT; None where there are none."""
    said = [row.get(f"variance_{name}") for name in VarianceComponents._fields]
    values = [value for value in said if is_number(value)]
    return VarianceComponents(*values) if len(values) == len(said) else None


def _varies_with(row: Estimate) -> str:
    found, names = components_of(row), ("words", "attributes", "contexts", "rest")
    return ", ".join(f"{n} {share:.0f} %" for n, share in zip(names, found.shares, strict=True)) if found else MISSING


_DEALT = "attributes dealt anew"

NUMBERS = (
    _number("effect size", "effect_size", with_sign),
    _interval("95 % interval over words", "ci"),
    _number("p_association", "p_association", probability),
    _number("Holm", "p_association_holm", probability),
    _number("Benjamini-Hochberg", "p_association_bh", probability),
    _number("p_stimuli", "p_stimuli", probability),
    _partitions("partitions", "p_stimuli_exact", "n_partitions"),
    _number("p_attributes", "p_attributes", probability),
    _partitions("partitions of attributes", "p_attributes_exact", "n_attribute_partitions"),
    _interval("without one word", "leave_out"),
    Number("random twins", _of_twins, lambda row: row.get("twin_effect_size")),
    _number("difference from twins", "twin_difference", with_sign),
    _interval("its 95 % interval", "twin_difference"),
    _number("p_twins", "p_twins", probability),
    _interval(_DEALT, "shuffled"),
    _number("smallest effect to be found", "smallest_effect", plain, 2),
    _number("p_equivalence", "p_equivalence", probability),
    _number("within ±", "equivalent_within", plain, 2),
    Number("varies with", _varies_with, lambda row: found.shares[2] if (found := components_of(row)) else None),
    _number("contexts enough", "contexts_enough"),
    _number("draws settled", "draws_settled"),
    _number("standard error of the draws", "standard_error", plain, 4),
    _number("p_draws", "log_p_draws", from_log),
    _number("τ²", "tau2", plain, 4),
    _number("I²", "i2"),
    _number("Q", "q", plain, 1),
    _number("N", "n_samples", counted=True),
    _used("targets used", "x", "y"),
    _used("attributes used", "a", "b"),
    _number("fewest contexts", "contexts_min", counted=True),
)
"""The numbers of an estimate of CEAT, in the order of their columns."""

ABOUT_INTERVAL = Number(
    "about the interval", lambda row: about_interval(row) or MISSING, lambda row: row.get("interval_note")
)
"""The column on intervals that do not contain their effect, for tables with such an interval."""

_OF_OTHERS = (
    *("effect size", "95 % interval over words", "Holm", "difference from twins", "p_association", _DEALT),
    *("without one word", "random twins", "its 95 % interval", "p_twins"),
    *("smallest effect to be found", "p_equivalence", "within ±", "targets used", "attributes used"),
    *("p_stimuli", "p_attributes"),
)

_NUMBERS_OF_OTHERS = (
    *(next(number for number in NUMBERS if number.name == name) for name in _OF_OTHERS),
    _number("p_sentences", "p_sentences", probability),
    _number("templates", "n_templates"),
    _interval("over words and templates", "ci_templates"),
    _interval("in one template", "by_template"),
    _interval("without one template", "without_template"),
    ABOUT_INTERVAL,
)
"""Those of the other methods, the most important first. A column without a single number is not shown."""

SIDES = tuple(f"{kind}_{side}" for kind in ("n", "listed") for side in "xyab")
"""Columns with the words that an estimate used and had listed, by set."""


NEEDED_OF_OTHERS = (
    *("category", "category_title", "target_x", "target_y", "attribute_a", "attribute_b", "model", "lost"),
    *("effect_size", "ci_low", "ci_high", "p_association", "p_association_holm", "twin_effect_size", "smallest_effect"),
    *("twin_difference", "twin_difference_low", "twin_difference_high", "shuffled_low", "shuffled_high"),
    *("leave_out_low", "leave_out_high"),
    *SIDES,
)
"""The columns without which a table of SEAT, WEAT or log-probability bias cannot be shown."""

_CONVENTIONS_OF_OTHERS = (
    *("std", "alternative", "statistic", "interval", "n_resamples", "equivalence_margin"),
    *("sentence_vector", "unit", "average", "vectors", "method", "forms", "pieces", "terms", "seed"),
)


def other_methods(results: Results) -> list[Section]:
    """Return the sections of SEAT, WEAT and log-probability bias, as far as they were measured."""
    return [_other_method(method, table) for method, table in results.methods]


def shade_of(value: float, steps: Sequence[float] = THRESHOLDS, *, first: int = 1) -> str:
    """Return the class of a cell's shade: `zero`, `plus-1` to `plus-5` above it, `minus-1` to `minus-5` below.

    Args:
        value: of the cell.
        steps: where the shades begin.
        first: number of the first shade.
    """
    reached = sum(abs(value) >= threshold for threshold in steps)
    return f"{'plus' if value > 0 else 'minus'}-{first + reached - 1}" if reached else "zero"


def conventions_of(rows: Iterable[Estimate], named: Sequence[str]) -> list[str]:
    """Return what the rows with an effect say in the columns `named`, as far as they have them; each text once.

    A row that was not computed says nothing of how it would have been. All rows if none was computed.
    """
    rows = list(rows)
    rows = [row for row in rows if is_number(row["effect_size"])] or rows
    texts = (", ".join(f"{name} {row[name]}" for name in named if row.get(name) is not None) for row in rows)
    return list(dict.fromkeys(texts))


def interval_of(row: Estimate, column: str) -> str:
    """Return the interval between the columns `<column>_low` and `<column>_high`, a dash where there is none."""
    return interval(row.get(f"{column}_low"), row.get(f"{column}_high"), with_sign)


def about_interval(row: Estimate) -> str:
    """Return what the table says about an interval that it has, such as why the effect is outside; mostly nothing."""
    return str(row.get("interval_note") or "") if is_number(row.get("ci_low")) else ""


def sorted_by(value: object, text: str) -> Cell:
    """Return a cell with a text, by which a table of the page sorts in full precision; last where it is no number."""
    return Cell(text, order=repr(value) if is_number(value) else "")


def number_cells(method: str, row: Estimate, columns: Iterable[Number]) -> list[Cell]:
    """Return the cells of an estimate of a method in these columns, the effect first."""
    measured = is_number(row["effect_size"])
    effect, *others = [
        sorted_by(number.order(row), number.text(row)) if measured or number.counted else Cell(order="")
        for number in columns
    ]
    link = address_of_number(method, row) if measured else ""
    return [replace(effect, words=few_words(row), link=link), *others]


def _other_method(method: str, table: pl.DataFrame) -> Section:
    """Return the section of SEAT ("seat"), WEAT ("weat") or log-probability bias ("log_probability")."""
    require_columns(LABELS[method], table, NEEDED_OF_OTHERS, remade_by("associations"))
    rows = _by_category(table)
    families: dict[str, list[Category]] = {}
    for category in dict.fromkeys(map(category_of, rows)):
        families.setdefault(re.sub(r"\d.*", "", category.name), []).append(category)
    about = method_named(method)
    twin, no_twin = " and the difference from its twins", ""
    if not about.has_twins:
        twin, no_twin = "", ", and no twins of static vectors"
    more = f"There is no interval where a set has fewer than eight words{no_twin}."
    return Section(
        about.title,
        method,
        text=[prose("other_method", about=f"{about.about}{_exchanged(table)}", twin=twin)],
        findings=[*filter(None, [other_method(LABELS[method], table)]), *_findings_of_templates(rows)],
        sheets=[_overview_sheet(method, rows, families.values())],
        parts=[_family(method, rows, letters, categories) for letters, categories in families.items()],
        notes=[conventions_note(conventions_of(rows, _CONVENTIONS_OF_OTHERS), more)],
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


def _unit(method: str) -> str:
    """Return what a row or column of a method is called."""
    return "Vectors" if method_named(method).unit == "vectors" else "Model"


def _overview_sheet(method: str, rows: Sequence[Estimate], families: Iterable[Sequence[Category]]) -> Sheet:
    """Return the effects by category and model, a block for each family of categories."""
    models = list(dict.fromkeys(row["model"] for row in rows))
    estimates = {(row["category"], row["model"]): row for row in rows}
    lines = tuple(
        Row(
            (_with_sets(category),),
            tuple(_overview_cell(method, estimates.get((category.name, model)), model) for model in models),
            block="" if category is family[0] else None,
            hover=category.title,
        )
        for family in families
        for category in family
    )
    caption = f"Effect size by category and {_unit(method).lower()}"
    return Sheet(("Category",), numbers(*models), lines, caption, "heat-table overview", {"Category": "corner"})


def _overview_cell(method: str, row: Estimate | None, model: str) -> Cell:
    if row is None or not is_number(row["effect_size"]):
        return Cell(shade="missing", hover=f"{model}: {why_missing(row)}")
    return shaded(row, Cell(two(row["effect_size"]), hover=told_of(row), link=address_of_number(method, row)))


def told_of(row: Estimate) -> str:
    """Return what is to be known of an effect of SEAT, WEAT or log-probability bias, a line each."""
    twins = ""
    if is_number(row["twin_effect_size"]):
        between = interval_of(row, "twin_difference")
        twins = f"\ndifference from twins {with_sign(row.get('twin_difference'))}"
        twins += "" if between == MISSING else f" ({between})"
    return (
        f"{row['model']}\neffect size {with_sign(row['effect_size'])}"
        f"\n95 % interval over words {interval_of(row, 'ci')}{in_full(ABOUT_INTERVAL.name, about_interval(row))}"
        f"\np_association {probability(row['p_association'])}, {probability(row['p_association_holm'])} by Holm"
        f"{twins}{words_in_full(row)}"
    )


def _family(method: str, rows: Sequence[Estimate], letters: str, categories: Sequence[Category]) -> Section:
    """Return all numbers of the categories whose names begin with the same letters."""
    names = [category.name for category in categories]
    name = " to ".join(dict.fromkeys((names[0], names[-1])))
    about = AXES.get(letters) or ", ".join(dict.fromkeys(category.attributes for category in categories))
    first = _unit(method)
    columns = [
        number
        for number in _NUMBERS_OF_OTHERS
        if number.name == "effect size"
        or any(cell.text != MISSING for row in rows for cell in number_cells(method, row, [number]))
    ]
    # by log-probability the test moves attributes, so that it is the targets that the control deals
    dealt = "targets dealt anew" if method == "log_probability" else _DEALT
    heads = [dealt if number.name == _DEALT else number.name for number in columns]
    sheet = Sheet(
        ("Category",),
        numbers(first, *heads, "left out"),
        [
            _line(method, row, number, columns)
            for number, name in enumerate(names, start=1)
            for row in rows
            if row["category"] == name
        ],
        f"{LABELS[method]}, {name}",
        "explorable methods",
        {"Category": "list", first: "list", ABOUT_INTERVAL.name: "text note", "left out": "text"},
        heads[6:],
    )
    return fold(name, f"{about}: all numbers", sheets=[sheet])


def _with_sets(category: Category) -> Markup:
    return html('{} <span class="sets">{}; {}</span>', category.name, category.targets, category.attributes)


def _line(method: str, row: Estimate, number: int, columns: Sequence[Number]) -> Row:
    category, missing = category_of(row), why_missing(row)
    effect, *others = number_cells(method, row, columns)
    why = html("Not computed: {}. ", missing) if missing else Markup("")
    return Row(
        (_with_sets(category),),
        (Cell(row["model"]), shaded(row, effect), *others, Cell(why + _left_out(row))),
        search=f"{category.name} {category.targets} {category.attributes}",
        order=str(number),
    )


def _left_out(row: Estimate) -> Markup:
    """Return the words that an estimate does without, as the stage that measured lists them, by reason, folded."""
    reasons = words_left_out(row)
    if not reasons:
        return Markup("")
    lost = sum(map(len, group_lost_words(row["lost"], without=[Reason.REPEATED]).values()))
    listed = sum(row[f"listed_{side}"] for side in "xyab")
    texts = (": ".join(filter(None, [reason, ", ".join(words)])) for reason, words in reasons.items())
    items = Markup("").join(html("<li>{}</li>", text) for text in texts)
    folded = '<details class="fold"><summary>{} of {} words left out</summary><ul>{}</ul></details>'
    return html(folded, lost, listed, items)


def shaded(row: Estimate, cell: Cell) -> Cell:
    """Return the cell of an effect in its shade, bold with a mark where it is significant."""
    effect = row["effect_size"]
    marked = is_number(effect) and HOLM.marks(row)
    shade = shade_of(effect) if is_number(effect) else "missing"
    return replace(cell, mark=MARK if marked else "", bold=marked, shade=shade, words=few_words(row))


def words_in_full(row: Estimate) -> str:
    """Return what a cell tells of an effect of few words, in a line of its own; nothing of others."""
    words = few_words(row)
    return in_full("words used of those listed", f"{words}, too few for a finding" if words else "")


def in_full(name: str, text: str) -> str:
    """Return a line of what a cell tells; nothing for an empty text."""
    return f"\n{name}: {text}" if text else ""


def _exchanged(table: pl.DataFrame) -> str:
    """Return which categories have their targets and attributes exchanged, as a sentence after others."""
    if "exchanged" not in table.columns:
        return ""
    names = sorted(set(table.filter(pl.col("exchanged"))["category"]), key=natural_order)
    return f" Targets and attributes change places in {', '.join(names)}." if names else ""


def _used_of(row: Estimate, sides: Iterable[str]) -> str:
    """Return how many words were used: "14 + 14", or "13 of 14 + 14" where some were left out."""
    counts = ((row[f"n_{side}"], row[f"listed_{side}"]) for side in sides)
    return " + ".join(f"{used}" if used == listed else f"{used} of {listed}" for used, listed in counts)


# --------------------
# What else could have been measured: other vectors, other words, other methods, other choices.


_RAW = (
    *("difference", "difference_centered", "difference_standardized"),
    *("effect_size", "effect_centered", "effect_standardized"),
)
_ADJUSTED = ("difference_adjusted", "adjusted_low", "adjusted_high", "effect_adjusted", "adjusted_note")


def raw_numbers(results: Results) -> Section | None:
    """Return the section on differences of mean cosines: of vectors scaled otherwise, and of words that are alike."""
    rows = [
        (METHODS[method], row)
        for method, table in results.estimates.items()
        if {*_RAW, *_ADJUSTED} <= set(table.columns)
        for row in _by_category(at_longest(table) if method == CEAT.name else table)
        if is_number(row["effect_size"])
    ]
    if not rows:
        return None
    names = ("difference", "centered", "standardized", "d", "d, centered", "d, standardized")
    sheet = Sheet(
        ("Category",),
        numbers("Method", "Model", *names, "adjusted difference", "its 95 % interval", "d, adjusted", "adjusted for"),
        [_raw_line(method, row) for method, row in rows],
        "Differences of mean cosines, and effect sizes of the same vectors",
        "explorable raw",
        {"Category": "list", "Method": "list", "Model": "list", "adjusted for": "text"},
    )
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
    sheet = Sheet(
        ("Methods",),
        numbers("Kendall's tau", "95 % interval", "of the twins", "same sign", "points", "categories", "models"),
        [_tau_line(row) for row in found.iter_rows(named=True)],
        "Agreement of every two methods",
    )
    return Section(
        "Agreement of methods",
        "agreement",
        text=[prose("agreement")],
        findings=list(_findings_of_agreement(found)),
        sheets=[sheet],
        figures=figure_of(results, "methods", label=prose("methods_label")),
        parts=[Section("Each category by every method", sheets=[_by_method(estimates)], folded=True)],
    )


def _tau_line(row: Estimate) -> Row:
    return row_of(
        _both(row),
        *(_two(row["tau"]), sorted_by(row["tau_low"], _ends(row)), _two(row["twin_tau"])),
        MISSING if row["same_sign"] is None else f"{100 * row['same_sign']:.0f} %",
        *(plain(row[name]) for name in ("n_points", "n_categories", "n_models")),
    )


def _two(value: float | None) -> Cell:
    return sorted_by(value, two(value))


def _three(value: float | None) -> Cell:
    return sorted_by(value, with_sign(value))


def _both(row: Estimate) -> str:
    return f"{METHODS[row['method_1']]} and {METHODS[row['method_2']]}"


def _ends(row: Estimate) -> str:
    return interval(row["tau_low"], row["tau_high"], two)


def _findings_of_agreement(found: pl.DataFrame) -> Iterator[str]:
    """Yield one sentence a pair of methods, whether it agrees by more than chance and by more than its twins."""
    for row in found.iter_rows(named=True):
        if row["tau"] is None:
            continue
        if row["tau_low"] is None:
            known = "too few categories for an interval"
        else:
            known = f"95 % interval {_ends(row)}, which {'excludes' if excludes_zero(row, 'tau') else 'includes'} zero"
        twins = ""
        if row["twin_tau"] is not None:
            more = "no more than" if row["tau"] <= row["twin_tau"] else "more than"
            twins = f"; {more} twins with random weights, {two(row['twin_tau'])}"
        yield (
            f"{_both(row)}: Kendall's tau {two(row['tau'])} over {count(row['n_points'], 'point')} ({known}{twins})."
        )


def _by_method(estimates: pl.DataFrame) -> Sheet:
    """Return the estimates, a row a category and model, a column a method."""
    methods = estimates["method"].unique(maintain_order=True).to_list()
    rows = {(row["category"], row["model"], row["method"]): row for row in estimates.iter_rows(named=True)}
    lines = []
    for category, model in sorted({key[:2] for key in rows}, key=lambda key: (natural_order(key[0]), key[1])):
        cells = []
        for method in methods:
            row = rows.get((category, model, method))
            if row is None:
                cells.append(_two(None))
                continue
            cell, marked = _two(row["effect_size"]), HOLM.marks(row)
            text = cell.text + (f" ({interval_of(row, 'ci')})" if is_number(row["ci_low"]) else "")
            cells.append(replace(cell, text=text, mark=MARK * marked, bold=marked, words=row["few_words"]))
        lines.append(Row((category,), (Cell(model), *cells)))
    return Sheet(
        ("Category",),
        numbers("Model", *(METHODS[method] for method in methods)),
        lines,
        "Effect size by every method, with its 95 % interval over words",
        "explorable by_method",
        {"Category": "list", "Model": "list"},
    )


def other_choices(results: Results) -> Section | None:
    """Return the section on what holds under other choices: a row a method, category and model."""
    if results.multiverse is None or results.multiverse.is_empty():
        return None
    shares = shares_that_hold(results.multiverse)
    if shares.is_empty():
        return None
    names = ("specifications", "sign holds", "star holds", "lowest d", "median d", "highest d")
    sheet = Sheet(
        ("Category",),
        numbers("Method", "Model", *names),
        [_share_line(row) for row in shares.iter_rows(named=True)],
        "Estimates under all choices",
        "explorable choices",
        {"Category": "list", "Method": "list", "Model": "list"},
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


def _share_line(row: Estimate) -> Row:
    shares = (sorted_by(row[name], f"{100 * row[name]:.0f} %") for name in ("sign_holds", "star_holds"))
    effects = (_two(row[name]) for name in ("low", "median", "high"))
    return row_of(row["category"], METHODS[row["method"]], row["model"], str(row["n"]), *shares, *effects)


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


def _raw_line(method: str, row: Estimate) -> Row:
    adjusted_for = "frequency and pieces" if is_number(row["difference_adjusted"]) else ""
    return row_of(
        *(row["category"], method, row["model"]),
        *(_three(row[name]) for name in (*_RAW, "difference_adjusted")),
        sorted_by(row["adjusted_low"], interval_of(row, "adjusted")),
        _three(row["effect_adjusted"]),
        "; ".join(filter(None, [adjusted_for, row["adjusted_note"]])),
    )


def _findings_of_scales(rows: list[tuple[str, Estimate]]) -> Iterator[str]:
    """Yield how many signs depend on the mean or on few dimensions, and how many differences stay among words alike."""
    known = [row for _, row in rows if is_number(row["effect_standardized"])]
    if known:
        turned = [row for row in known if row["effect_size"] * row["effect_standardized"] < 0]
        effects = count(len(known), "effect")
        yield f"With every dimension standardized {len(turned)} of {effects} would have the other sign."
    adjusted = [row for _, row in rows if is_number(row["adjusted_low"])]
    if adjusted:
        n = sum(excludes_zero(row, "adjusted") for row in adjusted)
        have = (
            f"{n} of {count(len(adjusted), 'difference')} of mean cosines {'has' if n == 1 else 'have'} a 95 % interval"
        )
        yield f"Among words alike in corpus frequency and pieces, {have} that excludes zero."
    few = len(rows) - len(adjusted)
    if few:
        yield f"{count(few, 'estimate')} could not be adjusted for frequency and pieces; the table says why."
