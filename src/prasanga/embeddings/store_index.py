"""Where in a vector store a segment's row is: an index from ids to shards and rows, and the shards it does not cover.

`index.arrow` is a cache. It names the shards that it was made from, each with its size, and carries a digest of itself;
an index that is damaged, or of other vectors, is made anew without a word. A shard that has appeared since is read for
its ids when the store is opened, one that has gone is forgotten. Whoever finds that many shards are not covered writes
the index anew, under a temporary name; processes that do so at once only do it twice.
"""

from __future__ import annotations

import json
import logging
import os
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import xxhash

from prasanga.embeddings.store_entries import Entries, Listing, Places, Shard
from prasanga.embeddings.store_files import Kind, PackedIds, UnusableShardError, read_ids
from prasanga.errors import InputError
from prasanga.parquet import replacing

_LOG = logging.getLogger(__name__)
_NAME = "index.arrow"
_SUFFIX = ".parquet"
_SCHEMA = pa.schema({"id": pa.binary(16), "shard": pa.int32(), "row": pa.int32()})
_UNCOVERED_SHARDS = 32
_UNCOVERED_SHARE = 0.2
_LISTINGS = 10


class Signature(NamedTuple):
    """What tells whether a file is still the one that was looked at."""

    size: int
    modified: int
    inode: int


class ShardIndex:
    """The shards of one folder and where their rows are, brought up to date when asked."""

    def __init__(self, folder: Path, kind: Kind) -> None:
        self._folder = folder
        self._kind = kind
        self._files: dict[str, Signature] | None = None
        self._listing = Listing((), ())
        self._indexed: Entries | None = None
        self._fresh: dict[str, tuple[Signature, Shard, PackedIds]] = {}
        self._unusable: dict[str, Signature] = {}

    def refresh(self) -> Listing:
        """What the store holds now. Shards that cannot be used are left out, and named in a warning."""
        files = list_files(self._folder)
        if files != self._files:
            self._listing = self._list(files)
            self._files = files
        return self._listing

    def set_aside(self, shard: Shard, error: Exception) -> None:
        """From now on, for this process, `shard` counts as absent."""
        if self._files is not None:
            self._warn(shard.name, self._files.get(shard.name), error)
        self._files = None

    @property
    def unusable(self) -> tuple[str, ...]:
        """Names of the shards that this process has found unusable."""
        return tuple(sorted(self._unusable))

    def forget(self) -> None:
        """Make the index anew at the next call, from nothing but the shards."""
        self._files, self._indexed, self._fresh = None, Entries.of({}), {}

    def _list(self, files: Mapping[str, Signature]) -> Listing:
        if self._indexed is None:
            self._indexed = self._load()
        usable = {name: mark for name, mark in files.items() if self._unusable.get(name) != mark}
        indexed = self._indexed.only(
            {s for s in self._indexed.shards if s.name in usable and usable[s.name].size == s.size}
        )
        gone = sum(shard.rows for shard in self._indexed.shards) - sum(shard.rows for shard in indexed.shards)
        covered = {shard.name for shard in indexed.shards}
        self._fresh = {
            name: held
            for name, mark in usable.items()
            if name not in covered and (held := self._fresh_ids(name, mark)) is not None
        }
        shards = self._of_one_width([*indexed.shards, *(shard for _, shard, _ in self._fresh.values())], files)
        indexed = indexed.only(shards)
        fresh = {shard: ids for _, shard, ids in self._fresh.values() if shard in shards}
        rows = sum(shard.rows for shard in fresh) + gone
        if len(fresh) > _UNCOVERED_SHARDS or rows > _UNCOVERED_SHARE * sum(shard.rows for shard in shards):
            indexed = Entries.of({**indexed.by_shard(), **fresh})
            fresh = {}
            self._save(indexed)
            self._fresh = {}
        self._indexed = indexed
        tiers = (indexed, Entries.of(fresh)) if fresh else (indexed,)
        return Listing(tuple(sorted(shards, key=lambda shard: shard.name)), tiers)

    def _fresh_ids(self, name: str, mark: Signature) -> tuple[Signature, Shard, PackedIds] | None:
        held = self._fresh.get(name)
        if held is not None and held[0] == mark:
            return held
        try:
            width, ids = read_ids(self._folder / name, self._kind)
        except FileNotFoundError:  # merged since it was listed: the next listing has its rows elsewhere
            return None
        except UnusableShardError as error:
            self._warn(name, mark, error)
            return None
        return mark, Shard(name, mark.size, len(ids), width), ids

    def _of_one_width(self, shards: Iterable[Shard], files: Mapping[str, Signature]) -> set[Shard]:
        """Those with vectors of the width that most rows have; the others are named in a warning."""
        rows: Counter[int] = Counter()
        kept = set(shards)
        for shard in kept:
            rows[shard.width] += shard.rows
        width = max(sorted(rows), key=rows.__getitem__, default=0)
        for shard in [shard for shard in kept if shard.width != width]:
            reason = UnusableShardError(f"has vectors of {shard.width} numbers, most others of {width}")
            self._warn(shard.name, files[shard.name], reason)
            kept.remove(shard)
        return kept

    def _warn(self, name: str, mark: Signature | None, error: Exception) -> None:
        if mark is not None:
            self._unusable[name] = mark
        _LOG.warning("%s %s: it counts as absent, and its rows are computed anew.", self._folder / name, error)

    def _load(self) -> Entries:
        path = self._folder / _NAME
        try:
            with pa.memory_map(str(path)) as source:
                return _from_table(pa.ipc.open_file(source).read_all(), self._kind)
        except FileNotFoundError:
            pass
        except (pa.ArrowException, OSError, ValueError, LookupError, TypeError) as error:
            _LOG.debug("%s is made anew: %s", path, error)
        return Entries.of({})

    def _save(self, entries: Entries) -> None:
        if not self._folder.is_dir():  # somebody has deleted the store
            return
        path = self._folder / _NAME
        table = _to_table(entries, self._kind)
        try:
            with replacing(path) as temporary, pa.ipc.new_file(str(temporary), table.schema) as writer:
                writer.write_table(table)
        except (OSError, InputError) as error:  # a folder to read only, a full disk: the index is but a cache
            _LOG.debug("%s is not written: %s", path, error)


