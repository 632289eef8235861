"""The index says where a row is, quickly; and where it is wrong, missing or behind, nobody notices but for the time."""

from __future__ import annotations

import hashlib
import logging
import random
import shutil
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from prasanga.embeddings.store import Rows, VectorStore
from prasanga.embeddings.store_entries import Entries, Listing, Shard
from prasanga.embeddings.store_files import Kind, pack_ids
from prasanga.embeddings.store_index import ShardIndex, _to_table, list_files
from prasanga.parquet import write_row_groups

KIND = Kind("k1", "float16")


def name_of(number: int) -> str:
    return hashlib.md5(str(number).encode()).hexdigest()


def rows(numbers: list[int], value: float | None = None) -> Rows:
    values = np.array([value if value is not None else number for number in numbers])
    n = len(numbers)
    embedding = np.repeat(values[:, None], 4, axis=1).astype(np.float16)
    return Rows(
        [name_of(k) for k in numbers], np.zeros(n, np.int32), np.zeros(n, np.int32), np.zeros(n, bool), embedding
    )


def content(store: VectorStore, upto: int = 100) -> dict[int, float]:
    number_of = {name_of(number): number for number in range(upto)}
    read = store.read(list(number_of))
    there = store.find(list(number_of))
    if read is None:
        assert not there.any()
        return {}
    assert read.ids == [name for name, has in zip(number_of, there, strict=True) if has]
    assert (read.embedding == read.embedding[:, :1]).all()
    return {number_of[name]: float(vector[0]) for name, vector in zip(read.ids, read.embedding, strict=True)}


def fill(folder: Path, *groups: list[int]) -> VectorStore:
    store = VectorStore(folder, key="k1")
    for group in groups:
        store.add(rows(group), {})
    return store


def test_ids_are_packed_in_their_order() -> None:
    ids = ["0123456789abcdef0011223344556677", "f" * 32]
    packed = pack_ids(ids)
    assert packed.tolist() == [[0x0123456789ABCDEF, 0x0011223344556677], [2**64 - 1, 2**64 - 1]]
    assert pack_ids([]).shape == (0, 2)
    for bad in (["a" * 31], ["a" * 31, "a" * 33], ["g" * 32], ["a" * 30 + "  "], [""]):
        with pytest.raises(ValueError, match="32 hexadecimal digits"):
            pack_ids(bad)


def test_ids_that_share_a_half_are_told_apart_and_the_first_shard_counts() -> None:
    a, b = Shard("a", 1, 4, 8), Shard("b", 1, 4, 8)
    entries = Entries.of(
        {
            b: np.array([[7, 1], [7, 2], [3, 3], [7, 9]], np.uint64),
            a: np.array([[7, 2], [7, 3], [7, 3], [0, 0]], np.uint64),
        }
    )
    assert entries.shards == (a, b)
    asked = np.array([[7, 2], [7, 3], [7, 1], [7, 9], [7, 0], [7, 4], [7, 10], [0, 0], [9, 9], [3, 3]], np.uint64)
    shard, row = Listing((a, b), (entries,)).locate(asked)
    assert shard.tolist() == [0, 0, 1, 1, -1, -1, -1, 0, -1, 1]
    assert row.tolist() == [0, 1, 0, 3, -1, -1, -1, 3, -1, 2]
    tiers = (Entries.of({b: entries.by_shard()[b]}), Entries.of({a: entries.by_shard()[a]}))
    for several in (tiers, tiers[::-1]):
        shard_again, row_again = Listing((a, b), several).locate(asked)
        assert (shard_again.tolist(), row_again.tolist()) == (shard.tolist(), row.tolist())


def test_entries_of_some_shards_are_those_that_these_alone_have() -> None:
    rng = np.random.default_rng(3)
    ids_of = {Shard(str(i), i, 5, 8): rng.integers(0, 4, (5, 2)).astype(np.uint64) for i in range(6)}
    entries = Entries.of(ids_of)
    back = entries.by_shard()
    assert all((back[shard] == ids).all() for shard, ids in ids_of.items())
    kept = {shard: ids for shard, ids in ids_of.items() if shard.name in "024"}
    some, expected = entries.only(kept.keys()), Entries.of(kept)
    assert some.shards == expected.shards
    for name in ("ids", "shard", "row"):
        np.testing.assert_array_equal(getattr(some, name), getattr(expected, name))
    assert entries.only(ids_of.keys()) is entries
    assert len(entries.only(set()).ids) == 0


