"""What each kind of model learns: to say hidden pieces, the next piece, or hidden words.

Each objective gives the loss of one step. It is trained on every piece that is to be predicted, and reported over the
ordinary ones: special pieces, such as T5's sentinels, are easy to predict, and a model would look better than it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from tokenizers import Tokenizer
from torch.nn.functional import cross_entropy

from prasanga.models.architectures import POSITIONS
from prasanga.models.byte_pieces import END, PAD, SENTINELS
from prasanga.models.masking import IGNORED, mask_pieces, stream_of, windows
from prasanga.models.padding import pad
from prasanga.models.spans import Gapped, hide_words, places_of, read_stream
from prasanga.models.tokenizer import SPECIAL_TOKENS, piece_id


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
        """The loss of a step, and that over its ordinary pieces, if the step reports one.

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
        """As `Objective.loss`."""
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
        """As `Objective.loss`."""
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
        """As `Objective.loss`; what is reported is how well words are filled in."""
        padding, end = piece_id(self._tokenizer, PAD), piece_id(self._tokenizer, END)
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
    """Entropy (natural log) of the frequencies of ordinary pieces: what is lost without a look at the context."""
    counts = np.bincount(objective.pieces)[objective.specials :]
    shares = counts[counts > 0] / counts.sum()
    return float(-(shares * np.log(shares)).sum())


def _positions(rng: np.random.Generator, length: int, step: int) -> torch.Tensor:
    """Half of the steps begin at a later position, so that every position up to the last one is trained."""
    first = int(rng.integers(0, POSITIONS - length + 1)) if step % 2 else 0
    return torch.arange(first, first + length)[None]


def _losses(logits: torch.Tensor, labels: torch.Tensor, specials: int) -> tuple[torch.Tensor, float]:
    """Mean cross-entropy over all labels, and over those of ordinary pieces."""
    each = cross_entropy(logits, labels, reduction="none")
    return each.mean(), each.detach()[labels >= specials].mean().item()
