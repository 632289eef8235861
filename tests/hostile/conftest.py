"""Says at the end how many inputs were tried."""

from __future__ import annotations

from typing import Any

import pytest
from hostile_inputs import COUNTS, REFUSED


def pytest_sessionfinish(session: pytest.Session) -> None:
    output = getattr(session.config, "workeroutput", None)
    if output is not None:  # a process of pytest-xdist
        output["fuzzed"], output["refused"] = dict(COUNTS), dict(REFUSED)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    COUNTS.update(node.workeroutput.get("fuzzed", {}))
    REFUSED.update(node.workeroutput.get("refused", {}))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if COUNTS:
        terminalreporter.section("hostile inputs (FUZZ_INPUTS sets how many of each kind)")
        for kind in sorted(COUNTS):
            terminalreporter.line(f"{kind:<24} {COUNTS[kind]:>8} tried, {REFUSED[kind]:>8} refused with a sentence")
        terminalreporter.line(f"{'all':<24} {COUNTS.total():>8} tried, {REFUSED.total():>8} refused with a sentence")
