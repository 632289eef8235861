"""Rows of pieces as one table, and a table on its way to a card."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray


def pad(rows: Sequence[Sequence[int]], padding: int) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Rows filled up on the right with `padding`, which changes no position, and a mask that is true on the pieces."""
    lengths = np.fromiter(map(len, rows), dtype=np.int64, count=len(rows))
    mask = np.arange(lengths.max(initial=0)) < lengths[:, None]
    table = np.full(mask.shape, padding, dtype=np.int64)
    table[mask] = np.fromiter((piece for row in rows for piece in row), dtype=np.int64, count=int(lengths.sum()))
    return table, mask


def padding_of(tokenizer: Any, config: Any) -> int:
    """The id to pad with; decoders often have none, and any will do there, since padding is masked and on the right."""
    candidates = [tokenizer.pad_token_id, getattr(config, "pad_token_id", None), tokenizer.eos_token_id]
    return next((int(one) for one in candidates if one is not None), 0)


def send(table: NDArray[Any], device: torch.device) -> torch.Tensor:
    """A table on `device`. To a card it goes from pinned memory, so that neither side waits for the other."""
    tensor = torch.from_numpy(table)
    return tensor if device.type == "cpu" else tensor.pin_memory().to(device, non_blocking=True)
