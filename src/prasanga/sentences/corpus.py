"""Corpus files as bytes and lines, plain or compressed, in constant memory: read to their true end, or refused.

The readers at hand end silently where a compressed file was cut off between two blocks (zstandard), or where
something else follows the data (lzma). A study on three quarters of a corpus looks like a study on all of it; so
one loop decompresses all three formats and knows whether the last member was whole. Every failure is an
`InputError` that names the file and how far it was read.

A few bytes of an archive can stand for any number of others, so a file that comes to more than so many times its
size is given up (`INFLATION`).
"""

from __future__ import annotations

import io
import json
import lzma
import re
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, BinaryIO, Literal, NamedTuple

import zstandard

from prasanga.base.errors import InputError, reason, regular

_BUFFER = 1 << 20
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
# Compressed bytes at a time. They become 16 KB as a rule, and at most 128 MB (zstandard's densest block).
_PIECE = 1 << 12
# Windows of up to 2 GB (`zstd --long=31`), which large public corpora are compressed with; the default stops at 128 MB.
_LARGEST_WINDOW = 1 << 31
_MOST_MEMORY = 1 << 30  # of xz, whose strongest level takes 65 MB


class _Compression(NamedTuple):
    """What reads one member, and what may stand between two of them."""

    member: Callable[[], Any]
    padding: bytes


# What the three libraries make for one member, frame or stream has `decompress`, `eof` and `unused_data` in common.
_COMPRESSIONS = {
    ".gz": _Compression(lambda: zlib.decompressobj(wbits=31), b"\0"),  # 31: with gzip's header and checksum
    ".zst": _Compression(lambda: zstandard.ZstdDecompressor(max_window_size=_LARGEST_WINDOW).decompressobj(), b""),
    ".xz": _Compression(lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_MOST_MEMORY), b"\0"),
}

COMPRESSED = tuple(_COMPRESSIONS)
"""The endings of compressed files."""

INFLATION = 200
"""How many times its size on the disk a compressed file may come to by default; text comes to 3 to 20 times."""

HARMLESS = 100_000_000
"""Bytes that any file may come to, whatever its size."""


Points = Sequence[Sequence[int]]
"""Members of a compressed file at which reading may begin: byte of the file, byte of the text, in order."""

Told = Callable[[int], object] | None
"""What is told, whenever bytes have been read from the disk, how many."""


def open_decompressed(
    path: str | Path, read: Told = None, *, inflation: int = INFLATION, start: int = 0, points: Points = ()
) -> BinaryIO:
    """Open a file for reading, decompressed by its ending (`.gz`, `.zst`, `.xz`; anything else is plain).

    Several members (gzip), frames (zstandard) or streams (xz) are read as one text. A plain file can be sought in, a
    compressed one cannot. Memory holds about a megabyte, and the window of a zstandard frame.

    Args:
        path: the file.
        read: told, whenever bytes have been read from the disk, how many (compressed ones, if the file is).
        inflation: how many times its size on the disk a compressed file may come to; `HARMLESS` bytes it always may.
        start: the byte of the text at which to begin; what comes before it from the nearest of `points` on is passed
            over.
        points: members of a compressed file (`prasanga.sentences.manifest`). They are held against what is read.

    Raises:
        InputError: at once for a file that is absent or may not be read; while reading for one that is truncated,
            damaged, followed by something else, not what its ending says, larger than `inflation` allows, or gone with
            its disk, and for `points` that are none.
    """
    path = Path(path)
    compression = _COMPRESSIONS.get(path.suffix.lower())
    try:
        plain = _PlainFile(path, read)
    except OSError as error:
        raise _unreadable(path, error) from None
    if compression is None:
        plain.seek(start)
        return io.BufferedReader(plain, _BUFFER)
    return io.BufferedReader(_Decompressed(path, plain, compression, inflation, start, points), _BUFFER)


def size_of_member(path: str | Path, place: int, times: int) -> int:
    """Return the bytes of the text of the member that begins at a byte of a compressed file.

    Raises:
        InputError: it is damaged, or comes to more than `times` the size of the file.
    """
    path = Path(path)
    member, inflation = _COMPRESSIONS[path.suffix.lower()].member(), Inflation(path, path.stat().st_size, times)
    try:
        with _PlainFile(path) as file:
            file.seek(place)
            while not member.eof and (piece := file.read(_PIECE)):
                inflation.add(len(member.decompress(piece)))
    except (zlib.error, zstandard.ZstdError) as error:
        raise _damaged(path, inflation.position, reason(error)) from None
    return inflation.position


