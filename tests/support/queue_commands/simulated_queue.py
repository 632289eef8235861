"""A queue in a folder: it takes jobs, runs so many at a time, refuses, kills, forgets and loses them as it is told.

There is no daemon. Each job has a process that waits for a slot, which is a locked file, runs the script and writes
down how it ended. The commands in `lsf`, `pbs` and `sge` are what stands on the path in place of those of the real
queues; they take the options of those and answer as their documentation says. All live by the folder in QUEUE_FOLDER:

    faults.json      {"refused": [2], "killed": [3], "lost": [4], "forgotten": [5], "silent": [6]}: what befalls which
                     submission, counted from 1; or {"seed": 8, "share": 0.3}: that share of them meets one of these
    calls.jsonl      every call of a command, with its options
    <number>/        the job: its script, its process, how it ended
"""

from __future__ import annotations

import fcntl
import json
import os
import random
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

FATES = ("refused", "killed", "lost", "forgotten", "silent")
"""Not taken by the submission; killed soon after its start; killed so, and no longer known; run to its end, and no
longer known; run, while the queue does not answer the first questions about it."""
SLOTS = 2
FIRST_NUMBER = 1000


def folder() -> Path:
    return Path(os.environ["QUEUE_FOLDER"])


def note_call(command: str, options: list[str]) -> None:
    """Keep what was asked, for tests to look at."""
    with (folder() / "calls.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps([command, *options]) + "\n")


def fate(count: int) -> str | None:
    """What befalls the `count`th submission."""
    path = folder() / "faults.json"
    faults = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    if "seed" in faults:
        rng = random.Random(f"{faults['seed']} {count}")
        return rng.choice(FATES) if rng.random() < faults["share"] else None
    return next((name for name in FATES if count in faults.get(name, ())), None)


def submit(script: str, number_variable: str, name: str) -> int | None:
    """Take a job, or refuse it: its number, or None.

    Args:
        script: path of the job's script.
        number_variable: the environment variable by which the job knows its number, without the suffix that PBS adds.
        name: what the job is called.
    """
    count = _count()
    if fate(count) == "refused":
        return None
    number = FIRST_NUMBER + count
    job = folder() / str(number)
    job.mkdir()
    (job / "name").write_text(name, encoding="utf-8")
    (job / "script").write_bytes(Path(script).read_bytes())  # real queues keep a copy, too
    (job / "fate").write_text(fate(count) or "", encoding="utf-8")
    subprocess.Popen(
        [sys.executable, __file__, str(job), number_variable],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    return number


def state(number: str) -> tuple[str, int | None]:
    """`pending`, `running`, `ended` or `unknown`, and the exit status of a job that has ended."""
    job = folder() / number
    if not job.is_dir() or (job / "unknown").exists():
        return "unknown", None
    if (job / "fate").read_text(encoding="utf-8") == "silent":
        questions = job / "questions"
        asked = len(questions.read_text(encoding="utf-8")) if questions.exists() else 0
        questions.write_text("?" * (asked + 1), encoding="utf-8")
        if asked < 2:
            time.sleep(60)
    if (job / "ended").exists():
        return "ended", int((job / "ended").read_text(encoding="utf-8"))
    return ("running" if (job / "process").exists() else "pending"), None


def cancel(number: str) -> bool:
    """Kill the job or take it out of the queue; whether it was there."""
    if state(number)[0] not in ("pending", "running"):
        return False
    (folder() / number / "cancelled").touch()
    _kill(folder() / number)
    return True


def _count() -> int:
    """How many submissions there were, this one included."""
    with (folder() / "count").open("a+", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.write(".")
        file.flush()
        return file.tell()


def _run(job: Path, number_variable: str) -> None:
    """Wait for a slot, run the job to the end that is in store for it, and write down how it ended."""
    slot = _wait_for_slot(job)
    if slot is None:
        return
    name, _, suffix = number_variable.partition("+")
    environment = {**os.environ, name: job.name + suffix}
    with (job / "output").open("wb") as output:
        process = subprocess.Popen(
            ["/bin/sh", str(job / "script")],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        (job / "process").write_text(str(process.pid), encoding="utf-8")
        told = (job / "fate").read_text(encoding="utf-8")
        if told in ("killed", "lost"):
            try:
                # soon, so that it cannot have ended before
                process.wait(random.Random(job.name).uniform(0.05, 0.3))
            except subprocess.TimeoutExpired:
                _kill(job)
        ended = process.wait()
    if told in ("lost", "forgotten"):
        (job / "unknown").touch()
    _write(job / "ended", str(ended if ended >= 0 else 128 - ended))
    slot.close()


def _wait_for_slot(job: Path):  # noqa: ANN202 - a locked file
    while True:
        for slot in range(int(os.environ.get("QUEUE_SLOTS", SLOTS))):
            file = (folder() / f"slot{slot}").open("w")
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                file.close()
                continue
            return file
        if (job / "cancelled").exists():
            _write(job / "ended", str(128 + signal.SIGKILL))
            return None
        time.sleep(0.05)


def _kill(job: Path) -> None:
    with suppress(OSError, ValueError):  # it has not begun, or has just ended
        os.killpg(int((job / "process").read_text(encoding="utf-8")), signal.SIGKILL)


def _write(path: Path, text: str) -> None:
    part = path.with_suffix(".part")
    part.write_text(text, encoding="utf-8")
    part.rename(path)


if __name__ == "__main__":
    _run(Path(sys.argv[1]), sys.argv[2])
