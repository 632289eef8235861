"""What the files of a corpus hold, told by digests that are remembered as long as size and time of a file stay.

A corpus of gigabytes cannot be read whenever a run is planned, and its files' times say little: a copy, a checkout or a
`touch` changes them and nothing else. So the jobs depend on a digest of the content. The manifest keeps it with the
size and time of the file, which is read again only when one of these is another.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

import xxhash

from prasanga.documents import read_document, write_document
from prasanga.errors import InputError
from prasanga.progress import BYTES, progress

_PIECE = 8 << 20
_THREADS = 4
_WORTH_A_LINE = 10**9  # bytes to read, some seconds

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Entry:
    """A file as it was when it was read: bytes, time in nanoseconds, and xxh3_128 of its content (32 hex digits)."""

    size: int
    mtime_ns: int
    digest: str

    def fits(self, status: os.stat_result) -> bool:
        """Whether size and time are still these."""
        return (self.size, self.mtime_ns) == (status.st_size, status.st_mtime_ns)


def update_manifest(manifest: str | Path, files: Iterable[str | Path]) -> dict[str, str]:
    """The digest of each file, by its path as given; those not known yet are read and remembered.

    Args:
        manifest: the JSON file in which digests are remembered. It is written whole or not at all, and only if there is
            something new; entries of other files stay. Where it cannot be written, digests are not remembered.
        files: corpus files; one that is named several times is read once.

    Raises:
        InputError: if a file is absent, cannot be read, or changes while it is read. What was learnt of the other files
            is remembered all the same.
    """
    manifest, paths = Path(manifest), list(dict.fromkeys(str(path) for path in files))
    entries = _read(manifest)
    found = {path: _status(path) for path in paths}
    unknown = [path for path in paths if path not in entries or not entries[path].fits(found[path])]
    size = sum(found[path].st_size for path in unknown)
    if size > _WORTH_A_LINE:
        logger.info("Reading %d corpus file(s), %.1f GB, for the digests in %s.", len(unknown), size / 1e9, manifest)
    known, failures = dict(entries), []
    pool = ThreadPoolExecutor(_THREADS)
    try:
        with progress("corpus files read for their digests", size, BYTES) as read:
            for path, future in [(path, pool.submit(_digested, path, read.advance)) for path in unknown]:
                try:
                    known[path] = future.result()
                except InputError as error:
                    failures.append(error)
    finally:  # an interrupt, too, keeps what is known by then
        pool.shutdown(cancel_futures=True)
        if known != entries:
            _write(manifest, known)
    if failures:
        raise failures[0]
    return {path: known[path].digest for path in paths}


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
        entry = _read(Path(manifest)).get(str(path))
        if entry is None or not entry.fits(_status(str(path))):
            entry = _digested(str(path))
        if entry.digest != digest:
            raise InputError(
                f"{path}: another file than when the run was planned. Let it be finished first, and run again."
            )
        if place == "before":
            yield


def _digested(path: str, read: Callable[[int], object] = lambda _: None) -> Entry:
    """Read a file, and tell `read` how much; one that changes meanwhile is read once more."""
    for _ in range(2):
        before, digest = _status(path), xxhash.xxh3_128()
        try:
            with Path(path).open("rb", buffering=0) as file:
                while piece := file.read(_PIECE):
                    digest.update(piece)
                    read(len(piece))
        except OSError as error:
            raise _unreadable(path, error) from None
        entry = Entry(before.st_size, before.st_mtime_ns, digest.hexdigest())
        if entry.fits(_status(path)):
            return entry
    raise InputError(f"{path}: this corpus file changes while it is read. Start again when it is complete.")


def _status(path: str) -> os.stat_result:
    try:
        return Path(path).stat()
    except OSError as error:
        raise _unreadable(path, error) from None


def _unreadable(path: str, error: OSError) -> InputError:
    return InputError(
        f"{path}: this corpus file cannot be read ({error.strerror or error}). Put it back, or take it out of"
        " `corpus.texts`."
    )


def _read(manifest: Path) -> dict[str, Entry]:
    """The entries; none of a manifest that is absent or damaged."""
    try:
        if not manifest.exists():
            return {}
        entries = {str(path): Entry(**entry) for path, entry in read_document(manifest)["files"].items()}
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        logger.warning(
            "%s: damaged (%s: %s); the corpus files are read and it is made anew.",
            manifest,
            type(error).__name__,
            error,
        )
        return {}
    return entries


def _write(manifest: Path, entries: dict[str, Entry]) -> None:
    files = {path: asdict(entries[path]) for path in sorted(entries)}
    try:
        write_document(manifest, {"files": files})
    except (InputError, OSError) as error:
        logger.warning("Digests of the corpus are not remembered: %s", error)
