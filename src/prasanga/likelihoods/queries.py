"""What a model is asked: one forward pass, and the pieces whose log-probabilities are read from it."""

from __future__ import annotations

from typing import NamedTuple


class Query(NamedTuple):
    """One pass of a model, and what is read from it.

    Attributes:
        ids: the pieces that the model reads; of an encoder-decoder, that its encoder reads.
        positions: places of its output; of an encoder-decoder, of the decoder's output.
        targets: the piece whose log-probability is read at each of `positions`.
        decoder_ids: of an encoder-decoder, the pieces that its decoder reads.
    """

    ids: tuple[int, ...]
    positions: tuple[int, ...]
    targets: tuple[int, ...]
    decoder_ids: tuple[int, ...] = ()

    @property
    def size(self) -> int:
        """Pieces that run through the model."""
        return len(self.ids) + len(self.decoder_ids)
