"""GloVe: word vectors from the counts of words near each other (Pennington, Socher and Manning 2014).

The model minimises, over all pairs of words with a count X > 0 (there equation 8),

    sum of f(X_ij) (w_i . c_j + b_i + d_j - log X_ij)^2,        f(x) = min(1, (x / x_max)^0.75)

by AdaGrad with the rate 0.05, where X_ij adds up one over the distance for each time that j stands within the window of
i. A word's vector is the sum of its two, w_i + c_i. As in the authors' program, the accumulated squares begin at 1 and
are those of the gradient times the rate.

No package that trains GloVe is kept up for today's Python, so it is done here: the counts by scipy (`cooccurrence`),
the updates compiled (`updates`).
"""

from __future__ import annotations

import logging
import tempfile
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from prasanga.errors import InputError
from prasanga.progress import progress
from prasanga.seeds import generator
from prasanga.static.cooccurrence import ENTRY, Entries, count_pairs
from prasanga.static.tokens import Tokens
from prasanga.static.trained import Trained, require_vocabulary

_LOG = logging.getLogger(__name__)
X_MAX: Final = 100.0
ALPHA: Final = 0.75
RATE: Final = 0.05
_COUNTED = 1000  # sentences that are counted together


def train_glove(
    tokens: Tokens,
    *,
    dimensions: int = 300,
    window: int = 5,
    minimum_count: int = 5,
    epochs: int = 25,
    seed: int = 1,
    x_max: float = X_MAX,
) -> Trained:
    """Train GloVe vectors; on one machine the same arguments give the same numbers in every run.

    One thread trains. Memory holds the parameters (16 bytes for each word and dimension) and some hundred megabytes of
    counts; the other counts lie in temporary files.

    Args:
        tokens: the corpus, read once.
        dimensions: of a vector.
        window: most words on either side that count as near, within a sentence.
        minimum_count: words that occur less often get no vector and are no neighbours.
        epochs: passes over the counts.
        seed: seed of the initial vectors and of the order of the counts.
        x_max: the count from which on all pairs weigh the same.

    Raises:
        InputError: fewer than two words are frequent enough, no two of them are ever near each other, or there is no
            room on the disk.
    """
    vocabulary = require_vocabulary(tokens, minimum_count)
    words = tuple(vocabulary)
    rng = generator(seed, "static", "glove")
    with tempfile.TemporaryDirectory(prefix="prasanga-glove-") as folder:
        with progress("counting neighbours", tokens.n_sentences, "sentences") as done:
            entries = count_pairs(done.over(tokens, every=_COUNTED), words, window, folder, rng)
        if not entries.n_entries:
            raise InputError(
                f"train: no two of the corpus's {len(words)} words with {minimum_count} or more occurrences stand in"
                " one sentence. Write a smaller `minimum_count`, or name a larger corpus."
            )
        _LOG.info("GloVe: %d words, %d counts, %d epochs", len(words), entries.n_entries, epochs)
        vectors, losses = fit(entries, len(words), dimensions, epochs=epochs, rng=rng, x_max=x_max)
    report = {
        "n_sentences": tokens.n_sentences,
        "n_words": tokens.n_words,
        "n_vocabulary": len(words),
        "n_counts": entries.n_entries,
        "x_max": x_max,
        "losses": [round(loss, 6) for loss in losses],
    }
    return Trained(words, np.array(list(vocabulary.values()), dtype=np.int64), vectors, report)


def fit(
    entries: Entries, n_words: int, dimensions: int, *, epochs: int, rng: np.random.Generator, x_max: float = X_MAX
) -> tuple[npt.NDArray[np.float32], list[float]]:
    """Vectors (n_words, d) of co-occurrences on disk, and the mean weighted loss in each epoch."""
    from prasanga.static.updates import update

    # Row i of [0] is w_i and, as its last number, b_i; of [1] c_i and d_i.
    parameters = rng.random((2, n_words, dimensions + 1), dtype=np.float32)
    parameters -= np.float32(0.5)
    parameters /= np.float32(dimensions)
    squares = np.ones_like(parameters)
    losses: list[float] = []
    with progress("GloVe", epochs * entries.n_entries, "counts") as done:
        for _ in range(epochs):
            loss = 0.0
            for number in rng.permutation(len(entries.paths)).tolist():
                rows, columns, counts = _shuffled(entries.paths[number], rng)
                weights = np.minimum(1.0, (counts / x_max) ** ALPHA).astype(np.float32)
                logs = np.log(counts).astype(np.float32)
                loss += update(rows, columns, weights, logs, parameters, squares, np.float32(RATE))
                done.advance(rows.size)
            losses.append(loss / entries.n_entries)
    if losses:
        _LOG.info("GloVe: loss %.5f after the first epoch, %.5f after %d", losses[0], losses[-1], epochs)
    if not np.isfinite(parameters).all():
        raise InputError("train: GloVe's vectors grew beyond all bounds. Write a larger `minimum_count`.")
    return parameters[0, :, :-1] + parameters[1, :, :-1], losses


def _shuffled(path: Path, rng: np.random.Generator) -> tuple[npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any]]:
    entries = np.fromfile(path, dtype=ENTRY)
    entries = entries[rng.permutation(entries.size)]
    rows, columns = (np.ascontiguousarray(entries[name]) for name in ("row", "column"))
    return rows, columns, entries["count"].astype(np.float64)
