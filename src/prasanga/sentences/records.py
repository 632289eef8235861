"""Corpora of records: JSON lines, CSV, Parquet, Arrow, and sentences released by word.

Each record is a document. Its number in the file, from 0, identifies it as a byte offset identifies a line of text;
records that are left out have a number too. Memory holds one record, or a few rows of a column.
"""

from __future__ import annotations

import csv
import json
import logging
import os
import pickle
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path, PurePath
from typing import Any, BinaryIO, NamedTuple

import pyarrow as pa
import pyarrow.ipc as ipc
import pyarrow.parquet as pq

from prasanga.base.errors import InputError, reason
from prasanga.base.formats import COMPRESSED, open_decompressed
from prasanga.sentences.corpus import (
    Errors,
    Format,
    ReadingReport,
    Shard,
    describe_not_utf8,
    explaining,
    open_columns,
    read_lines,
)

START = "start"
"""Column of an extracted table with the character at which the stimulus begins; a table may lack it."""

_ROWS = 256  # of a column that are held at a time
_BUFFER = 1 << 20
_LONGEST_CELL = 1 << 28  # characters; the default of the csv module is 2^17, less than many documents
_END_OF_STREAM = b"\xff\xff\xff\xff\0\0\0\0"
_DECODER = json.JSONDecoder(strict=False)  # a strict one refuses NUL and tabs in strings
_SKIP = "or write `corpus.errors: skip-line` to leave such records out and count them"

logger = logging.getLogger(__name__)


class Record(NamedTuple):
    """A document.

    Attributes:
        text: its text.
        number: its place among the records of the file, from 0.
        stimulus: the only stimulus to look for, once, in a text that is one context as it is; None for all.
        start: the character at which that stimulus begins, if it is known.
    """

    text: str
    number: int
    stimulus: str | None = None
    start: int | None = None


class _UnusableError(ValueError):
    """A record without text for us; the message says where and why, all but the file."""


_Found = Iterator[Record | _UnusableError]


def read_records(shard: Shard, errors: Errors = "stop", counts: ReadingReport | None = None) -> Iterator[Record]:
    """Read the records of a file one by one; those without text (blank, or null in a column) are left out.

    Args:
        shard: the file, in one of these formats; all but parquet and dataset may be compressed (`open_decompressed`).
            `text` has one record per line; `word` too, each a sentence for the word in the file's name; `jsonl` has a
            JSON object per line, whose `field` may be a path through nested objects (`meta.body`); `parquet` has a
            column of strings; `dataset` is an Arrow file, as the library datasets writes it; `extracted` is CSV, or TSV
            by its ending, with a header; `pickle` is {word: [sentence]}, read without running anything.
        errors: stop at a record that cannot be used (not UTF-8, not JSON, no such field, no text in it), or leave it
            out and count it. A damaged file and a missing column always stop.
        counts: counts to add to, complete when the iterator is exhausted. `bytes` are those of the decompressed file,
            or of the texts of a column; `lines` are those of the file, or the rows of a column; `skipped_lines` are
            unusable records, and null rows of a column.

    Raises:
        InputError: for a file that is absent, damaged, truncated, or without text, and for records that cannot be used;
            it names the file, the place, and what was found.
    """
    counts = counts if counts is not None else ReadingReport()
    documents = skipped = 0
    for record in _READERS[shard.format].read(shard, counts):
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


def _read_lines(shard: Shard, counts: ReadingReport) -> _Found:
    word = word_of(shard.path) if shard.format == "word" else None
    for line, offset, raw in read_lines(Path(shard.path), counts):
        try:
            yield Record(raw.decode().rstrip("\r\n"), line - 1, word)
        except UnicodeDecodeError as error:
            yield _not_utf8(error, line, offset)


def word_of(path: str | Path) -> str:
    """Return the word that a file of its sentences is named after: `ফুল` of `sentences/ফুল.txt.gz`."""
    name = PurePath(path).name
    for ending in COMPRESSED:
        name = name.removesuffix(ending)
    return PurePath(name).stem.strip()


def _not_utf8(error: UnicodeDecodeError, line: int, offset: int) -> _UnusableError:
    return _UnusableError(describe_not_utf8(offset + error.start, line, error))


# --------------------
# JSON lines.


def _read_json_lines(shard: Shard, counts: ReadingReport) -> _Found:
    number = 0
    for line, offset, raw in read_lines(Path(shard.path), counts):
        if raw.strip():
            try:
                yield Record(_text_in_json(raw, line, offset, shard.field), number)
            except _UnusableError as problem:
                yield problem
            number += 1


