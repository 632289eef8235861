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

import numpy as np
import polars as pl

from prasanga.report.grid import METHODS, few_words, natural_order, select_primary
from prasanga.schema import TABLES
from prasanga.stats.intervals import FEWEST_WORDS
from prasanga.stats.permutation import ALPHA

_FEWEST_POINTS = 3


def side_by_side(tables: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """Return the estimates of several methods in one table.

    Args:
        tables: estimates by name of the method; for CEAT primary estimates count.

    Returns:
        The table `methods` of the registry, in the order of methods, categories and models; estimates without a number
        are left out. `few_words` is empty where words are enough for a finding.
    """
    schema, parts = TABLES["methods"].polars, []
    for method in METHODS:
        if (table := tables.get(method)) is not None and len(table):
            shown = select_primary(table).filter(pl.col("effect_size").is_finite())
            few = pl.Series("few_words", map(few_words, shown.iter_rows(named=True)), dtype=pl.String)
            part = shown.with_columns(few, method=pl.lit(method))
            parts.append(_sort_categories(part.select(name for name in schema if name in part.columns)))
    return pl.concat([pl.DataFrame(schema=schema), *parts], how="diagonal_relaxed").cast(schema)


def _sort_categories(rows: pl.DataFrame) -> pl.DataFrame:
    """Return rows in the order of their categories, C2 before C10."""
    names = sorted(set(rows["category"]), key=natural_order)
    return rows.sort(
        rows["category"].replace_strict(names, range(len(names)), return_dtype=pl.Int64), maintain_order=True
    )


def agreement(estimates: pl.DataFrame) -> pl.DataFrame:
    """Return how far every two methods agree about the order of categories and models.

    A point is a category of a model that both methods measure. Where they have no model in common, as WEAT with all
    others, it is a category, and its effects are means over models. Estimates of few words do not count.

    Args:
        estimates: from `side_by_side`.

    Returns:
        The table `agreement` of the registry. The ends of tau's 95% interval are those of a jackknife that leaves out a
        category with all its points; there are none with fewer than eight categories. `same_sign` is the share of
        points in which both signs agree. `twin_tau` is that of the twins' effects (of the one method that has twins,
        with the other's effects). Without three points that differ, tau is null.
    """
    enough = estimates.filter(pl.col("few_words") == "")
    rows = []
    for one, other in combinations(enough["method"].unique(maintain_order=True), 2):
        effects, twins = (
            [_effects(enough.filter(method=method), column) for method in (one, other)]
            for column in ("effect_size", "twin_effect_size")
        )
        points, has_twins = _pair(*effects), any(map(len, twins))
        floor = _pair(*(twin if len(twin) else effect for twin, effect in zip(twins, effects, strict=True)))
        low, high = _jackknife(points)
        models = [set(each["model"]) for each in effects]
        rows.append(
            {
                **{"method_1": one, "method_2": other, "n_points": len(points)},
                **{"n_categories": points["category"].n_unique(), "n_models": len(models[0] & models[1]) or None},
                **{"tau": kendall_tau(points["first"], points["second"]), "tau_low": low, "tau_high": high},
                "same_sign": (points["first"] * points["second"] > 0).mean(),
                "twin_tau": kendall_tau(floor["first"], floor["second"]) if has_twins else None,
            }
        )
    return pl.DataFrame(rows, schema=TABLES["agreement"].polars)


def kendall_tau(first: Sequence[float] | pl.Series, second: Sequence[float] | pl.Series) -> float | None:
    """Return Kendall's tau-b of two lists of numbers; None with fewer than three, or where all of one are the same."""
    from scipy.stats import kendalltau  # here, because it takes longer to import than the rest of the package

    tau = float(kendalltau(first, second).statistic) if len(first) >= _FEWEST_POINTS else float("nan")
    return None if np.isnan(tau) else tau


def _effects(rows: pl.DataFrame, column: str) -> pl.DataFrame:
    return rows.filter(pl.col(column).is_finite()).select("category", "model", effect=column)


def _pair(first: pl.DataFrame, second: pl.DataFrame) -> pl.DataFrame:
    """Return the category and both effects of each point, `first` and `second`."""
    key = ["category", "model"]
    if not set(first["model"]) & set(second["model"]):
        key = ["category"]
        first, second = (
            each.group_by(key, maintain_order=True).agg(pl.col("effect").mean()) for each in (first, second)
        )
    return first.join(second, on=key, maintain_order="left").select("category", first="effect", second="effect_right")


def _jackknife(points: pl.DataFrame) -> tuple[float | None, float | None]:
    """Return the ends of the interval of tau from leaving out each category (Arvesen 1969)."""
    names, tau = points["category"].unique().sort(), kendall_tau(points["first"], points["second"])
    kept = [points.filter(pl.col("category") != name) for name in names]
    without = np.array([kendall_tau(each["first"], each["second"]) for each in kept], dtype=np.float64)
    k = len(names)
    if k < FEWEST_WORDS or tau is None or np.isnan(without).any():
        return None, None
    from scipy.special import stdtrit

    error = float(np.sqrt((k - 1) / k * np.square(without - without.mean()).sum()))
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


def shares_that_hold(multiverse: pl.DataFrame) -> pl.DataFrame:
    """Return in what share of specifications sign and star hold, for each method, category and model.

    Returns:
        Columns method, category, model, n (specifications), low, median, high (of the effect sizes), sign_holds (share
        with the more frequent sign), star_holds (share with that sign and a star), in the order of methods and
        categories.
    """
    effect, star = pl.col("effect_size"), pl.col("p_association_holm") <= ALPHA
    positive, negative = effect > 0, effect < 0
    shares = (
        specifications(multiverse)
        .group_by("method", "category", "model", maintain_order=True)
        .agg(
            n=pl.len(),
            low=effect.min(),
            median=effect.median(),
            high=effect.max(),
            sign_holds=pl.max_horizontal(positive.mean(), 1 - positive.mean()),
            star_holds=pl.when(positive.mean() >= 0.5)
            .then((star & positive).mean())
            .otherwise((star & negative).mean()),
        )
    )
    return pl.concat([shares.clear(), *(_sort_categories(shares.filter(method=method)) for method in METHODS)])
