"""The YAML reader: plain data, lines, and what it refuses."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tables import read_cases

from prasanga.base.errors import InputError
from prasanga.base.yaml import find_line, load_yaml, read_text
from prasanga.lexicon.model import read_yaml


def test_plain_data_is_read() -> None:
    text = "a: [1, 0.5, true, null, '1:30']\nb: &x {c: text}\nd: *x\n12: text\n"
    expected = {"a": [1, 0.5, True, None, "1:30"], "b": {"c": "text"}, "d": {"c": "text"}, 12: "text"}
    assert load_yaml("f", text) == expected


def test_mappings_know_their_line_and_texts_are_spelled_as_in_the_corpus(tmp_path: Path) -> None:
    path = tmp_path / "w.yaml"
    path.write_text("language: bn\nwords:\n  - {stimulus: ' ড\u09bc ', 7: x}\n  - {}\n", encoding="utf-8")
    entry = read_yaml(path)
    first, second = entry.entries_of("words")
    assert (entry.line, first.place, second.place) == (1, f"{path}, line 3", f"{path}, line 4")
    assert first.text("stimulus") == "ড\u09bc"
    assert first.text("7") == "x"
    with pytest.raises(InputError, match=r"line 4: a word lacks the key `stimulus`"):
        second.require("a word", required=["stimulus"])
    path.write_text("language: bn\nwords: &all [{of: *all}]\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"an anchor \(`&`\) contains itself"):
        read_yaml(path)


def test_the_line_of_a_value_is_found_as_far_as_the_file_has_it(tmp_path: Path) -> None:
    path = tmp_path / "c.yaml"
    text = "study: s\nmodels:\n  '@x': y\n  a:\n    layer:\n      - 1\n      - x\n  1_0: z\n  '[': z\n"
    path.write_text(text, encoding="utf-8")
    places = [(), ("study",), ("models", "a"), ("models", "a", "layer", 1), ("models", "b"), ("other", 0)]
    places += [("models", "@x"), ("models", 10), ("models", "1_0"), ("models", "[")]
    assert [find_line(path, place) for place in places] == [0, 1, 4, 7, 2, 0, 3, 8, 8, 9]


@pytest.mark.parametrize(("text", "message"), read_cases(__file__, "yaml_mistakes"))
def test_mistakes_are_told_with_their_line(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        load_yaml("f", text)


@pytest.mark.parametrize(
    ("content", "message"), [(None, "no such file"), (b"\nb: \xff", "line 2: not UTF-8. Save the file as UTF-8")]
)
def test_files_that_are_no_text_are_refused(tmp_path: Path, content: bytes | None, message: str) -> None:
    if content is not None:
        (tmp_path / "c.yaml").write_bytes(content)
    with pytest.raises(InputError, match=message):
        read_text(tmp_path / "c.yaml")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match="it is a folder, a pipe or a device"):
        read_text(tmp_path / "pipe")
