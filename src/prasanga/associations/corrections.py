"""Corrections for many tests, and the tables of a study gathered from those of its jobs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from numbers import Real
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from prasanga.associations.effects import COSINE_NOISE, Z_95, finite_vector
from prasanga.associations.vectors import FloatArray, to_array
from prasanga.base.errors import InputError
from prasanga.methods import FEWEST_WORDS

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
_Tables = TypeVar("_Tables", bound=tuple[pa.Table, ...])


def of_twins(n_twins: int | None, measure: Callable[[int | None], _Tables]) -> _Tables:
    """Return what a job of a method comes to: the tables of a model, or those of its twins with a column `twin`.

    Args:
        n_twins: how many there are; None for a model.
        measure: gives the tables of a twin, by its number from 0; of the model, for None.
    """
    if n_twins is None:
        return measure(None)
    found = [measure(twin) for twin in range(n_twins)]
    columns = [
        [table.append_column("twin", pa.array([twin] * len(table), pa.int64())) for table in tables]
        for twin, tables in enumerate(found)
    ]
    joined = [pa.concat_tables(tables) for tables in zip(*columns, strict=True)]
    return type(found[0])(*joined)


def gather(
    estimates: Sequence[pa.Table], twins: Mapping[str, Sequence[pa.Table]], family: Sequence[pa.Table] = ()
) -> pa.Table:
    """Return all estimates of a method in one table.

    Args:
        estimates: of the jobs, all with the same columns.
        twins: estimates of the twins with random weights of each model, by the name of the model.
        family: estimates of the study's other methods, whose tests count in the correction: whoever looks at all
            tables looks at all tests.

    Returns:
        The rows of `estimates`, with the columns of `beside_twins` from the twins' rows of the same category, length
        and sample mode, and with `p_association_holm`, `p_association_bh` and `n_tests` over these and the family's.
        The sample modes of a category, model and length are two estimates with one test, unless a
        word that one of them lacks makes it another.
    """
    table = pa.concat_tables(estimates)
    key = [name for name in _CELL if name in table.column_names]
    known: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for model, tables in twins.items():
        for row in pa.concat_tables(tables).select([*key, "effect_size", *_WORDS]).to_pylist():
            known.setdefault(tuple({**row, "model": model}[name] for name in key), []).append(row)
    rows = table.select([*key, "effect_size", "ci_low", "ci_high", *_WORDS]).to_pylist()
    beside = [_beside(row, known.get(tuple(row[name] for name in key), [])) for row in rows]
    for name in beside_twins(None, None, None, ()):
        place = table.schema.get_field_index(name)
        field = table.schema.field(place)
        table = table.set_column(place, field, pa.array([each[name] for each in beside], field.type))
    tests = [
        (
            (number, *(row[name] for name in _CELL if name in row and name != "sample_mode"), row["p_association"]),
            row["p_association"],
        )
        for number, other in enumerate((table, *family))
        for row in other.select([name for name in (*_CELL, "p_association") if name in other.column_names]).to_pylist()
    ]
    p_values = {test: p for test, p in tests if p is not None}
    p = np.array(list(p_values.values()), dtype=np.float64)
    place_of = {test: place for place, test in enumerate(p_values)}
    rows_of = pa.array([None if p is None else place_of[test] for test, p in tests[: len(table)]], pa.int64())
    of_family = {
        "p_association_holm": holm(p),
        "p_association_bh": benjamini_hochberg(p),
        "n_tests": np.full(p.size, p.size),
    }
    for name, values in of_family.items():
        place = table.schema.get_field_index(name)
        table = table.set_column(place, table.schema.field(place), pa.array(values).take(rows_of))
    return table


def beside_twins(
    effect: float | None, low: float | None, high: float | None, twins: Sequence[float]
) -> dict[str, float | None]:
    """Compare an effect with those of the model's twins, which have the same words and other, random weights.

    The difference, effect - mean of the K twins, is tested against two nulls, and has to stand out from both:

        other weights   Student's t, K - 1 degrees of freedom, of difference / (s sqrt(1 + 1 / K))
        other words     the normal distribution, of difference / sqrt(V + s^2 / K)

    s is the standard deviation of the twins; the first asks whether the model might be one more of them, with these
    words. V is how much the effect varies with other words, ((high - low) / 3.92)^2 from its interval; the second asks
    whether other words might have had the twins' mean. p is the larger of both, the interval the wider one
    (docs/statistics.md has how often they reject).

    Args:
        effect: of the model; None if there is none.
        low: lower end of its 95 % interval over words; None without.
        high: upper end.
        twins: (K,) effects of the twins.

    Returns:
        `n_twins`, `twin_effect_size` (their mean), `twin_sd`, `twin_difference`, its 95 % interval
        `twin_difference_low` to `twin_difference_high`, and `p_twins`; None for what there is not. An interval and a p
        take two twins and an interval over words.
    """
    found: dict[str, float | None] = dict.fromkeys(_OF_TWINS)
    n = len(twins)
    if not n or effect is None:
        return found
    mean, difference = float(np.mean(twins)), effect - float(np.mean(twins))
    found |= {"n_twins": n, "twin_effect_size": mean, "twin_difference": difference}
    if n < 2:
        return found
    sd = float(np.std(twins, ddof=1))
    found["twin_sd"] = sd
    if low is None or high is None:
        return found
    from scipy.special import ndtr, stdtr, stdtrit  # here, because it takes longer to import than the rest

    of_weights = sd * (1 + 1 / n) ** 0.5
    of_words = (((high - low) / (2 * Z_95)) ** 2 + sd**2 / n) ** 0.5
    if not of_weights or not of_words:
        return found
    margin = max(float(stdtrit(n - 1, 0.975)) * of_weights, Z_95 * of_words)
    return found | {
        "twin_difference_low": difference - margin,
        "twin_difference_high": difference + margin,
        "p_twins": float(2 * max(stdtr(n - 1, -abs(difference) / of_weights), ndtr(-abs(difference) / of_words))),
    }


_OF_TWINS = (
    *("n_twins", "twin_effect_size", "twin_sd", "twin_difference", "twin_difference_low", "twin_difference_high"),
    "p_twins",
)
_WORDS = ("n_x", "n_y", "n_a", "n_b")
_KEPT = 2 / 3  # of the words of each set: an effect of fewer is about other words


def _beside(row: Mapping[str, Any], twins: Sequence[Mapping[str, Any]]) -> dict[str, float | None]:
    effects = [
        twin["effect_size"]
        for twin in twins
        if twin["effect_size"] is not None and all(twin[n] >= _KEPT * row[n] for n in _WORDS)
    ]
    return beside_twins(row["effect_size"], row["ci_low"], row["ci_high"], effects)


# --------------------
# Effects among words that are alike in frequency and in pieces: a regression with words as rows.
#
# A frequent word and a rare one, a word of one piece and one of five, have vectors that differ for that alone. Where X
# and Y differ in it, so may their associations. With s the association of a target word,
#
#     s = b0 + b1 [word is of X] + b2 log(1 + occurrences) + b3 pieces + error
#
# b1 is the difference of the sets' mean associations between words that are alike in both. Its interval takes errors
# of unequal size into account (HC3, MacKinnon and White 1985), with Student's t for as many degrees of freedom as words
# are more than coefficients.


_TARGETS = {"x": True, "y": False}
_COVARIATES = {"occurrences": "corpus frequency", "n_pieces": "number of pieces"}


class Adjusted(NamedTuple):
    """A difference between words that are alike, with the ends of its 95 % interval."""

    difference: float
    low: float
    high: float


def adjusted_difference(scores: npt.ArrayLike, is_x: npt.ArrayLike, covariates: npt.ArrayLike) -> Adjusted:
    """Return by how much words of X are above those of Y with the same covariates, by least squares.

    Args:
        scores: (n,) associations of the target words.
        is_x: (n,) whether each is of X.
        covariates: (n, k) what else may make words differ.

    Raises:
        InputError: arrays that do not fit, fewer words than coefficients and one more, or covariates from which the
            sets can be told, or that follow from each other: then no words are alike.
    """
    y = finite_vector("scores", scores)
    others = np.asarray(covariates, dtype=np.float64).reshape(y.size, -1)
    design = np.column_stack([np.ones(y.size), np.asarray(is_x, dtype=np.float64), others - others.mean(axis=0)])
    n, k = design.shape
    if n <= k or np.linalg.matrix_rank(design) < k:
        raise InputError(
            f"covariates: {n} words do not tell {k} coefficients apart. Leave out a covariate, or add words."
        )
    inverse = np.linalg.inv(design.T @ design)
    coefficients = inverse @ design.T @ y
    leverage = np.einsum("ij,jk,ik->i", design, inverse, design)
    # a word of leverage 1 alone decides about a coefficient, and has no error
    errors = (y - design @ coefficients) / np.maximum(1 - leverage, 1e-12)
    covariance = inverse @ (design.T * np.square(errors)) @ design @ inverse
    from scipy.special import stdtrit  # here, because it takes longer to import than the rest of the package

    half = float(stdtrit(n - k, 0.975)) * float(np.sqrt(covariance[1, 1]))
    return Adjusted(float(coefficients[1]), float(coefficients[1]) - half, float(coefficients[1]) + half)


def adjust(
    estimates: pa.Table, words: pa.Table, coverage: Sequence[pa.Table], tokenizers: Mapping[str, pa.Table]
) -> tuple[pa.Table, pa.Table]:
    """Return the tables of a method with frequency and pieces of each word, and effects among words alike in both.

    Args:
        estimates: of the study; only those with the columns `RAW_FIELDS` have an adjusted effect.
        words: each word of these estimates.
        coverage: the table of samples, which says how often a stimulus stands in the corpus; none if nobody counted.
        tokenizers: by model, what its tokenizer makes of the forms of each stimulus.

    Returns:
        `estimates` and `words`. Where X or Y has fewer than `FEWEST_WORDS` words with both numbers there is no
        adjusted effect, and `adjusted_note` says so; it names a covariate that is not known, or is the same for all.
    """
    rows = words.to_pylist()
    occurrences = {word: n for table in coverage for word, n in columns_of(table, "stimulus", "occurrences")}
    pieces = {model: dict(columns_of(table, "stimulus", "pieces_per_form")) for model, table in tokenizers.items()}
    for row in rows:
        row["n_pieces"] = pieces.get(row["model"], {}).get(row["stimulus"])
        row["occurrences"] = occurrences.get(row["stimulus"])
    with_words = pa.Table.from_pylist(rows, schema=words.schema)
    if "adjusted_note" not in estimates.column_names:
        return estimates, with_words
    key = [name for name in _CELL if name in estimates.column_names]
    targets: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in rows:
        if row["role"] in _TARGETS:
            targets.setdefault(tuple(row[name] for name in key), []).append(row)
    found = []
    for row in estimates.to_pylist():
        of_row = targets.get(tuple(row[name] for name in key), [])
        found.append({**row, **(_adjusted_columns(row, of_row) if of_row else {})})
    return pa.Table.from_pylist(found, schema=estimates.schema), with_words


def columns_of(table: pa.Table, *names: str) -> Iterator[tuple[Any, ...]]:
    """Yield the values of some columns, row by row."""
    return zip(*(table.column(name).to_pylist() for name in names), strict=True)


def _adjusted_columns(estimate: Mapping[str, Any], targets: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    notes, used = [], []
    for name, said in _COVARIATES.items():
        if all(row[name] is None for row in targets):
            notes.append(f"{said} is not known")
        else:
            used.append(name)
    if not used:
        return {"adjusted_note": f"not adjusted: {', '.join(notes)}"}
    known = [row for row in targets if all(row[name] is not None for name in used)]
    for role in _TARGETS:
        n = sum(row["role"] == role for row in known)
        if n < FEWEST_WORDS:
            what = " and ".join(_COVARIATES[name] for name in used)
            return {
                "adjusted_note": f"not adjusted: set {role.upper()} has {n} word{'' if n == 1 else 's'} with {what},"
                f" and a regression over words needs {FEWEST_WORDS} in either set"
            }
    columns = {name: _numbers_of_words(known, name) for name in used}
    for name in [name for name, values in columns.items() if np.ptp(values) == 0]:
        notes.append(f"{_COVARIATES[name]} is the same for all words")
        del columns[name]
    if not columns:
        return {"adjusted_note": f"not adjusted: {', '.join(notes)}"}
    if len(known) < len(targets):
        notes.append(f"{len(targets) - len(known)} of {len(targets)} words are left out, of which it is not known")
    is_x = [_TARGETS[row["role"]] for row in known]
    scores = np.array([row["association"] for row in known], dtype=np.float64)
    try:
        adjusted = adjusted_difference(scores, is_x, np.column_stack(list(columns.values())))
    except InputError:
        return {"adjusted_note": "not adjusted: words of X and Y cannot be told from frequent and rare, long and short"}
    # in units of d: as much of the effect as the difference keeps
    difference, effect = estimate["difference"], estimate["effect_size"]
    comparable = difference * effect > 0 and abs(difference) > COSINE_NOISE
    return {
        "difference_adjusted": adjusted.difference,
        "adjusted_low": adjusted.low,
        "adjusted_high": adjusted.high,
        "effect_adjusted": effect * adjusted.difference / difference if comparable else None,
        "adjusted_note": "; ".join(notes) or None,
    }


def _numbers_of_words(rows: Sequence[Mapping[str, Any]], name: str) -> FloatArray:
    numbers = np.array([row[name] for row in rows], dtype=np.float64)
    return np.log1p(numbers) if name == "occurrences" else numbers
