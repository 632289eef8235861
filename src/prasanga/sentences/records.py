"""Read corpora of records: JSON, tables, CoNLL-U, Parquet, Arrow, and sentences released by word.

Each record is a document. Its number in the file, from 0, identifies it as a byte offset identifies a line of text;
records that are left out are also numbered. Memory holds one record, or a few rows of a column.
"""

from __future__ import annotations

import json
import logging
import os
import pickle
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path, PurePath
from typing import Any, BinaryIO, NamedTuple, cast

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.ipc as ipc
import pyarrow.parquet as pq

from prasanga.base.errors import InputError, reason
from prasanga.base.formats import (
    COMPRESSED,
    HEAD,
    open_decompressed,
    recognize,
    refuse,
    split_rows,
    walk_json,
)
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

LARGEST_JSON = 1 << 28
"""Bytes of the largest JSON that is not one object per line: memory holds it several times."""

_ROWS = 256  # rows of a column in memory at a time
_BUFFER = 1 << 20
_END_OF_STREAM = b"\xff\xff\xff\xff\0\0\0\0"
_DECODER = json.JSONDecoder(strict=False)  # a strict one refuses NUL and tabs in strings
_COMMENT = re.compile(r"#\s*(text|newdoc\b.*?)\s*(?:=\s*(.*)|$)")
_SKIP = "or write `corpus.errors: skip-line` to leave such records out and count them"

logger = logging.getLogger(__name__)


class Record(NamedTuple):
    """A document.

    Attributes:
        text: its text.
        number: its place among the records of the file, from 0.
        stimulus: the only stimulus to look for, once, in a text that is one whole context; None for all.
        start: the character at which that stimulus begins, if known.
    """

    text: str
    number: int
    stimulus: str | None = None
    start: int | None = None


class _UnusableError(ValueError):
    """A record that cannot be used; the message says where and why, without the file."""


_Found = Iterator[Record | _UnusableError]


def read_records(shard: Shard, errors: Errors = "stop", counts: ReadingReport | None = None) -> Iterator[Record]:
    """Read the records of a file one by one; blank ones, and null ones in a column, are left out.

    Args:
        shard: the file, in one of these formats; all but parquet and dataset may be compressed (`open_decompressed`).
            `text` has one record per line; so has `word`, each a sentence for the word in the file's name; `jsonl` has
            a JSON object per line, `json` an array of objects, or objects one after the other; `table` has a header and
            a column with the text, `extracted` columns with a stimulus and a sentence; `conllu` has `# text =` lines;
            `parquet` has a column of strings; `dataset` is an Arrow file of the datasets library; `pickle` is {word:
            [sentence]}, read without running anything. `field` may be a path through nested objects or columns
            (`meta.body`).
        errors: stop at a record that cannot be used (not UTF-8, not JSON, without the field or without text), or leave
            it out and count it. A damaged file and a missing column always stop.
        counts: counts to add to, complete when the iterator is exhausted. `bytes` are counted in the decompressed file,
            or in the texts of a column; `lines` in the file, or as rows of a column; `skipped_lines` are unusable
            records, and null rows of a column.

    Raises:
        InputError: the file is missing, damaged, truncated, or without text, or a record cannot be used; with the file,
            the place and the value found.
    """
    counts = counts if counts is not None else ReadingReport()
    documents = skipped = 0
    for record in _READERS[shard.format][0](shard, counts):
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
            f"{shard.path}: its text is empty ({skipped} records could not be used). Take it out of"
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
    """Return the word that a file of its sentences is named after: `ফুল` for `sentences/ফুল.txt.gz`."""
    name = PurePath(path).name
    for ending in COMPRESSED:
        name = name.removesuffix(ending)
    return PurePath(name).stem.strip()


def _not_utf8(error: UnicodeDecodeError, line: int, offset: int) -> _UnusableError:
    return _UnusableError(describe_not_utf8(offset + error.start, line, error))


# --------------------
# JSON.


