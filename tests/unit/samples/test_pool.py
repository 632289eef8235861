"""Bottom-k by hash: the same contexts whatever the order and the division of the work."""

from __future__ import annotations

import random
from operator import itemgetter
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prasanga.samples.pool import CANDIDATE_SCHEMA, Pool

Candidate = dict[str, Any]

# Few values, so that copies and ties are common; the identifier is different in each.
candidates = st.lists(
    st.fixed_dictionaries(
        {
            "stimulus": st.integers(0, 2),
            "form": st.just(0),
            "source": st.just(0),
            "start": st.integers(0, 2),
            "occurrence_high": st.integers(0, 1),
            "occurrence_low": st.integers(0, 2**64 - 1),
            "file": st.just(0),
            "row": st.just(0),
            "supplement": st.booleans(),
            "high": st.sampled_from([0, 1, 5, 2**63, 2**64 - 1]),
            "low": st.integers(0, 2),
        }
    ),
    max_size=60,
    unique_by=itemgetter("occurrence_high", "occurrence_low"),
)


def slow_way(offered: list[Candidate], k: int) -> list[Candidate]:
    """Sort everything, keep the first of each text, keep the first k of each stimulus."""
    context = itemgetter("stimulus", "high", "low")
    kept: list[Candidate] = []
    for one in sorted(offered, key=itemgetter(*_ORDER)):
        same = [other for other in kept if other["stimulus"] == one["stimulus"]]
        if len(same) < k and context(one) not in map(context, same):
            kept.append(one)
    return kept


_ORDER = ("stimulus", "high", "low", "supplement", "start", "occurrence_high", "occurrence_low")


def frame(rows: list[Candidate]) -> pl.DataFrame:
    return pl.DataFrame(rows, CANDIDATE_SCHEMA)


@settings(deadline=None)
@given(candidates, st.integers(1, 4), st.integers(1, 8), st.randoms())
def test_any_order_and_any_division_gives_what_the_slow_way_gives(
    offered: list[Candidate], k: int, size: int, chance: random.Random
) -> None:
    shuffled = list(offered)
    chance.shuffle(shuffled)
    pools = Pool(k), Pool(k)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("prasanga.samples.pool._ROWS_WAITING", 5)
        for i in range(0, len(shuffled), size):
            chance.choice(pools).add(frame(shuffled[i : i + size]))
        one, other = pools
        one.add(other.drawn())
        assert one.drawn().to_dicts() == slow_way(offered, k)
