"""Corpora of records: JSON lines, Parquet, Arrow, data sets of Hugging Face; and the texts of any corpus.

Each record is a document. Its number in the file, from 0, is to it what a byte offset is to a line of text;
records left out have a number too, so that it names a record for good. Memory holds one record, or some rows of a
column.
"""

from __future__ import annotations

import csv
import json
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO, NamedTuple

from prasanga.base.errors import InputError
from prasanga.sentences.columns import arrow_texts, parquet_texts
from prasanga.sentences.corpus import (
    LONGEST_LINE,
    Errors,
    ReadingReport,
    open_decompressed,
    read_lines,
    too_long,
)
from prasanga.sentences.files import Shard
from prasanga.sentences.released import read_pickle, word_of

_Told = Callable[[int], object] | None

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_DIGITS = 18  # of a number that 64 bits hold in any case
_LONGEST_CELL = 1 << 28  # characters; by default the csv module stops at 2^17, less than many a document
_DECODER = json.JSONDecoder(strict=False)  # a strict one refuses NUL and tabs in strings
_SKIP = "or write `corpus.errors: skip-line` to leave such records out and count them"

logger = logging.getLogger(__name__)


START = "start"
"""Column of an extracted table with the character at which the stimulus begins; a table may lack it."""


class Record(NamedTuple):
    """A document.

    Attributes:
        text: its text.
        number: its place among the records of the file, from 0.
        stimulus: the only stimulus to look for in it, once, in a text that is one context as it is; None for all.
        start: the character at which that stimulus begins, if it is known.
    """

    text: str
    number: int
    stimulus: str | None = None
    start: int | None = None


class _UnusableError(ValueError):
    """A record that has no text for us; the message says where and why, all but the file."""


class _Found(NamedTuple):
    """A record that is not blank, as it was found.

    Attributes:
        number: its number in the file, from 0.
        stimulus: that of an extracted table.
        text: its text, or what is wrong with it.
        start: where the stimulus begins in it, if the table says so.
    """

    number: int
    stimulus: str | None
    text: str | _UnusableError
    start: int | None = None


def read_records(
    shard: Shard,
    errors: Errors = "stop",
    counts: ReadingReport | None = None,
    read: Callable[[int], object] | None = None,
) -> Iterator[Record]:
    """Read the records of a file, one by one; those without text (blank, or null in a column) are left out.

    Args:
        shard: the file, in one of these formats; jsonl and extracted may be compressed (`open_decompressed`). `jsonl`
            has a JSON object a line, whose `field` may be a path through nested objects (`meta.body`); `parquet` a
            column of strings; `dataset` is an Arrow file, as the library datasets writes it; `extracted` is CSV, or
            TSV by its ending, with a header; `pickle` is {word: [sentence]}, read without running anything; `word` has
            a sentence a line of the word that it is named after.
        errors: what to do with a record that cannot be used (not UTF-8, not JSON, no such field, something else than
            text in it): stop, or leave it out and count it. A damaged file and a missing column always stop.
        counts: counts to add to, complete when the iterator is exhausted. `bytes` are those of the decompressed file,
            or of the texts of a column; `lines` are those of the file, or the rows of a column; `skipped_lines` are the
            records that could not be used, and the rows of a column that hold null.
        read: told, whenever bytes have been read from the disk, how many; the sum is about the size of the file.

    Raises:
        InputError: for a file that is absent, damaged, truncated, or without text, and for records that cannot be used;
            it names the file, the place, and what was found.
    """
    path, counts = Path(shard.path), counts if counts is not None else ReadingReport()
    field, inflation, part = shard.field, shard.inflation, (shard.start, shard.end)
    readers: Mapping[str, Callable[[], Iterator[_Found]]] = {
        "jsonl": lambda: _json_lines(shard, counts, read),
        "parquet": lambda: _column(parquet_texts(shard.path, field, read, inflation, *part), shard.first, counts),
        "dataset": lambda: _column(arrow_texts(path, field, read, inflation, *part), shard.first, counts),
        "extracted": lambda: _table(path, shard.columns, counts, read, inflation),
        "pickle": lambda: _pickled(path, counts, read, inflation),
        "word": lambda: _of_word(path, counts, read, inflation),
    }
    documents = skipped = 0
    for number, stimulus, text, start in readers[shard.format]():
        if isinstance(text, _UnusableError):
            if errors == "stop":
                raise InputError(f"{shard.path}: {text}")
            skipped += 1
            counts.skipped_lines += 1
        elif text and not text.isspace():
            documents += 1
            counts.documents += 1
            yield Record(text, number, stimulus, start)
    if skipped:
        logger.warning(
            "%s: %d record(s) left out that could not be used (corpus.errors: skip-line).", shard.path, skipped
        )
    if not documents and shard.is_whole:
        raise InputError(
            f"{shard.path}: there is no text in it ({skipped} records could not be used). Take it out of"
            " `corpus.texts`, or restore it."
        )