def _read_json_lines(shard: Shard, counts: ReadingReport) -> _Found:
    number = 0
    for line, offset, raw in read_lines(Path(shard.path), counts):
        if not raw.strip():
            continue
        try:
            record: object = _DECODER.decode(raw.decode())
        except UnicodeDecodeError as error:
            yield _not_utf8(error, line, offset)
        except (ValueError, RecursionError) as error:
            begins = repr(raw[:60].decode(errors="replace").strip())
            yield _UnusableError(
                f"line {line} is not JSON ({error}); it begins with {begins}. Each line must be one object, such as"
                f' {{"{shard.field}": "..."}}; write `format: json` for an array. Correct it, {_SKIP}.'
            )
        else:
            yield _text_in_json(record, f"line {line}", number, shard)
        number += 1


def _read_json(shard: Shard, counts: ReadingReport) -> _Found:
    """Yield the objects of a file: elements of arrays, or one after the other. Memory holds the file."""
    with open_decompressed(shard.path) as stream:
        raw = stream.read(LARGEST_JSON + 1)
    counts.bytes, counts.lines = counts.bytes + len(raw), counts.lines + raw.count(b"\n")
    problem, number = "", 0
    if len(raw) > LARGEST_JSON:
        problem = (
            f"more than {LARGEST_JSON} bytes of JSON that is not one object per line. Write JSON lines (`jq -c '.[]'`)"
        )
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        text, problem = "", problem or describe_not_utf8(error.start, raw.count(b"\n", 0, error.start) + 1, error)
    try:
        for record in walk_json(text) if not problem else ():
            record = {shard.field: record} if isinstance(record, str) else record
            yield _text_in_json(record, f"record {number} (from 0)", number, shard)
            number += 1
    except (ValueError, RecursionError) as error:
        problem = (
            f"record {number} (from 0) is not JSON ({error}). The file is truncated or damaged: fetch it again; or, if"
            " it is plain text, write `format: text`"
        )
    if problem:
        raise InputError(f"{shard.path}: {problem.rstrip('.')}.")


def _text_in_json(record: object, place: str, number: int, shard: Shard) -> Record | _UnusableError:
    """Return the text in the field of an object as a record."""
    field, text = shard.field, cast(Any, record)
    # a name may itself include a dot
    for name in [field] if isinstance(record, dict) and field in record else field.split("."):
        if not isinstance(text, dict) or name not in text:
            names = list(_list_fields(record))
            found = _listed("Fields", names) if isinstance(record, dict) else f"Found: {_shorten(record)}"
            array = "; an array is `format: json`" if isinstance(record, list) else ""
            take_out = ", take the records of its lists (`[]`) out (`jq -c`)" if "[]" in "".join(names) else ""
            return _UnusableError(
                f"{place} has no field {name!r} (`field: {field}`). {found}{array}. Write the one with the text as"
                f" `field:` of this entry of `corpus.texts`{take_out}, {_SKIP}."
            )
        text = text[name]
    if not isinstance(text, str) or not _is_unicode(text):
        return _UnusableError(
            f"{place} has {_shorten(text)} in the field {field!r}, not a text (a string of whole characters)."
            f" Name another field (`field:` of this entry of `corpus.texts`), correct it, {_SKIP}."
        )
    return Record(text, number)


def _list_fields(record: object, *path: str) -> Iterator[str]:
    """Yield the paths to the fields of an object and of nested ones: `a.b`, and `a.b[]` for a list of objects."""
    for name, value in record.items() if isinstance(record, dict) else ():
        is_list = isinstance(value, list) and any(isinstance(each, dict) for each in value)
        yield from list(_list_fields(value, *path, name)) or [".".join([*path, name]) + "[]" * is_list]


def _shorten(value: object) -> str:
    return json.dumps(value)[:60]


