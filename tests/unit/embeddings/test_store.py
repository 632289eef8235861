"""The store keeps what was put in, whatever is around it."""

from __future__ import annotations

import errno
import hashlib
import json
import logging
import os
import resource
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from prasanga.base.errors import InputError
from prasanga.base.parquet import write_row_groups
from prasanga.embeddings.shards import (
    Rows,
    StoredDtype,
    VectorStore,
    arrow_to_vectors,
    embedding_field,
    vector_key,
    vectors_to_arrow,
)

KEY = "k1"


def name_of(number: int) -> str:
    return hashlib.md5(str(number).encode()).hexdigest()


def rows(*numbers: int, dtype: str = "float16", width: int = 3, shift: float = 0) -> Rows:
    values = np.array(numbers, dtype=np.int64)
    return Rows(
        ids=[name_of(n) for n in numbers],
        n_pieces=values.astype(np.int32),
        n_unknown=(values % 2).astype(np.int32),
        cut=values % 3 == 0,
        embedding=(values[:, None] + np.arange(width) / 4 + shift).astype(dtype),
    )


def open_store(folder: Path, dtype: StoredDtype = "float16", key: str = KEY) -> VectorStore:
    return VectorStore(folder, dtype, key)


def content(store: VectorStore, numbers: Sequence[int] = range(60)) -> dict[int, float]:
    """Of those asked for, what is there: the first number of each vector; `find` and `read` must agree on it."""
    ids = [name_of(n) for n in numbers]
    read = store.read(ids)
    there = store.find(ids)
    if read is None:
        assert not there.any()
        return {}
    assert read.ids == [one for one, has in zip(ids, there, strict=True) if has]
    np.testing.assert_array_equal(read.n_unknown, read.n_pieces % 2)
    np.testing.assert_array_equal(read.cut, read.n_pieces % 3 == 0)
    return dict(zip(read.n_pieces.tolist(), read.embedding[:, 0].tolist(), strict=True))


def shards(store: VectorStore) -> list[Path]:
    return sorted(store.folder.glob("[!.]*.parquet"))


def write_output(path: Path, given: Rows, key: str | None = KEY, more: Mapping[str, str] | None = None) -> Path:
    """An output as the workflow writes it: more columns, a row group for each stimulus, the key in its metadata."""
    path.parent.mkdir(parents=True, exist_ok=True)
    table = given.to_table()
    table = table.add_column(1, "occurrence_id", pa.array([f"o{i}" for i in range(table.num_rows)], pa.string()))
    table = table.add_column(2, "stimulus", pa.array(["ফুল"] * table.num_rows, pa.string()))
    half = (table.num_rows + 1) // 2
    groups = [table.slice(0, half), table.slice(half)]
    said = {"stage": "embeddings", **({} if key is None else {"key": key}), **(more or {})}
    write_row_groups(path, table.schema, [group for group in groups if group.num_rows], said)
    return path


def later(path: Path, seconds: float) -> Path:
    os.utime(path, (time.time() + seconds, time.time() + seconds))
    return path


