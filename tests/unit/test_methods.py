"""The registry of methods: each record agrees with the config, the docs and the others."""

from __future__ import annotations

from pathlib import Path

import pytest

from prasanga.config import make_schema
from prasanga.methods import FAMILY, METHODS, TABLES, Method, names_of


def test_tests_of_word_associations_are_one_family() -> None:
    assert names_of(FAMILY)[:4] == ("ceat", "seat", "weat", "log_probability")
    assert not {"structures", "pairs"} & set(names_of(FAMILY))
    # static vectors have no weights to be drawn anew
    assert all(method.has_twins == (method.unit != "vectors") for method in METHODS)


def test_names_and_files_of_tables_are_their_own() -> None:
    tables = [table for method in METHODS for table in method.tables]
    assert len({table.path for table in tables}) == len({table.name for table in tables}) == len(tables) == len(TABLES)
    beside = [table.beside for table in tables if table.beside]
    assert len(set(beside)) == len(beside)
    assert all(table.label for table in tables if table.beside)


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_a_method_is_asked_for_by_its_key(method: Method, project_root: Path) -> None:
    assert (project_root / "docs" / method.docs).is_file()
    section, _, entry = method.key.rpartition(".")
    part = {entry: ["C1"], "other": 1}
    config = {"language": "bn", **({section: part} if section else part)}
    assert method.is_asked_for(config)
    without = method.without(config)
    assert not method.is_asked_for(without)
    assert without == {"language": "bn", **({section: {**part, entry: []}} if section else {**part, entry: []})}
    assert part[entry] == ["C1"]


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_the_schema_has_the_key_of_a_method(method: Method) -> None:
    found = make_schema()
    for part in method.key.split("."):
        found = found["properties"][part]
    assert found["description"]
