"""One shard file of a vector store: what is in it, how it is written, and how it is read without trusting it.

A shard holds rows of segment_id, n_pieces, n_unknown, cut and embedding; a workflow's output that is linked into the
store has more columns, which are left alone. Pages carry checksums, and metadata the key of the vectors, the number of
rows and a digest of them. Whatever does not fit makes the whole shard unusable, and an unusable shard counts as absent.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import xxhash
from numpy.typing import NDArray

from prasanga.embeddings.columns import StoredDtype, arrow_to_vectors, embedding_field, vectors_to_arrow
from prasanga.errors import reason
from prasanga.footers import require_whole
from prasanga.parquet import write_row_groups

PackedIds = NDArray[np.uint64]
"""(n, 2): an id of 32 hexadecimal digits as two numbers, the first digits first."""

_PREFIX = "prasanga."
_FIELDS = {"segment_id": pa.string(), "n_pieces": pa.int32(), "n_unknown": pa.int32(), "cut": pa.bool_()}
_NUMBERS = ("n_pieces", "n_unknown", "cut")
_BYTES_PER_ROW_GROUP = 12 << 20  # little enough to read a few rows, enough to read all of them fast


class UnusableShardError(Exception):
    """A file that is cut short, damaged, or of other vectors than the store's. The message says why."""


@dataclass(frozen=True)
class Kind:
    """What all shards of a store have in common: the key of their vectors, and the precision they are kept in."""

    key: str
    dtype: StoredDtype


@dataclass(frozen=True)
class Rows:
    """Rows of a store: n vectors with what is known of each.

    Attributes:
        ids: n segment ids (digests of text and span, 32 hexadecimal digits).
        n_pieces: (n,) int32, pieces of the target.
        n_unknown: (n,) int32, those that the tokenizer does not know.
        cut: (n,) bool, whether the text was cut to fit the model.
        embedding: (n, d), float16 or float32.
    """

    ids: list[str]
    n_pieces: NDArray[np.int32]
    n_unknown: NDArray[np.int32]
    cut: NDArray[np.bool_]
    embedding: NDArray[np.floating]

    def only(self, kept: NDArray[np.bool_]) -> Rows:
        """Without the rows for which `kept`, (n,), is false."""
        if kept.all():
            return self
        ids = [name for name, stays in zip(self.ids, kept.tolist(), strict=True) if stays]
        return Rows(ids, self.n_pieces[kept], self.n_unknown[kept], self.cut[kept], self.embedding[kept])

    def to_table(self) -> pa.Table:
        """As an Arrow table with the columns named as the attributes, `ids` as segment_id; none has nulls."""
        columns = [
            pa.array(self.ids, pa.string()),
            pa.array(self.n_pieces, pa.int32()),
            pa.array(self.n_unknown, pa.int32()),
            pa.array(self.cut, pa.bool_()),
            vectors_to_arrow(self.embedding),
        ]
        fields = [pa.field(name, kind, nullable=False) for name, kind in _FIELDS.items()]
        vectors = pa.field("embedding", columns[-1].type, nullable=False)
        return pa.Table.from_arrays(columns, schema=pa.schema([*fields, vectors]))


def rows_from_table(table: pa.Table) -> Rows:
    """The rows of a table with the columns of a shard; others are left out."""
    n_pieces, n_unknown, cut = (table.column(name).to_numpy() for name in _NUMBERS)
    return Rows(table.column("segment_id").to_pylist(), n_pieces, n_unknown, cut, _vectors(table))


def _vectors(table: pa.Table) -> NDArray[np.floating]:
    return arrow_to_vectors(table.column("embedding"))


def one_of_each(several: Sequence[Rows]) -> Rows:
    """All rows of several, sorted by id; of rows with the same id the first."""
    first: dict[str, int] = {}
    for place, name in enumerate(name for rows in several for name in rows.ids):
        first.setdefault(name, place)
    ids = sorted(first)
    order = np.array([first[name] for name in ids], dtype=np.int64)
    return Rows(
        ids,
        np.concatenate([rows.n_pieces for rows in several])[order],
        np.concatenate([rows.n_unknown for rows in several])[order],
        np.concatenate([rows.cut for rows in several])[order],
        np.concatenate([rows.embedding for rows in several])[order],
    )


