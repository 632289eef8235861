"""What made each result, kept beside the results, so that they can be moved to a fresh clone without losing it.

Snakemake notes in its own folder (`.snakemake/metadata`) with which parameters and inputs it made a file. Results
that are restored without that folder would either be made anew or, worse, be shown although the config has changed
since. The ledger (`results/provenance.jsonl`) holds a copy of each note together with the file's sha256.
`synchronize` runs before every plan:

- a note of Snakemake's that speaks of the file as it is now (it holds the file's time) goes into the ledger;
- any other file gets the ledger's note, if its content is the one that the ledger speaks of;
- a file of which neither knows is marked as made by nobody knows what, and Snakemake makes it again.

Snakemake's folder is read and written as files here; nothing of Snakemake is imported.
"""

from __future__ import annotations

import json
import logging
import os
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from prasanga.parquet import write_text
from prasanga.provenance.files import sha256_of_file

LEDGER = "provenance.jsonl"
MANIFEST = "corpus.json"
"""Digests of the corpus files, remembered beside the results (`prasanga.sentences.manifest`)."""
# Vectors kept for later runs; what they were made from is in their own names (prasanga.embeddings.store).
_STORE = "store"
# Snakemake cuts the base64 of long names into folders of at most so many characters, all but the last with a leading @.
_NAME_LIMIT = 254
_UNKNOWN = {"rule": "", "params": ["nothing says what made this file"], "endtime": 0.0, "incomplete": False}
_FORMAT = 6  # of Snakemake's notes (record_format_version); below it params are not compared

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Entry:
    """A result and the note of what made it."""

    path: str
    sha256: str
    size: int
    mtime_ns: int
    record: dict[str, Any]

    def fits(self, status: os.stat_result) -> bool:
        """Whether size and time are those of the file that the entry was made for."""
        return status.st_size == self.size and status.st_mtime_ns == self.mtime_ns

    def describes(self, path: Path) -> bool:
        """Whether the file has the content that the entry speaks of; its bytes are read only if its time differs."""
        status = path.stat()
        return self.fits(status) or (status.st_size == self.size and sha256_of_file(path) == self.sha256)


@dataclass(frozen=True)
class Synchronization:
    """How many files got a note from the ledger, and of how many nothing is known."""

    restored: int
    unknown: int


def synchronize(root: Path, results: str = "results", *, own_run: bool = False) -> Synchronization:
    """Bring the ledger and Snakemake's notes into agreement; see the module's text.

    Args:
        root: Snakemake's working directory, which holds `.snakemake` and the results.
        results: name of the folder with the results.
        own_run: whether the caller is the run that holds Snakemake's lock. While another run holds it, nothing is done:
            its jobs write files whose notes are still to come.
    """
    folder, notes = root / results, root / ".snakemake"
    locked = not own_run and any((notes / "locks").glob("*"))
    if locked or not folder.is_dir():
        return Synchronization(restored=0, unknown=0)
    ledger = _read(folder / LEDGER)
    noted = dict(_notes(notes / "metadata"))
    kept: dict[str, Entry] = {}
    restored = unknown = 0
    for path in _files(folder):
        key = path.relative_to(root).as_posix()
        entry, note = ledger.get(key), noted.get(key)
        if note is None and _note_path(notes / "incomplete", key).exists():
            continue  # a job is writing it, or was killed: Snakemake sees to it
        status = path.stat()
        if note is not None and _speaks_of(note, status):
            sha256 = entry.sha256 if entry is not None and entry.fits(status) else sha256_of_file(path)
            kept[key] = Entry(key, sha256, status.st_size, status.st_mtime_ns, note)
        elif entry is not None and entry.describes(path):
            record = {**entry.record, "endtime": status.st_mtime}
            kept[key] = Entry(key, entry.sha256, status.st_size, status.st_mtime_ns, record)
            _write_note(notes / "metadata", key, record)
            restored += note is None or _params_of(note) != _params_of(record)
        elif note is None or note.get("rule") != _UNKNOWN["rule"]:
            _write_note(notes / "metadata", key, {**_UNKNOWN, "record_format_version": _FORMAT})
            unknown += 1
    if kept != ledger:
        lines = (json.dumps(asdict(kept[key]), sort_keys=True, ensure_ascii=False) for key in sorted(kept))
        write_text(folder / LEDGER, "".join(f"{line}\n" for line in lines))
    if unknown:
        said = "%d file(s) under %s have no record of what made them; a run that comes to them makes them again."
        logger.warning(said, unknown, folder)
    return Synchronization(restored, unknown)


def _speaks_of(note: dict[str, Any], status: os.stat_result) -> bool:
    """Whether Snakemake's note was written for the file as it is: it holds the file's time."""
    return abs(status.st_mtime - float(note.get("endtime") or 0.0)) < 1e-3


def _params_of(note: dict[str, Any]) -> object:
    return note.get("params")


def _read(path: Path) -> dict[str, Entry]:
    """The ledger; a line that cannot be read (cut short, another version) counts as absent."""
    entries: dict[str, Entry] = {}
    if path.is_file():
        for line in path.read_text(encoding="utf-8").splitlines():
            try:
                entry = Entry(**json.loads(line))
            except (ValueError, TypeError):
                continue
            entries[entry.path] = entry
    return entries


def _files(folder: Path) -> Iterator[Path]:
    """The results: all files but the ledger, the manifest, the store of vectors, and unfinished temporary files."""
    for parent, folders, names in os.walk(folder):
        if Path(parent) == folder:
            folders[:] = [name for name in folders if name != _STORE]
            names = [name for name in names if name not in (LEDGER, MANIFEST)]
        folders.sort()
        for name in sorted(names):
            if not name.startswith("."):
                yield Path(parent, name)


def _notes(folder: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Snakemake's notes, {output: note}; an unreadable one counts as absent."""
    if folder.is_dir():
        for path in folder.rglob("*"):
            if path.is_file():
                parts = [part.removeprefix("@") for part in path.relative_to(folder).parts]
                try:
                    yield urlsafe_b64decode("".join(parts)).decode(), json.loads(path.read_text(encoding="utf-8"))
                except ValueError:
                    continue


def _note_path(folder: Path, key: str) -> Path:
    code = urlsafe_b64encode(key.encode()).decode()
    parts = [code[start : start + _NAME_LIMIT] for start in range(0, len(code), _NAME_LIMIT)]
    return folder.joinpath(*(f"@{part}" for part in parts[:-1]), parts[-1])


def _write_note(folder: Path, key: str, note: dict[str, Any]) -> None:
    write_text(_note_path(folder, key), json.dumps(note))
