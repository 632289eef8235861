"""The sentences, word for word, on tables small enough to check by hand."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl
import pytest

from prasanga.report.findings import headline_findings
from prasanga.report.grid import few_words

Table = Callable[..., pl.DataFrame]


def told(part: str, ceat: pl.DataFrame) -> str | None:
    """The only finding with this part in it."""
    found = [sentence for sentence in headline_findings(ceat) if part in sentence]
    assert len(found) < 2
    return found[0] if found else None


def test_significance_counts_before_and_after_correction(table: Table) -> None:
    p_values = (0.001, 0.012, 0.02, 0.04, 0.6)  # Holm: .001 <= .05/5, .012 <= .05/4, .02 > .05/3
    models = "abcde"
    ceat = table(*(("C1", m, "9", "fixed", 0.1, {"p_association": p}) for m, p in zip(models, p_values, strict=True)))
    assert told("p_association < .05, uncorrected", ceat) == (
        "4 of 5 estimates have p_association < .05, uncorrected; fewer than one would be expected if the target"
        " words or the attribute words made no difference. With Holm's correction for 5 tests, 2 remain. Estimates that"
        " share words are not independent of each other."
    )


FOUND = {"p_association": 0.0004}
"""What makes an effect of more than .54 an association that was found."""


def test_no_finding_is_built_on_few_words(table: Table) -> None:
    few = {**FOUND, "n_x": 2, "listed_x": 14, "n_y": 3, "listed_y": 14}
    ceat = table(
        ("C4", "a", "9", "fixed", 1.65, few),
        ("C4", "a", "25", "fixed", 1.65, few),
        ("C1", "a", "9", "fixed", 0.9, {**FOUND, "n_a": 9, "listed_a": 14}),
        ("C10", "a", "9", "fixed", 0.9, FOUND),
    )
    assert told("on few words", ceat) == (
        "3 of 4 estimates rest on few words, fewer than 8 in a set or under two thirds of its list, and no other"
        " finding counts them: C4 2/14 v 3/14 (a, 9 words, fixed and 1 more); C1 attributes 9/14 v 8/8 (a, 9 words,"
        " fixed)."
    )
    assert str(told("The largest is", ceat)).startswith("An association was found in 1 of 1 estimates")
    others = " ".join(finding for finding in headline_findings(ceat) if finding != told("on few words", ceat))
    assert not [part for part in ("1.65", "C4", "C1,", "C1;") if part in others]
    assert told("on few words", ceat.filter(pl.col("category") == "C10")) is None


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
    (row,) = table(("C1", "a", "9", "fixed", 0.5, {"n_x": n_x, "listed_x": listed_x})).to_dicts()
    assert few_words(row) == said
    assert few_words({**row, "effect_size": None}) == ""
