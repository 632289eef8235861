"""What a job says reaches its log: a message for the user alone; of a defect of ours a sentence and its traceback."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from prasanga.base.logs import said_of_failure


def run(log: Path, statement: str) -> subprocess.CompletedProcess[str]:
    code = (
        "from prasanga.base.errors import InputError\nfrom prasanga.base.logs import log_to\n"
        f"log_to({str(log)!r})\n{statement}\n"
    )
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=120)


def test_a_mistake_in_the_input_is_its_message_and_nothing_else(tmp_path: Path) -> None:
    log = tmp_path / "logs" / "job.log"
    done = run(log, "raise InputError('config.yaml: no such key')")
    assert done.returncode == 1
    for text in (log.read_text(), done.stderr):
        assert text.splitlines()[0].endswith("ERROR prasanga: config.yaml: no such key")
        assert len(text.splitlines()) == 1
    assert [path.name for path in log.parent.iterdir()] == ["job.log"]


def test_a_defect_of_ours_is_said_to_be_one_and_its_traceback_is_kept(tmp_path: Path) -> None:
    log = tmp_path / "logs" / "job.log"
    done = run(log, "1 / 0")
    assert done.returncode == 1
    for text in (log.read_text(), done.stderr):
        assert "a defect of prasanga" in text
        assert "ZeroDivisionError: division by zero" in text
        assert f"{log}.traceback" in text
        assert "CONTRIBUTING.md" in text
        assert "Traceback" not in text
    kept = (log.parent / "job.log.traceback").read_text()
    assert kept.startswith("Traceback (most recent call last)")
    assert kept.rstrip().endswith("ZeroDivisionError: division by zero")


def test_an_interrupted_job_waits_for_no_thread(tmp_path: Path) -> None:
    """As one that was starting when the interrupt came, of which its pool does not know."""
    log = tmp_path / "job.log"
    waiting = "import threading\nthreading.Thread(target=threading.Event().wait).start()\nraise KeyboardInterrupt"
    done = run(log, waiting)
    assert done.returncode == -signal.SIGINT
    for text in (log.read_text(), done.stderr):
        assert text.endswith("ERROR prasanga: interrupted\n")


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (PermissionError(13, "Permission denied", "a/b"), "a/b: Permission denied. Let yourself read and write there"),
        (OSError(28, "No space left on device"), "No space left on device. Let yourself"),
        (MemoryError(), "Out of memory (MemoryError). Give the job more (`mem_mb`"),
        (RuntimeError("DefaultCPUAllocator: not enough memory: you tried to allocate 8 bytes."), "Out of memory"),
        (RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried"), "Out of memory"),
    ],
)
def test_failures_that_the_user_can_mend_are_no_defects(tmp_path: Path, error: BaseException, said: str) -> None:
    assert said_of_failure(error, tmp_path / "a.log").startswith(said)
    assert not list(tmp_path.iterdir())


def test_messages_do_not_steer_the_terminal(tmp_path: Path) -> None:
    log = tmp_path / "job.log"
    done = run(log, "import logging; logging.getLogger('x').warning('%s', 'a\\x1b[2Jb\\u202ec\\rd')")
    for text in (log.read_text(), done.stderr):
        assert text.endswith("WARNING x: a\\x1b[2Jb\\u202ec\\x0dd\n")


def test_a_log_that_cannot_be_made_stops_no_job(tmp_path: Path) -> None:
    (tmp_path / "folder.log").mkdir()
    done = run(tmp_path / "folder.log", "import logging; logging.getLogger('prasanga').info('still here')")
    assert done.returncode == 0, done.stderr
    assert "folder.log: cannot be written (Is a directory)" in done.stderr
    assert "still here" in done.stderr