def test_a_shard_is_covered_if_every_row_of_it_is() -> None:
    shards = [Shard(name, 1, 2, 8) for name in "abc"]
    ids = [np.array(pair, np.uint64) for pair in ([[1, 1], [2, 2]], [[2, 2], [2, 2]], [[3, 3], [1, 1]])]
    tiers = (Entries.of(dict(zip(shards[:2], ids[:2], strict=True))), Entries.of({shards[2]: ids[2]}))
    listing = Listing(tuple(shards), tiers)
    among = Entries.of_one(np.array([[2, 2], [3, 3], [3, 3], [5, 1]], np.uint64))
    assert [shard.name for shard in listing.covered_by(among)] == ["b"]
    among = Entries.of_one(np.array([[1, 1], [2, 2], [3, 3]], np.uint64))
    assert [shard.name for shard in listing.covered_by(among)] == ["a", "b", "c"]
    among = Entries.of_one(np.array([[1, 1]], np.uint64), np.array([[3, 3]], np.uint64))
    assert {shard.name: missing for shard, missing in listing.missing_in(among).items()} == {"a": 1, "b": 2, "c": 0}
    assert {shard.name for shard, missing in listing.missing_in(Entries.of_one()).items() if missing == 2} == {*"abc"}
    assert sorted(listing.ids_of({shards[0], shards[2]}).tolist()) == [[1, 1], [1, 1], [2, 2], [3, 3]]
    assert Listing((), ()).ids_of(set()).shape == (0, 2)


def test_an_index_makes_reading_the_shards_for_their_ids_needless(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(tmp_path, [1, 2, 3], [4, 5], [6]).find([name_of(1)])
    import prasanga.embeddings.store_index as module

    read_ids, opened = module.read_ids, []

    def counted(path: Path, kind: Kind) -> object:
        opened.append(path.name)
        return read_ids(path, kind)

    monkeypatch.setattr(module, "read_ids", counted)
    store = VectorStore(tmp_path, key="k1")
    assert content(store) == {n: float(n) for n in range(1, 7)}
    assert opened == []
    before = (tmp_path / "index.arrow").stat().st_mtime_ns
    small = fill(tmp_path, [7]).folder  # one row of seven is not covered: under a fifth
    assert content(VectorStore(small, key="k1")) == {n: float(n) for n in range(1, 8)}
    assert len(opened) == 1
    assert (tmp_path / "index.arrow").stat().st_mtime_ns == before
    other = fill(tmp_path, [8], [9])
    opened.clear()
    assert content(other) == {n: float(n) for n in range(1, 10)}
    assert len(opened) == 3 - 1  # the store that added [8] has looked at [7] when it checked the width
    assert (tmp_path / "index.arrow").stat().st_mtime_ns > before
    opened.clear()
    assert content(VectorStore(tmp_path, key="k1")) == {n: float(n) for n in range(1, 10)}
    assert opened == []


def test_many_shards_beyond_the_index_are_put_into_it(tmp_path: Path) -> None:
    store = fill(tmp_path, list(range(1000, 2000)))
    assert content(store) == {}
    before = (tmp_path / "index.arrow").stat().st_ino
    for number in range(32):
        store.add(rows([number]), {})
    assert len(content(store)) == 32
    assert (tmp_path / "index.arrow").stat().st_ino == before
    store.add(rows([32]), {})
    assert len(content(store)) == 33
    assert (tmp_path / "index.arrow").stat().st_ino != before
    assert len(content(VectorStore(tmp_path, key="k1"))) == 33


@pytest.mark.parametrize("damage", ["cut", "empty", "garbage", "flipped id", "flipped list", "other key", "no digest"])
def test_a_broken_index_is_made_anew_without_a_word(
    tmp_path: Path, damage: str, caplog: pytest.LogCaptureFixture
) -> None:
    store = fill(tmp_path, [1, 2], [3])
    assert len(content(store)) == 3
    path = tmp_path / "index.arrow"
    whole = path.read_bytes()
    if damage == "other key":
        entries = Entries.of({Shard("x.parquet", 1, 1, 4): pack_ids([name_of(50)])})
        write_index(path, _to_table(entries, Kind("k2", "float16")))
    elif damage == "no digest":
        write_index(path, pa.table({"id": [1]}))
    else:
        flips = {"flipped id": pack_ids([name_of(3)]).astype(">u8").tobytes(), "flipped list": b'"rows": 2'}
        if damage in flips:
            at = whole.rindex(flips[damage]) + len(flips[damage]) - 1
            broken = whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :]
        else:
            broken = {"cut": whole[:-40], "empty": b"", "garbage": b"ARROW1\0\0" + bytes(range(256)) * 4}[damage]
        path.write_bytes(broken)
    with caplog.at_level(logging.INFO):
        assert content(VectorStore(tmp_path, key="k1")) == {1: 1.0, 2: 2.0, 3: 3.0}
    assert caplog.records == []
    assert content(VectorStore(tmp_path, key="k1")) == {1: 1.0, 2: 2.0, 3: 3.0}
    assert path.read_bytes() == whole


def write_index(path: Path, table: pa.Table) -> None:
    with pa.ipc.new_file(str(path), table.schema) as writer:
        writer.write_table(table)


