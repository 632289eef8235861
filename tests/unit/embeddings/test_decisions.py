"""Whoever comes first decides; all others do as it did."""

from __future__ import annotations

import errno
import itertools
import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from prasanga.base.errors import InputError
from prasanga.embeddings import settings
from prasanga.embeddings.settings import decide_once


@pytest.fixture(params=["links", "no links"])
def _links(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file system with hard links, and one without."""

    def refuse(*_: object) -> None:
        raise OSError(errno.EPERM, os.strerror(errno.EPERM))

    if request.param == "no links":
        monkeypatch.setattr(Path, "hardlink_to", refuse)


@pytest.mark.usefixtures("_links")
def test_the_first_decision_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "dtype.json"
    assert decide_once(path, lambda: "bfloat16") == "bfloat16"
    assert decide_once(path, lambda: "float32") == "bfloat16"
    assert [file.name for file in path.parent.iterdir()] == ["dtype.json"]


@pytest.mark.usefixtures("_links")
def test_of_many_at_once_one_is_heard(tmp_path: Path) -> None:
    """All have found no decision before anybody has made one."""
    for attempt in range(10):
        path = tmp_path / f"{attempt}.json"
        numbers, together = itertools.count(), threading.Barrier(8, timeout=30)

        def decide(numbers: itertools.count[int] = numbers, together: threading.Barrier = together) -> int:
            together.wait()
            return next(numbers)

        with ThreadPoolExecutor(8) as pool:
            answers = [pool.submit(decide_once, path, decide) for _ in range(8)]
        assert {answer.result() for answer in answers} == {decide_once(path, lambda: -1)}
    assert len(list(tmp_path.iterdir())) == 10


def test_a_decision_that_is_being_written_is_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "dtype.json"
    path.touch()
    writer = threading.Timer(0.1, lambda: path.write_text('{"decision": "bfloat16"}'))
    writer.start()
    assert decide_once(path, lambda: "float32") == "bfloat16"
    writer.join()


def test_a_decision_that_never_comes_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "_SECONDS_TO_WRITE", 0.05)
    path = tmp_path / "dtype.json"
    path.touch()
    began = time.monotonic()
    with pytest.raises(InputError, match=r"dtype\.json: not a decision that was kept\. Delete the file"):
        decide_once(path, lambda: "float32")
    assert time.monotonic() - began >= 0.05


@pytest.mark.usefixtures("_links")
def test_who_cannot_write_says_so_and_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(InputError, match="No space left"):
        decide_once(tmp_path / "dtype.json", lambda: "float32")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("text", ['{"decis', "[]", "{}", "3"])
def test_a_damaged_file_is_not_a_decision(tmp_path: Path, text: str) -> None:
    path = tmp_path / "dtype.json"
    path.write_text(text)
    with pytest.raises(InputError, match=r"dtype\.json: not a decision that was kept\. Delete the file"):
        decide_once(path, lambda: "float32")
