"""A job goes through its objects seldom, and not at its end; a process that is no job is left as it is."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

TOLD = "import atexit, gc\natexit.register(lambda: print(gc.get_threshold()[0], gc.get_freeze_count() > 0))\n"


def printed(code: str) -> str:
    return subprocess.run([sys.executable, "-c", TOLD + code], capture_output=True, text=True, check=True).stdout


def test_a_job_collects_seldom_and_not_at_its_end(tmp_path: Path) -> None:
    assert printed(f"from prasanga.base.logs import log_to\nlog_to({str(tmp_path / 'job.log')!r})") == "7000 True\n"


def test_whoever_imports_the_package_keeps_their_own() -> None:
    assert printed("import prasanga.base.logs, prasanga.models") == printed("")
