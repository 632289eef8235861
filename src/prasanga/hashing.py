"""Mixing of 64-bit numbers, for orders that look like chance and are the same everywhere."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

_FIRST, _SECOND = 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
_ALL_BITS = (1 << 64) - 1


def mix(values: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Each number scattered over all numbers of 64 bits, no two to one.

    This is the finalizer of SplitMix64 (Steele, Lea and Flood 2014, with the constants of Stafford's variant 13).
    """
    values = (values ^ (values >> np.uint64(30))) * np.uint64(_FIRST)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(_SECOND)
    return values ^ (values >> np.uint64(31))


def mix_one(value: int) -> int:
    """The same of one number."""
    value = (value ^ value >> 30) * _FIRST & _ALL_BITS
    value = (value ^ value >> 27) * _SECOND & _ALL_BITS
    return value ^ value >> 31
