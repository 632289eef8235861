"""What is kept of a job, because its queue may forget it: that it is there, how it ended, since when it is missing."""

import time
from pathlib import Path

FOLDER = Path(".snakemake/queue")
"""Beside Snakemake's own notes; jobscript.sh writes there, too, and the profiles put the output of the jobs there."""


CLOCKS_APART = 60.0
"""Seconds that the clocks of the nodes, and of the machine with the files, may differ."""


def begin(job: str, asked: float) -> None:
    """Note a new job that the queue was asked to take then, and remove what an older one of its number has left.

    A short job may end before the queue's command has told its number: what is as new as the question is its own.
    """
    for note in (ended_note(job), missing_note(job)):
        if note.exists() and note.stat().st_mtime < asked - CLOCKS_APART:
            note.unlink()
    _submitted_note(job).touch()


def finish(job: str) -> None:
    """Snakemake knows how the job ended. Its exit status stays: it may be asked for again."""
    _remove(missing_note(job))
    _remove(_submitted_note(job))


def unfinished() -> "list[str]":
    """Jobs that were submitted from this folder, and of which nobody has heard that they ended."""
    return sorted(note.name[: -len(".submitted")] for note in FOLDER.glob("*.submitted"))


def ended_note(job: str) -> Path:
    """The file that has the exit status of a job, written by the job itself."""
    return FOLDER / (job + ".ended")


def missing_note(job: str) -> Path:
    """The file that is as old as the queue's ignorance of a job."""
    return FOLDER / (job + ".missing")


def exit_status(job: str) -> "int | None":
    """How the job says that it ended; None as long as it says nothing."""
    try:
        return int(ended_note(job).read_text())
    except (OSError, ValueError):
        return None


def seconds_missing(job: str) -> float:
    """For how long the queue has not known the job, counted from the first time this was asked."""
    note = missing_note(job)
    note.parent.mkdir(parents=True, exist_ok=True)
    if not note.exists():
        note.touch()
    return time.time() - note.stat().st_mtime


def found_again(job: str) -> None:
    """The queue knows the job after all."""
    _remove(missing_note(job))


def _submitted_note(job: str) -> Path:
    return FOLDER / (job + ".submitted")


def _remove(note: Path) -> None:
    if note.exists():
        note.unlink()
