"""What each kind of tiny model learns: hidden pieces, the next piece, or hidden words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from tokenizers import Tokenizer
from torch.nn.functional import cross_entropy

from prasanga.models.batches import pad
from prasanga.models.tiny import BEGIN, BYTE_PAD, CLS, END, MASK, POSITIONS, SENTINELS, SEP, SPECIAL_TOKENS, piece_id

# --------------------
# What a masked language model is trained on: windows of a stream of pieces, some of them hidden.
#
# The shares are BERT's (Devlin et al. 2019, section 3.1): of the chosen pieces 80 % are masked, 10 % replaced by a
# random piece, and 10 % left as they are.


IGNORED = -100
_SHARE = 0.15


def stream_of(tokenizer: Tokenizer, texts: Sequence[str]) -> NDArray[np.int64]:
    """Return all pieces in a row, each text closed by the separator."""
    separator = piece_id(tokenizer, SEP)
    encodings = tokenizer.encode_batch(list(texts), add_special_tokens=False)
    return np.concatenate([np.array([*encoding.ids, separator], dtype=np.int64) for encoding in encodings])


def windows(
    rng: np.random.Generator, stream: NDArray[np.int64], tokenizer: Tokenizer, *, rows: int, length: int
) -> NDArray[np.int64]:
    """Return (rows, length) windows at random places of the stream, which is taken as a ring, in [CLS] ... [SEP]."""
    starts = rng.integers(0, len(stream), size=rows)
    pieces = np.empty((rows, length), dtype=np.int64)
    pieces[:, 0] = piece_id(tokenizer, CLS)
    pieces[:, 1:-1] = stream[(starts[:, None] + np.arange(length - 2)) % len(stream)]
    pieces[:, -1] = piece_id(tokenizer, SEP)
    return pieces


def mask_pieces(
    rng: np.random.Generator, pieces: NDArray[np.int64], tokenizer: Tokenizer
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Choose 15 % of the pieces that are not special, at least one; hide them; return inputs and labels.

    Both have the shape of `pieces`; labels are -100 where nothing is to be predicted.
    """
    special = [piece_id(tokenizer, token) for token in SPECIAL_TOKENS]
    ordinary = ~np.isin(pieces, special)
    chosen = (rng.random(pieces.shape) < _SHARE) & ordinary
    if not chosen.any():
        chosen.flat[int(np.argmax(ordinary))] = True
    kind = rng.random(pieces.shape)
    random_pieces = rng.integers(len(special), tokenizer.get_vocab_size(), size=pieces.shape)
    inputs = np.where(chosen & (kind < 0.8), piece_id(tokenizer, MASK), pieces)
    inputs = np.where(chosen & (kind >= 0.9), random_pieces, inputs)
    return inputs, np.where(chosen, pieces, IGNORED)


# --------------------
# What models that write are trained on: texts from their beginning, and windows in which whole words are hidden.
#
# Hidden words are T5's (Raffel et al. 2020, section 3.1.4): a sentinel stands for each run of them, and what is to
# be written is each sentinel with the words that it stands for. T5 hides runs of pieces; here words are never cut,
# since whole words are what a model is asked for later.


_SHARE_OF_WORDS = 0.25  # T5 hides 15 %; the hundreds of steps here learn more from more
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
    """Return the stream of `texts`."""
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
    """Return (rows, length) places in the stream: windows, half of which begin where a text does."""
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
    chosen = (rng.random(words[-1] + 1) < _SHARE_OF_WORDS)[words] & ordinary
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


# --------------------
# What each kind of model learns: to say hidden pieces, the next piece, or hidden words.
#
# Each objective gives the loss of one step. It is trained on every piece that is to be predicted, and reported over
# the ordinary ones: special pieces, such as T5's sentinels, are easy to predict, and a model would look better than
# it is.


class Objective(Protocol):
    """What a model is trained to do.

    Attributes:
        pieces: ids of all pieces of the texts in a row, special ones between texts included.
        specials: how many ids, the first ones, are those of special pieces.
    """

    pieces: NDArray[np.int64]
    specials: int

    def __init__(self, tokenizer: Tokenizer, texts: Sequence[str]) -> None:
        """Read the texts that are learnt from."""

    def loss(
        self, model: Any, rng: np.random.Generator, *, rows: int, length: int, step: int
    ) -> tuple[torch.Tensor, float | None]:
        """Return the loss of a step, and that over its ordinary pieces, if the step reports one.

        Args:
            model: from `build_model`.
            rng: draws the windows and what is hidden in them.
            rows: windows in the step.
            length: pieces in each.
            step: how many steps came before.
        """


