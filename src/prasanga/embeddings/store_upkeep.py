"""What is done to the folder of a vector store: shards are put in, linked in, put together, and removed.

A shard is only ever removed when all its rows are in others that can be read back. One that another one covers alone
goes only if that one ranks higher, and all processes rank them alike: so two that remove at the same time never remove
both. One that several cover together has no such order; it goes only while a lock keeps all other processes from
removing anything, and stays where the file system has no locks.
"""

from __future__ import annotations

import fcntl
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
    read_back,
    read_ids,
    read_whole,
    write_shard,
)
from prasanga.embeddings.store_history import record_path, take_over, write_record
from prasanga.embeddings.store_index import ShardIndex
from prasanga.errors import InputError
from prasanga.parquet import is_gone

_LOG = logging.getLogger(__name__)
KEY = "key.json"
"""The file that says which key a folder is of. Whoever removes shards holds a lock on it."""
_LOCK_SECONDS = 60.0
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


def compact(folder: Path, kind: Kind, index: ShardIndex, max_bytes: int) -> int:
    """See `prasanga.embeddings.store.VectorStore.compact`."""
    remove_leftovers(folder)
    outputs = _outputs_that_share(folder, kind, index)
    missing = index.refresh().missing_in(Entries.of_one(*outputs.values()))
    mine = {shard: n for shard, n in missing.items() if not is_linked(folder / shard.name)}
    needless = [folder / shard.name for shard, n in mine.items() if shard.rows and not n]
    removed = _remove_held(needless, kind, outputs)
    together: list[list[Shard]] = [[]]
    total = 0
    sizes = {shard: shard.size * n // max(shard.rows, 1) for shard, n in mine.items() if n or not shard.rows}
    for shard, size in sorted(sizes.items(), key=lambda item: (item[1], item[0].name)):
        if shard.size > max_bytes // 2 and missing[shard] == shard.rows:
            continue
        if total + size > max_bytes:
            together.append([])
            total = 0
        together[-1].append(shard)
        total += size
    return removed + sum(_merge(folder, kind, index, shards, outputs) for shards in together)


def _merge(
    folder: Path, kind: Kind, index: ShardIndex, shards: Sequence[Shard], outputs: Mapping[Path, PackedIds]
) -> int:
    """Put what `outputs` lack of the rows of `shards` into one; returns how many shards were put into it."""
    elsewhere = Entries.of_one(*outputs.values())
    whole, shared = [], []
    for shard in sorted(shards, key=lambda shard: shard.name):
        try:
            rows = read_whole(folder / shard.name, kind)
        except FileNotFoundError:
            continue
        except UnusableShardError as error:
            index.set_aside(shard, error)
            continue
        whole.append(rows.only(elsewhere.locate(pack_ids(rows.ids)) < 0))
        if len(whole[-1].ids) < len(rows.ids):
            shared.append(folder / shard.name)
    if len(whole) < 2 and not shared:
        return 0
    kept = keep(folder, kind, one_of_each(whole), {})
    remove_covered(kept, kind, index)
    with suppress(FileNotFoundError, UnusableShardError):  # what cannot be read back stands in for nothing
        _remove_held(shared, kind, {**outputs, kept: read_back(kept, kind)} if shared else {})
    return len(whole)


def remove_covered(kept: Path, kind: Kind, index: ShardIndex) -> None:
    """Remove the shards whose rows are all in `kept`, if that can be read back whole. Never fails.

    An output stays for a shard that is none: it takes no room of its own.
    """
    try:
        ids, listing = read_back(kept, kind), index.refresh()
        if kept.name not in {shard.name for shard in listing.shards}:
            raise UnusableShardError("is not seen in the store")
        among, rank = Entries.of_one(ids), _rank(kept, ids)
        covered = {shard.name for shard in listing.covered_by(among)}
        if not is_linked(kept):
            covered = {name for name in covered if not is_linked(kept.with_name(name))}
        paths = [kept.with_name(name) for name in sorted({*covered, *index.unusable} - {kept.name})]
        with _alone(kept.parent):
            doomed = [path for path in paths if _is_covered(path, kind, listing.width, among, rank)]
            if kept.exists():
                _remove(doomed, kept)
    except (OSError, UnusableShardError, InputError) as error:  # at worst some rows are there twice
        _LOG.debug("what %s covers stays beside it: %s", kept, error)


def _outputs_that_share(folder: Path, kind: Kind, index: ShardIndex) -> dict[Path, PackedIds]:
    """The ids of each output that has rows which a shard that is no output has as well, and can be read back whole."""
    listing = index.refresh()
    linked = {shard for shard in listing.shards if is_linked(folder / shard.name)}
    mine = Entries.of_one(listing.ids_of(set(listing.shards) - linked))
    share = [folder / shard.name for shard, n in listing.missing_in(mine).items() if shard in linked and n < shard.rows]
    if not share or not _knows_locks(folder):
        return {}
    found: dict[Path, PackedIds] = {}
    for path in sorted(share):
        try:
            found[path] = read_back(path, kind)
        except (OSError, UnusableShardError) as error:
            _LOG.debug("rows of %s stay where else they are: %s", path, error)
    return found


def _remove_held(paths: Sequence[Path], kind: Kind, held: Mapping[Path, PackedIds]) -> int:
    """Remove those of `paths` whose rows are all in shards of `held`, in several of them together; how many these were.

    Each hands its record to the shard that has most of its rows. Never fails.
    """
    removed = 0
    if not paths or not held:
        return removed
    try:
        with _alone(paths[0].parent) as alone:
            there = {path: ids for path, ids in sorted(held.items()) if path.exists()} if alone else {}
            among = Entries.of_one(*there.values())
            for path in paths:
                if path in there or is_linked(path):
                    continue
                mine = read_ids(path, kind)[1]
                if (among.locate(mine) >= 0).all():
                    most = Entries.of_one(mine)
                    _remove([path], max(there, key=lambda one: np.count_nonzero(most.locate(there[one]) >= 0)))
                    removed += 1
    except (OSError, UnusableShardError, ValueError, InputError) as error:
        _LOG.debug("rows stay where outputs have them as well: %s", error)
    return removed


def _remove(doomed: Sequence[Path], heir: Path) -> None:
    if doomed:
        take_over(heir, doomed)
    for path in doomed:
        path.unlink(missing_ok=True)
        record_path(path).unlink(missing_ok=True)


def remove_leftovers(folder: Path) -> None:
    """Remove what killed processes left more than a day ago: files half written, records without a shard."""
    records = [path for path in folder.glob("*.json") if _RECORD.fullmatch(path.name)]
    orphans = [path for path in records if not path.with_suffix(".parquet").exists()]
    for path in [*_half_written(folder), *orphans]:
        with suppress(OSError):
            if path.stat().st_mtime < time.time() - _DAY:
                path.unlink()


def _remove_what_the_dead_left(folder: Path, host: str) -> None:
    """Remove files that processes of this host were writing when they were killed; of other hosts nothing is known."""
    writer = re.compile(rf"\.+{re.escape(host)}\.(\d+)\.")
    for path in _half_written(folder):
        found = writer.match(path.name)
        if found and is_gone(found[1]):
            path.unlink(missing_ok=True)


def _half_written(folder: Path) -> list[Path]:
    return [*folder.glob(".*.tmp"), *folder.glob(".*.staged")]


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
    host = socket.gethostname()
    staged = folder / f".{host}.{os.getpid()}.{uuid.uuid4().hex}.staged"
    _remove_what_the_dead_left(folder, host)
    try:
        yield staged
    finally:
        with suppress(OSError):
            staged.unlink(missing_ok=True)


@contextmanager
def _alone(folder: Path) -> Iterator[bool]:
    """Keep other processes from removing shards for as long as this lasts; false where there are no locks.

    Raises:
        OSError: if another process is at it and does not finish, or the folder says no key.
    """
    try:
        descriptor = os.open(folder / KEY, os.O_RDWR)  # NFS locks no file that is open for reading only
    except PermissionError:
        descriptor = os.open(folder / KEY, os.O_RDONLY)
    try:
        yield _lock(descriptor)
    finally:
        os.close(descriptor)  # which gives the lock back


def _knows_locks(folder: Path) -> bool:
    try:
        with _alone(folder) as alone:
            return alone
    except OSError:
        return False


def _lock(descriptor: int) -> bool:
    until = time.monotonic() + _LOCK_SECONDS
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > until:
                raise
            time.sleep(0.02)
        except OSError as error:
            _LOG.debug("no locks here: %s", error)
            return False
        else:
            return True
