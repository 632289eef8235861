"""Files are written whole or not at all, say what made them, and are not mixed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

from prasanga.base.errors import InputError
from prasanga.base.io import (
    made_from,
    read_frame,
    read_table,
    replacing,
    require_equal,
    require_every_page,
    write_batches,
    write_table,
)

TABLE = pa.table({"n": [1, 2, 3]})


def test_round_trip_with_what_made_it(tmp_path: Path) -> None:
    write_table(tmp_path / "a" / "t.parquet", TABLE, {"stage": "samples", "code": "ab"})
    assert read_table(tmp_path / "a/t.parquet").column("n").to_pylist() == [1, 2, 3]
    assert made_from(tmp_path / "a/t.parquet") == {"stage": "samples", "code": "ab"}


def test_nothing_is_left_when_writing_fails(tmp_path: Path) -> None:
    def batches() -> Iterator[pa.RecordBatch]:
        yield TABLE.to_batches()[0]
        raise RuntimeError("the power is gone")

    (tmp_path / "t.parquet").write_text("the old one")
    with pytest.raises(RuntimeError):
        write_batches(tmp_path / "t.parquet", TABLE.schema, batches(), {})
    assert [path.name for path in tmp_path.iterdir()] == ["t.parquet"]
    assert (tmp_path / "t.parquet").read_text() == "the old one"


def test_two_writers_do_not_meet(tmp_path: Path) -> None:
    with replacing(tmp_path / "t") as one, replacing(tmp_path / "t") as two:
        one.write_text("one")
        two.write_text("two")
        assert one != two
    assert (tmp_path / "t").read_text() in {"one", "two"}
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("content", [None, b"", b"PAR1 and no more"])
def test_a_damaged_file_is_named(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "t.parquet"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InputError, match=r"t\.parquet: (no such file|damaged)"):
        read_table(path)


def test_a_mixture_is_refused_by_name(tmp_path: Path) -> None:
    for name, model in (("a", "one"), ("b", "one"), ("c", "two")):
        write_table(tmp_path / name, TABLE, {"model": model, "other": name})
    assert require_equal([tmp_path / "a", tmp_path / "b"], ["model"]) == {"model": "one"}
    with pytest.raises(InputError, match=r"c: model is 'two', but .*a has 'one'"):
        require_equal([tmp_path / "a", tmp_path / "b", tmp_path / "c"], ["model"])
    assert require_equal([], ["model"]) == {}


def test_a_flipped_byte_in_a_page_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    write_table(path, pa.table({"n": [f"{i * 7919}" for i in range(5000)]}), {})
    data = bytearray(path.read_bytes())
    data[2000] ^= 4
    path.write_bytes(data)
    for read in (read_table, read_frame, require_every_page):
        with pytest.raises(InputError, match=r"t\.parquet: damaged"):
            read(path)


def test_a_folder_in_place_of_a_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "t.parquet").mkdir()
    with pytest.raises(InputError, match=r"t\.parquet: damaged \(.* is a directory\)"):
        read_table(tmp_path / "t.parquet")
    with pytest.raises(InputError, match=r"t\.parquet: could not be written .*move the file or folder of this name"):
        write_table(tmp_path / "t.parquet", TABLE, {})
    assert [path.name for path in tmp_path.iterdir()] == ["t.parquet"]


def test_equal_tables_are_equal_bytes(tmp_path: Path) -> None:
    for name in ("a", "b"):
        write_table(tmp_path / name, TABLE, {"stage": "samples"})
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
