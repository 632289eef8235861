"""Vectors that survive: kept beside the workflow's outputs, found again by what they were computed from.

Snakemake removes the outputs of a rule before it reruns it. So whatever was embedded is also kept in a store, a folder
per (vector key, segment length, bucket), and only what the store lacks is embedded: after a kill, for a larger sample,
for a new category. A folder holds Parquet files of rows (key, n_pieces, n_unknown, cut, embedding). A file is written
whole or not at all, under a name made from its keys; files are never changed, only merged into one that holds the rows
of all. Several processes may use one folder at once: at worst they compute the same rows twice.
"""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from prasanga.embeddings.columns import vectors_to_arrow
from prasanga.parquet import replacing

_LOG = logging.getLogger(__name__)
_ATTEMPTS = 5

StoredDtype = Literal["float16", "float32"]


def vector_key(
    identity: Mapping[str, str], layer: int, pooling: str, dtype: str, code: str, **more: str | int | float | bool
) -> str:
    """The name of a store: a digest of everything but text and span that a vector depends on.

    Args:
        identity: `prasanga.models.model_identity` of the model.
        layer: hidden layer.
        pooling: how pieces become one vector.
        dtype: precision that the model runs in, and that vectors are kept in where that differs.
        code: fingerprint of the modules that make vectors.
        more: anything else that changes vectors, such as options of the tokenizer.
    """
    parts = {"identity": dict(identity), "layer": layer, "pooling": pooling, "dtype": dtype, "code": code, "more": more}
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:32]


def item_key(text: str, start: int, end: int) -> str:
    """The key of a row: a digest of the text and of the target's span in it."""
    return hashlib.blake2b(f"{start}\x1f{end}\x1f{text}".encode(), digest_size=16).hexdigest()


@dataclass(frozen=True)
class Rows:
    """Rows of a store: n keys with what is known of each.

    Attributes:
        keys: n keys (`item_key`), each once.
        n_pieces: (n,) int32, pieces of the target.
        n_unknown: (n,) int32, those that the tokenizer does not know.
        cut: (n,) bool, whether the text was cut to fit the model.
        embedding: (n, d), float16 or float32.
    """

    keys: list[str]
    n_pieces: NDArray[np.int32]
    n_unknown: NDArray[np.int32]
    cut: NDArray[np.bool_]
    embedding: NDArray[np.floating]

    def to_table(self) -> pa.Table:
        """As an Arrow table with the columns named as the attributes, `keys` as `key`."""
        return pa.table(
            {
                "key": pa.array(self.keys, pa.string()),
                "n_pieces": pa.array(self.n_pieces, pa.int32()),
                "n_unknown": pa.array(self.n_unknown, pa.int32()),
                "cut": pa.array(self.cut, pa.bool_()),
                "embedding": vectors_to_arrow(self.embedding),
            }
        )


class VectorStore:
    """The store of one (vector key, segment length, bucket): the files of one folder."""

    def __init__(self, folder: str | Path, dtype: StoredDtype = "float32") -> None:
        """Use `folder`, which need not exist; vectors of another `dtype` in it count as absent."""
        self.folder = Path(folder)
        self.dtype = dtype

    def read(self, keys: Iterable[str] | None = None) -> pa.Table | None:
        """All rows, or those of `keys`, each key once; None if there are none.

        A file that cannot be read, or holds something else, counts as absent: its rows are embedded again.
        """
        table, _ = self._read(keys)
        return table

    def add(self, rows: Rows) -> Path:
        """Keep `rows`: after this returns, they survive a kill. Returns the file they are in."""
        return self._write(rows.to_table())

    def merge(self) -> None:
        """Put the rows of all files into one, and remove the files it replaces.

        Only files whose rows are in the new one are removed, and that may fail: another process may have been faster.
        """
        table, read = self._read(None)
        if table is None or len(read) < 2:
            return
        merged = self._write(table.sort_by("key"))
        for path in read:
            if path != merged:
                try:
                    path.unlink()
                except OSError as error:
                    _LOG.debug("%s stays beside %s, which has its rows: %s", path, merged.name, error)

    def _write(self, table: pa.Table) -> Path:
        name = hashlib.sha256("\n".join(sorted(table.column("key").to_pylist())).encode()).hexdigest()[:32]
        path = self.folder / f"{name}.parquet"
        with replacing(path) as temporary:
            pq.write_table(table, temporary, compression="zstd")
        return path

    def _read(self, keys: Iterable[str] | None) -> tuple[pa.Table | None, list[Path]]:
        """The rows, and the files they were read from."""
        wanted = None if keys is None else pa.array(sorted(set(keys)), pa.string())
        for _ in range(_ATTEMPTS):
            listed = sorted(self.folder.glob("[!.]*.parquet"))
            found = {path: table for path in listed if (table := self._read_file(path, wanted)) is not None}
            if all(path.exists() for path in listed):
                break  # otherwise another process has merged files meanwhile: their rows are in a new one
        tables = list(found.values())
        if not tables:
            return None, []
        width = tables[0].schema.field("embedding").type
        kept = {path: table for path, table in found.items() if table.schema.field("embedding").type == width}
        return _first_of_each_key(pa.concat_tables(kept.values())), list(kept)

    def _read_file(self, path: Path, wanted: pa.Array | None) -> pa.Table | None:
        expected = {"key": pa.string(), "n_pieces": pa.int32(), "n_unknown": pa.int32(), "cut": pa.bool_()}
        try:
            table = pq.read_table(path, columns=[*expected, "embedding"], partitioning=None)
        except FileNotFoundError:
            return None
        except (pa.ArrowException, OSError, KeyError, ValueError) as error:
            _LOG.warning("%s cannot be read and counts as absent: %s", path, error)
            return None
        kind = table.schema.field("embedding").type
        whole = all(table.schema.field(name).type == type_ for name, type_ in expected.items())
        if not whole or not pa.types.is_fixed_size_list(kind) or kind.value_type != _arrow_type(self.dtype):
            _LOG.warning("%s does not hold vectors in %s and counts as absent", path, self.dtype)
            return None
        return table if wanted is None else table.filter(pc.is_in(table.column("key"), value_set=wanted))


def _arrow_type(dtype: StoredDtype) -> pa.DataType:
    return pa.float16() if dtype == "float16" else pa.float32()


def _first_of_each_key(table: pa.Table) -> pa.Table:
    """The rows of `table` without the second and later ones of a key."""
    first: dict[str, int] = {}
    for row, key in enumerate(table.column("key").to_pylist()):
        first.setdefault(key, row)
    return table if len(first) == table.num_rows else table.take(pa.array(list(first.values()), pa.int64()))
