"""What fuzzers do without, so that they try more, and how many inputs were tried."""

from __future__ import annotations

import logging
import os
from collections import defaultdict
from collections.abc import Callable, Iterator

import pytest
from hostile_inputs import TRIED, Tried


@pytest.fixture(autouse=True)
def _told(
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
    record_property: Callable[[str, object], None],
) -> Iterator[None]:
    """Tells how many inputs a test tried; of a fuzzer nothing waits for the disk, and no warning is kept."""
    TRIED.clear()
    is_fuzzer = "fuzz" in request.node.nodeid
    if is_fuzzer:
        monkeypatch.setattr(os, "fsync", lambda _descriptor: None)
        logging.disable(logging.CRITICAL)
    yield
    if is_fuzzer:
        logging.disable(logging.NOTSET)
    for kind, tried in TRIED.items():
        record_property("tried", [kind, *tried])


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    told: dict[str, list[Tried]] = defaultdict(list)
    for report in {id(each): each for reports in terminalreporter.stats.values() for each in reports}.values():
        for name, said in getattr(report, "user_properties", []):
            if name == "tried" and report.when == "teardown":
                told[said[0]].append(Tried(*said[1:]))
    if not told:
        return
    terminalreporter.section("hostile inputs (FUZZ_INPUTS sets how many of each kind)")
    told["all"] = [each for kind in sorted(told) for each in told[kind]]
    for kind in (*sorted(told.keys() - {"all"}), "all"):
        count, refused, seconds, slowest = zip(*told[kind], strict=True)
        terminalreporter.line(
            f"{kind:<24} {sum(count):>8} tried, {sum(refused):>8} refused with a sentence,"
            f" {1000 * sum(seconds) / sum(count):7.1f} ms each, {max(slowest):6.2f} s at most"
        )
