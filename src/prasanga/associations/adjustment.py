"""Effects among words that are alike in frequency and in pieces: a regression with words as rows.

A frequent word and a rare one, a word of one piece and one of five, have vectors that differ for that alone. Where X
and Y differ in it, so may their associations. With s the association of a target word,

    s = b0 + b1 [word is of X] + b2 log(1 + occurrences) + b3 pieces + error

b1 is the difference of the sets' mean associations between words that are alike in both. Its interval takes errors of
unequal size into account (HC3, MacKinnon and White 1985), with Student's t for as many degrees of freedom as words are
more than coefficients.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from prasanga.associations.effects import COSINE_NOISE, finite_vector
from prasanga.associations.vectors import FloatArray
from prasanga.base.errors import InputError
from prasanga.methods import FEWEST_WORDS

_CELL = ("category", "model", "segment_length", "sample_mode")
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
    occurrences = {word: n for table in coverage for word, n in _columns(table, "stimulus", "occurrences")}
    pieces = {model: dict(_columns(table, "stimulus", "pieces_per_form")) for model, table in tokenizers.items()}
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


def _columns(table: pa.Table, *names: str) -> Iterator[tuple[Any, ...]]:
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
    columns = {name: _numbers(known, name) for name in used}
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


def _numbers(rows: Sequence[Mapping[str, Any]], name: str) -> FloatArray:
    numbers = np.array([row[name] for row in rows], dtype=np.float64)
    return np.log1p(numbers) if name == "occurrences" else numbers
