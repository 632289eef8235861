"""What made each result, kept beside the results, so that they can be moved to a fresh clone without losing it.

Snakemake notes in its own folder (`.snakemake/metadata`) with which parameters and inputs it made a file. Results
that are restored without that folder would either be made anew or, worse, be shown although the config has changed
since. The ledger (`results/provenance.jsonl`) holds a copy of each note together with the file's sha256, the
definitions that the code of the job consisted of, and the circumstances that it was made in: the config, the libraries
and the kind of host. `synchronize` runs before every plan and after every run:

- a note of Snakemake's that speaks of the file as it is now (it holds the file's time) goes into the ledger, but for a
  file that is seen to be damaged since: it has another size, or it is new and no whole Parquet or JSON file;
- paths of what is shipped become those by which this study reaches it (`prasanga.base.places`): results of a checkout
  fit a study's folder, and the other way round;
- any other file gets the ledger's note, if its content is the one that the ledger speaks of;
- a file of which neither knows is marked as made by nobody knows what, and Snakemake makes it again.

What others were made from stays in the ledger when the file is gone, so that the way from a page to the corpus can be
followed in results that were sent without their vectors. Circumstances are told once for a run and not in every table,
so that equal tables are equal files; no host is named, since results are for others, too. A job that a scheduler sends
to another host tells of that host (`note_job`), in a file beside Snakemake's notes.

Snakemake's folder is read and written as files here; nothing of Snakemake is imported, and no library to learn its
version, so that this may run before every plan.
"""

from __future__ import annotations

import importlib.metadata
import json
import logging
import os
import platform
import re
import shlex
import time
import uuid
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from operator import itemgetter
from pathlib import Path, PurePosixPath
from typing import Any

from prasanga.base.documents import digest_of, digest_of_file, is_whole_document, json_line, unreadable
from prasanga.base.errors import InputError
from prasanga.base.parquet import WRITTEN, require_whole, write_text, written_digest
from prasanga.base.places import NAMED, named, place
from prasanga.provenance.code import Code

