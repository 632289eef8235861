"""A corpus as words, what a training on it gives, the file that keeps that; and word2vec.

Words are those of the rest of the study (`prasanga.text.WORD`), so that a vector belongs to the word that is counted
and matched elsewhere. A corpus is written to a temporary file as sentences of words, one a line, and read several times
over; memory holds the counts of the different words and nothing else of it. A training's whole vocabulary is kept, so
that another word list is looked up and nothing is trained anew.

word2vec is skip-gram with negative sampling (Mikolov et al. 2013), as gensim trains it. What the options do not say is
gensim's default: 5 negative words, frequent words thinned out with threshold 1e-3, a window drawn anew at each word up
to the given size, a rate that falls from 0.025.
"""

from __future__ import annotations

import logging
import zlib
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from prasanga.base.errors import InputError
from prasanga.base.parquet import explaining_full_disk, made_from, read_batches
from prasanga.base.progress import Progress, progress
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
