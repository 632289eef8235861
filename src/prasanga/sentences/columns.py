"""A column of strings out of Parquet and Arrow files, some hundred rows at a time.

Files are read, not mapped into memory: mapped pages count as memory of the process until the whole file does, and a
mapped file that is cut short under the reader kills the process instead of raising an error.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa
import pyarrow.ipc as ipc
import pyarrow.parquet as pq

from prasanga.errors import InputError, reason
from prasanga.sentences.decompression import INFLATION, Inflation

_ROWS = 256
_BUFFER = 1 << 20
_ARROW_FILE = b"ARROW1"
_TEXT_TYPES = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)
_END_OF_STREAM = b"\xff\xff\xff\xff\0\0\0\0"


def parquet_texts(
    path: Path, column: str, read: Callable[[int], object] | None = None, inflation: int = INFLATION
) -> Iterator[str | bytes | None]:
    """The rows of a Parquet column; null as None, and what is not UTF-8 as bytes.

    `read` is told how many bytes the rows read have of the file's, each row as many as another. The texts may come to
    `inflation` times the file's size (`open_decompressed`).

    Raises:
        InputError: for a file that is absent, damaged or no Parquet, or comes to more text than it may, and for a
            column that is not there or not of strings; it names those that are there.
    """
    # A buffer, since otherwise a column of a whole row group (gigabytes, in some files) is read at once.
    with _explaining(path, "Parquet"), pq.ParquetFile(path, buffer_size=_BUFFER, pre_buffer=False) as file:
        _require_strings(path, file.schema_arrow, column)
        size, n_rows, done = path.stat().st_size, file.metadata.num_rows, 0
        # What the file itself says that it comes to, before any of it is decompressed.
        place = file.schema_arrow.get_field_index(column)
        Inflation(path, size, inflation).add(_declared(file, place))

        def columns() -> Iterator[pa.Array]:
            nonlocal done
            for batch in file.iter_batches(_ROWS, columns=[column]):
                yield batch.column(0)
                before, done = done, done + batch.num_rows
                if read is not None:
                    read(size * done // n_rows - size * before // n_rows)

        yield from _texts(columns(), Inflation(path, size, inflation))


def arrow_texts(
    path: Path, column: str, read: Callable[[int], object] | None = None, inflation: int = INFLATION
) -> Iterator[str | bytes | None]:
    """As `parquet_texts`, of an Arrow file: the stream format, which the library datasets writes, or the file format.

    Raises:
        InputError: as `parquet_texts`; also for a stream without its end, which reads like a shorter one.
    """
    with _explaining(path, "Arrow"), path.open("rb") as raw, pa.PythonFile(raw, mode="r") as source:
        is_file = raw.read(len(_ARROW_FILE)) == _ARROW_FILE
        raw.seek(0)
        reader = ipc.open_file(source) if is_file else ipc.open_stream(source)
        _require_strings(path, reader.schema, column)
        batches = map(reader.get_batch, range(reader.num_record_batches)) if is_file else reader
        place = reader.schema.get_field_index(column)
        limit = Inflation(path, path.stat().st_size, inflation)
        yield from _texts((_sound(batch.column(place)) for batch in _told(batches, raw, read)), limit)
        if not is_file:
            _require_end(path, raw)


def _told(
    batches: Iterable[pa.RecordBatch], file: BinaryIO, read: Callable[[int], object] | None
) -> Iterator[pa.RecordBatch]:
    """The batches; `read` is told how many bytes of the file each took."""
    done = 0
    for batch in batches:
        yield batch
        before, done = done, file.tell()
        if read is not None:
            read(max(0, done - before))


def _sound(column: pa.Array) -> pa.Array:
    """The column. Arrow takes the places of its texts on trust: those of a damaged file lie anywhere in memory."""
    kinds = {pa.string(): pa.binary(), pa.large_string(): pa.large_binary()}
    bare = column.view(kinds[column.type]) if column.type in kinds else column  # what is no UTF-8 is told later
    bare.validate(full=True)
    return column


def _declared(file: pq.ParquetFile, column: int) -> int:
    """Bytes that a column of strings comes to, as the file says it."""
    groups = range(file.metadata.num_row_groups)
    if file.metadata.num_columns != len(file.schema_arrow.names):  # nested columns beside it have several parts
        return 0
    return sum(max(0, file.metadata.row_group(n).column(column).total_uncompressed_size) for n in groups)


def _texts(columns: Iterable[pa.Array], inflation: Inflation) -> Iterator[str | bytes | None]:
    for whole in columns:
        for start in range(0, len(whole), _ROWS):
            values = _values(whole.slice(start, _ROWS))
            inflation.add(sum(map(len, filter(None, values))))
            yield from values


def _values(rows: pa.Array) -> list[str | bytes | None]:
    try:
        values: list[str | bytes | None] = rows.cast(pa.large_string()).to_pylist()
    except (UnicodeDecodeError, pa.ArrowInvalid):
        return [_decoded(value) for value in rows.cast(pa.large_binary()).to_pylist()]
    return values


def _decoded(value: bytes | None) -> str | bytes | None:
    try:
        return value.decode() if value is not None else None
    except UnicodeDecodeError:
        return value


def _require_strings(path: Path, schema: pa.Schema, column: str) -> None:
    if schema.names.count(column) != 1:
        kinds = ", ".join(f"{field.name!r} ({field.type})" for field in list(schema)[:20])
        raise InputError(
            f"{path}: there is no column {column!r}. Columns found: {kinds or 'none'}. Write the one with the text as"
            " `field:` of this entry of `corpus.texts`."
        )
    kind = schema.field(column).type
    values = kind.value_type if pa.types.is_dictionary(kind) else kind
    if not any(is_text(values) for is_text in _TEXT_TYPES):
        raise InputError(
            f"{path}: the column {column!r} is of type {kind}, where text (string) is wanted. Write the column with the"
            " text as `field:` of this entry of `corpus.texts`."
        )


def _require_end(path: Path, source: BinaryIO) -> None:
    """A stream is whole if its mark of the end is the last that the file has, and was read."""
    read = source.tell()
    source.seek(max(0, source.seek(0, os.SEEK_END) - len(_END_OF_STREAM)))
    if source.read() != _END_OF_STREAM or source.tell() != read:
        raise InputError(
            f"{path}: the Arrow stream has no end mark at the file's end (byte {source.tell()}; read up to {read}). The"
            " file is truncated, or something follows the data: fetch it again, or save the data set again."
        )


@contextmanager
def _explaining(path: Path, kind: str) -> Iterator[None]:
    """Say which file cannot be read, and what to do."""
    try:
        yield
    except FileNotFoundError:
        raise InputError(f"{path}: no such file. Correct `corpus.texts`, or put the file there.") from None
    except InputError:
        raise
    # a damaged file asks for any amount of memory, and has names that are no text
    except (OSError, pa.ArrowException, ValueError, TypeError, OverflowError, MemoryError) as error:
        raise InputError(
            f"{path}: cannot be read as {kind} ({reason(error)}). The file is truncated or"
            " damaged, or is not what its ending says: fetch it again, or write its `format:` in this entry of"
            " `corpus.texts`."
        ) from None
