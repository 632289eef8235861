"""GloVe: word vectors from the counts of words near each other (Pennington, Socher and Manning 2014).

The model minimises, over all pairs of words with a count X > 0 (there equation 8),

    sum of f(X_ij) (w_i . c_j + b_i + d_j - log X_ij)^2,        f(x) = min(1, (x / x_max)^0.75)

by AdaGrad with the rate 0.05, where X_ij adds up one over the distance for each time that j stands within the window of
i. A word's vector is the sum of its two, w_i + c_i. As in the authors' program, the accumulated squares begin at 1 and
are those of the gradient times the rate.

No package that trains GloVe is kept up for today's Python, so it is done here: the counts by scipy, on
disk where memory would not hold them, the updates compiled.
"""

from __future__ import annotations

import functools
import logging
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from prasanga.base.errors import InputError
from prasanga.base.parquet import explaining_full_disk
from prasanga.base.progress import progress
from prasanga.base.seeds import generator
from prasanga.static.training import Tokens, Trained, require_vocabulary

_LOG = logging.getLogger(__name__)
X_MAX: Final = 100.0  # the count from which on all pairs weigh the same
ALPHA: Final = 0.75
RATE: Final = 0.05
ENTRY = np.dtype([("row", "<i4"), ("column", "<i4"), ("count", "<f4")])
"""One count on disk."""

_COUNTED = 1000  # sentences that are counted together
_PAIRS_AT_A_TIME = 1 << 23
_SAMPLED = 1024


