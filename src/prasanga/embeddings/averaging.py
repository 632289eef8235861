"""The mean of some positions of a batch of hidden states, the same bits every time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from prasanga.models.padding import send


@dataclass(frozen=True)
class Places:
    """Where the vectors of n items are found in a batch, as tables on the device of its states.

    Attributes:
        row: (n, 1), the row of each item.
        table: (n, k), its positions in that row, filled up with 0.
        filling: (n, k, 1), true where `table` is filled up.
        counts: (n, 1), how many positions it has.
    """

    row: torch.Tensor
    table: torch.Tensor
    filling: torch.Tensor
    counts: torch.Tensor


def place(rows: Sequence[int], positions: Sequence[Sequence[int]], device: torch.device) -> Places:
    """The places of n items: of each its row, and its positions in that row, of which there is at least one."""
    counts = np.fromiter(map(len, positions), dtype=np.int64, count=len(positions))
    wanted = np.arange(counts.max()) < counts[:, None]
    table = np.zeros(wanted.shape, dtype=np.int64)
    table[wanted] = np.fromiter((i for one in positions for i in one), dtype=np.int64, count=int(counts.sum()))
    row = np.array(rows, dtype=np.int64)[:, None]
    return Places(*(send(one, device) for one in (row, table, ~wanted[:, :, None], counts[:, None])))


def mean_of(states: torch.Tensor, places: Places) -> torch.Tensor:
    """The mean over each item's places in `states` (rows, length, d), in float32: (n, d) on the same device.

    States are gathered and summed in the order of their positions; adding them up in place (`index_add_`) would give
    other bits every time on a card.
    """
    gathered = states[places.row, places.table].float()
    return gathered.masked_fill_(places.filling, 0).sum(1) / places.counts
