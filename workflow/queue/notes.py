"""Notes on a job, because its queue may forget it: its existence, its end, and since when it is missing."""

import time
from pathlib import Path

FOLDER = Path(".snakemake/queue")
"""Next to Snakemake's own notes; jobscript.sh and the jobs write there, too."""


CLOCKS_APART = 60.0
"""Seconds that the clocks of the nodes, and of the machine with the files, may differ."""


def begin(job: str, asked: float) -> None:
    """Note a new job, submitted at `asked`, and remove the notes of an older job with its number.

    A short job may end before the queue's command prints its number: files as new as the question are its own.
    """
    for note in (ended_note(job), missing_note(job)):
        if note.exists() and note.stat().st_mtime < asked - CLOCKS_APART:
            note.unlink()
    _submitted_note(job).touch()


def finish(job: str) -> None:
    """Snakemake knows how the job ended. Its exit status stays, because Snakemake may ask again."""
    _remove(missing_note(job))
    _remove(_submitted_note(job))


def unfinished() -> "list[str]":
    """Jobs that were submitted from this folder, without a known end."""
    return sorted(note.name[: -len(".submitted")] for note in FOLDER.glob("*.submitted"))


def ended_note(job: str) -> Path:
    """The file with the exit status of a job, written by the job itself."""
    return FOLDER / (job + ".ended")


def missing_note(job: str) -> Path:
    """The file whose age says since when the queue does not know a job."""
    return FOLDER / (job + ".missing")


def exit_status(job: str) -> "int | None":
    """The end of a job by its own note; None before."""
    try:
        return int(ended_note(job).read_text())
    except (OSError, ValueError):
        return None


def seconds_missing(job: str) -> float:
    """For how long the queue has not known the job, from the first question on."""
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
