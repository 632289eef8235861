"""What the files of a corpus hold, told by digests that are remembered as long as size and time of a file stay.

A corpus of gigabytes cannot be read whenever a run is planned, and its files' times say little: a copy, a
checkout or a `touch` changes them and nothing else. So the jobs depend on a digest of the content. The manifest
keeps it with the size and time of the file, which is read again only when one of these is another. Of a large file it
keeps the places where it can be cut as well, which are found in the same reading (`Scanner`).
"""

from __future__ import annotations

import logging
import os
import re
import struct
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple, Protocol

import xxhash
import zstandard

from prasanga.base.documents import read_document, write_document
from prasanga.base.errors import InputError, open_regular
from prasanga.base.progress import BYTES, progress
from prasanga.sentences.columns import arrow_batches, row_groups
from prasanga.sentences.corpus import open_decompressed, size_of_member
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
        files = read_document(manifest)["files"] if manifest.exists() else {}
        return {str(path): Entry(**entry) for path, entry in files.items()}
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        what = type(error).__name__
        logger.warning("%s: damaged (%s: %s); the corpus files are read and it is made again.", manifest, what, error)
        return {}


def _write(manifest: Path, entries: dict[str, Entry]) -> None:
    files = {
        path: {key: value for key, value in vars(entry).items() if value or key in _ALWAYS}
        for path, entry in sorted(entries.items())
    }
    try:
        write_document(manifest, {"files": files})
    except (InputError, OSError, UnicodeEncodeError) as error:  # the last of a name that is no UTF-8
        logger.warning("Digests of the corpus are not remembered: %s", error)


# --------------------
# Where a large file may be cut, so that several jobs read it: members, frames, lines of JSON, row groups, batches.
#
# Whoever reads a file for its digest passes the bytes on to a `Scanner`, which looks for beginnings in them without
# decompressing anything: of members of gzip (bgzip, and files that were joined), whose ends tell what they come to, and
# of frames of zstandard, which tell it themselves. Only what does not tell it is decompressed, and so are JSON lines,
# whose records are counted since they have numbers.
#
# A beginning is a few bytes, which a compressed text might have by chance. So a part holds the next one's beginning
# against what it reads (`open_decompressed`): a file is read as it is, or refused.

_NEAREST = 1 << 17  # bytes of the file between two places that are remembered
_MOST = 4_096  # such places
_AHEAD = 1 << 18  # bytes after a beginning by which it is told from chance: two blocks of zstandard
_TRIED = 1 << 10  # the same of gzip
_TOLD = (1 << 32) // 20  # a member tells its text's size up to 4 GiB; text does not shrink to less than a twentieth
_TEXT_PIECE = 1 << 20
_BLOCKED = b"\x06\0BC\x02\0"  # a member that tells its own size, as bgzip writes them
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_BLANK_LINE = re.compile(rb"\n[ \t\r\x0b\x0c]*(?=\n)")


class Cut(NamedTuple):
    """A place at which a part of a file may begin.

    Attributes:
        place: bytes of the file before it.
        start: the same in what `Shard.start` counts: bytes of the text, row groups, batches.
        first: records or rows before it, where those have numbers.
        lines: lines before it, in JSON lines.
        origin: where the text of the member at `place` begins, in a compressed file.
    """

    place: int
    start: int
    first: int = 0
    lines: int = 0
    origin: int = 0


def is_cut(path: str, file_format: str) -> bool:
    """Return whether a file of this name and format is cut where its content allows it."""
    ending = Path(path).suffix.lower()
    if file_format in ("text", "jsonl"):
        return ending in (".gz", ".zst") or (ending != ".xz" and file_format == "jsonl")
    return file_format in ("parquet", "dataset")


