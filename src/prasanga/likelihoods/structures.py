"""Fill, prior and corrected scores of traits in the sentence structures S1 to S5, and how they spread in each.

Sadhu et al. 2024, sections 4.3 and 5.2.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations, product
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from prasanga.base.io import remade_by, require_columns
from prasanga.base.seeds import generator
from prasanga.likelihoods.categories import SCORE_NOISE, TERMS
from prasanga.likelihoods.templates import GROUPS
from prasanga.schema import BOTH_POLARITIES, TABLES
from prasanga.stats.effects import FloatArray, IndexArray, choice
from prasanga.stats.intervals import FEWEST_TEMPLATES, crossed_mean_interval, difference_interval

# --------------------
# Scores of traits in structures.
#
# The terms of a group have one score in a sentence, by `log_probability.terms`, fill and prior alike. The
# association is that of the male terms minus that of the female ones: positive where a male subject is likelier.


QUANTITIES = ("fill", "prior", "corrected")

TRAITS_SCHEMA = TABLES["traits"].polars
"""Columns of the table of traits, one row per model, polarity, trait and structure.

`male_fill` and the like are a group's scores; `fill`, `prior` and `corrected` are the associations, male minus female.
`n_pairs` counts the pairs of terms behind them, `n_pieces` the pieces of these terms together, `n_words` the words of
the sentence. `masked_as_one` says that one mask hid a trait of several pieces (`pieces` first). `left_out` says which
pairs are missing and why, or why there is no number."""

TERMS_SCHEMA = TABLES["terms"].polars
"""Columns of the table of terms, one row per model, polarity, trait, structure and term."""


class StructureTables(NamedTuple):
    """The scores of one model, or of its twins with the column `twin`."""

    traits: pl.DataFrame
    """`TRAITS_SCHEMA`"""
    terms: pl.DataFrame
    """`TERMS_SCHEMA`"""


def measure_traits(
    scored: pl.DataFrame, *, model: str, pieces: str = "all", terms: str = "log-sum-exp"
) -> StructureTables:
    """Return the associations of all traits in all structures by one model, or by each of its twins.

    Args:
        scored: `templates.TRAIT_SENTENCES` with the columns `SENTENCE_SCORES`; of twins also `twin`.
        model: its name, for the tables.
        pieces: how a term of several pieces is scored (`log_probability`).
        terms: how the terms of a group become one score: log-sum-exp or mean.

    Returns:
        Both tables in the order of the sentences. Where a term has no score in a sentence, its counterpart does not
        count there either. Without any pair, or with a trait that cannot be masked, a row has no numbers.

    Raises:
        InputError: an unknown way to combine terms.
    """
    choice("log_probability.terms", terms, TERMS)
    twin = {"twin": pl.Int64()} if "twin" in scored.columns else {}
    key = [*twin, "polarity", "trait", "structure"]
    role, left_out = pl.col("left_out_role"), pl.col("left_out")
    who = pl.when(role == "target").then("term").when(role == "attribute").then("trait")
    start, end = (pl.col("target").list.get(place) for place in (0, 1))
    scored = scored.with_columns(
        model=pl.lit(model),
        pieces=pl.lit(pieces),
        terms=pl.lit(terms),
        corrected=pl.col("fill") - pl.col("prior"),
        form=pl.col("text").str.slice(start, end - start),
        reason=pl.when(left_out.is_not_null()).then(pl.concat_str("left_out", who, separator=" ", ignore_nulls=True)),
    ).with_columns(missing=pl.col("reason").drop_nulls().first().over([*key, "pair"]))
    kept, both = pl.col("missing").is_null(), tuple(product(GROUPS, ("fill", "prior")))
    traits = scored.group_by(key, maintain_order=True).agg(
        pl.col("gloss", "n_words", "model", "n_attribute_pieces", "pieces", "terms").first(),
        n_pairs=(kept & (pl.col("group") == GROUPS[0])).sum(),
        n_pieces=pl.col("n_pieces").filter(kept).sum(),
        left_out=pl.col("reason").filter(pl.col("reason") == pl.col("missing")).unique(maintain_order=True),
        **{f"{g}_{what}": _combined(pl.col(what).filter(kept, pl.col("group") == g), terms) for g, what in both},
    )
    traits = traits.with_columns(
        *((pl.col(f"{group}_fill") - pl.col(f"{group}_prior")).alias(f"{group}_corrected") for group in GROUPS),
        masked_as_one=pl.lit(pieces == "first") & (pl.col("n_attribute_pieces") > 1),
        left_out=pl.when(pl.col("left_out").list.len() > 0).then(pl.col("left_out").list.join("; ")),
    ).with_columns((pl.col(f"{GROUPS[0]}_{what}") - pl.col(f"{GROUPS[1]}_{what}")).alias(what) for what in QUANTITIES)
    said = pl.when(role.is_not_null()).then(pl.format("{} ({})", left_out, role)).otherwise(left_out)
    tables = (traits, TRAITS_SCHEMA), (scored.with_columns(left_out=said), TERMS_SCHEMA)
    return StructureTables(
        *(table.select(*schema, *twin).cast(pl.Schema({**schema, **twin})) for table, schema in tables)
    )


def _combined(scores: pl.Expr, terms: str) -> pl.Expr:
    """Return one score of several terms, from their log-probabilities: of their sum, or the mean of them."""
    return scores.mean() if terms == "mean" else (scores - scores.max()).exp().sum().log() + scores.max()


# --------------------
# What context does to log-probability bias: how associations spread over the traits, structure by structure.
#
# The paper shows it by eye (Sadhu et al. 2024, Figure 2 and section 5.2): prior associations spread from S1 to S3, and
# draw near to zero in S4 and S5. Here the spread is a number for each structure, and two structures are compared on the
# traits that both have, with a bootstrap over traits: a trait is drawn with its sentences in both.


SPREAD_SCHEMA = TABLES["structures"].polars
"""Columns of the spread, one row per model, polarity (`all` is both), structure and quantity (fill, prior, corrected).