def test_what_is_added_is_read_back_in_the_order_asked_for(tmp_path: Path) -> None:
    store = open_store(tmp_path / "a" / "b")
    assert store.read([name_of(1)]) is None
    assert store.find([name_of(1)]).tolist() == [False]
    assert not store.folder.exists()
    store.add(rows(1, 3), {})
    store.add(rows(2), {})
    assert content(store) == {1: 1.0, 2: 2.0, 3: 3.0}
    assert store.find([name_of(n) for n in (9, 3, 1, 3)]).tolist() == [False, True, True, True]
    read = store.read([name_of(n) for n in (3, 9, 1, 2, 3)])
    assert read is not None
    assert read.ids == [name_of(n) for n in (3, 1, 2, 3)]
    assert read.embedding.tolist() == [[3.0, 3.25, 3.5], [1.0, 1.25, 1.5], [2.0, 2.25, 2.5], [3.0, 3.25, 3.5]]
    assert (read.n_pieces.tolist(), read.n_unknown.tolist()) == ([3, 1, 2, 3], [1, 1, 0, 1])
    assert read.cut.tolist() == [True, False, False, True]
    assert (read.n_pieces.dtype, read.n_unknown.dtype, read.cut.dtype) == (np.int32, np.int32, np.bool_)
    assert store.find([]).tolist() == []
    assert store.read([]) is None


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_both_precisions_keep_their_bits_over_row_groups(
    tmp_path: Path, dtype: StoredDtype, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("prasanga.base.store._BYTES_PER_ROW_GROUP", 300)
    vectors = np.random.default_rng(1).normal(size=(50, 7)).astype(dtype)
    one = rows(*range(50))
    store = open_store(tmp_path, dtype)
    path = store.add(Rows(one.ids, one.n_pieces, one.n_unknown, one.cut, vectors), {})
    assert pq.read_metadata(path).num_row_groups > 2
    order = np.random.default_rng(2).permutation(50)[:31]
    read = store.read([one.ids[i] for i in order])
    assert read is not None
    assert read.embedding.dtype == dtype
    np.testing.assert_array_equal(read.embedding, vectors[order])
    np.testing.assert_array_equal(read.n_pieces, order)


def test_a_shard_has_checksums_a_key_and_a_type_without_nulls(tmp_path: Path) -> None:
    path = open_store(tmp_path).add(rows(1, 2), {})
    schema = pq.read_schema(path)
    assert schema.names == ["segment_id", "n_pieces", "n_unknown", "cut", "embedding"]
    assert schema.field("embedding") == embedding_field("float16", 3)
    assert not schema.field("embedding").nullable
    assert not schema.field("embedding").type.value_field.nullable
    said = {k.decode(): v.decode() for k, v in schema.metadata.items() if k.startswith(b"prasanga.")}
    assert (said["prasanga.key"], said["prasanga.rows"]) == (KEY, "2")
    column = pq.read_metadata(path).row_group(0).column(4)
    assert column.compression == "ZSTD"
    assert "DICTIONARY" not in " ".join(column.encodings)


def test_a_column_in_one_chunk_is_not_copied() -> None:
    column = pa.chunked_array([vectors_to_arrow(np.arange(12, dtype=np.float32).reshape(4, 3))]).slice(1, 2)
    vectors = arrow_to_vectors(column)
    assert vectors.tolist() == [[3, 4, 5], [6, 7, 8]]
    assert vectors.ctypes.data == column.chunk(0).flatten().buffers()[1].address + 3 * 4
    assert arrow_to_vectors(pa.chunked_array([*column.chunks, *column.chunks])).tolist() == 2 * vectors.tolist()
    assert arrow_to_vectors(pa.chunked_array([], type=column.type)).shape == (0, 3)


def test_an_id_in_two_shards_is_the_one_of_the_first_name(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    added = {store.add(rows(1, 2), {}): 0.0, store.add(rows(2, 3, shift=0.5), {}): 0.5}
    expected = 2 + added[min(added)]
    assert content(store, [1, 2, 3]) == {1: 1.0, 2: expected, 3: 3.5}
    assert content(open_store(tmp_path), [2]) == {2: expected}
    store.compact()
    assert content(store, [2]) == {2: expected}


def test_the_same_rows_are_one_shard(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    assert store.add(rows(1, 2), {}) == store.add(rows(1, 2), {})
    assert len(shards(store)) == 1


def flip(path: Path, what: bytes) -> None:
    """Flip a bit in the middle of the pages of the embedding column, or cut or empty the file."""
    whole = bytearray(path.read_bytes())
    column = pq.read_metadata(path).row_group(0).column(pq.read_schema(path).names.index("embedding"))
    whole[column.data_page_offset + column.total_compressed_size - 3] ^= 4
    path.write_bytes({b"flipped": bytes(whole), b"cut": path.read_bytes()[:-20], b"empty": b"", b"text": b"no"}[what])


@pytest.mark.parametrize("seen", ["before", "never"])
@pytest.mark.parametrize("damage", [b"flipped", b"cut", b"empty", b"text"])
def test_a_damaged_shard_counts_as_absent_and_is_mended(
    tmp_path: Path, damage: bytes, seen: str, caplog: pytest.LogCaptureFixture
) -> None:
    store = open_store(tmp_path)
    store.add(rows(1), {})
    path = store.add(rows(2, 5), {})
    if seen == "before":
        assert content(store) == {1: 1.0, 2: 2.0, 5: 5.0}
        flip(path, damage)
    else:
        flip(path, damage)
        store = open_store(tmp_path)
    with caplog.at_level(logging.WARNING):
        assert content(store) == {1: 1.0}
        assert content(store) == {1: 1.0}
    assert [str(path) in record.getMessage() for record in caplog.records] == [True]
    store.add(rows(3), {})
    store.compact()
    assert content(store) == {1: 1.0, 3: 3.0}
    store.add(rows(2, 5), {})  # the same rows have the same name
    assert content(store) == {1: 1.0, 2: 2.0, 3: 3.0, 5: 5.0}
    pq.read_table(path)


def test_what_is_damaged_can_be_kept_anew_by_the_store_that_has_noticed(tmp_path: Path) -> None:
    path = open_store(tmp_path).add(rows(1, 2), {})
    assert content(open_store(tmp_path)) == {1: 1.0, 2: 2.0}
    flip(path, b"flipped")
    store = open_store(tmp_path)
    assert store.find(rows(1, 2).ids).all()  # the ids are whole
    assert store.read(rows(1, 2).ids) is None
    assert not store.find(rows(1, 2).ids).any()
    later(store.add(rows(2, 1), {}), 60)
    assert content(store) == content(open_store(tmp_path)) == {1: 1.0, 2: 2.0}
    store.adopt(write_output(tmp_path / "out" / "0.parquet", rows(1, 2, 3)), {})
    assert not path.exists()  # what it held is in the output: no reason to warn of it for ever


def test_another_shard_steps_in_for_a_damaged_one(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    first, second = sorted([store.add(rows(1, 2), {}), store.add(rows(2, 1), {})])
    assert content(store) == {1: 1.0, 2: 2.0}
    flip(first, b"flipped")
    assert content(open_store(tmp_path)) == {1: 1.0, 2: 2.0}
    flip(second, b"cut")
    assert content(open_store(tmp_path)) == {}


def test_foreign_shards_count_as_absent(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    ours = open_store(tmp_path / "ours")
    ours.add(rows(1, 2, 3), {})
    others = [
        open_store(tmp_path / "key", key="k2").add(rows(4), {}),
        open_store(tmp_path / "dtype", "float32").add(rows(5, dtype="float32"), {}),
        open_store(tmp_path / "width").add(rows(6, width=4), {}),
        write_output(tmp_path / "out" / "nothing.parquet", rows(7), key=None),
    ]
    table = rows(8).to_table()
    plain = tmp_path / "out" / "columns.parquet"
    write_row_groups(plain, table.drop(["cut"]).schema, [table.drop(["cut"])], {"key": KEY})
    bad = tmp_path / "out" / "ids.parquet"
    table = table.set_column(0, "segment_id", pa.array(["x" * 32]))
    write_row_groups(bad, table.schema, [table], {"key": KEY})
    copies = [ours.folder / path.name for path in (*others, plain, bad)]
    for path, copy in zip((*others, plain, bad), copies, strict=True):
        copy.write_bytes(path.read_bytes())
    with caplog.at_level(logging.WARNING):
        store = open_store(ours.folder)
        assert content(store) == {1: 1.0, 2: 2.0, 3: 3.0}
    messages = [record.getMessage() for record in caplog.records]
    assert len(messages) == 6
    for copy, reason in zip(copies, ("'k2'", "float", "4 numbers", "None", "cut", "hexadecimal"), strict=True):
        assert any(str(copy) in message and reason in message for message in messages)
    store.compact()
    assert all(copy.exists() for copy in copies)


def test_a_shard_with_a_gap_counts_as_absent_once_it_is_read(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    table = rows(1, 2).to_table()
    table = table.set_column(1, "n_pieces", pa.array([1, None], pa.int32()))
    store = open_store(tmp_path)
    write_row_groups(tmp_path / "gap.parquet", table.schema, [table], {"key": KEY})
    assert store.find(rows(1, 2).ids).all()
    assert content(store) == {}
    assert f"{tmp_path / 'gap.parquet'}: has a row without n_pieces." in caplog.text


def test_adopting_is_a_second_name_for_the_same_file(tmp_path: Path) -> None:
    store = open_store(tmp_path / "store")
    for number in range(5):
        later(store.add(rows(number), {}), -60)
    before = content(store)
    output = write_output(tmp_path / "results" / "0.parquet", rows(3, 0, 4, 1, 2, 3))
    store.adopt(output, {})
    (kept,) = shards(store)
    assert kept.stat().st_ino == output.stat().st_ino
    assert [path.stem for path in store.folder.glob("*.json") if path.stem != "key"] == [kept.stem]
    assert content(store) == before
    store.adopt(output, {})
    assert shards(store) == [kept]
    output.unlink()  # as Snakemake does before a rerun
    assert content(open_store(tmp_path / "store")) == before
    again = write_output(output, rows(3, 0, 4, 1, 2, 3))  # the same bytes in another file
    store.adopt(again, {})
    assert shards(store) == [kept]
    assert kept.stat().st_ino == again.stat().st_ino


def test_only_shards_that_are_wholly_covered_are_removed(tmp_path: Path) -> None:
    store = open_store(tmp_path / "store")
    covered, partly = later(store.add(rows(1, 2), {}), -60), later(store.add(rows(2, 3), {}), -60)
    store.adopt(write_output(tmp_path / "out.parquet", rows(1, 2, 4)), {})
    assert not covered.exists()
    assert partly.exists()
    assert content(store) == {1: 1.0, 2: 2.0, 3: 3.0, 4: 4.0}
    grown = write_output(tmp_path / "grown.parquet", rows(1, 2, 3, 4, 5))
    store.adopt(grown, {})
    assert [path.stat().st_ino for path in shards(store)] == [grown.stat().st_ino]


def test_of_equal_rows_the_later_shard_stays_whoever_removes(tmp_path: Path) -> None:
    first = later(write_output(tmp_path / "1.parquet", rows(1, 2), more={"run": "1"}), -50)
    second = later(write_output(tmp_path / "2.parquet", rows(1, 2), more={"run": "2"}), -40)
    for order in ((first, second), (second, first)):
        store = open_store(tmp_path / f"store-{order[0].stem}")
        for output in order:
            store.adopt(output, {})
        VectorStore(store.folder, key=KEY).adopt(first, {})  # another process goes over it once more
        assert second.stat().st_ino in [path.stat().st_ino for path in shards(store)]
        assert content(store) == {1: 1.0, 2: 2.0}


def test_nothing_is_removed_for_an_output_that_cannot_be_read_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = open_store(tmp_path / "store")
    later(store.add(rows(1, 2), {}), -60)
    output = write_output(tmp_path / "out.parquet", rows(1, 2, 3))
    link = os.link

    def damaging(source: Path, target: Path) -> None:
        link(source, target)
        flip(target, b"flipped")

    monkeypatch.setattr(os, "link", damaging)
    store.adopt(output, {})
    # the third row stands in a part of the file that is whole, and may be found
    assert {1: 1.0, 2: 2.0}.items() <= content(store).items() <= {1: 1.0, 2: 2.0, 3: 3.0}.items()


@pytest.mark.parametrize("error", [errno.EXDEV, errno.EPERM, errno.EMLINK, errno.EOPNOTSUPP])
def test_where_there_are_no_hard_links_the_parts_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: int
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(error, os.strerror(error))

    store = open_store(tmp_path / "store")
    store.add(rows(1), {})
    store.add(rows(2), {})
    monkeypatch.setattr(os, "link", refuse)
    store.adopt(write_output(tmp_path / "out.parquet", rows(1, 2)), {})
    assert content(store) == {1: 1.0, 2: 2.0}
    assert len(shards(store)) == 2
    assert store.compact() == 2
    assert len(shards(store)) == 1
    assert content(store) == {1: 1.0, 2: 2.0}
    assert len(list(store.folder.glob("*.json"))) == 2  # key.json and one record


def test_an_output_of_another_store_is_refused(tmp_path: Path) -> None:
    store = open_store(tmp_path / "store")
    store.add(rows(1), {})
    bad = {
        "None, not 'k1'": write_output(tmp_path / "a.parquet", rows(1), key=None),
        "'k2', not 'k1'": write_output(tmp_path / "b.parquet", rows(1), key="k2"),
        "not float16": write_output(tmp_path / "c.parquet", rows(1, dtype="float32")),
        "4 numbers": write_output(tmp_path / "d.parquet", rows(1, width=4)),
    }
    for reason, path in bad.items():
        with pytest.raises(InputError, match=reason) as caught:
            store.adopt(path, {})
        assert str(path) in str(caught.value)
    assert len(shards(store)) == 1


def test_compacting_leaves_one_shard_with_everything_and_those_of_outputs(tmp_path: Path) -> None:
    store = open_store(tmp_path / "store")
    output = write_output(tmp_path / "out.parquet", rows(10, 11))
    store.adopt(output, {})
    for number in (5, 1, 3):
        store.add(rows(number, number + 1), {})
    before = content(store)
    assert store.compact() == 3
    assert len(shards(store)) == 2
    assert content(store) == before
    assert content(open_store(store.folder)) == before
    assert store.compact() == 0
    output.unlink()
    assert store.compact() == 2
    assert len(shards(store)) == 1
    assert content(store) == before


def test_compacting_keeps_to_a_size_and_leaves_large_shards_alone(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    large = store.add(rows(*range(1000, 1400), width=64), {})
    small = [store.add(rows(*range(at, at + 10), width=64), {}) for at in range(0, 60, 10)]
    limit = 3 * max(path.stat().st_size for path in small)
    assert large.stat().st_size > limit / 2
    assert store.compact(limit) == 6
    assert large.exists()
    assert len(shards(store)) == 3
    assert content(store) == {n: float(n) for n in range(60)}


def test_compacting_removes_what_killed_processes_left_long_ago(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    store.add(rows(1), {})
    young, old = [tmp_path / f".shard.host.1.{name}.tmp" for name in "ab"]
    half = tmp_path / f".{name_of(1)}.json.host.1.ab.tmp"
    orphan, kept = tmp_path / f"{name_of(2)}.json", tmp_path / "budget-cpu.json"
    for path in (young, old, half, orphan, kept):
        path.write_bytes(b"{}")
    for path in (old, half, orphan, kept):
        later(path, -25 * 60 * 60)
    store.compact()
    assert [path.exists() for path in (young, old, half, orphan, kept)] == [True, False, False, False, True]
    assert content(store) == {1: 1.0}


def test_whoever_writes_removes_what_the_dead_of_this_host_left(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    dead = subprocess.Popen(["true"])
    dead.wait()
    host = socket.gethostname()
    gone = [
        tmp_path / f".shard.{host}.{dead.pid}.ab.tmp",
        tmp_path / f"..shard.{host}.{dead.pid}.ab.tmp.{host}.{dead.pid}.cd.tmp",
    ]
    stays = [tmp_path / f".shard.{host}.{os.getpid()}.ab.tmp", tmp_path / f".shard.elsewhere.{dead.pid}.ab.tmp"]
    for path in (*gone, *stays):
        path.touch()
    store.add(rows(1), {})
    assert [path.exists() for path in (*gone, *stays)] == [False, False, True, True]
    assert content(store) == {1: 1.0}


def test_a_shard_put_into_another_while_it_is_read_is_found_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = open_store(tmp_path)
    store.add(rows(1, 2), {})
    store.add(rows(3), {})
    open_file, opened = pq.ParquetFile, []

    def interrupted(path: Path, **named: Any) -> Any:
        opened.append(path)
        if len(opened) == 3:  # another process compacts after this one has looked at both shards
            open_store(tmp_path).compact()
        return open_file(path, **named)

    monkeypatch.setattr(pq, "ParquetFile", interrupted)
    assert content(store) == {1: 1.0, 2: 2.0, 3: 3.0}
    assert len(shards(store)) == 1
    assert len(opened) > 3


def test_removing_never_fails_because_another_process_was_faster(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = open_store(tmp_path / "store")
    later(store.add(rows(1), {}), -60)
    output = write_output(tmp_path / "out.parquet", rows(1, 2))
    unlink = Path.unlink

    def late(path: Path, missing_ok: bool = False) -> None:
        unlink(path, missing_ok=missing_ok)
        if path.suffix == ".parquet":
            raise OSError(errno.ESTALE, "Stale file handle")

    monkeypatch.setattr(Path, "unlink", late)
    store.adopt(output, {})
    assert content(store) == {1: 1.0, 2: 2.0}


def test_a_folder_to_read_only_is_read_and_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "store"
    open_store(folder).add(rows(1, 2), {})
    listed = sorted(folder.iterdir())
    refuse_to_write(monkeypatch, folder)
    store = open_store(folder)
    assert content(store) == {1: 1.0, 2: 2.0}
    with pytest.raises(InputError, match=str(folder)):
        store.add(rows(3), {})
    store.adopt(write_output(tmp_path / "out.parquet", rows(1, 2)), {})  # all was found: the job has no reason to fail
    assert sorted(folder.iterdir()) == listed


def refuse_to_write(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """As on a file system that is mounted read-only, for this folder."""
    import builtins
    import io

    def guard(function: Any, writes: Any) -> Any:
        def guarded(*given: Any, **named: Any) -> Any:
            if any(str(one).startswith(f"{folder}/") for one in given[:2]) and writes(*given, **named):
                raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(given[0]))
            return function(*given, **named)

        return guarded

    def opens(_: Any, mode: str = "r", *__: Any, **___: Any) -> bool:
        return any(letter in mode for letter in "wax+")

    def always(*_: Any, **__: Any) -> bool:
        return True

    monkeypatch.setattr(builtins, "open", guard(builtins.open, opens))
    monkeypatch.setattr(io, "open", guard(io.open, opens))
    monkeypatch.setattr(pq, "ParquetWriter", guard(pq.ParquetWriter, always))
    for name in ("link", "unlink", "replace", "rename"):
        monkeypatch.setattr(os, name, guard(getattr(os, name), always))


@contextmanager
def no_file_beyond(size: int) -> Iterator[None]:
    """Let this process write no file of more bytes: to a program the same as a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("size", [0, 100, 10_000])
def test_a_full_disk_is_one_sentence_and_loses_nothing(tmp_path: Path, size: int) -> None:
    """Wherever the room ends: before the first byte, in a small file beside the vectors, among the vectors."""
    store = open_store(tmp_path / "store")
    store.add(rows(1, 2), {"texts": 2})
    before = {path: path.read_bytes() for path in store.folder.iterdir()}
    many = rows(*range(3, 60), width=3)
    large = rows(*range(100, 3100))
    for given in (large, many) if size < 1000 else (large,):
        with no_file_beyond(size), pytest.raises(InputError) as caught:
            store.add(given, {})
        assert str(caught.value).count("\n") == 0
        assert "could not be written (File too large). Nothing half-written is left there. Make room in" in str(
            caught.value
        )
        assert {path: path.read_bytes() for path in store.folder.iterdir()} == before, "no half of a file"
    with no_file_beyond(size), pytest.raises(InputError, match=r"Make room in|cannot be made"):
        open_store(tmp_path / "another").add(large, {})
    assert content(store) == content(open_store(store.folder)) == {1: 1, 2: 2}
    store.add(many, {})
    assert content(store) == {number: number for number in range(1, 60)}, "with room again, it goes on"


def test_a_store_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    store = open_store(tmp_path / "file" / "store")
    assert store.find([name_of(1)]).tolist() == [False]
    with pytest.raises(InputError, match=str(store.folder)):
        store.add(rows(1), {})


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (rows(1, dtype="float32"), "float32 cannot be kept, only in float16"),
        (rows(1, width=4), "4 numbers"),
        (Rows(["abc"], *(getattr(rows(1), n) for n in ("n_pieces", "n_unknown", "cut", "embedding"))), "'abc' has 3"),
        (Rows(["g" * 32], *(getattr(rows(1), n) for n in ("n_pieces", "n_unknown", "cut", "embedding"))), "hexa"),
        (Rows([name_of(1)], *(getattr(rows(1, 2), n) for n in ("n_pieces", "n_unknown", "cut", "embedding"))), "1 ids"),
        (rows(1, 2, shift=np.inf), name_of(1)),
        (rows(1, 2, shift=np.nan), "not finite in float16"),
    ],
)
def test_rows_that_cannot_be_kept_are_refused(tmp_path: Path, bad: Rows, reason: str) -> None:
    store = open_store(tmp_path)
    store.add(rows(9), {})
    with pytest.raises(InputError, match=reason):
        store.add(bad, {})
    assert content(store) == {9: 9.0}


def test_a_folder_says_which_key_it_is_of(tmp_path: Path) -> None:
    store = VectorStore(tmp_path, "float16", KEY, {"model": "বাংলা", "layer": -1})
    assert not (tmp_path / "key.json").exists()
    store.add(rows(1), {})
    assert json.loads((tmp_path / "key.json").read_text()) == {"key": KEY, "model": "বাংলা", "layer": -1}
    VectorStore(tmp_path, "float16", KEY).add(rows(2), {})
    assert json.loads((tmp_path / "key.json").read_text())["model"] == "বাংলা"
    with pytest.raises(InputError, match="'k1', not of 'k2'"):
        VectorStore(tmp_path, "float16", "k2")
    (tmp_path / "key.json").write_text("{")
    store = VectorStore(tmp_path, "float16", KEY)
    store.add(rows(3), {})
    assert json.loads((tmp_path / "key.json").read_text())["key"] == KEY


def test_the_history_says_what_was_embedded_when_and_with_what(tmp_path: Path) -> None:
    store = open_store(tmp_path / "store")
    assert store.history().height == 0
    later(store.add(rows(1, 2), {"torch": "2.12", "passes": 2, "seconds": 0.5}), -60)
    later(store.add(rows(3), {"torch": "2.13", "passes": 1, "seconds": 2}), -60)
    table = store.history()
    assert table["rows"].to_list() in ([1, 2], [2, 1])
    assert sorted(table["torch"].to_list()) == ["2.12", "2.13"]
    assert table["linked"].to_list() == [False, False]
    (tmp_path / "store" / f"{name_of(5)}.json").write_text('{"written": "", "rows": 7, "record": {}, "replaced": {}}')
    assert store.history().height == 2  # a record without a shard
    output = write_output(tmp_path / "out.parquet", rows(1, 2, 3))
    store.adopt(output, {"device": "cpu", "embedded": 1})
    for _ in range(2):
        (row,) = store.history().to_dicts()
        assert (row["rows"], row["linked"], row["bytes"]) == (3, True, output.stat().st_size)
        assert (row["passes"], row["seconds"], row["torch"]) == (3, 2.5, "2.12, 2.13")
        assert (row["device"], row["embedded"]) == ("cpu", 1)
        assert row["since"] <= row["written"]
        assert row["written"].endswith("+00:00")
        store.adopt(output, {"embedded": 0})  # a rerun changes nothing
    output.unlink()
    later(shards(store)[0], -60)
    later(store.add(rows(8), {"torch": "2.14", "passes": 5}), -60)
    store.compact()
    (row,) = store.history().to_dicts()
    assert (row["rows"], row["linked"], row["passes"], row["torch"]) == (4, False, 8, "2.12, 2.13, 2.14")
    shards(store)[0].with_suffix(".json").unlink()
    (row,) = store.history().to_dicts()
    assert row["rows"] == 4
    assert row["written"].endswith("+00:00")


def test_a_vector_key_depends_on_each_of_its_parts() -> None:
    base = ({"sha256": "a"}, -1, "mean", "float32", "c0de")
    others = [
        ({"sha256": "b"}, *base[1:]),
        (base[0], -2, *base[2:]),
        (*base[:2], "first", *base[3:]),
        (*base[:3], "float16", base[4]),
        (*base[:4], "c0df"),
    ]
    more = [{"keep_accents": True}, {"stored_dtype": "float16"}, {"stored_dtype": "float32"}, {"quantization": "int8"}]
    keys = {vector_key(*base), *(vector_key(*other) for other in others), *(vector_key(*base, **m) for m in more)}
    assert len(keys) == 10
    assert vector_key(*base) == vector_key({"sha256": "a"}, *base[1:])