def list_files(folder: Path) -> dict[str, Signature]:
    """The shard files of a folder; empty if there is no folder.

    A file may be missed that is removed while the folder is read, and with it the new one that has its rows. So the
    folder is read until nothing has gone between two readings.
    """
    before = _scan(folder)
    for _ in range(_LISTINGS):
        files = _scan(folder)
        if before.keys() <= files.keys():
            break
        before = files
    return dict(sorted(files.items()))


def _scan(folder: Path) -> dict[str, Signature]:
    files = {}
    try:
        with os.scandir(folder) as found:
            for entry in found:
                if entry.name.endswith(_SUFFIX) and not entry.name.startswith("."):
                    try:
                        status = entry.stat()
                    except FileNotFoundError:
                        continue
                    files[entry.name] = Signature(status.st_size, status.st_mtime_ns, status.st_ino)
    except (FileNotFoundError, NotADirectoryError):
        pass
    return files


def _to_table(entries: Entries, kind: Kind) -> pa.Table:
    packed = entries.ids.astype(">u8").tobytes()
    ids = pa.FixedSizeBinaryArray.from_buffers(pa.binary(16), len(entries.ids), [None, pa.py_buffer(packed)])
    shards = json.dumps([asdict(shard) for shard in entries.shards])
    metadata = {
        "key": kind.key,
        "dtype": kind.dtype,
        "shards": shards,
        "digest": _digest(shards, packed, entries.shard, entries.row),
    }
    columns = [ids, pa.array(entries.shard), pa.array(entries.row)]
    return pa.Table.from_arrays(columns, schema=_SCHEMA.with_metadata(metadata))


def _from_table(table: pa.Table, kind: Kind) -> Entries:
    """Raises ValueError or KeyError if the table is not an index of this kind, as it was written."""
    metadata = {name.decode(): value.decode() for name, value in (table.schema.metadata or {}).items()}
    if (metadata["key"], metadata["dtype"]) != (kind.key, kind.dtype):
        raise ValueError(f"of the key {metadata['key']!r} in {metadata['dtype']}")
    if table.schema.remove_metadata() != _SCHEMA or any(column.null_count for column in table.columns):
        raise ValueError("with other columns")
    n = table.num_rows
    column = table.column("id").combine_chunks()
    packed = np.frombuffer(column.buffers()[1], dtype=">u8", count=2 * n, offset=16 * column.offset)
    # Copied, for another host may replace the file, and who looks at the map of a file that is gone is killed.
    shard, row = (np.array(table.column(name), dtype=np.int32) for name in ("shard", "row"))
    if metadata["digest"] != _digest(metadata["shards"], packed.tobytes(), shard, row):
        raise ValueError("damaged")
    shards = tuple(Shard(**shard) for shard in json.loads(metadata["shards"]))
    return Entries(shards, packed.reshape(n, 2).astype(np.uint64), shard, row)


def _digest(shards: str, packed: bytes, shard: Places, row: Places) -> str:
    digest = xxhash.xxh3_128(shards.encode())
    for part in (packed, shard.tobytes(), row.tobytes()):
        digest.update(part)
    return digest.hexdigest()
