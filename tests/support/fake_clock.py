"""A clock that a test sets, in the place of the one that progress is measured with, and what a job's log then says."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime

import pytest

from prasanga.base import logs as module

NOON = datetime(2026, 11, 22, 12, 0).timestamp()
OUTLOOK = re.compile(
    r"[\d,.]+ of [\d,.]+ [A-Za-z]+ \(\d+%\), [\d,.]+( MB)? per (second|minute|hour), .+ left, done about"
)


class FakeClock:
    """Seconds since 1970; `step` seconds pass whenever somebody looks."""

    def __init__(self, step: float = 0.0) -> None:
        self.now, self.step = NOON, step

    def __call__(self) -> float:
        self.now += self.step
        return self.now


@contextmanager
def slow_clock(step: float = 20.0) -> Iterator[None]:
    """In the block, `step` seconds pass between any two looks at the clock: short work looks like long work."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "clock", FakeClock(step))
        yield


def progress_lines(caplog: pytest.LogCaptureFixture, name: str) -> list[str]:
    """What was said of the work whose name begins so."""
    said = [record.getMessage() for record in caplog.records if record.name == module.__name__]
    return [line for line in said if line.startswith(name)]


def require_outlook(caplog: pytest.LogCaptureFixture, name: str) -> None:
    """At least one line has a share, a rate and an expected end, and the last one says how long it took."""
    lines = progress_lines(caplog, name)
    assert any(OUTLOOK.search(line) for line in lines), lines or caplog.text
    assert re.search(r" in \d+ (s|min|h)", lines[-1]), lines


@contextmanager
def long_job(caplog: pytest.LogCaptureFixture, name: str) -> Iterator[None]:
    """The work in the block is long by the clock, and says how far it is."""
    caplog.set_level(logging.INFO, logger=module.__name__)
    with slow_clock():
        yield
    require_outlook(caplog, name)
