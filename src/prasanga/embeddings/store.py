"""Vectors that survive: kept beside the workflow's outputs, found again by what they were computed from.

Snakemake removes the outputs of a rule before it reruns it. So whatever was embedded is also in a store, one folder for
each vector key, and only what the store lacks is embedded: after a kill, for a larger sample, for a new category.

A folder holds shards, Parquet files named by a digest of their bytes. A shard is there whole or not at all, and never
changed. Parts are shards that a job writes on its way; its finished output becomes a shard by a second name for the
same file (a hard link), and the parts whose rows it has are removed. Several processes may use one folder at once: at
worst they compute the same rows twice.
"""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from prasanga.embeddings.columns import StoredDtype
from prasanga.embeddings.store_entries import Places, Shard
from prasanga.embeddings.store_files import (
    Kind,
    PackedIds,
    Rows,
    UnusableShardError,
    pack_ids,
    read_ids,
    read_rows,
)
from prasanga.embeddings.store_history import history
from prasanga.embeddings.store_index import ShardIndex
from prasanga.embeddings.store_upkeep import KEY, compact, keep, link, remove_covered
from prasanga.errors import InputError
from prasanga.parquet import write_text

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Rows", "StoredDtype", "VectorStore", "vector_key"]

_LOG = logging.getLogger(__name__)
_ATTEMPTS = 20


def vector_key(
    identity: Mapping[str, str], layer: int, pooling: str, dtype: str, code: str, **more: str | int | float | bool
) -> str:
    """The name of a store: a digest of everything but text and span that a vector depends on.

    Args:
        identity: `prasanga.models.model_identity` of the model.
        layer: hidden layer.
        pooling: how pieces become one vector.
        dtype: precision that the model runs in.
        code: fingerprint of the modules that make vectors.
        more: anything else that changes vectors, such as stored_dtype, pieces, quantization, options of the tokenizer.
    """
    parts = {"identity": dict(identity), "layer": layer, "pooling": pooling, "dtype": dtype, "code": code, "more": more}
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:32]


