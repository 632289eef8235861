"""Batches that are halved where a device's memory does not hold them."""

from __future__ import annotations

from collections.abc import Callable

import torch

from prasanga.errors import InputError


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
    """What to raise where not even one text fits on a device."""
    return InputError(
        f"model {name}: device {device} has no memory for one text of {pieces} pieces. Use a larger device, dtype:"
        " bfloat16, or quantization: int8."
    )
