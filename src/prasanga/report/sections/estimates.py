"""The numbers of estimates as cells of a table, and the sections of SEAT, WEAT and log-probability bias."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import polars as pl
from markupsafe import Markup

from prasanga.associations.cosines import VarianceComponents
from prasanga.base.parquet import remade_by, require_columns
from prasanga.methods import method_named
from prasanga.report.ceat_table import HOLM
from prasanga.report.findings import other_method
from prasanga.report.grid import (
    LABELS,
    Category,
    Estimate,
    address_of_number,
    category_of,
    few_words,
    interval,
    is_number,
    natural_order,
    why_missing,
    words_left_out,
)
from prasanga.report.section import Section, conventions_note, count, fold, prose
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
    two,
    with_sign,
)
from prasanga.report.study import Results

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


def _from_twins(row: Estimate) -> str:
    difference, between = with_sign(row.get("twin_difference")), interval_of(row, "twin_difference")
    return difference if between == MISSING else f"{difference} ({between})"


def components_of(row: Estimate) -> VarianceComponents | None:
    """Return the components of variance of an estimate of CEAT; None where there are none."""
    said = [row.get(f"variance_{name}") for name in VarianceComponents._fields]
    values = [value for value in said if is_number(value)]
    return VarianceComponents(*values) if len(values) == len(said) else None


def _varies_with(row: Estimate) -> str:
    found, names = components_of(row), ("words", "attributes", "contexts", "rest")
    return ", ".join(f"{n} {share:.0f} %" for n, share in zip(names, found.shares, strict=True)) if found else MISSING


def _share_of_contexts(row: Estimate) -> float | None:
    found = components_of(row)
    return found.shares[2] if found else None


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
    Number("varies with", _varies_with, _share_of_contexts),
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
)
"""Those of the other methods, the most important first. A column without a single number is not shown."""

SIDES = tuple(f"{kind}_{side}" for kind in ("n", "listed") for side in "xyab")
"""Columns with the words that an estimate used and had listed, by set."""


NEEDED_OF_OTHERS = (
    *("category", "category_title", "target_x", "target_y", "attribute_a", "attribute_b", "model", "dropped"),
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


def shade_of(value: float, steps: Sequence[float] = THRESHOLDS) -> str:
    """Return the class of a cell's shade: `zero`, `plus-1` to `plus-5` above it, `minus-1` to `minus-5` below."""
    step = sum(abs(value) >= threshold for threshold in steps)
    return "zero" if step == 0 else f"{'plus' if value > 0 else 'minus'}-{step}"


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


def order_of(value: object) -> str:
    """Return a number in full precision, as a table of the page sorts by it; empty where there is none."""
    return repr(value) if is_number(value) else ""


def number_cells(method: str, row: Estimate, columns: Iterable[Number]) -> list[Cell]:
    """Return the cells of an estimate of a method in these columns, the effect first."""
    measured = is_number(row["effect_size"])
    effect, *others = [
        Cell(number.text(row), order=order_of(number.order(row))) if measured or number.counted else Cell(order="")
        for number in columns
    ]
    link = address_of_number(method, row) if measured else ""
    return [replace(effect, words=few_words(row), link=link), *others]


def _other_method(method: str, table: pl.DataFrame) -> Section:
    """Return the section of SEAT ("seat"), WEAT ("weat") or log-probability bias ("log_probability")."""
    require_columns(LABELS[method], table, NEEDED_OF_OTHERS, remade_by("associations"))
    rows = sorted(table.iter_rows(named=True), key=lambda row: natural_order(row["category"]))
    families: dict[str, list[Category]] = {}
    for category in dict.fromkeys(map(category_of, rows)):
        families.setdefault(re.sub(r"\d.*", "", category.name), []).append(category)
    about = method_named(method)
    twin = " and the difference from its twins" if about.has_twins else ""
    no_twin = "" if about.has_twins else ", and no twins of static vectors"
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


