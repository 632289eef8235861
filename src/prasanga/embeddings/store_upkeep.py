"""What is done to the folder of a vector store: shards are put in, linked in, put together, and removed.

A shard is only ever removed when all its rows are in another one that can be read back. Of two shards with the same
rows the later one stays, for every process alike: so two that remove at the same time never remove both.
"""

from __future__ import annotations

import logging
import os
import re
import socket
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np

from prasanga.embeddings.store_entries import Entries, Shard
from prasanga.embeddings.store_files import (
    Kind,
    PackedIds,
    Rows,
    UnusableShardError,
    content_digest,
    one_of_each,
    pack_ids,
    read_ids,
    read_whole,
    write_shard,
)
from prasanga.embeddings.store_history import record_path, take_over, write_record
from prasanga.embeddings.store_index import ShardIndex
from prasanga.errors import InputError

_LOG = logging.getLogger(__name__)
_DAY = 24 * 60 * 60
_Rank = tuple[int, int, int, str]
_RECORD = re.compile(r"[0-9a-f]{32}\.json")


def keep(folder: Path, kind: Kind, rows: Rows, record: Mapping[str, Any]) -> Path:
    """Write rows as a shard under the name of its content, with its record; returns its path."""
    with _staged(folder) as staged:
        write_shard(staged, rows, kind)
        path = folder / f"{content_digest(staged)}.parquet"
        _write_record_once(path, len(rows.ids), record)
        staged.replace(path)
    return path


def link(path: Path, folder: Path, rows: int, record: Mapping[str, Any]) -> Path:
    """Make the file `path` a shard as well, by a second name for it under the name of its content.

    Raises:
        OSError: where that cannot be.
    """
    kept = folder / f"{content_digest(path)}.parquet"
    _write_record_once(kept, rows, record)
    try:
        _link(path, kept)
    finally:
        if not kept.exists():
            record_path(kept).unlink(missing_ok=True)
    return kept


def merge(folder: Path, kind: Kind, index: ShardIndex, shards: Sequence[Shard]) -> int:
    """Put the rows of `shards` into one; returns how many shards these were, 0 if nothing was to be done."""
    whole = []
    for shard in sorted(shards, key=lambda shard: shard.name):
        try:
            whole.append(read_whole(folder / shard.name, kind))
        except FileNotFoundError:
            continue
        except UnusableShardError as error:
            index.set_aside(shard, error)
    if len(whole) < 2:
        return 0
    remove_covered(keep(folder, kind, one_of_each(whole), {}), kind, index)
    return len(whole)


def remove_covered(kept: Path, kind: Kind, index: ShardIndex) -> None:
    """Remove the shards whose rows are all in `kept`, if that can be read back whole. Never fails."""
    try:
        if content_digest(kept) != kept.stem:
            raise UnusableShardError("is not what was written")
        ids, listing = pack_ids(read_whole(kept, kind).ids), index.refresh()
        if kept.name not in {shard.name for shard in listing.shards}:
            raise UnusableShardError("is not seen in the store")
        among, rank = Entries.of_one(ids), _rank(kept, ids)
        names = {*(shard.name for shard in listing.covered_by(among)), *index.unusable} - {kept.name}
        paths = [kept.with_name(name) for name in sorted(names)]
        doomed = [path for path in paths if _is_covered(path, kind, listing.width, among, rank)]
        if doomed:
            take_over(kept, doomed)
        for path in doomed:
            path.unlink(missing_ok=True)
            record_path(path).unlink(missing_ok=True)
    except (OSError, UnusableShardError, InputError) as error:  # at worst some rows are there twice
        _LOG.debug("what %s covers stays beside it: %s", kept, error)


def remove_leftovers(folder: Path) -> None:
    """Remove what killed processes left more than a day ago: files half written, records without a shard."""
    halves = [*folder.glob(".*.tmp"), *folder.glob(".*.staged")]
    records = [path for path in folder.glob("*.json") if _RECORD.fullmatch(path.name)]
    orphans = [path for path in records if not path.with_suffix(".parquet").exists()]
    for path in [*halves, *orphans]:
        with suppress(OSError):
            if path.stat().st_mtime < time.time() - _DAY:
                path.unlink()


def is_linked(path: Path) -> bool:
    """Whether a shard is an output of the workflow as well. One that is gone counts as such."""
    try:
        return path.stat().st_nlink > 1
    except FileNotFoundError:
        return True


def _is_covered(path: Path, kind: Kind, width: int | None, among: Entries, rank: _Rank) -> bool:
    """Whether a shard may go, by what it holds itself: an index is not trusted so far."""
    try:
        mine, ids = read_ids(path, kind)
        return mine == width and bool((among.locate(ids) >= 0).all()) and _rank(path, ids) < rank
    except (FileNotFoundError, UnusableShardError):
        return False


def _rank(path: Path, ids: PackedIds) -> _Rank:
    """What decides which of two shards stays: more rows, later, an output of the workflow too, name."""
    status = path.stat()
    return len(np.unique(ids, axis=0)), status.st_mtime_ns, status.st_nlink, path.name


def _write_record_once(shard: Path, rows: int, record: Mapping[str, Any]) -> None:
    """Of a shard that is there already, the first record counts."""
    if not (shard.exists() and record_path(shard).exists()):
        write_record(shard, rows, record)


def _link(path: Path, kept: Path) -> None:
    try:
        os.link(path, kept)
    except FileExistsError:
        shared = kept.stat().st_nlink > 1
        if path.samefile(kept) or (shared and content_digest(kept) == kept.stem):
            return
        with _staged(kept.parent) as staged:  # the same content would be on the disk twice
            os.link(path, staged)
            staged.replace(kept)


@contextmanager
def _staged(folder: Path) -> Iterator[Path]:
    """A name that no reader looks at and no other process has; what is still there in the end is removed."""
    staged = folder / f".{socket.gethostname()}.{os.getpid()}.{uuid.uuid4().hex}.staged"
    try:
        yield staged
    finally:
        with suppress(OSError):
            staged.unlink(missing_ok=True)
