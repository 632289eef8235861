"""Scores that were computed once, used again: a pair more in a file does not score the others anew.

Snakemake deletes an output before its job runs, so scores are kept in stores of their own, a folder for each key. The
key holds the model, how it is loaded, what is asked of it, the precision, and this project's code that computes scores.
Versions of torch, transformers and tokenizers, the device and the size of batches are not in it: they change the last
digits, and nobody wants all scores anew for that. The versions that computed scores stand in the store's records.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.metadata
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa

from prasanga.base.store import Store
from prasanga.digests import digest_of
from prasanga.likelihoods.measures import SCORES
from prasanga.provenance.code import fingerprint_of

_COMPUTING = "prasanga.likelihoods.pair_scores.score_pairs"
PAIR = ("language", "first", "second")
"""The columns of a pair that its scores depend on."""
_KINDS = {**dict.fromkeys(SCORES[:2], pa.float64()), **dict.fromkeys(SCORES[2:4], pa.int64())}
_COLUMNS = pa.schema(
    [pa.field("id", pa.string(), nullable=False), *((name, _KINDS.get(name, pa.string())) for name in SCORES)]
)


def open_scores(root: str | Path, settings: Mapping[str, Any], identity: Mapping[str, Any], dtype: str) -> Store:
    """Open the store of what is asked, of which model, and of the code that answers.

    Args:
        root: folder of all scores that are kept.
        settings: how the model is loaded and asked, plain values.
        identity: which model it is (`prasanga.models.model_identity`).
        dtype: the precision that it runs in.
    """
    code = fingerprint_of(_COMPUTING).fingerprint
    described = {"settings": dict(settings), "identity": dict(identity), "dtype": dtype, "code": code}
    key = digest_of([described, _COLUMNS.names])
    return Store(Path(root, key), key, _COLUMNS, described)


def score_missing(pairs: pl.DataFrame, store: Store, score: Callable[[pl.DataFrame], pl.DataFrame]) -> pl.DataFrame:
    """Return the scores of `pairs`; those that the store has are not computed again.

    Args:
        pairs: columns `PAIR` and others.
        store: of one key.
        score: adds the columns `SCORES` to pairs.

    Returns:
        `pairs` with the columns `SCORES`, in the order given; scores that it had are replaced.
    """
    ids = pl.Series("id", [_id(*pair) for pair in pairs.select(PAIR).iter_rows()], dtype=pl.String)
    pairs = pairs.drop(SCORES, strict=False).with_columns(ids)
    different = pairs.unique("id", keep="first", maintain_order=True)
    known = store.read_table(different["id"].to_list())
    scores = pl.DataFrame(_COLUMNS.empty_table() if known is None else known)
    missing = different.join(scores, on="id", how="anti", maintain_order="left")
    if len(missing):
        computed = score(missing).select(scores.columns).cast(scores.schema)
        store.add_table(computed.to_arrow().cast(_COLUMNS), _versions())
        scores = pl.concat([scores, computed])
    return pairs.join(scores, on="id", how="left", maintain_order="left", validate="m:1").drop("id")


def _id(*pair: str) -> str:
    """Return what a pair is found by, whatever it is called and whatever set it is in: language and both sentences."""
    return hashlib.blake2b(json.dumps(pair).encode(), digest_size=16).hexdigest()


@functools.cache
def _versions() -> dict[str, str]:
    return {name: importlib.metadata.version(name) for name in ("tokenizers", "torch", "transformers")}
