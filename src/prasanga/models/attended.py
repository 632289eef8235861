"""How much attention each piece of a text gets, summed layer by layer while a model runs.

transformers keeps the weights of all layers and heads where it is asked for them: layers x heads x length x length
numbers a row. Its families ask one function for attention, whichever is named in the configuration. The function here
adds up what each piece gets, a few heads and readers at a time, and keeps no weights.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import torch
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.integrations.sdpa_attention import repeat_kv, sdpa_attention_forward
from transformers.masking_utils import sdpa_mask

SUMMING = "prasanga_summing"
"""The name of the function, for `set_attn_implementation`."""

_AT_ONCE = {"cpu": 1 << 22, "cuda": 1 << 26}  # attention weights at once: 16 MB, 256 MB of float32


class Received:
    """The attention that pieces got so far.

    Attributes:
        shares: (rows, length), summed over layers: each layer adds the mean over its heads and the pieces that read.
        layers: how many have been added.
    """

    def __init__(self, lengths: torch.Tensor) -> None:
        """Nothing yet; `lengths` are the pieces of each row, without padding, which does not count as a reader."""
        longest = int(lengths.max())
        reading = torch.arange(longest, device=lengths.device) < lengths[:, None]
        self.readers = reading.float() / lengths[:, None]
        self.shares = torch.zeros(reading.shape, dtype=torch.float32, device=lengths.device)
        self.layers = 0

    def mean(self) -> torch.Tensor:
        """The mean over layers, (rows, length); of a row it sums to 1."""
        return self.shares / max(1, self.layers)


_RECEIVED: ContextVar[Received | None] = ContextVar("received", default=None)


@contextmanager
def summing(lengths: torch.Tensor) -> Iterator[Received]:
    """While this lasts, a model whose attention is `SUMMING` adds up what its pieces get."""
    received = Received(lengths)
    token = _RECEIVED.set(received)
    try:
        yield received
    finally:
        _RECEIVED.reset(token)


def _attend(
    module: torch.nn.Module,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,
    scaling: float | None = None,
    **more: Any,
) -> tuple[torch.Tensor, None]:
    """Attention as transformers' own functions give it, (rows, length, heads, d), without weights."""
    received = _RECEIVED.get()
    if received is None:
        output, _ = sdpa_attention_forward(module, query, key, value, attention_mask, scaling=scaling, **more)
        return output, None
    groups = query.shape[1] // key.shape[1]
    key, value = repeat_kv(key, groups), repeat_kv(value, groups)
    scale = query.shape[-1] ** -0.5 if scaling is None else scaling
    rows, heads, length, _ = query.shape
    output = query.new_empty(rows, length, heads, value.shape[-1])
    shares = received.shares.to(query.device)
    weight_of = received.readers.to(query.device) / heads
    for row, head, reader in _parts(rows, heads, length, _AT_ONCE["cpu" if query.device.type == "cpu" else "cuda"]):
        scores = (query[row, head, reader] @ key[row, head].transpose(2, 3)).float() * scale
        if attention_mask is not None:
            mask = attention_mask.expand(rows, -1, length, -1)
            part = mask[row, slice(None) if mask.shape[1] == 1 else head, reader]
            scores = scores.masked_fill_(~part, float("-inf")) if part.dtype == torch.bool else scores.add_(part)
        weights = scores.softmax(dim=-1)
        shares[row] += torch.einsum("rhqk,rq->rk", weights, weight_of[row, reader])
        output[row, reader, head] = (weights.to(value.dtype) @ value[row, head]).transpose(1, 2)
    received.shares = shares.to(received.shares.device)
    received.layers += 1
    return output, None


def _parts(rows: int, heads: int, length: int, at_once: int) -> Iterator[tuple[slice, slice, slice]]:
    """Rows, heads and readers that are run together: of at most `at_once` weights, but always one reader's."""
    readers = min(length, max(1, at_once // length))
    some_heads = min(heads, max(1, at_once // (readers * length)))
    some_rows = max(1, at_once // (some_heads * readers * length))
    for row in range(0, rows, some_rows):
        for head in range(0, heads, some_heads):
            for reader in range(0, length, readers):
                yield (
                    slice(row, row + some_rows),
                    slice(head, head + some_heads),
                    slice(reader, reader + readers),
                )


AttentionInterface.register(SUMMING, _attend)
AttentionMaskInterface.register(SUMMING, sdpa_mask)
