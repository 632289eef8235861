"""Vectors lie on the disk once: what outputs have, several of them together, needs no shard of its own."""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from prasanga.embeddings import store_upkeep
from prasanga.embeddings.store import Rows, VectorStore
from prasanga.parquet import write_row_groups


def rows(*numbers: int) -> Rows:
    values = np.array(numbers, dtype=np.int32)
    ids = [hashlib.md5(str(number).encode()).hexdigest() for number in numbers]
    vectors = np.repeat(values[:, None], 3, axis=1).astype(np.float16)
    return Rows(ids, values, np.zeros(len(ids), np.int32), np.zeros(len(ids), np.bool_), vectors)


def content(folder: Path) -> list[int]:
    """The numbers that a new reader finds, of those up to 30; each with its own vector."""
    read = VectorStore(folder, key="k").read(rows(*range(30)).ids)
    if read is None:
        return []
    np.testing.assert_array_equal(read.embedding[:, 0], read.n_pieces)
    return sorted(read.n_pieces.tolist())


def numbers_of(path: Path) -> list[int]:
    return sorted(pq.read_table(path, columns=["n_pieces"]).column(0).to_pylist())


def shards(folder: Path, *, linked: bool) -> list[list[int]]:
    """The numbers in each shard that is an output as well, or in each that is none."""
    paths = [path for path in folder.glob("[!.]*.parquet") if (path.stat().st_nlink > 1) == linked]
    return sorted(map(numbers_of, paths))


def give_out(store: VectorStore, outputs: Path, *groups: tuple[int, ...]) -> list[Path]:
    """Write an output for each group of numbers, as a run of the workflow does, and adopt it."""
    paths = [outputs / f"{number}.parquet" for number in range(len(groups))]
    for path, group in zip(paths, groups, strict=True):
        table = rows(*group).to_table()
        write_row_groups(path, table.schema, [table], {"key": "k", "stage": "embeddings"})
        store.adopt(path, {"passes": 0})
    return paths


def fill(tmp_path: Path, *groups: tuple[int, ...]) -> VectorStore:
    """A store with one shard of all numbers, after the outputs were deleted and the store was compacted."""
    store = VectorStore(tmp_path / "store", key="k")
    for group in groups:
        store.add(rows(*group), {"passes": len(group)})
    for path in give_out(store, tmp_path / "first", *groups):
        path.unlink()
    assert store.compact() == len(groups)
    assert shards(store.folder, linked=False) == [sorted(number for group in groups for number in group)]
    return store


GROUPS = ((1, 2, 3), (4, 5), (6, 7, 8, 9))


def test_a_shard_goes_when_several_outputs_have_its_rows_together(tmp_path: Path) -> None:
    store = fill(tmp_path, *GROUPS)
    outputs = give_out(store, tmp_path / "again", *GROUPS)
    assert len(shards(store.folder, linked=False)) == 1  # the vectors lie on the disk twice
    assert store.compact() == 1
    assert shards(store.folder, linked=False) == []
    assert shards(store.folder, linked=True) == sorted(map(list, GROUPS))
    assert content(store.folder) == list(range(1, 10))
    assert store.history()["passes"].sum() == 9
    assert store.history()["rows"].sum() == 9
    assert store.compact() == 0
    for path in outputs:
        path.unlink()
    assert content(store.folder) == list(range(1, 10))


def test_only_rows_that_outputs_lack_are_written_again(tmp_path: Path) -> None:
    store = fill(tmp_path, *GROUPS)
    give_out(store, tmp_path / "again", GROUPS[0], (5, 20))
    store.add(rows(9, 21), {"passes": 1})
    assert store.compact() == 2
    assert shards(store.folder, linked=False) == [[4, 6, 7, 8, 9, 21]]
    assert shards(store.folder, linked=True) == [[1, 2, 3], [5, 20]]
    assert content(store.folder) == [*range(1, 10), 20, 21]
    assert store.history()["passes"].sum() == 10
    assert store.compact() == 0


def test_a_shard_too_large_to_merge_gives_up_what_outputs_have(tmp_path: Path) -> None:
    store = fill(tmp_path, *GROUPS)
    give_out(store, tmp_path / "again", GROUPS[0])
    small = store.add(rows(21), {})
    assert store.compact(max_bytes=1) == 1  # nothing is small enough to be put together
    assert small.exists()
    assert shards(store.folder, linked=False) == [[4, 5, 6, 7, 8, 9], [21]]
    assert content(store.folder) == [*range(1, 10), 21]


