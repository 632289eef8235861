"""What made each result, kept beside the results, so that they can be moved to a fresh clone without losing it.

Snakemake notes in its own folder (`.snakemake/metadata`) with which parameters and inputs it made a file. Results
that are restored without that folder would either be made anew or, worse, be shown although the config has changed
since. The ledger (`results/provenance.jsonl`) holds a copy of each note together with the file's sha256, and the
circumstances it was made in: the config, the libraries and the kind of host (`prasanga.provenance.circumstances`).
`synchronize` runs before every plan and after every run:

- a note of Snakemake's that speaks of the file as it is now (it holds the file's time) goes into the ledger, but for a
  file that is seen to be damaged since: it has another size, or it is new and no whole Parquet or JSON file;
- any other file gets the ledger's note, if its content is the one that the ledger speaks of;
- a file of which neither knows is marked as made by nobody knows what, and Snakemake makes it again.

What others were made from stays in the ledger when the file is gone, so that the way from a page to the corpus can be
followed in results that were sent without their vectors.

Snakemake's folder is read and written as files here; nothing of Snakemake is imported.
"""

from __future__ import annotations

import json
import logging
import os
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Any

from prasanga.documents import is_whole_document
from prasanga.footers import require_whole
from prasanga.parquet import write_text
from prasanga.provenance.circumstances import (
    Circumstances,
    circumstances_of_jobs,
    forget_jobs,
    last_planned,
    remember_plan,
)
from prasanga.provenance.files import json_line, sha256_of_file, unreadable

LEDGER = "provenance.jsonl"
MANIFEST = "corpus.json"
"""Digests of the corpus files, remembered beside the results (`prasanga.sentences.manifest`)."""
# Vectors and scores kept for later runs; what they were made from is in their own names.
_KEPT = (("store",), ("likelihoods", "kept"))
# Snakemake cuts the base64 of long names into folders of at most so many characters, all but the last with a leading @.
_NAME_LIMIT = 254
_UNKNOWN = {"rule": "", "params": ["nothing says what made this file"], "endtime": 0.0, "incomplete": False}
_FORMAT = 6  # of Snakemake's notes (record_format_version); below it params are not compared

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Entry:
    """A result and the note of what made it.

    Attributes:
        path: from Snakemake's working directory, with /.
        sha256: of its bytes.
        size: in bytes.
        mtime_ns: its time.
        record: Snakemake's note.
        inputs: digests of those inputs that the note has none of, because they are large; None where nobody knows.
        circumstances: digest of the circumstances that the ledger has; empty where nobody knows.
    """

    path: str
    sha256: str
    size: int
    mtime_ns: int
    record: dict[str, Any]
    inputs: dict[str, str | None] = field(default_factory=dict)
    circumstances: str = ""

    @property
    def rule(self) -> str:
        """The rule that made the file."""
        return str(self.record.get("rule") or "")

    @property
    def made_from(self) -> dict[str, str | None]:
        """The sha256 of each input as it was then; None where nobody knows."""
        noted: Mapping[str, str] = self.record.get("input_checksums") or {}
        known = {path: said.removeprefix("sha256:") for path, said in noted.items() if said.startswith("sha256:")}
        return {path: known.get(path, self.inputs.get(path)) for path in self.record.get("input") or []}

    def fits(self, status: os.stat_result) -> bool:
        """Whether size and time are those of the file that the entry was made for."""
        return status.st_size == self.size and status.st_mtime_ns == self.mtime_ns

    def describes(self, path: Path) -> bool:
        """Whether the file has the content that the entry speaks of; its bytes are read only if its time differs."""
        status = path.stat()
        return self.fits(status) or (status.st_size == self.size and _sha256(path) == self.sha256)


@dataclass(frozen=True)
class Ledger:
    """What is known of results: an entry for each file by its path, and the circumstances by their digest."""

    entries: dict[str, Entry] = field(default_factory=dict)
    circumstances: dict[str, Circumstances] = field(default_factory=dict)

    def of(self, entry: Entry) -> Circumstances:
        """The circumstances that a file was made in; empty ones where nobody knows."""
        return self.circumstances.get(entry.circumstances, Circumstances())


@dataclass(frozen=True)
class Synchronization:
    """How many files got a note from the ledger, and of how many nothing is known."""

    restored: int
    unknown: int


