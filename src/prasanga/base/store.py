"""Rows that survive: vectors and scores, kept beside the workflow's outputs under what they were computed from.

Snakemake removes the outputs of a rule before it reruns it. So costly rows are also in a store: one folder per key,
which holds immutable Parquet files. A file is there whole or not at all, and is named by a digest of its row ids. Where
two files have a row, the later file counts. Several processes may use a folder at the same time.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
from numpy.typing import NDArray

from prasanga.base.parquet import read_table, write_row_groups, write_text

KEY = "key.json"
"""The file that describes the rows of a folder."""
_ROWS = {"id": pl.String, "file": pl.String, "row": pl.UInt32}


class Store:
    """The rows of one key: the Parquet files of one folder."""

    def __init__(
        self, folder: str | Path, key: str, columns: Sequence[str], describes: Mapping[str, Any] | None = None
    ) -> None:
        """Use `folder`, which need not exist.

        Args:
            folder: the folder of this key and no other.
            key: digest of everything that rows depend on, except for what their ids are digests of.
            columns: names of the columns of a row; the first is its id.
            describes: what `key` is a digest of, as plain values for readers of the folder.
        """
        self.folder, self.key = Path(folder), key
        self.columns = list(columns)
        self._describes = dict(describes or {})
        self._known = pl.DataFrame(schema=_ROWS)
        self._read: set[str] = set()

    def find(self, ids: Sequence[str]) -> NDArray[np.bool_]:
        """Return which of n ids the store has, (n,)."""
        return self._locate(ids)["file"].is_not_null().to_numpy()

    def read_rows(self, ids: Sequence[str]) -> pa.Table | None:
        """Return the rows of `ids`, in their order, without those that the store lacks; None if it has none.

        Raises:
            InputError: a file of the store is damaged.
        """
        tables, places = [], []
        for (name,), rows in self._locate(ids).drop_nulls("file").group_by("file", maintain_order=True):
            tables.append(read_table(self.folder / str(name), self.columns).take(rows["row"].to_arrow()))
            places.append(rows["place"].to_numpy())
        return pa.concat_tables(tables).take(np.argsort(np.concatenate(places))) if tables else None

    def add_rows(self, table: pa.Table) -> None:
        """Keep rows in a file of their own: when this returns, they survive a kill.

        Raises:
            InputError: the folder cannot be written to.
        """
        if not (self.folder / KEY).exists():
            content = {**self._describes, "key": self.key}
            write_text(self.folder / KEY, json.dumps(content, indent=2, sort_keys=True, ensure_ascii=False) + "\n")
        name = hashlib.sha256("".join(table.column(0).to_pylist()).encode()).hexdigest()[:32]
        table = table.select(self.columns)
        write_row_groups(self.folder / f"{name}.parquet", table.schema, [table], {"key": self.key})

    def _locate(self, ids: Sequence[str]) -> pl.DataFrame:
        """Return one row per id: its place in `ids`, and the file and row of it that count, null where none has it."""
        files = {path.name: path.stat().st_mtime_ns for path in self.folder.glob("[!.]*.parquet")}
        for name in sorted(files.keys() - self._read, key=lambda name: (files[name], name)):
            found = pl.Series("id", read_table(self.folder / name, self.columns[:1]).column(0), pl.String).to_frame()
            found = found.select("id", file=pl.lit(name), row=pl.int_range(pl.len(), dtype=pl.UInt32))
            self._known = pl.concat([self._known, found]).unique("id", keep="last", maintain_order=True)
            self._read.add(name)
        asked = pl.DataFrame({"id": ids}, schema={"id": pl.String}).with_row_index("place")
        return asked.join(self._known, on="id", how="left", maintain_order="left")
