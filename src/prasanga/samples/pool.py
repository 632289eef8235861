"""Drawing contexts so that the draw survives sharding: bottom-k by hash.

Each occurrence has a priority, a hash of seed, stimulus and normalized context; the k contexts of a stimulus with the
smallest priorities are kept. That is a uniform draw without replacement that depends on nothing but the set of
contexts: not on the order of files, their number, or who reads them. Copies of one text have one priority and are one
context. The priority does not depend on the segment length, so pools of several lengths agree wherever their contexts
do.
"""

from __future__ import annotations

import hashlib
import heapq
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import NamedTuple


class Occurrence(NamedTuple):
    """One located stimulus in its context: the columns of the sentence table that a draw needs."""

    occurrence_id: str
    context_id: str
    stimulus: str
    text: str
    start: int
    end: int


def priority(seed: int, stimulus: str, text: str) -> int:
    """The priority of a context for a stimulus, a 128-bit hash; smaller is drawn earlier."""
    # NUL stands in no stimulus, so that no two triples are written alike.
    return int.from_bytes(hashlib.blake2b(f"{seed}\0{stimulus}\0{text}".encode(), digest_size=16).digest(), "big")


class Pool:
    """The k contexts of smallest priority of each stimulus, one occurrence in each.

    Of several occurrences in one context, or in copies of one text, the first in the text is kept, and of those at the
    same place the one with the smallest `occurrence_id`. This is the smallest of a fixed order, so any order of `add`
    and `merge` gives the same pool. Memory is bounded by k occurrences per stimulus.
    """

    def __init__(self, k: int, seed: int) -> None:
        self.k = k
        self.seed = seed
        self._kept: defaultdict[str, dict[int, Occurrence]] = defaultdict(dict)
        self._heaps: defaultdict[str, list[int]] = defaultdict(list)  # negated priorities: the greatest comes off first

    def add(self, occurrences: Iterable[Occurrence]) -> None:
        """Offer occurrences, in any order."""
        for occurrence in occurrences:
            self._offer(priority(self.seed, occurrence.stimulus, occurrence.text), occurrence)

    def merge(self, other: Pool) -> None:
        """Take in another pool: the result is the pool of both inputs together.

        Raises:
            ValueError: if the other pool was drawn with another seed or another k.
        """
        if (self.k, self.seed) != (other.k, other.seed):
            raise ValueError(f"pools of k={self.k}, seed={self.seed} and k={other.k}, seed={other.seed} do not merge")
        for kept in other._kept.values():
            for rank, occurrence in kept.items():
                self._offer(rank, occurrence)

    def drawn(self) -> Iterator[tuple[int, Occurrence]]:
        """What is kept, with its priority, sorted by stimulus and priority."""
        for stimulus in sorted(self._kept):
            yield from sorted(self._kept[stimulus].items())

    def _offer(self, rank: int, occurrence: Occurrence) -> None:
        kept, heap = self._kept[occurrence.stimulus], self._heaps[occurrence.stimulus]
        if (present := kept.get(rank)) is not None:
            kept[rank] = min(present, occurrence, key=_order)
        elif len(heap) < self.k:
            kept[rank] = occurrence
            heapq.heappush(heap, -rank)
        elif rank < -heap[0]:
            del kept[-heapq.heapreplace(heap, -rank)]
            kept[rank] = occurrence


def _order(occurrence: Occurrence) -> tuple[int, str]:
    return occurrence.start, occurrence.occurrence_id
