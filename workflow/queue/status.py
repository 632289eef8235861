"""Print only `running`, `success` or `failed` for a job: status.py lsf|pbs|sge NUMBER.

Snakemake ends the whole run when this script fails or prints anything else, so it does neither. An ended job has
written its exit status itself (jobscript.sh); the queue is asked only about other jobs. A job survives a queue that
does not answer. If the queue does not know a job, it may be slow: after a few minutes the job counts as failed, and
Snakemake tries it again.
"""

import os
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))  # Python itself does not under PYTHONSAFEPATH
from engines import FAILED, QUESTIONS, RUNNING, SILENT, SUCCESS, UNKNOWN, read_answer
from notes import exit_status, finish, found_again, seconds_missing


def seconds(variable: str, default: float) -> float:
    """The number in an environment variable, or the default."""
    told = os.environ.get(variable)
    try:
        return default if told is None else float(told)
    except ValueError:
        say(f"{variable} is {told!r}; write a number of seconds. {default:g} is used.")
        return default


def say(sentence: str) -> None:
    """Print for people; stdout belongs to Snakemake."""
    print(f"Queue: {sentence}", file=sys.stderr)


PATIENCE = seconds("PRASANGA_QUEUE_PATIENCE", 180)
"""How long the queue may not know a job, because queues and network file systems are slow."""
TIMEOUT = seconds("PRASANGA_QUEUE_TIMEOUT", 30)
"""Seconds within which the queue should answer."""


def status(engine: str, job: str) -> str:
    """The word for Snakemake. Messages for people go to stderr."""
    word = _status(engine, job)
    if word != RUNNING:
        finish(job)
    return word


def _status(engine: str, job: str) -> str:
    ended = exit_status(job)
    if ended is not None:
        return SUCCESS if ended == 0 else FAILED
    answer = ask(engine, job)
    if answer == UNKNOWN:
        missing = seconds_missing(job)
        if missing < PATIENCE:
            return RUNNING
        say(f"the queue has not known job {job} for {missing:.0f} seconds, and it left no exit status: it is lost.")
        return FAILED
    found_again(job)
    return RUNNING if answer == SILENT else answer


def ask(engine: str, job: str) -> str:
    """The queue's answer about waiting and running jobs, or else about ended ones."""
    for question in QUESTIONS[engine]:
        command = [*question, job]
        try:
            done = subprocess.run(
                command,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                timeout=TIMEOUT,
                check=False,
            )
        except subprocess.TimeoutExpired:
            say(f"`{' '.join(command)}` has not answered for {TIMEOUT:g} seconds; the job is taken to be running.")
            return SILENT
        except OSError as error:
            say(f"`{' '.join(command)}` cannot be run ({error}); the job is taken to be running.")
            return SILENT
        answer = read_answer(engine, question[0], done.stdout)
        if answer == SILENT and question is QUESTIONS[engine][0]:
            said = " ".join(done.stdout.split())[:200]
            say(f"`{' '.join(command)}` says {said!r}; the job is taken to be running.")
            return SILENT
        if answer not in (UNKNOWN, SILENT):
            return answer
    return UNKNOWN


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] not in QUESTIONS:
        sys.exit(f"status.py {'|'.join(QUESTIONS)} NUMBER, not: {' '.join(sys.argv[1:])}")
    try:
        word = status(sys.argv[1], sys.argv[2])
    except Exception as error:  # such as a full disk: it must not end the run
        say(f"job {sys.argv[2]} could not be looked at ({error!r}); it is taken to be running.")
        word = RUNNING
    print(word)
