"""What a training of static vectors gives, and the file that keeps it.

The whole vocabulary is kept, so that another word list is looked up and nothing is trained anew.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from prasanga.errors import InputError
from prasanga.parquet import made_from, read_batches
from prasanga.static.files import Found, WordVectors
from prasanga.static.tokens import Tokens

_ROWS = 8192


@dataclass(frozen=True, eq=False)
class Trained:
    """Static vectors of a corpus.

    Attributes:
        words: the vocabulary, most frequent first.
        counts: (n_words,), how often each occurs in the corpus.
        vectors: (n_words, d) float32.
        report: what was read and how training went, as plain values.
    """

    words: tuple[str, ...]
    counts: npt.NDArray[np.int64]
    vectors: npt.NDArray[np.float32]
    report: Mapping[str, Any] = field(default_factory=dict)


def require_vocabulary(tokens: Tokens, minimum_count: int) -> dict[str, int]:
    """The words that get a vector, with their counts.

    Raises:
        InputError: fewer than two words are frequent enough.
    """
    frequent = tokens.frequent(minimum_count)
    if len(frequent) < 2:
        seen = next(iter(tokens.counts.items()), None)
        most = f"the most frequent one is {seen[0]!r} with {seen[1]}" if seen else "the corpus has no words at all"
        raise InputError(
            f"train.minimum_count: {minimum_count}, but {len(frequent)} of the corpus's words occur so often ({most}),"
            " and at least two are needed. Write a smaller `minimum_count`, or name a larger corpus."
        )
    return frequent


def trained_table(trained: Trained) -> pa.Table:
    """One row a word: `word`, `count`, `vector` (fixed-size list of float32)."""
    dimensions = trained.vectors.shape[1]
    values = pa.array(np.ascontiguousarray(trained.vectors, dtype=np.float32).ravel())
    return pa.table(
        {
            "word": pa.array(trained.words, pa.string()),
            "count": pa.array(trained.counts, pa.int64()),
            "vector": pa.FixedSizeListArray.from_arrays(values, dimensions),
        }
    )


def read_trained(path: str | Path, wanted: Collection[str]) -> WordVectors:
    """The vectors of some words from the file of a training, some thousand rows in memory at a time.

    Args:
        path: a table as of `trained_table`, whose metadata have `method` (word2vec, glove).
        wanted: the words, spelled as in training.

    Raises:
        InputError: the file is absent or damaged.
    """
    method, names = made_from(path).get("method", ""), pa.array(sorted(set(wanted)), pa.string())
    found: dict[str, Found] = {}
    n_words = dimensions = 0
    for batch in read_batches(path, ["word", "count", "vector"], rows=_ROWS):
        n_words, dimensions = n_words + batch.num_rows, batch.schema.field("vector").type.list_size
        kept = batch.filter(pc.is_in(batch.column("word"), value_set=names))
        vectors = kept.column("vector").flatten().to_numpy(zero_copy_only=False).reshape(-1, dimensions)
        rows = zip(kept.column("word").to_pylist(), kept.column("count").to_pylist(), vectors, strict=True)
        found.update({word: Found(word, vector, count) for word, count, vector in rows})
    return WordVectors(found, method, dimensions, n_words)
