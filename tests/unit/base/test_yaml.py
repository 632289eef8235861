"""YAML by one strict loader: what is refused, and with which words."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from prasanga.base.config import read_config
from prasanga.base.errors import InputError
from prasanga.base.yaml import load_yaml
from prasanga.lexicon.model import read_yaml


def test_plain_data_is_read_as_it_stands() -> None:
    text = "a: [1, 0.5, true, null, '1:30']\nb: &x {c: text}\nd: *x\n12: 0:30\n"
    assert load_yaml("f", text) == {
        "a": [1, 0.5, True, None, "1:30"],
        "b": {"c": "text"},
        "d": {"c": "text"},
        12: "0:30",
    }


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


@pytest.mark.parametrize("number", ["1:30", "-190:20:30", "190:20:30.15", "!!int 1:30", "!!float '1:30'"])
def test_numbers_of_base_sixty_are_refused(number: str, tmp_path: Path) -> None:
    for text in (f"a: b\nseed: {number}\n", f"a: b\n{number}: seed\n", f"a:\n- {number}\n"):
        with pytest.raises(InputError, match=r"f.yaml, line 2: `.*` is a number of base sixty to YAML\. Write"):
            load_yaml("f.yaml", text)
    path = tmp_path / "w.yaml"
    path.write_text(f"words: {number}", encoding="utf-8")
    with pytest.raises(InputError, match=r"line 1: `.*` is a number of base sixty"):
        read_yaml(path)


def test_a_long_number_of_base_sixty_takes_no_time() -> None:
    begin = time.process_time()
    with pytest.raises(InputError, match=r"line 1: `1:1:1.*base sixty"):
        load_yaml("f", "seed: 1" + ":1" * 200_000)
    assert time.process_time() - begin < 2


@pytest.mark.parametrize("value", ["!!bool x", "!!int ''", "!!float ''", "2024-13-01", "!!int x"])
def test_what_looks_like_a_value_and_is_none_is_told(value: str) -> None:
    with pytest.raises(InputError, match="f: a value in it looks like a number or a date and is none"):
        load_yaml("f", f"a: {value}")


def test_a_pipe_or_a_device_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", Path("/dev/zero")):
        for read in (read_yaml, read_config):
            with pytest.raises(InputError, match=r"cannot be read \(it is a pipe or a device\)\. "):
                read(path)
    with pytest.raises(InputError, match=r"cannot be read \(Is a directory\)"):
        read_yaml(tmp_path)


def test_names_for_tags_are_refused_and_take_no_time() -> None:
    """The parser compares each with all before it: 50,000 of them (1.2 MB) took 8 s."""
    text = "".join(f"%TAG !a{n}! tag:x{n},2000:\n" for n in range(100_000))
    began = time.process_time()
    with pytest.raises(InputError, match=r"c\.yaml, line 2: a name for tags \(`%TAG`\)"):
        load_yaml("c.yaml", f"%YAML 1.1\n{text}---\nstudy: x\n")
    assert time.process_time() - began < 1
    assert load_yaml("c.yaml", 'note: "a %TAG"\n') == {"note": "a %TAG"}
