"""Train static vectors on a study's corpus: word2vec by gensim, and GloVe.

The corpus is written once as a text file with one sentence per line and a space between words (`write_sentences`),
which all trainings read. Words are those that the rest of the study counts (`prasanga.text.WORD`), without the
zero-width non-joiner; English words are lower-cased.
"""

from __future__ import annotations

import logging
import os
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from numpy.typing import NDArray

from prasanga.base.errors import InputError
from prasanga.base.seeds import generator
from prasanga.sentences.corpus import Shard
from prasanga.sentences.passages import read_sentences
from prasanga.text import WORD, Normalizer, fold
from prasanga.text.lines import compiled_sums

X_MAX: Final = 100.0
"""GloVe: from this count on, all pairs of words weigh the same."""
ALPHA: Final = 0.75
RATE: Final = 0.05

_LOG = logging.getLogger(__name__)
_WITH_CAPITALS = ("en",)
_SENTENCES_PER_BATCH = 100_000


@dataclass(frozen=True, eq=False)
class Trained:
    """Static vectors of a corpus.

    Attributes:
        words: the vocabulary, most frequent first.
        counts: (n_words,), how often each occurs in the corpus.
        vectors: (n_words, d) float32.
    """

    words: tuple[str, ...]
    counts: npt.NDArray[np.int64]
    vectors: npt.NDArray[np.float32]


def trained_table(trained: Trained) -> pa.Table:
    """Return one row per word: `word`, `count`, `vector` (fixed-size list of float32)."""
    values = pa.array(np.ascontiguousarray(trained.vectors, dtype=np.float32).ravel())
    words, counts = pa.array(trained.words, pa.string()), pa.array(trained.counts, pa.int64())
    vectors = pa.FixedSizeListArray.from_arrays(values, trained.vectors.shape[1])
    return pa.table({"word": words, "count": counts, "vector": vectors})


def write_sentences(
    shards: Iterable[Shard], path: str | Path, normalizer: Normalizer, *, language: str, errors: Any = "stop"
) -> None:
    """Write the sentences of a corpus, one per line, as words with a space between them.

    Args:
        shards: whole files, in the order of the corpus.
        path: the text file to write.
        normalizer: the study's normalization (`prasanga.text.normalizer`).
        language: of the study; words of a language with capitals are lower-cased.
        errors: what to do with a line or record that cannot be used (`corpus.errors`).

    Raises:
        InputError: a file cannot be read.
    """
    with Path(path).open("w", encoding="utf-8") as file:
        for shard in shards:
            for data, spans in read_sentences(shard, normalizer, errors):
                text = data.tobytes()
                for start, end in zip(spans.starts.tolist(), spans.ends.tolist(), strict=True):
                    sentence = fold(text[start:end].decode())
                    if words := WORD.findall(sentence.lower() if language in _WITH_CAPITALS else sentence):
                        file.write(" ".join(words) + "\n")


def train(corpus: str | Path, *, method: str, **options: Any) -> Trained:
    """Train on a file of `write_sentences` with the options of `train_word2vec` or `train_glove`."""
    return {"word2vec": train_word2vec, "glove": train_glove}[method](Path(corpus), **options)


def train_word2vec(
    corpus: Path,
    *,
    dimensions: int = 300,
    window: int = 5,
    minimum_count: int = 5,
    epochs: int = 5,
    seed: int = 1,
    workers: int = 1,
) -> Trained:
    """Train skip-gram vectors with 5 negative words (Mikolov et al. 2013) by gensim.

    Args:
        corpus: a file of `write_sentences`, read `epochs` + 1 times.
        dimensions: dimensions of a vector.
        window: largest distance between near words, within a sentence.
        minimum_count: words with fewer occurrences get no vector and are not counted as near.
        epochs: passes over the corpus.
        seed: of the initial vectors, the windows and the negative words.
        workers: threads; with more than one, the same seed does not give the same numbers.

    Raises:
        InputError: fewer than two words are frequent enough.
    """
    from gensim.models import Word2Vec

    counts, sentences = _count_words(corpus, minimum_count)
    model = Word2Vec(
        vector_size=dimensions, window=window, min_count=1, sg=1, seed=seed, workers=workers, hashfxn=_hash_word
    )
    model.build_vocab_from_freq(counts)
    total = {"total_words": counts.total(), "total_examples": sentences}
    model.train(corpus_file=os.fspath(corpus), epochs=epochs, **total)
    words = tuple(model.wv.index_to_key)
    return Trained(words, np.array([counts[word] for word in words]), model.wv.vectors)