class Inflation:
    """How much text a file has given, and how much it may."""

    def __init__(self, path: Path | str, size: int, times: int = INFLATION, begin: int = 0) -> None:
        self._path, self._size, self._times = path, size, times
        self._most = begin + max(HARMLESS, size * times)
        self.position = begin

    def add(self, size: int) -> None:
        """Count `size` bytes more.

        Raises:
            InputError: they are too many.
        """
        self.position += size
        if self.position > self._most:
            raise InputError(
                f"{self._path}: reading stopped at byte {self.position} of the decompressed text: the file has"
                f" {self._size} bytes on the disk, and may come to {self._times} times as many (or {HARMLESS} bytes)."
                " It may be an archive bomb, which inflates without end. If you know that it is not, write e.g."
                f" `inflation: {10 * self._times}` under its entry of `corpus.texts`; vectors: decompress the file."
            )


LONGEST_LINE = 1 << 26
"""Bytes of the longest line that is read: a line is held in memory, several times over."""


def too_long(path: Path, offset: int) -> InputError:
    """Return what to raise for a line of more than `LONGEST_LINE` bytes that begins at `offset`."""
    return InputError(
        f"{path}: the line that begins at byte {offset} of the decompressed text has more than {LONGEST_LINE} bytes."
        " Break it into lines, such as a paragraph each; a JSON file needs one object a line."
    )


def not_utf8(path: Path, at: int, line: int, error: UnicodeDecodeError) -> InputError:
    """Return what to raise for a line that goes wrong at the byte `at` of the whole text."""
    shown = error.object[error.start : error.start + 8].hex(" ")
    return InputError(
        f"{path}: not UTF-8 at byte {at} of the decompressed text (line {line}): found the bytes {shown}."
        " Convert the file to UTF-8, or write `corpus.errors: skip-line` to leave such lines out and count them."
    )


class _PlainFile(io.FileIO):
    """A file whose failures to be read (a disk that went away) are told as InputErrors."""

    def __init__(self, path: Path, read: Told = None) -> None:
        super().__init__(path, opener=regular)
        self._read = read

    def readinto(self, buffer: Any, /) -> int | None:
        try:
            size = super().readinto(buffer)
        except OSError as error:
            raise _unreadable(Path(str(self.name)), error) from None
        if size and self._read is not None:
            self._read(size)
        return size

    def readall(self) -> bytes:
        try:
            return super().readall()
        except OSError as error:
            raise _unreadable(Path(str(self.name)), error) from None


class _Decompressed(io.RawIOBase):
    """The decompressed text of a file, as a raw stream."""

    def __init__(
        self, path: Path, file: io.FileIO, compression: _Compression, times: int, start: int, points: Points
    ) -> None:
        self._file = file
        place, origin = max(((place, origin) for place, origin in points if origin <= start), default=(0, 0))
        file.seek(place)
        inflation = Inflation(path, path.stat().st_size, times, origin)
        later = [(to, text) for to, text in points if to > place]
        self._texts = _decompress(path, io.BufferedReader(file, _BUFFER), compression, inflation, later)
        self._passed_over = start - origin
        self._rest = memoryview(b"")

    def readable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._file.fileno()

    def readinto(self, buffer: Any, /) -> int:
        while not self._rest or self._passed_over:
            self._rest = self._rest or memoryview(next(self._texts, b""))
            if not self._rest:
                return 0
            passed = min(self._passed_over, len(self._rest))
            self._rest, self._passed_over = self._rest[passed:], self._passed_over - passed
        taken = min(len(buffer), len(self._rest))
        buffer[:taken] = self._rest[:taken]
        self._rest = self._rest[taken:]
        return taken

    def close(self) -> None:
        self._file.close()
        super().close()


