"""Batches have every text once, keep to their budget and have little padding; those that do not fit are halved."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from prasanga.base.errors import InputError
from prasanga.models.devices import Halving, find_budget, no_memory_for, pad, plan_batches


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


def test_rows_are_filled_up_on_the_right() -> None:
    table, mask = pad([(7, 8), (9,), (1, 2, 3)], 5)
    np.testing.assert_array_equal(table, [[7, 8, 5], [9, 5, 5], [1, 2, 3]])
    np.testing.assert_array_equal(mask, [[True, True, False], [True, False, False], [True, True, True]])


def make_device(memory: int, saturated: int) -> tuple[Callable[[int], float], list[int]]:
    """A card that holds `memory` pieces, and is no faster per piece beyond `saturated`."""
    tried: list[int] = []

    def seconds_for(pieces: int) -> float:
        tried.append(pieces)
        if pieces > memory:
            raise torch.OutOfMemoryError
        return max(pieces, saturated) / 1e6

    return seconds_for, tried


@pytest.mark.parametrize(
    ("memory", "saturated", "expected"),
    [
        pytest.param(10**9, 30_000, 32_768, id="until a larger one brings nothing"),
        pytest.param(20_000, 10**9, 16_384, id="until it does not fit"),
        pytest.param(1_000, 10**9, 512, id="smaller than the first try"),
        pytest.param(10**9, 10**9, 1 << 20, id="never more than the most"),
        pytest.param(10**9, 100, 4_096, id="the first try is enough"),
    ],
)
def test_a_budget_is_as_large_as_pays(memory: int, saturated: int, expected: int) -> None:
    seconds_for, tried = make_device(memory, saturated)
    assert find_budget(seconds_for) == expected
    assert len(set(tried)) == len(tried)
    with pytest.raises(torch.OutOfMemoryError):
        find_budget(make_device(0, 1)[0])


class Device:
    """Holds so many pieces, and raises as a card does above that."""

    def __init__(self, lengths: list[int], holds: int) -> None:
        self.lengths, self.holds = lengths, holds
        self.tried: list[tuple[int, int]] = []
        self.done: list[int] = []

    def pieces(self, rows: slice) -> int:
        return (rows.stop - rows.start) * max(self.lengths[rows])

    def work(self, rows: slice) -> None:
        self.tried.append((rows.start, rows.stop))
        if self.pieces(rows) > self.holds:
            raise torch.OutOfMemoryError("CUDA out of memory")
        self.done.extend(range(rows.start, rows.stop))


def run(device: Device, *batches: tuple[int, int]) -> Halving:
    halving = Halving(lambda pieces: no_memory_for("mine", torch.device("cuda", 1), pieces))
    for batch in batches:
        halving.run(slice(*batch), device.pieces, device.work)
    return halving


@pytest.mark.parametrize("holds", [5, 9, 10, 12, 23, 39, 100])
def test_all_rows_are_done_once_and_in_order(holds: int) -> None:
    device = Device([1, 2, 2, 3, 4, 4, 5], holds)
    run(device, (0, 3), (3, 7))
    assert device.done == list(range(7))


def test_a_size_that_did_not_fit_is_not_tried_again() -> None:
    device = Device([5] * 12, holds=12)
    # 8 rows, then 4, then 2 at a time: from then on nobody asks for 4 again.
    assert run(device, (0, 8), (8, 12)).too_many == 20
    assert device.tried == [(0, 8), (0, 4), (0, 2), (2, 4), (4, 6), (6, 8), (8, 10), (10, 12)]


def test_a_single_row_that_does_not_fit_is_refused() -> None:
    device = Device([3, 4, 30, 5], holds=12)
    with pytest.raises(
        InputError, match=r"^model mine: device cuda:1 has too little memory for one text of 30 pieces\."
    ):
        run(device, (0, 4))
    assert device.done == [0, 1]  # those before it were handed over
    assert run(Device([12, 12], holds=12), (0, 2)).too_many == 24
