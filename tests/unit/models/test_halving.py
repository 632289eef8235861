"""What a device's memory does not hold is run in halves: every row once, in order; a row too large is refused."""

from __future__ import annotations

import pytest
import torch

from prasanga.base.errors import InputError
from prasanga.models.batches import Halving, no_memory_for


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


def refusal(pieces: int) -> InputError:
    return no_memory_for("mine", torch.device("cuda", 1), pieces)


def run(device: Device, *batches: tuple[int, int]) -> Halving:
    halving = Halving(refusal)
    for batch in batches:
        halving.run(slice(*batch), device.pieces, device.work)
    return halving


def test_what_fits_is_run_at_once() -> None:
    device = Device([5] * 8, holds=40)
    assert run(device, (0, 8)).too_many == float("inf")
    assert device.tried == [(0, 8)]
    assert device.done == list(range(8))


@pytest.mark.parametrize("holds", [5, 9, 10, 12, 23, 39])
def test_all_rows_are_done_once_and_in_order(holds: int) -> None:
    device = Device([1, 2, 2, 3, 4, 4, 5], holds)
    run(device, (0, 3), (3, 7))
    assert device.done == list(range(7))


def test_a_size_that_did_not_fit_is_not_tried_again() -> None:
    device = Device([5] * 12, holds=12)
    halving = run(device, (0, 8), (8, 12))
    # 8 rows, then 4, then 2 at a time: from then on nobody asks for 4 again.
    assert device.tried == [(0, 8), (0, 4), (0, 2), (2, 4), (4, 6), (6, 8), (8, 10), (10, 12)]
    assert halving.too_many == 20
    assert device.done == list(range(12))


def test_a_single_row_that_does_not_fit_is_refused() -> None:
    device = Device([3, 4, 30, 5], holds=12)
    message = (
        "model mine: device cuda:1 has no memory for one text of 30 pieces. Use a larger device, dtype: bfloat16, or"
        " quantization: int8."
    )
    with pytest.raises(InputError) as caught:
        run(device, (0, 4))
    assert str(caught.value) == message
    assert isinstance(caught.value.__cause__, torch.OutOfMemoryError)
    assert device.done == [0, 1]  # those before it were handed over


def test_a_single_row_is_tried_even_where_more_pieces_did_not_fit() -> None:
    device = Device([12, 12], holds=12)
    assert run(device, (0, 2)).too_many == 24
    halving = Halving(refusal)
    halving.too_many = 6
    halving.run(slice(0, 1), device.pieces, device.work)
    assert device.done == [0, 1, 0]


def test_other_errors_are_nobodys_business_here() -> None:
    def fail(_: slice) -> None:
        raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        Halving(refusal).run(slice(0, 4), lambda _: 4, fail)