def _decompress(
    path: Path, file: BinaryIO, compression: _Compression, inflation: Inflation, points: list[tuple[int, int]]
) -> Iterator[bytes]:
    """Yield the decompressed text in pieces, none of them empty."""
    member: Any = None
    try:
        while piece := file.read(_PIECE):
            while piece:
                if member is None:
                    piece = piece.lstrip(compression.padding)
                    if not piece:
                        break
                    begin = (file.tell() - len(piece), inflation.position)
                    if points and begin[0] >= points[0][0] and begin != points.pop(0):
                        raise _not_a_member(path, begin[0])
                    member = compression.member()
                text = member.decompress(piece)
                inflation.add(len(text))
                if points and inflation.position > points[0][1]:
                    raise _not_a_member(path, points[0][0])
                if text:
                    yield text
                piece = b""
                if member.eof:
                    piece, member = member.unused_data, None
    except (zlib.error, lzma.LZMAError, zstandard.ZstdError) as error:
        raise _damaged(path, inflation.position, reason(error)) from None
    if member is not None:
        raise _damaged(path, inflation.position, "the file ends before its compressed data do")
    if points:
        raise _not_a_member(path, points[0][0])


def _not_a_member(path: Path, place: int) -> InputError:
    return InputError(
        f"{path}: the part that was to begin at byte {place} of the file does not begin there. The file is damaged, or"
        " what looked like the beginning of a member of it is text: write `corpus.shard_megabytes` so large that the"
        " file is read whole."
    )


def _damaged(path: Path, position: int, why: str) -> InputError:
    return InputError(
        f"{path}: reading stopped at byte {position} of the decompressed text: {why}. The file is truncated or"
        " damaged, or is not what its ending says: fetch it again, or rename it."
    )


def _unreadable(path: Path, error: OSError) -> InputError:
    if isinstance(error, FileNotFoundError):
        return InputError(f"{path}: no such file. Correct `corpus.texts`, or put the file there.")
    return InputError(
        f"{path}: cannot be read ({error.strerror or error}). Is it a file that you may read, and is the disk it lies"
        " on still there?"
    )


# --------------------
# JSON that has the name of a text.


_HEAD = 1 << 16  # bytes
_LINES = 50
_MAY_BEGIN_JSON = (b"{", b"[", _BYTE_ORDER_MARK[:1], b" ", b"\t", b"\r", b"\n", b"")
_TOKENS = re.compile(
    r"""(?:\s|[]\[{}:,]|"(?:[^"\\]|\\.)*+"|-?\d[\d.eE+-]*|true|false|null|NaN|-?Infinity)*+("(?:[^"\\]|\\.)*+\\?)?""",
    re.DOTALL,
)
_KEY = re.compile(r'"\s*:')


def json_in_text(path: str | Path, inflation: int = INFLATION) -> Literal["lines", "other", ""]:
    """Return whether a file holds JSON, as far as its first 64 KB show.

    Args:
        path: a plain or compressed file (`open_decompressed`).
        inflation: see `open_decompressed`.

    Returns:
        `lines` if most lines are a JSON object each; `other` for other JSON, such as an array or an object over several
        lines; empty for text, also for text that begins with a bracket, and for a file that cannot be read.
    """
    try:
        if _first_byte(Path(path)) not in _MAY_BEGIN_JSON:
            return ""
        with open_decompressed(path, inflation=inflation) as stream:
            raw = stream.read(_HEAD)
    except (InputError, OSError):
        return ""  # the job that reads it says what is wrong
    head = raw.removeprefix(_BYTE_ORDER_MARK).decode(errors="replace").lstrip()
    if not head.startswith(("{", "[")):
        return ""
    lines = [line for line in head.split("\n") if line.strip()]
    if len(raw) == _HEAD:  # the last line, and the last token, may be cut
        lines = lines[:-1]
        head = head[: max(head.rfind(","), head.rfind("\n")) + 1] or head
    lines = lines[:_LINES]
    if 2 * sum(map(_is_object, lines)) > len(lines):
        return "lines"
    tokens = _TOKENS.fullmatch(head)
    # neither brackets alone nor a quote that is never closed is a sign of JSON
    if not tokens or '"' not in head or (tokens[1] and not _KEY.search(head)):
        return ""
    return "other" if lines or head.startswith("[") else "lines"


def _first_byte(path: Path) -> bytes:
    """Return the first byte of a text, none where it is not at hand; quickly, since a plan asks it of every file."""
    compression = _COMPRESSIONS.get(path.suffix.lower())
    with open(path, "rb", buffering=0, opener=regular) as file:
        piece: bytes = file.read(_PIECE if compression else 1)
    try:
        return compression.member().decompress(piece)[:1] if compression else piece
    except (zlib.error, lzma.LZMAError, zstandard.ZstdError):
        return b""


