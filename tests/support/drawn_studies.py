"""Tables of made-up studies of any size, as the stages before the report write them, for the figures to draw."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import combinations, product
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from report_tables import arrange_ceat

CATEGORIES = tuple(f"C{number}" for number in range(1, 10))
LENGTHS = ("9", "12", "15", "20", "25", "35", "50", "75", "100", ">100")
MODELS = ("banglabert-large", "banglabert-generator", "muril-large", "xlm-roberta-large")
SETS = (
    ("flowers", "insects", "pleasant", "unpleasant"),
    ("musical_instruments", "weapons", "pleasant", "unpleasant"),
    ("male_names", "female_names", "career", "family"),
)
STEPS = (100, 200, 500, 1000, 2000, 5000)


_DIFFERENCES = {
    **dict.fromkeys(("kind", "category", "model", "first", "second"), pl.String),
    **dict.fromkeys(("difference", "ci_low", "ci_high"), pl.Float64),
}
"""Given, as a study of one length has none."""


class Study(NamedTuple):
    """The tables that the figures need."""

    ceat: pl.DataFrame
    differences: pl.DataFrame
    settling: pl.DataFrame
    convergence: pl.DataFrame
    traits: pl.DataFrame
    spread: pl.DataFrame
    pair_differences: pl.DataFrame


def drawn_study(
    *,
    categories: Sequence[str] = CATEGORIES,
    models: Sequence[str] = MODELS,
    lengths: Sequence[str] = LENGTHS,
    modes: Sequence[str] = ("fixed", "random"),
    sets: Sequence[tuple[str, str, str, str]] = SETS,
    n_traits: int = 180,
    n_pairs: int = 60,
    bias_types: Sequence[str] = ("gender", "caste", "religion", "age", "disability"),
    missing: bool = False,
) -> Study:
    """A study whose effects move towards their last as contexts grow.

    Args:
        categories: their names.
        models: their names.
        lengths: of segments, from short to long.
        modes: how contexts are drawn.
        sets: target and attribute sets; the categories take them in turn.
        n_traits: of each polarity.
        n_pairs: of each language and bias type.
        bias_types: of the pairs.
        missing: every seventh number is NaN, infinite or not there, in turn.
    """
    rng = np.random.default_rng(5)
    effects = {
        (category, model, length): rng.uniform(-1.2, 1.2) + rng.normal(scale=0.3) / (place + 1)
        for category, model in product(categories, models)
        for place, length in enumerate(lengths)
    }
    ceat = [
        {
            **{"category": category, "category_title": f"Title of {category}", "model": model},
            **dict(zip(("target_x", "target_y", "attribute_a", "attribute_b"), sets[number % len(sets)], strict=True)),
            **{"segment_length": length, "sample_mode": mode, "lost": [], "is_found": number % 2 == 0},
            **_estimate(effects[category, model, length] + (mode != "fixed") * rng.normal(scale=0.01), rng),
        }
        for (number, category), model, length, mode in product(enumerate(categories), models, lengths, modes)
    ]
    differences = [
        {
            **{"kind": "length", "category": category, "model": model},
            **{"first": first, "second": second},
            **_interval("difference", effects[category, model, second] - effects[category, model, first], rng),
        }
        for category, model in product(categories, models)
        for first, second in combinations(lengths, 2)
    ]
    settling = [
        {
            **{"category": category, "model": model, "band": 0.1},
            **{"longest": lengths[-1], "settled_length": lengths[len(lengths) // 2]},
        }
        for category, model in product(categories, models)
    ]
    convergence = [
        {
            **{"category": category, "model": model, "segment_length": length, "n": n},
            "effect_size": effects[category, model, length] + rng.normal() / math.sqrt(n),
        }
        for category, model, length, n in product(categories, models, lengths, STEPS)
    ]
    traits = pl.DataFrame(list(_traits(models, n_traits, rng)))
    estimates, settled, draws = (pl.DataFrame(rows) for rows in (ceat, settling, convergence))
    estimates = arrange_ceat(estimates)
    between = pl.DataFrame(differences, schema=_DIFFERENCES)
    pairs = _pairs(models, n_pairs, bias_types, rng)
    if missing:
        estimates = _with_gaps(estimates, "effect_size", "ci_low", "ci_high")
        between = _with_gaps(between, "difference", "ci_low", "ci_high")
        draws = _with_gaps(draws, "effect_size")
        traits, pairs = _with_gaps(traits, "prior", "corrected"), _with_gaps(pairs, "difference")
    return Study(estimates, between, settled, draws, traits, _spread(traits), pairs)


def _estimate(effect: float, rng: np.random.Generator) -> dict[str, float]:
    return _interval("effect_size", effect, rng)


def _interval(name: str, value: float, rng: np.random.Generator) -> dict[str, float]:
    below, above = rng.uniform(0.2, 0.7, size=2)
    return {name: float(value), "ci_low": float(value - below), "ci_high": float(value + above)}


def _traits(models: Sequence[str], n_traits: int, rng: np.random.Generator) -> Iterator[dict[str, Any]]:
    scatter = {"S1": 1.0, "S2": 1.6, "S3": 2.2, "S4": 0.7, "S5": 0.3}
    for model, polarity in product(models, ("positive", "negative")):
        for number in range(n_traits):
            base = rng.normal()
            for structure, scale in scatter.items():
                prior = float(scale * rng.normal())
                corrected = float(scale * base - 0.4 * prior)
                yield {
                    **{"model": model, "polarity": polarity, "trait": f"t{number}", "structure": structure},
                    **{"prior": prior, "corrected": corrected},
                }


def _spread(traits: pl.DataFrame) -> pl.DataFrame:
    """The columns of the table of spreads that a figure reads; the others are there and empty."""
    long = traits.unpivot(("prior", "corrected"), index=("model", "polarity", "structure"), variable_name="quantity")
    known = long.filter(pl.col("value").is_finite())
    found = known.group_by("model", "polarity", "structure", "quantity", maintain_order=True).agg(
        min=pl.col("value").min(),
        q25=pl.col("value").quantile(0.25),
        median=pl.col("value").median(),
        q75=pl.col("value").quantile(0.75),
        max=pl.col("value").max(),
        n=pl.len(),
    )
    rest = ("n_left_out", "mean_words", "mean", "mean_low", "mean_high", "sd", "mean_size", "twin_mean", "twin_sd")
    return found.with_columns(**dict.fromkeys((*rest, "pieces", "aggregation", "prior_mask"), pl.lit(None)))


def _pairs(models: Sequence[str], n: int, bias_types: Sequence[str], rng: np.random.Generator) -> pl.DataFrame:
    rows = [
        {
            **{"set": "demo", "model": model, "language": language, "bias_type": bias_type, "random_twin": twin},
            "difference": float(rng.normal(scale=0.1 if twin else 0.5)),
        }
        for model, language, bias_type, twin in product(models, ("en", "hi", "bn"), bias_types, (False, True))
        for _ in range(n)
    ]
    return pl.DataFrame(rows)


def _with_gaps(table: pl.DataFrame, *columns: str) -> pl.DataFrame:
    """NaN, infinite and null in turn, in every seventh row."""
    place = pl.int_range(pl.len())
    gap = pl.when(place % 21 == 0).then(math.nan).when(place % 21 == 7).then(-math.inf).otherwise(None)
    return table.with_columns(pl.when(place % 7 == 0).then(gap).otherwise(pl.col(name)).alias(name) for name in columns)
