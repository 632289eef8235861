"""From the pieces of a batch to vectors: all the computing there is. What else an encoder does changes no vector."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from prasanga.embeddings.averaging import mean_of, place
from prasanga.embeddings.hidden import hidden_states
from prasanga.models.loading import LoadedModel
from prasanga.models.padding import pad, padding_of, send


def vectors_of(
    loaded: LoadedModel,
    depths: Sequence[int],
    ids: Sequence[Sequence[int]],
    rows: Sequence[int],
    positions: Sequence[Sequence[int]],
) -> list[torch.Tensor]:
    """The vectors of n items in a batch, (n, d) in float32, after each of the layers at `depths`.

    Args:
        loaded: the model.
        depths: layers, 0 the embeddings.
        ids: the pieces of each row of the batch.
        rows: the row of each item.
        positions: of each item, the positions in its row whose mean is its vector.
    """
    table, mask = pad(ids, padding_of(loaded.tokenizer, loaded.config))
    # Without padding no mask is needed, and attention without a mask is faster.
    attended = None if mask.all() else send(mask.astype(np.int64), loaded.device)
    states = hidden_states(loaded, depths, send(table, loaded.device), attended)
    # A model spread over several cards has its layers on different ones.
    places = {device: place(rows, positions, device) for device in {one.device for one in states}}
    return [mean_of(one, places[one.device]) for one in states]
