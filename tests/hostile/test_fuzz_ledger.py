"""Ledgers of results that somebody else has sent, and Snakemake's notes: read before every plan, and when one asks."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pyarrow as pa
import pytest
from hostile_inputs import Edit, edited_bytes, edited_tree, edits, fuzzing, try_input
from hypothesis import given
from hypothesis import strategies as st
from noted_results import CIRCUMSTANCES, NotedResults, small_results
from typer.testing import CliRunner, Result

from prasanga.base.documents import read_document, write_document
from prasanga.base.parquet import made_from, read_table, read_where, write_table
from prasanga.cli import app
from prasanga.extras.studies import read_summary
from prasanga.provenance.ledger import LEDGER, read_ledger, synchronize
from prasanga.provenance.lineage import tell

FIGURE = "report/figures/ceat.svg"


@pytest.fixture(scope="module")
def noted(tmp_path_factory: pytest.TempPathFactory) -> NotedResults:
    """Results with a ledger, and Snakemake's notes put aside: what is known is known from the ledger alone."""
    made = small_results(tmp_path_factory.mktemp("ledger") / "study")
    (made.root / ".snakemake").rename(made.root / "notes")
    return made


@pytest.fixture(scope="module")
def lines(noted: NotedResults) -> list[object]:
    """The ledger as it was written."""
    return [json.loads(line) for line in (noted.results / LEDGER).read_text(encoding="utf-8").splitlines()]


def use(noted: NotedResults, kind: str) -> None:
    """What a plan does with a ledger, and what is told of a figure from it."""
    shutil.rmtree(noted.root / ".snakemake", ignore_errors=True)
    try_input(kind, lambda: tell(noted.results / FIGURE, whole=True))
    before = (noted.results / LEDGER).read_bytes()
    synchronize(noted.root, circumstances=CIRCUMSTANCES)
    synchronize(noted.root, own_run=True, circumstances=CIRCUMSTANCES)
    (noted.results / LEDGER).write_bytes(before)


def test_the_ledger_that_is_edited_is_a_good_one(noted: NotedResults, lines: list[object]) -> None:
    assert len(lines) == len(read_ledger(noted.results / LEDGER).entries) + 2  # circumstances and code
    assert "made by the rule draw_ceat" in tell(noted.results / FIGURE)


@fuzzing()
@given(edits(3))
def test_ledgers_with_odd_values(noted: NotedResults, lines: list[object], changes: list[Edit]) -> None:
    changed = edited_tree(lines, changes)
    text = "".join(f"{json.dumps(line)}\n" for line in (changed if isinstance(changed, list) else [changed]))
    (noted.results / LEDGER).write_text(text, encoding="utf-8")
    use(noted, "ledger: values")


@fuzzing()
@given(edits(3))
def test_ledgers_with_odd_params(noted: NotedResults, lines: list[object], changes: list[Edit]) -> None:
    """The settings of jobs stand in the ledger as Python writes them."""
    given_settings = {
        "shard": {"path": "texts/corpus.txt"},
        "shards": [{"path": "texts/corpus.txt"}, {"path": "b"}],
        "digests": ["0" * 32, "1" * 32],
        "digest": "0" * 32,
        "model": "models/a",
        "options": {"quantization": "int8"},
        "seed": 47,
    }
    settings = repr(edited_tree(given_settings, changes))
    entries = [{**line, "record": {**line["record"], "params": [settings]}} for line in lines if "record" in line]
    text = "".join(f"{json.dumps(line)}\n" for line in entries)
    (noted.results / LEDGER).write_text(text, encoding="utf-8")
    use(noted, "ledger: params")


@fuzzing()
@given(edits(6))
def test_ledgers_of_odd_text(noted: NotedResults, lines: list[object], changes: list[Edit]) -> None:
    data = "".join(f"{json.dumps(line)}\n" for line in lines).encode()
    (noted.results / LEDGER).write_bytes(edited_bytes(data, changes))
    use(noted, "ledger: text")


