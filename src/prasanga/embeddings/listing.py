"""The list of the shards that belong together: a small file that statistics take as their input."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from os.path import relpath
from pathlib import Path
from typing import Any

import pyarrow as pa

from prasanga.documents import write_document
from prasanga.embeddings.lists import RUN_KEYS, segment_lengths
from prasanga.errors import InputError
from prasanga.parquet import made_from, open_parquet, require_equal, require_every_page
from prasanga.provenance import sha256_of_file


def list_shards(paths: Sequence[str | Path], output: str | Path, *, keys: Sequence[str] = RUN_KEYS) -> None:
    """Write the list of the shards of one model and length.

    The list is a JSON object: shards ({path relative to the list's folder: sha256}), sizes ({path: bytes}), bytes
    (their sum), n_segments, segment_length (null without segments), dimension, stored_dtype, left_out ({stimulus:
    {reason: segments}}), cut ({stimulus: segments}), unknown ({stimulus: segments with unknown pieces that were kept}),
    made_from ({key: value}, equal in all shards).

    Raises:
        InputError: no shard; a damaged one; shards made by different models, settings or code, or of different widths
            or lengths. The message names the one that does not fit.
    """
    if not paths:
        raise InputError(f"{output}: no shard to list. Name at least one.")
    for path in paths:  # what is listed is believed from here on
        require_every_page(path)
    common = require_equal(paths, keys)
    first, *others = (open_parquet(path).schema_arrow.field("embedding").type for path in paths)
    for path, kind in zip(paths[1:], others, strict=True):
        if kind != first:
            raise InputError(
                f"{path}: its vectors are {kind}, but those of {paths[0]} are {first}. These files do not belong to one"
                " run: delete the one that does not fit and run the workflow again."
            )
    length = _common_length(paths)
    folder = Path(output).parent
    names = {Path(relpath(path, folder)).as_posix(): Path(path) for path in paths}
    sizes = {name: path.stat().st_size for name, path in names.items()}
    listed = {
        "shards": {name: sha256_of_file(path) for name, path in names.items()},
        "sizes": sizes,
        "bytes": sum(sizes.values()),
        "n_segments": sum(open_parquet(path).metadata.num_rows for path in paths),
        "segment_length": length,
        "dimension": first.list_size,
        "stored_dtype": "float16" if first.value_type == pa.float16() else "float32",
        "left_out": _left_out(paths),
        "cut": _sum(paths, "cut"),
        "unknown": _sum(paths, "unknown"),
        "made_from": {key: value for key, value in common.items() if value},
    }
    write_document(output, dict(sorted(listed.items())))


def _common_length(paths: Sequence[str | Path]) -> str | None:
    """The segment length of all shards; None if they have no segments."""
    known: tuple[str, str | Path] | None = None
    for path in paths:
        for length in segment_lengths(path):
            known = known or (length, path)
            if length != known[0]:
                raise InputError(
                    f"{path}: has segments of length {length}, but those of {known[1]} have {known[0]}. These files do"
                    " not belong to one run: delete the one that does not fit and run the workflow again."
                )
    return known[0] if known else None


def _left_out(paths: Sequence[str | Path]) -> dict[str, dict[str, int]]:
    total: dict[str, Counter[str]] = {}
    for path in paths:
        reasons: dict[str, int]
        for stimulus, reasons in _counts(path, "left_out").items():
            total.setdefault(stimulus, Counter()).update(reasons)
    return {stimulus: dict(counts) for stimulus, counts in total.items()}


def _sum(paths: Sequence[str | Path], name: str) -> dict[str, int]:
    total: Counter[str] = Counter()
    for path in paths:
        total.update(_counts(path, name))
    return dict(total)


def _counts(path: str | Path, name: str) -> dict[str, Any]:
    """What a shard's metadata counts by stimulus."""
    counts: dict[str, Any] = json.loads(made_from(path).get(name, "{}"))
    return counts