def _findings_of_templates(rows: Sequence[Estimate]) -> Iterator[str]:
    """Yield in how many estimates the sign depends on the template, and how much wider templates make intervals."""
    known = [row for row in rows if is_number(row.get("by_template_low")) and (row.get("n_templates") or 0) > 1]
    if not known:
        return
    turned = sum(row["by_template_low"] < 0 < row["by_template_high"] for row in known)
    without = sum(row["without_template_low"] < 0 < row["without_template_high"] for row in known)
    text = (
        f"Templates are a sample: in {turned} of {count(len(known), 'estimate')} the effect has one sign in some"
        f" templates and the other in others; in {without} leaving out one template is enough to change it."
    )
    both = [row for row in known if is_number(row.get("ci_templates_low")) and is_number(row["ci_low"])]
    if both:
        found = [sum(row[f"{ci}_low"] > 0 or row[f"{ci}_high"] < 0 for row in both) for ci in ("ci", "ci_templates")]
        text += (
            f" With words resampled {found[0]} of {count(len(both), 'interval')} exclude zero, with words and"
            f" templates {found[1]}."
        )
    yield text


def _unit(method: str) -> str:
    """Return what a row or column of a method is called."""
    return "Vectors" if method_named(method).unit == "vectors" else "Model"


def _overview_sheet(method: str, rows: Sequence[Estimate], families: Iterable[Sequence[Category]]) -> Sheet:
    """Return the effects by category and model, a block for each family of categories."""
    models = list(dict.fromkeys(row["model"] for row in rows))
    estimates = {(row["category"], row["model"]): row for row in rows}
    lines = tuple(
        Row(
            (html('{} <span class="sets">{}; {}</span>', category.name, category.targets, category.attributes),),
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
    twins = f"\ndifference from twins {_from_twins(row)}" if is_number(row["twin_effect_size"]) else ""
    return (
        f"{row['model']}\neffect size {with_sign(row['effect_size'])}"
        f"\n95 % interval over words {interval_of(row, 'ci')}"
        f"\np_association {probability(row['p_association'])}, {probability(row['p_association_holm'])} by Holm"
        f"{twins}{words_in_full(row)}"
    )


def _family(method: str, rows: Sequence[Estimate], letters: str, categories: Sequence[Category]) -> Section:
    """Return all numbers of the categories whose names begin with the same letters."""
    names = [category.name for category in categories]
    name = names[0] if len(names) == 1 else f"{names[0]} to {names[-1]}"
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
        {"Category": "list", first: "list", "left out": "text"},
        heads[6:],
    )
    return fold(name, f"{about}: all numbers", sheets=[sheet])


def _line(method: str, row: Estimate, number: int, columns: Sequence[Number]) -> Row:
    category, missing = category_of(row), why_missing(row)
    effect, *others = number_cells(method, row, columns)
    why = html("Not computed: {}. ", missing) if missing else Markup("")
    return Row(
        (html('{} <span class="sets">{}; {}</span>', category.name, category.targets, category.attributes),),
        (Cell(row["model"]), shaded(row, effect), *others, Cell(why + _left_out(row))),
        search=f"{category.name} {category.targets} {category.attributes}",
        order=str(number),
    )


def _left_out(row: Estimate) -> Markup:
    """Return the words that an estimate does without, as the stage that measured lists them, by reason, folded."""
    reasons = words_left_out(row)
    if not reasons:
        return Markup("")
    listed = sum(row[f"listed_{side}"] for side in "xyab")
    texts = (f"{reason}: {', '.join(words)}" if reason else ", ".join(words) for reason, words in reasons.items())
    return html(
        '<details class="fold"><summary>{} of {} words left out</summary><ul>{}</ul></details>',
        sum(map(len, reasons.values())),
        listed,
        Markup("").join(html("<li>{}</li>", text) for text in texts),
    )


def shaded(row: Estimate, cell: Cell) -> Cell:
    """Return the cell of an effect in its shade, bold with a mark where it is significant."""
    effect = row["effect_size"]
    marked = is_number(effect) and HOLM.marks(row)
    shade = shade_of(effect) if is_number(effect) else "missing"
    return replace(cell, mark=MARK if marked else "", bold=marked, shade=shade, words=few_words(row))


def words_in_full(row: Estimate) -> str:
    """Return what a cell tells of an effect of few words, in a line of its own; nothing of others."""
    words = few_words(row)
    return f"\nwords used of those listed: {words}, too few for a finding" if words else ""


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