LEDGER = "provenance.jsonl"
BEFORE = ".provenance.jsonl.before"
"""The longest ledger that a shorter one has taken the place of, beside it."""
MANIFEST = "corpus.json"
"""Digests of the corpus files, remembered beside the results (`prasanga.sentences.manifest`)."""
CONFIG, CONFIG_BEGUN = "config.yaml", "config.begun.yaml"
"""Beside the results, with all defaults: the config of the last run that made all of them, and of one begun since."""
LIBRARIES = (
    *("accelerate", "fsspec", "ftfy", "gensim", "gguf", "jinja2", "jsonschema", "matplotlib", "numba", "numpy"),
    *("polars", "psutil", "pyarrow", "pyyaml", "regex", "scipy", "snakemake", "tokenizers", "torch"),
    *("tqdm", "transformers", "xxhash", "zstandard"),
    *("protobuf", "sentencepiece"),  # which some models need
)
"""The distributions that the project asks for; one that is not installed has no version."""
VARIABLES = (
    *("ATEN_CPU_CAPABILITY", "MKL_CBWR", "MKL_ENABLE_INSTRUCTIONS", "ONEDNN_MAX_CPU_ISA"),
    *("NUMBA_CPU_NAME", "OPENBLAS_CORETYPE", "CUBLAS_WORKSPACE_CONFIG", "NVIDIA_TF32_OVERRIDE"),
    *("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS", "POLARS_MAX_THREADS"),
)
"""Environment variables that may change the last digits of a number: instructions, then threads."""
_INSTRUCTIONS = ("avx", "avx2", "fma", "avx512f", "avx512_vnni", "avx512_bf16", "amx_bf16", "asimd", "sve", "bf16")
_PLAN, _JOBS = "prasanga/circumstances.jsonl", "prasanga/jobs"
_PLANS = 20
# What reading a line raises that was cut short, or that somebody else has written.
_NOT_TOLD = (ValueError, TypeError, LookupError, AttributeError, OverflowError, RecursionError)
# Vectors and scores kept for later runs; what they were made from is in their own names.
_KEPT = (("store",), ("likelihoods", "kept"))
# Snakemake cuts the base64 of long names into folders of at most so many characters, all but the last with a leading @.
_NAME_LIMIT = 254
_UNKNOWN = {"rule": "", "params": ["nothing says what made this file"], "endtime": 0.0, "incomplete": False}
_FORMAT = 6  # of Snakemake's notes (record_format_version); below it params are not compared
_CODE = re.compile(r"'([\w.]+(?: data)?) ([0-9a-f]{12})'")

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Circumstances:
    """What a run was made in; all values are plain.

    Attributes:
        config: the study's config with its defaults.
        libraries: {distribution: version}, `prasanga` and `python` among them.
        host: kind of host (`host_kind`).
        settings: how the workflow was told to run there: cores, threads, executor.
    """

    config: dict[str, Any] = field(default_factory=dict)
    libraries: dict[str, str] = field(default_factory=dict)
    host: dict[str, Any] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)

    @property
    def digest(self) -> str:
        """16 hexadecimal digits."""
        return digest_of(asdict(self))

    @classmethod
    def read(cls, said: Any) -> Circumstances:
        """Return what a file tells, which anybody may have written.

        Raises:
            TypeError: a part of them is not of the kind that it has to be.
        """
        told = cls(**said)
        _require_all(dict, [*vars(told).values(), told.host.get("variables", {})])
        lists = [told.host.get(name, []) for name in ("gpus", "instructions")]
        _require_all(list, lists)
        _require_all(str, [*told.libraries.values(), *lists[0], *lists[1]])
        return told


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
    def code(self) -> dict[str, str]:
        """The script of the job with the fingerprint of its code; in older notes also the modules that it reaches."""
        texts = (str(text) for text in self.record.get("params") or [])
        return {found[1]: found[2] for text in texts if (found := _CODE.fullmatch(text))}

    @property
    def made_from(self) -> dict[str, str | None]:
        """The sha256 of each input as it was then; None where nobody knows."""
        noted: Mapping[str, str] = self.record.get("input_checksums") or {}
        known = {path: said.removeprefix("sha256:") for path, said in noted.items() if said.startswith("sha256:")}
        return {path: known.get(path, self.inputs.get(path)) for path in self.record.get("input") or []}

    def fits(self, status: os.stat_result) -> bool:
        """Return whether size and time are those of the file that the entry was made for."""
        return status.st_size == self.size and status.st_mtime_ns == self.mtime_ns

    def describes(self, path: Path) -> bool:
        """Return whether the file has the content that the entry speaks of; only another time has its bytes read."""
        status = path.stat()
        return self.fits(status) or (status.st_size == self.size and digest_of_file(path) == self.sha256)


@dataclass(frozen=True)
class Ledger:
    """What is known of results.

    Attributes:
        entries: by the path of each file.
        circumstances: by their digest.
        code: the definitions that code consisted of, by its fingerprint.
        folder: of the results, which may have another name than when they were made.
    """

    entries: dict[str, Entry] = field(default_factory=dict)
    circumstances: dict[str, Circumstances] = field(default_factory=dict)
    code: dict[str, dict[str, str]] = field(default_factory=dict)
    folder: Path = field(default=Path("results"), compare=False)

    @property
    def name(self) -> str:
        """The name of the folder when the results were made, with which every path begins."""
        return next(iter(self.entries), "results/").partition("/")[0]

    def place_of(self, path: str) -> Path:
        """Return where a result lies that the ledger calls `path`."""
        return self.folder.joinpath(*path.split("/")[1:])

    def name_of(self, place: Path) -> str:
        """Return what the ledger calls a file of the folder."""
        return f"{self.name}/{place.absolute().relative_to(self.folder.absolute()).as_posix()}"

    def of(self, entry: Entry) -> Circumstances:
        """Return the circumstances that a file was made in; empty ones where nobody knows."""
        return self.circumstances.get(entry.circumstances, Circumstances())

    def definitions_of(self, entry: Entry) -> dict[str, str]:
        """Return the digests of the definitions that a file was made with, or of its script (and modules) alone."""
        return next((self.code[digest] for digest in entry.code.values() if digest in self.code), entry.code)

    def code_of(self, entry: Entry) -> dict[str, Code]:
        """Return what the script consisted of that a file was made with, by its name."""
        scripts = {name: digest for name, digest in entry.code.items() if name.endswith(".py")}
        return {name: Code(digest, self.definitions_of(entry)) for name, digest in scripts.items()}