def train_glove(
    tokens: Tokens,
    *,
    dimensions: int = 300,
    window: int = 5,
    minimum_count: int = 5,
    epochs: int = 25,
    seed: int = 1,
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
        vectors, losses = fit(entries, len(words), dimensions, epochs=epochs, rng=rng)
    report = {
        "n_sentences": tokens.n_sentences,
        "n_words": tokens.n_words,
        "n_vocabulary": len(words),
        "n_counts": entries.n_entries,
        "x_max": X_MAX,
        "losses": [round(loss, 6) for loss in losses],
    }
    return Trained(words, np.array(list(vocabulary.values()), dtype=np.int64), vectors, report)


class Entries(NamedTuple):
    """The entries that are not zero, scattered over files at random: each file is a fair sample of all."""

    paths: list[Path]
    n_entries: int


def count_pairs(
    sentences: Iterable[Sequence[str]],
    vocabulary: Sequence[str],
    window: int,
    folder: str | Path,
    rng: np.random.Generator,
    *,
    pairs_at_a_time: int = _PAIRS_AT_A_TIME,
) -> Entries:
    """Count how often the words of a vocabulary stand near each other, each pair weighted by one over its distance.

    Words outside the vocabulary are taken out first, so that they make no distance. Each part of the corpus is counted
    by itself (scipy's sparse matrices add up equal pairs) and written as a run of sorted pairs; the runs are then
    merged range by range. Pairs of one order only are counted, since nearness has no direction, and written in both.

    Args:
        sentences: of words.
        vocabulary: the words that count; entries name them by their place.
        window: greatest distance.
        folder: where the files go.
        rng: deals the entries to files.
        pairs_at_a_time: what memory holds, in pairs; what comes out does not depend on it but for rounding and order.

    Raises:
        InputError: there is no room on the disk.
    """
    folder, n = Path(folder), len(vocabulary)
    with explaining_full_disk(folder):
        runs = [
            _written(_counted(ids, sentence, n, window), folder / f"run-{number}")
            for number, (ids, sentence) in enumerate(_parts(sentences, vocabulary, max(1, pairs_at_a_time // window)))
        ]
        n_files = max(1, -(-2 * sum(run.keys.size for run in runs) // pairs_at_a_time))
        paths = [folder / f"entries-{number}" for number in range(n_files)]
        for path in paths:
            path.write_bytes(b"")
        n_entries = 0
        for keys, sums in _merged(runs, n, pairs_at_a_time):
            entries = _both_ways(keys, sums, n)
            n_entries += entries.size
            dealt = rng.integers(n_files, size=entries.size)
            for number, path in enumerate(paths):
                with path.open("ab") as file:
                    entries[dealt == number].tofile(file)
    for number in range(len(runs)):
        for kind in ("keys", "sums"):
            (folder / f"run-{number}.{kind}.npy").unlink()
    return Entries(paths, n_entries)


def fit(
    entries: Entries, n_words: int, dimensions: int, *, epochs: int, rng: np.random.Generator
) -> tuple[npt.NDArray[np.float32], list[float]]:
    """Return vectors (n_words, d) of co-occurrences on disk, and the mean weighted loss in each epoch."""
    update = compiled_update()
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
                weights = np.minimum(1.0, (counts / X_MAX) ** ALPHA).astype(np.float32)
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


@functools.cache
def compiled_update() -> Callable[..., float]:
    """Return `_update` compiled; whoever only reads vectors does not load the compiler."""
    from prasanga.text.compiled import compiled

    return compiled(_update)


def _update(
    rows: npt.NDArray[np.int32],
    columns: npt.NDArray[np.int32],
    weights: npt.NDArray[Any],
    logs: npt.NDArray[Any],
    parameters: npt.NDArray[Any],
    squares: npt.NDArray[Any],
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
        # Four sums that do not wait for each other.
        error = w[d] + c[d] - logs[entry]
        second = error - error
        third, fourth = second, second
        k = 0
        while k + 4 <= d:
            error += w[k] * c[k]
            second += w[k + 1] * c[k + 1]
            third += w[k + 2] * c[k + 2]
            fourth += w[k + 3] * c[k + 3]
            k += 4
        while k < d:
            error += w[k] * c[k]
            k += 1
        error += second + third + fourth
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


class _Run(NamedTuple):
    keys: npt.NDArray[np.int64]  # row * n_words + column, ascending, row <= column
    sums: npt.NDArray[np.float64]


def _parts(
    sentences: Iterable[Sequence[str]], vocabulary: Sequence[str], size: int
) -> Iterator[tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]]:
    """Yield places in the vocabulary of some `size` words at a time, and the number of the sentence of each."""
    place = {word: number for number, word in enumerate(vocabulary)}
    ids: list[int] = []
    lengths: list[int] = []
    for words in sentences:
        known = [place[word] for word in words if word in place]
        ids += known
        lengths.append(len(known))
        if len(ids) >= size:
            yield np.array(ids), np.repeat(np.arange(len(lengths)), lengths)
            ids, lengths = [], []
    if ids:
        yield np.array(ids), np.repeat(np.arange(len(lengths)), lengths)


def _counted(ids: npt.NDArray[np.int64], sentence: npt.NDArray[np.int64], n: int, window: int) -> _Run:
    from scipy.sparse import coo_array

    rows, columns, weights = [], [], []
    for distance in range(1, min(window, ids.size - 1) + 1):
        near = sentence[:-distance] == sentence[distance:]
        left, right = ids[:-distance][near], ids[distance:][near]
        rows.append(np.minimum(left, right))
        columns.append(np.maximum(left, right))
        weights.append(np.full(left.size, 1 / distance))
    if not rows:
        return _Run(np.empty(0, np.int64), np.empty(0))
    pairs = (np.concatenate(rows), np.concatenate(columns))
    matrix: Any = coo_array((np.concatenate(weights), pairs), shape=(n, n)).tocsr()
    matrix.sum_duplicates()  # sorts as well
    keys = np.repeat(np.arange(n), np.diff(matrix.indptr)) * n + matrix.indices
    return _Run(keys.astype(np.int64), matrix.data)


def _written(run: _Run, path: Path) -> _Run:
    """Return the run, on disk from now on."""
    for kind, values in run._asdict().items():
        np.save(f"{path}.{kind}.npy", values)
    if not run.keys.size:  # nothing can be mapped of an empty file
        return run
    return _Run(*(np.load(f"{path}.{kind}.npy", mmap_mode="r") for kind in _Run._fields))


def _merged(runs: Sequence[_Run], n: int, pairs_at_a_time: int) -> Iterator[_Run]:
    """Yield the runs as one, in ranges of keys of which memory holds one."""
    step = max(1, min(_SAMPLED, pairs_at_a_time // 16))
    samples = np.sort(np.concatenate([np.empty(0, np.int64), *(run.keys[::step] for run in runs)]))
    every = max(1, pairs_at_a_time // step)
    bounds = [0, *np.unique(samples[every::every]).tolist(), n * n]
    for low, high in pairwise(bounds):
        pieces = [(run, *np.searchsorted(run.keys, [low, high]).tolist()) for run in runs]
        keys = np.concatenate([run.keys[start:stop] for run, start, stop in pieces])
        if not keys.size:
            continue
        order = np.argsort(keys, kind="stable")
        keys, sums = keys[order], np.concatenate([run.sums[start:stop] for run, start, stop in pieces])[order]
        first = np.flatnonzero(np.diff(keys, prepend=-1))
        yield _Run(keys[first], np.add.reduceat(sums, first))


def _both_ways(keys: npt.NDArray[np.int64], sums: npt.NDArray[np.float64], n: int) -> npt.NDArray[Any]:
    rows, columns = np.divmod(keys, n)
    same = rows == columns
    entries = np.empty(2 * keys.size - int(same.sum()), dtype=ENTRY)
    # a word near itself is near on both sides
    entries["row"] = np.concatenate([rows, columns[~same]])
    entries["column"] = np.concatenate([columns, rows[~same]])
    entries["count"] = np.concatenate([np.where(same, 2 * sums, sums), sums[~same]])
    return entries
