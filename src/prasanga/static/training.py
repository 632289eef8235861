"""A corpus as words, what a training on it gives, the file that keeps that; word2vec and GloVe.

Words are those of the rest of the study (`prasanga.text.WORD`), so that a vector belongs to the word that is counted
and matched elsewhere. A corpus is written to a temporary file as sentences of words, one a line, and read several times
over; memory holds the counts of the different words and nothing else of it. A training's whole vocabulary is kept, so
that another word list is looked up and nothing is trained anew.

word2vec is skip-gram with negative sampling (Mikolov et al. 2013), as gensim trains it. What the options do not say is
gensim's default: 5 negative words, frequent words thinned out with threshold 1e-3, a window drawn anew at each word up
to the given size, a rate that falls from 0.025.
"""

from __future__ import annotations

import functools
import logging
import tempfile
import zlib
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice, pairwise
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from prasanga.base.errors import InputError
from prasanga.base.parquet import explaining_full_disk, made_from, read_batches
from prasanga.base.progress import Progress, progress
from prasanga.base.seeds import generator
from prasanga.static.files import Found, WordVectors
from prasanga.text import WORD, fold, split_sentences

LONGEST = 10_000
"""Most words of a sentence; a longer one is cut (gensim would drop what is beyond)."""

NEGATIVE = 5
SAMPLE = 1e-3

_LOG = logging.getLogger(__name__)
_TEXTS_AT_A_TIME = 1000
_ROWS = 8192
_COUNTED = 1000  # sentences that are counted together
# Languages whose words are lower-cased: at the beginning of a sentence a capital says nothing about the word. Bangla
# and Hindi have no capitals, and their few Latin words stay as they are.
_WITH_CAPITALS = ("en",)


@dataclass(frozen=True)
class Tokens:
    """A corpus on disk, one sentence a line, words with a space between them.

    Attributes:
        path: the file, UTF-8.
        counts: how often each word occurs, most frequent first, equally frequent ones by the alphabet.
        n_sentences: sentences.
        n_words: words, each as often as it occurs.
    """

    path: Path
    counts: dict[str, int]
    n_sentences: int
    n_words: int

    def __iter__(self) -> Iterator[list[str]]:
        """Yield the sentences, from the first one on with every new loop."""
        with self.path.open(encoding="utf-8", newline="\n") as stream:
            for line in stream:
                yield line.removesuffix("\n").split(" ")

    def frequent(self, minimum_count: int) -> dict[str, int]:
        """Return the words that occur at least `minimum_count` times, with their counts, in the order of `counts`."""
        return {word: count for word, count in self.counts.items() if count >= minimum_count}


def has_capitals(language: str) -> bool:
    """Return whether the words of a language are lower-cased for training."""
    return language in _WITH_CAPITALS


def sentences_of(
    texts: Iterable[str], normalize: Callable[[Sequence[str]], list[str]], *, lower: bool = False
) -> Iterator[list[str]]:
    """Yield the sentences of texts, each as a list of at least one and at most `LONGEST` words.

    Args:
        texts: lines or records of a corpus; no sentence reaches from one into the next.
        normalize: the study's normalization of many texts (`prasanga.text.normalizer`).
        lower: whether words are lower-cased (`has_capitals`).
    """
    rest = iter(texts)
    while batch := list(islice(rest, _TEXTS_AT_A_TIME)):
        for text in normalize(batch):
            folded = fold(text)
            for start, end in split_sentences(folded):  # by its capitals, too
                words = WORD.findall(folded, start, end)
                words = [word.lower() for word in words] if lower else words
                for first in range(0, len(words), LONGEST):
                    yield words[first : first + LONGEST]


def spool(sentences: Iterable[Sequence[str]], path: str | Path) -> Tokens:
    """Write sentences of words to `path` and count the words.

    Raises:
        InputError: there is no room on the disk.
    """
    path, counts = Path(path), Counter[str]()
    n_sentences = n_words = 0
    with explaining_full_disk(path), path.open("w", encoding="utf-8", newline="\n") as stream:
        for words in sentences:
            stream.write(" ".join(words) + "\n")
            counts.update(words)
            n_sentences += 1
            n_words += len(words)
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return Tokens(path, dict(ordered), n_sentences, n_words)


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
    """Read the vectors of some words from the file of a training, some thousand rows in memory at a time.

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


def require_vocabulary(tokens: Tokens, minimum_count: int) -> dict[str, int]:
    """Return the words that get a vector, with their counts.

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