@dataclass(frozen=True)
class Synchronization:
    """What `synchronize` found.

    Attributes:
        restored: how many files got a note from the ledger.
        unknown: of how many nothing is known.
        code: of each script, what the newest of its results was made with.
    """

    restored: int = 0
    unknown: int = 0
    code: dict[str, Code] = field(default_factory=dict)


def synchronize(
    root: Path,
    *,
    own_run: bool = False,
    circumstances: Circumstances | None = None,
    code: Mapping[str, Code] | None = None,
) -> Synchronization:
    """Bring the ledger and Snakemake's notes into agreement; see the module's text.

    Args:
        root: Snakemake's working directory, which holds `.snakemake` and the results.
        own_run: whether the caller is the run that holds Snakemake's lock. While another run holds it, nothing is done:
            its jobs write files whose notes are still to come.
        circumstances: of the run that is being planned or has ended; None if nobody knows.
        code: of the scripts, as they are now.
    """
    folder, notes = root / "results", root / ".snakemake"
    if not own_run and any((notes / "locks").glob("*")):
        return Synchronization()
    # What is new before a plan was made by a run that could not note it any more: it was killed, or lost its disk.
    makers = [(0.0, circumstances)] if own_run else last_planned(notes)
    if circumstances is not None and not own_run:
        remember_plan(notes, circumstances)
    if not folder.is_dir():
        return Synchronization()
    ledger = read_ledger(folder / LEDGER)
    noted, of_jobs = dict(read_notes(notes / "metadata")), circumstances_of_jobs(notes)
    ledger.entries.update({key: _placed_entry(entry) for key, entry in ledger.entries.items()})
    for key, written in noted.items():
        if (placed := _placed(written)) != written:
            _write_note(notes / "metadata", key, placed)
            noted[key] = placed
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
        if not _is_time(status.st_mtime):  # a line about it would not be read again
            raise InputError(
                f"{path}: its time is of no year that a date can have. Write `touch {shlex.quote(str(path))}`, and run"
                " again."
            )
        # a note that was written for the file as it is holds the file's time
        speaks_of_it = note is not None and abs(status.st_mtime - float(note.get("endtime") or 0.0)) < 1e-3
        if note is not None and speaks_of_it and not _is_damaged(path, key, notes, entry, note):
            sha256 = entry.sha256 if entry is not None and entry.fits(status) else digest_of_file(path)
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
            restored += note is None or note.get("params") != record.get("params")
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
    definitions = ledger.code | {each.fingerprint: each.definitions for each in (code or {}).values()}
    in_use = {entry.circumstances for entry in kept.values()}
    code_in_use = {digest for entry in kept.values() for digest in entry.code.values()}
    now = Ledger(
        kept,
        {digest: known[digest] for digest in sorted(in_use & known.keys())},
        {digest: definitions[digest] for digest in sorted(code_in_use & definitions.keys())},
    )
    if now != ledger:
        _write(folder / LEDGER, now)
    if own_run:  # the ledger has what jobs have noted
        for noted_by_job in (*(notes / _JOBS).glob("*.json"), *(notes / WRITTEN).glob("*")):
            with suppress(OSError):
                noted_by_job.unlink()
    if unknown:
        said = "%d file(s) under %s have no record of what made them; a run that comes to them makes them again."
        logger.warning(said, unknown, folder)
    by_age = sorted(kept.values(), key=lambda entry: entry.mtime_ns)
    newest = {name: made_with for entry in by_age for name, made_with in now.code_of(entry).items()}
    return Synchronization(restored, unknown, newest)