def _column(texts: Iterator[str | bytes | None], first: int, counts: ReadingReport) -> Iterator[_Found]:
    """Yield the rows of a column: text, bytes that are not UTF-8, or null."""
    for number, text in enumerate(texts, first):
        counts.lines += 1
        if text is None:
            counts.skipped_lines += 1
        elif isinstance(text, bytes):
            counts.bytes += len(text)
            yield _Found(
                number, None, _UnusableError(f"row {number} (from 0) is not UTF-8. Convert the file, {_SKIP}.")
            )
        else:
            counts.bytes += len(text.encode())
            yield _Found(number, None, text)


def _pickled(path: Path, counts: ReadingReport, read: _Told, inflation: int) -> Iterator[_Found]:
    for number, (word, sentence) in enumerate(read_pickle(path, read, inflation)):
        counts.lines += 1
        counts.bytes += len(sentence.encode())
        yield _Found(number, word.strip(), sentence)


def _of_word(path: Path, counts: ReadingReport, read: _Told, inflation: int) -> Iterator[_Found]:
    word = word_of(path)
    with open_decompressed(path, read, inflation=inflation) as stream:
        for line, offset, raw in _lines(path, stream, counts):
            try:
                yield _Found(line - 1, word, raw.decode().rstrip("\r\n"))
            except UnicodeDecodeError as error:
                yield _Found(line - 1, word, _not_utf8(error, line, offset))


def _json_lines(shard: Shard, counts: ReadingReport, read: _Told) -> Iterator[_Found]:
    path, number = Path(shard.path), shard.first
    with open_decompressed(path, read, inflation=shard.inflation, start=shard.start, points=shard.points) as stream:
        for line, offset, raw in _lines(path, stream, counts, shard):
            if raw.strip():
                try:
                    yield _Found(number, None, _text_in_json(raw, line, offset, shard.field))
                except _UnusableError as problem:
                    yield _Found(number, None, problem)
                number += 1


def _text_in_json(raw: bytes, line: int, offset: int, field: str) -> str:
    """Return the text of one line.

    Args:
        raw: the line.
        line: its number, from 1.
        offset: its place in the file, in bytes.
        field: as in `read_records`.

    Raises:
        _UnusableError: if there is none.
    """
    try:
        record: object = _DECODER.decode(raw.decode())
    except UnicodeDecodeError as error:
        raise _not_utf8(error, line, offset) from None
    except (ValueError, RecursionError) as error:
        raise _UnusableError(
            f"line {line} is not JSON ({error}); it begins with {_short(raw)}. Each line must be one object, such as"
            f' {{"{field}": "..."}}. Mend it, {_SKIP}.'
        ) from None
    value = _value_at(field, record, line)
    if not isinstance(value, str):
        raise _UnusableError(
            f"line {line} has {_kind(value)} in the field {field!r}, where text (a string) is wanted. Name another"
            f" field (`field:` of this entry of `corpus.texts`), {_SKIP}."
        )
    if b"\\u" in raw and not _is_text(value):
        raise _UnusableError(
            f"line {line} has half of a character (an escape from \\ud800 to \\udfff without its partner) in the field"
            f" {field!r}. Mend it, {_SKIP}."
        )
    return value


def _value_at(field: str, record: object, line: int) -> object:
    """Return what stands under a name, or under a path of names; a name may itself have a dot in it."""
    whole, *rest = [field] if isinstance(record, dict) and field in record else field.split(".")
    for name in (whole, *rest):
        if not isinstance(record, dict):
            raise _UnusableError(
                f"line {line} has {_kind(record)} where an object with the field {name!r} is wanted (`field: {field}`)."
                f' Each line must be one object, such as {{"{field}": "..."}}. Mend it, {_SKIP}.'
            )
        if name not in record:
            raise _UnusableError(
                f"line {line} has no field {name!r} (`field: {field}`). {_listed('Fields', record)}. Write the one with"
                f" the text as `field:` of this entry of `corpus.texts`, {_SKIP}."
            )
        record = record[name]
    return record