def _is_unicode(value: str) -> bool:
    """Return whether a text is without lone surrogates (half an escaped character, or a byte that is not UTF-8)."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _listed(what: str, names: Sequence[str]) -> str:
    shown = [*map(repr, names[:20]), *(["..."] if len(names) > 20 else [])]
    return f"{what} found: {', '.join(shown) or 'none'}"


# --------------------
# Tables: CSV, TSV, and others with a delimiter.


def _read_table(shard: Shard, counts: ReadingReport) -> _Found:
    """Yield the rows of a table. Bytes that are not UTF-8 are kept as surrogates, so that quotes and cells stay."""
    path, is_extracted = Path(shard.path), shard.format == "extracted"
    with open_decompressed(path) as stream:
        table = recognize(stream.read(HEAD + 1), f"{path}.csv")
    if table.kind != "table":
        raise InputError(f"{path}: {refuse(table) or f'is {table.kind}, not a table.'}")
    rows = split_rows(path, (raw.decode(errors="surrogateescape") for *_, raw in read_lines(path, counts)), table)
    header = [cell.strip() for cell in next(rows, (0, list[str]()))[1]]
    places = [_find_column(shard, header, name) for name in (shard.columns if is_extracted else [shard.field])]
    starts = header.index(START) if is_extracted and START in header else None
    for number, (line, row) in enumerate(rows):
        cells = [row[place] if place < len(row) else "" for place in places]
        word = cells[0].strip() if is_extracted else None
        if len(row) != len(header):
            problem = f"has {len(row)} cell(s), but the header has {len(header)}. Correct it, write `format: text`"
        elif not _is_unicode("".join(cells)):
            problem = "is not UTF-8. Convert the file to UTF-8"
        elif word == "":
            problem = f"has no stimulus ({shard.columns[0]!r}). Correct it"
        else:
            start = row[starts] if starts is not None else ""
            yield Record(cells[-1], number, word, int(start) if start.isdecimal() and len(start) < 10 else None)
            continue
        yield _UnusableError(f"row {number} (from 0, ends at line {line}) {problem}, {_SKIP}.")


def _find_column(shard: Shard, header: Sequence[str], name: str) -> int:
    """Return the place of a column, in any case if no other column has its name."""
    lower = [column.lower() for column in header]
    for names, wanted in ((header, name), (lower, name.lower())):
        if names.count(wanted) == 1:
            return names.index(wanted)
    key = "columns: {stimulus: ..., sentence: ...}" if shard.format == "extracted" else "field: ..."
    raise InputError(
        f"{shard.path}: the column {name!r} is {'twice' if name in header else 'not'} in the table's first row."
        f" {_listed('Columns', header)}. Write its name as `{key}` in `corpus.texts`, or add a row of names; if this is"
        " not a table, write `format: text`."
    )


# --------------------
# CoNLL-U: the texts of its sentences.


def _read_conllu(shard: Shard, counts: ReadingReport) -> _Found:
    """Yield documents, which begin at `# newdoc`; without it, each sentence is one."""
    number, texts = 0, list[str]()
    is_document = has_tokens = has_text = False
    for line, offset, raw in chain(read_lines(Path(shard.path), counts), [(0, 0, b"# newdoc"), (0, 0, b"")]):
        try:
            comment = _COMMENT.match(content := raw.decode().strip())
        except UnicodeDecodeError as error:
            yield _not_utf8(error, line, offset)
            continue
        if comment and comment[1] == "text":
            texts.append(comment[2] or "")
            has_text = True
        has_tokens |= content[:1].isdecimal()
        begins = comment and comment[1].startswith("newdoc")
        if has_tokens and not has_text and not content:
            yield _UnusableError(
                f"the sentence before line {line or counts.lines + 1} lacks `# text =`. Add it, {_SKIP}."
            )
        if texts and (begins or (not content and not is_document)):
            yield Record("\n".join(texts), number)
            number, texts = number + 1, []
        if not content:
            has_tokens = has_text = False
        is_document |= bool(begins)


# --------------------
# A column of strings of Parquet or Arrow. Files are read, not mapped into memory, because truncating a mapped one kills
# its reader.


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
    """Yield some rows, with the number of the first."""
    # without `pre_buffer`, and with a buffer, the column of a whole row group is not read at once
    file = pq.ParquetFile(source, buffer_size=_BUFFER, pre_buffer=False)
    path = _find_text_column(shard, file.schema_arrow)
    first = sum(file.metadata.row_group(number).num_rows for number in range(shard.start))
    groups = range(file.num_row_groups)[shard.start : shard.end]
    for batch in file.iter_batches(_ROWS, groups, columns=[".".join(path)]):
        yield first, _take_column(batch, path)
        first += batch.num_rows


def _arrow_batches(source: BinaryIO, shard: Shard) -> Iterator[tuple[int, pa.Array]]:
    """Yield rows of an Arrow file, or of a stream as the datasets library writes it, with the number of the first."""
    is_file = source.read(6) == b"ARROW1"
    source.seek(0)
    reader = ipc.open_file(source) if is_file else ipc.open_stream(source)
    path = _find_text_column(shard, reader.schema)
    batches = map(reader.get_batch, range(reader.num_record_batches)) if is_file else reader
    first = 0
    for batch in batches:
        column = _take_column(batch, path)
        for begin in range(0, len(column), _ROWS):
            yield first + begin, column.slice(begin, _ROWS)
        first += len(column)
    if not is_file:
        _require_end(shard.path, source)


def _take_column(batch: pa.RecordBatch, path: Sequence[str]) -> pa.Array:
    column = batch.column(path[0])
    return pc.struct_field(column, list(path[1:])) if path[1:] else column


def _find_text_column(shard: Shard, schema: pa.Schema) -> tuple[str, ...]:
    """Return the path of the text column: `field`, or the only column of text if there is no `text`."""
    kinds = dict(_list_columns(schema))
    texts = [path for path, kind in kinds.items() if _is_text(kind)]
    # a name may itself include a dot
    for path in ((shard.field,), tuple(shard.field.split("."))):
        if path in texts and schema.names.count(path[0]) == 1:
            return path
    if shard.field == "text" and len(texts) == 1 and not any(path[0] == "text" for path in kinds):
        return texts[0]
    names = [f"{'.'.join(path)} ({kind})" for path, kind in kinds.items()]
    raise InputError(
        f"{shard.path}: there is not one column {shard.field!r} of text (string). {_listed('Columns', names)}. Write"
        " its name as `field:` in `corpus.texts`. Give each column a name of its own, and each text a row (`explode`)."
    )


def _list_columns(
    fields: Iterable[pa.Field], before: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], pa.DataType]]:
    """Yield the path and type of each column, including those within structs."""
    for field in fields:
        path = (*before, field.name)
        if pa.types.is_struct(field.type):
            yield from _list_columns(field.type, path)
        else:
            yield path, field.type


def _is_text(kind: pa.DataType) -> bool:
    values = kind.value_type if pa.types.is_dictionary(kind) else kind
    return bool(pa.types.is_string(values) or pa.types.is_large_string(values) or pa.types.is_string_view(values))


def _require_end(path: str, source: BinaryIO) -> None:
    """Refuse a stream without an end mark at the file's end, which would read like a shorter one."""
    read = source.tell()
    source.seek(max(0, source.seek(0, os.SEEK_END) - len(_END_OF_STREAM)))
    if source.read() != _END_OF_STREAM or source.tell() != read:
        raise InputError(
            f"{path}: the Arrow stream lacks an end mark at the file's end (byte {source.tell()}; read up to {read})."
            " The file is truncated, or something follows the data: fetch it again, or save the data set again."
        )


