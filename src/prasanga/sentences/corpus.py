"""Lines of text as people have it, plain or compressed, one by one in constant memory.

The extraction reads the same lines in blocks (`prasanga.sentences.blocks`), without making strings of them; this is for
whoever wants the text itself, and says plainly what a line and a document are.

A line ends at a line feed and nowhere else (a carriage return before it is dropped): U+2028, U+0085 and their like
occur inside sentences, and who splits there tears them apart. Each line carries its byte offset in the decompressed
source, which names it for good, however the work is divided.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields
from itertools import groupby
from pathlib import Path
from typing import Literal, NamedTuple

from prasanga.errors import InputError
from prasanga.sentences.decompression import INFLATION, LONGEST_LINE, open_decompressed, too_long

Documents = Literal["blank-line", "line", "file"]
Errors = Literal["stop", "skip-line"]


class Line(NamedTuple):
    """A line that is not blank: its text, byte offset in the decompressed source, and the number of its document."""

    text: str
    offset: int
    document: int


class Document(NamedTuple):
    """The lines of one document, and the byte offset of each in the decompressed source."""

    lines: list[str]
    offsets: list[int]


@dataclass
class ReadingReport:
    """What was read: all lines and bytes of the source, blank and skipped lines included."""

    bytes: int = 0
    lines: int = 0
    skipped_lines: int = 0
    documents: int = 0

    def as_dict(self) -> dict[str, int]:
        """The counts by name."""
        return {part.name: getattr(self, part.name) for part in fields(self)}


@dataclass
class _Place:
    """Where reading stands, for messages and for the lines' offsets."""

    line: int = 0
    offset: int = 0
    report: ReadingReport = field(default_factory=ReadingReport)

    def advance(self, raw: bytes) -> None:
        self.line += 1
        self.offset += len(raw)
        self.report.lines += 1
        self.report.bytes += len(raw)


def read_lines(
    path: str | Path,
    documents: Documents = "blank-line",
    errors: Errors = "stop",
    report: ReadingReport | None = None,
    read: Callable[[int], object] | None = None,
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
    path = Path(path)
    place = _Place(report=report if report is not None else ReadingReport())
    document, fresh = -1, True
    with open_decompressed(path, read, inflation=inflation) as stream:
        while raw := stream.readline(LONGEST_LINE + 1):
            if len(raw) > LONGEST_LINE:
                raise too_long(path, place.offset)
            text = _decode(raw, path, place, errors)
            if text is not None and text.strip():
                if fresh or documents == "line":
                    document, fresh = document + 1, False
                    place.report.documents += 1
                yield Line(text, place.offset, document)
            elif text is None or documents == "blank-line":
                fresh = True
            place.advance(raw)
    if document < 0:
        raise InputError(
            f"{path}: there is no text in it ({place.offset} bytes in {place.line} lines, of which"
            f" {place.report.skipped_lines} skipped as not UTF-8). Take it out of `corpus.texts`, or restore it."
        )


def read_documents(
    path: str | Path,
    documents: Documents = "blank-line",
    errors: Errors = "stop",
    report: ReadingReport | None = None,
) -> Iterator[Document]:
    """The documents of a corpus file; as `read_lines`, but memory holds one document at a time."""
    for _, group in groupby(read_lines(path, documents, errors, report), key=lambda line: line.document):
        lines = list(group)
        yield Document([line.text for line in lines], [line.offset for line in lines])


def _decode(raw: bytes, path: Path, place: _Place, errors: Errors) -> str | None:
    """The line without its end, or None for a line to skip."""
    line = raw.removesuffix(b"\n").removesuffix(b"\r")
    if place.line == 0:
        line = line.removeprefix(b"\xef\xbb\xbf")  # byte order mark
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError as error:
        if errors == "skip-line":
            place.report.skipped_lines += 1
            return None
        at = place.offset + raw.index(line) + error.start
        shown = " ".join(f"{byte:02x}" for byte in line[error.start : error.start + 8])
        raise InputError(
            f"{path}: not UTF-8 at byte {at} of the decompressed text (line {place.line + 1}): found the bytes {shown}."
            " Convert the file to UTF-8, or write `corpus.errors: skip-line` to leave such lines out and count them."
        ) from None
