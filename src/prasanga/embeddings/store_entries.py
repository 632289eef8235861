"""Where the rows of a vector store are, in memory: which shard and row has an id, and which shards another one covers.

Ids are digests, looked up as numbers by bisection. An id may be in several shards, and several times in one; all are
kept, so that another is at hand when a shard turns out to be damaged.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from prasanga.embeddings.store_files import PackedIds

Places = NDArray[np.int32]


@dataclass(frozen=True)
class Shard:
    """A usable shard: file name, bytes, rows, width of its vectors."""

    name: str
    size: int
    rows: int
    width: int


@dataclass(frozen=True)
class Entries:
    """The rows of some shards, sorted by id, then by the shard's name, then by row.

    Attributes:
        shards: sorted by name.
        ids: (n, 2), see `PackedIds`.
        shard: (n,) place in `shards`.
        row: (n,) row in the shard.
    """

    shards: tuple[Shard, ...]
    ids: PackedIds
    shard: Places
    row: Places

    @classmethod
    def of(cls, ids_of_shards: Mapping[Shard, PackedIds]) -> Entries:
        """From the ids of each shard in the order of its rows."""
        shards = tuple(sorted(ids_of_shards, key=lambda shard: shard.name))
        ids = np.concatenate([np.empty((0, 2), np.uint64), *(ids_of_shards[shard] for shard in shards)])
        lengths = [len(ids_of_shards[shard]) for shard in shards]
        shard = np.repeat(np.arange(len(shards), dtype=np.int32), lengths)
        row = np.concatenate([np.empty(0, np.int32), *(np.arange(length, dtype=np.int32) for length in lengths)])
        order = np.lexsort((ids[:, 1], ids[:, 0]))  # stable: what is first stays first
        return cls(shards, ids[order], shard[order], row[order])

    @classmethod
    def of_one(cls, *ids: PackedIds) -> Entries:
        """As if one shard had all `ids`."""
        together = np.concatenate([np.empty((0, 2), np.uint64), *ids])
        return cls.of({Shard("", 0, len(together), 0): together})

    @cached_property
    def _first_halves(self) -> NDArray[np.uint64]:
        return np.ascontiguousarray(self.ids[:, 0])

    def locate(self, ids: PackedIds) -> NDArray[np.int64]:
        """The first entry of each id, -1 where there is none."""
        n = len(self.ids)
        if not n:
            return np.full(len(ids), -1)
        order = np.argsort(ids[:, 0])  # neighbours in the query are neighbours in memory
        at = np.empty(len(ids), dtype=np.int64)
        at[order] = np.searchsorted(self._first_halves, ids[order, 0])
        while True:  # ids that share their first half: practically never
            here = self.ids[np.minimum(at, n - 1)]
            further = (at < n) & (here[:, 0] == ids[:, 0]) & (here[:, 1] < ids[:, 1])
            if not further.any():
                break
            at[further] += 1
        return np.where((at < n) & (here == ids).all(axis=1), at, -1)

    def only(self, kept: Collection[Shard]) -> Entries:
        """Without the entries of other shards."""
        if len(kept) >= len(self.shards) and all(shard in kept for shard in self.shards):
            return self
        stays = np.array([shard in kept for shard in self.shards], dtype=np.bool_)
        number = (np.cumsum(stays) - 1).astype(np.int32)
        mine = stays[self.shard]
        shards = tuple(shard for shard in self.shards if shard in kept)
        return Entries(shards, self.ids[mine], number[self.shard[mine]], self.row[mine])

    def by_shard(self) -> dict[Shard, PackedIds]:
        """The ids of each shard in the order of its rows: what `of` takes."""
        order = np.lexsort((self.row, self.shard))
        cuts = np.cumsum([shard.rows for shard in self.shards])[:-1]
        return dict(zip(self.shards, np.split(self.ids[order], cuts), strict=True)) if self.shards else {}


@dataclass(frozen=True)
class Listing:
    """What a store holds at one moment: shards sorted by name, and entries in one or more tiers."""

    shards: tuple[Shard, ...]
    tiers: tuple[Entries, ...]

    @property
    def width(self) -> int | None:
        """The width of all vectors, None if there is no shard."""
        return self.shards[0].width if self.shards else None

    def locate(self, ids: PackedIds) -> tuple[Places, Places]:
        """The shard (place in `shards`) and row of each id, -1 where there is none.

        Of several shards that have it, the one whose name is first: the same for every process.
        """
        numbers = {shard: number for number, shard in enumerate(self.shards)}
        shard = np.full(len(ids), len(numbers), dtype=np.int32)
        row = np.full(len(ids), -1, dtype=np.int32)
        for tier in self.tiers:
            at = tier.locate(ids)
            found = np.flatnonzero(at >= 0)
            theirs = np.array([numbers[one] for one in tier.shards], dtype=np.int32)[tier.shard[at[found]]]
            better = theirs < shard[found]
            shard[found[better]] = theirs[better]
            row[found[better]] = tier.row[at[found[better]]]
        return np.where(row >= 0, shard, np.int32(-1)), row

    def ids_of(self, shards: Collection[Shard]) -> PackedIds:
        """The ids of some of the shards, in no order."""
        return np.concatenate([np.empty((0, 2), np.uint64), *(tier.only(shards).ids for tier in self.tiers)])

    def missing_in(self, other: Entries) -> dict[Shard, int]:
        """How many rows of each shard have an id that `other` lacks."""
        missing: dict[Shard, int] = {}
        for tier in self.tiers:
            counts = np.bincount(tier.shard[other.locate(tier.ids) < 0], minlength=len(tier.shards))
            missing |= dict(zip(tier.shards, counts.tolist(), strict=True))
        return missing

    def covered_by(self, other: Entries) -> list[Shard]:
        """The shards whose ids are all in `other`."""
        return [shard for shard, missing in self.missing_in(other).items() if not missing]
