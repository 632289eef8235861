"""Drawing contexts so that the draw survives sharding: bottom-k by hash.

Each occurrence has a priority, a hash of seed, stimulus and normalized context (`prasanga.samples.priority`); the k
contexts of a stimulus with the smallest priorities are kept. That is a uniform draw without replacement that depends on
nothing but the set of contexts: not on the order of files, their number, or who reads them. Copies of one text have one
priority and are one context. The priority does not depend on the segment length, so pools of several lengths agree
wherever their contexts do.
"""

from __future__ import annotations

import numpy as np
import polars as pl

CANDIDATE_SCHEMA = pl.Schema(
    {
        "stimulus": pl.UInt32,
        "form": pl.UInt32,
        "source": pl.UInt32,
        "start": pl.Int32,
        "occurrence_high": pl.UInt64,
        "occurrence_low": pl.UInt64,
        "file": pl.UInt32,
        "row": pl.UInt32,
        "supplement": pl.Boolean,
        "high": pl.UInt64,
        "low": pl.UInt64,
    }
)
"""What a pool keeps of an occurrence (`ROWS_SCHEMA`); `high` and `low` are the halves of its priority."""

_CONTEXT = ["stimulus", "high", "low"]
_ORDER = [*_CONTEXT, "supplement", "start", "occurrence_high", "occurrence_low"]
_LAST = np.iinfo(np.uint64).max
_ROWS_WAITING = 131_072


class Pool:
    """The k contexts of smallest priority of each stimulus, one occurrence in each.

    Of several occurrences in one context, or in copies of one text, the first in the text is kept, and of those at the
    same place the one with the smallest identifier; one of the supplement only if there is no other. This is the
    smallest of a fixed order, so any order of `add` and `merge` gives the same pool. Memory is bounded by k occurrences
    per stimulus and a fixed number of those that wait to be compared.
    """

    def __init__(self, k: int) -> None:
        self.k = k
        self._kept = CANDIDATE_SCHEMA.to_frame()
        self._waiting: list[pl.DataFrame] = []
        self._limits = np.zeros(0, np.uint64)  # by stimulus: the greatest high half that can still be kept

    def add(self, candidates: pl.DataFrame) -> None:
        """Offer occurrences, in any order; columns of `CANDIDATE_SCHEMA`, others are ignored."""
        if candidates.is_empty():
            return
        stimuli = candidates["stimulus"].to_numpy()
        self._know(int(stimuli.max()))
        within = candidates["high"].to_numpy() <= self._limits[stimuli]
        self._waiting.append(candidates.filter(within).select(CANDIDATE_SCHEMA.names()))
        if sum(part.height for part in self._waiting) >= _ROWS_WAITING:
            self._compare()

    def merge(self, other: Pool) -> None:
        """Take in another pool of the same seed: the result is the pool of both inputs together.

        Raises:
            ValueError: if the other pool was drawn with another k.
        """
        if self.k != other.k:
            raise ValueError(f"pools of k={self.k} and k={other.k} do not merge")
        self.add(other.drawn())

    def drawn(self) -> pl.DataFrame:
        """What is kept, sorted by stimulus (its number) and priority; columns of `CANDIDATE_SCHEMA`."""
        self._compare()
        return self._kept

    def _compare(self) -> None:
        if not self._waiting:
            return
        offered = pl.concat([self._kept, *self._waiting])
        self._waiting.clear()
        contexts = offered.sort(_ORDER).unique(_CONTEXT, keep="first", maintain_order=True)
        self._kept = contexts.filter(pl.int_range(pl.len()).over("stimulus") < self.k)
        full = self._kept.group_by("stimulus").agg(pl.len(), pl.col("high").max()).filter(pl.col("len") == self.k)
        self._limits[full["stimulus"].to_numpy()] = full["high"].to_numpy()

    def _know(self, stimulus: int) -> None:
        if stimulus >= len(self._limits):
            more = np.full(stimulus + 1 - len(self._limits), _LAST, np.uint64)
            self._limits = np.concatenate([self._limits, more])