def chosen(cuts: Sequence[Cut], size: int, part_bytes: int) -> list[Cut]:
    """Return those at which a file of `size` bytes is cut, for parts of about `part_bytes`."""
    last = max(1, (size + part_bytes // 2) // part_bytes) - 1
    found: list[Cut] = []
    done = 0  # parts that end before; not counted one by one, since a server may say any size
    for cut in cuts:
        reached = min(cut.place // part_bytes, last)
        if reached > done:
            found.append(cut)
        done = reached
    return found


def points_of(cuts: Sequence[Cut], begin: Cut | None, end: Cut | None) -> list[tuple[int, int]]:
    """Return the members of a compressed file that a part needs: its own, the one before, and the one that ends it."""
    found = [cuts[max(0, cuts.index(begin) - 1)], begin] if begin else []
    return [(cut.place, cut.origin) for cut in dict.fromkeys([*found, *([end] if end else [])])]


class Scanner:
    """Finds the cuts of a file, whose bytes `add` gets in order."""

    def __init__(self, path: str, file_format: str, inflation: int) -> None:
        self._path, self._format, self._inflation = path, file_format, inflation
        ending = Path(path).suffix.lower()
        self._members = _Members(ending) if ending in (".gz", ".zst") else None
        self._stretches: list[_Stretch] | None = [] if file_format == "jsonl" and self._members is None else None
        self._size = 0

    def add(self, piece: bytes) -> None:
        """Take the bytes that follow."""
        self._size += len(piece)
        if self._members is not None:
            self._members.add(piece)
        elif self._stretches is not None:
            self._stretches.append(_stretch(piece, self._size == len(piece)))

    def cuts(self) -> list[Cut]:
        """Return the cuts, once all bytes are added; none of a file that its own reader will refuse."""
        distance = max(_NEAREST, self._size // _MOST)
        try:
            if self._members is not None:
                cuts = self._cuts_of_members(self._members.finish(self._size), distance)
                return cuts if self._format == "text" else self._with_records(cuts)
            if self._stretches is not None:
                begins = [0, *accumulate(stretch.size for stretch in self._stretches)][:-1]
                cuts = _with_records([Cut(place, place) for place in begins], self._stretches)
                return cuts[:: -(-len(cuts) // _MOST) or 1]
            places = row_groups(self._path) if self._format == "parquet" else arrow_batches(self._path)
        except InputError:
            return []
        return [Cut(place, number, rows) for number, (place, rows) in enumerate(places)]

    def _cuts_of_members(self, members: list[tuple[int, int | None]], distance: int) -> list[Cut]:
        """Return the first member, and those at some distance from each other, with the text that comes before them."""
        cuts: list[Cut] = []
        text = 0
        for place, size in members:
            if not cuts or place >= cuts[-1].place + distance:
                cuts.append(Cut(place, text, origin=text))
            if size is None:
                size = size_of_member(self._path, place, self._inflation)
            text += size
        return cuts

    def _with_records(self, cuts: list[Cut]) -> list[Cut]:
        ends = [*(cut.origin for cut in cuts[1:]), None]
        with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
            return _with_records(cuts, list(pool.map(self._counted, cuts, ends)))

    def _counted(self, cut: Cut, end: int | None) -> _Stretch:
        """Count the records of the text from a cut to `end`."""
        found, at = _stretch(b"", False), cut.origin
        points = [(cut.place, cut.origin)]
        with open_decompressed(self._path, inflation=self._inflation, start=at, points=points) as stream:
            while piece := stream.read(_TEXT_PIECE if end is None else min(_TEXT_PIECE, end - at)):
                found = found.joined(_stretch(piece, at == 0))
                at += len(piece)
        return found


class _Stretch(NamedTuple):
    """What a stretch of text holds; it may begin and end within a line.

    Attributes:
        size: bytes.
        head: bytes to the end of its first line, if that is in it; else 0.
        head_text: whether those are more than white space.
        lines: lines that begin and end in it, but for the first.
        records: those of them that are not blank.
        tail: bytes after the last end of a line.
        tail_text: whether those are more than white space.
    """

    size: int
    head: int
    head_text: bool
    lines: int
    records: int
    tail: int
    tail_text: bool

    def joined(self, other: _Stretch) -> _Stretch:
        """Return this and the one that follows it as one."""
        size = self.size + other.size
        if not other.head:
            return self._replace(size=size, tail=self.tail + other.tail, tail_text=self.tail_text or other.tail_text)
        head_text = self.tail_text or other.head_text  # of the line that ends first in the other
        if not self.head:
            return other._replace(size=size, head=self.size + other.head, head_text=head_text)
        lines, records = self.lines + 1 + other.lines, self.records + head_text + other.records
        return self._replace(size=size, lines=lines, records=records, tail=other.tail, tail_text=other.tail_text)


def _stretch(piece: bytes, is_first: bool) -> _Stretch:
    head, last = piece.find(b"\n") + 1, piece.rfind(b"\n") + 1
    begin = len(_BYTE_ORDER_MARK) if is_first and piece.startswith(_BYTE_ORDER_MARK) else 0
    lines = piece.count(b"\n") - 1 if head else 0
    blank = len(_BLANK_LINE.findall(piece, head - 1, last)) if lines else 0
    head_text = bool(head and piece[begin:head].strip())
    tail_text = bool(piece[max(last, begin) :].strip())
    return _Stretch(len(piece), head, head_text, lines, lines - blank, len(piece) - last, tail_text)


def _with_records(cuts: list[Cut], stretches: list[_Stretch]) -> list[Cut]:
    """Return the cuts moved to the beginning of a line each, with the records and lines before it."""
    found: list[Cut] = []
    before = _stretch(b"", False)
    for cut, stretch in zip(cuts, stretches, strict=True):
        first, lines = (before.head_text + before.records, 1 + before.lines) if before.head else (0, 0)
        if not before.tail:
            found.append(cut._replace(first=first, lines=lines))
        elif stretch.head:
            begun = before.tail_text or stretch.head_text
            found.append(cut._replace(start=cut.start + stretch.head, first=first + begun, lines=lines + 1))
        before = before.joined(stretch)
    return found


class _Members:
    """Where the members of a file begin, and what they come to."""

    def __init__(self, ending: str) -> None:
        self._is_gzip = ending == ".gz"
        self._mark = b"\x1f\x8b\x08" if self._is_gzip else b"\x28\xb5\x2f\xfd"
        self._begins = _begins_gzip if self._is_gzip else _begins_zstandard
        self._ahead = _TRIED if self._is_gzip else _AHEAD
        self._found: list[tuple[int, int | None]] = []  # where one begins, and what tells of its size
        self._held, self._at = b"", 0  # bytes not looked at, and where they begin; before them the last four
        self._before = b""

    def add(self, piece: bytes, *, last: bool = False) -> None:
        """Look at all bytes that are followed by enough others."""
        data = self._before + self._held + piece
        begin = len(self._before)
        until = len(data) if last else max(begin, len(data) - self._ahead)
        at = data.find(self._mark, begin, until + len(self._mark) - 1)
        while 0 <= at < until:
            if self._begins(data[at : at + self._ahead]):
                told = struct.unpack("<I", data[at - 4 : at])[0] if self._is_gzip and at >= 4 else None
                self._found.append((self._at + at - begin, told if self._is_gzip else _told_by_frame(data[at:][:18])))
            at = data.find(self._mark, at + 1, until + len(self._mark) - 1)
        self._at += until - begin
        self._before, self._held = data[max(0, until - 4) : until], data[until:]

    def finish(self, size: int) -> list[tuple[int, int | None]]:
        """Return where each member begins, and the bytes of its text; None where that is not told."""
        self.add(b"", last=True)
        if not self._is_gzip:
            return self._found
        ends = [*self._found[1:], (size, None)]
        return [
            (place, told if told and after - place <= _TOLD else None)
            for (place, _), (after, told) in zip(self._found, ends, strict=False)
        ]


def _begins_gzip(head: bytes) -> bool:
    if len(head) < 18 or head[3] > 31:
        return False
    if head[3] == 4 and head[10:16] == _BLOCKED:
        return True
    try:
        zlib.decompressobj(wbits=31).decompress(head, 1 << 14)
    except zlib.error:
        return False
    return True


def _begins_zstandard(head: bytes) -> bool:
    try:
        zstandard.ZstdDecompressor(max_window_size=1 << 31).decompressobj().decompress(head)
    except zstandard.ZstdError:
        return False
    return True


def _told_by_frame(head: bytes) -> int | None:
    size: int = zstandard.get_frame_parameters(head).content_size
    return None if size == zstandard.CONTENTSIZE_UNKNOWN else size