def synchronize(
    root: Path, results: str = "results", *, own_run: bool = False, circumstances: Circumstances | None = None
) -> Synchronization:
    """Bring the ledger and Snakemake's notes into agreement; see the module's text.

    Args:
        root: Snakemake's working directory, which holds `.snakemake` and the results.
        results: name of the folder with the results.
        own_run: whether the caller is the run that holds Snakemake's lock. While another run holds it, nothing is done:
            its jobs write files whose notes are still to come.
        circumstances: of the run that is being planned or has ended; None if nobody knows.
    """
    folder, notes = root / results, root / ".snakemake"
    locked = not own_run and any((notes / "locks").glob("*"))
    if locked:
        return Synchronization(restored=0, unknown=0)
    # What is new before a plan was made by a run that could not note it any more: it was killed, or lost its disk.
    makers = [(0.0, circumstances)] if own_run else last_planned(notes)
    if circumstances is not None and not own_run:
        remember_plan(notes, circumstances)
    if not folder.is_dir():
        return Synchronization(restored=0, unknown=0)
    ledger = read_ledger(folder / LEDGER)
    noted, of_jobs = dict(read_notes(notes / "metadata")), circumstances_of_jobs(notes)
    kept: dict[str, Entry] = {}
    known = dict(ledger.circumstances)
    new: list[str] = []
    restored = unknown = 0
    for path in result_files(folder):
        key = path.relative_to(root).as_posix()
        entry, note = ledger.entries.get(key), noted.get(key)
        if note is None and _note_path(notes / "incomplete", key).exists():
            continue  # a job is writing it, or was killed: Snakemake sees to it
        status = path.stat()
        if note is not None and _speaks_of(note, status) and not _is_damaged(path, status, entry, note):
            sha256 = entry.sha256 if entry is not None and entry.fits(status) else _sha256(path)
            made = Entry(key, sha256, status.st_size, status.st_mtime_ns, note)
            if entry is not None and entry.record == note:
                made = replace(made, inputs=entry.inputs, circumstances=entry.circumstances)
            else:
                new.append(key)
            kept[key] = made
        elif entry is not None and entry.describes(path):
            record = {**entry.record, "endtime": status.st_mtime}
            kept[key] = replace(entry, size=status.st_size, mtime_ns=status.st_mtime_ns, record=record)
            _write_note(notes / "metadata", key, record)
            restored += note is None or _params_of(note) != _params_of(record)
        else:
            if entry is not None:
                kept[key] = entry  # of the file as it was: should that come back, it is known again
            if note is None or note.get("rule") != _UNKNOWN["rule"]:
                _write_note(notes / "metadata", key, {**_UNKNOWN, "record_format_version": _FORMAT})
                unknown += 1
    for key in new:
        which = _made_in(kept[key], makers, of_jobs)
        known |= {which.digest: which} if which is not None else {}
        inputs = _unnoted_inputs(kept[key], kept)
        kept[key] = replace(kept[key], inputs=inputs, circumstances=which.digest if which is not None else "")
    kept |= _gone(kept, ledger.entries)
    used = {entry.circumstances for entry in kept.values()}
    now = Ledger(kept, {digest: known[digest] for digest in sorted(used & known.keys())})
    if now != ledger:
        _write(folder / LEDGER, now)
    if own_run:
        forget_jobs(notes)
    if unknown:
        said = "%d file(s) under %s have no record of what made them; a run that comes to them makes them again."
        logger.warning(said, unknown, folder)
    return Synchronization(restored, unknown)


def _made_in(
    entry: Entry, makers: Iterable[tuple[float, Circumstances | None]], of_jobs: Mapping[str, Circumstances]
) -> Circumstances | None:
    """The circumstances that a file was made in: of its own job, where that ran elsewhere, or of the run.

    Of several runs it is the last that had begun by the time that the file was made.
    """
    begun = [each for since, each in makers if each is not None and since <= entry.mtime_ns / 1e9]
    if (of_job := of_jobs.get(entry.path)) is not None:
        return replace(of_job, config=begun[-1].config) if begun else of_job
    return begun[-1] if begun else None


def _unnoted_inputs(entry: Entry, entries: Mapping[str, Entry]) -> dict[str, str | None]:
    """Digests of the inputs that Snakemake's note has none of, if they have not changed since the job began."""
    began = float(entry.record.get("starttime") or 0.0)
    found: dict[str, str | None] = {}
    for path, said in entry.made_from.items():
        if said is None:
            made = entries.get(path)
            is_that = made is not None and made.mtime_ns / 1e9 <= began
            found[path] = made.sha256 if made is not None and is_that else None
    return found


def _gone(kept: Mapping[str, Entry], before: Mapping[str, Entry]) -> dict[str, Entry]:
    """The entries of files that are no more, but that present ones were made from, directly or not."""
    found: dict[str, Entry] = {}
    todo = list(kept.values())
    while todo:
        for path, sha256 in todo.pop().made_from.items():
            entry = before.get(path)
            if path not in kept and path not in found and entry is not None and entry.sha256 == sha256:
                found[path] = entry
                todo.append(entry)
    return found


def _sha256(path: Path) -> str:
    try:
        return sha256_of_file(path)
    except OSError as error:
        raise unreadable(path, error) from error


def _speaks_of(note: dict[str, Any], status: os.stat_result) -> bool:
    """Whether Snakemake's note was written for the file as it is: it holds the file's time."""
    return abs(status.st_mtime - float(note.get("endtime") or 0.0)) < 1e-3


