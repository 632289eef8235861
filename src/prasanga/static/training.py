"""Trainings of static vectors on a corpus that was cut, and the file that keeps what they give.

Both trainings go over pairs of words, and a pair changes the two vectors of its words alone. Words are dealt to blocks,
and pairs belong to the block of their first and the block of their second word. Blocks that share neither are trained
beside each other, in rounds of which each has every first and every second block once (as in Gemulla et al. 2011 and,
for negative sampling, Zhu et al. 2019). How many blocks there are is decided by the vocabulary, and each has seeds of
its own: the numbers do not depend on how many threads there are.
"""

from __future__ import annotations

import logging
import math
import tempfile
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from numpy.typing import NDArray

from prasanga.base.errors import InputError
from prasanga.base.progress import progress
from prasanga.base.seeds import generator
from prasanga.static.cutting import ENTRY, PAIRS_AT_A_TIME, CutCorpus, Entries, Words, count_pairs
from prasanga.text.compiled import compiled_sums

_LOG = logging.getLogger(__name__)
_T = TypeVar("_T")


# --------------------
# Blocks.

_MOST_BLOCKS = 32
_LEAST_WORDS = 1024  # of a block


def deal(n_words: int, rng: np.random.Generator) -> npt.NDArray[np.int32]:
    """Return a block for each word, such that neighbours in frequency are in different ones."""
    n_blocks = max(1, min(_MOST_BLOCKS, n_words // _LEAST_WORDS))
    numbers = np.tile(np.arange(n_blocks, dtype=np.int32), (-(-n_words // n_blocks), 1))
    return np.asarray(rng.permuted(numbers, axis=1).ravel()[:n_words])


def _rounds(
    pool: ThreadPoolExecutor, n_blocks: int, rng: np.random.Generator, work: Callable[[int, int, int], _T]
) -> Iterator[list[_T]]:
    """Call `work` with each pair of blocks and a seed, those of a round beside each other; yield round by round."""
    first = range(n_blocks)
    for shift in rng.permutation(n_blocks).tolist():
        seeds = rng.integers(2**63, size=n_blocks).tolist()
        yield list(pool.map(work, first, [(block + shift) % n_blocks for block in first], seeds))


# --------------------
# word2vec: skip-gram with negative sampling (Mikolov et al. 2013), by the choices of its authors and of gensim:
# frequent words are thinned out, a window is drawn anew at each word up to the given size, and the rate falls in a
# straight line. Negative words are drawn by the 0.75th power of their counts. A near word and each negative one make a
# pair of their own, so that a vector is changed with each of them and not once for all of them.

SAMPLE: Final = 1e-3
_FIRST_RATE, _LAST_RATE = 0.025, 0.0001
_NOISE = 0.75
_PAIRS = 1 << 25  # of a part at most, negative ones included
_PARTS = 20  # of a corpus at least, so that the order of training is about that of the text
_SHARES = 32  # of a part, in which windows are laid beside each other


def train_word2vec(
    corpus: CutCorpus,
    *,
    dimensions: int = 300,
    window: int = 5,
    minimum_count: int = 5,
    epochs: int = 5,
    seed: int = 1,
    threads: int = 1,
) -> Trained:
    """Train skip-gram vectors; on machines of one kind the same arguments give the same numbers, by any `threads`.

    Args:
        corpus: the corpus; it is read `epochs` times.
        dimensions: of a vector.
        window: most words on either side that count as near, within a sentence.
        minimum_count: words that occur less often get no vector and are no neighbours.
        epochs: passes over the corpus.
        seed: seed of the initial vectors, the windows, the thinning, the negative words, and the order.
        threads: blocks that are trained beside each other.

    Raises:
        InputError: fewer than two words are frequent enough.
    """
    n = corpus.frequent(minimum_count)
    rng = generator(seed, "static", "word2vec")
    inputs = (2 * rng.random((n, dimensions), dtype=np.float32) - 1) / np.float32(dimensions)
    training = _SkipGram(corpus.counts[:n], inputs, window, epochs, rng)
    _LOG.info("word2vec: %d words, %d sentences, %d epochs", n, corpus.n_sentences, epochs)
    size = max(1, min(corpus.n_words // _PARTS, _PAIRS // ((window + 1) * (NEGATIVE + 1))))
    with (
        progress("word2vec", epochs * corpus.n_sentences, "sentences") as done,
        ThreadPoolExecutor(threads) as pool,
    ):
        for _ in range(epochs):
            for part in corpus.parts(n, size, done):
                training.learn(part, pool)
    return _trained(corpus, n, inputs, {"negative": NEGATIVE, "sample": SAMPLE})


class _SkipGram:
    """A training; `inputs` are changed in place."""

    def __init__(
        self,
        counts: npt.NDArray[np.int64],
        inputs: npt.NDArray[np.float32],
        window: int,
        epochs: int,
        rng: np.random.Generator,
    ) -> None:
        self._inputs, self._outputs, self._window, self._rng = inputs, np.zeros_like(inputs), window, rng
        threshold = SAMPLE * counts.sum()
        self._kept: npt.NDArray[np.float64] = (np.sqrt(counts / threshold) + 1) * (threshold / counts)
        self._noise = (np.empty(len(counts), np.float32), np.empty(len(counts), np.int32))
        alias_table(counts.astype(np.float64) ** _NOISE, *self._noise)
        self._block = deal(len(counts), rng)
        self._n_blocks = int(self._block.max()) + 1
        self._total, self._done = epochs * int(counts.sum()), 0

    def learn(self, part: Words, pool: ThreadPoolExecutor) -> None:
        """Go over the words of a part once."""
        pairs, ends = self._pairs(part, pool)
        begun, rate = self._done, self._rate()

        def work(row: int, column: int, _: int) -> None:
            number = row * self._n_blocks + column
            update_skip_grams(pairs[ends[number] : ends[number + 1]], self._inputs, self._outputs, rate)

        for number, _ in enumerate(_rounds(pool, self._n_blocks, self._rng, work), start=1):
            self._done = begun + part.numbers.size * number // self._n_blocks
            rate = self._rate()

    def _rate(self) -> np.float32:
        return np.float32(_FIRST_RATE - (_FIRST_RATE - _LAST_RATE) * self._done / self._total)

    def _pairs(self, part: Words, pool: ThreadPoolExecutor) -> tuple[npt.NDArray[np.int32], list[int]]:
        """Return the pairs (`skip_grams`), sorted by their blocks, and where each block begins, and the end."""
        lay_windows: Callable[..., None] = skip_grams
        of_words = np.linspace(0, part.numbers.size, _SHARES + 1).astype(np.int64)
        shares = np.searchsorted(part.bounds, of_words)
        shares[0], shares[-1] = 0, part.bounds.size - 1
        seeds = self._rng.integers(2**63, size=_SHARES).tolist()
        at = np.zeros((_SHARES, self._n_blocks**2), dtype=np.int64)

        def lay(pairs: npt.NDArray[np.int32]) -> None:
            def share(number: int) -> None:
                sentences, blocks = shares[number : number + 2].tolist(), (self._block, self._n_blocks)
                drawn = (self._window, self._kept, *self._noise)
                lay_windows(part.numbers, part.bounds, *sentences, *drawn, *blocks, seeds[number], at[number], pairs)

            list(pool.map(share, range(_SHARES)))

        lay(np.empty((0, 2), np.int32))
        ends = np.concatenate([[0], np.cumsum(at.T)])
        at[:] = ends[:-1].reshape(self._n_blocks**2, _SHARES).T
        pairs = np.empty((ends[-1], 2), np.int32)
        lay(pairs)
        return pairs, ends[::_SHARES].tolist()


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


def trained_table(trained: Trained) -> pa.Table:
    """Return one row a word: `word`, `count`, `vector` (fixed-size list of float32)."""
    values = pa.array(np.ascontiguousarray(trained.vectors, dtype=np.float32).ravel())
    words, counts = pa.array(trained.words, pa.string()), pa.array(trained.counts, pa.int64())
    vectors = pa.FixedSizeListArray.from_arrays(values, trained.vectors.shape[1])
    return pa.table({"word": words, "count": counts, "vector": vectors})


def _trained(corpus: CutCorpus, n: int, vectors: npt.NDArray[np.float32], report: Mapping[str, Any]) -> Trained:
    sizes = {"n_sentences": corpus.n_sentences, "n_words": corpus.n_words, "n_vocabulary": n}
    return Trained(corpus.first_words(n), corpus.counts[:n], vectors, {**sizes, **report})


# --------------------
# GloVe: word vectors from the counts of words near each other (Pennington, Socher and Manning 2014).
#
# The model minimises, over all pairs of words with a count X > 0 (there equation 8),
#
#     sum of f(X_ij) (w_i . c_j + b_i + d_j - log X_ij)^2,        f(x) = min(1, (x / x_max)^0.75)
#
# by AdaGrad with the rate 0.05, where X_ij adds up one over the distance for each time that j stands within the window
# of i. A word's vector is the sum of its two, w_i + c_i. As in the authors' program, the accumulated squares begin at 1
# and are those of the gradient times the rate.
#
# No package that trains GloVe is kept up for today's Python, so it is done here: the counts by scipy, on disk where
# memory would not hold them (`count_pairs`), the updates compiled.

X_MAX: Final = 100.0  # the count from which on all pairs weigh the same
ALPHA: Final = 0.75
RATE: Final = 0.05


def train_glove(
    corpus: CutCorpus,
    *,
    dimensions: int = 300,
    window: int = 5,
    minimum_count: int = 5,
    epochs: int = 25,
    seed: int = 1,
    threads: int = 1,
) -> Trained:
    """Train GloVe vectors; on machines of one kind the same arguments give the same numbers, by any `threads`.

    Memory holds the parameters (16 bytes for each word and dimension) and some hundred megabytes of counts; the other
    counts lie in temporary files.

    Args:
        corpus: the corpus, read once.
        dimensions: of a vector.
        window: most words on either side that count as near, within a sentence.
        minimum_count: words that occur less often get no vector and are no neighbours.
        epochs: passes over the counts.
        seed: seed of the initial vectors and of the order of the counts.
        threads: blocks that are trained beside each other.

    Raises:
        InputError: fewer than two words are frequent enough, no two of them are ever near each other, or there is no
            room on the disk.
    """
    n = corpus.frequent(minimum_count)
    rng = generator(seed, "static", "glove")
    block = deal(n, rng)
    with tempfile.TemporaryDirectory(prefix="prasanga-glove-") as folder:
        with progress("counting neighbours", corpus.n_sentences, "sentences") as done:
            entries = count_pairs(corpus.parts(n, max(1, PAIRS_AT_A_TIME // window), done), block, window, folder)
        if not entries.n_entries:
            raise InputError(
                f"train: no two of the corpus's {n} words with {minimum_count} or more occurrences stand in"
                " one sentence. Write a smaller `minimum_count`, or name a larger corpus."
            )
        _LOG.info("GloVe: %d words, %d counts, %d epochs", n, entries.n_entries, epochs)
        vectors, losses = fit(entries, n, dimensions, epochs=epochs, rng=rng, threads=threads)
    report = {"n_counts": entries.n_entries, "x_max": X_MAX, "losses": [round(loss, 6) for loss in losses]}
    return _trained(corpus, n, vectors, report)


def fit(
    entries: Entries, n_words: int, dimensions: int, *, epochs: int, rng: np.random.Generator, threads: int = 1
) -> tuple[npt.NDArray[np.float32], list[float]]:
    """Return vectors (n_words, d) of co-occurrences on disk, and the mean weighted loss in each epoch."""
    n_blocks = math.isqrt(len(entries.paths))
    # Row i of [0] is w_i and, as its last number, b_i; of [1] c_i and d_i.
    parameters = rng.random((2, n_words, dimensions + 1), dtype=np.float32)
    parameters -= np.float32(0.5)
    parameters /= np.float32(dimensions)
    squares = np.ones_like(parameters)
    losses: list[float] = []

    def work(row: int, column: int, seed: int) -> float:
        found = np.fromfile(entries.paths[row * n_blocks + column], dtype=ENTRY)
        found = found[np.random.default_rng(seed).permutation(found.size)]
        rows, columns = (np.ascontiguousarray(found[name]) for name in ("row", "column"))
        counts = found["count"].astype(np.float64)
        weights = np.minimum(1.0, (counts / X_MAX) ** ALPHA).astype(np.float32)
        logs = np.log(counts).astype(np.float32)
        loss = update_glove(rows, columns, weights, logs, parameters, squares, np.float32(RATE))
        done.advance(found.size)
        return loss

    with progress("GloVe", epochs * entries.n_entries, "counts") as done, ThreadPoolExecutor(threads) as pool:
        for _ in range(epochs):
            losses.append(sum(map(sum, _rounds(pool, n_blocks, rng, work))) / entries.n_entries)
    if losses:
        _LOG.info("GloVe: loss %.5f after the first epoch, %.5f after %d", losses[0], losses[-1], epochs)
    if not np.isfinite(parameters).all():
        raise InputError("train: GloVe's vectors grew beyond all bounds. Write a larger `minimum_count`.")
    return parameters[0, :, :-1] + parameters[1, :, :-1], losses


# --------------------
# A training by either method: what the script calls.

_METHODS: dict[str, Callable[..., Trained]] = {"word2vec": train_word2vec, "glove": train_glove}


def train(corpus: CutCorpus, *, method: str, **options: Any) -> Trained:
    """Train on a corpus.

    Args:
        corpus: the corpus.
        method: word2vec or glove.
        options: of `train_word2vec` or `train_glove`.

    Raises:
        InputError: another method; as the method does.
    """
    if method not in _METHODS:
        raise InputError(f"train.method: {method!r} is unknown. Write {' or '.join(_METHODS)}.")
    return _METHODS[method](corpus, **options)


# --------------------
# The inner loops of the trainings, compiled: pairs of skip-gram, their updates, and those of GloVe.
#
# All work on a block: pairs of which the first words are of one block of the vocabulary and the second ones of another.
# Blocks that share neither rows nor columns can run beside each other and change nothing of each other's.

NEGATIVE: Final = 5
_STEP: Final = np.uint64(0x9E3779B97F4A7C15)
_32: Final = np.uint64(32)


@compiled_sums
def _mixed(state: np.uint64) -> np.uint64:
    """Return a random number of 64 bits; the states of a generator are `_STEP` apart (SplitMix64)."""
    value = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return value ^ (value >> np.uint64(31))


@compiled_sums
def _below(number: np.uint64, n: int) -> np.int64:
    """Return a random number from 0 to `n` - 1 out of one of 64 bits."""
    return np.int64(((number >> _32) * np.uint64(n)) >> _32)


@compiled_sums
def _share(number: np.uint64) -> float:
    """Return a random number from 0 to below 1, of the 24 lowest bits."""
    return float(number & np.uint64(0xFFFFFF)) / float(1 << 24)


@compiled_sums
def skip_grams(
    numbers: NDArray[np.uint32],
    bounds: NDArray[np.int64],
    first: int,
    last: int,
    window: int,
    kept: NDArray[np.float64],
    limit: NDArray[np.float32],
    other: NDArray[np.int32],
    block: NDArray[np.int32],
    n_blocks: int,
    seed: int,
    at: NDArray[np.int64],
    pairs: NDArray[np.int32],
) -> None:
    """Lay windows over sentences `first` to before `last`, and write pairs of words, sorted by their blocks.

    These are the pairs of near words, and behind each `NEGATIVE` pairs of its first word and a negative one, whose
    number is written as -1 - number.

    Args:
        numbers: the words of all sentences.
        bounds: sentence i is `numbers[bounds[i]:bounds[i + 1]]`.
        first: the first sentence.
        last: the one after the last.
        window: the largest window; each word has one of its own, from 1 to this.
        kept: (n_words,) the share of a word's occurrences that are not thinned out.
        limit: with `other`, how negative words are drawn (`alias_table`).
        other: see `limit`.
        block: (n_words,) of each word.
        n_blocks: how many there are.
        seed: of what is thinned out, of the windows, and of the negative words.
        at: (n_blocks ** 2,) where the next pair of each block goes; moved on.
        pairs: (n, 2) the words of each pair; with none, the pairs are counted and not written.
    """
    state = np.uint64(seed)
    places = np.empty(0, dtype=np.int64)
    for sentence in range(first, last):
        length = bounds[sentence + 1] - bounds[sentence]
        if length > places.size:
            places = np.empty(2 * length, dtype=np.int64)
        n = 0
        for i in range(bounds[sentence], bounds[sentence + 1]):
            state += _STEP
            if _share(_mixed(state)) < kept[numbers[i]]:
                places[n] = numbers[i]
                n += 1
        for i in range(n):
            state += _STEP
            size = 1 + _below(_mixed(state), window)
            center = places[i]
            for j in range(max(0, int(i - size)), min(n, int(i + size + 1))):
                if j == i:
                    continue
                near = places[j]
                row = block[near] * n_blocks
                for k in range(NEGATIVE + 1):
                    target, written = center, center
                    if k > 0:
                        state += _STEP
                        number = _mixed(state)
                        target = _below(number, len(limit))
                        if _share(number) >= limit[target]:
                            target = np.int64(other[target])
                        if target == center:
                            continue
                        written = -1 - target
                    place = row + block[target]
                    if len(pairs) > 0:
                        pairs[at[place], 0] = near
                        pairs[at[place], 1] = written
                    at[place] += 1


@compiled_sums
def alias_table(weights: NDArray[np.float64], limit: NDArray[np.float32], other: NDArray[np.int32]) -> None:
    """Write the tables from which an item is drawn by its weight in constant time (Walker 1977, Vose 1991).

    Item i of n is drawn by a random place i and a random share: it is i itself if the share is below `limit[i]`, and
    else `other[i]`.
    """
    n = len(weights)
    total = 0.0
    for i in range(n):
        total += weights[i]
    scaled = weights * (n / total)
    todo = np.empty(n, dtype=np.int64)  # the small ones from the front, the large ones from the back
    small, large = 0, n
    for i in range(n):
        if scaled[i] < 1.0:
            todo[small] = i
            small += 1
        else:
            large -= 1
            todo[large] = i
    while small > 0 and large < n:
        small -= 1
        i, j = todo[small], todo[large]
        limit[i] = scaled[i]
        other[i] = j
        scaled[j] -= 1.0 - scaled[i]
        if scaled[j] < 1.0:
            large += 1
            todo[small] = j
            small += 1
    while small > 0:
        small -= 1
        limit[todo[small]] = 1.0
        other[todo[small]] = todo[small]
    while large < n:
        limit[todo[large]] = 1.0
        other[todo[large]] = todo[large]
        large += 1


@compiled_sums
def update_skip_grams(pairs: NDArray[np.int32], inputs: NDArray[Any], outputs: NDArray[Any], rate: Any) -> None:
    """Go over pairs once, in their order, and change vectors in place.

    Args:
        pairs: (n, 2) of `skip_grams`: the word whose vector is asked for, and one near it or a negative one.
        inputs: (n_words, d) the vectors.
        outputs: (n_words, d) those of words as neighbours.
        rate: in the vectors' type.
    """
    d = inputs.shape[1]
    one = rate / rate
    for pair in range(len(pairs)):
        target, label = pairs[pair, 1], one
        if target < 0:
            target, label = -1 - target, one - one
        vector, near = inputs[pairs[pair, 0]], outputs[target]
        product = one - one
        for i in range(d):
            product += vector[i] * near[i]
        step = rate * (label - one / (one + np.exp(-product)))
        for i in range(d):
            before = vector[i]
            vector[i] += step * near[i]
            near[i] += step * before


@compiled_sums
def update_glove(
    rows: NDArray[np.int32],
    columns: NDArray[np.int32],
    weights: NDArray[Any],
    logs: NDArray[Any],
    parameters: NDArray[Any],
    squares: NDArray[Any],
    rate: Any,
) -> float:
    """Go over counts once, in their order, and change `parameters` and `squares` in place, by AdaGrad.

    Args:
        rows: (n,) the word i of each count.
        columns: (n,) the word j.
        weights: (n,) f(X_ij).
        logs: (n,) log X_ij.
        parameters: (2, n_words, d + 1); row i of [0] is w_i and the bias b_i, of [1] c_i and d_i.
        squares: the same shape, AdaGrad's sums.
        rate: in the parameters' type.

    Returns:
        The sum of half the weighted squared errors, each before its own update.
    """
    d = parameters.shape[2] - 1
    loss = 0.0
    for entry in range(len(rows)):
        w, c = parameters[0, rows[entry]], parameters[1, columns[entry]]
        w_squares, c_squares = squares[0, rows[entry]], squares[1, columns[entry]]
        error = w[d] + c[d] - logs[entry]
        for k in range(d):
            error += w[k] * c[k]
        weighted = weights[entry] * error
        loss += 0.5 * weighted * error
        step = rate * weighted
        for k in range(d):
            of_w, of_c = step * c[k], step * w[k]
            # np.divide looks at no zero, which would keep the loop from being vectorized; squares are 1 and more.
            w[k] -= np.divide(of_w, np.sqrt(w_squares[k]))
            c[k] -= np.divide(of_c, np.sqrt(c_squares[k]))
            w_squares[k] += of_w * of_w
            c_squares[k] += of_c * of_c
        w[d] -= np.divide(step, np.sqrt(w_squares[d]))
        c[d] -= np.divide(step, np.sqrt(c_squares[d]))
        w_squares[d] += step * step
        c_squares[d] += step * step
    return loss
