"""How many pieces a batch may have: found by trial, as it depends on the model, the card and what else runs there."""

from __future__ import annotations

from collections.abc import Callable

import torch

ON_A_CPU = 2048
"""Pieces of a batch on a CPU, where more of them bring nothing (docs/performance.md)."""

_START, _MOST = 4096, 1 << 20
_WORTH = 0.05


def find_budget(seconds_for: Callable[[int], float], *, start: int = _START, most: int = _MOST) -> int:
    """The number of pieces from which on a larger batch gains less than 5 % a piece, or does not fit any more.

    Args:
        seconds_for: runs a batch of about so many pieces and returns how long that took; raises
            `torch.OutOfMemoryError` where it does not fit.
        start: the first try; halved until it fits.
        most: never more than that.

    Raises:
        torch.OutOfMemoryError: not even one piece fits.
    """
    pieces, too_many = start, most + 1
    while True:
        try:
            best = seconds_for(pieces) / pieces
            break
        except torch.OutOfMemoryError:
            if pieces == 1:
                raise
            pieces, too_many = pieces // 2, pieces
    while 2 * pieces < too_many:
        try:
            each = seconds_for(2 * pieces) / (2 * pieces)
        except torch.OutOfMemoryError:
            break
        if each > (1 - _WORTH) * best:
            break
        pieces, best = 2 * pieces, each
    return pieces