class HiddenPieces:
    """BERT's (Devlin et al. 2019, section 3.1): 15 % of the pieces are chosen and most of them masked."""

    def __init__(self, tokenizer: Tokenizer, texts: Sequence[str]) -> None:
        """Read the texts that are learnt from."""
        self._tokenizer = tokenizer
        self.pieces, self.specials = stream_of(tokenizer, texts), len(SPECIAL_TOKENS)

    def loss(
        self, model: Any, rng: np.random.Generator, *, rows: int, length: int, step: int
    ) -> tuple[torch.Tensor, float | None]:
        """Return what `Objective.loss` describes."""
        pieces = windows(rng, self.pieces, self._tokenizer, rows=rows, length=length)
        inputs, labels = mask_pieces(rng, pieces, self._tokenizer)
        positions = _positions(rng, length, step)
        chosen = torch.from_numpy(labels != IGNORED)
        states = model.bert(input_ids=torch.from_numpy(inputs), position_ids=positions).last_hidden_state
        logits = model.cls(states[chosen])  # the vocabulary head runs at the chosen pieces only
        loss = cross_entropy(logits, torch.from_numpy(labels)[chosen])
        return loss, loss.item()


class NextPiece:
    """GPT's (Radford et al. 2018, section 3.1): every piece from those before it."""

    def __init__(self, tokenizer: Tokenizer, texts: Sequence[str]) -> None:
        """Read the texts that are learnt from."""
        self._stream = read_stream(tokenizer, texts)
        self.pieces, self.specials = self._stream.pieces, piece_id(tokenizer, END) + 1

    def loss(
        self, model: Any, rng: np.random.Generator, *, rows: int, length: int, step: int
    ) -> tuple[torch.Tensor, float | None]:
        """Return what `Objective.loss` describes."""
        pieces = torch.from_numpy(self.pieces[places_of(rng, self._stream, rows=rows, length=length)])
        logits = model(input_ids=pieces[:, :-1], position_ids=_positions(rng, length - 1, step), use_cache=False).logits
        return _losses(logits.flatten(0, 1), pieces[:, 1:].flatten(), self.specials)


class HiddenWords:
    """T5's (Raffel et al. 2020, section 3.1.4), of whole words; in every second step, a text from nothing.

    T5 learns to fill gaps alone. Its decoder then learns little in a few hundred steps, and nothing of how a text
    begins, which is what the score `causal` asks for.
    """

    def __init__(self, tokenizer: Tokenizer, texts: Sequence[str]) -> None:
        """Read the texts that are learnt from."""
        self._tokenizer, self._stream = tokenizer, read_stream(tokenizer, texts)
        self.pieces, self.specials = self._stream.pieces, piece_id(tokenizer, SENTINELS[-1]) + 1

    def loss(
        self, model: Any, rng: np.random.Generator, *, rows: int, length: int, step: int
    ) -> tuple[torch.Tensor, float | None]:
        """Return what `Objective.loss` describes; what is reported is how well words are filled in."""
        padding, end = piece_id(self._tokenizer, BYTE_PAD), piece_id(self._tokenizer, END)
        places = places_of(rng, self._stream, rows=rows, length=length - 1)
        pieces, starts = self.pieces[places], self._stream.starts[places]
        if step % 2:
            made = [Gapped([end], window.tolist()) for window in pieces]
        else:
            made = [hide_words(rng, *window, self._tokenizer) for window in zip(pieces, starts, strict=True)]
        read, reading = pad([one.read for one in made], padding)
        written, writing = pad([one.written for one in made], padding)
        before = np.concatenate([np.full((rows, 1), padding), written[:, :-1]], axis=1)
        logits = model(
            input_ids=torch.from_numpy(read),
            attention_mask=torch.from_numpy(reading),
            decoder_input_ids=torch.from_numpy(before),
            use_cache=False,
        ).logits
        chosen = torch.from_numpy(writing)
        loss, reported = _losses(logits[chosen], torch.from_numpy(written)[chosen], self.specials)
        return loss, None if step % 2 else reported


OBJECTIVES: dict[str, type[Objective]] = {
    "encoder": HiddenPieces,
    "decoder": NextPiece,
    "encoder-decoder": HiddenWords,
}


def entropy_of(objective: Objective) -> float:
    """Return the entropy (natural log) of the frequencies of ordinary pieces.

    This is what is lost without a look at the context.
    """
    counts = np.bincount(objective.pieces)[objective.specials :]
    shares = counts[counts > 0] / counts.sum()
    return float(-(shares * np.log(shares)).sum())


def _positions(rng: np.random.Generator, length: int, step: int) -> torch.Tensor:
    """Return positions that begin later in half of the steps, so that every position up to the last one is trained."""
    first = int(rng.integers(0, POSITIONS - length + 1)) if step % 2 else 0
    return torch.arange(first, first + length)[None]


def _losses(logits: torch.Tensor, labels: torch.Tensor, specials: int) -> tuple[torch.Tensor, float]:
    """Return the mean cross-entropy over all labels, and over those of ordinary pieces."""
    each = cross_entropy(logits, labels, reduction="none")
    return each.mean(), each.detach()[labels >= specials].mean().item()
