"""Corrections for many tests: a table of hundreds of p-values has small ones by chance.

- `holm`: the chance that one or more of the hypotheses called false is true stays below alpha, whatever the tests
  have to do with each other (Holm 1979).
- `benjamini_hochberg`: of the hypotheses called false, the expected share that is true stays below alpha, if the
  tests are independent or rise and fall together (Benjamini and Hochberg 1995).

Both give adjusted p-values: call false what is at most alpha. A missing p (NaN or None) is no test and does not count.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from prasanga.base.errors import InputError
from prasanga.stats.arguments import FloatArray


def holm(p: npt.ArrayLike) -> FloatArray:
    """Return (n,) p-values adjusted by Holm's method (1979); NaN stays NaN and does not count.

    The i-th smallest of m is multiplied by m - i + 1, and is no smaller than those before it and no larger than 1.
    Equal p-values stay equal. Raises `InputError` for numbers outside [0, 1].
    """
    return _adjusted(p, lambda ordered, ranks: np.maximum.accumulate(ordered * (ranks.size - ranks + 1)))


def benjamini_hochberg(p: npt.ArrayLike) -> FloatArray:
    """Return (n,) p-values adjusted by the method of Benjamini and Hochberg (1995); NaN stays NaN and does not count.

    The i-th smallest of m is multiplied by m / i, and is no larger than those after it and no larger than 1. Equal
    p-values stay equal. Raises `InputError` for numbers outside [0, 1].
    """
    return _adjusted(p, lambda ordered, ranks: np.minimum.accumulate((ordered * (ranks.size / ranks))[::-1])[::-1])


def _adjusted(p: npt.ArrayLike, adjust: Callable[[FloatArray, FloatArray], FloatArray]) -> FloatArray:
    """Adjust the p-values that are there, in ascending order with their ranks from 1, and put them back."""
    try:
        given = np.asarray(p, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"p: {p!r}. Give (n,) p-values from 0 to 1, NaN for those that are missing.") from None
    if given.ndim != 1:
        raise InputError(f"p: an array of shape {given.shape}. Give (n,) p-values, NaN for those that are missing.")
    wrong = np.flatnonzero((given < 0) | (given > 1))
    if wrong.size:
        i = wrong[0]
        raise InputError(f"p: number {i} is {given[i]}. A p-value is from 0 to 1, or NaN where it is missing.")
    result = np.full(given.shape, np.nan)
    present = np.flatnonzero(~np.isnan(given))
    order = present[np.argsort(given[present], kind="stable")]
    result[order] = np.minimum(adjust(given[order], np.arange(1.0, order.size + 1)), 1.0)
    return result
