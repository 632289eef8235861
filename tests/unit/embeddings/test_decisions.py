"""Whoever comes first decides; all others do as it did."""

from __future__ import annotations

import itertools
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from prasanga.embeddings.decisions import decide_once
from prasanga.errors import InputError


def test_the_first_decision_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "dtype.json"
    assert decide_once(path, lambda: "bfloat16") == "bfloat16"
    assert decide_once(path, lambda: "float32") == "bfloat16"
    assert [file.name for file in path.parent.iterdir()] == ["dtype.json"]


def test_of_many_at_once_one_is_heard(tmp_path: Path) -> None:
    numbers = itertools.count()
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: decide_once(tmp_path / "budget.json", lambda: next(numbers)), range(40)))
    assert len(set(answers)) == 1


def test_a_damaged_file_is_not_a_decision(tmp_path: Path) -> None:
    path = tmp_path / "dtype.json"
    path.write_text('{"decis')
    with pytest.raises(InputError, match=r"dtype\.json: not a decision that was kept\. Delete the file"):
        decide_once(path, lambda: "float32")