def _is_object(line: str) -> bool:
    try:
        return isinstance(json.loads(line, strict=False), dict)
    except (ValueError, RecursionError):
        return False


# --------------------
# Lines of text as people have it, plain or compressed, one by one in constant memory.
#
# The extraction reads the same lines in blocks (`prasanga.sentences.passages`), without making strings of them; this
# is for whoever wants the text itself, and says plainly what a line and a document are.
#
# A line ends at a line feed and nowhere else (a carriage return before it is dropped): U+2028, U+0085 and their
# like occur inside sentences, and who splits there tears them apart. Each line carries its byte offset in the
# decompressed source, which names it for good, however the work is divided.


Documents = Literal["blank-line", "line", "file"]
Errors = Literal["stop", "skip-line"]


class Line(NamedTuple):
    """A line that is not blank: its text, byte offset in the decompressed source, and the number of its document."""

    text: str
    offset: int
    document: int


@dataclass
class ReadingReport:
    """What was read: all lines and bytes of the source, blank and skipped lines included."""

    bytes: int = 0
    lines: int = 0
    skipped_lines: int = 0
    documents: int = 0

    def as_dict(self) -> dict[str, int]:
        """Return the counts by name."""
        return asdict(self)


def read_lines(
    path: str | Path,
    documents: Documents = "blank-line",
    errors: Errors = "stop",
    report: ReadingReport | None = None,
    read: Told = None,
    inflation: int = INFLATION,
) -> Iterator[Line]:
    """Read the lines of a UTF-8 file that are not blank, one by one.

    Args:
        path: a plain or compressed file (`open_decompressed`).
        documents: what ends a document: a blank line, every line, or the end of the file alone.
        errors: what to do with a line that is not UTF-8: stop, or leave it out and count it. A line left out ends its
            document, because what stands around it did not stand together.
        report: counts to add to, complete when the iterator is exhausted.
        read: see `open_decompressed`.
        inflation: see `open_decompressed`.

    Raises:
        InputError: for a file that is absent, truncated, damaged, not UTF-8, or without text; it names the place.
    """
    path, report = Path(path), report if report is not None else ReadingReport()
    document, fresh = -1, True
    lines = size = skipped = 0
    with open_decompressed(path, read, inflation=inflation) as stream:
        for line, offset, raw in numbered_lines(path, stream, report):
            lines, size = line, offset + len(raw)
            try:
                text = raw.removesuffix(b"\n").removesuffix(b"\r").decode()
            except UnicodeDecodeError as error:
                if errors == "stop":
                    raise not_utf8(path, offset + error.start, line, error) from None
                skipped += 1
                report.skipped_lines += 1
                fresh = True
                continue
            if text.strip():
                if fresh or documents == "line":
                    document, fresh = document + 1, False
                    report.documents += 1
                yield Line(text, offset if line > 1 else 0, document)
            elif documents == "blank-line":
                fresh = True
    if document < 0:
        raise InputError(
            f"{path}: there is no text in it ({size} bytes in {lines} lines, of which {skipped} skipped as not UTF-8)."
            " Take it out of `corpus.texts`, or restore it."
        )


def numbered_lines(
    path: Path, stream: BinaryIO, report: ReadingReport, offset: int = 0, line: int = 0, end: int | None = None
) -> Iterator[tuple[int, int, bytes]]:
    """Yield of each line its number (from 1), its place in the file, and its bytes without a byte order mark.

    Args:
        path: the file.
        stream: its text, from the first line on that is wanted.
        report: lines and bytes are added to it.
        offset: bytes of the text before that line.
        line: lines before it.
        end: the byte of the text before which lines begin; None for its end.

    Raises:
        InputError: a line is longer than `LONGEST_LINE`; whatever reading raises.
    """
    while (end is None or offset < end) and (raw := stream.readline(LONGEST_LINE + 1)):
        if len(raw) > LONGEST_LINE:
            raise too_long(path, offset)
        line += 1
        report.lines += 1
        report.bytes += len(raw)
        data = raw.removeprefix(_BYTE_ORDER_MARK) if line == 1 else raw
        yield line, offset + len(raw) - len(data), data
        offset += len(raw)
    if end is not None:
        stream.readline(1)  # the next part's beginning, which is where it was found, or this raises