def _is_damaged(path: Path, status: os.stat_result, entry: Entry | None, note: dict[str, Any]) -> bool:
    """Whether a file with the time of its job has another size than it had, or was never seen and is not whole."""
    if entry is not None and entry.record == note:
        return entry.size != status.st_size
    return not is_whole(path)


def _params_of(note: dict[str, Any]) -> object:
    return note.get("params")


def is_whole(path: Path) -> bool:
    """Whether a file that can tell is whole: Parquet by its footer, JSON by all of it; others are taken as they are."""
    try:
        if path.suffix == ".parquet":
            require_whole(path)
        return path.suffix != ".json" or is_whole_document(path)
    except OSError as error:
        raise unreadable(path, error) from error
    except ValueError:
        return False


def read_ledger(path: Path) -> Ledger:
    """The ledger in a file, which may come from anybody.

    A line that cannot be read counts as absent: it is cut short, of another version, or no line of a ledger.

    Raises:
        InputError: the file is there and cannot be read.
    """
    ledger = Ledger()
    try:
        text = path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
    except OSError as error:
        raise unreadable(path, error) from error
    for line in text.splitlines():
        try:
            said = json.loads(line)
            if "circumstances" in said and "path" not in said:
                circumstances = Circumstances.read(said["circumstances"])
                ledger.circumstances[circumstances.digest] = circumstances
            else:
                entry = _read_entry(said)
                ledger.entries[entry.path] = entry
        except (ValueError, TypeError, AttributeError, OverflowError, RecursionError):
            continue
    return ledger


def _read_entry(said: Any) -> Entry:
    """An entry as a line tells it; TypeError if a part of it is not of the kind that it has to be."""
    entry = Entry(**said)
    texts = [entry.path, entry.sha256, entry.circumstances, *entry.inputs]
    texts += [sha256 for sha256 in entry.inputs.values() if sha256 is not None]
    if not all(isinstance(text, str) for text in texts):
        raise TypeError("no entry: paths and digests are text")
    parts = PurePosixPath(entry.path).parts
    if len(parts) < 2 or ".." in parts or entry.path.startswith("/"):
        raise TypeError("no entry: it is of no file below a folder of results")
    if not (_is_time(entry.mtime_ns / 1e9) and type(entry.mtime_ns) is int and type(entry.size) is int):
        raise TypeError("no entry: size and time are whole numbers")
    if not is_note(entry.record):
        raise TypeError("no entry: its record is no note of Snakemake's")
    return entry


def is_note(value: Any) -> bool:
    """Whether the parts that are looked at here are of the kind that they have in Snakemake's notes."""
    if not isinstance(value, dict):
        return False
    params, inputs = value.get("params") or [], value.get("input") or []
    checksums = value.get("input_checksums") or {}
    return (
        isinstance(value.get("rule") or "", str)
        and isinstance(params, list)
        and isinstance(inputs, list)
        and isinstance(checksums, dict)
        and all(isinstance(text, str) for text in [*inputs, *checksums.values()])
        and all(_is_time(value.get(key) or 0.0) for key in ("starttime", "endtime"))
    )


def _is_time(value: Any) -> bool:
    """Seconds since 1970, of a year that a date can have (9987 at most)."""
    return type(value) in (int, float) and 0 <= value < 253_000_000_000


def _write(path: Path, ledger: Ledger) -> None:
    described = [{"circumstances": asdict(ledger.circumstances[digest])} for digest in sorted(ledger.circumstances)]
    entries = [asdict(ledger.entries[key]) for key in sorted(ledger.entries)]
    write_text(path, "".join(map(json_line, [*described, *entries])))


def result_files(folder: Path) -> Iterator[Path]:
    """The results: all but ledger and manifest, what is kept for later runs, and unfinished temporary files."""
    for parent, folders, names in os.walk(folder):
        inside = Path(parent).relative_to(folder).parts
        folders[:] = sorted(name for name in folders if (*inside, name) not in _KEPT and not name.startswith("."))
        names = [name for name in names if inside or name not in (LEDGER, MANIFEST)]
        for name in sorted(names):
            if not name.startswith("."):
                yield Path(parent, name)


def read_notes(folder: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Snakemake's notes, {output: note}; one that is unreadable, or is no note, counts as absent."""
    if folder.is_dir():
        for path in folder.rglob("*"):
            if path.is_file():
                parts = [part.removeprefix("@") for part in path.relative_to(folder).parts]
                try:
                    key, note = urlsafe_b64decode("".join(parts)).decode(), json.loads(path.read_text(encoding="utf-8"))
                except (ValueError, RecursionError):
                    continue
                if is_note(note):
                    yield key, note


def _note_path(folder: Path, key: str) -> Path:
    code = urlsafe_b64encode(key.encode()).decode()
    parts = [code[start : start + _NAME_LIMIT] for start in range(0, len(code), _NAME_LIMIT)]
    return folder.joinpath(*(f"@{part}" for part in parts[:-1]), parts[-1])


def _write_note(folder: Path, key: str, note: dict[str, Any]) -> None:
    write_text(_note_path(folder, key), json.dumps(note))
