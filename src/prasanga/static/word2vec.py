"""word2vec: skip-gram with negative sampling (Mikolov et al. 2013), as gensim trains it.

What the options do not say is gensim's default: 5 negative words, frequent words thinned out with threshold 1e-3, a
window drawn anew at each word up to the given size, a rate that falls from 0.025.
"""

from __future__ import annotations

import logging
import zlib
from collections.abc import Iterator

import numpy as np

from prasanga.progress import Progress, progress
from prasanga.static.tokens import Tokens
from prasanga.static.trained import Trained, require_vocabulary

_LOG = logging.getLogger(__name__)
NEGATIVE = 5
SAMPLE = 1e-3
_COUNTED = 1000  # sentences that are counted together


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
    """A hash that is the same in every process, which Python's own is not."""
    return zlib.crc32(text.encode("utf-8", "surrogatepass"))