Numbers are of associations over the `n` traits that have one; sd and variance with n - 1, 0 where all are the same.
`mean_low` and `mean_high` are the ends of the bootstrap interval of the mean; `mean_size` is the mean distance from
zero, `mean_words` the mean length of the sentences. The twin is the same model with random weights.

`overall` is the mean over all structures, of the `n_overall` traits that all of them have, with an interval in which
traits and structures are resampled: the same in all rows of a model, polarity and quantity. `overall_without` is that
mean without the structure of the row."""

STRUCTURE_DIFFERENCES_SCHEMA = TABLES["structure_differences"].polars
"""Columns of the comparison of two structures on the `n` traits that both have.

`ratio` is sd_2 / sd_1, `difference` mean_2 - mean_1, each with a 95% bootstrap interval over traits."""

_FEWEST_TRAITS = 8
_NEEDED = ("model", "polarity", "trait", "structure", "n_words", "pieces", "terms", *QUANTITIES)


def spread_by_structure(
    traits: pl.DataFrame, twins: pl.DataFrame | None = None, *, n_resamples: int = 2000, seed: int = 47
) -> pl.DataFrame:
    """Return the spread of associations by structure; columns `SPREAD_SCHEMA`.

    Args:
        traits: of one or several models (`TRAITS_SCHEMA`).
        twins: the same of their twins, under the names of their models.
        n_resamples: of the interval of the mean; 0 for none. Fewer than 8 traits have no interval.
        seed: of the study.

    Raises:
        InputError: a column is missing.
    """
    names = ("model", "polarity", "structure", "quantity")
    twin_rows = [] if twins is None else _describe(twins).rows(named=True)
    beside = {tuple(row[name] for name in names): row for row in twin_rows}
    overall = {
        (*key, quantity): _measure_overall(structures, table)
        for key, quantity, structures, table in _pivot_structures(traits)
    }
    rows = []
    for row in _describe(traits).iter_rows(named=True):
        model, polarity, structure, quantity = key = tuple(row[name] for name in names)
        values = np.array(row.pop("values"))
        if n_resamples and len(values) >= _FEWEST_TRAITS:
            means = values[_draw_traits(len(values), n_resamples, seed, polarity)].mean(axis=1)
            row["mean_low"], row["mean_high"] = np.quantile(means, [0.025, 0.975]).tolist()
        twin = beside.get(key, {})
        columns, without = overall[model, polarity, quantity]
        row |= {"twin_mean": twin.get("mean"), "twin_sd": twin.get("sd"), **columns}
        rows.append(row | {"overall_without": without[structure], "n_resamples": n_resamples, "seed": seed})
    return pl.DataFrame(rows, schema=dict(SPREAD_SCHEMA))


def _describe(traits: pl.DataFrame) -> pl.DataFrame:
    """Return how the associations of each model, polarity, structure and quantity spread, and their `values`."""
    value = pl.col("value").cast(pl.Float64)
    # a spread as small as rounding is none, as of a prior that all traits of a structure share
    sd = value.std() * (value.std() > SCORE_NOISE)
    tables = []
    for (model, polarity), rows in _by_polarity(traits):
        long = rows.unpivot(QUANTITIES, index=["structure", "n_words", "pieces", "terms"], variable_name="quantity")
        groups = long.sort("structure", maintain_order=True).group_by("structure", "quantity", maintain_order=True)
        described = groups.agg(
            *(pl.lit(name).alias(column) for column, name in (("model", model), ("polarity", polarity))),
            **{"n": value.count(), "n_left_out": value.null_count(), "mean_words": pl.col("n_words").mean()},
            **{"mean": value.mean(), "mean_size": value.abs().mean(), "sd": sd, "variance": sd**2},
            **{"min": value.min(), "q25": value.quantile(0.25, "linear"), "median": value.median()},
            **{"q75": value.quantile(0.75, "linear"), "max": value.max(), "values": value.drop_nulls()},
            **{name: pl.col(name).first() for name in ("pieces", "terms")},
        )
        tables.append(described)
    return pl.concat(tables)


def compare_structures(traits: pl.DataFrame, *, n_resamples: int = 2000, seed: int = 47) -> pl.DataFrame:
    """Return each two structures on the traits that both have; columns `STRUCTURE_DIFFERENCES_SCHEMA`.

    The interval of the ratio of standard deviations is that of the difference of their logarithms; both are
    bias-corrected percentiles over resampled traits, the same traits for both structures.

    Args:
        traits: as for `spread_by_structure`.
        n_resamples: of the intervals; 0 for none. Fewer than 8 traits have no interval.
        seed: of the study.

    Raises:
        InputError: a column is missing.
    """
    rows = []
    for (model, polarity), quantity, structures, table in _pivot_structures(traits):
        for i, j in combinations(range(len(structures)), 2):
            both = table[:, [i, j]]
            both = both[np.isfinite(both).all(axis=1)]
            row = {"model": model, "polarity": polarity, "quantity": quantity, "n": len(both)}
            row |= {"structure_1": structures[i], "structure_2": structures[j]}
            row |= {"n_resamples": n_resamples, "seed": seed}
            rows.append(row | _compare(both, n_resamples, seed, polarity))
    return pl.DataFrame(rows, schema=dict(STRUCTURE_DIFFERENCES_SCHEMA))


def gather_traits(twins: Mapping[str, pl.DataFrame]) -> pl.DataFrame | None:
    """Join the tables of twins with random weights, under the names of their models; return None without twins."""
    if not twins:
        return None
    return pl.concat(table.with_columns(model=pl.lit(model)) for model, table in twins.items())


def _measure_overall(structures: list[str], table: FloatArray) -> tuple[dict[str, Any], dict[str, float | None]]:
    """Return the columns of the mean over all structures, and that mean without each structure."""
    table = table[np.isfinite(table).all(axis=1)]
    n, n_structures = table.shape
    mean = _mean(table)
    columns: dict[str, Any] = {"n_overall": n, "overall": mean}
    without = {name: _mean(np.delete(table, place, axis=1)) for place, name in enumerate(structures)}
    if mean is None or n < _FEWEST_TRAITS or n_structures < FEWEST_TEMPLATES:
        columns["overall_note"] = (
            f"no interval: {n} traits in all of {n_structures} structures, and an interval over both needs"
            f" {_FEWEST_TRAITS} and {FEWEST_TEMPLATES}"
        )
    else:
        ends = crossed_mean_interval(table)
        columns |= {"overall_low": ends.low, "overall_high": ends.high}
    return columns, without


def _compare(both: FloatArray, n_resamples: int, seed: int, polarity: str) -> dict[str, Any]:
    if len(both) < 2:
        return {"note": f"{len(both)} traits have both structures, and a spread takes two"}
    mean_1, mean_2 = both.mean(axis=0)
    deviations = (float(values.std(ddof=1)) for values in both.T)
    sd_1, sd_2 = (sd if sd > SCORE_NOISE else 0.0 for sd in deviations)
    found: dict[str, Any] = {"sd_1": sd_1, "sd_2": sd_2, "mean_1": mean_1, "mean_2": mean_2}
    found |= {"difference": mean_2 - mean_1, "note": "no ratio: in one of them all traits have the same association"}
    if vary := sd_1 > 0 and sd_2 > 0:
        found |= {"ratio": sd_2 / sd_1, "note": None}
    if not n_resamples:
        return {**found, "note": "no interval was asked for (associations.n_resamples is 0)"}
    if len(both) < _FEWEST_TRAITS:
        return {**found, "note": f"no interval: {len(both)} traits, and an interval over traits needs {_FEWEST_TRAITS}"}
    drawn = both[_draw_traits(len(both), n_resamples, seed, polarity)]  # (n_resamples, n, 2)
    means = drawn.mean(axis=1)
    apart = difference_interval(means[:, 1], means[:, 0], mean_2, mean_1)
    found |= {"difference_low": apart.low, "difference_high": apart.high}
    if vary:
        with np.errstate(divide="ignore"):
            logs = np.log(drawn.std(axis=1, ddof=1))
        logs[~np.isfinite(logs)] = np.nan
        ratio = difference_interval(logs[:, 1], logs[:, 0], float(np.log(sd_2)), float(np.log(sd_1)))
        low, high = (None if end is None else float(np.exp(end)) for end in (ratio.low, ratio.high))
        found |= {"ratio_low": low, "ratio_high": high, "note": ratio.note or None}
    return found


def _mean(table: FloatArray) -> float | None:
    return float(table.mean()) if table.size else None


def _draw_traits(n: int, n_resamples: int, seed: int, polarity: str) -> IndexArray:
    """Return (n_resamples, n) traits drawn with replacement, the same for all models, structures and quantities."""
    return generator(seed, "structures", polarity, n).integers(n, size=(n_resamples, n))


def _by_polarity(traits: pl.DataFrame) -> Iterator[tuple[tuple[str, str], pl.DataFrame]]:
    """Yield the rows of each model and polarity, and of both polarities where there are two."""
    require_columns("traits", traits, _NEEDED, remade_by("likelihoods"))
    for (model,), rows in traits.group_by("model", maintain_order=True):
        parts = rows.partition_by("polarity", maintain_order=True, as_dict=True)
        yield from (((str(model), str(polarity)), part) for (polarity,), part in parts.items())
        if len(parts) > 1:
            yield (str(model), BOTH_POLARITIES), rows


def _pivot_structures(traits: pl.DataFrame) -> Iterator[tuple[tuple[str, str], str, list[str], FloatArray]]:
    """Yield model and polarity, quantity, structures, and (n_traits, n_structures) associations, NaN for none."""
    for key, group in _by_polarity(traits):
        structures = sorted(group["structure"].unique())
        for quantity in QUANTITIES:
            wide = group.pivot("structure", index=["polarity", "trait"], values=quantity).sort("polarity", "trait")
            yield key, quantity, structures, wide.select(pl.col(structures).cast(pl.Float64)).to_numpy()