def _text_in_json(raw: bytes, line: int, offset: int, field: str) -> str:
    """Return the text under `field` of one line, or raise an _UnusableError."""
    try:
        record: object = _DECODER.decode(raw.decode())
    except UnicodeDecodeError as error:
        raise _not_utf8(error, line, offset) from None
    except (ValueError, RecursionError) as error:
        begins = repr(raw[:60].decode(errors="replace").strip())
        raise _UnusableError(
            f"line {line} is not JSON ({error}); it begins with {begins}. Each line must be one object, such as"
            f' {{"{field}": "..."}}. Correct it, {_SKIP}.'
        ) from None
    # a name may itself have a dot in it
    for name in [field] if isinstance(record, dict) and field in record else field.split("."):
        if not isinstance(record, dict) or name not in record:
            found = _listed("Fields", list(record)) if isinstance(record, dict) else f"Found: {_shorten(record)}"
            raise _UnusableError(
                f"line {line} has no field {name!r} (`field: {field}`). {found}. Write the one with the text as"
                f" `field:` of this entry of `corpus.texts`, {_SKIP}."
            )
        record = record[name]
    if not isinstance(record, str) or (b"\\u" in raw and not _is_unicode(record)):
        raise _UnusableError(
            f"line {line} has {_shorten(record)} in the field {field!r}, where text (a string of whole characters) is"
            f" wanted. Name another field (`field:` of this entry of `corpus.texts`), correct it, {_SKIP}."
        )
    return record


def _shorten(value: object) -> str:
    return json.dumps(value)[:60]


def _is_unicode(value: str) -> bool:
    """Return whether a text has no lone surrogate: half of an escaped character, or a byte that is not UTF-8."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _listed(what: str, names: Sequence[str]) -> str:
    shown = [*map(repr, names[:20]), *(["..."] if len(names) > 20 else [])]
    return f"{what} found: {', '.join(shown) or 'none'}"


# --------------------
# CSV and TSV.


def _read_table(shard: Shard, counts: ReadingReport) -> _Found:
    """Yield the rows of a table. Bytes that are not UTF-8 are kept as surrogates, so that quotes and cells stay."""
    path, (stimulus, sentence) = Path(shard.path), shard.columns
    csv.field_size_limit(_LONGEST_CELL)
    lines = (raw.decode(errors="surrogateescape") for _, _, raw in read_lines(path, counts))
    kind, delimiter = ("TSV", "\t") if ".tsv" in map(str.lower, path.suffixes[-2:]) else ("CSV", ",")
    rows = csv.reader(lines, delimiter=delimiter, strict=True)
    try:
        header = next((row for row in rows if row), [])
        for column in shard.columns:
            if header.count(column) != 1:
                raise InputError(
                    f"{path}: the column {column!r} is {'twice' if column in header else 'not'} in the table's first"
                    f" row. {_listed('Columns', header)}. Write their names as `columns: {{stimulus: ..., sentence:"
                    " ...}` of this entry of `corpus.texts`."
                )
        for number, row in enumerate(row for row in rows if row):
            cells = dict(zip(header, row, strict=False))
            word, text = cells.get(stimulus, "").strip(), cells.get(sentence, "")
            if len(row) != len(header):
                problem = f"has {len(row)} cell(s), but the header has {len(header)}. Correct it"
            elif not _is_unicode(word + text):
                problem = "is not UTF-8. Convert the file to UTF-8"
            elif not word:
                problem = f"has no stimulus ({stimulus!r}). Correct it"
            else:
                start = cells.get(START, "")
                yield Record(text, number, word, int(start) if start.isdecimal() and len(start) < 10 else None)
                continue
            yield _UnusableError(f"row {number} (from 0, ends at line {rows.line_num}) {problem}, {_SKIP}.")
    except csv.Error as error:
        raise InputError(
            f"{path}: line {rows.line_num} is no {kind} ({error}). A cell with a quote, a line end or a separator must"
            ' be in double quotes, with each quote in it doubled (""). Correct it.'
        ) from None


# --------------------
# A column of strings of Parquet or Arrow. Files are read, not mapped into memory: a mapped file that is cut short under
# the reader kills the process.


def _read_column(shard: Shard, counts: ReadingReport) -> _Found:
    """Yield the rows of a column; Parquet from row group `start` to before `end`."""
    batches = _parquet_batches if shard.format == "parquet" else _arrow_batches
    with explaining(shard.path), open_columns(shard.path) as source:
        for first, column in batches(source, shard):
            for number, value in enumerate(column.cast(pa.large_binary()).to_pylist(), first):
                counts.lines += 1
                counts.bytes += len(value or b"")
                if value is None:
                    counts.skipped_lines += 1
                    continue
                try:
                    yield Record(value.decode(), number)
                except UnicodeDecodeError:
                    yield _UnusableError(f"row {number} (from 0) is not UTF-8. Convert the file, {_SKIP}.")


def _parquet_batches(source: BinaryIO, shard: Shard) -> Iterator[tuple[int, pa.Array]]:
    """Yield some rows, and the number of the first."""
    # without `pre_buffer`, and with a buffer, the column of a whole row group is not read at once
    file = pq.ParquetFile(source, buffer_size=_BUFFER, pre_buffer=False)
    _require_strings(shard, file.schema_arrow)
    first = sum(file.metadata.row_group(number).num_rows for number in range(shard.start))
    groups = range(file.num_row_groups)[shard.start : shard.end]
    for batch in file.iter_batches(_ROWS, groups, columns=[shard.field]):
        yield first, batch.column(0)
        first += batch.num_rows


def _arrow_batches(source: BinaryIO, shard: Shard) -> Iterator[tuple[int, pa.Array]]:
    """Yield rows of an Arrow file, or of a stream as datasets writes it, and the number of the first."""
    is_file = source.read(6) == b"ARROW1"
    source.seek(0)
    reader = ipc.open_file(source) if is_file else ipc.open_stream(source)
    _require_strings(shard, reader.schema)
    batches = map(reader.get_batch, range(reader.num_record_batches)) if is_file else reader
    first = 0
    for batch in batches:
        column = batch.column(shard.field)
        for begin in range(0, len(column), _ROWS):
            yield first + begin, column.slice(begin, _ROWS)
        first += len(column)
    if not is_file:
        _require_end(shard.path, source)


def _require_strings(shard: Shard, schema: pa.Schema) -> None:
    kind = schema.field(shard.field).type if schema.names.count(shard.field) == 1 else pa.null()
    values = kind.value_type if pa.types.is_dictionary(kind) else kind
    if not (pa.types.is_string(values) or pa.types.is_large_string(values) or pa.types.is_string_view(values)):
        kinds = ", ".join(f"{field.name!r} ({field.type})" for field in list(schema)[:20])
        raise InputError(
            f"{shard.path}: there is no column {shard.field!r} of text (string). Columns found: {kinds or 'none'}."
            " Write the one with the text as `field:` of this entry of `corpus.texts`."
        )


def _require_end(path: str, source: BinaryIO) -> None:
    """Refuse a stream without an end mark at the file's end: it reads like a shorter one."""
    read = source.tell()
    source.seek(max(0, source.seek(0, os.SEEK_END) - len(_END_OF_STREAM)))
    if source.read() != _END_OF_STREAM or source.tell() != read:
        raise InputError(
            f"{path}: the Arrow stream has no end mark at the file's end (byte {source.tell()}; read up to {read}). The"
            " file is truncated, or something follows the data: fetch it again, or save the data set again."
        )


