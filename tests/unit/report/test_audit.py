"""What the page shows of the audit, on tables small enough to count by hand."""

from __future__ import annotations

import polars as pl
import pytest

from prasanga.report.audit import AuditTables, Found, Hit, LengthBin, view
from prasanga.report.word_sets import Word, WordSet

ROSE = Word("গোলাপ", "rose", "thing_consonant", ["গোলাপ"], 3)
MOSQUITO = Word("মশা", "mosquito", "thing_a", ["মশা"], 2)
UNSEEN = Word("জবা", "hibiscus", "thing_a", ["জবা"], 2)
SETS = [WordSet("flowers", "target in C1", [ROSE, UNSEEN]), WordSet("all", "target in C2", [MOSQUITO, ROSE])]


def test_hits_stand_once_in_their_first_word_set(audit: AuditTables) -> None:
    sets = view(audit, SETS).sets
    shown = [(each.name, each.hits, [found.word.stimulus for found in each.stimuli]) for each in sets]
    assert shown == [("flowers", 2, ["গোলাপ"]), ("all", 1, ["মশা"]), ("Words of no set", 1, ["নদী"])]
    rose = sets[0].stimuli[0]
    assert (rose.word, rose.occurrences) == (ROSE, 1540)
    assert rose.hits == [Hit("লাল ", "গোলাপের", " গন্ধ <b>"), Hit("সে ‘", "গোলাপ", "’ বলল")]


def test_forms_and_files_of_a_stimulus_are_named_by_frequency(audit: AuditTables) -> None:
    found = view(audit, SETS).found
    assert found["গোলাপ"] == Found(
        4,
        [("গোলাপের", 1520), ("গোলাপ", 10), ("গোলাপে", 7)],
        3,
        [("b.txt", 1503), ("a.txt", 30), ("c.txt", 7)],
    )
    assert found["মশা"] == Found(1, [("মশা", 60)], 1, [("a.txt", 60)])


def test_groups_are_sorted_by_what_they_brought(audit: AuditTables) -> None:
    groups = view(audit, SETS).groups
    assert [(each.name, each.occurrences, each.more, each.unused) for each in groups] == [
        ("thing_consonant", 1534, 0, 1),
        ("thing_a", 60, 0, 0),
        ("unused", 0, 0, 1),
    ]
    genitive = groups[0].suffixes[0]
    assert (genitive.suffix, genitive.reading, genitive.occurrences) == ("ের", "singular, genitive", 1520)
    assert genitive.percent == pytest.approx(100 * 1520 / 1534)
    assert groups[0].percent == pytest.approx(100 * 1534 / 1594)


def test_of_many_suffixes_the_most_frequent_are_shown(audit: AuditTables) -> None:
    many = pl.concat([audit.suffixes.head(1).with_columns(occurrences=pl.lit(90 - n, pl.Int64)) for n in range(45)])
    (group,) = view(audit._replace(suffixes=many), SETS).groups
    assert [row.occurrences for row in group.suffixes] == list(range(90, 50, -1))
    assert (group.more, group.unused) == (5, 0)


def test_lengths_in_percent_of_all_and_of_those_at_least_as_long(audit: AuditTables) -> None:
    assert view(audit, SETS).lengths == [
        LengthBin("1–8", 100, 25.0, pytest.approx(100 / 3), 100.0),
        LengthBin("9–74", 300, 75.0, 100.0, 75.0),
        LengthBin("75 or more", 0, 0.0, 0.0, 0.0),
    ]


def test_an_audit_of_nothing(audit: AuditTables) -> None:
    nothing = view(AuditTables(*(table.clear() for table in audit)), SETS)
    assert nothing == ([], [], [], {})
