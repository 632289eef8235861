"""How far annotators agree: Fleiss' kappa, the agreement on each item, and the distribution of scores.

Fleiss (1971): of n annotators, n_ij put item i into category j. The agreement on an item is the share of pairs of
annotators that put it into the same one,

    P_i = (sum_j n_ij^2 - n) / (n (n - 1)),

and kappa = (mean P_i - P_e) / (1 - P_e) with P_e = sum_j p_j^2, p_j the share of all votes that went to category j.
IndiBias (appendix D, table 8) prints scores, the votes that a tuple got; kappa needs no more than these.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from prasanga.construction.tuples import BiasTuple
from prasanga.errors import InputError

ALL = "all"


def item_agreement(counts: ArrayLike) -> NDArray[np.float64]:
    """P_i, the share of pairs of annotators that agree on each item: (items,).

    Args:
        counts: (items, categories), how many annotators put an item into a category; the same number for each item.

    Raises:
        InputError: fewer than two annotators, or not the same number for each item.
    """
    table, n = _checked(counts)
    agreement: NDArray[np.float64] = ((table**2).sum(axis=1) - n) / (n * (n - 1))
    return agreement


def fleiss_kappa(counts: ArrayLike) -> float:
    """Fleiss' kappa; NaN where all votes went to one category, and chance alone would agree as well.

    Args:
        counts: as in `item_agreement`.

    Raises:
        InputError: as `item_agreement`.
    """
    table, _ = _checked(counts)
    expected = expected_agreement(table)
    if math.isclose(expected, 1):
        return math.nan
    return float((item_agreement(table).mean() - expected) / (1 - expected))


def expected_agreement(counts: ArrayLike) -> float:
    """P_e, the share of pairs that would agree if everybody voted at random, as often for a category as all did."""
    table, _ = _checked(counts)
    return float(((table.sum(axis=0) / table.sum()) ** 2).sum())


def score_counts(tuples: Sequence[BiasTuple]) -> NDArray[np.float64]:
    """(tuples, 2): annotators who said no, and yes.

    Raises:
        InputError: a tuple without annotation, or one with another number of annotators than the first, named.
    """
    for each in tuples:
        if each.score is None:
            raise InputError(
                f"{each.place}: the tuple {each.tuple_id!r} has no votes. Have it annotated, or delete it."
            )
        if each.annotators != tuples[0].annotators:
            raise InputError(
                f"{each.place}: {each.annotators} annotators, but {tuples[0].place} has {tuples[0].annotators}."
                " Agreement is that of the same number on each tuple: add the votes that are missing."
            )
    return np.array([[each.annotators - (each.score or 0), each.score or 0] for each in tuples], dtype=np.float64)


def agreement_table(tuples: Sequence[BiasTuple], votes: int) -> pl.DataFrame:
    """Agreement over all tuples, and for each bias type and polarity.

    Args:
        tuples: annotated, all by the same number of annotators.
        votes: from how many on a tuple is kept.

    Returns:
        A row for all tuples, then one for each bias type, then one for each of its polarities: bias_type, polarity
        ("all" where it is not told apart), n_tuples, n_annotators, n_kept, mean_score, observed (mean P_i), expected
        (P_e), kappa (null where it is undefined), and score_0 ... score_n, how many tuples got that score.

    Raises:
        InputError: as `score_counts`; fewer than two annotators.
    """
    score_counts(tuples)
    types = list(dict.fromkeys(each.bias_type for each in tuples))
    groups = [(ALL, ALL), *((kind, polarity) for kind in types for polarity in (ALL, "positive", "negative"))]
    rows = []
    for bias_type, polarity in groups:
        mine = [each for each in tuples if bias_type in (ALL, each.bias_type) and polarity in (ALL, each.polarity)]
        if mine:
            rows.append({"bias_type": bias_type, "polarity": polarity, **_summary(mine, votes)})
    return pl.DataFrame(rows)


def _summary(tuples: Sequence[BiasTuple], votes: int) -> dict[str, int | float | None]:
    counts = score_counts(tuples)
    n = tuples[0].annotators
    kappa = fleiss_kappa(counts)
    scores = counts[:, 1].astype(int).tolist()
    return {
        "n_tuples": len(tuples),
        "n_annotators": n,
        "n_kept": sum(score >= votes for score in scores),
        "mean_score": float(np.mean(scores)),
        "observed": float(item_agreement(counts).mean()),
        "expected": expected_agreement(counts),
        "kappa": None if math.isnan(kappa) else kappa,
        **{f"score_{score}": scores.count(score) for score in range(n + 1)},
    }


def _checked(counts: ArrayLike) -> tuple[NDArray[np.float64], float]:
    table = np.asarray(counts, dtype=np.float64)
    if table.ndim != 2 or not len(table):
        raise InputError(f"counts has the shape {table.shape}; (items, categories) with at least one item is needed.")
    totals = table.sum(axis=1)
    if (totals != totals[0]).any():
        item = int(np.flatnonzero(totals != totals[0])[0])
        raise InputError(
            f"item {item} has {totals[item]:g} votes, the first has {totals[0]:g}; Fleiss' kappa needs as many"
            " for each."
        )
    if totals[0] < 2:
        raise InputError(f"{totals[0]:g} annotator; agreement is that of two or more.")
    return table, float(totals[0])
