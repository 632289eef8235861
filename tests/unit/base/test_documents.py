"""JSON files of stages, kept values, and text that a spreadsheet does not run."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from prasanga.base.errors import InputError
from prasanga.base.io import guarded, read_cache, read_document, unguarded_text, write_cache, write_document


def test_a_document_has_what_was_written(tmp_path: Path) -> None:
    write_document(tmp_path / "a.json", {"C1": {"words": ["ফুল"], 9: [1, 2.5]}, "digest": {"a.txt": "ab"}})
    assert read_document(tmp_path / "a.json") == {"C1": {"words": ["ফুল"], "9": [1, 2.5]}, "digest": {"a.txt": "ab"}}


@pytest.mark.parametrize("text", [None, "", "[1]", '{"files": '])
def test_a_document_that_cannot_be_read_is_named(tmp_path: Path, text: str | None) -> None:
    path = tmp_path / "a.json"
    if text is not None:
        path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=r"a\.json: (damaged|no such file)"):
        read_document(path)


def test_a_kept_value_is_for_its_key(tmp_path: Path) -> None:
    write_cache(tmp_path / "c.json", "key", {"a": [1]})
    assert read_cache(tmp_path / "c.json", "key") == {"a": [1]}
    assert read_cache(tmp_path / "c.json", "other") is None
    assert read_cache(tmp_path / "absent.json", "key") is None
    (tmp_path / "c.json").write_text("cut", encoding="utf-8")
    assert read_cache(tmp_path / "c.json", "key") is None


def test_formulas_are_text_to_a_spreadsheet() -> None:
    table = pl.DataFrame({"text": ["=1+1", " +x", "@a", "-3.5", "+7%", "plain", None], "n": range(7)})
    found = guarded(table)["text"].to_list()
    assert found == ["'=1+1", "' +x", "'@a", "-3.5", "+7%", "plain", None]
    assert [unguarded_text(text) for text in found if text] == [text for text in table["text"] if text]
