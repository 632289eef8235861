"""What the page shows for judging the lexicon: lengths, suffixes with their hits, and hits with their surroundings."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

import polars as pl

from prasanga.report.word_sets import Word, WordSet

_SUFFIXES_SHOWN = 40
_NAMED = 3
"""So many forms, and so many files, are named of each stimulus."""


class AuditTables(NamedTuple):
    """The tables that `prasanga.sentences.audit` makes."""

    forms: pl.DataFrame
    concordance: pl.DataFrame
    suffixes: pl.DataFrame
    lengths: pl.DataFrame


class LengthBin(NamedTuple):
    """Contexts of a range of lengths, in percent of all and of the fullest bin, and those at least as long."""

    words: str
    contexts: int
    percent: float
    bar: float
    at_least: float


class Suffix(NamedTuple):
    """A suffix (or whole form) of a group, how it is read, and what it brought; `percent` of its group."""

    suffix: str
    kind: str
    reading: str
    occurrences: int
    percent: float
    stimuli: int
    examples: str


class Group(NamedTuple):
    """A suffix group: what it brought, the suffixes that brought most, and how many more did and did not occur."""

    name: str
    occurrences: int
    percent: float
    suffixes: list[Suffix]
    more: int
    unused: int


class Hit(NamedTuple):
    """A form with what stands before and after it."""

    left: str
    form: str
    right: str


class StimulusHits(NamedTuple):
    """The hits drawn of one stimulus, and how many it has in all."""

    word: Word
    occurrences: int
    hits: list[Hit]


class SetHits(NamedTuple):
    """The stimuli of a word set that stand in no earlier one, with their hits."""

    name: str
    hits: int
    stimuli: list[StimulusHits]


class Found(NamedTuple):
    """Of one stimulus: how many forms and files it was found in, and the most frequent of them, with numbers."""

    n_forms: int
    forms: list[tuple[str, int]]
    n_sources: int
    sources: list[tuple[str, int]]


class Audit(NamedTuple):
    """What the page shows of the audit."""

    lengths: list[LengthBin]
    groups: list[Group]
    sets: list[SetHits]
    found: dict[str, Found]


def view(tables: AuditTables, sets: Sequence[WordSet]) -> Audit:
    """Arrange the tables of the audit for the page, the hits by word set."""
    found = _found(tables.forms)
    return Audit(_length_bins(tables.lengths), _groups(tables.suffixes), _set_hits(tables, sets), found)


def _length_bins(lengths: pl.DataFrame) -> list[LengthBin]:
    counts = lengths["contexts"].to_list()
    total, most = max(sum(counts), 1), max([*counts, 1])
    labels = [
        f"{low} or more" if high is None else f"{low}–{high}"
        for low, high in lengths.select("at_least", "at_most").iter_rows()
    ]
    return [
        LengthBin(label, count, 100 * count / total, 100 * count / most, 100 * sum(counts[place:]) / total)
        for place, (label, count) in enumerate(zip(labels, counts, strict=True))
    ]


def _groups(suffixes: pl.DataFrame) -> list[Group]:
    """The groups, that with the most hits first; groups without a hit last."""
    total = max(int(suffixes["occurrences"].sum()), 1)
    groups = []
    for (name,), rows in suffixes.group_by("group", maintain_order=True):
        brought = int(rows["occurrences"].sum())
        used = rows.filter(pl.col("occurrences") > 0)
        shown = [
            Suffix(
                row["suffix"],
                row["kind"],
                ", ".join(filter(None, (row["number"], row["case"]))),
                row["occurrences"],
                100 * row["occurrences"] / brought,
                row["stimuli"],
                row["examples"],
            )
            for row in used.head(_SUFFIXES_SHOWN).iter_rows(named=True)
        ]
        more, unused = used.height - len(shown), rows.height - used.height
        groups.append(Group(str(name), brought, 100 * brought / total, shown, more, unused))
    return sorted(groups, key=lambda group: -group.occurrences)


def _found(forms: pl.DataFrame) -> dict[str, Found]:
    of_form, of_source = (_most_frequent(forms, name) for name in ("form", "source"))
    return {
        stimulus: Found(len(named), named[:_NAMED], len(of_source[stimulus]), of_source[stimulus][:_NAMED])
        for stimulus, named in of_form.items()
    }


def _most_frequent(forms: pl.DataFrame, name: str) -> dict[str, list[tuple[str, int]]]:
    """The values of a column by stimulus, each with its occurrences, the most frequent first."""
    counts = forms.group_by("stimulus", name).agg(pl.col("occurrences").sum())
    order = counts.sort("stimulus", "occurrences", name, descending=[False, True, False])
    found: defaultdict[str, list[tuple[str, int]]] = defaultdict(list)
    for stimulus, value, occurrences in order.select("stimulus", name, "occurrences").iter_rows():
        found[stimulus].append((value, occurrences))
    return dict(found)


def _set_hits(tables: AuditTables, sets: Sequence[WordSet]) -> list[SetHits]:
    """Every stimulus with hits once, in the first word set that has it; those of no set at the end."""
    hits: defaultdict[str, list[Hit]] = defaultdict(list)
    for row in tables.concordance.sort("stimulus", "rank").iter_rows(named=True):
        hits[row["stimulus"]].append(Hit(row["left"], row["form"], row["right"]))
    totals = dict(tables.forms.group_by("stimulus").agg(pl.col("occurrences").sum()).iter_rows())
    words = [(word_set.name, word) for word_set in sets for word in word_set.words]
    placed = {word.stimulus for _, word in words}
    words += [("Words of no set", Word(name, "", "", [], 0)) for name in hits if name not in placed]
    arranged: dict[str, list[StimulusHits]] = {}
    for name, word in words:
        if word.stimulus in hits:
            found = StimulusHits(word, totals.get(word.stimulus, 0), hits.pop(word.stimulus))
            arranged.setdefault(name, []).append(found)
    return [SetHits(name, sum(len(each.hits) for each in found), found) for name, found in arranged.items()]
