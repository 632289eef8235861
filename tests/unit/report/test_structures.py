"""Traits in sentence structures: the findings say where associations spread."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from prasanga.likelihoods.structures import TRAITS_SCHEMA, compare_structures, spread_by_structure
from prasanga.report.findings import QUANTITIES, findings_of_structures


@pytest.fixture(scope="module")
def traits() -> pl.DataFrame:
    """Two models, two polarities, three structures; what the trait adds shrinks from S1 to S5, which lacks one."""
    rng = np.random.default_rng(3)
    rows = []
    for model in ("bert", "<albert>"):
        for polarity, n in (("positive", 12), ("negative", 10)):
            base = rng.normal(size=n)
            for structure, width in (("S1", 2.0), ("S4", 1.0), ("S5", 0.25)):
                for number in range(n):
                    prior, corrected = 0.5 + rng.normal() / 10, width * base[number]
                    known = (structure, number) != ("S5", 0)
                    rows.append(
                        {
                            **{"model": model, "polarity": polarity, "trait": f"t{number}", "structure": structure},
                            **{"prior": prior, "corrected": corrected, "fill": prior + corrected, "n_words": 4},
                            **({} if known else dict.fromkeys(QUANTITIES)),
                            **{"pieces": "all", "terms": "log-sum-exp"},
                        }
                    )
    return pl.DataFrame(rows, schema=dict(TRAITS_SCHEMA))


@pytest.fixture(scope="module")
def spread(traits: pl.DataFrame) -> pl.DataFrame:
    twins = traits.with_columns(pl.col(*QUANTITIES) / 10)
    return spread_by_structure(traits, twins, n_resamples=200)


@pytest.fixture(scope="module")
def pairs(traits: pl.DataFrame) -> pl.DataFrame:
    return compare_structures(traits, n_resamples=200)


def test_findings_say_where_associations_spread(spread: pl.DataFrame, pairs: pl.DataFrame) -> None:
    first, second = findings_of_structures(spread, pairs)
    assert first.startswith("Log-probability bias of traits, bert: prior associations spread least in S")
    assert "corrected associations spread least in S5" in first
    assert "and most in S1" in first
    assert "Of 6 comparisons of two structures, the spreads differ by more than chance in" in first
    assert second.startswith("Log-probability bias of traits, <albert>")
