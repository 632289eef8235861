"""The sentences, word for word, on tables small enough to check by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import polars as pl
import pytest
from tables import read_cases

from prasanga.report.findings import headline_findings, other_method, tell_strength
from prasanga.report.grid import few_words

Table = Callable[..., pl.DataFrame]


def told(part: str, ceat: pl.DataFrame) -> str | None:
    """The only finding with this part in it."""
    found = [sentence for sentence in headline_findings(ceat) if part in sentence]
    assert len(found) < 2
    return found[0] if found else None


FOUND = {"p_association": 0.0004}
"""What makes an effect of more than .54 an association that was found."""


def test_no_finding_is_built_on_few_words(table: Table) -> None:
    few = {**FOUND, "n_x": 2, "listed_x": 14, "n_y": 3, "listed_y": 14}
    ceat = table(
        ("C4", "a", "9", "fixed", 1.65, few),
        ("C4", "b", "9", "fixed", 1.65, few),
        ("C1", "a", "9", "fixed", 0.9, {**FOUND, "n_a": 9, "listed_a": 14}),
        ("C10", "a", "9", "fixed", 0.9, FOUND),
    )
    assert told("Few words", ceat) == (
        "Few words (fewer than 8 in a set or under two thirds of its list): 3 of 4 effects, left out of all other"
        " findings. C1 attributes 9/14 v 8/8 (a, mean over lengths); C4 2/14 v 3/14 (a, mean over lengths"
        " and 1 more)."
    )
    assert str(told("The largest is", ceat)).startswith("CEAT: 1 of 1 effect was found.")
    others = " ".join(finding for finding in headline_findings(ceat) if finding != told("Few words", ceat))
    assert not [part for part in ("1.65", "C4", "C1,", "C1;") if part in others]
    assert told("Few words", ceat.filter(pl.col("category") == "C10")) is None


@pytest.mark.parametrize(
    ("n_x", "listed_x", "said"),
    [
        (8, 8, ""),
        (8, 12, ""),  # a third is lost, and not more
        (8, 13, "8/13 v 8/8"),
        (7, 7, "7/7 v 8/8"),
        (2, 14, "2/14 v 8/8"),
    ],
)
def test_few_are_less_than_eight_and_less_than_two_thirds(table: Table, n_x: int, listed_x: int, said: str) -> None:
    row, _ = table(("C1", "a", "9", "fixed", 0.5, {"n_x": n_x, "listed_x": listed_x})).to_dicts()
    assert few_words(row) == said
    assert few_words({**row, "effect_size": None}) == ""


def test_what_a_finding_was_not_compared_with_is_told(table: Table) -> None:
    found = {"p_association": 0.001, "p_association_holm": 0.01, "ci_low": 0.4, "ci_high": 1.4}
    rows = table(("C1", "m", "9", "fixed", 0.9, {**found, "p_twins": 0.01}))
    assert "not compared" not in other_method("SEAT", rows)
    twins = dict.fromkeys(("p_twins", "twin_difference", "twin_difference_low", "twin_difference_high"))
    alone = table(("C1", "m", "9", "fixed", 0.9, {**found, **twins}))
    assert "+1.40; not compared with random-weight copies): m associates flowers" in other_method("WEAT", alone)
    few = rows.with_columns(ci_templates_low=pl.lit(None, pl.Float64))
    assert "+0.40 to +1.40, for these templates only; difference from" in other_method("SEAT", few)
    of_paper = rows.with_columns(as_published=True)
    assert other_method("SEAT", of_paper).startswith("SEAT: all 2 effects use a paper's own words, for comparison")
    mixed = pl.concat([rows.with_columns(as_published=pl.lit(None, pl.Boolean)), of_paper])
    assert "2 effects was found (2 more with a paper's own words, for comparison only). The" in other_method(
        "SEAT", mixed
    )
    enough = rows.with_columns(ci_templates_low=0.2, ci_templates_high=1.6)
    assert "for these templates only" not in other_method("SEAT", enough)


FALSE = dict.fromkeys(("false_attributes", "false_spelling", "false_scatter", "false_templates"))
STRENGTH = {
    "repetitions": 500,
    "shift_80": None,
    "shifts": [0, 0.25, 0.5, 1],
    "shares_found": [0.01, 0.04, 0.21, 0.6],
    "strength_note": None,
}


@pytest.mark.parametrize(
    ("method", "changes", "said"),
    read_cases(__file__, "strengths"))  # fmt: skip
def test_the_strength_that_would_have_been_found_is_a_sentence(method: str, changes: dict[str, Any], said: str) -> None:
    # a rate of .07 may be chance in 500 studies
    alarms = {"false_spelling": 0.35, "false_scatter": 0.07}
    told = tell_strength(method, {**FALSE, **STRENGTH, **changes, **alarms})
    assert told.startswith(f"With these {said}")
    assert told.endswith(
        "False alarms: sets that differ only in the length of their words would be found in 35% of studies."
    )


def test_where_nothing_can_be_found_it_is_not_called_not_found(table: Table) -> None:
    ceat = table(("C1", "a", "9", "fixed", 0.1), ("C4", "a", "9", "fixed", 0.9))
    of_pairs = {
        "matched": "targets",
        "smallest_p": 0.0078125,
        "not_found_because": "words too few for a small enough p",
    }
    is_pair = pl.col("category") == "C4"
    ceat = ceat.with_columns(
        pl.when(is_pair).then(pl.lit(value)).otherwise(name if name in ceat.columns else pl.lit(None)).alias(name)
        for name, value in of_pairs.items()
    ).with_columns(is_found=~is_pair & pl.col("is_found"))
    assert told("too few words for a finding", ceat) == (
        "CEAT: too few words for a finding with 2 tests: C4 (8 pairs, p at least .0078)."
    )
    not_found = told("No association was found", ceat)
    assert not_found is not None
    assert "(C1)" in not_found
    assert "(C4)" not in not_found
    said = other_method("SEAT", ceat.filter(segment_length="mean"))
    assert "SEAT: 0 of 1 effect was found (1 more with few words)." in said
    assert "SEAT: too few words for a finding with 2 tests: C4 (8 pairs, p at least .0078)." in said
