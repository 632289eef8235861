"""Vectors the plain way: one text at a time, the whole model with its head, every layer kept, nothing padded.

A target's vector is the mean over the pieces that share a character with it. It is what anybody would write first, and
too simple to be wrong; `prasanga.embeddings` has to give the same numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers

Span = tuple[int, int]


class PlainEmbedder:
    """A whole model, in float32, as its configuration names it."""

    def __init__(self, folder: Path) -> None:
        config = transformers.AutoConfig.from_pretrained(folder)
        self.tokenizer: Any = transformers.AutoTokenizer.from_pretrained(folder)
        self.is_encoder_decoder = bool(config.is_encoder_decoder)
        whole = getattr(transformers, config.architectures[0])
        self.model: Any = whole.from_pretrained(folder, dtype=torch.float32).eval()
        # tests ask for the same texts again and again
        self._states, self.tokenize = cache(self._run), cache(self._tokenize)

    def _tokenize(self, text: str) -> tuple[list[int], list[Span]]:
        """The ids of the text's pieces, special ones included, and the characters that each stands for."""
        encoded = self.tokenizer(text, return_offsets_mapping=True)
        return encoded["input_ids"], encoded["offset_mapping"]

    def positions(self, text: str, span: Span) -> list[int]:
        """Where the pieces of the target are. A special piece stands for no character, so it shares none."""
        wanted = set(range(*span))
        return [i for i, offset in enumerate(self.tokenize(text)[1]) if wanted & set(range(*offset))]

    def states(self, ids: Sequence[int]) -> list[np.ndarray]:
        """Every layer, embeddings first, each (pieces, d); of an encoder-decoder, the encoder's."""
        return self._states(tuple(ids))

    @torch.inference_mode()
    def _run(self, ids: tuple[int, ...]) -> list[np.ndarray]:
        table = torch.tensor([ids])
        if self.is_encoder_decoder:
            output = self.model(input_ids=table, decoder_input_ids=table, output_hidden_states=True)
            return [layer[0].numpy() for layer in output.encoder_hidden_states]
        output = self.model(input_ids=table, output_hidden_states=True)
        return [layer[0].numpy() for layer in output.hidden_states]

    def embed(self, text: str, span: Span, layer: int = -1) -> np.ndarray:
        """The mean over the target's pieces, (d,)."""
        states = self.states(self.tokenize(text)[0])[layer]
        return np.asarray(states[self.positions(text, span)].mean(axis=0))

    def embed_all(self, texts: Sequence[str], spans: Sequence[Span], layer: int = -1) -> np.ndarray:
        """`embed` for each text and span, (n, d)."""
        return np.stack([self.embed(text, span, layer) for text, span in zip(texts, spans, strict=True)])

    def encode(self, text: str, pooling: str) -> np.ndarray:
        """A sentence's vector, (d,): of its first or last position, or the mean over all of them."""
        states = self.states(self.tokenize(text)[0])[-1]
        return np.asarray({"cls": states[0], "last": states[-1], "mean": states.mean(axis=0)}[pooling])
