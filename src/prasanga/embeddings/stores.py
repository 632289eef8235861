"""All stores of a results folder together: what was embedded when, and putting small files together."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, get_args

import polars as pl

from prasanga.embeddings.columns import StoredDtype
from prasanga.embeddings.store import VectorStore
from prasanga.embeddings.store_history import history
from prasanga.embeddings.store_upkeep import KEY

_LOG = logging.getLogger(__name__)
_SETTINGS = ("model", "layer", "pooling", "dtype")


def history_of(root: str | Path) -> pl.DataFrame:
    """A row for each file of every store under `root`, oldest first: the store, its model, and `VectorStore.history`.

    A table with these columns and no rows if there is no store. A store whose key.json is damaged is left out, with a
    warning that names the file.
    """
    tables = [_beside(history({}), "", {})]
    tables += [_beside(store.history(), store.folder.name, described) for store, described in _stores(Path(root))]
    return pl.concat(tables, how="diagonal_relaxed").sort("written", "store", "shard")


def compact_stores(root: str | Path) -> int:
    """Put the small files of every store under `root` together. Returns how many files were replaced.

    A store whose key.json is damaged is left as it is, with a warning that names the file.
    """
    replaced = 0
    for store, described in _stores(Path(root)):
        count = store.compact()
        _LOG.info("%s (%s): %d files put together", store.folder, described.get("model"), count)
        replaced += count
    return replaced


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
    """What the file says of a store; OSError or ValueError if it does not say which vectors are in it."""
    described = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(described, dict) or not isinstance(described.get("key"), str):
        raise ValueError("it has no key")
    described.setdefault("stored_dtype", "float16")
    if described["stored_dtype"] not in get_args(StoredDtype):
        raise ValueError(f"stored_dtype is {described['stored_dtype']!r}, not {' or '.join(get_args(StoredDtype))}")
    return described
