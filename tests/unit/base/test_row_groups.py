"""Row groups by value: a reader takes those it wants, and damage is noticed."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from prasanga.base.errors import InputError
from prasanga.base.io import made_from, read_where, write_row_groups

SCHEMA = pa.schema(
    [
        pa.field("word", pa.string(), nullable=False),
        pa.field("n", pa.int32(), nullable=False),
        pa.field("vector", pa.list_(pa.field("element", pa.float16(), nullable=False), 2), nullable=False),
    ]
)


def group(word: str, *numbers: int) -> pa.Table:
    vectors = pa.FixedSizeListArray.from_arrays(
        pa.array([float(n) for n in numbers for _ in range(2)], pa.float16()), type=SCHEMA.field("vector").type
    )
    columns = [pa.array([word] * len(numbers)), pa.array(numbers, pa.int32()), vectors]
    return pa.Table.from_arrays(columns, schema=SCHEMA)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    groups = [group("চাঁদ", 1, 2), group("ফুল", 3), group("ফুল", 4, 5), group("মা", 6)]
    write_row_groups(tmp_path / "a.parquet", SCHEMA, groups, {"key": "k"})
    return tmp_path / "a.parquet"


@pytest.mark.parametrize(
    ("values", "expected"), [(["ফুল"], [3, 4, 5]), (["মা", "চাঁদ"], [1, 2, 6]), (["নদী"], []), ([], []), (["ক", "হ"], [])]
)
def test_the_rows_that_are_asked_for(path: Path, values: list[str], expected: list[int]) -> None:
    table = read_where(path, ["n", "vector"], "word", values)
    assert table.column_names == ["n", "vector"]
    assert table.column("n").to_pylist() == expected
    assert table.column("vector").to_pylist() == [[n, n] for n in expected]
    assert made_from(path) == {"key": "k"}


def test_row_groups_without_them_are_not_read(path: Path) -> None:
    """A damaged group is noticed by those who read it, and by nobody else."""
    data = bytearray(path.read_bytes())
    column = pq.read_metadata(path).row_group(3).column(2)
    data[column.data_page_offset + column.total_compressed_size - 2] ^= 8
    path.write_bytes(data)
    assert read_where(path, ["n", "vector"], "word", ["ফুল"]).num_rows == 3
    with pytest.raises(InputError, match=r"a\.parquet: damaged \(.*CRC"):
        read_where(path, ["n", "vector"], "word", ["মা"])
