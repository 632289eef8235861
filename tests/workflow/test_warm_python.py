"""A process that starts warm is as one in a fresh Python, and ends when whoever started it is gone."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import psutil
import pytest
from warm_python import warm_python

TOLD = """
import json, os, sys
print(json.dumps([sys.argv, os.getcwd(), os.environ["WORD"], sys.path[:2], sys.stdin.read(), __name__]), flush=True)
print("ফুল", file=sys.stderr)
{last}
"""


def told(python: str, folder: Path, *, last: str) -> tuple[int, Any, str]:
    (folder / "script.py").write_text(TOLD.format(last=last), encoding="utf-8")
    done = subprocess.run(
        [python, "script.py", "--option", "word"],
        cwd=folder,
        env={**os.environ, "WORD": "গোলাপ", "PYTHONPATH": str(folder / "source")},
        input="given",
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, json.loads(done.stdout), done.stderr.splitlines()[-1]


@pytest.mark.parametrize(
    "last",
    ["", "sys.exit(3)", "sys.exit('no')", "raise ValueError('no')", "os.kill(os.getpid(), 9)"],
    ids=["ends", "status", "sentence", "error", "9"],
)
def test_a_warm_process_is_as_a_fresh_one(last: str, tmp_path: Path) -> None:
    assert told(warm_python(), tmp_path, last=last) == told(sys.executable, tmp_path, last=last)


def test_a_module_runs_and_a_line_of_code_as_well(tmp_path: Path) -> None:
    for arguments in (["-m", "json.tool", "--compact"], ["-c", "print(input())"]):
        runs = [
            subprocess.run([python, *arguments], cwd=tmp_path, input="[1]", capture_output=True, text=True, check=True)
            for python in (warm_python(), sys.executable)
        ]
        assert runs[0].stdout == runs[1].stdout == "[1]\n"


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_it_ends_with_whoever_asked_for_it(number: int, tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text("import os, time\nprint(os.getpid(), flush=True)\ntime.sleep(600)\n")
    command = [warm_python(), "script.py"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as asked:
        assert asked.stdout is not None
        pid = int(asked.stdout.readline())
        asked.send_signal(number)
        assert asked.wait(30) != 0
    until = time.monotonic() + 30
    while psutil.pid_exists(pid):
        assert time.monotonic() < until, "it lives on"
        time.sleep(0.02)
