"""A corpus in blocks of about a megabyte: whole lines as bytes, with what is known of each.

Text is neither decoded nor copied here. A line ends at a line feed and nowhere else (a carriage return before it is
dropped). A part of a plain file is a range of its bytes: it has the lines that begin in it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from prasanga.errors import InputError
from prasanga.sentences.corpus import Documents
from prasanga.sentences.decompression import INFLATION, LONGEST_LINE, open_decompressed, too_long
from prasanga.sentences.records import Record
from prasanga.text.compiled import compiled
from prasanga.text.lines import Bytes, Lines, Positions, decode
from prasanga.text.words import IS_SPACE, character_flags

BLOCK = 1 << 20

_LINE_FEED: Final = 10
_RETURN: Final = 13
_LINE_ENDS = re.compile(r"[\r\n]+")
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class Block(NamedTuple):
    """Lines of a corpus, blank ones included.

    Attributes:
        lines: the lines without their ends.
        offsets: of each line's record: its byte offset in the decompressed source, or its number.
        begins: whether a document begins at the line, whatever stands before it.
        continues: whether the line belongs to the same record as the line before.
        blank: whether there is nothing but white space in it.
        breaks: whether the document ends at the line.
        size: bytes of the source, line ends included.
        only: the only stimulus to look for in each line, which is then one context as it is; None for all of them.
        at: the character of the line at which that stimulus begins; -1 where it is not known.
        records: whether these are lines of records, whose reader has counted them.
    """

    lines: Lines
    offsets: Positions
    begins: NDArray[np.bool_]
    continues: NDArray[np.bool_]
    blank: NDArray[np.bool_]
    breaks: NDArray[np.bool_]
    size: int
    only: list[str | None] | None = None
    at: Positions | None = None
    records: bool = False


def text_blocks(
    path: str | Path,
    documents: Documents,
    start: int = 0,
    end: int | None = None,
    *,
    size: int = BLOCK,
    read: Callable[[int], object] | None = None,
    inflation: int = INFLATION,
) -> Iterator[Block]:
    """The lines of a text file that begin in bytes `start` to `end` of its decompressed content.

    Args:
        path: plain, or compressed (`open_decompressed`); a part of a compressed file is read from its beginning.
        documents: what ends a document: a blank line, every line, or the end of the file alone.
        start: first byte of the part.
        end: the byte after its last; None for the end of the file.
        size: bytes to read at a time.
        read: see `open_decompressed`.
        inflation: see `open_decompressed`.

    Raises:
        InputError: if the file cannot be read, or a line is longer than `LONGEST_LINE`; the message names the place.
    """
    for offset, data in _whole_lines(Path(path), start, end, size, read, inflation):
        starts, ends, blank = _lines_of(np.frombuffer(data, dtype=np.uint8), offset)
        every = np.full(len(starts), documents == "line")
        breaks = blank if documents == "blank-line" else np.zeros_like(blank)
        lines = Lines(np.frombuffer(data, dtype=np.uint8), starts, ends)
        yield Block(lines, _line_offsets(lines, offset), every, np.zeros_like(blank), blank, breaks, len(data))


def record_blocks(records: Iterable[Record], *, size: int = BLOCK) -> Iterator[Block]:
    """The lines of records, each record a document; no record is divided between two blocks."""
    texts: list[bytes] = []
    held: list[Record] = []
    total = 0
    for record in records:
        text = record.text if record.stimulus is None else _LINE_ENDS.sub(" ", record.text)
        texts.append(text.encode("utf-8", "surrogatepass") + b"\n")
        held.append(record)
        total += len(texts[-1])
        if total >= size:
            yield _block_of_records(texts, held)
            texts, held, total = [], [], 0
    if held:
        yield _block_of_records(texts, held)


def _block_of_records(texts: list[bytes], records: list[Record]) -> Block:
    data = np.frombuffer(b"".join(texts), dtype=np.uint8)
    starts, ends, blank = _lines_of(data, -1)
    # The record of each line: the one that its first byte belongs to.
    until = np.cumsum([len(text) for text in texts])
    record = np.searchsorted(until, starts, side="right")
    continues = np.concatenate([[False], record[1:] == record[:-1]])
    numbers = np.array([each.number for each in records], dtype=np.int64)
    only = [records[index].stimulus for index in record.tolist()]
    at = [records[index].start for index in record.tolist()]
    return Block(
        Lines(data, starts, ends),
        numbers[record],
        ~continues,
        continues,
        blank,
        np.zeros_like(blank),
        len(data),
        only if any(stimulus is not None for stimulus in only) else None,
        np.array([-1 if start is None else start for start in at], dtype=np.int64),
        records=True,
    )


def _whole_lines(
    path: Path, start: int, end: int | None, size: int, read: Callable[[int], object] | None, inflation: int
) -> Iterator[tuple[int, bytes]]:
    """Pieces of whole lines, each with its offset: the lines that begin in `start` to `end`."""
    with open_decompressed(path, read, inflation=inflation) as stream:
        offset = start
        if start > 0:
            # One byte earlier, so that a line that begins exactly at `start` is seen to begin there.
            stream.seek(start - 1)
            offset = start - 1 + _skip_line(stream)
        held: list[bytes] = []
        begin = offset  # of what is held
        while end is None or begin < end:
            piece = stream.read(size)
            if not piece:
                break
            offset += len(piece)
            cut = piece.rfind(b"\n") + 1
            if cut == 0:
                held.append(piece)
                if offset - begin > LONGEST_LINE:
                    raise too_long(path, begin)
                continue
            data = b"".join([*held, piece[:cut]])
            held = [piece[cut:]]
            if end is not None and begin + len(data) > end:
                # Lines that begin at `end` or later are another part's.
                data = data[: data.find(b"\n", max(end - begin - 1, 0)) + 1]
                held = []
                yield begin, data
                return
            yield begin, data
            begin += len(data)
        rest = b"".join(held)
        if rest and (end is None or begin < end):
            yield begin, rest


def _skip_line(stream: BinaryIO) -> int:
    """Read to the end of the line; the number of bytes read."""
    size = 0
    while piece := stream.readline(BLOCK):
        size += len(piece)
        if piece.endswith(b"\n"):
            break
    return size


def _lines_of(data: Bytes, offset: int) -> tuple[Positions, Positions, NDArray[np.bool_]]:
    """Where lines begin and end in `data`, and which of them are blank; `offset` 0 is the beginning of a file."""
    count = int(np.count_nonzero(data == _LINE_FEED)) + (len(data) > 0 and data[-1] != _LINE_FEED)
    starts, ends = np.empty(count, dtype=np.int64), np.empty(count, dtype=np.int64)
    blank = np.empty(count, dtype=np.bool_)
    first = len(_BYTE_ORDER_MARK) if offset == 0 and data[:3].tobytes() == _BYTE_ORDER_MARK else 0
    _find_lines(data, first, character_flags(), starts, ends, blank)
    return starts, ends, blank


def _line_offsets(lines: Lines, offset: int) -> Positions:
    offsets = lines.starts + offset
    if offset == 0 and len(offsets):
        offsets[0] = 0  # with the byte order mark
    return offsets


@compiled
def _find_lines(
    data: Bytes,
    first: int,
    flags: NDArray[np.uint16],
    starts: Positions,
    ends: Positions,
    blank: NDArray[np.bool_],
) -> None:
    i = first
    for line in range(len(starts)):
        starts[line] = i
        end = i
        while end < len(data) and data[end] != _LINE_FEED:
            end += 1
        following = end + 1
        if end > i and data[end - 1] == _RETURN:
            end -= 1
        ends[line] = end
        blank[line] = True
        while i < end:
            code, length = decode(data, i, end)
            if code < 0 or flags[code] & IS_SPACE == 0:
                blank[line] = False
                break
            i += length
        i = following


def require_text(path: str | Path, found: bool, size: int, lines: int, skipped: int) -> None:
    """Refuse a file without text.

    Raises:
        InputError: if none was `found`.
    """
    if not found:
        raise InputError(
            f"{path}: there is no text in it ({size} bytes in {lines} lines, of which {skipped} skipped as not UTF-8)."
            " Take it out of `corpus.texts`, or restore it."
        )