class VectorStore:
    """The vectors of one key: the shards of one folder."""

    def __init__(
        self,
        folder: str | Path,
        dtype: StoredDtype = "float16",
        key: str = "",
        describes: Mapping[str, Any] | None = None,
    ) -> None:
        """Use `folder`, which need not exist.

        Args:
            folder: the folder of this key alone.
            dtype: precision that vectors are kept in.
            key: `vector_key`. Shards of another key, or in another dtype, count as absent.
            describes: what the key is a digest of, for readers: written to key.json beside the key.

        Raises:
            InputError: if the folder's key.json is of another key.
        """
        self.folder = Path(folder)
        self.dtype: StoredDtype = dtype
        self.key = key
        self._kind = Kind(key, dtype)
        self._describes = dict(describes or {})
        self._index = ShardIndex(self.folder, self._kind)
        self._width: int | None = None
        self._says_its_key()

    def find(self, ids: Sequence[str]) -> NDArray[np.bool_]:
        """Which of n ids the store has: (n,). That a shard is damaged inside is seen only when it is read."""
        return self._index.refresh().locate(self._pack(ids))[0] >= 0

    def read(self, ids: Sequence[str]) -> Rows | None:
        """The rows of `ids`, in their order, without those that the store lacks; None if it has none.

        A shard that turns out to be damaged counts as absent from then on, with a warning that names it.
        """
        packed = self._pack(ids)
        found = np.zeros(len(ids), dtype=np.bool_)
        rows: Rows | None = None
        for _ in range(_ATTEMPTS):  # again where a shard was merged into another, or found damaged, meanwhile
            listing = self._index.refresh()
            shard, row = listing.locate(packed)
            wanted = np.flatnonzero((shard >= 0) & ~found)
            if not len(wanted) or listing.width is None:
                break
            if rows is None:
                rows = _empty(len(ids), listing.width, self.dtype)
            wanted = wanted[np.lexsort((row[wanted], shard[wanted]))]
            for places in np.split(wanted, np.flatnonzero(np.diff(shard[wanted])) + 1):
                self._fill(rows, found, places, listing.shards[shard[places[0]]], row, packed)
            if found[wanted].all():
                break
        if rows is None or not found.any():
            return None
        return Rows(list(ids), rows.n_pieces, rows.n_unknown, rows.cut, rows.embedding).only(found)

    def add(self, rows: Rows, record: Mapping[str, Any]) -> Path:
        """Keep `rows` as a shard of their own: after this returns, they survive a kill.

        Args:
            rows: of this store's dtype and width.
            record: what `history` is to say of their making: plain values; numbers are amounts, which add up.

        Returns:
            The shard that they are in.

        Raises:
            InputError: rows that this store cannot hold; a folder that cannot be written to.
        """
        self._check_rows(rows)
        self._prepare()
        return keep(self.folder, self._kind, rows, record)

    def adopt(self, path: str | Path, record: Mapping[str, Any]) -> None:
        """Make a finished output of the workflow a shard, as a second name of the same file.

        Shards whose rows are all in it are removed; what their records say is added to its own. Where the file system
        does not allow a second name, or the folder cannot be written to, everything stays as it is.

        Args:
            path: Parquet file with the columns of a shard, others beside them, and this store's key in its metadata.
            record: as in `add`.

        Raises:
            InputError: if the file is not of this store, which is a mistake in the program.
        """
        path = Path(path)
        try:
            width, ids = read_ids(path, self._kind)
        except (UnusableShardError, FileNotFoundError) as error:
            raise InputError(f"{path} cannot be kept in {self.folder}: it {error}.") from error
        self._check_width(width, path)
        try:
            self._prepare()
            kept = link(path, self.folder, len(ids), record)
        except (OSError, InputError) as error:
            _LOG.info("%s is not linked into the store, whose parts stay instead: %s", path, error)
            return
        remove_covered(kept, self._kind, self._index)

    def compact(self, max_bytes: int = 256 << 20) -> int:
        """Put small shards together that are nobody else's, and remove what lies on the disk twice.

        A shard whose rows outputs of the workflow have too, one or several together, keeps only what these lack. What
        killed processes left is removed as well.

        Args:
            max_bytes: of a new shard, about; shards of more than half of it are left alone, unless outputs have rows of
                theirs. Takes about three times as much memory, and room for the largest of those.

        Returns:
            How many shards were put into others, or had all their rows in outputs.

        Raises:
            InputError: a folder that cannot be written to.
        """
        if not self._index.refresh().shards:
            return 0
        self._prepare()
        return compact(self.folder, self._kind, self._index, max_bytes)

    def history(self) -> pl.DataFrame:
        """What was embedded, when, and with what: see `prasanga.embeddings.store_history.history`."""
        return history({self.folder / shard.name: shard.rows for shard in self._index.refresh().shards})

    def _pack(self, ids: Sequence[str]) -> PackedIds:
        try:
            return pack_ids(ids)
        except ValueError as error:
            raise InputError(f"{self.folder}: {error}.") from error

    def _fill(
        self,
        rows: Rows,
        found: NDArray[np.bool_],
        places: NDArray[np.int64],
        shard: Shard,
        row: Places,
        packed: PackedIds,
    ) -> None:
        """Put into `rows`, at `places`, what `shard` has in `row` of each, and mark it as found."""
        try:
            for part, ids, values in read_rows(self.folder / shard.name, self._kind, row[places].astype(np.int64)):
                mine = places[part]
                if values.embedding.shape[1] != rows.embedding.shape[1]:
                    raise UnusableShardError(f"has vectors of {values.embedding.shape[1]} numbers")
                if (ids != packed[mine]).any():  # an index is believed only as far as the shards agree
                    self._index.forget()
                    return
                rows.n_pieces[mine] = values.n_pieces
                rows.n_unknown[mine] = values.n_unknown
                rows.cut[mine] = values.cut
                rows.embedding[mine] = values.embedding
                found[mine] = True
        except FileNotFoundError:
            _LOG.debug("%s was put into another shard while it was read", shard.name)
        except UnusableShardError as error:
            self._index.set_aside(shard, error)

    def _check_rows(self, rows: Rows) -> None:
        n = len(rows.ids)
        lengths = {len(column) for column in (rows.n_pieces, rows.n_unknown, rows.cut, rows.embedding)}
        if lengths != {n} or rows.embedding.ndim != 2:
            raise InputError(
                f"{self.folder}: {n} ids with columns of {sorted(lengths)} rows, a mistake in the program."
            )
        if rows.embedding.dtype != self.dtype:
            raise InputError(f"{self.folder}: vectors in {rows.embedding.dtype} cannot be kept, only in {self.dtype}.")
        self._pack(rows.ids)
        self._check_width(rows.embedding.shape[1], self.folder)
        whole = np.isfinite(rows.embedding).all(axis=1)
        if not whole.all():
            name = rows.ids[int(np.argmin(whole))]
            raise InputError(
                f"{self.folder}: the vector of segment {name} has a number that is not finite in {self.dtype}. If it is"
                " only too large, write embeddings: {stored_dtype: float32}."
            )

    def _check_width(self, width: int, named: Path) -> None:
        if self._width is None:
            self._width = self._index.refresh().width
        if self._width not in (None, width):
            raise InputError(
                f"{named}: vectors of {width} numbers, but those in {self.folder} have {self._width}. They are not of"
                " one model: delete the folder that is wrong, and run again."
            )
        self._width = width

    def _prepare(self) -> None:
        """Make the folder, and the file that says what it is of."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"{self.folder}: this folder cannot be made ({error.strerror}). Make it.") from error
        if not self._says_its_key():
            content = {**self._describes, "key": self.key}
            write_text(self.folder / KEY, json.dumps(content, indent=2, sort_keys=True, ensure_ascii=False) + "\n")

    def _says_its_key(self) -> bool:
        """Whether the folder says which key it is of; an InputError if it is another one."""
        path = self.folder / KEY
        try:
            found = json.loads(path.read_text(encoding="utf-8"))["key"]
        except (FileNotFoundError, NotADirectoryError):
            return False
        except (OSError, ValueError, KeyError, TypeError) as error:
            _LOG.warning("%s cannot be read, and is written anew: %s", path, error)
            return False
        if found != self.key:
            raise InputError(
                f"{path}: this folder has the vectors of the key {found!r}, not of {self.key!r}. Use another folder, or"
                " delete this one."
            )
        return True


def _empty(n: int, width: int, dtype: StoredDtype) -> Rows:
    numbers = np.zeros(n, np.int32), np.zeros(n, np.int32), np.zeros(n, np.bool_)
    return Rows([], *numbers, np.empty((n, width), dtype))
