"""What a study measured, method by method, in numbers: the table at the head of the page."""

from __future__ import annotations

from typing import NamedTuple

import polars as pl

from prasanga.pairs.names import OVERALL
from prasanga.report.findings import ALPHA
from prasanga.report.grid import LABELS, is_number, name_of_language, sort_lengths
from prasanga.report.log_probability import scored_traits
from prasanga.report.study import Results


class Measured(NamedTuple):
    """One method: the section of the page that shows it, and what was measured.

    Attributes:
        section: id of the section.
        label: name of the method.
        models: how many models, or sets of static vectors.
        over: what they were asked, as "2 categories at 9, >75 words".
        computed: how many numbers came out, of how many ("34 of 36").
        significant: how many of them are significant after Holm's correction; empty where nothing is tested.
    """

    section: str
    label: str
    models: int
    over: str
    computed: str
    significant: str


def overview_of(results: Results) -> list[Measured]:
    """The methods that a study measured, CEAT first."""
    found = []
    if results.ceat is not None:
        lengths, modes = sort_lengths(results.ceat["segment_length"]), sorted(set(results.ceat["sample_mode"]))
        over = f"{_categories(results.ceat)} at {', '.join(lengths)} words, {' and '.join(modes)} draws"
        found.append(_of_effects("effects", "CEAT", results.ceat, over))
    found += [_of_effects(name, LABELS[name], table, _categories(table)) for name, table in results.methods]
    if results.structures is not None:
        found.append(_of_structures(results.structures))
    if results.bias_percentages is not None:
        found.append(_of_pairs(results.bias_percentages))
    return found


def _of_effects(section: str, label: str, table: pl.DataFrame, over: str) -> Measured:
    effects = [is_number(value) for value in table["effect_size"]]
    corrected = table["p_stimuli_holm"].to_list() if "p_stimuli_holm" in table.columns else []
    tested = [p for p, computed in zip(corrected, effects, strict=False) if computed and is_number(p)]
    significant = f"{sum(p < ALPHA for p in tested)} of {len(tested)}" if tested else ""
    return Measured(section, label, _n_models(table), over, f"{sum(effects)} of {len(effects)}", significant)


def _of_structures(spread: pl.DataFrame) -> Measured:
    structures = sorted(set(spread["structure"]))
    scored, asked = scored_traits(spread)
    over = f"traits in {structures[0]} to {structures[-1]}" if len(structures) > 1 else f"traits in {structures[0]}"
    return Measured("structures", "Sentence structures", _n_models(spread), over, f"{scored:,} of {asked:,}", "")


def _of_pairs(bias: pl.DataFrame) -> Measured:
    overall = bias.filter(pl.col("bias_type") == OVERALL)
    languages = [name_of_language(code) for code in bias["language"].unique(maintain_order=True)]
    rows = list(bias.iter_rows(named=True))
    computed = [row for row in rows if is_number(row["bias_percentage"])]
    tested = [row for row in computed if is_number(row["p_binomial_holm"])]
    significant = f"{sum(row['p_binomial_holm'] < ALPHA for row in tested)} of {len(tested)}" if tested else ""
    most = max((n for n in overall["n_pairs"] if n), default=0)
    over = f"{most:,} pairs at most in a language; {', '.join(languages)}"
    return Measured("pairs", "Sentence pairs", _n_models(bias), over, f"{len(computed)} of {len(rows)}", significant)


def _n_models(table: pl.DataFrame) -> int:
    return table["model"].n_unique()


def _categories(table: pl.DataFrame) -> str:
    number = table["category"].n_unique()
    return f"{number} categor{'y' if number == 1 else 'ies'}"