def test_an_output_stays_for_a_shard_that_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = VectorStore(tmp_path / "store", key="k")
    for group in ((1, 2, 20), (3, 21)):
        store.add(rows(*group), {})
    give_out(store, tmp_path / "outputs", (1, 2, 3))
    monkeypatch.setattr(
        store_upkeep, "_outputs_that_share", lambda *_: {}
    )  # it was linked in after they were looked at
    assert store.compact() == 2
    assert shards(store.folder, linked=True) == [[1, 2, 3]]
    monkeypatch.undo()
    assert store.compact() == 1
    assert shards(store.folder, linked=True) == [[1, 2, 3]]
    assert shards(store.folder, linked=False) == [[20, 21]]


def test_an_output_that_cannot_be_read_back_stands_in_for_nothing(tmp_path: Path) -> None:
    store = fill(tmp_path, *GROUPS)
    damaged, *_ = give_out(store, tmp_path / "again", *GROUPS)
    whole = bytearray(damaged.read_bytes())
    column = pq.read_metadata(damaged).row_group(0).column(4)
    whole[column.data_page_offset + column.total_compressed_size - 3] ^= 4
    damaged.write_bytes(whole)  # the same file under both names
    store.compact()
    assert shards(store.folder, linked=False) == [[1, 2, 3]]
    assert content(store.folder) == list(range(1, 10))


def before_the_lock(monkeypatch: pytest.MonkeyPatch, act: Callable[[], object]) -> None:
    """Let another process act once, after this one has looked at everything and before it removes anything."""
    remove = store_upkeep._remove_held

    def late(*given: Any) -> int:
        monkeypatch.undo()
        act()
        return remove(*given)

    monkeypatch.setattr(store_upkeep, "_remove_held", late)


def test_a_shard_stays_if_one_that_held_its_rows_has_gone_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = fill(tmp_path, *GROUPS)
    give_out(store, tmp_path / "again", *GROUPS)
    gone = next(path for path in store.folder.glob("*.parquet") if numbers_of(path) == [4, 5])
    before_the_lock(monkeypatch, gone.unlink)
    assert store.compact() == 0
    assert content(store.folder) == list(range(1, 10))


def test_a_shard_that_became_an_output_meanwhile_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = fill(tmp_path, *GROUPS)
    (together,) = store.folder.glob("*.parquet")
    give_out(store, tmp_path / "again", *GROUPS)
    before_the_lock(monkeypatch, lambda: os.link(together, tmp_path / "output.parquet"))
    assert store.compact() == 0
    assert together.exists()


def test_two_that_compact_at_once_lose_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = fill(tmp_path, *GROUPS)
    outputs = give_out(store, tmp_path / "again", *GROUPS)

    def other() -> None:
        for path in outputs:  # as Snakemake does before a rerun
            path.unlink()
        VectorStore(store.folder, key="k").compact()

    before_the_lock(monkeypatch, other)
    store.compact()
    assert content(store.folder) == list(range(1, 10))


@contextmanager
def held_by_another(folder: Path) -> Iterator[None]:
    with (folder / "key.json").open("r+b") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def test_nothing_is_removed_while_another_process_removes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = fill(tmp_path, *GROUPS)
    monkeypatch.setattr(store_upkeep, "_LOCK_SECONDS", 0.05)
    with held_by_another(store.folder):
        give_out(store, tmp_path / "again", *GROUPS, tuple(range(1, 10)))
        store.compact()
        assert shards(store.folder, linked=False) == [list(range(1, 10))]
        assert len(shards(store.folder, linked=True)) == 4
    store.compact()
    assert shards(store.folder, linked=False) == []
    assert content(store.folder) == list(range(1, 10))


def test_without_locks_only_what_one_shard_covers_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", refuse)
    store = fill(tmp_path, *GROUPS)
    give_out(store, tmp_path / "again", *GROUPS)
    assert store.compact() == 0
    assert shards(store.folder, linked=False) == [list(range(1, 10))]
    give_out(store, tmp_path / "all", tuple(range(10)))
    assert [*shards(store.folder, linked=False), *shards(store.folder, linked=True)] == [list(range(10))]