def _table(path: Path, columns: Sequence[str], counts: ReadingReport, read: _Told, inflation: int) -> Iterator[_Found]:
    """Yield the rows of CSV or TSV.

    Bytes that are not UTF-8 are carried along, so that quotes and cells stay in step.
    """
    csv.field_size_limit(max(csv.field_size_limit(), _LONGEST_CELL))
    with open_decompressed(path, read, inflation=inflation) as stream:
        lines = (raw.decode(errors="surrogateescape") for _, _, raw in _lines(path, stream, counts))
        tabs = ".tsv" in (suffix.lower() for suffix in path.suffixes[-2:])
        rows = csv.reader(lines, delimiter="\t" if tabs else ",", strict=True)
        try:
            header = next((row for row in rows if row), [])
            at = [_place_of(column, header, path) for column in columns]
            starts = header.index(START) if header.count(START) == 1 else None
            for number, row in enumerate(row for row in rows if row):
                where = f"row {number} (from 0, ends at line {rows.line_num})"
                cells = [row[i] for i in at] if len(row) == len(header) else []
                if not cells:
                    problem = f"{where} has {len(row)} cell(s), but the header has {len(header)}. Mend it"
                elif not all(map(_is_text, cells)):
                    problem = f"{where} is not UTF-8. Convert the file to UTF-8"
                elif not cells[0].strip():
                    problem = f"{where} has no stimulus ({columns[0]!r}). Mend it"
                else:
                    yield _Found(number, cells[0].strip(), cells[1], _start_in(row, starts))
                    continue
                yield _Found(number, None, _UnusableError(f"{problem}, {_SKIP}."))
        except csv.Error as error:
            raise InputError(
                f"{path}: line {rows.line_num} is no {'TSV' if tabs else 'CSV'} ({error}). A cell with a quote, a line"
                ' end or a separator in it stands in double quotes, and each quote in it is doubled (""). Mend it.'
            ) from None


def _start_in(row: Sequence[str], column: int | None) -> int | None:
    """Return where the stimulus stands, if that is said; more digits than a place has say nothing."""
    cell = "" if column is None else row[column]
    return int(cell) if cell.isdecimal() and len(cell) <= _DIGITS else None


def _place_of(column: str, header: Sequence[str], path: Path) -> int:
    if header.count(column) == 1:
        return header.index(column)
    found = "twice" if column in header else "not"
    raise InputError(
        f"{path}: the column {column!r} is {found} in the table's first row. {_listed('Columns', header)}. Write their"
        " names as `columns: {stimulus: ..., sentence: ...}` of this entry of `corpus.texts`."
    )


def _lines(
    path: Path, stream: BinaryIO, counts: ReadingReport, part: Shard | None = None
) -> Iterator[tuple[int, int, bytes]]:
    """Yield of each line its number (from 1), its place in the file, and its bytes without a byte order mark."""
    offset, line, end = (part.start, part.lines, part.end) if part else (0, 0, None)
    while (end is None or offset < end) and (raw := stream.readline(LONGEST_LINE + 1)):
        if len(raw) > LONGEST_LINE:
            raise too_long(path, offset)
        line += 1
        counts.lines += 1
        counts.bytes += len(raw)
        data = raw.removeprefix(_BYTE_ORDER_MARK) if line == 1 else raw
        yield line, offset + len(raw) - len(data), data
        offset += len(raw)
    if end is not None:
        stream.readline(1)  # the next part's beginning, which is where it was found, or this raises


def _not_utf8(error: UnicodeDecodeError, line: int, offset: int) -> _UnusableError:
    found = error.object[error.start : error.start + 8].hex(" ")
    return _UnusableError(
        f"not UTF-8 at byte {offset + error.start} of the decompressed text (line {line}): found the bytes {found}."
        f" Convert the file to UTF-8, {_SKIP}."
    )


def _is_text(value: str) -> bool:
    """Return whether there is no lone surrogate in it: half of an escaped character, or a byte that is not UTF-8."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _kind(value: object) -> str:
    """Return what JSON calls a value."""
    kinds = {dict: "an object", list: "an array", str: "text", bool: "true or false", type(None): "null"}
    return kinds.get(type(value), "a number")


def _listed(what: str, names: Sequence[str] | Mapping[str, object]) -> str:
    shown = [repr(name) for name in list(names)[:20]]
    return f"{what} found: {', '.join([*shown, *(['...'] if len(names) > 20 else [])]) or 'none'}"


def _short(raw: bytes) -> str:
    return repr(raw[:60].decode(errors="replace").strip())


# --------------------
# The texts of a corpus and nothing else, for who trains on them.


MOST_BYTES = 10**9
"""What a tiny model may be trained on at most: its texts are held in memory, several times over."""


def require_small(shards: Iterable[Shard]) -> None:
    """Refuse to hold a large corpus in memory.

    Raises:
        InputError: with the size.
    """
    size = sum(shard.bytes_on_disk for shard in shards)
    if size > MOST_BYTES:
        raise InputError(
            f"models: `train` makes a tiny model for a demonstration, from a corpus of at most {MOST_BYTES / 1e9:g} GB;"
            f" this one has {size / 1e9:.1f} GB. Write `path: <folder or name on the hub>` in place of `train`."
        )


def read_texts(shard: Shard, errors: Errors = "stop", read: Callable[[int], object] | None = None) -> Iterator[str]:
    """Return the lines of a file, or the texts of its records; the whole file, also where the shard is a part of it.

    Args:
        shard: the file.
        errors: what to do with a line or record that cannot be used (`read_lines`, `read_records`).
        read: told, whenever bytes have been read from the disk, how many.

    Raises:
        InputError: if the file cannot be read.
    """
    if shard.format == "text":
        lines = read_lines(shard.path, errors=errors, read=read, inflation=shard.inflation)
        return (line.text for line in lines)
    return (record.text for record in read_records(shard, errors, read=read))
