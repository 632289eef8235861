"""Which texts run through a model together: batches of similar length, of a bounded number of pieces."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


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


def pad(rows: Sequence[Sequence[int]], padding: int) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Rows of pieces as one table, filled up on the right with `padding`, and a mask that is true on the pieces."""
    lengths = np.fromiter(map(len, rows), dtype=np.int64, count=len(rows))
    mask = np.arange(lengths.max(initial=0)) < lengths[:, None]
    table = np.full(mask.shape, padding, dtype=np.int64)
    table[mask] = np.fromiter((piece for row in rows for piece in row), dtype=np.int64, count=int(lengths.sum()))
    return table, mask
