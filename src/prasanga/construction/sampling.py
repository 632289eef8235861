"""The next piece of a text, drawn at random and the same again for the same seed, whatever runs beside it.

A draw from probabilities p is the largest of log p + g with g from Gumbel's distribution (Gumbel 1954). Every text has
its own stream of g, so that what a model writes for it depends neither on the batch that it is in nor on the device.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from transformers import LogitsProcessor, TopPLogitsWarper


class SeededDraw(LogitsProcessor):  # type: ignore[misc]
    """Makes the largest score of each row a random draw: temperature, then the nucleus, then noise."""

    def __init__(self, streams: Sequence[np.random.Generator], temperature: float, top_p: float) -> None:
        """One of `streams` for each row; `temperature` above 0; `top_p` the probability that the nucleus has."""
        self._streams = streams
        self._temperature = temperature
        self._nucleus = TopPLogitsWarper(top_p) if top_p < 1 else None

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        """Scores (rows, vocabulary) with noise; those outside the nucleus stay minus infinity."""
        scores = scores.float() / self._temperature
        if self._nucleus is not None:
            scores = self._nucleus(input_ids, scores)
        # In half the digits an exponential number is 0 once in some millions, and the likeliest word of a large
        # vocabulary would lose to whichever has it.
        waits = np.stack([stream.standard_exponential(scores.shape[-1]) for stream in self._streams])
        noise = -np.log(np.maximum(waits, np.finfo(np.float64).tiny)).astype(np.float32)
        return scores + torch.from_numpy(noise).to(scores.device)
