"""Whatever is removed, nothing is lost, and vectors lie on the disk once: what outputs have needs no other shard."""

from __future__ import annotations

import hashlib
import os
import random
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from prasanga.base.parquet import require_every_page, write_row_groups
from prasanga.embeddings import Rows, VectorStore


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


def test_shards_without_rows_become_one(tmp_path: Path) -> None:
    """As buckets without segments leave them, when their outputs have gone."""
    store = VectorStore(tmp_path / "store", key="k")
    for number in range(3):
        output, table = tmp_path / f"{number}.parquet", rows().to_table()
        write_row_groups(output, table.schema, [], {"key": "k", "inputs": str(number)})
        store.adopt(output, {})
        output.unlink()
    store.compact()
    assert shards(store.folder, linked=False) == [[]]
    store.add(rows(1), {})
    store.compact()
    assert shards(store.folder, linked=False) == [[1]]


def test_an_output_stays_for_a_shard_that_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = VectorStore(tmp_path / "store", key="k")
    for group in ((1, 2, 20), (3, 21)):
        store.add(rows(*group), {})
    meanwhile(monkeypatch, 1, lambda: give_out(store, tmp_path / "outputs", (1, 2, 3)))
    assert store.compact() == 2
    assert shards(store.folder, linked=True) == [[1, 2, 3]]
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


def meanwhile(monkeypatch: pytest.MonkeyPatch, files: int, act: Callable[[], object]) -> None:
    """Let another process act once, when this one has read so many files back and before it removes anything."""
    seen: list[str | Path] = []

    def late(path: str | Path) -> None:
        require_every_page(path)
        seen.append(path)
        if len(seen) == files:
            monkeypatch.undo()
            act()

    monkeypatch.setattr("prasanga.base.store.require_every_page", late)


def test_a_shard_stays_if_one_that_held_its_rows_has_gone_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = fill(tmp_path, *GROUPS)
    give_out(store, tmp_path / "again", *GROUPS)
    gone = next(path for path in store.folder.glob("*.parquet") if numbers_of(path) == [4, 5])
    meanwhile(monkeypatch, len(GROUPS), gone.unlink)
    assert store.compact() == 0
    assert content(store.folder) == list(range(1, 10))


def test_a_shard_that_became_an_output_meanwhile_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = fill(tmp_path, *GROUPS)
    (together,) = store.folder.glob("*.parquet")
    give_out(store, tmp_path / "again", *GROUPS)
    meanwhile(monkeypatch, len(GROUPS), lambda: os.link(together, tmp_path / "output.parquet"))
    assert store.compact() == 0
    assert together.exists()


def test_two_that_compact_at_once_lose_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = fill(tmp_path, *GROUPS)
    outputs = give_out(store, tmp_path / "again", *GROUPS)

    def other() -> None:
        for path in outputs:  # as Snakemake does before a rerun
            path.unlink()
        VectorStore(store.folder, key="k").compact()

    meanwhile(monkeypatch, len(GROUPS), other)
    store.compact()
    assert content(store.folder) == list(range(1, 10))


def test_a_deleted_store_is_empty_and_stays_deleted(tmp_path: Path) -> None:
    store = fill(tmp_path, *GROUPS)
    assert store.find(rows(1, 20).ids).tolist() == [True, False]
    shutil.rmtree(store.folder)
    assert store.find(rows(1, 20).ids).tolist() == [False, False]
    assert store.read(rows(1).ids) is None
    assert not store.folder.exists()


def test_a_folder_is_read_again_if_files_went_meanwhile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a folder that changes while it is read, both the old file and the new one may be missed."""
    fill(tmp_path, *GROUPS)
    store = VectorStore(tmp_path / "store", key="k")
    glob, calls = Path.glob, []

    def missing(folder: Path, pattern: str) -> Iterable[Path]:
        calls.append(pattern)
        return [] if len(calls) == 2 else glob(folder, pattern)

    monkeypatch.setattr(Path, "glob", missing)
    assert store.find(rows(1, 2, 3).ids).all()
    assert len(calls) > 2


def test_a_store_of_an_earlier_version_is_read_without_its_index(tmp_path: Path) -> None:
    store = fill(tmp_path, *GROUPS)
    index = store.folder / "index.arrow"
    index.write_bytes(b"ARROW1")
    assert content(store.folder) == list(range(1, 10))
    store.compact()
    assert index.exists()  # an earlier version may be at work
    os.utime(index, (0, 0))
    store.compact()
    assert not index.exists()


def require_once(folder: Path) -> None:
    """No row of an output is in a shard that is none as well."""
    of_outputs, others = ({n for one in shards(folder, linked=linked) for n in one} for linked in (True, False))
    assert not of_outputs & others


@pytest.mark.parametrize("seed", range(8))
def test_whatever_is_done_in_whatever_order_the_store_is_a_dictionary(tmp_path: Path, seed: int) -> None:
    """Values depend on the id alone here, as they do in real life up to the last bits."""
    chance = random.Random(seed)
    expected: set[int] = set()
    folder = tmp_path / "store"
    stores = [VectorStore(folder, key="k") for _ in range(2)]
    outputs: list[Path] = []
    for step in range(40):
        store = chance.choice(stores)
        numbers = chance.sample(range(30), chance.randrange(1, 8))
        match chance.choice(["add", "add", "adopt", "adopt grown", "remove output", "compact", "reopen"]):
            case "add":
                store.add(rows(*numbers), {"step": 1})
                expected |= set(numbers)
            case "adopt" | "adopt grown" as how:
                known = sorted(expected) if how == "adopt grown" else []
                numbers = [*chance.sample(known, len(known) * 2 // 3), *numbers]
                outputs += give_out(store, tmp_path / str(step), tuple(numbers))
                expected |= set(numbers)
            case "remove output" if outputs:
                outputs.pop(chance.randrange(len(outputs))).unlink()
            case "compact":
                store.compact(chance.choice([2_000, 5_000, 1 << 20]))
                require_once(folder)
            case "reopen":
                stores[chance.randrange(2)] = VectorStore(folder, key="k")
        if step % 3 == 0:
            assert content(folder) == sorted(expected)
            assert store.find(rows(*range(30)).ids).tolist() == [number in expected for number in range(30)]
    for output in outputs:
        output.unlink()
    for store in stores:
        store.compact()
    assert content(folder) == sorted(expected)
    assert len(list(folder.glob("*.parquet"))) == 1
    assert list(folder.glob(".*")) == []
