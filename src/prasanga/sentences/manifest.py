"""What the files of a corpus hold, told by digests that are remembered as long as size and time of a file stay.

A corpus of gigabytes cannot be read whenever a run is planned, and its files' times say little: a copy, a
checkout or a `touch` changes them and nothing else. So the jobs depend on a digest of the content. The manifest
keeps it with the size and time of the file, which is read again only when one of these is another. Of a large file it
keeps the places where it can be cut as well, which are found in the same reading (`prasanga.sentences.parts`).
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import xxhash

from prasanga.base.documents import read_document, write_document
from prasanga.base.errors import InputError, open_regular
from prasanga.base.progress import BYTES, progress
from prasanga.sentences.parts import Cut, Scanner, is_cut
from prasanga.sentences.remote import RemoteFile, find_remote, is_remote

_PIECE = 8 << 20
_THREADS = 4
_ALWAYS = ("size", "mtime_ns", "digest")
_WORTH_A_LINE = 10**9  # bytes to read, some seconds

logger = logging.getLogger(__name__)


class _Readable(Protocol):
    """What is asked of a `prasanga.sentences.files.Shard`."""

    @property
    def path(self) -> str: ...
    @property
    def format(self) -> str: ...
    @property
    def inflation(self) -> int: ...


@dataclass(frozen=True)
class Entry:
    """A file as it was when it was read.

    Attributes:
        size: bytes.
        mtime_ns: time in nanoseconds.
        digest: xxh3_128 of its content, 32 hex digits.
        cuts: by format, the places where it can be cut; of a large file alone.
        found_by: of a file behind a URL, the pattern that it fits. Its time is 0, its digest one of what the server
            tells of it.
    """

    size: int
    mtime_ns: int
    digest: str
    cuts: dict[str, str] = field(default_factory=dict)
    found_by: str = ""

    def fits(self, status: os.stat_result) -> bool:
        """Return whether size and time are still these."""
        return (self.size, self.mtime_ns) == (status.st_size, status.st_mtime_ns)


def update_manifest(manifest: str | Path, files: Iterable[str | Path]) -> dict[str, str]:
    """Return the digest of each file, by its path as given; those not known yet are read and remembered.

    Args:
        manifest: the JSON file in which digests are remembered. It is written whole or not at all, and only if there is
            something new; entries of other files stay. Where it cannot be written, digests are not remembered.
        files: corpus files; one that is named several times is read once.

    Raises:
        InputError: if a file is absent, cannot be read, or changes while it is read. What was learnt of the other files
            is remembered all the same.
    """
    return {path: entry.digest for path, entry in _entries(Path(manifest), map(str, files), {}).items()}


def remote_files(manifest: str | Path | None, pattern: str, *, look: bool) -> list[RemoteFile]:
    """Return the files that a URL names (`find_remote`), and remember them.

    Args:
        manifest: as of `update_manifest`; None for nothing that is remembered.
        pattern: the URL.
        look: whether to ask the server; else, what is remembered is taken.
    """
    entries = _read(Path(manifest)) if manifest else {}
    known = {url: entry for url, entry in entries.items() if entry.found_by == pattern}
    if known and not look:
        return [RemoteFile(url, entry.size, entry.digest) for url, entry in sorted(known.items())]
    files = find_remote(pattern)
    now = {url: entry for url, entry in entries.items() if url not in known}
    for url, size, digest in files:
        same = url in known and known[url].digest == digest
        now[url] = known[url] if same else Entry(size, 0, digest, found_by=pattern)
    if manifest and now != entries:
        _write(Path(manifest), now)
    return files


def cuts_of(manifest: str | Path | None, files: Iterable[_Readable]) -> dict[str, list[Cut]]:
    """Return where files can be cut, by path, in order; what is not remembered is looked for, in the whole file.

    Args:
        manifest: as of `update_manifest`; None for nothing that is remembered.
        files: large ones. Those whose format is never cut are left out.

    Raises:
        InputError: as `update_manifest`.
    """
    cut = {file.path: file for file in files if is_cut(file.path, file.format)}
    if not cut:
        return {}
    entries = _entries(Path(manifest) if manifest else None, cut, cut)
    found = {path: entries[path].cuts[file.format].split() for path, file in cut.items()}
    return {path: [Cut(*map(int, each.split(","))) for each in cuts] for path, cuts in found.items()}


def _entries(manifest: Path | None, files: Iterable[str], cut: Mapping[str, _Readable]) -> dict[str, Entry]:
    """Return what is known of files, and of those in `cut` where they can be cut."""
    paths = list(dict.fromkeys(files))
    entries = _read(manifest) if manifest else {}
    sizes = dict[str, int]()

    def is_known(path: str) -> bool:
        entry = entries.get(path)
        if not is_remote(path):  # of another file `remote_files` has looked
            status = _status(path)
            sizes[path] = status.st_size
            if entry is None or not entry.fits(status):
                return False
        return entry is not None and (path not in cut or cut[path].format in entry.cuts)

    unknown = [path for path in paths if not is_known(path)]
    size = sum(sizes.get(path, 0) for path in unknown)
    if size > _WORTH_A_LINE:
        logger.info("Reading %d corpus file(s), %.1f GB, for the digests in %s.", len(unknown), size / 1e9, manifest)
    known, failures = dict(entries), []
    pool = ThreadPoolExecutor(_THREADS)
    try:
        with progress("corpus files read for their digests", size, BYTES) as read:
            jobs = [(path, pool.submit(_digested, path, read.advance, cut.get(path))) for path in unknown]
            for path, future in jobs:
                try:
                    known[path] = future.result()
                except InputError as error:
                    failures.append(error)
    finally:  # an interrupt, too, keeps what is known by then
        pool.shutdown(cancel_futures=True)
        if known != entries and manifest:
            _write(manifest, known)
    if failures:
        raise failures[0]
    return {path: known[path] for path in paths}


@contextmanager
def as_planned(path: str | Path, digest: str, manifest: str | Path) -> Iterator[None]:
    """Hold that a corpus file is the one that a run was planned with, before and after it is read in the block.

    Args:
        path: the file.
        digest: from `update_manifest`, when the run was planned.
        manifest: where it is remembered; the file is read again only if its size or time is another.

    Raises:
        InputError: if it is another file by now.
    """
    for place in ("before", "after"):
        entry = None if is_remote(str(path)) else _read(Path(manifest)).get(str(path))
        if entry is None or not entry.fits(_status(str(path))):
            entry = _digested(str(path))
        if entry.digest != digest:
            raise InputError(
                f"{path}: another file than when the run was planned. Let it be finished first, and run again."
            )
        if place == "before":
            yield


def _digested(path: str, read: Callable[[int], object] = lambda _: None, cut: _Readable | None = None) -> Entry:
    """Read a file, and tell `read` how much; one that changes meanwhile is read once more."""
    if is_remote(path):
        ((_, size, told),) = find_remote(path)
        cuts = _written(Scanner(path, cut.format, cut.inflation), cut.format) if cut else {}
        return Entry(size, 0, told, cuts, path)
    for _ in range(2):
        before, digest = _status(path), xxhash.xxh3_128()
        scanner = Scanner(path, cut.format, cut.inflation) if cut else None
        try:
            with open_regular(path) as file:
                while piece := file.read(_PIECE):
                    digest.update(piece)
                    if scanner:
                        scanner.add(piece)
                    read(len(piece))
        except OSError as error:
            raise _unreadable(path, error) from None
        cuts = _written(scanner, cut.format) if cut and scanner else {}
        entry = Entry(before.st_size, before.st_mtime_ns, digest.hexdigest(), cuts)
        if entry.fits(_status(path)):
            return entry
    raise InputError(f"{path}: this corpus file changes while it is read. Start again when it is complete.")


def _written(scanner: Scanner, file_format: str) -> dict[str, str]:
    return {file_format: " ".join(",".join(map(str, cut)) for cut in scanner.cuts())}


def _status(path: str) -> os.stat_result:
    try:
        return os.stat(path)  # noqa: PTH116 - a hundred thousand times
    except OSError as error:
        raise _unreadable(path, error) from None


def _unreadable(path: str, error: OSError) -> InputError:
    return InputError(
        f"{path}: this corpus file cannot be read ({error.strerror or error}). Put it back, or take it out of"
        " `corpus.texts`."
    )


def _read(manifest: Path) -> dict[str, Entry]:
    """Return the entries; none of a manifest that is absent or damaged."""
    try:
        if not manifest.exists():
            return {}
        entries = {str(path): Entry(**entry) for path, entry in read_document(manifest)["files"].items()}
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        logger.warning(
            "%s: damaged (%s: %s); the corpus files are read and it is made again.",
            manifest,
            type(error).__name__,
            error,
        )
        return {}
    return entries


def _plain(entry: Entry) -> dict[str, object]:
    return {key: value for key, value in vars(entry).items() if value or key in _ALWAYS}


def _write(manifest: Path, entries: dict[str, Entry]) -> None:
    files = {path: _plain(entries[path]) for path in sorted(entries)}
    try:
        write_document(manifest, {"files": files})
    except (InputError, OSError, UnicodeEncodeError) as error:  # the last of a name that is no UTF-8
        logger.warning("Digests of the corpus are not remembered: %s", error)
