"""Batches hold every text once, keep to their budget, and have little padding."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prasanga.models.batches import pad, plan_batches


@given(st.lists(st.integers(1, 60), max_size=80).map(sorted), st.integers(1, 400))
def test_every_text_once_and_within_the_budget(lengths: list[int], budget: int) -> None:
    batches = plan_batches(lengths, budget)
    assert [i for batch in batches for i in range(len(lengths))[batch]] == list(range(len(lengths)))
    for batch in batches:
        mine = lengths[batch]
        assert len(mine) == 1 or len(mine) * mine[-1] <= budget


def test_a_batch_ends_before_a_longer_text_once_it_has_half_its_budget() -> None:
    assert plan_batches([4, 4, 4, 5, 5], 24) == [slice(0, 3), slice(3, 5)]  # 12 of 24 pieces: enough
    assert plan_batches([4, 4, 5, 5], 24) == [slice(0, 4)]  # 8 of 24: padding costs less than a batch
    assert plan_batches([4] * 7, 24) == [slice(0, 6), slice(6, 7)]
    assert plan_batches([30, 30], 24) == [slice(0, 1), slice(1, 2)]
    assert plan_batches([], 24) == []


def test_rows_are_filled_up_on_the_right() -> None:
    table, mask = pad([(7, 8), (9,), (1, 2, 3)], 5)
    np.testing.assert_array_equal(table, [[7, 8, 5], [9, 5, 5], [1, 2, 3]])
    np.testing.assert_array_equal(mask, [[True, True, False], [True, False, False], [True, True, True]])
    assert table.dtype == np.int64


@pytest.mark.parametrize("rows", [[(1,)], [(1, 2), (3, 4)]])
def test_rows_of_one_length_need_no_mask(rows: list[tuple[int, ...]]) -> None:
    assert pad(rows, 0)[1].all()