def _hash_word(word: object) -> int:
    """Return a hash that is the same in every process, unlike Python's own."""
    return zlib.crc32(str(word).encode())


def train_glove(
    corpus: Path, *, dimensions: int = 300, window: int = 5, minimum_count: int = 5, epochs: int = 25, seed: int = 1
) -> Trained:
    """Train GloVe vectors (Pennington, Socher and Manning 2014) on the counts of words near each other.

    The model minimizes, over all pairs of words with a count X > 0 (there equation 8),

        sum of f(X_ij) (w_i . c_j + b_i + d_j - log X_ij)^2,        f(x) = min(1, (x / x_max)^0.75)

    by AdaGrad with the rate 0.05. X_ij sums one over the distance whenever j is within the window of i. A word's
    vector is the sum of its two, w_i + c_i. As in the authors' program, the accumulated squares begin at 1. No
    maintained package trains GloVe on today's Python.

    Args:
        corpus: a file of `write_sentences`, read twice. Memory holds the counts (16 bytes per pair of near words) and
            the parameters (16 bytes per word and dimension).
        dimensions: dimensions of a vector.
        window: largest distance between near words, within a sentence.
        minimum_count: words with fewer occurrences get no vector and are not counted as near.
        epochs: passes over the counts.
        seed: of the initial vectors and of the order of the counts.

    Raises:
        InputError: fewer than two words are frequent enough, or no two of them are ever near each other.
    """
    counts, _ = _count_words(corpus, minimum_count)
    near = count_neighbours(_read_lines(corpus), list(counts), window).tocoo()
    if not near.nnz:
        raise InputError(
            f"train: no two of the corpus's {len(counts)} words with {minimum_count} or more occurrences are in one"
            " sentence. Write a smaller `minimum_count`, or name a larger corpus."
        )
    rng = generator(seed, "static", "glove")
    vectors, losses = fit_glove(near.row, near.col, near.data, len(counts), dimensions, epochs=epochs, rng=rng)
    _LOG.info(
        "GloVe: %d counts, loss %.5f after the first epoch, %.5f after %d", near.nnz, losses[0], losses[-1], epochs
    )
    return Trained(tuple(counts), np.array(list(counts.values())), vectors)


def _read_lines(corpus: Path) -> Iterator[list[str]]:
    with corpus.open(encoding="utf-8") as file:
        for line in file:
            yield line.split()


def _count_words(corpus: Path, minimum_count: int) -> tuple[Counter[str], int]:
    """Return the words that get a vector with their counts, most frequent first, and the number of sentences.

    Raises:
        InputError: fewer than two words.
    """
    counts: Counter[str] = Counter()
    sentences = 0
    for words in _read_lines(corpus):
        counts.update(words)
        sentences += 1
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    frequent = Counter({word: count for word, count in ordered if count >= minimum_count})
    if len(frequent) < 2:
        most = f"the most frequent one is {ordered[0][0]!r} with {ordered[0][1]}" if ordered else "it has no words"
        raise InputError(
            f"train.minimum_count: {minimum_count}, but {len(frequent)} of the corpus's words occur so often ({most}),"
            " and at least two are needed. Write a smaller `minimum_count`, or name a larger corpus."
        )
    return frequent, sentences


