"""All stores of a results folder together: what was embedded when, and putting small files together."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl

from prasanga.embeddings.store import StoredDtype, VectorStore

_LOG = logging.getLogger(__name__)


def history_of(root: str | Path) -> pl.DataFrame:
    """A row for each file of every store under `root`, oldest first: the store, its model, and `VectorStore.history`.

    A table without rows if there is no store.
    """
    tables = []
    for store, described in _stores(Path(root)):
        settings = {name: str(described.get(name, "")) for name in ("model", "layer", "pooling", "dtype")}
        history = store.history()
        taken = [name for name in settings if name in history.columns]
        tables.append(
            history.drop(taken).select(
                pl.lit(store.folder.name).alias("store"),
                *(pl.lit(value).alias(name) for name, value in settings.items()),
                pl.all(),
            )
        )
    return pl.concat(tables, how="diagonal_relaxed").sort("written", "store") if tables else pl.DataFrame()


def compact_stores(root: str | Path) -> int:
    """Put the small files of every store under `root` together. Returns how many files were replaced."""
    replaced = 0
    for store, described in _stores(Path(root)):
        count = store.compact()
        _LOG.info("%s (%s): %d files put together", store.folder, described.get("model"), count)
        replaced += count
    return replaced


def _stores(root: Path) -> Iterator[tuple[VectorStore, dict[str, Any]]]:
    for path in sorted(root.glob("*/key.json")):
        described = json.loads(path.read_text(encoding="utf-8"))
        dtype: StoredDtype = described.get("stored_dtype", "float32")
        yield VectorStore(path.parent, dtype, described.get("key", path.parent.name)), described
