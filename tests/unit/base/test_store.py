"""A store gives back what was put in, whoever else is at work there, and survives a kill."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from prasanga.base.errors import InputError
from prasanga.base.io import Store


def rows(numbers: Sequence[int], add: int = 0) -> pa.Table:
    return pa.table({"id": [f"{n:032x}" for n in numbers], "value": [n + add for n in numbers]})


def ids(*numbers: int) -> list[str]:
    return rows(numbers).column("id").to_pylist()


def opened(folder: Path) -> Store:
    return Store(folder / "key", "key", ["id", "value"], {"model": "মডেল"})


def test_rows_come_back_in_the_order_asked_for_and_repeated_where_they_repeat(tmp_path: Path) -> None:
    store = opened(tmp_path)
    assert store.read_rows(ids(1)) is None
    assert not store.find(ids(1, 2)).any()
    store.add_rows(rows([1, 2, 3]))
    store.add_rows(rows([5, 4]))
    for each in (store, opened(tmp_path)):
        assert each.find(ids(4, 9, 1)).tolist() == [True, False, True]
        found = each.read_rows(ids(4, 9, 1, 5, 4))
        assert found is not None
        assert found.column("value").to_pylist() == [4, 1, 5, 4]
    assert json.loads((tmp_path / "key/key.json").read_text(encoding="utf-8")) == {"key": "key", "model": "মডেল"}


def test_the_later_row_counts_and_equal_rows_are_one_file(tmp_path: Path) -> None:
    store = opened(tmp_path)
    for numbers, add in (([1, 2], 0), ([2, 3], 10), ([1, 2], 0)):
        store.add_rows(rows(numbers, add))
        time.sleep(0.01)
    assert len(list((tmp_path / "key").glob("*.parquet"))) == 2
    store.add_rows(rows([2, 4], 20))
    found = opened(tmp_path).read_rows(ids(2, 3, 4))
    assert found is not None
    assert found.column("value").to_pylist() == [22, 13, 24]


def test_vectors_keep_their_type_and_bits(tmp_path: Path) -> None:
    vectors = pa.FixedSizeListArray.from_arrays(pa.array(np.arange(6, dtype=np.float16)), 3)
    store = Store(tmp_path / "v", "v", ["id", "embedding"])
    store.add_rows(pa.table({"id": ids(1, 2), "embedding": vectors, "not_kept": [0, 0]}))
    found = store.read_rows(ids(2))
    assert found is not None
    assert found.schema.names == ["id", "embedding"]
    assert found.column("embedding").type.list_size == 3
    assert found.column("embedding").to_pylist() == [[3, 4, 5]]


def test_rows_that_were_added_survive_a_kill(tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; import pyarrow as pa; from prasanga.base.io import Store\n"
        "store = Store(Path(sys.argv[1]), 'key', ['id', 'value'])\n"
        "for n in range(10_000):\n"
        "    store.add_rows(pa.table({'id': [f'{n:032x}'], 'value': [n]})); print(n, flush=True)\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", program, str(tmp_path / "key")], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    said = [process.stdout.readline() for _ in range(20)]
    process.send_signal(signal.SIGKILL)
    said += process.communicate()[0].splitlines(keepends=True)
    written = [int(line) for line in said if line.endswith("\n")]
    assert opened(tmp_path).find(ids(*written)).all()
    found = opened(tmp_path).read_rows(ids(*written))
    assert found is not None
    assert found.column("value").to_pylist() == written


def test_a_damaged_file_is_named_with_what_to_do(tmp_path: Path) -> None:
    opened(tmp_path).add_rows(rows([1]))
    (path,) = (tmp_path / "key").glob("*.parquet")
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(InputError, match=rf"{path.name}: damaged .*Delete it"):
        opened(tmp_path).find(ids(1))
