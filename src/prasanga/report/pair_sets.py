"""What the sets of sentence pairs hold, on the page: the numbers of the paper's Table 6, and what is odd about them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import polars as pl

from prasanga.columns import remade_by, require_columns
from prasanga.pairs.names import OVERALL
from prasanga.pairs.oddity_kinds import KINDS
from prasanga.report.grid import Group, groups_of, is_number, name_of_language, name_of_type
from prasanga.report.sheet import MISSING

STATISTICS = ("set", "language", "subset", "statistic", "category", "value", "n_pairs")
"""The columns of the table of statistics that the page needs."""

ODDITIES = ("pair_id", "language", "column", "kind", "found", "done")
"""The same of a table of oddities."""

EXAMPLES = 3
"""So many findings of a kind are shown."""

_LONGEST = 60
_ORIGINS = {"inherited": "inherited", "tuples": "from tuples"}


class Share(NamedTuple):
    """A statistic: a text for each subset."""

    name: str
    cells: list[str]


class SetBlock(NamedTuple):
    """One language of one set: how many pairs each subset has, and their statistics."""

    title: str
    subsets: list[str]
    pairs: list[str]
    shares: list[Share]


class Finding(NamedTuple):
    """A finding about one pair."""

    pair: str
    found: str
    done: str


class OddityKind(NamedTuple):
    """A kind of finding: how many pairs of each language have it, and the first of them."""

    kind: str
    meaning: str
    counts: str
    examples: list[Finding]


class SetOddities(NamedTuple):
    """What is odd about one set."""

    name: str
    n_findings: int
    kinds: list[OddityKind]


class PairSets(NamedTuple):
    """The part of the section on the sets themselves."""

    blocks: list[SetBlock]
    oddities: list[SetOddities]


def pair_sets(statistics: pl.DataFrame, oddities: Mapping[str, pl.DataFrame]) -> PairSets:
    """The part of the page about the sets of pairs.

    Args:
        statistics: of all sets (`prasanga.pairs.statistics`), with the column set.
        oddities: by set (`prasanga.pairs.PairFile.oddities`).

    Raises:
        InputError: a column is missing.
    """
    require_columns("statistics of pairs", statistics, STATISTICS, remade_by("pairs"))
    groups = groups_of(statistics.select("set", "language").iter_rows())
    return PairSets(
        [_block(statistics.filter(set=group.set, language=group.language), group) for group in groups],
        [_oddities(name, table) for name, table in oddities.items()],
    )


def _block(table: pl.DataFrame, group: Group) -> SetBlock:
    subsets = table["subset"].unique(maintain_order=True).to_list()
    numbers = {row[:3]: row[3:] for row in table.select("statistic", "subset", *STATISTICS[4:]).iter_rows()}
    n_pairs = {subset: numbers["mean_words", subset, OVERALL][1] for subset in subsets}
    # a subset of all pairs would say everything twice
    subsets = [subset for subset in subsets if subset == OVERALL or n_pairs[subset] < n_pairs[OVERALL]]
    names = table.select("statistic", "category").unique(maintain_order=True).rows()
    return SetBlock(
        group.title,
        ["all pairs" if subset == OVERALL else _ORIGINS.get(subset, subset) for subset in subsets],
        [f"{n_pairs[subset]:,}" for subset in subsets],
        [
            Share(
                _name(statistic, category),
                [_text(statistic, *numbers[statistic, subset, category]) for subset in subsets],
            )
            for statistic, category in names
        ],
    )


def _name(statistic: str, category: str) -> str:
    if statistic == "mean_words":
        return "Words in a sentence, mean"
    return name_of_type(category) if statistic == "bias_type_percentage" else f"Labelled {category}"


def _text(statistic: str, value: float | None, n_pairs: int) -> str:
    if value is None or not is_number(value):
        return MISSING
    return f"{value:.2f}" if statistic == "mean_words" else f"{value:.1f} % ({n_pairs:,})"


def _oddities(name: str, table: pl.DataFrame) -> SetOddities:
    require_columns(f"oddities of the set {name}", table, ODDITIES, remade_by("pairs"))
    kinds = []
    order = {kind: place for place, kind in enumerate(KINDS)}
    for kind in sorted(table["kind"].unique(), key=order.__getitem__):
        rows = table.filter(kind=kind)
        counts = rows.group_by("language", maintain_order=True).agg(pl.col("pair_id").n_unique()).rows()
        kinds.append(
            OddityKind(
                kind,
                KINDS[kind],
                ", ".join(f"{n:,}\u00a0{name_of_language(language)}" for language, n in counts),
                [
                    Finding(f"{row['pair_id']}, {row['language']}, {row['column']}", _short(row["found"]), row["done"])
                    for row in rows.head(EXAMPLES).iter_rows(named=True)
                ],
            )
        )
    return SetOddities(name, len(table), kinds)


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1].rstrip()}…"