def read_ledger(path: Path) -> Ledger:
    """Return the ledger in a file, which may come from anybody.

    A line that cannot be read counts as absent: it is cut short, of another version, or no line of a ledger.

    Raises:
        InputError: the file is there and cannot be read.
    """
    ledger = Ledger(folder=path.parent)
    _require_file(path)
    try:
        text = path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
    except OSError as error:
        raise unreadable(path, error) from error
    for line in text.split("\n"):  # JSON may hold the other ends of lines that Unicode has
        try:
            said = json.loads(line)
            if "definitions" in said:
                ledger.code.update(_read_code(said))
            elif "circumstances" in said and "path" not in said:
                circumstances = Circumstances.read(said["circumstances"])
                ledger.circumstances[circumstances.digest] = circumstances
            else:
                entry = _read_entry(said)
                ledger.entries[entry.path] = entry
        except _NOT_TOLD:
            continue
    return ledger


def result_files(folder: Path) -> Iterator[Path]:
    """Yield the results: all but ledger, manifest and config, what is kept for later runs, and unfinished files.

    Raises:
        InputError: a pipe, which would be waited for, a device, or a link that leads nowhere.
    """
    for parent, folders, names in os.walk(folder):
        inside = Path(parent).relative_to(folder).parts
        folders[:] = sorted(name for name in folders if (*inside, name) not in _KEPT and not name.startswith("."))
        names = [name for name in names if inside or name not in (LEDGER, MANIFEST, CONFIG, CONFIG_BEGUN)]
        for name in sorted(names):
            is_text = name.encode(errors="ignore").decode() == name  # which it is not where it is no UTF-8 on the disk
            if is_text and not name.startswith("."):  # no rule has a name that is no text
                _require_file(path := Path(parent, name))
                yield path


def _require_file(path: Path) -> None:
    if os.path.lexists(path) and not path.is_file():
        raise InputError(f"{path}: no file, but a pipe, a device or a link to nothing. Delete it.")


