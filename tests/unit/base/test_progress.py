"""Long work logs lines with count, rate and expected end; short work logs nothing."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest
from fake_clock import FakeClock

from prasanga.base import logs as module
from prasanga.base.logs import BYTES, progress


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> Iterator[FakeClock]:
    caplog.set_level(logging.INFO, logger=module.__name__)
    clock = FakeClock()
    monkeypatch.setattr(module, "clock", clock)
    yield clock
    assert module._running == []


def test_lines_come_further_apart_and_name_the_end(clock: FakeClock, caplog: pytest.LogCaptureFixture) -> None:
    with progress("embedding", 1000, "segments") as done:
        for _ in range(10):
            clock.now += 20
            done.advance(100)
    assert caplog.messages == [
        "embedding: 100 of 1,000 segments (10%), 5.0 per second, 3 min left, done about 2026-11-22 12:03",
        "embedding: 300 of 1,000 segments (30%), 5.0 per second, 2 min left, done about 2026-11-22 12:03",
        "embedding: 500 of 1,000 segments (50%), 5.0 per second, 100 s left, done about 2026-11-22 12:03",
        "embedding: 700 of 1,000 segments (70%), 5.0 per second, 60 s left, done about 2026-11-22 12:03",
        "embedding: 1,000 segments, 5.0 per second",
        "embedding: 1,000 segments in 3 min, 5.0 per second",
    ]


def test_short_work_logs_nothing_and_work_within_work_for_a_minute(
    clock: FakeClock, caplog: pytest.LogCaptureFixture
) -> None:
    with progress("outer", 2), progress("inner") as inner:
        clock.now += 50
        inner.advance()
    assert caplog.messages == ["outer: 0 of 2 steps (0%) in 50 s"]
    with progress("short", 1) as short:
        clock.now += 4
        short.advance()
    assert len(caplog.messages) == 1


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
        "reading: 5.0 of 20.0 MB (25%), 3.0 MB per minute, 5 min left, done about 2026-11-22 12:06",
        "reading: stopped after 5.0 of 20.0 MB (25%) in 100 s",
    ]


def test_items_are_counted_in_groups(clock: FakeClock, caplog: pytest.LogCaptureFixture) -> None:
    with progress("items", 5) as done:
        assert list(done.over(range(5), every=2)) == [0, 1, 2, 3, 4]
        clock.now += 10
    assert caplog.messages == ["items: 5 steps in 10 s, 30 per minute"]