# --------------------
# Sentences by word, as the program of Sadhu et al. (2024) stores them: a pickle `{word: [sentence]}`.


class _PlainUnpickler(pickle.Unpickler):
    """Makes dicts, lists and texts, and refuses all imports of the pickle."""

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
    """Load a pickle `{word: [sentence, ...]}`, plain or compressed, without running anything in it."""
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
                f"{path}: not a pickle of sentences ({reason(error)[:200]}); nothing of it was run. Write {{word:"
                " [sentence, ...]}, a table (`format: extracted`), or a text file for each word (`format: word`)."
            ) from None
    return dict(content)


_READERS: Mapping[Format, tuple[Callable[[Shard, ReadingReport], _Found], tuple[str, ...]]] = {
    "text": (_read_lines, (".txt", ".text", ".bn", ".hi", ".en")),
    "word": (_read_lines, ()),
    "jsonl": (_read_json_lines, (".jsonl", ".ndjson")),
    "json": (_read_json, ()),
    "table": (_read_table, (".csv", ".tsv", ".tab")),
    "extracted": (_read_table, ()),
    "conllu": (_read_conllu, (".conllu", ".conllup")),
    "pickle": (_read_pickle, (".pkl", ".pickle")),
    "parquet": (_read_column, (".parquet",)),
    "dataset": (_read_column, (".arrow",)),
}
"""How each format is read, and its file endings, which count where the content is text."""

FORMATS: Mapping[str, Format] = {ending: name for name, (_, endings) in _READERS.items() for ending in endings}
"""The formats by the endings of files."""
