"""How many faults were survived, and which could not be done here and why: told at the end of a run.

A test of one fault is marked `fault`. A test of many records a property `fault survived` for each. `fault skipped` is
recorded, with the reason, of each that could not be done here, `fault missed` of each that was tried and never came
about, since the process was sooner: neither counts as survived. Nor does any fault of a test that fails.
"""

from __future__ import annotations

from collections import Counter

import pytest


def pytest_configure(config: pytest.Config) -> None:
    """The mark of a test that is one fault."""
    config.addinivalue_line("markers", "fault: one seeded fault, counted in the last line")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """One line for all faults, and one for each test in which they were not survived."""
    survived, lost = 0, 0
    skipped: Counter[str] = Counter()
    missed: list[str] = []
    failed = []
    for outcome in ("passed", "failed", "error", "skipped"):
        for report in terminalreporter.stats.get(outcome, []):
            told = [what for name, what in report.user_properties if name == "fault survived"]
            skipped.update(str(what) for name, what in report.user_properties if name == "fault skipped")
            passed_by = [str(what) for name, what in report.user_properties if name == "fault missed"]
            missed += passed_by
            n_faults = len(told) + ("fault" in report.keywords and not passed_by)
            if outcome == "passed":
                survived += n_faults
            elif outcome == "skipped" and n_faults:
                skipped[str(report.longrepr[2]).removeprefix("Skipped: ")] += 1
            elif outcome in ("failed", "error") and (n_faults or "faults" in report.nodeid):
                lost += max(n_faults, 1)
                failed.append(report.nodeid)
    if not survived + lost + skipped.total() + len(missed):
        return
    reasons = "; ".join(f"{count}: {reason}" for reason, count in sorted(skipped.items()))
    left_out = f" ({skipped.total()} skipped: {reasons})" if skipped else ""
    terminalreporter.write_line(f"faults: {survived} of {survived + lost} survived{left_out}")
    for what in missed:
        terminalreporter.write_line(f"missed, and not counted: {what}")
    for name in failed:
        terminalreporter.write_line(f"not survived: {name}; the message says what was done, and with which seed")
