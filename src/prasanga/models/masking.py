"""What a masked language model is trained on: windows of a stream of pieces, some of them hidden.

The shares are BERT's (Devlin et al. 2019, section 3.1): of the chosen pieces 80 % are masked, 10 % replaced by a random
piece, and 10 % left as they are.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from prasanga.models.tokenizer import CLS, MASK, SEP, SPECIAL_TOKENS, piece_id

IGNORED = -100
_SHARE = 0.15


def stream_of(tokenizer: Tokenizer, texts: Sequence[str]) -> NDArray[np.int64]:
    """All pieces in a row, each text closed by the separator."""
    separator = piece_id(tokenizer, SEP)
    encodings = tokenizer.encode_batch(list(texts), add_special_tokens=False)
    return np.concatenate([np.array([*encoding.ids, separator], dtype=np.int64) for encoding in encodings])


def windows(
    rng: np.random.Generator, stream: NDArray[np.int64], tokenizer: Tokenizer, *, rows: int, length: int
) -> NDArray[np.int64]:
    """(rows, length) windows at random places of the stream, which is taken as a ring, in [CLS] ... [SEP]."""
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
