"""A column of strings out of Parquet and Arrow files, some rows at a time, in memory that the file cannot choose.

Files are read, not mapped into memory: mapped pages count as memory of the process until the whole file does, and a
mapped file that is cut short under the reader kills the process instead of raising an error.

A few bytes can stand for any number of others in several ways: compressed buffers and pages, of this column or another
one; a long text that many rows name (dictionaries, views). What the file itself says that it comes to is counted before
anything is decompressed, only the wanted column is taken, and rows become texts a few megabytes at a time, each counted
before it is copied.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import accumulate, islice
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.ipc as ipc
import pyarrow.parquet as pq

from prasanga.base.errors import InputError, open_regular, reason
from prasanga.sentences.corpus import INFLATION, Inflation, Told
from prasanga.sentences.remote import is_remote, open_remote, out_of_reach

_ROWS = 256
_BYTES = 1 << 24  # of texts that are made at a time; a single row may have more
_BUFFER = 1 << 20
_LARGEST_BATCH = 1 << 32  # what one batch of Arrow may come to, all its columns together
_ARROW_FILE = b"ARROW1"
_TEXT_TYPES = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)
_END_OF_STREAM = b"\xff\xff\xff\xff\0\0\0\0"
_VIEW = 16  # bytes of a string view: its length in the first four


def row_groups(path: str | Path) -> list[tuple[int, int]]:
    """Return about how many bytes of a Parquet file come before each of its row groups, and how many rows.

    Raises:
        InputError: it cannot be read.
    """
    with _explaining(path, "Parquet"), _opened(path) as source:
        metadata = pq.read_metadata(source)
        groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
        size, before = source.seek(0, os.SEEK_END), _before(max(0, group.total_byte_size) for group in groups)
        places = [size * each // (before[-1] or 1) for each in before]
        return list(zip(places, _before(group.num_rows for group in groups), strict=False))


def arrow_batches(path: str | Path) -> list[tuple[int, int]]:
    """Return at which byte of an Arrow file each of its batches begins, and how many rows come before it.

    These are none where batches depend on others.

    Raises:
        InputError: it cannot be read.
    """
    with _explaining(Path(path), "Arrow"), open_regular(path) as raw:
        messages = _messages(raw, Inflation(Path(path), 0, 1 << 62))
        if any(each.kind == _DICTIONARY for each in messages):
            return []
        return list(zip((each.place for each in messages), _before(each.rows for each in messages), strict=False))


def _opened(path: str | Path) -> BinaryIO:
    return open_remote(str(path)) if is_remote(str(path)) else open_regular(path)


def _before(numbers: Iterable[int]) -> list[int]:
    return [0, *accumulate(numbers)]


def parquet_texts(
    path: str | Path, column: str, read: Told = None, inflation: int = INFLATION, start: int = 0, end: int | None = None
) -> Iterator[str | bytes | None]:
    """Yield the rows of a Parquet column, of row group `start` to before `end`.

    Null comes as None, and what is not UTF-8 as bytes.

    `read` is told how many bytes the rows read have of the file's, each row as many as another. The texts may come to
    `inflation` times the file's size (`open_decompressed`).

    Raises:
        InputError: for a file that is absent, damaged or no Parquet, or comes to more text than it may, and for a
            column that is not there or not of strings; it names those that are there.
    """
    with _explaining(path, "Parquet"), _opened(path) as source:
        metadata = pq.read_metadata(source)
        schema = metadata.schema.to_arrow_schema()
        _require_strings(path, schema, column)
        size, n_rows, done = source.seek(0, os.SEEK_END), metadata.num_rows, 0
        groups = range(metadata.num_row_groups)[start:end]
        chunks = _chunks(metadata, schema.get_field_index(column))
        Inflation(path, size, inflation).add(sum(max(0, chunk.total_uncompressed_size) for chunk in chunks))
        # A text that many rows name stays one. A buffer, since otherwise a column of a whole row group is read at once.
        named = [column] if any(chunk.has_dictionary_page for chunk in chunks) else None
        file = pq.ParquetFile(source, buffer_size=_BUFFER, pre_buffer=False, read_dictionary=named)

        def columns() -> Iterator[pa.Array]:
            nonlocal done
            for batch in file.iter_batches(_ROWS, groups, columns=[column]):
                yield batch.column(0)
                before, done = done, done + batch.num_rows
                if read is not None:
                    read(size * done // n_rows - size * before // n_rows)

        yield from _texts(columns(), Inflation(path, size, inflation))


def arrow_texts(
    path: str | Path, column: str, read: Told = None, inflation: int = INFLATION, start: int = 0, end: int | None = None
) -> Iterator[str | bytes | None]:
    """Yield the rows of a column of an Arrow file, of batch `start` to before `end`, as `parquet_texts`.

    The file is in the stream format, which the library datasets writes, or in the file format.

    Raises:
        InputError: as `parquet_texts`; also for a stream without its end, which reads like a shorter one.
    """
    path = Path(path)
    with _explaining(path, "Arrow"), open_regular(path) as raw, pa.PythonFile(raw, mode="r") as source:
        messages = _messages(raw, Inflation(path, path.stat().st_size, inflation))
        is_file = _is_file(raw)
        opened = ipc.open_file if is_file else ipc.open_stream
        schema = opened(source).schema
        _require_strings(path, schema, column)
        raw.seek(0)
        reader = opened(source, options=ipc.IpcReadOptions(included_fields=[schema.get_field_index(column)]))
        if not is_file and start:
            raw.seek(messages[start].place)
        batches: Iterator[pa.RecordBatch] = (
            map(reader.get_batch, range(reader.num_record_batches)[start:end])
            if is_file
            else islice(reader, None if end is None else end - start)
        )
        limit = Inflation(path, path.stat().st_size, inflation)
        yield from _texts((_sound(batch.column(0)) for batch in _told(batches, raw, read)), limit)
        if not is_file and end is None:
            _require_end(path, raw)


def _is_file(raw: BinaryIO) -> bool:
    """Return whether a file is in the file format and not a stream, and go back to its beginning."""
    raw.seek(0)
    begin = raw.read(len(_ARROW_FILE))
    raw.seek(0)
    return begin == _ARROW_FILE


def _told(batches: Iterable[pa.RecordBatch], file: BinaryIO, read: Told) -> Iterator[pa.RecordBatch]:
    """Yield the batches; `read` is told how many bytes of the file each took."""
    done = 0
    for batch in batches:
        yield batch
        before, done = done, file.tell()
        if read is not None:
            read(max(0, done - before))


def _sound(column: pa.Array) -> pa.Array:
    """Check a column and return it.

    Arrow takes the places of its texts on trust: those of a damaged file lie anywhere in memory.
    """
    kinds = {pa.string(): pa.binary(), pa.large_string(): pa.large_binary()}
    bare = column.view(kinds[column.type]) if column.type in kinds else column  # what is no UTF-8 is told later
    bare.validate(full=True)
    return column


def _chunks(metadata: pq.FileMetaData, column: int) -> list[pq.ColumnChunkMetaData]:
    """Return what the file says of a column of strings, a row group each."""
    if metadata.num_columns != len(metadata.schema.to_arrow_schema().names):
        return []  # nested columns beside it have several parts
    return [metadata.row_group(group).column(column) for group in range(metadata.num_row_groups)]


def _texts(columns: Iterable[pa.Array], inflation: Inflation) -> Iterator[str | bytes | None]:
    for whole in columns:
        sizes = _sizes(whole)
        for start, end in _portions(sizes.tolist()):
            inflation.add(int(sizes[start:end].sum()))
            yield from _values(whole.slice(start, end - start))


def _sizes(column: pa.Array) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Return the bytes of each row's text, (n,) int64; 0 of null."""
    if pa.types.is_dictionary(column.type):
        rows = pc.fill_null(column.indices, 0).to_numpy(zero_copy_only=False)
        of_values = _sizes(column.dictionary) if len(column.dictionary) else np.zeros(1, np.int64)
        if rows.size and not 0 <= rows.min() <= rows.max() < len(of_values):
            raise pa.ArrowInvalid("an index leads out of its dictionary")
        sizes = of_values[rows]
    elif pa.types.is_string_view(column.type):
        views = np.frombuffer(column.buffers()[1], np.int32)[:: _VIEW // 4]
        sizes = views[column.offset : column.offset + len(column)].astype(np.int64)
    else:
        sizes = pc.fill_null(pc.binary_length(column), 0).to_numpy(zero_copy_only=False).astype(np.int64)
    return np.where(column.is_valid().to_numpy(zero_copy_only=False), sizes, 0)


def _portions(sizes: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield from where to where rows are made texts together."""
    start = total = 0
    for row, size in enumerate(sizes):
        if row > start and (row - start == _ROWS or total + size > _BYTES):
            yield start, row
            start, total = row, 0
        total += size
    if start < len(sizes):
        yield start, len(sizes)


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


def _require_strings(path: str | Path, schema: pa.Schema, column: str) -> None:
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
    """Refuse a stream that is not whole.

    It is whole if its mark of the end is the last that the file has, and was read.
    """
    read = source.tell()
    source.seek(max(0, source.seek(0, os.SEEK_END) - len(_END_OF_STREAM)))
    if source.read() != _END_OF_STREAM or source.tell() != read:
        raise InputError(
            f"{path}: the Arrow stream has no end mark at the file's end (byte {source.tell()}; read up to {read}). The"
            " file is truncated, or something follows the data: fetch it again, or save the data set again."
        )


@contextmanager
def _explaining(path: str | Path, kind: str) -> Iterator[None]:
    """Say which file cannot be read, and what to do."""
    try:
        yield
    except FileNotFoundError:
        raise InputError(f"{path}: no such file. Correct `corpus.texts`, or put the file there.") from None
    except InputError:
        raise
    # a damaged file asks for any amount of memory, and has names that are no text
    except (OSError, pa.ArrowException, ValueError, TypeError, OverflowError, MemoryError, struct.error) as error:
        raise InputError(
            f"{path}: cannot be read as {kind} ({reason(error)}). The file is truncated or"
            " damaged, or is not what its ending says: fetch it again, or write its `format:` in this entry of"
            " `corpus.texts`."
        ) from None
    except Exception as error:  # of the libraries that speak to servers
        if not is_remote(str(path)):
            raise
        raise out_of_reach(str(path), reason(error)) from None


# --------------------
# What a file of Arrow says that its batches come to (the format: arrow.apache.org/docs/format/Columnar.html, "IPC").
#
# A batch is a message: metadata in a table of FlatBuffers, and a body of buffers, each of which, if it is compressed,
# begins with the number of bytes that it comes to. The library allocates these before it decompresses anything.


_MARK = b"\xff\xff\xff\xff"
_DICTIONARY, _BATCH = 2, 3  # kinds of messages
_KIND, _HEADER, _BODY_LENGTH = 1, 2, 3  # fields of a message
_DATA = 1  # of a dictionary: its batch
_ROW_COUNT, _BUFFERS, _COMPRESSION = 0, 2, 3  # of a batch
_DICTIONARIES, _BATCHES = 2, 3  # of the footer of a file
_BLOCK, _PLACE = 24, 16  # bytes of the place of a message, and of a buffer


class _Message(NamedTuple):
    """A dictionary or a batch: its kind, where it begins, and how many rows it has."""

    kind: int
    place: int
    rows: int


def _messages(file: BinaryIO, inflation: Inflation) -> list[_Message]:
    """Return the dictionaries and batches of a file, in order; what they come to is counted.

    Raises:
        InputError: they come to more than they may.
        ValueError, struct.error: the file is damaged, or one batch comes to more than any should.
    """
    is_file = _is_file(file)
    found: list[_Message] = []
    starts = _starts_in_footer(file) if is_file else None
    at = 0
    for start in starts if starts is not None else iter(int, 1):
        place = start if is_file else at
        file.seek(place)
        size = _size_of_metadata(file)
        if not size:
            break
        message = _Table(file.read(size))
        body = file.tell()
        came_to = sum(_in_buffers(file, message, body))
        if came_to > _LARGEST_BATCH:
            raise ValueError(f"a batch that comes to {came_to} bytes, of at most {_LARGEST_BATCH}")
        inflation.add(came_to)
        if (kind := message.number(_KIND, "<B")) in (_DICTIONARY, _BATCH):
            rows = message.table(_HEADER).number(_ROW_COUNT, "<q") if kind == _BATCH else 0
            found.append(_Message(kind, place, rows))
        at = body + max(0, message.number(_BODY_LENGTH, "<q"))
    return found


def _size_of_metadata(file: BinaryIO) -> int:
    """Return the bytes of a message's metadata, which the file is left before; 0 at the end of a stream."""
    head = file.read(4)
    if head == _MARK:
        head = file.read(4)
    size = int.from_bytes(head, "little", signed=True) if len(head) == 4 else 0
    if size < 0:
        raise ValueError("a message without a size")
    return size


def _starts_in_footer(file: BinaryIO) -> list[int]:
    """Return where the messages of a file begin, by its footer."""
    end = file.seek(-(4 + len(_ARROW_FILE)), os.SEEK_END)
    size = int.from_bytes(file.read(4), "little", signed=True)
    file.seek(max(0, end - max(0, size)))
    footer = _Table(file.read(max(0, size)))
    lists = (footer.structs(field, _BLOCK) for field in (_DICTIONARIES, _BATCHES))
    return [int.from_bytes(block[:8], "little") for blocks in lists for block in blocks]


def _in_buffers(file: BinaryIO, message: _Table, body: int) -> Iterator[int]:
    """Yield the bytes that each compressed buffer of a message comes to."""
    kind = message.number(_KIND, "<B")
    if kind not in (_DICTIONARY, _BATCH):
        return
    header = message.table(_HEADER)
    batch = header.table(_DATA) if kind == _DICTIONARY else header
    if not batch.place(_COMPRESSION):
        return
    for buffer in batch.structs(_BUFFERS, _PLACE):
        start, length = struct.unpack("<2q", buffer)
        if length > 8:
            file.seek(body + start)
            yield max(0, int.from_bytes(file.read(8), "little", signed=True))


class _Table:
    """A table of FlatBuffers: numbers, structs and tables by the number of their field."""

    def __init__(self, data: bytes, at: int | None = None) -> None:
        self._data = data
        self._at = struct.unpack_from("<I", data)[0] if at is None else at
        self._fields = self._at - struct.unpack_from("<i", data, self._at)[0]
        if self._fields < 0:
            raise ValueError("a table that begins before its file")

    def place(self, field: int) -> int:
        """Return where a field is; 0 if it is not there."""
        slot = 4 + 2 * field
        if slot >= struct.unpack_from("<H", self._data, self._fields)[0]:
            return 0
        offset: int = struct.unpack_from("<H", self._data, self._fields + slot)[0]
        return self._at + offset if offset else 0

    def number(self, field: int, kind: str) -> int:
        """Return a number; 0 if it is not there."""
        place = self.place(field)
        return int(struct.unpack_from(kind, self._data, place)[0]) if place else 0

    def table(self, field: int) -> _Table:
        """Return a table within this one."""
        place = self.place(field)
        return _Table(self._data, place + self.number(field, "<I"))

    def structs(self, field: int, size: int) -> list[bytes]:
        """Return a list of structs, their bytes each."""
        place = self.place(field)
        if not place:
            return []
        start = place + self.number(field, "<I")
        count = min(struct.unpack_from("<I", self._data, start)[0], len(self._data) // size)
        return [self._data[start + 4 + n * size : start + 4 + (n + 1) * size] for n in range(count)]