def pack_ids(ids: Sequence[str]) -> PackedIds:
    """Ids as numbers, in their order.

    Raises:
        ValueError: if one is not 32 hexadecimal digits.
    """
    if not set(map(len, ids)) <= {32}:
        wrong = next(name for name in ids if len(name) != 32)
        raise ValueError(f"the segment id {wrong!r} has {len(wrong)} characters, not 32 hexadecimal digits")
    return _unhex("".join(ids), len(ids))


def _unhex(digits: str, n: int) -> PackedIds:
    try:
        packed = bytes.fromhex(digits)
    except ValueError:
        packed = b""
    if len(packed) != 16 * n:  # white space is skipped without a word
        raise ValueError("a segment id is not 32 hexadecimal digits")
    return np.frombuffer(packed, dtype=">u8").reshape(n, 2).astype(np.uint64)


def shard_metadata(kind: Kind, rows: Rows) -> dict[str, str]:
    """What a shard's metadata says of its rows: key, rows, and a digest of ids and vectors."""
    return {"key": kind.key, "rows": str(len(rows.ids)), "digest": _digest(rows)}


def _digest(rows: Rows) -> str:
    digest = xxhash.xxh3_128("\n".join(rows.ids).encode())
    digest.update(np.ascontiguousarray(rows.embedding).view(np.uint8).data)
    return digest.hexdigest()