# --------------------
# Sentences by word, as the program of Sadhu et al. (2024) keeps them: a pickle `{word: [sentence]}`.


class _PlainUnpickler(pickle.Unpickler):
    """Makes dicts, lists and texts; refuses whatever the pickle wants to import."""

    def find_class(self, module: str, name: str) -> Any:
        raise pickle.UnpicklingError(f"it asks for {module}.{name}")


def _read_pickle(shard: Shard, counts: ReadingReport) -> _Found:
    number = 0
    for word, sentences in _load_sentences(shard.path).items():
        for sentence in sentences:
            counts.lines += 1
            counts.bytes += len(sentence.encode())
            yield Record(sentence, number, word.strip())
            number += 1


def _load_sentences(path: str) -> dict[str, list[str]]:
    """Load a pickle `{word: [sentence, ...]}`, plain or compressed; nothing in it is run."""
    with open_decompressed(path) as stream:
        try:
            content = _PlainUnpickler(stream).load()
            for word, sentences in content.items():
                "".join([word, *sentences]).encode()
                if not isinstance(sentences, list):
                    raise TypeError(f"{word!r} has a {type(sentences).__name__}")
        except InputError:
            raise
        except Exception as error:  # a damaged pickle raises anything
            raise InputError(
                f"{path}: not a pickle of sentences ({reason(error)[:200]}). It must hold `{{word: [sentence, ...]}}`,"
                " with dict, list and str only. Nothing of it was run. Write the sentences as a table (`format:"
                " extracted`), or as a text file for each word (`format: word`)."
            ) from None
    return dict(content)


class _FormatReader(NamedTuple):
    """How a format is read, and the endings by which its files are known."""

    read: Callable[[Shard, ReadingReport], _Found]
    endings: tuple[str, ...] = ()


_READERS: Mapping[Format, _FormatReader] = {
    "text": _FormatReader(_read_lines, (".txt", ".text", ".bn", ".hi", ".en")),
    "word": _FormatReader(_read_lines),
    "jsonl": _FormatReader(_read_json_lines, (".jsonl", ".ndjson")),
    "extracted": _FormatReader(_read_table, (".csv", ".tsv")),
    "pickle": _FormatReader(_read_pickle, (".pkl", ".pickle")),
    "parquet": _FormatReader(_read_column, (".parquet",)),
    "dataset": _FormatReader(_read_column, (".arrow",)),
}

FORMATS: Mapping[str, Format] = {ending: name for name, reader in _READERS.items() for ending in reader.endings}
"""The formats by the endings of files."""
