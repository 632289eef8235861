"""Bias percentages of sentence pairs in reading order: groups of pairs, models and bias types.

Table, figure, comparison and page walk the same order. A group is one language of one set of pairs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import polars as pl

from prasanga.columns import remade_by, require_columns
from prasanga.errors import InputError
from prasanga.pairs.names import OVERALL
from prasanga.report.grid import Estimate
from prasanga.report.languages import LANGUAGES, name_of_language

TYPES = ("age", "disability", "gender", "physical-appearance", "socioeconomic", "religion", "caste")
"""Bias types in the order of Table 2 of Sahoo et al. (2024); others come after them."""

NEEDED = (
    *("set", "model", "language", "bias_type", "bias_percentage", "ci_low", "ci_high", "exact_low", "exact_high"),
    *("interval_note", "p_binomial", "p_binomial_holm", "p_binomial_bh", "n_tests", "twin_bias_percentage"),
    *("percentage_stereo", "percentage_antistereo", "n_stereo", "n_antistereo"),
    *("n_pairs", "n_scored", "n_stereotypical", "n_other", "n_ties", "n_left_out", "left_out"),
    *("runs_mean", "runs_sd", "difference_median", "ties", "n_runs", "share", "conventions"),
)
"""The columns without which bias percentages cannot be shown."""


class Group(NamedTuple):
    """The pairs of one language in one set; `title` names the set where there are several."""

    set: str
    language: str
    title: str


@dataclass(frozen=True)
class PairGrid:
    """Rows by (set, language, model, bias type). `types` is without `OVERALL`."""

    groups: tuple[Group, ...]
    models: tuple[str, ...]
    types: tuple[str, ...]
    rows: Mapping[tuple[str, str, str, str], Estimate]

    def at(self, group: Group, model: str, bias_type: str) -> Estimate | None:
        """The row of one cell; None if the table has none."""
        return self.rows.get((group.set, group.language, model, bias_type))

    def models_of(self, group: Group) -> list[str]:
        """The models that scored the pairs of a group."""
        return [model for model in self.models if self.at(group, model, OVERALL) is not None]


def pair_grid_of(bias: pl.DataFrame) -> PairGrid:
    """Arrange a table of bias percentages.

    Raises:
        InputError: no rows, a column missing, or two rows for the same cell.
    """
    require_columns("bias percentages", bias, NEEDED, remade_by("likelihoods"))
    if bias.is_empty():
        raise InputError("bias percentages: the table has no rows. Score at least one set of pairs with one model.")
    rows: dict[tuple[str, str, str, str], Estimate] = {}
    for row in bias.iter_rows(named=True):
        key = (row["set"] or "", row["language"], row["model"] or "", row["bias_type"])
        if key in rows:
            raise InputError(
                f"bias percentages: two rows for {', '.join(filter(None, key))}. Make the table again with the"
                " likelihoods stage."
            )
        rows[key] = row
    return PairGrid(
        groups_of((key[0], key[1]) for key in rows),
        tuple(dict.fromkeys(model for _, _, model, _ in rows)),
        tuple(sort_types(bias["bias_type"].to_list())),
        rows,
    )


def groups_of(found: Iterable[tuple[str, str]]) -> tuple[Group, ...]:
    """Groups of (set, language), sets as they come, languages in the paper's order."""
    pairs = list(dict.fromkeys(found))
    sets = list(dict.fromkeys(name for name, _ in pairs))
    order = list(LANGUAGES)
    pairs.sort(key=lambda pair: (sets.index(pair[0]), order.index(pair[1]) if pair[1] in order else len(order)))
    return tuple(
        Group(name, language, ", ".join(filter(None, [name_of_language(language), name if len(sets) > 1 else ""])))
        for name, language in pairs
    )


def sort_types(found: Iterable[str]) -> list[str]:
    """Bias types, each once, without `OVERALL`: those of the paper in its order, then the others by name."""
    names = set(found) - {OVERALL}
    return [*(name for name in TYPES if name in names), *sorted(names - set(TYPES))]


def name_of_type(bias_type: str) -> str:
    """As a reader sees it: "Physical appearance", "All pairs"."""
    return "All pairs" if bias_type == OVERALL else bias_type.replace("-", " ").capitalize()
