"""The registry of columns: every table has known columns, and a table is checked when it is read."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tables import read_data

from prasanga import schema
from prasanga.base.errors import InputError
from prasanga.schema import COLUMNS, TABLES, find_table, read_table

SETTLING = TABLES["settling"]
ROW = read_data(__file__, "settling_row")


def test_every_table_has_known_columns_each_once_and_every_column_a_table() -> None:
    used, own = set(), set()
    for table in TABLES.values():
        assert len(set(table.names)) == len(table.names), table.name
        assert all(column.meaning for column in table.columns), table.name
        for column in table.columns:
            if column is COLUMNS.get(column.name):
                used.add(column.name)
            else:
                own.add((table.name, column.name))
    assert used == set(COLUMNS)
    with (Path(str(schema.__file__)).with_name("columns.tsv")).open(encoding="utf-8") as file:
        rows = [line.split("\t")[:2] for line in file]
    assert own == {(table, name) for name, table in rows[1:] if table}


def test_an_interval_has_two_ends_and_a_set_its_letter() -> None:
    assert COLUMNS["ci_low"].meaning == "lower end of the 95% interval over words and contexts"
    assert (COLUMNS["ci_high"].unit, COLUMNS["n_a"].meaning) == (
        "d",
        "words of A that were used; a cluster counts as one",
    )
    assert TABLES["bias_percentages"].columns[4].unit == "%"


def test_a_table_is_read_as_it_was_written_and_columns_of_others_are_left(tmp_path: Path) -> None:
    frame, path = pl.DataFrame([ROW], schema=SETTLING.polars), tmp_path / "results/associations/ceat_settling.parquet"
    path.parent.mkdir(parents=True)
    pq.write_table(frame.with_columns(twin=pl.lit(3)).to_arrow(), path)
    assert read_table(path).equals(frame)
    assert read_table(path.rename(tmp_path / "other.parquet")).width == frame.width + 1
    empty = pl.DataFrame([ROW]).with_columns(sure=pl.lit(None))
    assert SETTLING.check(empty, "t").schema == SETTLING.polars


def test_a_file_has_the_table_whose_path_is_nearest() -> None:
    names = {
        "results/associations/ceat/muril.parquet": "ceat",
        "results/associations/ceat/muril.words.parquet": "ceat_words",
        "/x/results/likelihoods/structures.parquet": "structures",
        "results/samples/75/00.parquet": "segments",
    }
    assert {path: table.name for path in names if (table := find_table(path))} == names
    assert find_table("elsewhere/settling.parquet") is None


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (pl.DataFrame([ROW]).drop("band"), "t: the column `band` is missing; it has category, .*associations stage"),
        (pl.DataFrame([ROW | {"band": "wide"}]), "t: `band` is String, not Float64"),
    ],
)
def test_a_table_that_does_not_fit_is_refused(change: pl.DataFrame, message: str) -> None:
    with pytest.raises(InputError, match=message):
        SETTLING.check(change, "t")


def test_the_arrow_schema_says_which_columns_may_have_nulls() -> None:
    lengths = TABLES["context_lengths"].arrow(nullable=["at_most"])
    assert lengths == pa.schema(
        [
            pa.field("at_least", pa.int32(), nullable=False),
            pa.field("at_most", pa.int32()),
            pa.field("contexts", pa.int64(), nullable=False),
        ]
    )
