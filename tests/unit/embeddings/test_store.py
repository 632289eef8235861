"""The store keeps what was put in, whatever happens around it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from prasanga.embeddings.store import Rows, StoredDtype, VectorStore, item_key, vector_key


def rows(*numbers: int, dtype: str = "float32", width: int = 3) -> Rows:
    values = np.array(numbers)
    return Rows(
        keys=[f"key{n}" for n in numbers],
        n_pieces=values.astype(np.int32),
        n_unknown=(values % 2).astype(np.int32),
        cut=values % 3 == 0,
        embedding=np.repeat(values[:, None], width, axis=1).astype(dtype),
    )


def content(store: VectorStore) -> dict[str, float]:
    table = store.read()
    if table is None:
        return {}
    return {row["key"]: row["embedding"][0] for row in table.to_pylist()}


def files(store: VectorStore) -> list[Path]:
    return sorted(store.folder.glob("*.parquet"))


def test_what_is_added_is_read_back(tmp_path: Path) -> None:
    store = VectorStore(tmp_path / "s")
    assert store.read() is None
    store.add(rows(1, 3))
    store.add(rows(2))
    assert content(store) == {"key1": 1.0, "key2": 2.0, "key3": 3.0}
    table = store.read(["key3", "key9"])
    assert table is not None
    assert table.to_pylist() == [
        {"key": "key3", "n_pieces": 3, "n_unknown": 1, "cut": True, "embedding": [3.0, 3.0, 3.0]}
    ]


def test_a_key_in_two_files_is_read_once(tmp_path: Path) -> None:
    store = VectorStore(tmp_path)
    store.add(rows(1, 2))
    store.add(rows(2, 3))
    table = store.read()
    assert table is not None
    assert sorted(table.column("key").to_pylist()) == ["key1", "key2", "key3"]


def test_merging_leaves_one_file_with_everything(tmp_path: Path) -> None:
    store = VectorStore(tmp_path)
    for number in (5, 1, 3):
        store.add(rows(number))
    before = content(store)
    store.merge()
    assert len(files(store)) == 1
    assert content(store) == before
    store.merge()
    assert len(files(store)) == 1


@pytest.mark.parametrize("damage", ["truncated", "empty", "text"])
def test_an_unreadable_file_counts_as_absent_and_is_mended(tmp_path: Path, damage: str) -> None:
    store = VectorStore(tmp_path)
    store.add(rows(1))
    path = store.add(rows(2))
    path.write_bytes({"truncated": path.read_bytes()[:-20], "empty": b"", "text": b"not Parquet at all"}[damage])
    assert content(store) == {"key1": 1.0}
    store.add(rows(3))
    store.merge()
    assert content(store) == {"key1": 1.0, "key3": 3.0}
    store.add(rows(2))  # the same rows have the same name
    assert content(store) == {"key1": 1.0, "key2": 2.0, "key3": 3.0}
    pq.read_table(path)


def test_vectors_of_another_kind_count_as_absent(tmp_path: Path) -> None:
    VectorStore(tmp_path, "float32").add(rows(1))
    half = VectorStore(tmp_path, "float16")
    assert half.read() is None
    half.add(rows(2, dtype="float16"))
    assert content(half) == {"key2": 2.0}
    assert content(VectorStore(tmp_path, "float32")) == {"key1": 1.0}


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_both_precisions_keep_their_bits(tmp_path: Path, dtype: StoredDtype) -> None:
    store = VectorStore(tmp_path, dtype)
    vectors = np.random.default_rng(1).normal(size=(4, 7)).astype(dtype)
    one = rows(1, 2, 3, 4)
    store.add(Rows(one.keys, one.n_pieces, one.n_unknown, one.cut, vectors))
    table = store.read()
    assert table is not None
    from prasanga.embeddings.columns import arrow_to_vectors

    np.testing.assert_array_equal(arrow_to_vectors(table.column("embedding")), vectors)
    assert arrow_to_vectors(table.column("embedding")).dtype == dtype


def test_a_leftover_of_a_killed_writer_is_ignored(tmp_path: Path) -> None:
    store = VectorStore(tmp_path)
    path = store.add(rows(1))
    path.with_name(f".{path.name}.host.1.abc.tmp").write_bytes(b"half")
    assert content(store) == {"key1": 1.0}


def test_merging_never_fails_because_another_process_was_faster(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = VectorStore(tmp_path)
    store.add(rows(1))
    store.add(rows(2))
    unlink = Path.unlink

    def late(path: Path, missing_ok: bool = False) -> None:
        unlink(path, missing_ok=missing_ok)
        if path.suffix == ".parquet":
            raise FileNotFoundError(path)

    monkeypatch.setattr(Path, "unlink", late)
    store.merge()
    assert content(store) == {"key1": 1.0, "key2": 2.0}


def test_a_file_merged_away_while_reading_is_found_in_the_new_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = VectorStore(tmp_path)
    store.add(rows(1))
    store.add(rows(2))
    read_file, calls = store._read_file, []

    def interrupted(path: Path, wanted: object) -> object:
        calls.append(path)
        if len(calls) == 1:  # another process merges after this one has listed the files
            VectorStore(tmp_path).merge()
        return read_file(path, wanted)

    monkeypatch.setattr(store, "_read_file", interrupted)
    assert content(store) == {"key1": 1.0, "key2": 2.0}


def test_item_keys_tell_text_and_span_apart() -> None:
    keys = {item_key("ফুল ফল", 0, 3), item_key("ফুল ফল", 4, 6), item_key("ফুল ফল ", 0, 3), item_key("ফল", 0, 3)}
    assert len(keys) == 4
    assert item_key("ফুল ফল", 0, 3) == item_key("ফুল ফল", 0, 3)
    assert all(len(key) == 32 for key in keys)


def test_a_vector_key_depends_on_each_of_its_parts() -> None:
    base = ({"sha256": "a"}, -1, "mean", "float32", "c0de")
    others = [
        ({"sha256": "b"}, *base[1:]),
        (base[0], -2, *base[2:]),
        (*base[:2], "first", *base[3:]),
        (*base[:3], "float16", base[4]),
        (*base[:4], "c0df"),
    ]
    keys = {vector_key(*base), *(vector_key(*other) for other in others), vector_key(*base, keep_accents=True)}
    assert len(keys) == 7
    assert vector_key(*base) == vector_key({"sha256": "a"}, *base[1:])
