"""What stands on the page beside CEAT: WEAT on static vectors, SEAT on templates, and how CEAT changes with length."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import polars as pl

from prasanga.columns import remade_by, require_columns
from prasanga.report.findings import ALPHA, by_chance
from prasanga.report.grid import (
    LABELS,
    Category,
    Estimate,
    is_number,
    names_of_sets,
    natural_order,
    why_missing,
    words_left_out,
)
from prasanga.report.heat import HeatCell, conventions_of, interval_of, shade_of, used_of
from prasanga.report.sheet import MINUS, MISSING, plain, probability, signed

ESTIMATE_COLUMNS = (
    "effect size",
    "95 % interval over words",
    "Holm",
    "random twin",
    "p_stimuli",
    "attributes dealt anew",
    "without one word",
    "smallest effect to be found",
    "targets used",
    "attributes used",
    "p_sentences",
)
"""The most important first. A column without a single number is not shown."""

TITLES = {
    "seat": "SEAT: words in bleached sentences",
    "weat": "WEAT: static vectors",
    "log_probability": "Log-probability bias: masked words in templates",
}
TEXTS = {
    "seat": (
        "Vectors of sentences such as \u201cThis is a flower\u201d, which say little but the word (May et al. 2019)."
        " p_stimuli moves a word with all its sentences."
    ),
    "weat": "One vector for each word, whatever stands around it (Caliskan et al. 2017).",
    "log_probability": (
        "How much likelier a model finds the words of the first target set than those of the second beside an attribute"
        " word, less how much it does with that word masked (Kurita et al. 2019; Sadhu et al. 2024, section 3.3)."
        " p_stimuli moves an attribute word with all its sentences."
    ),
}
SETTLING_LABEL = "Distance of each effect from the one at the longest segment length, one panel for each category."
CONVERGENCE_LABEL = "Effect against the number of draws at the longest segment length, one panel for each category."

FIRST_DRAWS = 100
"""The first number of draws of which the effect is known besides that of all."""

AXES = {"GR": "gender and religion", "GC": "gender and caste", "GA": "gender and age"}
"""What the categories of Sahoo et al. (2024) are about, by the letters of their names."""

_SETS = ("target_x", "target_y", "attribute_a", "attribute_b")
_NUMBERS = (
    *("effect_size", "ci_low", "ci_high", "p_stimuli", "p_stimuli_holm", "twin_effect_size", "smallest_effect"),
    *("shuffled_low", "shuffled_high", "leave_out_low", "leave_out_high"),
    *(f"{kind}_{side}" for kind in ("n", "listed") for side in "xyab"),
)
NEEDED = ("category", "category_title", *_SETS, "model", "dropped", *_NUMBERS)
"""The columns without which a table of WEAT or SEAT cannot be shown."""

_NEEDED_OF_DIFFERENCES = ("kind", "ci_low", "ci_high")
_NEEDED_OF_SETTLING = (
    *("category", "model", "sample_mode", "band", "settled_length", "longest", "largest_distance", "sure"),
)
_CONVENTIONS = (
    *("std", "alternative", "interval", "n_resamples", "sentence_vector", "unit", "average"),
    *("vectors", "method", "forms", "pieces", "terms", "seed"),
)
_DEALT = "attributes dealt anew"


class LeftOut(NamedTuple):
    """Words that an estimate does without: how many of how many listed, and why, each reason with its words."""

    words: int
    listed: int
    reasons: list[str]


class EstimateRow(NamedTuple):
    """An estimate of WEAT or SEAT: where it belongs, a text for each of `ESTIMATE_COLUMNS`, and what was left out."""

    category: Category
    model: str
    shade: str
    marked: bool
    cells: list[str]
    why_missing: str
    left_out: LeftOut | None


class Block(NamedTuple):
    """A category with its rows in the table of all numbers, and a cell for each model in the overview."""

    category: Category
    rows: list[EstimateRow]
    overview: list[HeatCell]


class Family(NamedTuple):
    """Categories whose names begin with the same letters: the first and last name, what they are about, and all."""

    name: str
    about: str
    blocks: list[Block]


class Section(NamedTuple):
    """A section of the page: the estimates of one method."""

    id: str
    label: str
    title: str
    text: str
    models: list[str]
    families: list[Family]
    columns: list[tuple[int, str]]
    conventions: list[str]

    @property
    def n_categories(self) -> int:
        """How many categories the method measured."""
        return sum(len(family.blocks) for family in self.families)


class SettlingRow(NamedTuple):
    """Where the effect of a category in one model stays: from which length on, how far others are, how sure that is."""

    category: str
    model: str
    mode: str
    settled: str
    distance: str
    sure: str


def section_of(method: str, table: pl.DataFrame) -> Section:
    """The section of the page for a table of SEAT ("seat"), WEAT ("weat") or log-probability bias ("log_probability").

    Raises:
        InputError: a column is missing.
    """
    rows = estimate_rows(table, name=LABELS[method])
    models = list(dict.fromkeys(row.model for row in rows))
    estimates = {(row["category"], row["model"]): row for row in table.iter_rows(named=True)}
    families: dict[str, list[Block]] = {}
    for category in dict.fromkeys(row.category for row in rows):
        cells = [_overview(estimates.get((category.name, model)), model) for model in models]
        block = Block(category, [row for row in rows if row.category == category], cells)
        families.setdefault(re.sub(r"\d.*", "", category.name), []).append(block)
    return Section(
        method,
        LABELS[method],
        TITLES[method],
        f"{TEXTS[method]}{_exchanged(table)}",
        models,
        [_family(letters, blocks) for letters, blocks in families.items()],
        [
            # by log-probability the test moves attributes, so that it is the targets that the control deals
            (n, "targets dealt anew" if (name, method) == (_DEALT, "log_probability") else name)
            for n, name in enumerate(ESTIMATE_COLUMNS)
            if n == 0 or any(row.cells[n] != MISSING for row in rows)
        ],
        conventions_of(estimates.values(), _CONVENTIONS),
    )


def _exchanged(table: pl.DataFrame) -> str:
    """Which categories have their targets and attributes exchanged, as a sentence after others."""
    if "exchanged" not in table.columns:
        return ""
    names = sorted(set(table.filter(pl.col("exchanged"))["category"]), key=natural_order)
    return f" Targets and attributes change places in {', '.join(names)}." if names else ""


def estimate_rows(table: pl.DataFrame, *, name: str = "estimates") -> list[EstimateRow]:
    """The rows of a table of WEAT or SEAT, by category; models keep the order of the table.

    Raises:
        InputError: a column is missing.
    """
    require_columns(name, table, NEEDED, remade_by("associations"))
    rows = sorted(table.iter_rows(named=True), key=lambda row: natural_order(row["category"]))
    return [_estimate_row(row) for row in rows]


def settling_rows(table: pl.DataFrame) -> list[SettlingRow]:
    """The rows of the table of settling, by category; models keep the order of the table.

    Raises:
        InputError: a column is missing.
    """
    require_columns("settling", table, _NEEDED_OF_SETTLING, remade_by("associations"))
    rows = sorted(table.iter_rows(named=True), key=lambda row: natural_order(row["category"]))
    return [
        SettlingRow(
            row["category"],
            row["model"],
            row["sample_mode"],
            _settled(row),
            f"{row['largest_distance']:.2f}" if is_number(row["largest_distance"]) else MISSING,
            MISSING if row["longest"] is None else "yes" if row["sure"] else "no",
        )
        for row in rows
    ]


def findings_of_differences(differences: pl.DataFrame, settling: pl.DataFrame) -> Iterator[str]:
    """How many differences between lengths and between models are larger than chance, and where effects settle.

    Raises:
        InputError: a column is missing.
    """
    require_columns("differences", differences, _NEEDED_OF_DIFFERENCES, remade_by("associations"))
    require_columns("settling", settling, _NEEDED_OF_SETTLING, remade_by("associations"))
    for kind, what in (("length", "between two lengths of a model"), ("model", "between two models at a length")):
        known = differences.filter((pl.col("kind") == kind) & pl.col("ci_low").is_not_null())
        if len(known):
            apart = known.filter((pl.col("ci_low") > 0) | (pl.col("ci_high") < 0))
            yield (
                f"Of {len(known)} difference{'' if len(known) == 1 else 's'} {what}, {len(apart)}"
                f" {'has' if len(apart) == 1 else 'have'} a paired 95 % interval that leaves out zero;"
                f" {by_chance(len(known))} would without any difference."
            )
    known = settling.filter(pl.col("largest_distance").is_not_null())
    if len(known):
        settled = known.filter(pl.col("settled_length").is_not_null())
        yield (
            f"In {len(settled)} of {len(known)} rows of category, model and draws{_not_among(settling)} the effect"
            f" settles before the longest length: from there on it stays within {known['band'][0]:g} of the last one."
            f"{_how_sure(len(settled), len(settled.filter(pl.col('sure'))))}"
        )


def _not_among(settling: pl.DataFrame) -> str:
    """Which rows can say nothing of settling."""
    missing = settling["longest"].null_count()
    alone = settling["largest_distance"].null_count() - missing
    said = [f"{missing} not computed"] * bool(missing) + [f"{alone} at one length only"] * bool(alone)
    return f" ({', '.join(said)})" if said else ""


def _how_sure(settled: int, sure: int) -> str:
    """In how many of the rows that settled the intervals say so, too; empty where none settled."""
    if not settled:
        return ""
    if settled == 1:
        where, not_there = "There", "do not lie within that band"
    else:
        where, not_there = f"In {'all' if sure == settled else sure or 'none'} of them", "lie within that band"
    they = f" {where} the intervals of the differences"
    if not sure:
        return f"{they} {not_there}, so it may be luck."
    return f"{they} lie within that band as well, so that it is more than luck."


def _settled(row: Mapping[str, Any]) -> str:
    if row["longest"] is None:
        return "not computed"
    return f"{row['settled_length']} words" if row["settled_length"] else "not before the longest"


def _family(letters: str, blocks: list[Block]) -> Family:
    names = [block.category.name for block in blocks]
    attributes = dict.fromkeys(block.category.attributes for block in blocks)
    about = AXES.get(letters) or ", ".join(attributes)
    return Family(names[0] if len(names) == 1 else f"{names[0]} to {names[-1]}", about, blocks)


def _overview(row: Estimate | None, model: str) -> HeatCell:
    if row is None or not is_number(row["effect_size"]):
        return HeatCell(MISSING, "missing", marked=False, hover=f"{model}: {why_missing(row)}")
    holm, twin = row["p_stimuli_holm"], row["twin_effect_size"]
    hover = (
        f"{model}\neffect size {signed(row['effect_size'], minus=MINUS)}"
        f"\n95 % interval over words {interval_of(row, 'ci_low', 'ci_high')}"
        f"\np_stimuli {probability(row['p_stimuli'])}, {probability(holm)} by Holm"
    )
    hover += f"\nrandom twin {signed(twin, minus=MINUS)}" if is_number(twin) else ""
    return HeatCell(signed(row["effect_size"], 2, minus=MINUS), shade_of(row["effect_size"]), _is_marked(row), hover)


def _estimate_row(row: dict[str, Any]) -> EstimateRow:
    category = Category(row["category"], row["category_title"], *names_of_sets(row))
    used = [used_of(row, "x", "y"), used_of(row, "a", "b")]
    where, left_out = (category, row["model"]), _left_out(row)
    if not is_number(row["effect_size"]):
        cells = [MISSING] * (len(ESTIMATE_COLUMNS) - 3) + used + [MISSING]
        return EstimateRow(*where, "missing", False, cells, why_missing(row), left_out)
    cells = [
        signed(row["effect_size"], minus=MINUS),
        interval_of(row, "ci_low", "ci_high"),
        probability(row["p_stimuli_holm"]),
        signed(row["twin_effect_size"], minus=MINUS),
        probability(row["p_stimuli"]),
        interval_of(row, "shuffled_low", "shuffled_high"),
        interval_of(row, "leave_out_low", "leave_out_high"),
        plain(row["smallest_effect"], 2),
        *used,
        probability(row.get("p_sentences")),
    ]
    return EstimateRow(*where, shade_of(row["effect_size"]), _is_marked(row), cells, "", left_out)


def _is_marked(row: Mapping[str, Any]) -> bool:
    corrected = row["p_stimuli_holm"]
    return isinstance(corrected, int | float) and is_number(corrected) and corrected < ALPHA


def _left_out(row: Mapping[str, Any]) -> LeftOut | None:
    """The words left out, as the stage that measured lists them ("word: reason; word: reason"), by reason."""
    reasons = words_left_out(row)
    if not reasons:
        return None
    listed = sum(row[f"listed_{side}"] for side in "xyab")
    return LeftOut(
        sum(map(len, reasons.values())),
        listed,
        [f"{reason}: {', '.join(words)}" if reason else ", ".join(words) for reason, words in reasons.items()],
    )
