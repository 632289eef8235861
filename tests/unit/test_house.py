"""The rooms of the house: which package may import which, no circle, and no room too large or too small."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

GROUND = {"base", "methods", "schema"}
MAY_IMPORT: dict[str, set[str]] = {
    "base": {"base"},
    "methods": set(),
    "config": {"base"},
    "schema": {"base"},
    "text": {"base"},
    "lexicon": {"base", "schema", "text"},
    "pairs": {"base", "schema", "text"},
    "sentences": {*GROUND, "text", "lexicon"},
    "samples": {*GROUND, "text", "lexicon", "sentences"},
    "models": {*GROUND},
    "embeddings": {*GROUND, "text", "samples", "models"},
    "static": {*GROUND, "text", "lexicon", "sentences"},
    "stats": {"base"},
    "associations": {*GROUND, "text", "stats"},
    "likelihoods": {*GROUND, "text", "lexicon", "pairs", "sentences", "models", "stats", "associations"},
    "report": {*GROUND, "config", "text", "pairs", "stats", "associations"},
    "extras": {*GROUND, "config", "lexicon", "models", "stats", "associations", "report"},
    "cli": {*GROUND, "config", "report", "extras", "models", "embeddings", "plan"},
    "__main__": {"cli"},
    "notebook": {*GROUND, "text", "lexicon", "sentences", "models", "embeddings", "associations", "likelihoods"},
    "": {"notebook"},
    "plan": {
        *(*GROUND, "config", "text", "lexicon", "sentences", "samples"),
        *("models", "embeddings", "static", "pairs", "stats", "likelihoods"),
    },
}
HEAVY = {"torch", "transformers"}
WITHOUT_TORCH = {
    *("base", "methods", "schema", "text", "lexicon", "sentences", "samples"),
    *("static", "pairs", "associations", "report", "extras", "plan"),
}

Imports = dict[str, set[str]]


def modules(source: Path) -> dict[str, Path]:
    """Every module of the package by its dotted name."""
    return {
        ".".join(path.relative_to(source).with_suffix("").parts).removesuffix(".__init__"): path
        for path in sorted((source / "prasanga").rglob("*.py"))
    }


def imported(path: Path, names: dict[str, Path]) -> Iterator[str]:
    """What a module imports anywhere in it, modules of ours by their own name."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = node.module or ""
            assert not node.level, f"{path}: imports by full names, so that a search finds them"
            yield from (full if (full := f"{module}.{alias.name}") in names else module for alias in node.names)


@pytest.fixture(scope="module")
def imports(project_root: Path) -> Imports:
    names = modules(project_root / "src")
    assert len(names) > 60
    return {name: set(imported(path, names)) for name, path in names.items()}


def room(module: str) -> str:
    return module.split(".")[1] if "." in module else ""


def test_every_package_stands_on_those_before_it(imports: Imports) -> None:
    assert {room(name) for name in imports} == set(MAY_IMPORT)
    for name, wanted in imports.items():
        for other in wanted:
            if other.startswith("prasanga.") and room(other) != room(name):
                assert room(other) in MAY_IMPORT[room(name)], f"{name} imports {other}"


def test_the_library_never_imports_snakemake_nor_what_is_built_on_it(imports: Imports) -> None:
    for name, wanted in imports.items():
        tops = {other.split(".")[0] for other in wanted}
        assert not tops & {"snakemake", "prasanga_construction"}, name
        if room(name) in WITHOUT_TORCH:
            assert not tops & HEAVY, name


def test_there_is_no_circle(imports: Imports) -> None:
    graph = {
        name: {other for other in wanted if other in imports and other != name} for name, wanted in imports.items()
    }
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


def test_no_room_is_too_large_and_none_too_small(project_root: Path, imports: Imports) -> None:
    for name, path in modules(project_root / "src").items():
        lines = len(path.read_text(encoding="utf-8").splitlines())
        assert lines <= 650, f"{name} has {lines} lines: more than one thing"
        users = {other for other, wanted in imports.items() if name in wanted}
        if path.name != "__init__.py" and lines < 60:
            assert len(users) != 1, f"{name} has {lines} lines for {users} alone: it belongs there"


def test_no_two_classes_have_one_name(project_root: Path) -> None:
    names: dict[str, list[str]] = {}
    for folder in ("src", "construction", "calibration"):
        for path in sorted((project_root / folder).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.ClassDef):
                    names.setdefault(node.name.lstrip("_"), []).append(path.relative_to(project_root).as_posix())
    assert {name: paths for name, paths in names.items() if len(paths) > 1} == {}