def read_notes(folder: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield Snakemake's notes, (output, note); one that is unreadable, or is no note, counts as absent."""
    if folder.is_dir():
        for path in folder.rglob("*"):
            if path.is_file():
                parts = [part.removeprefix("@") for part in path.relative_to(folder).parts]
                try:
                    key, note = urlsafe_b64decode("".join(parts)).decode(), json.loads(path.read_text(encoding="utf-8"))
                except (ValueError, RecursionError):
                    continue
                if _is_note(note):
                    yield key, note


def here(config: Mapping[str, Any], settings: Mapping[str, Any]) -> Circumstances:
    """Return the circumstances of this process, with a config and settings as JSON has them."""
    plain: list[dict[str, Any]] = json.loads(json.dumps([dict(config), dict(settings)], default=str))
    return Circumstances(config=plain[0], libraries=versions(), host=host_kind(), settings=plain[1])


def note_job(notes: Path, outputs: Iterable[str], circumstances: Circumstances) -> None:
    """Note on the host of a job what kind it is; that this cannot be written is no reason to stop."""
    said = json_line([time.time(), sorted(outputs), asdict(circumstances)])
    with suppress(InputError, OSError):
        write_text(notes / _JOBS / f"{uuid.uuid4().hex}.json", said)


def remember_plan(notes: Path, circumstances: Circumstances) -> None:
    """Note in Snakemake's folder that a run begins in these circumstances, for the next one if this one is killed.

    A plan that is like the one before adds nothing; that it cannot be written is no reason to stop.
    """
    plans = last_planned(notes)
    if plans and plans[-1][1] == circumstances:
        return
    lines = [json_line([since, asdict(each)]) for since, each in [*plans[1 - _PLANS :], (time.time(), circumstances)]]
    with suppress(InputError, OSError):
        write_text(notes / _PLAN, "".join(lines))


def last_planned(notes: Path) -> list[tuple[float, Circumstances]]:
    """Return when the last plans were made (seconds since 1970), and in which circumstances; the oldest first."""
    found = []
    for line in _text_of(notes / _PLAN).split("\n"):
        with suppress(*_NOT_TOLD):
            since, said = json.loads(line)
            found.append((float(since), Circumstances.read(said)))
    return found


def versions() -> dict[str, str]:
    """Return the versions of Python, of this project, and of the libraries that are installed."""
    from prasanga import __version__

    found = {"python": platform.python_version(), "prasanga": __version__}
    for name in LIBRARIES:
        with suppress(importlib.metadata.PackageNotFoundError):
            found[name] = importlib.metadata.version(name)
    return found


def host_kind(proc: Path = Path("/proc"), environment: Mapping[str, str] = os.environ) -> dict[str, Any]:
    """Return what kind of host this is, as far as it can change a number; what cannot be learnt is left out.

    Returns:
        system (operating system and C library), architecture, processor (model), instructions (vector units), cores
        (logical), usable_cores (of this process), gpus (models), gpu_driver, variables (`VARIABLES` that are set).
    """
    cpu = _text_of(proc / "cpuinfo")
    flags = set((_value("flags", cpu) or _value("Features", cpu)).split())
    driver = re.search(r"Kernel Module\s+(?:for \S+\s+)?([\d.]+)", _text_of(proc / "driver/nvidia/version"))
    found = {
        "system": " ".join([platform.system(), *filter(None, platform.libc_ver())]),
        "architecture": platform.machine(),
        "processor": _value("model name", cpu) or platform.processor(),
        "instructions": [name for name in _INSTRUCTIONS if name in flags],
        "cores": os.cpu_count(),
        "usable_cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "gpus": [_value("Model", _text_of(path)) for path in sorted(proc.glob("driver/nvidia/gpus/*/information"))],
        "gpu_driver": driver[1] if driver else "",
        "variables": {name: environment[name] for name in VARIABLES if name in environment},
    }
    return {key: value for key, value in found.items() if value}


def circumstances_of_jobs(notes: Path) -> dict[str, Circumstances]:
    """Return the circumstances of each output of a job that noted its host; the last job counts."""
    noted: list[tuple[float, list[str], Circumstances]] = []
    for path in (notes / _JOBS).glob("*.json"):
        with suppress(*_NOT_TOLD):
            began, outputs, said = json.loads(_text_of(path))
            noted.append((float(began), [str(output) for output in outputs], Circumstances.read(said)))
    return {output: said for _, outputs, said in sorted(noted, key=itemgetter(0)) for output in outputs}


def _placed(record: dict[str, Any]) -> dict[str, Any]:
    """Return a note with the paths of shipped files as they are in the study that this is."""
    text = json.dumps(record)
    changed = NAMED.sub(lambda found: place(named(found[0])), text)
    if changed == text:
        return record
    here: dict[str, Any] = json.loads(changed)
    return {**here, **{key: sorted(here.get(key) or []) for key in ("input", "params")}}


def _placed_entry(entry: Entry) -> Entry:
    if (record := _placed(entry.record)) == entry.record:
        return entry
    return replace(entry, record=record, inputs={place(named(path)): digest for path, digest in entry.inputs.items()})


def _made_in(
    entry: Entry, makers: Iterable[tuple[float, Circumstances | None]], of_jobs: Mapping[str, Circumstances]
) -> Circumstances | None:
    """Return the circumstances that a file was made in: of its own job, where that ran elsewhere, or of the run.

    Of several runs it is the last that had begun by the time that the file was made.
    """
    begun = [each for since, each in makers if each is not None and since <= entry.mtime_ns / 1e9]
    if (of_job := of_jobs.get(entry.path)) is not None:
        return replace(of_job, config=begun[-1].config) if begun else of_job
    return begun[-1] if begun else None


def _unnoted_inputs(entry: Entry, entries: Mapping[str, Entry]) -> dict[str, str | None]:
    """Return digests of inputs that Snakemake's note has none of, if they have not changed since the job began."""
    began = float(entry.record.get("starttime") or 0.0)
    made = {path: entries.get(path) for path, said in entry.made_from.items() if said is None}
    return {path: one.sha256 if one and one.mtime_ns / 1e9 <= began else None for path, one in made.items()}


def _gone(kept: Mapping[str, Entry], before: Mapping[str, Entry]) -> dict[str, Entry]:
    """Return the entries of files that are no more, but that present ones were made from, directly or not."""
    found: dict[str, Entry] = {}
    todo = list(kept.values())
    while todo:
        for path, sha256 in todo.pop().made_from.items():
            entry = before.get(path)
            if path not in kept and path not in found and entry is not None and entry.sha256 == sha256:
                found[path] = entry
                todo.append(entry)
    return found


def _is_damaged(path: Path, key: str, notes: Path, entry: Entry | None, note: dict[str, Any]) -> bool:
    """Return whether a file with the time of its job has another size than it had, or is new and not as written."""
    if entry is not None and entry.record == note:
        return entry.size != path.stat().st_size
    written = written_digest(notes, key)
    return not is_whole(path) or (written is not None and digest_of_file(path) != written)


def is_whole(path: Path) -> bool:
    """Return whether a file that can tell is whole: Parquet by its footer, JSON by all of it."""
    try:
        if path.suffix == ".parquet":
            require_whole(path)
        return path.suffix != ".json" or is_whole_document(path)
    except OSError as error:
        raise unreadable(path, error) from error
    except ValueError:
        return False


def _read_entry(said: Any) -> Entry:
    """Return an entry as a line tells it; TypeError if a part of it is not of the kind that it has to be."""
    entry = Entry(**said)
    digests = [sha256 for sha256 in entry.inputs.values() if sha256 is not None]
    _require_all(str, [entry.path, entry.sha256, entry.circumstances, *entry.inputs, *digests])
    parts = PurePosixPath(entry.path).parts
    if len(parts) < 2 or ".." in parts or entry.path.startswith("/"):
        raise TypeError("no entry: it is of no file below a folder of results")
    if not (_is_time(entry.mtime_ns / 1e9) and type(entry.mtime_ns) is int and type(entry.size) is int):
        raise TypeError("no entry: size and time are whole numbers")
    if not _is_note(entry.record):
        raise TypeError("no entry: its record is no note of Snakemake's")
    return entry


def _read_code(said: Any) -> dict[str, dict[str, str]]:
    """Return the definitions of some code as a line tells them; TypeError if they are not text."""
    definitions: dict[str, str] = dict(said["definitions"])
    _require_all(str, [said["code"], *definitions, *definitions.values()])
    return {said["code"]: definitions}


def _require_all(kind: type, values: Iterable[object]) -> None:
    """Raise a TypeError if a part of a line is not of the kind that it has to be."""
    if not all(isinstance(value, kind) for value in values):
        raise TypeError(f"a part of it is no {kind.__name__}")


def _is_note(value: Any) -> bool:
    """Return whether the parts that are looked at here are of the kind that they have in Snakemake's notes."""
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
    """Return whether a value is in seconds since 1970, or before, of a year that a date can have (5 to 9987)."""
    return type(value) in (int, float) and -62_000_000_000 < value < 253_000_000_000


def _write(path: Path, ledger: Ledger) -> None:
    """Write a ledger; of a longer one that it takes the place of, the longest is kept beside it (`BEFORE`)."""
    described = [{"circumstances": asdict(ledger.circumstances[digest])} for digest in sorted(ledger.circumstances)]
    entries = [asdict(ledger.entries[key]) for key in sorted(ledger.entries)]
    code = [{"code": digest, "definitions": ledger.code[digest]} for digest in sorted(ledger.code)]
    lines = [*described, *code, *entries]
    old, kept = (_text_of(each) for each in (path, path.with_name(BEFORE)))
    if len(lines) < old.count("\n") >= kept.count("\n"):
        write_text(path.with_name(BEFORE), old)
    write_text(path, "".join(map(json_line, lines)))


def _note_path(folder: Path, key: str) -> Path:
    code = urlsafe_b64encode(key.encode()).decode()
    parts = [code[start : start + _NAME_LIMIT] for start in range(0, len(code), _NAME_LIMIT)]
    return folder.joinpath(*(f"@{part}" for part in parts[:-1]), parts[-1])


def _write_note(folder: Path, key: str, note: dict[str, Any]) -> None:
    write_text(_note_path(folder, key), json.dumps(note))


def _text_of(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _value(key: str, text: str) -> str:
    """Return the first value of a key in lines `key : value`."""
    found = re.search(rf"^{key}\s*:[ \t]*(.*)$", text, re.MULTILINE)
    return found[1].strip() if found else ""
