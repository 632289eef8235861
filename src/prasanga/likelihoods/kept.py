"""Scores that were computed once, used again: a pair more in a file does not score the others anew.

Snakemake deletes an output before its job runs, so scores are kept in files of their own, a folder for each key. The
key holds the model, how it is loaded, what is asked of it, the precision, and this project's code that computes scores.
Versions of torch, transformers and tokenizers, the device and the size of batches are not in it: they change the last
digits, and nobody wants all scores anew for that. The versions that computed a score stand beside it in these files.
"""

from __future__ import annotations

import functools
import importlib.metadata
import json
import logging
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from prasanga.digests import digest_of
from prasanga.errors import InputError
from prasanga.frames import read_frame
from prasanga.likelihoods.measures import SCORES
from prasanga.parquet import write_table
from prasanga.provenance.code import fingerprint_of

_LOG = logging.getLogger(__name__)
_COMPUTING = "prasanga.likelihoods.pair_scores.score_pairs"
PAIR = ("language", "first", "second")
"""What a score is of, whatever the pair is called and whatever set it is in."""
VERSIONS = "versions"
"""The column of a kept file that says what computed a score: JSON, by library."""


def key_of(settings: Mapping[str, Any], identity: Mapping[str, Any], dtype: str) -> str:
    """A digest of what is asked, of which model, and of the code that answers (see the module for what is not in it).

    Args:
        settings: how the model is loaded and asked, plain values.
        identity: which model it is (`prasanga.models.model_identity`).
        dtype: the precision that it runs in.
    """
    code = fingerprint_of(_COMPUTING).fingerprint
    return digest_of([dict(settings), dict(identity), dtype, code, [*SCORES, VERSIONS]])[:24]


def score_missing(
    pairs: pl.DataFrame, folder: str | Path, name: str, score: Callable[[pl.DataFrame], pl.DataFrame]
) -> pl.DataFrame:
    """The scores of `pairs`; those that some file of `folder` has are not computed again.

    Args:
        pairs: columns `PAIR` and others.
        folder: of one key; made if need be. A file in it that cannot be read counts as absent.
        name: of the file that is written there: all scores of these pairs, in place of what it held before.
        score: adds the columns `SCORES` to pairs.

    Returns:
        `pairs` with the columns `SCORES`, in the order given; scores that it had are replaced.
    """
    pairs, folder = pairs.drop(SCORES, strict=False), Path(folder)
    files = sorted(folder.glob("*.parquet"))
    found = [frame for file in files if (frame := _read(file)) is not None]
    known = pl.concat(found).unique(PAIR, keep="first", maintain_order=True) if found else None
    different = pairs.unique(PAIR, keep="first", maintain_order=True)
    missing = different if known is None else different.join(known, on=PAIR, how="anti", maintain_order="left")
    parts = []
    if len(missing) or known is None:
        parts = [score(missing).select(*PAIR, *SCORES).with_columns(pl.lit(_versions()).alias(VERSIONS))]
    scores = pl.concat([*parts, *([] if known is None else [known])])
    kept = scores.join(different, on=PAIR, how="semi", maintain_order="left")
    write_table(folder / f"{name}.parquet", kept.to_arrow(), {})
    return pairs.join(scores.drop(VERSIONS), on=PAIR, how="left", maintain_order="left", validate="m:1")


def _read(path: Path) -> pl.DataFrame | None:
    """The scores of a kept file; None for one that is damaged, which counts as absent: they are computed again."""
    try:
        frame = read_frame(path)
    except InputError as error:
        _LOG.warning("%s Its scores are computed again.", error)
        return None
    if missing := sorted({*PAIR, *SCORES, VERSIONS} - set(frame.columns)):
        _LOG.warning("%s: has no column %s. Its scores are computed again.", path, ", ".join(missing))
        return None
    return frame


@functools.cache
def _versions() -> str:
    names = ("tokenizers", "torch", "transformers")
    return json.dumps({name: importlib.metadata.version(name) for name in names})
