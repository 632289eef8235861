"""What an output says of its making."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from prasanga.base.errors import InputError
from prasanga.provenance import describe, digests_of_files


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "workflow/scripts/make.py"
    path.parent.mkdir(parents=True)
    path.write_text("print(1)\n")
    return path


def test_inputs_are_named_with_their_content(script: Path, tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_text("one")
    record = describe("samples", script=script, inputs=[file], settings={"b": 2, "a": 1}, libraries=["numpy"])
    assert json.loads(record["inputs"]) == {str(file): hashlib.sha256(b"one").hexdigest()}
    assert record["settings"] == '{"a": 1, "b": 2}'
    assert set(json.loads(record["versions"])) == {"numpy"}
    known = digests_of_files([file])
    assert describe("samples", script=script, inputs=known, settings={"a": 1, "b": 2}, libraries=["numpy"]) == record


def test_an_input_that_is_gone_is_named(script: Path) -> None:
    gone = script.with_name("gone.parquet")
    with pytest.raises(InputError, match=r"gone\.parquet: cannot be read \(No such file or directory\)\. Restore it"):
        describe("samples", script=script, inputs=[gone], settings={})


@pytest.mark.parametrize("change", ["input", "settings", "code", "stage"])
def test_the_fingerprint_follows_all_that_was_used(script: Path, tmp_path: Path, change: str) -> None:
    file = tmp_path / "a.txt"
    file.write_text("one")
    before = describe("samples", script=script, inputs=[file], settings={"a": 1})["fingerprint"]
    if change == "input":
        file.write_text("two")
    if change == "code":
        script.write_text("print(2)\n")
    after = describe(
        "other" if change == "stage" else "samples",
        script=script,
        inputs=[file],
        settings={"a": 2 if change == "settings" else 1},
    )
    assert after["fingerprint"] != before
