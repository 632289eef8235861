"""What a job says reaches its log: a message for the user alone, any other error with its traceback."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.parametrize(
    ("statement", "traceback"),
    [("raise InputError('config.yaml: no such key')", False), ("1 / 0", True)],
)
def test_errors_reach_log_and_terminal(tmp_path: Path, statement: str, traceback: bool) -> None:
    log = tmp_path / "logs" / "job.log"
    code = (
        f"from prasanga.errors import InputError\nfrom prasanga.logs import log_to\nlog_to({str(log)!r})\n{statement}\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    for text in (log.read_text(), done.stderr):
        assert ("no such key" in text) is not traceback
        assert ("Traceback" in text) is traceback
        assert ("ZeroDivisionError" in text) is traceback
