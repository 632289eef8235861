"""Batches: which texts run together, how many pieces fit, and what happens where memory runs out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from prasanga.base.errors import InputError


def plan_batches(lengths: Sequence[int], budget: int) -> list[slice]:
    """Cut texts that are sorted by length into batches of at most `budget` pieces, padding included.

    A batch of one text may be larger. Where a batch has half its budget already, it ends before a longer text, so that
    with many texts hardly a batch has padding in it.

    Args:
        lengths: pieces of each text, ascending.
        budget: pieces of a batch.
    """
    batches, begin = [], 0
    for stop in range(1, len(lengths) + 1):
        if stop == len(lengths):
            batches.append(slice(begin, stop))
        elif (stop + 1 - begin) * lengths[stop] > budget or (
            lengths[stop] > lengths[stop - 1] and 2 * (stop - begin) * lengths[stop - 1] >= budget
        ):
            batches.append(slice(begin, stop))
            begin = stop
    return batches


# --------------------
# How many pieces a batch may have: found by trial, as it depends on the model, the card and what else runs there.


ON_A_CPU = 2048
"""Pieces of a batch on a CPU, where more of them bring nothing (docs/performance.md)."""

_START, _MOST = 4096, 1 << 20
_WORTH = 0.05


def find_budget(seconds_for: Callable[[int], float], *, start: int = _START, most: int = _MOST) -> int:
    """Return the number of pieces from which on a larger batch gains less than 5 % a piece, or does not fit any more.

    Args:
        seconds_for: runs a batch of about so many pieces and returns how long that took; raises
            `torch.OutOfMemoryError` where it does not fit.
        start: the first try; halved until it fits.
        most: never more than that.

    Raises:
        torch.OutOfMemoryError: not even one piece fits.
    """
    pieces, too_many = start, most + 1
    while True:
        try:
            best = seconds_for(pieces) / pieces
            break
        except torch.OutOfMemoryError:
            if pieces == 1:
                raise
            pieces, too_many = pieces // 2, pieces
    while 2 * pieces < too_many:
        try:
            each = seconds_for(2 * pieces) / (2 * pieces)
        except torch.OutOfMemoryError:
            break
        if each > (1 - _WORTH) * best:
            break
        pieces, best = 2 * pieces, each
    return pieces


# --------------------
# Batches that are halved where a device's memory does not hold them.


class Halving:
    """Runs batches, in halves from the size on for which memory once ran out.

    Attributes:
        too_many: pieces of the smallest batch that did not fit.
    """

    def __init__(self, no_memory: Callable[[int], InputError]) -> None:
        """Begin with the belief that everything fits; `no_memory` says what to raise for one row of so many pieces."""
        self._no_memory = no_memory
        self.too_many: float = float("inf")

    def run(self, batch: slice, pieces_of: Callable[[slice], int], work: Callable[[slice], None]) -> None:
        """Do `work` on `batch`, or on its halves one after the other.

        Args:
            batch: rows.
            pieces_of: how many pieces rows have as a batch, padding included.
            work: runs rows, and hands over what came out; raises `torch.OutOfMemoryError` before it hands over.

        Raises:
            InputError: a single row does not fit.
        """
        size, pieces = batch.stop - batch.start, pieces_of(batch)
        if pieces < self.too_many or size == 1:
            try:
                work(batch)
                return
            except torch.OutOfMemoryError as error:
                if size == 1:
                    raise self._no_memory(pieces) from error
            self.too_many = pieces  # what did not fit once is not tried again
        middle = batch.start + size // 2
        self.run(slice(batch.start, middle), pieces_of, work)
        self.run(slice(middle, batch.stop), pieces_of, work)


def no_memory_for(name: str, device: torch.device, pieces: int) -> InputError:
    """Return what to raise where not even one text fits on a device."""
    return InputError(
        f"model {name}: device {device} has no memory for one text of {pieces} pieces. Use a larger device, dtype:"
        " bfloat16, or quantization: int8."
    )


# --------------------
# Rows of pieces as one table, and a table on its way to a card.


def pad(rows: Sequence[Sequence[int] | NDArray[np.int64]], padding: int) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return the rows filled up on the right with `padding`, and a mask that is true on the pieces.

    Padding on the right changes no position.
    """
    lengths = np.fromiter(map(len, rows), dtype=np.int64, count=len(rows))
    mask = np.arange(lengths.max(initial=0)) < lengths[:, None]
    table = np.full(mask.shape, padding, dtype=np.int64)
    if len(rows):
        table[mask] = np.concatenate([np.asarray(row, dtype=np.int64) for row in rows])
    return table, mask


def padding_of(tokenizer: Any, config: Any) -> int:
    """Return the id to pad with.

    Decoders often have none, and any will do there, since padding is masked and on the right.
    """
    candidates = [tokenizer.pad_token_id, getattr(config, "pad_token_id", None), tokenizer.eos_token_id]
    return next((int(one) for one in candidates if one is not None), 0)


def send(table: NDArray[Any], device: torch.device) -> torch.Tensor:
    """Return a table on `device`. To a card it goes from pinned memory, so that neither side waits for the other."""
    tensor = torch.from_numpy(table)
    return tensor if device.type == "cpu" else tensor.pin_memory().to(device, non_blocking=True)