@fuzzing()
@given(edits(3))
def test_notes_with_odd_values(noted: NotedResults, lines: list[object], changes: list[Edit]) -> None:
    shutil.rmtree(noted.root / ".snakemake", ignore_errors=True)
    shutil.copytree(noted.root / "notes", noted.root / ".snakemake")
    files = sorted((noted.root / ".snakemake").rglob("metadata/*"))
    changed = edited_tree([json.loads(path.read_text(encoding="utf-8")) for path in files], changes)
    for path, note in zip(files, changed if isinstance(changed, list) else [], strict=False):
        path.write_text(json.dumps(note), encoding="utf-8")
    (noted.results / LEDGER).write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    before = (noted.results / LEDGER).read_bytes()
    try_input("notes of Snakemake", lambda: synchronize(noted.root, own_run=True, circumstances=CIRCUMSTANCES))
    (noted.results / LEDGER).write_bytes(before)


TABLE = pa.table({"stimulus": ["ফুল", "মা"] * 20, "effect": [0.5, -1.5] * 20, "embedding": [[1.0, 2.0], [0.5, 0.0]] * 20})


@fuzzing(2)
@given(edits(), st.integers(0, 2))
def test_tables_of_others(tmp_path_factory: pytest.TempPathFactory, changes: list[Edit], which: int) -> None:
    path = tmp_path_factory.getbasetemp() / "t.parquet"
    if not path.with_suffix(".good").exists():
        write_table(path, TABLE, {"stage": "tried", "seed": "47"})
        path.rename(path.with_suffix(".good"))
    data = path.with_suffix(".good").read_bytes()
    footer = data.rindex(b"prasanga-footer") - 300
    path.write_bytes(edited_bytes(data, changes) if which else data[:footer] + edited_bytes(data[footer:], changes))

    def read() -> None:
        made_from(path)
        read_table(path)
        read_where(path, ["effect"], "stimulus", ["মা"])

    try_input("tables of results", read, str(path))


DOCUMENT = {"shards": [{"path": "a", "digest": "0" * 32}], "identity": {"sha256": "0" * 64}, "n": 4, "options": None}


@fuzzing(2)
@given(edits(), st.booleans())
def test_documents_of_others(tmp_path_factory: pytest.TempPathFactory, changes: list[Edit], as_bytes: bool) -> None:
    path = tmp_path_factory.getbasetemp() / "d.json"
    if as_bytes:
        write_document(path, DOCUMENT)
        path.write_bytes(edited_bytes(path.read_bytes(), changes))
    else:
        path.write_text(json.dumps(edited_tree({**DOCUMENT, "digest": "0" * 16}, changes)), encoding="utf-8")
    try_input("documents of results", lambda: read_document(path), str(path))
    try_input("summaries", lambda: read_summary(path), str(path))


def why(file: Path) -> Result:
    """What `prasanga why` says of a file."""
    return CliRunner().invoke(app, ["why", str(file)])


def test_what_is_told_does_not_steer_the_terminal(tmp_path: Path) -> None:
    noted = small_results(tmp_path / "study")
    ledger = noted.results / LEDGER
    ledger.write_text(ledger.read_text(encoding="utf-8").replace('"draw_ceat', '"\\u001b[2Jdraw'), encoding="utf-8")
    said = why(noted.results / FIGURE)
    assert said.exit_code == 0
    assert "made by the rule \\x1b[2Jdraw" in said.output
    assert "\x1b" not in said.output
    absent = why(tmp_path / "absent.svg")
    assert absent.exit_code == 2
    assert "absent.svg: no such file" in absent.output


def test_a_ledger_that_cannot_be_opened_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    noted = small_results(tmp_path / "study")

    def refused(*_: object, **__: object) -> str:
        raise PermissionError(13, "Permission denied", "x")

    monkeypatch.setattr(Path, "read_text", refused)
    said = why(noted.results / FIGURE)
    assert said.exit_code == 2
    assert f"{LEDGER}: cannot be read (Permission denied). Let yourself read it" in said.output