def write_shard(path: Path, rows: Rows, kind: Kind) -> None:
    """Write rows as a shard, whole or not at all."""
    table = rows.to_table()
    width = rows.embedding.shape[1]
    size = max(_BYTES_PER_ROW_GROUP // max(width * rows.embedding.itemsize, 1), 1)
    groups = (table.slice(start, size) for start in range(0, table.num_rows, size))
    write_row_groups(path, table.schema, groups, shard_metadata(kind, rows))


def content_digest(path: Path) -> str:
    """The name of a shard in the store: a digest of the file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, xxhash.xxh3_128).hexdigest()


def read_ids(path: Path, kind: Kind) -> tuple[int, PackedIds]:
    """The width of a shard's vectors, and the ids of its rows; nothing else is read.

    Raises:
        UnusableShardError: see there.
        FileNotFoundError: another process has removed the file.
    """
    with _opened(path, kind) as file:
        return _width(file), _ids_of(file.read(columns=["segment_id"]))


def read_back(path: Path, kind: Kind) -> PackedIds:
    """The ids of a shard after reading all of it: only a shard for which this succeeds may stand in for another.

    Raises:
        UnusableShardError: also if its bytes are not those that it is named by.
        FileNotFoundError: another process has removed the file.
    """
    if content_digest(path) != path.stem:
        raise UnusableShardError("is not what was written")
    return pack_ids(read_whole(path, kind).ids)


def read_rows(path: Path, kind: Kind, places: NDArray[np.int64]) -> Iterator[tuple[slice, PackedIds, Rows]]:
    """The rows at ascending `places`, row group by row group; row groups that have none of them are not read.

    Yields:
        Which of `places` these are, the packed ids found there, and the rows, but without the ids as text.

    Raises:
        UnusableShardError: also if the shard has fewer rows than that.
        FileNotFoundError: another process has removed the file.
    """
    with _opened(path, kind) as file:
        metadata = file.metadata
        ends = np.cumsum([metadata.row_group(number).num_rows for number in range(metadata.num_row_groups)])
        if len(places) and (not len(ends) or places[-1] >= ends[-1]):
            raise UnusableShardError(f"has {metadata.num_rows} rows, but one was expected at {places[-1]}")
        groups = np.searchsorted(ends, places, side="right")
        for group in np.unique(groups):
            first, last = np.searchsorted(groups, [group, group + 1])
            table = file.read_row_group(int(group), columns=[*_FIELDS, "embedding"])
            _require_no_nulls(table)
            mine = places[first:last] - (ends[group] - metadata.row_group(int(group)).num_rows)
            n_pieces, n_unknown, cut = (table.column(name).to_numpy()[mine] for name in _NUMBERS)
            rows = Rows([], n_pieces, n_unknown, cut, _vectors(table)[mine])
            yield slice(int(first), int(last)), _ids_of(table)[mine], rows


def read_whole(path: Path, kind: Kind) -> Rows:
    """All rows of a shard, compared with what its metadata says of them.

    Raises:
        UnusableShardError: also if they are not the rows that were written.
        FileNotFoundError: another process has removed the file.
    """
    with _opened(path, kind) as file:
        table = file.read(columns=[*_FIELDS, "embedding"])
        _require_no_nulls(table)
        _ids_of(table)
        rows = rows_from_table(table)
        expected = _said(file).get("digest")
        if expected is not None and expected != _digest(rows):
            raise UnusableShardError("does not hold the vectors that were written to it")
        return rows


@contextmanager
def _opened(path: Path, kind: Kind) -> Iterator[pq.ParquetFile]:
    """A shard, open and of the right kind. What goes wrong while it is read makes it unusable as well."""
    try:
        require_whole(path)
        with pq.ParquetFile(path, page_checksum_verification=True) as file:
            _require_kind(file, kind)
            yield file
    except (FileNotFoundError, MemoryError):
        raise
    except (pa.ArrowException, OSError, ValueError) as error:
        if not path.exists():  # removed while it was read, over a network
            raise FileNotFoundError(path) from error
        raise UnusableShardError(f"cannot be read ({reason(error)})") from error


def _require_kind(file: pq.ParquetFile, kind: Kind) -> None:
    schema, said = file.schema_arrow, _said(file)
    if said.get("key") != kind.key:
        raise UnusableShardError(f"has vectors of the key {said.get('key')!r}, not {kind.key!r}")
    if said.get("rows", str(file.metadata.num_rows)) != str(file.metadata.num_rows):
        raise UnusableShardError(f"has {file.metadata.num_rows} rows, not {said['rows']}")
    for name, expected in _FIELDS.items():
        if schema.names.count(name) != 1 or schema.field(name).type != expected:
            raise UnusableShardError(f"has no column {name} of {expected}")
    if "embedding" not in schema.names or not pa.types.is_fixed_size_list(schema.field("embedding").type):
        raise UnusableShardError("has no column embedding of fixed-size lists")
    found, expected = schema.field("embedding").type, embedding_field(kind.dtype, 1).type
    if found.value_type != expected.value_type:
        raise UnusableShardError(f"has vectors of {found.value_type}, not {kind.dtype}")


def _require_no_nulls(table: pa.Table) -> None:
    for name in table.column_names:
        if table.column(name).null_count:
            raise UnusableShardError(f"has a row without {name}")


def _said(file: pq.ParquetFile) -> dict[str, str]:
    metadata: Mapping[bytes, bytes] = file.schema_arrow.metadata or {}
    return {
        name.decode().removeprefix(_PREFIX): value.decode(errors="replace")
        for name, value in metadata.items()
        if name.startswith(_PREFIX.encode())
    }


def _width(file: pq.ParquetFile) -> int:
    return int(file.schema_arrow.field("embedding").type.list_size)


def _ids_of(table: pa.Table) -> PackedIds:
    column = table.column("segment_id")
    n = len(column)
    lengths = pc.min_max(pc.binary_length(column)).as_py()
    if n and (column.null_count or lengths != {"min": 32, "max": 32}):
        raise ValueError("a segment id is not 32 hexadecimal digits")
    digits = []
    for chunk in column.chunks:
        _, offsets, text = chunk.buffers()
        if len(chunk):
            start = int(np.frombuffer(offsets, dtype=np.int32)[chunk.offset])
            digits.append(bytes(text[start : start + 32 * len(chunk)]))
    return _unhex(b"".join(digits).decode("ascii"), n)
