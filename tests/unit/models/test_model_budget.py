"""The size of a batch: as large as pays, and never larger than fits."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from prasanga.models.batches import find_budget


def device(memory: int, saturated: int) -> tuple[Callable[[int], float], list[int]]:
    """A card that holds `memory` pieces, and is no faster a piece beyond `saturated`."""
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
def test_what_is_found(memory: int, saturated: int, expected: int) -> None:
    seconds_for, _ = device(memory, saturated)
    assert find_budget(seconds_for) == expected


def test_what_did_not_fit_is_not_tried_twice() -> None:
    seconds_for, tried = device(1_000, 10**9)
    find_budget(seconds_for)
    assert tried == [4096, 2048, 1024, 512]


def test_a_card_without_any_memory() -> None:
    seconds_for, _ = device(0, 1)
    with pytest.raises(torch.OutOfMemoryError):
        find_budget(seconds_for)