def train_word2vec(
    tokens: Tokens, *, dimensions: int = 300, window: int = 5, minimum_count: int = 5, epochs: int = 5, seed: int = 1
) -> Trained:
    """Train skip-gram vectors; on one machine the same arguments give the same numbers in every run.

    One thread trains: with several, they overtake each other and no two runs agree.

    Args:
        tokens: the corpus; it is read `epochs` times.
        dimensions: of a vector.
        window: most words on either side that count as near, within a sentence.
        minimum_count: words that occur less often get no vector and are no neighbours.
        epochs: passes over the corpus.
        seed: seed of the initial vectors, the windows, the thinning and the negative words.

    Raises:
        InputError: fewer than two words are frequent enough.
    """
    from gensim.models import Word2Vec

    vocabulary = require_vocabulary(tokens, minimum_count)
    model = Word2Vec(
        vector_size=dimensions,
        window=window,
        min_count=1,  # the vocabulary is given, and sorted
        sorted_vocab=0,
        sg=1,
        hs=0,
        negative=NEGATIVE,
        sample=SAMPLE,
        epochs=epochs,
        seed=seed % 2**32,
        workers=1,
        hashfxn=_hash,
    )
    model.build_vocab_from_freq(vocabulary, corpus_count=tokens.n_sentences)
    _LOG.info("word2vec: %d words, %d sentences, %d epochs", len(vocabulary), tokens.n_sentences, epochs)
    with progress("word2vec", tokens.n_sentences * epochs, "sentences") as done:
        counted = _Counted(tokens, done)
        model.train(counted, total_examples=tokens.n_sentences, epochs=epochs, report_delay=float("inf"))
    words = tuple(model.wv.index_to_key)
    report = {
        "n_sentences": tokens.n_sentences,
        "n_words": tokens.n_words,
        "n_vocabulary": len(words),
        "negative": NEGATIVE,
        "sample": SAMPLE,
    }
    counts = np.array([vocabulary[word] for word in words], dtype=np.int64)
    return Trained(words, counts, np.asarray(model.wv.vectors, dtype=np.float32), report)


class _Counted:
    """The sentences, again with every new loop, counted as they are read; gensim reads little ahead."""

    def __init__(self, tokens: Tokens, done: Progress) -> None:
        self._tokens, self._done = tokens, done

    def __iter__(self) -> Iterator[list[str]]:
        return self._done.over(self._tokens, every=_COUNTED)


def _hash(text: str) -> int:
    """Return a hash that is the same in every process, which Python's own is not."""
    return zlib.crc32(text.encode("utf-8", "surrogatepass"))


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
# memory would not hold them, the updates compiled.

X_MAX: Final = 100.0  # the count from which on all pairs weigh the same
ALPHA: Final = 0.75
RATE: Final = 0.05
ENTRY = np.dtype([("row", "<i4"), ("column", "<i4"), ("count", "<f4")])
"""One count on disk."""

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


# --------------------
# A training on a corpus by either method: what the script calls.

_METHODS: dict[str, Callable[..., Trained]] = {"word2vec": train_word2vec, "glove": train_glove}


def train_on_texts(
    texts: Iterable[str], normalize: Callable[[Sequence[str]], list[str]], *, language: str, method: str, **options: Any
) -> Trained:
    """Train on texts, which are read once; their words lie in `TMPDIR` meanwhile.

    Args:
        texts: lines or records of a corpus.
        normalize: the study's normalization of many texts.
        language: of the study; says whether words are lower-cased.
        method: word2vec or glove.
        options: of `train_word2vec` or `train_glove`.

    Raises:
        InputError: another method; no room on the disk; as the method does.
    """
    if method not in _METHODS:
        raise InputError(f"train.method: {method!r} is unknown. Write {' or '.join(_METHODS)}.")
    with tempfile.TemporaryDirectory(prefix="prasanga-static-") as folder:
        tokens = spool(sentences_of(texts, normalize, lower=has_capitals(language)), Path(folder, "tokens"))
        return _METHODS[method](tokens, **options)
