"""Corrections for many tests, and the tables of a study gathered from those of its jobs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from numbers import Real

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from prasanga.associations.vectors import FloatArray, to_array
from prasanga.base.errors import InputError

# --------------------
# Corrections for many tests: a table of hundreds of p-values has small ones by chance.
#
# - `holm`: the chance that one or more of the hypotheses called false is true stays below alpha, whatever the tests
#   have to do with each other (Holm 1979).
# - `benjamini_hochberg`: of the hypotheses called false, the expected share that is true stays below alpha, if the
#   tests are independent or rise and fall together (Benjamini and Hochberg 1995).
#
# Both give adjusted p-values: call false what is at most alpha. The family is what is given, here all estimates of
# a table; a missing p (NaN) is no test and does not count.


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


def corrected(table: pa.Table, column: str = "p_association") -> pa.Table:
    """Return the table with `<column>_holm`, `<column>_bh` and `n_tests` filled, over all its rows as one family.

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
    """Return the p-values in float64; None, as tables have it, is a missing one."""
    wanted = "(n,) p-values from 0 to 1, NaN for those that are missing"
    array = to_array("p", p, wanted)
    if array.dtype.kind == "O":
        strange = next((value for value in array.flat if value is not None and not isinstance(value, Real)), None)
    else:
        strange = None if array.dtype.kind in "fiu" or not array.size else array.flat[0].item()
    if strange is not None:
        raise InputError(f"p: {strange!r} is no p-value. Give {wanted}.")
    return np.asarray(array, dtype=np.float64)


# --------------------
# The tables of a study from those of its jobs: twins beside their models, and p corrected for the number of tests.


_CELL = ("category", "model", "segment_length", "sample_mode")


def gather(
    estimates: Sequence[pa.Table], twins: Mapping[str, Sequence[pa.Table]], family: Sequence[pa.Table] = ()
) -> pa.Table:
    """Return all estimates of a method in one table.

    Args:
        estimates: of the jobs, all with the same columns.
        twins: estimates of the twin with random weights of each model, by the name of the model.
        family: estimates of the study's other methods, whose tests count in the correction: whoever looks at all
            tables looks at all tests.

    Returns:
        The rows of `estimates`, with `twin_effect_size` and `twin_p_association` from the twin's row of the same
        category, length and sample mode, and with `p_association_holm`, `p_association_bh` and `n_tests` over these and
        the family's. The sample modes of a category, model and length are two estimates with one test, unless a word
        that one of them lacks makes it another.
    """
    table = pa.concat_tables(estimates)
    key = [name for name in _CELL if name in table.column_names]
    known = {}
    for model, tables in twins.items():
        for row in pa.concat_tables(tables).select([*key, "effect_size", "p_association"]).to_pylist():
            known[tuple({**row, "model": model}[name] for name in key)] = row["effect_size"], row["p_association"]
    beside = [known.get(tuple(row.values()), (None, None)) for row in table.select(key).to_pylist()]
    for number, name in enumerate(("twin_effect_size", "twin_p_association")):
        place = table.schema.get_field_index(name)
        values = pa.array([pair[number] for pair in beside], pa.float64())
        table = table.set_column(place, table.schema.field(place), values)
    tests = [
        (
            (number, *(row[name] for name in _CELL if name in row and name != "sample_mode"), row["p_association"]),
            row["p_association"],
        )
        for number, other in enumerate((table, *family))
        for row in other.select([name for name in (*_CELL, "p_association") if name in other.column_names]).to_pylist()
    ]
    p_values = {test: p for test, p in tests if p is not None}
    found = corrected(pa.table({"p_association": pa.array(p_values.values(), pa.float64())}))
    place_of = {test: place for place, test in enumerate(p_values)}
    rows = pa.array([None if p is None else place_of[test] for test, p in tests[: len(table)]], pa.int64())
    for name in ("p_association_holm", "p_association_bh", "n_tests"):
        place = table.schema.get_field_index(name)
        table = table.set_column(place, table.schema.field(place), found[name].take(rows))
    return table
