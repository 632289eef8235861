"""The numbers of estimates as cells of a table, and the sections of SEAT, WEAT and log-probability bias."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

import polars as pl
from markupsafe import Markup

from prasanga.associations.cosines import VarianceComponents
from prasanga.base.parquet import remade_by, require_columns
from prasanga.methods import method_named
from prasanga.report.findings import other_method
from prasanga.report.grid import (
    ALPHA,
    LABELS,
    Category,
    Estimate,
    few_words,
    is_number,
    names_of_sets,
    natural_order,
    why_missing,
    words_left_out,
)
from prasanga.report.section import (
    Section,
    conventions_note,
    count,
    prose,
)
from prasanga.report.sheet import (
    MARK,
    MINUS,
    MISSING,
    Cell,
    Row,
    Sheet,
    from_log,
    html,
    numbers,
    plain,
    probability,
    signed,
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


def _signed(column: str) -> Callable[[Estimate], str]:
    return lambda row: signed(row[column], minus=MINUS)


def _plain(column: str, decimals: int = 3) -> Callable[[Estimate], str]:
    return lambda row: plain(row.get(column), decimals)


def _p(column: str) -> Callable[[Estimate], str]:
    return lambda row: probability(row.get(column))


def _interval(low: str, high: str) -> Callable[[Estimate], str]:
    return lambda row: interval_of(row, low, high)


def _used(*sides: str) -> Callable[[Estimate], str]:
    return lambda row: _used_of(row, sides)


def _n_used(*sides: str) -> Callable[[Estimate], object]:
    return lambda row: sum(row[f"n_{side}"] for side in sides)


def _by(column: str) -> Callable[[Estimate], object]:
    return lambda row: row.get(column)


def _of_twins(row: Estimate) -> str:
    mean = signed(row["twin_effect_size"], minus=MINUS)
    return f"{mean} (sd {plain(row['twin_sd'])}, {row['n_twins']})" if is_number(row.get("twin_sd")) else mean


def _from_twins(row: Estimate) -> str:
    difference = signed(row.get("twin_difference"), minus=MINUS)
    low, high = "twin_difference_low", "twin_difference_high"
    return f"{difference} ({interval_of(row, low, high)})" if is_number(row.get(low)) else difference


def components_of(row: Estimate) -> VarianceComponents | None:
    """Return the components of variance of an estimate of CEAT; None where there are none."""
    said = [row.get(f"variance_{name}") for name in VarianceComponents._fields]
    values = [value for value in said if is_number(value)]
    return VarianceComponents(*values) if len(values) == len(said) else None


def _varies_with(row: Estimate) -> str:
    found = components_of(row)
    names = ("words", "attributes", "contexts", "rest")
    return ", ".join(f"{n} {share:.0f} %" for n, share in zip(names, found.shares, strict=True)) if found else MISSING


def _share_of_contexts(row: Estimate) -> float | None:
    found = components_of(row)
    return found.shares[2] if found else None


_DEALT = "attributes dealt anew"

NUMBERS = (
    Number("effect size", _signed("effect_size"), _by("effect_size")),
    Number("95 % interval over words", _interval("ci_low", "ci_high"), _by("ci_low")),
    Number("p_association", _p("p_association"), _by("p_association")),
    Number("Holm", _p("p_association_holm"), _by("p_association_holm")),
    Number("Benjamini-Hochberg", _p("p_association_bh"), _by("p_association_bh")),
    Number("p_stimuli", _p("p_stimuli"), _by("p_stimuli")),
    Number("partitions", lambda row: _partitions(row, "p_stimuli_exact", "n_partitions"), _by("n_partitions")),
    Number("p_attributes", _p("p_attributes"), _by("p_attributes")),
    Number(
        "partitions of attributes",
        lambda row: _partitions(row, "p_attributes_exact", "n_attribute_partitions"),
        _by("n_attribute_partitions"),
    ),
    Number("without one word", _interval("leave_out_low", "leave_out_high"), _by("leave_out_low")),
    Number("random twins", _of_twins, _by("twin_effect_size")),
    Number("difference from twins", _signed("twin_difference"), _by("twin_difference")),
    Number("its 95 % interval", _interval("twin_difference_low", "twin_difference_high"), _by("twin_difference_low")),
    Number("p_twins", _p("p_twins"), _by("p_twins")),
    Number(_DEALT, _interval("shuffled_low", "shuffled_high"), _by("shuffled_low")),
    Number("smallest effect to be found", _plain("smallest_effect", 2), _by("smallest_effect")),
    Number("p_equivalence", _p("p_equivalence"), _by("p_equivalence")),
    Number("within ±", lambda row: plain(row.get("equivalent_within"), 2), _by("equivalent_within")),
    Number("varies with", _varies_with, _share_of_contexts),
    Number("contexts enough", _plain("contexts_enough"), _by("contexts_enough")),
    Number("draws settled", _plain("draws_settled"), _by("draws_settled")),
    Number("standard error of the draws", _plain("standard_error", 4), _by("standard_error")),
    Number("p_draws", lambda row: from_log(row["log_p_draws"]), _by("log_p_draws")),
    Number("τ²", _plain("tau2", 4), _by("tau2")),
    Number("I²", _plain("i2"), _by("i2")),
    Number("Q", _plain("q", 1), _by("q")),
    Number("N", _plain("n_samples"), _by("n_samples"), counted=True),
    Number("targets used", _used("x", "y"), _n_used("x", "y"), counted=True),
    Number("attributes used", _used("a", "b"), _n_used("a", "b"), counted=True),
    Number("fewest contexts", _plain("contexts_min"), _by("contexts_min"), counted=True),
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
    Number("p_sentences", _p("p_sentences"), _by("p_sentences")),
    Number("templates", _plain("n_templates"), _by("n_templates")),
    Number("over words and templates", _interval("ci_templates_low", "ci_templates_high"), _by("ci_templates_low")),
    Number("in one template", _interval("by_template_low", "by_template_high"), _by("by_template_low")),
    Number(
        "without one template", _interval("without_template_low", "without_template_high"), _by("without_template_low")
    ),
)
"""Those of the other methods, the most important first. A column without a single number is not shown."""

SIDES = tuple(f"{kind}_{side}" for kind in ("n", "listed") for side in "xyab")
"""Columns with the words that an estimate used and had listed, by set."""


NEEDED_OF_OTHERS = (
    *("category", "category_title", "target_x", "target_y", "attribute_a", "attribute_b", "model", "dropped"),
    *("effect_size", "ci_low", "ci_high", "p_association", "p_association_holm", "twin_effect_size", "smallest_effect"),
    *(
        "twin_difference",
        "twin_difference_low",
        "twin_difference_high",
        "shuffled_low",
        "shuffled_high",
        "leave_out_low",
        "leave_out_high",
    ),
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


def interval_of(row: Estimate, low: str, high: str) -> str:
    """Return the interval between two columns, a dash where there is none."""
    if not is_number(row.get(low)) or not is_number(row.get(high)):
        return MISSING
    return f"{signed(row[low], minus=MINUS)} to {signed(row[high], minus=MINUS)}"


def order_of(value: object) -> str:
    """Return a number in full precision, as a table of the page sorts by it; empty where there is none."""
    return repr(value) if is_number(value) else ""


def number_cells(row: Estimate, columns: Iterable[Number]) -> list[Cell]:
    """Return the cells of an estimate in these columns."""
    measured = is_number(row["effect_size"])
    return [
        Cell(number.text(row), order=order_of(number.order(row)), words=few_words(row) if number is NUMBERS[0] else "")
        if measured or number.counted
        else Cell(order="")
        for number in columns
    ]


def _other_method(method: str, table: pl.DataFrame) -> Section:
    """Return the section of SEAT ("seat"), WEAT ("weat") or log-probability bias ("log_probability")."""
    require_columns(LABELS[method], table, NEEDED_OF_OTHERS, remade_by("associations"))
    rows = sorted(table.iter_rows(named=True), key=lambda row: natural_order(row["category"]))
    families: dict[str, list[Category]] = {}
    for category in dict.fromkeys(_category(row) for row in rows):
        families.setdefault(re.sub(r"\d.*", "", category.name), []).append(category)
    about = method_named(method)
    twin = " and the difference from its twins" if about.has_twins else ""
    text = prose("other_method", about=f"{about.about}{_exchanged(table)}", twin=twin)
    no_twin = "" if about.has_twins else ", and no twins of static vectors"
    more = f"There is no interval where a set has fewer than eight words{no_twin}."
    return Section(
        about.title,
        method,
        text=[text],
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
        found = [sum(row[low] > 0 or row[high] < 0 for row in both) for low, high in _INTERVALS]
        text += (
            f" With words resampled {found[0]} of {count(len(both), 'interval')} leave out zero, with words and"
            f" templates {found[1]}."
        )
    yield text


_INTERVALS = (("ci_low", "ci_high"), ("ci_templates_low", "ci_templates_high"))


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
            tuple(_overview_cell(estimates.get((category.name, model)), model) for model in models),
            block="" if category is family[0] else None,
            hover=category.title,
        )
        for family in families
        for category in family
    )
    caption = f"Effect size by category and {_unit(method).lower()}"
    return Sheet(("Category",), numbers(*models), lines, caption, "heat-table overview", {"Category": "corner"})


def _overview_cell(row: Estimate | None, model: str) -> Cell:
    if row is None or not is_number(row["effect_size"]):
        return Cell(shade="missing", hover=f"{model}: {why_missing(row)}")
    holm = row["p_association_holm"]
    hover = (
        f"{model}\neffect size {signed(row['effect_size'], minus=MINUS)}"
        f"\n95 % interval over words {interval_of(row, 'ci_low', 'ci_high')}"
        f"\np_association {probability(row['p_association'])}, {probability(holm)} by Holm"
    )
    hover += f"\ndifference from twins {_from_twins(row)}" if is_number(row["twin_effect_size"]) else ""
    hover += words_in_full(row)
    return shaded(row, Cell(signed(row["effect_size"], 2, minus=MINUS), hover=hover))


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
        or any(cell.text != MISSING for row in rows for cell in number_cells(row, [number]))
    ]
    # by log-probability the test moves attributes, so that it is the targets that the control deals
    dealt = "targets dealt anew" if method == "log_probability" else _DEALT
    heads = [dealt if number.name == _DEALT else number.name for number in columns]
    sheet = Sheet(
        ("Category",),
        numbers(first, *heads, "left out"),
        tuple(
            _line(row, n, columns) for n, name in enumerate(names, start=1) for row in rows if row["category"] == name
        ),
        f"{LABELS[method]}, {name}",
        "explorable methods",
        {"Category": "list", first: "list", "left out": "text"},
        heads[6:],
    )
    return Section(html("<strong>{}</strong> {}: all numbers", name, about), sheets=[sheet], folded=True)


def _line(row: Estimate, number: int, columns: Sequence[Number]) -> Row:
    category = _category(row)
    effect, *others = number_cells(row, columns)
    missing = html("Not computed: {}. ", why_missing(row)) if why_missing(row) else Markup("")
    return Row(
        (html('{} <span class="sets">{}; {}</span>', category.name, category.targets, category.attributes),),
        (Cell(row["model"]), shaded(row, effect), *others, Cell(missing + _left_out(row))),
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
    marked = is_number(effect) and is_marked(row)
    shade = shade_of(effect) if is_number(effect) else "missing"
    mark, words = MARK if marked else "", few_words(row)
    return Cell(cell.text, mark, bold=marked, shade=shade, order=cell.order, hover=cell.hover, words=words)


def words_in_full(row: Estimate) -> str:
    """Return what a cell tells of an effect of few words, in a line of its own; nothing of others."""
    words = few_words(row)
    return f"\nwords used of those listed: {words}, too few for a finding" if words else ""


def is_marked(row: Estimate) -> bool:
    """Return whether an effect is significant by Holm's correction."""
    corrected = row.get("p_association_holm")
    return isinstance(corrected, int | float) and is_number(corrected) and corrected < ALPHA


def _exchanged(table: pl.DataFrame) -> str:
    """Return which categories have their targets and attributes exchanged, as a sentence after others."""
    if "exchanged" not in table.columns:
        return ""
    names = sorted(set(table.filter(pl.col("exchanged"))["category"]), key=natural_order)
    return f" Targets and attributes change places in {', '.join(names)}." if names else ""


def _category(row: Estimate) -> Category:
    return Category(row["category"], row["category_title"], *names_of_sets(row))


def _partitions(row: Estimate, exact: str, number: str) -> str:
    if not is_number(row[number]):
        return MISSING
    return f"{'all' if row[exact] else 'sampled'} {row[number]:,}"


def _used_of(row: Estimate, sides: Iterable[str]) -> str:
    """Return how many words were used: "14 + 14", or "13 of 14 + 14" where some were left out."""
    counts = ((row[f"n_{side}"], row[f"listed_{side}"]) for side in sides)
    return " + ".join(f"{used}" if used == listed else f"{used} of {listed}" for used, listed in counts)
