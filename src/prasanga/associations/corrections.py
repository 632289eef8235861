"""Corrections for many tests: a table of hundreds of p-values has small ones by chance.

- `holm`: the chance that one or more of the hypotheses called false is true stays below alpha, whatever the tests have
  to do with each other (Holm 1979).
- `benjamini_hochberg`: of the hypotheses called false, the expected share that is true stays below alpha, if the tests
  are independent or rise and fall together (Benjamini and Hochberg 1995).

Both give adjusted p-values: call false what is at most alpha. The family is what is given, here all estimates of a
table; a missing p (NaN) is no test and does not count.
"""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from prasanga.associations.checking import to_array
from prasanga.associations.vectors import FloatArray
from prasanga.errors import InputError


def holm(p: npt.ArrayLike) -> FloatArray:
    """(n,) p-values adjusted by Holm's method (1979); NaN stays NaN and does not count.

    The i-th smallest of m is multiplied by m - i + 1, and is no smaller than those before it and no larger than 1.
    Equal p-values stay equal. Raises `InputError` for numbers outside [0, 1].
    """
    return _adjusted(p, lambda ordered, ranks: np.maximum.accumulate(ordered * (ranks.size - ranks + 1)))


def benjamini_hochberg(p: npt.ArrayLike) -> FloatArray:
    """(n,) p-values adjusted by the method of Benjamini and Hochberg (1995); NaN stays NaN and does not count.

    The i-th smallest of m is multiplied by m / i, and is no larger than those after it and no larger than 1. Equal
    p-values stay equal. Raises `InputError` for numbers outside [0, 1].
    """
    return _adjusted(p, lambda ordered, ranks: np.minimum.accumulate((ordered * (ranks.size / ranks))[::-1])[::-1])


def corrected(table: pa.Table, column: str = "p_stimuli") -> pa.Table:
    """The table with `<column>_holm`, `<column>_bh` and `n_tests` filled, over all its rows as one family.

    Columns that are there keep their place, others are added at the end. `n_tests` is the size of the family; a row
    without p has none of the three.

    Raises:
        InputError: no such column, or a p outside [0, 1].
    """
    if column not in table.column_names:
        raise InputError(f"column: no {column!r} in the table; it has {', '.join(table.column_names)}.")
    given = table.column(column).cast(pa.float64())
    p = np.array([np.nan if value is None else value for value in given.to_pylist()], dtype=np.float64)
    missing = np.isnan(p)
    n_tests = np.full(p.size, p.size - int(missing.sum()))
    new = {
        f"{column}_holm": pa.array(holm(p), pa.float64(), mask=missing),
        f"{column}_bh": pa.array(benjamini_hochberg(p), pa.float64(), mask=missing),
        "n_tests": pa.array(n_tests, pa.int64(), mask=missing),
    }
    for name, values in new.items():
        if name in table.column_names:
            table = table.set_column(table.column_names.index(name), pa.field(name, values.type), values)
        else:
            table = table.append_column(name, values)
    return table


def _adjusted(p: npt.ArrayLike, adjust: Callable[[FloatArray, FloatArray], FloatArray]) -> FloatArray:
    """Adjust the p-values that are there, in ascending order with their ranks from 1, and put them back."""
    given = _numbers(p)
    if given.ndim != 1:
        raise InputError(f"p: an array of shape {given.shape}. Give (n,) p-values, NaN for those that are missing.")
    wrong = (given < 0) | (given > 1)
    if wrong.any():
        i = int(np.flatnonzero(wrong)[0])
        raise InputError(f"p: number {i} is {given[i]}. A p-value is from 0 to 1, or NaN where it is missing.")
    result = np.full(given.shape, np.nan)
    present = np.flatnonzero(~np.isnan(given))
    order = present[np.argsort(given[present], kind="stable")]
    result[order] = np.minimum(adjust(given[order], np.arange(1.0, order.size + 1)), 1.0)
    return result


def _numbers(p: npt.ArrayLike) -> FloatArray:
    """The p-values in float64; None, as tables have it, is a missing one."""
    wanted = "(n,) p-values from 0 to 1, NaN for those that are missing"
    array = to_array("p", p, wanted)
    if array.dtype.kind == "O":
        strange = next((value for value in array.flat if value is not None and not isinstance(value, Real)), None)
    else:
        strange = None if array.dtype.kind in "fiu" or not array.size else array.flat[0].item()
    if strange is not None:
        raise InputError(f"p: {strange!r} is no p-value. Give {wanted}.")
    return np.asarray(array, dtype=np.float64)
