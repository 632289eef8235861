"""Corpora of records: JSON lines, CSV, Parquet, Arrow, sentences released by word; and the texts of any corpus.

Each record is a document. Its number in the file, from 0, is to it what a byte offset is to a line of text;
records left out have a number too, so that it names a record for good. Memory holds one record, or some rows of a
column.
"""

from __future__ import annotations

import csv
import json
import logging
import pickle
import pickletools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path, PurePath
from typing import Any, BinaryIO, NamedTuple

from prasanga.base.errors import InputError
from prasanga.sentences.columns import arrow_texts, parquet_texts
from prasanga.sentences.corpus import (
    COMPRESSED,
    INFLATION,
    Errors,
    ReadingReport,
    Told,
    numbered_lines,
    open_decompressed,
    read_lines,
)
from prasanga.sentences.files import Shard

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


_Found = Iterator[Record | _UnusableError]
"""Records as they are found; their text may be blank."""


def read_records(
    shard: Shard, errors: Errors = "stop", counts: ReadingReport | None = None, read: Told = None
) -> Iterator[Record]:
    """Read the records of a file, one by one; those without text (blank, or null in a column) are left out.

    Args:
        shard: the file, in one of these formats; all but parquet and dataset may be compressed (`open_decompressed`).
            `jsonl` has a JSON object a line, whose `field` may be a path through nested objects (`meta.body`);
            `parquet` a column of strings; `dataset` is an Arrow file, as the library datasets writes it; `extracted` is
            CSV, or TSV by its ending, with a header; `pickle` is {word: [sentence]}, read without running anything;
            `word` has a sentence a line of the word that it is named after.
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
    counts = counts if counts is not None else ReadingReport()
    readers: Mapping[str, Callable[[Shard, ReadingReport, Told], _Found]] = {
        "jsonl": _json_lines,
        "parquet": _column,
        "dataset": _column,
        "extracted": _table,
        "pickle": _pickled,
        "word": _of_word,
    }
    documents = skipped = 0
    for record in readers[shard.format](shard, counts, read):
        if isinstance(record, _UnusableError):
            if errors == "stop":
                raise InputError(f"{shard.path}: {record}")
            skipped += 1
            counts.skipped_lines += 1
        elif record.text and not record.text.isspace():
            documents += 1
            counts.documents += 1
            yield record
    if skipped:
        logger.warning(
            "%s: %d record(s) left out that could not be used (corpus.errors: skip-line).", shard.path, skipped
        )
    if not documents and shard.is_whole:
        raise InputError(
            f"{shard.path}: there is no text in it ({skipped} records could not be used). Take it out of"
            " `corpus.texts`, or restore it."
        )


def _column(shard: Shard, counts: ReadingReport, read: Told) -> _Found:
    """Yield the rows of a column: text, bytes that are not UTF-8, or null."""
    texts = parquet_texts if shard.format == "parquet" else arrow_texts
    rows = texts(shard.path, shard.field, read, shard.inflation, shard.start, shard.end)
    for number, text in enumerate(rows, shard.first):
        counts.lines += 1
        if text is None:
            counts.skipped_lines += 1
        elif isinstance(text, bytes):
            counts.bytes += len(text)
            yield _UnusableError(f"row {number} (from 0) is not UTF-8. Convert the file, {_SKIP}.")
        else:
            counts.bytes += len(text.encode())
            yield Record(text, number)


def _pickled(shard: Shard, counts: ReadingReport, read: Told) -> _Found:
    for number, (word, sentence) in enumerate(read_pickle(shard.path, read, shard.inflation)):
        counts.lines += 1
        counts.bytes += len(sentence.encode())
        yield Record(sentence, number, word.strip())


def _of_word(shard: Shard, counts: ReadingReport, read: Told) -> _Found:
    path, word = Path(shard.path), word_of(shard.path)
    with open_decompressed(path, read, inflation=shard.inflation) as stream:
        for line, offset, raw in numbered_lines(path, stream, counts):
            try:
                yield Record(raw.decode().rstrip("\r\n"), line - 1, word)
            except UnicodeDecodeError as error:
                yield _not_utf8(error, line, offset)


def _json_lines(shard: Shard, counts: ReadingReport, read: Told) -> _Found:
    path, number = Path(shard.path), shard.first
    with open_decompressed(path, read, inflation=shard.inflation, start=shard.start, points=shard.points) as stream:
        for line, offset, raw in numbered_lines(path, stream, counts, shard.start, shard.lines, shard.end):
            if raw.strip():
                try:
                    yield Record(_text_in_json(raw, line, offset, shard.field), number)
                except _UnusableError as problem:
                    yield problem
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


def _table(shard: Shard, counts: ReadingReport, read: Told) -> _Found:
    """Yield the rows of CSV or TSV.

    Bytes that are not UTF-8 are carried along, so that quotes and cells stay in step.
    """
    path, columns = Path(shard.path), shard.columns
    csv.field_size_limit(max(csv.field_size_limit(), _LONGEST_CELL))
    with open_decompressed(path, read, inflation=shard.inflation) as stream:
        lines = (raw.decode(errors="surrogateescape") for _, _, raw in numbered_lines(path, stream, counts))
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
                    yield Record(cells[1], number, cells[0].strip(), _start_in(row, starts))
                    continue
                yield _UnusableError(f"{problem}, {_SKIP}.")
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


def read_texts(shard: Shard, errors: Errors = "stop", read: Told = None) -> Iterator[str]:
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


# --------------------
# Sentences by word, as the program of Sadhu et al. (2024) keeps them: a pickle `{word: [sentence]}`, or a file a word.
#
# A pickle is a program, which can call anything when Python's own reader runs it. This reader runs a small part of that
# language: what makes a dict, a list or a str, and nothing else. Whatever comes beside it is refused by name, before it
# has any effect; nothing is ever imported or called. Lengths are believed only as far as the file has bytes.

LARGEST_PICKLE = 8 * 10**9
"""What a pickle may come to: all of it is held in memory, in two thirds of the bytes where the text is Bangla."""

_MARK = object()
_PIECE = 1 << 20
_LONGEST_NUMBER = 20  # digits of a place in protocol 0, its line end included
_PASSED_OVER = {pickle.PROTO: 1, pickle.FRAME: 8}  # bytes after what says nothing about the content
_TEXTS = {pickle.SHORT_BINUNICODE: 1, pickle.BINUNICODE: 4, pickle.BINUNICODE8: 8}
_PUT = {pickle.BINPUT: 1, pickle.LONG_BINPUT: 4, pickle.PUT: 0}
_GET = {pickle.BINGET: 1, pickle.LONG_BINGET: 4, pickle.GET: 0}

_NOT_THAT = (
    " A pickle of sentences holds `{word: [sentence, ...]}`, of dict, list and str alone. Nothing of it was run. Write"
    " the sentences as a table (`format: extracted`), or as a text file for each word (`format: word`)."
)


def word_of(path: str | Path) -> str:
    """Return the word that a file of its sentences is named after: `ফুল` of `sentences/ফুল.txt.gz`."""
    name = PurePath(path).name
    for ending in COMPRESSED:
        name = name.removesuffix(ending)
    return PurePath(name).stem.strip()


def read_pickle(
    path: str | Path, read: Told = None, inflation: int = INFLATION, most_bytes: int = LARGEST_PICKLE
) -> Iterator[tuple[str, str]]:
    """Yield (word, sentence) of a pickle `{word: [sentence, ...]}`, in its order.

    Args:
        path: the file, of any protocol of Python 3; it may be compressed (`open_decompressed`).
        read: told, whenever bytes have been read from the disk, how many.
        inflation: how many times its size on the disk it may come to.
        most_bytes: how many bytes it may come to in any case.

    Raises:
        InputError: there is anything but dict, list and str in it, or these in another order than said; it is
            truncated, damaged, too large, or followed by something; the message names the file and the byte.
    """
    path = Path(path)
    with open_decompressed(path, read, inflation=inflation) as stream:
        content = _Unpickler(path, stream, most_bytes).content()
    if not isinstance(content, dict):
        raise InputError(f"{path}: a pickle of a {type(content).__name__}." + _NOT_THAT)
    for word, sentences in content.items():
        if not isinstance(word, str) or not isinstance(sentences, list):
            found = f"{_type_of(word)} with {_type_of(sentences)}"
            raise InputError(f"{path}: its dict has {found}, where a word with its list is wanted." + _NOT_THAT)
        for number, sentence in enumerate(sentences):
            if not isinstance(sentence, str):
                raise InputError(
                    f"{path}: number {number} (from 0) in the list of {word[:60]!r} is {_type_of(sentence)}."
                    + _NOT_THAT
                )
    yield from ((word, sentence) for word, sentences in content.items() for sentence in sentences)


class _Unpickler:
    """A machine with a stack that knows dict, list and str."""

    def __init__(self, path: Path, stream: BinaryIO, most_bytes: int) -> None:
        self._path, self._stream, self._most = path, stream, most_bytes
        self._at = 0
        self._stack: list[Any] = []
        self._memo: dict[int, Any] = {}

    def content(self) -> Any:
        """Run the file to its end and return what it has made."""
        while (instruction := self._bytes(1)) != pickle.STOP:
            self._run(instruction)
        found = self._pop()
        if self._stack or self._stream.read(1):
            raise self._wrong("the pickle ends, and something is left over")
        return found

    def _run(self, instruction: bytes) -> None:
        stack = self._stack
        if instruction in _PASSED_OVER:
            self._bytes(_PASSED_OVER[instruction])
        elif instruction in _TEXTS:
            stack.append(self._text(self._bytes(self._number(_TEXTS[instruction])), "utf-8"))
        elif instruction == pickle.UNICODE:
            stack.append(self._text(self._line(), "raw-unicode-escape"))
        elif instruction == pickle.MARK:
            stack.append(_MARK)
        elif instruction in (pickle.EMPTY_DICT, pickle.EMPTY_LIST):
            stack.append({} if instruction == pickle.EMPTY_DICT else [])
        elif instruction == pickle.DICT:
            stack.append(self._pairs(self._after_mark()))
        elif instruction == pickle.LIST:
            stack.append(self._after_mark())
        elif instruction in (pickle.APPEND, pickle.APPENDS):
            items = self._after_mark() if instruction == pickle.APPENDS else [self._pop()]
            self._top(list).extend(items)
        elif instruction in (pickle.SETITEM, pickle.SETITEMS):
            items = self._after_mark() if instruction == pickle.SETITEMS else [self._pop(), self._pop()][::-1]
            self._top(dict).update(self._pairs(items))
        elif instruction == pickle.MEMOIZE:
            self._memo[len(self._memo)] = self._top(object)
        elif instruction in _PUT:
            self._memo[self._number(_PUT[instruction])] = self._top(object)
        elif instruction in _GET:
            number = self._number(_GET[instruction])
            if number not in self._memo:
                raise self._wrong(f"it takes up what it has kept under {number}, and there is nothing")
            stack.append(self._memo[number])
        else:
            known = {opcode.code: opcode.name for opcode in pickletools.opcodes}.get(instruction.decode("latin-1"))
            name = f"the instruction {known}" if known else f"{instruction!r}, which is no instruction"
            raise self._wrong(f"it has {name}")

    def _pop(self) -> Any:
        self._top(object)
        return self._stack.pop()

    def _top(self, kind: type) -> Any:
        if not self._stack or self._stack[-1] is _MARK or not isinstance(self._stack[-1], kind):
            raise self._wrong(f"a {'value' if kind is object else kind.__name__} is wanted, and there is none")
        return self._stack[-1]

    def _after_mark(self) -> list[Any]:
        items: list[Any] = []
        while self._stack and self._stack[-1] is not _MARK:
            items.append(self._stack.pop())
        if not self._stack:
            raise self._wrong("a mark is wanted, and there is none")
        self._stack.pop()
        return items[::-1]

    def _pairs(self, items: list[Any]) -> dict[str, Any]:
        if len(items) % 2 or not all(isinstance(key, str) for key in items[::2]):
            raise self._wrong("a dict has a key that is no text, or one without a value")
        return dict(zip(items[::2], items[1::2], strict=True))

    def _number(self, size: int) -> int:
        """Return a number of so many bytes, or for 0 that of a line of digits."""
        if size:
            return int.from_bytes(self._bytes(size), "little")
        line = self._line(_LONGEST_NUMBER)
        if not line.isdigit():
            raise self._wrong(f"{line[:20]!r} is no number")
        return int(line)

    def _text(self, raw: bytes, encoding: str) -> str:
        try:
            text = raw.decode(encoding)
            text.encode()  # half of a character, which the pickle of a text may hold, is no text
        except UnicodeError:
            raise self._wrong("a text is not UTF-8") from None
        return text

    def _line(self, longest: int = -1) -> bytes:
        line = self._stream.readline(longest if longest > 0 else self._most)
        self._count(len(line))
        if not line.endswith(b"\n"):
            raise self._wrong("it ends in the middle of a line, or the line is too long")
        return line[:-1]

    def _bytes(self, size: int) -> bytes:
        """Return so many bytes; memory is taken as they come, whatever number the file names."""
        parts = []
        while size > 0 and (part := self._stream.read(min(size, _PIECE))):
            self._count(len(part))
            parts.append(part)
            size -= len(part)
        if size > 0:
            raise self._wrong("it ends too early. Fetch it again")
        return b"".join(parts)

    def _count(self, size: int) -> None:
        self._at += size
        if self._at > self._most:
            raise InputError(
                f"{self._path}: it comes to more than {self._most / 1e9:g} GB, more than a pickle may. Write a text"
                " file for each word (`format: word`)."
            )

    def _wrong(self, what: str) -> InputError:
        return InputError(f"{self._path}: not the pickle that it should be, at byte {self._at}: {what}." + _NOT_THAT)


def _type_of(value: object) -> str:
    kinds: dict[type, str] = {str: "a text", list: "a list", dict: "a dict"}
    return kinds.get(type(value), "something else")