def count_neighbours(sentences: Iterable[Sequence[str]], vocabulary: Sequence[str], window: int) -> Any:
    """Return how often words are near each other within sentences, each pair weighted by one over its distance.

    Args:
        sentences: words; words outside the vocabulary are removed first.
        vocabulary: words in the order of rows and columns.
        window: largest distance.

    Returns:
        A symmetric sparse matrix (n_words, n_words) of float64.
    """
    from scipy.sparse import csr_array

    numbers = {word: number for number, word in enumerate(vocabulary)}
    shape = (len(vocabulary), len(vocabulary))
    sums: list[Any] = [csr_array(shape)]
    lines = iter(sentences)
    while batch := [
        [numbers[word] for word in line if word in numbers] for line in islice(lines, _SENTENCES_PER_BATCH)
    ]:
        words = np.array([number for line in batch for number in line], dtype=np.int64)
        sentence = np.repeat(np.arange(len(batch)), list(map(len, batch)))
        for distance in range(1, window + 1):
            same = sentence[:-distance] == sentence[distance:]
            pairs = (words[:-distance][same], words[distance:][same])
            sums.append(csr_array((np.full(len(pairs[0]), 1 / distance), pairs), shape=shape))
            while len(sums) > 1 and sums[-2].nnz < 2 * sums[-1].nnz:  # add matrices of similar size
                last = sums.pop()
                sums[-1] = sums[-1] + last
    total = sum(sums[1:], sums[0])
    return total + total.T


def fit_glove(
    rows: npt.NDArray[Any],
    columns: npt.NDArray[Any],
    counts: npt.NDArray[Any],
    n_words: int,
    dimensions: int,
    *,
    epochs: int,
    rng: np.random.Generator,
) -> tuple[npt.NDArray[np.float32], list[float]]:
    """Fit GloVe to counts X_ij > 0, given as rows i, columns j and counts (n,).

    Returns:
        Vectors (n_words, d), and the mean weighted loss of each epoch.

    Raises:
        InputError: the vectors grow without bound.
    """
    # Row i of [0] is w_i and, as its last number, b_i; of [1] c_i and d_i.
    parameters = (rng.random((2, n_words, dimensions + 1), dtype=np.float32) - np.float32(0.5)) / np.float32(dimensions)
    squares = np.ones_like(parameters)
    weights = np.minimum(1.0, (counts / X_MAX) ** ALPHA).astype(np.float32)
    logs = np.log(counts).astype(np.float32)
    losses = []
    for _ in range(epochs):
        order = rng.permutation(len(counts))
        loss = update_glove(order, rows, columns, weights, logs, parameters, squares, np.float32(RATE))
        losses.append(loss / len(counts))
    if not np.isfinite(parameters).all():
        raise InputError("train: GloVe's vectors grow without bound. Write a larger `minimum_count`.")
    return parameters[0, :, :-1] + parameters[1, :, :-1], losses


@compiled_sums
def update_glove(
    order: NDArray[np.int64],
    rows: NDArray[Any],
    columns: NDArray[Any],
    weights: NDArray[Any],
    logs: NDArray[Any],
    parameters: NDArray[Any],
    squares: NDArray[Any],
    rate: Any,
) -> float:
    """Go over counts once and update `parameters` and `squares` in place, by AdaGrad.

    Args:
        order: (n,) the order in which to take the counts.
        rows: (n,) the word i of each count.
        columns: (n,) the word j.
        weights: (n,) f(X_ij).
        logs: (n,) log X_ij.
        parameters: (2, n_words, d + 1); row i of [0] is w_i and the bias b_i, of [1] c_i and d_i.
        squares: AdaGrad's sums, in the same shape.
        rate: learning rate, in the parameters' type.

    Returns:
        The sum of half the weighted squared errors, each before its own update.
    """
    d = parameters.shape[2] - 1
    loss = 0.0
    for entry in order:
        w, c = parameters[0, rows[entry]], parameters[1, columns[entry]]
        w_squares, c_squares = squares[0, rows[entry]], squares[1, columns[entry]]
        error = w[d] + c[d] - logs[entry]
        for k in range(d):
            error += w[k] * c[k]
        weighted = weights[entry] * error
        loss += 0.5 * weighted * error
        step = rate * weighted
        for k in range(d):
            slope_w, slope_c = step * c[k], step * w[k]
            # np.divide does not test for zero, which would keep the loop from being vectorized; squares are at least 1.
            w[k] -= np.divide(slope_w, np.sqrt(w_squares[k]))
            c[k] -= np.divide(slope_c, np.sqrt(c_squares[k]))
            w_squares[k] += slope_w * slope_w
            c_squares[k] += slope_c * slope_c
        w[d] -= np.divide(step, np.sqrt(w_squares[d]))
        c[d] -= np.divide(step, np.sqrt(c_squares[d]))
        w_squares[d] += step * step
        c_squares[d] += step * step
    return loss
