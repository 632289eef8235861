"""Whether methods agree: their estimates side by side, and Kendall's tau of every two over categories and models.

Methods measure in other units, of other texts, so that what can be compared is the order: does the category and model
of which one method says more also have more by the other? tau is the share of pairs of points in the same order minus
that of pairs in the opposite one, corrected for ties (tau-b; Kendall 1945, The treatment of ties in ranking problems).

Two methods may agree for what has nothing to do with learning, such as spelling. The floor is the tau of the models'
twins with random weights.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import NamedTuple, TypeAlias

import numpy as np
import polars as pl

from prasanga.report.grid import ALPHA, METHODS, Estimate, few_words, grid_of, is_number, natural_order
from prasanga.schema import TABLES
from prasanga.stats.intervals import FEWEST_WORDS

SIDE_BY_SIDE_SCHEMA = TABLES["methods"].polars
"""Columns of the estimates of all methods in one table; `few_words` is empty where words are enough for a finding."""

AGREEMENT_SCHEMA = TABLES["agreement"].polars
"""Columns of the agreement, one row a pair of methods. `same_sign` is the share of points in which both signs agree."""

_FEWEST_POINTS = 3

_Effects: TypeAlias = dict[tuple[str, str], float]


class _Points(NamedTuple):
    """Effects by two methods of the same categories (and models)."""

    categories: Sequence[str]
    first: Sequence[float]
    second: Sequence[float]


def side_by_side(tables: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """Return the estimates of several methods in one table.

    Args:
        tables: estimates by name of the method; of CEAT those of the longest segment length and the first sample mode
            are taken.

    Returns:
        Columns `SIDE_BY_SIDE_SCHEMA`, in the order of methods, categories and models; estimates without a number are
        left out.
    """
    of_table = [name for name in SIDE_BY_SIDE_SCHEMA if name not in ("method", "few_words")]
    rows = []
    for method, table in ((method, tables.get(method)) for method in METHODS):
        if table is None or table.is_empty():
            continue
        shown = at_longest(table) if method == "ceat" else table
        rows += [
            {"method": method, **{name: row.get(name) for name in of_table}, "few_words": few_words(row)}
            for row in sorted(shown.iter_rows(named=True), key=lambda row: natural_order(row["category"]))
            if is_number(row["effect_size"])
        ]
    return pl.DataFrame(rows, schema=dict(SIDE_BY_SIDE_SCHEMA))


def at_longest(ceat: pl.DataFrame) -> pl.DataFrame:
    """Return the estimates of CEAT at the longest segment length, of the first sample mode."""
    grid = grid_of(ceat)
    return ceat.filter(segment_length=grid.lengths[-1], sample_mode=grid.modes[0])


def agreement(estimates: pl.DataFrame) -> pl.DataFrame:
    """Return how far every two methods agree about the order of categories and models.

    A point is a category of a model that both methods measure. Where they have no model in common, as WEAT with all
    others, it is a category, and its effects are means over models. Estimates of few words do not count.

    Args:
        estimates: from `side_by_side`.

    Returns:
        Columns `AGREEMENT_SCHEMA`. The ends of tau's 95 % interval are those of a jackknife that leaves out a category
        with all its points; there are none with fewer than eight categories. `twin_tau` is that of the twins' effects
        (of the one method that has twins, with the other's effects). Without three points that differ, tau is null.
    """
    enough = estimates.filter(pl.col("few_words") == "")
    effects = {
        method: _by_point(enough, method, "effect_size") for method in enough["method"].unique(maintain_order=True)
    }
    rows = []
    for one, other in combinations(effects, 2):
        points = _points(effects[one], effects[other])
        twins = [_by_point(enough, method, "twin_effect_size") or effects[method] for method in (one, other)]
        has_twins = any(twins[i] is not effects[method] for i, method in enumerate((one, other)))
        tau = kendall_tau(points.first, points.second)
        low, high = _jackknife(points)
        signs = [a * b > 0 for a, b in zip(points.first, points.second, strict=True)]
        rows.append(
            {
                "method_1": one,
                "method_2": other,
                "n_points": len(points.first),
                "n_categories": len(set(points.categories)),
                "n_models": len({model for _, model in effects[one]} & {model for _, model in effects[other]}) or None,
                "tau": tau,
                "tau_low": low,
                "tau_high": high,
                "same_sign": float(np.mean(signs)) if signs else None,
                "twin_tau": kendall_tau(*_points(*twins)[1:]) if has_twins else None,
            }
        )
    return pl.DataFrame(rows, schema=dict(AGREEMENT_SCHEMA), orient="row")


def kendall_tau(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Return Kendall's tau-b of two lists of numbers; None with fewer than three, or where all of one are the same.

    With C pairs of points in the same order, D in the opposite one, and of n (n - 1) / 2 pairs T1 tied in the first
    list and T2 in the second, tau = (C - D) / sqrt((n (n - 1) / 2 - T1) (n (n - 1) / 2 - T2)).
    """
    if len(first) < _FEWEST_POINTS:
        return None
    of_pairs = []
    for numbers in (first, second):
        array = np.asarray(numbers, dtype=np.float64)
        of_pairs.append(np.sign(array[:, None] - array[None, :])[np.triu_indices(array.size, 1)])
    untied = np.count_nonzero(of_pairs[0]) * np.count_nonzero(of_pairs[1])
    return float(of_pairs[0] @ of_pairs[1] / np.sqrt(untied)) if untied else None


def _by_point(estimates: pl.DataFrame, method: str, column: str) -> _Effects:
    rows = estimates.filter((pl.col("method") == method) & pl.col(column).is_finite())
    return {
        (category, model): effect for category, model, effect in rows.select("category", "model", column).iter_rows()
    }


def _points(first: _Effects, second: _Effects) -> _Points:
    if not {model for _, model in first} & {model for _, model in second}:
        first, second = _means(first), _means(second)
    both = [point for point in first if point in second]
    return _Points([category for category, _ in both], [first[each] for each in both], [second[each] for each in both])


def _means(effects: _Effects) -> _Effects:
    categories: dict[str, list[float]] = {}
    for (category, _), effect in effects.items():
        categories.setdefault(category, []).append(effect)
    return {(category, ""): float(np.mean(of_category)) for category, of_category in categories.items()}


def _jackknife(points: _Points) -> tuple[float | None, float | None]:
    """Return the ends of the interval of tau from leaving out each category (Arvesen 1969)."""
    names, tau = sorted(set(points.categories)), kendall_tau(points.first, points.second)
    if len(names) < FEWEST_WORDS or tau is None:
        return None, None
    without = []
    for name in names:
        kept = [i for i, category in enumerate(points.categories) if category != name]
        without.append(kendall_tau([points.first[i] for i in kept], [points.second[i] for i in kept]))
    known = np.array([np.nan if value is None else value for value in without])
    if np.isnan(known).any():
        return None, None
    from scipy.special import stdtrit  # here, because it takes longer to import than the rest of the package

    k = len(names)
    error = float(np.sqrt((k - 1) / k * np.square(known - known.mean()).sum()))
    half = float(stdtrit(k - 1, 0.975)) * error
    return max(-1.0, tau - half), min(1.0, tau + half)


# --------------------
# What of an estimate holds under other choices (`prasanga.extras.multiverse`).


CHOICES = ("std", "layer", "pieces", "segment_length", "window", "pool", "sentence_vector", "average", "templates")
"""Analysis choices, each a column; null if a method has no such choice."""

SPECIFIED = ("model", *CHOICES)
"""The columns that a specification is made of, for one category and method."""


def specifications(multiverse: pl.DataFrame) -> pl.DataFrame:
    """Return the specifications whose words are enough for a finding.

    Raises:
        InputError: a column is missing.
    """
    enough = [not few_words(row) for row in multiverse.iter_rows(named=True)]
    return multiverse.filter(pl.Series(enough, dtype=pl.Boolean)).with_columns(pl.col(*SPECIFIED).cast(pl.String))


def has_star(row: Estimate) -> bool:
    """Return whether a specification's estimate is significant by Holm's correction within the specification."""
    return bool(row["p_association_holm"] < ALPHA)


def shares_that_hold(multiverse: pl.DataFrame) -> pl.DataFrame:
    """Return in what share of specifications sign and star hold, for each method, category and model.

    Returns:
        Columns method, category, model, n (specifications), low, median, high (of the effect sizes), sign_holds (share
        with the more frequent sign), star_holds (share with that sign and a star), in the order of methods and
        categories.
    """
    enough = specifications(multiverse)
    order = {method: number for number, method in enumerate(METHODS)}
    effect, star = pl.col("effect_size"), pl.col("p_association_holm") < ALPHA
    found = enough.group_by("method", "category", "model", maintain_order=True).agg(
        n=pl.len(),
        low=effect.min(),
        median=effect.median(),
        high=effect.max(),
        positive=(effect > 0).mean(),
        starred_positive=(star & (effect > 0)).mean(),
        starred_negative=(star & (effect < 0)).mean(),
    )
    found = found.with_columns(
        sign_holds=pl.max_horizontal("positive", 1 - pl.col("positive")),
        star_holds=pl.when(pl.col("positive") >= 0.5).then("starred_positive").otherwise("starred_negative"),
    )
    rows = sorted(found.to_dicts(), key=lambda row: (order[row["method"]], natural_order(row["category"])))
    names = ("method", "category", "model", "n", "low", "median", "high", "sign_holds", "star_holds")
    return pl.DataFrame(rows, schema=found.schema).select(*names)
