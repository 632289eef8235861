"""What fuzzers do without, so that they try more, and how many inputs were tried."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from typing import Any

import pytest
from hostile_inputs import COUNTS, REFUSED, SECONDS, SLOWEST


@pytest.fixture(autouse=True, scope="module")
def _quick(request: pytest.FixtureRequest) -> Iterator[None]:
    """For fuzzers: nothing waits for the disk, and of a million warnings none is kept."""
    if "test_fuzz_" not in request.node.name:
        yield
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda _descriptor: None)
        logging.disable(logging.CRITICAL)
        yield
    logging.disable(logging.NOTSET)


def pytest_sessionfinish(session: pytest.Session) -> None:
    output = getattr(session.config, "workeroutput", None)
    if output is not None:  # a process of pytest-xdist
        output["fuzzed"] = [dict(each) for each in (COUNTS, REFUSED, SECONDS, SLOWEST)]


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    counts, refused, seconds, slowest = node.workeroutput.get("fuzzed", [{}] * 4)
    for total, part in ((COUNTS, counts), (REFUSED, refused), (SECONDS, seconds)):
        total.update(part)
    SLOWEST.update({kind: max(took, SLOWEST.get(kind, 0.0)) for kind, took in slowest.items()})


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if not COUNTS:
        return
    terminalreporter.section("hostile inputs (FUZZ_INPUTS sets how many of each kind)")
    told = {kind: (COUNTS[kind], REFUSED[kind], SECONDS[kind], SLOWEST[kind]) for kind in sorted(COUNTS)}
    told["all"] = (COUNTS.total(), REFUSED.total(), sum(SECONDS.values()), max(SLOWEST.values()))
    for kind, (tried, refused, seconds, slowest) in told.items():
        terminalreporter.line(
            f"{kind:<24} {tried:>8} tried, {refused:>8} refused with a sentence,"
            f" {1000 * seconds / tried:7.1f} ms each, {slowest:6.2f} s at most"
        )
