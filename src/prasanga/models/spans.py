"""What models that write are trained on: texts from their beginning, and windows in which whole words are hidden.

Hidden words are T5's (Raffel et al. 2020, section 3.1.4): a sentinel stands for each run of them, and what is to be
written is each sentinel with the words that it stands for. T5 hides runs of pieces; here words are never cut, since
whole words are what a model is asked for later.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from prasanga.models.byte_pieces import BEGIN, END, SENTINELS
from prasanga.models.tokenizer import piece_id

_SHARE = 0.25  # T5 hides 15 %; the hundreds of steps here learn more from more
_FROM_THE_BEGINNING = 0.5
"""Share of the windows that begin where a text does; the others reach what long texts have further on."""


class Stream(NamedTuple):
    """All pieces of the texts in a row, taken as a ring.

    Attributes:
        pieces: their ids; each text begins with `BEGIN`, where the tokenizer has it, and ends with `END`.
        starts: whether a word begins with the piece; so do `BEGIN` and `END`.
        texts: where each text begins.
    """

    pieces: NDArray[np.int64]
    starts: NDArray[np.bool_]
    texts: NDArray[np.int64]


def read_stream(tokenizer: Tokenizer, texts: Sequence[str]) -> Stream:
    """The stream of `texts`."""
    before = [] if tokenizer.token_to_id(BEGIN) is None else [piece_id(tokenizer, BEGIN)]
    after = [piece_id(tokenizer, END)]
    pieces, starts, lengths = [], [], []
    for encoding in tokenizer.encode_batch(list(texts), add_special_tokens=False):
        pieces.append(np.array([*before, *encoding.ids, *after], dtype=np.int64))
        words = np.array([*(-1 for _ in before), *encoding.word_ids, -2], dtype=np.int64)
        starts.append(np.diff(words, prepend=-3) != 0)
        lengths.append(len(words))
    begins = np.cumsum([0, *lengths[:-1]], dtype=np.int64)
    return Stream(np.concatenate(pieces), np.concatenate(starts), begins)


def places_of(rng: np.random.Generator, stream: Stream, *, rows: int, length: int) -> NDArray[np.int64]:
    """(rows, length) places in the stream: windows, half of which begin where a text does."""
    anywhere = rng.integers(0, len(stream.pieces), size=rows)
    at_a_text = stream.texts[rng.integers(0, len(stream.texts), size=rows)]
    first = np.where(rng.random(rows) < _FROM_THE_BEGINNING, at_a_text, anywhere)
    return (first[:, None] + np.arange(length)) % len(stream.pieces)


class Gapped(NamedTuple):
    """A window without its hidden words, and what is to be written for it."""

    read: list[int]
    written: list[int]


def hide_words(
    rng: np.random.Generator, pieces: NDArray[np.int64], starts: NDArray[np.bool_], tokenizer: Tokenizer
) -> Gapped:
    """Hide a quarter of the words of a window, at least one and no more runs of them than there are sentinels for.

    Args:
        rng: chooses the words.
        pieces: (length,) ids, at least one of them not special.
        starts: (length,) whether a word begins; the first piece counts as one in any case.
        tokenizer: has sentinels, and special pieces with the first ids.

    Returns:
        What is read, closed by `END`; what is written: each sentinel with its words, and the next sentinel and `END`.
    """
    sentinels = np.array([piece_id(tokenizer, sentinel) for sentinel in SENTINELS])
    end = piece_id(tokenizer, END)
    words = np.cumsum(starts) - (1 if starts[0] else 0)
    ordinary = pieces > sentinels.max()
    chosen = (rng.random(words[-1] + 1) < _SHARE)[words] & ordinary
    if not chosen.any():
        ordinary_words = np.unique(words[ordinary])
        chosen = words == ordinary_words[int(rng.integers(0, len(ordinary_words)))]
    begins = chosen & ~np.concatenate([[False], chosen[:-1]])
    runs = np.cumsum(begins)  # of a hidden piece: the number of its run, from 1 on
    chosen &= runs < len(sentinels)
    begins &= chosen
    runs = np.minimum(runs, len(sentinels) - 1)
    read = np.where(begins, sentinels[runs - 1], pieces)[~chosen | begins]
    written = np.repeat(pieces[chosen], 1 + begins[chosen])
    firsts = np.flatnonzero(begins[chosen])
    written[firsts + np.arange(len(firsts))] = sentinels[: len(firsts)]
    return Gapped([*read.tolist(), end], [*written.tolist(), int(sentinels[len(firsts)]), end])
