"""Which texts run through a model together: batches of similar length, of a bounded number of pieces."""

from __future__ import annotations

from collections.abc import Sequence


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