def test_an_index_that_is_behind_misses_nothing_and_finds_nothing_that_has_gone(tmp_path: Path) -> None:
    store = fill(tmp_path, [1, 2], [3, 4])
    assert len(content(store)) == 4
    old = (tmp_path / "index.arrow").read_bytes()
    store.add(rows([5]), {})
    store.compact()
    assert len(content(store)) == 5
    (tmp_path / "index.arrow").write_bytes(old)  # it names two shards that are no more, and lacks the one there is
    assert content(VectorStore(tmp_path, key="k1")) == {n: float(n) for n in range(1, 6)}


def test_an_index_that_lies_is_found_out_when_rows_are_read(tmp_path: Path) -> None:
    store = fill(tmp_path, [1, 2, 3])
    (path,) = tmp_path.glob("*.parquet")
    shard = Shard(path.name, path.stat().st_size, 3, 4)
    lies = Entries.of({shard: pack_ids([name_of(2), name_of(1), name_of(3)])})
    write_index(tmp_path / "index.arrow", _to_table(lies, KIND))
    assert content(VectorStore(tmp_path, key="k1")) == {1: 1.0, 2: 2.0, 3: 3.0}
    assert content(store) == {1: 1.0, 2: 2.0, 3: 3.0}


def test_a_deleted_store_is_empty_and_stays_deleted(tmp_path: Path) -> None:
    store = fill(tmp_path / "store", [1, 2])
    assert len(content(store)) == 2
    shutil.rmtree(tmp_path / "store")
    assert content(store) == {}
    assert not (tmp_path / "store").exists()


def test_a_listing_during_which_files_go_is_done_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a folder that changes while it is read, both the old file and the new one may be missed."""
    fill(tmp_path, [1])
    (name,) = list_files(tmp_path)
    import prasanga.embeddings.store_index as module

    scan, calls = module._scan, []

    def missing(folder: Path) -> object:
        calls.append(folder)
        return {} if len(calls) == 2 else scan(folder)

    monkeypatch.setattr(module, "_scan", missing)
    assert list(list_files(tmp_path)) == [name]
    assert len(calls) >= 3


def require_once(folder: Path) -> None:
    """No row of an output is in a shard that is none as well."""
    ids: dict[bool, set[str]] = {True: set(), False: set()}
    for path in folder.glob("*.parquet"):
        ids[path.stat().st_nlink > 1].update(pq.read_table(path).column("segment_id").to_pylist())
    assert not ids[True] & ids[False]


@pytest.mark.parametrize("seed", range(8))
def test_whatever_is_done_in_whatever_order_the_store_is_a_dictionary(tmp_path: Path, seed: int) -> None:
    """Values depend on the id alone here, as they do in real life up to the last bits."""
    chance = random.Random(seed)
    expected: dict[int, float] = {}
    folder = tmp_path / "store"
    stores = [VectorStore(folder, key="k1") for _ in range(2)]
    outputs: list[Path] = []
    for step in range(40):
        store = chance.choice(stores)
        numbers = chance.sample(range(100), chance.randrange(1, 12))
        match chance.choice(["add", "add", "adopt", "adopt grown", "remove output", "compact", "reopen", "no index"]):
            case "add":
                store.add(rows(numbers), {"step": 1})
                expected |= {number: float(number) for number in numbers}
            case "adopt" | "adopt grown" as how:
                known = sorted(expected) if how == "adopt grown" else []
                numbers = [*chance.sample(known, len(known) * 2 // 3), *numbers]
                output = tmp_path / f"{step}.parquet"
                table = rows(numbers).to_table()
                said = {"key": "k1", "step": str(step)}
                write_row_groups(output, table.schema, [table.slice(0, 5), table.slice(5)], said)
                store.adopt(output, {"step": 1})
                outputs.append(output)
                expected |= {number: float(number) for number in numbers}
            case "remove output" if outputs:
                outputs.pop(chance.randrange(len(outputs))).unlink()
            case "compact":
                store.compact(chance.choice([2_000, 5_000, 1 << 20]))
                require_once(folder)
            case "reopen":
                stores[chance.randrange(2)] = VectorStore(folder, key="k1")
            case "no index":
                (folder / "index.arrow").unlink(missing_ok=True)
        if step % 3 == 0:
            assert content(chance.choice(stores)) == expected
    for output in outputs:
        output.unlink()
    for store in stores:
        assert content(store) == expected
        store.compact()
    assert content(VectorStore(folder, key="k1")) == expected
    assert len(list(folder.glob("*.parquet"))) == 1
    assert list(folder.glob(".*")) == []


def test_a_listing_is_not_made_twice_if_nothing_has_changed(tmp_path: Path) -> None:
    fill(tmp_path, [1], [2])
    index = ShardIndex(tmp_path, KIND)
    first = index.refresh()
    assert index.refresh() is first
    fill(tmp_path, [3])
    assert index.refresh() is not first
    assert len(index.refresh().shards) == 3
