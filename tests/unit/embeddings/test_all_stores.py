"""All stores of a folder at once: their history, and small files put together; one that is damaged is passed over."""

from __future__ import annotations

import hashlib
import json
import logging
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from prasanga.cli import app
from prasanga.embeddings import Rows, VectorStore, compact_stores, history_of
from prasanga.embeddings.shards import StoredDtype


def rows(*numbers: int, dtype: StoredDtype = "float16") -> Rows:
    n = len(numbers)
    ids = [hashlib.md5(str(number).encode()).hexdigest() for number in numbers]
    vectors = np.array(numbers)[:, None].repeat(2, axis=1).astype(dtype)
    return Rows(ids, np.ones(n, np.int32), np.zeros(n, np.int32), np.zeros(n, np.bool_), vectors)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Two stores: three shards in float16, two in float32."""
    described = {"model": "muril", "layer": 12, "pooling": "target-all", "dtype": "bfloat16", "stored_dtype": "float16"}
    store = VectorStore(tmp_path / "a", "float16", "a", described)
    for number in range(3):
        store.add(rows(number), {"passes": 1, "device": "cpu"})
    described |= {"model": "xlm", "dtype": "float32", "stored_dtype": "float32"}
    store = VectorStore(tmp_path / "b", "float32", "b", described)
    store.add(rows(3, 4, dtype="float32"), {"passes": 2, "torch": "2.13"})
    store.add(rows(5, dtype="float32"), {"passes": 1, "torch": "2.12", "dtype": "of a record"})
    return tmp_path


def test_the_history_has_a_row_for_each_file_with_its_model(root: Path) -> None:
    table = history_of(root)
    assert table.columns[:5] == ["store", "model", "layer", "pooling", "dtype"]
    assert table["written"].is_sorted()
    found = sorted(table.select("store", "model", "layer", "dtype", "rows", "passes", "device", "torch").rows())
    assert found == [
        *[("a", "muril", "12", "bfloat16", 1, 1, "cpu", None)] * 3,
        ("b", "xlm", "12", "float32", 1, 1, None, "2.12"),
        ("b", "xlm", "12", "float32", 2, 2, None, "2.13"),
    ]


def test_small_files_of_every_store_are_put_together(root: Path) -> None:
    assert compact_stores(root) == 5
    assert history_of(root).select("store", "rows", "passes").sort("store").rows() == [("a", 3, 3), ("b", 3, 3)]
    read = VectorStore(root / "b", "float32", "b").read(rows(3, 4, 5).ids)
    assert read is not None
    assert read.embedding.tolist() == [[3, 3], [4, 4], [5, 5]]
    assert compact_stores(root) == 0


def test_the_command_lists_the_files_and_puts_them_together(root: Path) -> None:
    root.rename(store := root.parent / "shared")
    (root / "vectors").parent.mkdir()
    store.rename(root / "vectors")

    def said(*arguments: str) -> list[str]:
        done = CliRunner().invoke(app, ["store", *arguments, "-d", str(root)])
        assert done.exit_code == 0
        return done.output.splitlines()

    listed = [line.split("\t") for line in said("list", "--files") if "\t" in line]
    assert listed[0][:5] == ["store", "model", "layer", "pooling", "dtype"]
    assert sorted(row[1] for row in listed[1:]) == ["muril"] * 3 + ["xlm"] * 2
    assert said("compact") == ["5 files were put together."]
    assert said("compact") == ["0 files were put together."]


def test_without_stores_there_is_a_table_without_rows(tmp_path: Path, root: Path) -> None:
    for empty in (tmp_path / "none", tmp_path / "a"):  # no folder; a folder of one store, which is no root
        table = history_of(empty)
        assert table.height == 0
        assert set(table.columns) < set(history_of(root).columns)
        assert {"store", "model", "written", "rows", "bytes"} < set(table.columns)
        assert compact_stores(empty) == 0


def test_vectors_are_taken_to_be_in_float16_if_nothing_is_said(root: Path) -> None:
    for name in "ab":
        path = root / name / "key.json"
        said = json.loads(path.read_text())
        del said["stored_dtype"]
        path.write_text(json.dumps(said))
    assert history_of(root)["store"].to_list() == ["a"] * 3  # those of b are not in float16


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        ("{", "Expecting property name"),
        ("", "Expecting value"),
        ("[]", "it has no key"),
        ('{"model": "muril"}', "it has no key"),
        ('{"key": 3}', "it has no key"),
        ('{"key": "a", "stored_dtype": "int8"}', "'int8', not float16 or float32"),
        ('{"key": "a", "stored_dtype": ["float16"]}', "not float16 or float32"),
        (b"\xff", "utf-8"),
    ],
)
def test_a_store_that_does_not_say_its_key_is_passed_over(
    root: Path, damage: Any, reason: str, caplog: pytest.LogCaptureFixture
) -> None:
    path = root / "a" / "key.json"
    path.write_bytes(damage if isinstance(damage, bytes) else damage.encode())
    for act in (lambda: history_of(root)["store"].to_list() == ["b", "b"], lambda: compact_stores(root) == 2):
        caplog.clear()
        with caplog.at_level(logging.WARNING):
            assert act()
        (message,) = [record.getMessage() for record in caplog.records]
        assert message.startswith(f"{path}: ")
        assert reason in message
        assert "Delete the file" in message
    assert len(list((root / "a").glob("*.parquet"))) == 3
    path.unlink()
    VectorStore(root / "a", "float16", "a", {"model": "muril"}).add(rows(9), {})  # as a job of the workflow does
    assert history_of(root)["store"].to_list().count("a") == 4
