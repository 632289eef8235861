"""The stores of vectors: one for everything but text and span that a vector depends on."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
import polars as pl
import pyarrow as pa
from numpy.typing import NDArray

from prasanga.base.errors import InputError
from prasanga.base.store import KEY, Store

_LOG = logging.getLogger(__name__)
StoredDtype = Literal["float16", "float32"]
"""Precision in which vectors are kept."""
_SETTINGS = ("model", "layer", "pooling", "dtype")


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

    def to_table(self) -> pa.Table:
        """Return an Arrow table with the columns named as the attributes, `ids` as segment_id; none has nulls."""
        columns = [
            pa.array(self.ids, pa.string()),
            pa.array(self.n_pieces, pa.int32()),
            pa.array(self.n_unknown, pa.int32()),
            pa.array(self.cut, pa.bool_()),
            vectors_to_arrow(self.embedding),
        ]
        schema = _columns(columns[-1].type)
        return pa.Table.from_arrays(columns, schema=schema)


class VectorStore(Store):
    """The vectors of one key."""

    def __init__(
        self,
        folder: str | Path,
        dtype: StoredDtype = "float16",
        key: str = "",
        describes: Mapping[str, Any] | None = None,
    ) -> None:
        """Use `folder`, which need not exist.

        Args:
            folder: the folder of this key alone.
            dtype: precision that vectors are kept in.
            key: `vector_key`. Files of another key, or in another dtype, count as absent.
            describes: what the key is a digest of, for readers.

        Raises:
            InputError: if the folder is of another key.
        """
        self.dtype: StoredDtype = dtype
        number = pa.from_numpy_dtype(np.dtype(dtype))
        super().__init__(folder, key, _columns(pa.list_(pa.field("element", number, nullable=False))), describes)

    def read(self, ids: Sequence[str]) -> Rows | None:
        """Return the rows of `ids`, in their order, without those that the store lacks; None if it has none."""
        table = self.read_table(ids)
        if table is None:
            return None
        n_pieces, n_unknown, cut = (table.column(name).to_numpy() for name in ("n_pieces", "n_unknown", "cut"))
        vectors = arrow_to_vectors(table.column("embedding"))
        return Rows(table.column("segment_id").to_pylist(), n_pieces, n_unknown, cut, vectors)

    def add(self, rows: Rows, record: Mapping[str, Any]) -> Path:
        """Keep `rows` (`Store.add_table`).

        Raises:
            InputError: rows that this store cannot hold; a folder that cannot be written to.
        """
        n = len(rows.ids)
        lengths = {len(column) for column in (rows.n_pieces, rows.n_unknown, rows.cut, rows.embedding)}
        if lengths != {n} or rows.embedding.ndim != 2:
            raise InputError(
                f"{self.folder}: {n} ids with columns of {sorted(lengths)} rows, a mistake in the program."
            )
        if rows.embedding.dtype != self.dtype:
            raise InputError(f"{self.folder}: vectors in {rows.embedding.dtype} cannot be kept, only in {self.dtype}.")
        whole = np.isfinite(rows.embedding).all(axis=1)
        if not whole.all():
            name = rows.ids[int(np.argmin(whole))]
            raise InputError(
                f"{self.folder}: the vector of segment {name} has a number that is not finite in {self.dtype}. If it is"
                " only too large, write embeddings: {stored_dtype: float32}."
            )
        return self.add_table(rows.to_table(), record)


def vector_key(
    identity: Mapping[str, str], layer: int, pooling: str, dtype: str, code: str, **more: str | int | float | bool
) -> str:
    """Return the name of a store: a digest of everything but text and span that a vector depends on.

    Args:
        identity: `prasanga.models.model_identity` of the model.
        layer: hidden layer.
        pooling: how pieces become one vector.
        dtype: precision that the model runs in.
        code: fingerprint of the code that makes vectors.
        more: anything else that changes vectors, such as stored_dtype, pieces, quantization, options of the tokenizer.
    """
    parts = {"identity": dict(identity), "layer": layer, "pooling": pooling, "dtype": dtype, "code": code, "more": more}
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:32]


def history_of(root: str | Path) -> pl.DataFrame:
    """Return a row for each file of every store under `root`, oldest first: the store, its model, `Store.history`.

    A table with these columns and no rows if there is no store. A store whose key.json is damaged is left out, with a
    warning that names the file.
    """
    tables = [_beside(VectorStore(Path(root, "none")).history(), "", {})]
    tables += [_beside(store.history(), store.folder.name, described) for store, described in _stores(Path(root))]
    return pl.concat(tables, how="diagonal_relaxed").sort("written", "store", "shard")


def compact_stores(root: str | Path) -> int:
    """Put the small files of every store under `root` together; return how many files were replaced.

    A store whose key.json is damaged is left as it is, with a warning that names the file.
    """
    replaced = 0
    for store, described in _stores(Path(root)):
        count = store.compact()
        _LOG.info("%s (%s): %d files put together", store.folder, described.get("model"), count)
        replaced += count
    return replaced


def rounded(vectors: NDArray[np.float32], dtype: StoredDtype) -> NDArray[np.floating]:
    """Return vectors in `dtype`.

    Raises:
        InputError: if one has a number too large for it.
    """
    with np.errstate(over="ignore"):
        kept = vectors.astype(dtype)
    if not np.isfinite(kept).all():
        largest = float(np.abs(vectors).max())
        raise InputError(
            f"a vector has a number of {largest:.4g}, too large for {dtype} (at most {np.finfo(dtype).max:.0f}). Write"
            " embeddings: {stored_dtype: float32}."
        )
    return kept


def embedding_field(dtype: StoredDtype, width: int) -> pa.Field:
    """Return the schema's field for vectors of `width` numbers: named embedding, without nulls.

    Neither a row nor a number in it may be null, and the schema says so: Parquet then has no levels to decode per
    number, and a file is read several times faster.
    """
    return pa.field("embedding", _list_type(pa.from_numpy_dtype(np.dtype(dtype)), width), nullable=False)


def vectors_to_arrow(vectors: NDArray[np.floating]) -> pa.FixedSizeListArray:
    """Return (n, d) vectors as an Arrow column of fixed-size lists of non-null numbers."""
    flat = pa.array(np.ascontiguousarray(vectors).reshape(-1))
    return pa.FixedSizeListArray.from_arrays(flat, type=_list_type(flat.type, vectors.shape[1]))


def arrow_to_vectors(column: pa.ChunkedArray) -> NDArray[np.floating]:
    """Return a column of fixed-size lists as (n, d) vectors; no copy is made of a column in one chunk."""
    width = column.type.list_size
    chunks: list[NDArray[np.floating]] = [
        chunk.flatten().to_numpy(zero_copy_only=False).reshape(-1, width) for chunk in column.chunks
    ]
    if len(chunks) == 1:
        return chunks[0]
    return np.concatenate(chunks) if chunks else np.empty((0, width), column.type.value_type.to_pandas_dtype())


def _list_type(number: pa.DataType, width: int) -> pa.DataType:
    return pa.list_(pa.field("element", number, nullable=False), width)


def _columns(vectors: pa.DataType) -> pa.Schema:
    kinds = {"segment_id": pa.string(), "n_pieces": pa.int32(), "n_unknown": pa.int32(), "cut": pa.bool_()}
    return pa.schema([pa.field(name, kind, nullable=False) for name, kind in {**kinds, "embedding": vectors}.items()])


def _beside(table: pl.DataFrame, store: str, described: Mapping[str, Any]) -> pl.DataFrame:
    settings = {name: str(described.get(name, "")) for name in _SETTINGS}
    first = [pl.lit(value, pl.String).alias(name) for name, value in {"store": store, **settings}.items()]
    return table.select(*first, pl.exclude("store", *_SETTINGS))


def _stores(root: Path) -> Iterator[tuple[VectorStore, dict[str, Any]]]:
    for path in sorted(root.glob(f"*/{KEY}")):
        try:
            described = _read_key(path)
            store = VectorStore(path.parent, described["stored_dtype"], described["key"])
        except (OSError, ValueError) as error:
            _LOG.warning(
                "%s: does not say of what the vectors beside it are (%s); they are passed over. Delete the file, and"
                " the next job that adds vectors there writes it anew; or delete the folder, if nobody needs them.",
                path,
                error,
            )
            continue
        yield store, described


def _read_key(path: Path) -> dict[str, Any]:
    """Read what the file says of a store; OSError or ValueError if it does not say which vectors are in it."""
    described = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(described, dict) or not isinstance(described.get("key"), str):
        raise ValueError("it has no key")
    described.setdefault("stored_dtype", "float16")
    if described["stored_dtype"] not in get_args(StoredDtype):
        raise ValueError(f"stored_dtype is {described['stored_dtype']!r}, not {' or '.join(get_args(StoredDtype))}")
    return described
