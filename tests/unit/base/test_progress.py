"""Long work logs lines with count and time left; short work logs nothing."""

from __future__ import annotations

import logging

import pytest

from prasanga.base import logs as module
from prasanga.base.logs import BYTES, progress


class FakeClock:
    """Seconds since 1970, which a test sets."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> FakeClock:
    caplog.set_level(logging.INFO, logger=module.__name__)
    clock = FakeClock()
    monkeypatch.setattr(module, "clock", clock)
    return clock


def test_lines_come_further_apart_and_say_how_much_is_left(clock: FakeClock, caplog: pytest.LogCaptureFixture) -> None:
    with progress("embedding", 1000, "segments") as done:
        for _ in range(10):
            clock.now += 20
            done.advance(100)
    assert caplog.messages == [
        "embedding: 100 of 1,000 segments (10%) in 20 s, 3 min left",
        "embedding: 300 of 1,000 segments (30%) in 60 s, 2 min left",
        "embedding: 500 of 1,000 segments (50%) in 100 s, 100 s left",
        "embedding: 700 of 1,000 segments (70%) in 2 min, 60 s left",
        "embedding: 1,000 segments in 3 min",
        "embedding: 1,000 segments in 3 min",
    ]


def test_bytes_are_megabytes_and_failures_say_how_far_it_came(
    clock: FakeClock, caplog: pytest.LogCaptureFixture
) -> None:
    def read() -> None:
        with progress("reading", 20e6, BYTES) as done:
            clock.now += 100
            done.advance(5e6)
            raise RuntimeError("cut short")

    with pytest.raises(RuntimeError):
        read()
    assert caplog.messages == [
        "reading: 5.0 of 20.0 MB (25%) in 100 s, 5 min left",
        "reading: stopped after 5.0 of 20.0 MB (25%) in 100 s",
    ]


def test_items_are_counted_in_groups(clock: FakeClock, caplog: pytest.LogCaptureFixture) -> None:
    with progress("short", 1) as short:
        clock.now += 4
        short.advance()
    with progress("items", 5) as done:
        assert list(done.over(range(5), every=2)) == [0, 1, 2, 3, 4]
        clock.now += 10
    assert caplog.messages == ["items: 5 steps in 10 s"]
