"""The page of columns is made from the registry, and has every column of every table that a study writes."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from doc_pages import ROOT, generated, read
from small_study import Study

from prasanga.associations.comparisons import CSV_COLUMNS
from prasanga.methods import FAMILY, names_of
from prasanga.methods import TABLES as METHOD_TABLES
from prasanga.pairs import read_pairs, statistics
from prasanga.schema import TABLES, TableSchema, find_table
from prasanga.static import Spellings, Trained, WordVectors, look_up, trained_table

COPIES = {f"report/data/{table.beside}": name for name, table in METHOD_TABLES.items() if table.beside}


def of_file(path: str) -> TableSchema:
    """The table of a file below results/."""
    table = TABLES[COPIES[path]] if path in COPIES else find_table(path)
    assert table, f"no table has the path {path}: describe it in prasanga.schema"
    return table


def require_described(table: Any, names: list[str], path: str) -> None:
    """All columns of a file are named by its table, in any order; one in angle brackets stands for any others."""
    named = {column.name for column in table.columns}
    if any(name.startswith("<") for name in named):
        assert {name for name in named if name[0] != "<"} - {"sample_mode"} <= set(names), path
    else:
        assert named == set(names), path


@pytest.mark.parametrize("name", ["role", "effect_first", "structure_1", "aula"])
def test_it_has_what_no_other_page_had(name: str) -> None:
    assert re.search(rf"\b{name}\b", generated()["docs/columns.md"])
    assert "## `likelihoods/structure_differences.parquet`" in generated()["docs/columns.md"]


def test_every_table_of_the_rules_and_of_the_methods_is_there() -> None:
    rules = "\n".join(read(path.relative_to(ROOT).as_posix()) for path in sorted((ROOT / "rules").glob("*.smk")))
    written = set(re.findall(r"results>?/([\w{}./]+\.(?:parquet|csv))\"", rules))
    assert len(written) > 30
    for path in written:
        filled = (
            path.replace("{GATHERED}", "likelihoods")
            .replace("audit/{name}", "audit/forms")
            .replace("{method}_templates", "seat_templates")
        )
        filled = filled.replace("{stage}/{method}", "associations/ceat").replace("{stage}", "associations")
        of_file(re.sub(r"\{[^}]+\}", "x", filled))
    for name, table in METHOD_TABLES.items():
        assert TABLES[name].paths[0] == f"{table.path}.parquet"


@pytest.mark.workflow
def test_every_column_of_a_study_is_there(finished: Study) -> None:
    results = finished.root / "results"
    files = [path for ending in ("parquet", "csv") for path in sorted(results.rglob(f"*.{ending}"))]
    for path in files:
        if path.suffix == ".csv":
            with path.open(encoding="utf-8", newline="") as file:
                names = next(csv.reader(file))
        else:
            names = pq.read_schema(path).names
        place = path.relative_to(results).as_posix()
        names = [name for name in names if name != "twin" or "-random" not in place]
        if path.suffix == ".csv" and of_file(place).name in names_of(FAMILY):
            assert set(names) <= set(CSV_COLUMNS.values()), place
        else:
            require_described(of_file(place), names, place)
    assert len(files) > 30


def look_up_nothing() -> list[str]:
    return look_up([Spellings("ফুল", (), ())], WordVectors({}, "glove", 2, 0)).column_names


def train_nothing() -> list[str]:
    return trained_table(Trained(("ফুল",), np.array([1]), np.zeros((1, 2), np.float32))).column_names


def describe_pairs() -> list[str]:
    return [*statistics(read_pairs(ROOT / "resources/demo/pairs.csv", "bn")).columns, "set"]


@pytest.mark.parametrize(
    ("path", "columns"),
    [
        ("static/glove.parquet", look_up_nothing),
        ("static/glove.vectors.parquet", train_nothing),
        ("pairs/statistics.parquet", describe_pairs),
    ],
)
def test_tables_without_a_schema_of_their_own_are_there(path: str, columns: Callable[[], list[str]]) -> None:
    require_described(of_file(path), columns(), path)
