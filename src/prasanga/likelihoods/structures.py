"""Fill, prior and corrected scores of traits in the sentence structures S1 to S5, and how they spread in each.

Sadhu et al. 2024, sections 4.3 and 5.2.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl

from prasanga.associations.estimates import NO_INTERVAL_ASKED
from prasanga.base.parquet import remade_by, require_columns
from prasanga.base.seeds import generator
from prasanga.likelihoods.log_probability import (
    SCORE_NOISE,
    TERMS,
    KnownScores,
    LogProbabilityItem,
    Score,
    combined,
    score_items,
)
from prasanga.likelihoods.traits import GROUPS, TraitSentence
from prasanga.schema import TABLES
from prasanga.stats.arguments import FloatArray, choice
from prasanga.stats.intervals import FEWEST_TEMPLATES, crossed_mean_interval, difference_interval, draw_counts

if TYPE_CHECKING:
    from prasanga.likelihoods.engine import Scorer

# --------------------
# Scores of traits in structures.
#
# The terms of a group have one score in a sentence, by `log_probability.terms`, fill and prior alike. The
# association is that of the male terms minus that of the female ones: positive where a male subject is likelier.


QUANTITIES = ("fill", "prior", "corrected")

TRAITS_SCHEMA = TABLES["traits"].polars
"""Columns of the table of traits, one row a model, polarity, trait and structure.

`male_fill` and the like are a group's scores; `fill`, `prior` and `corrected` are the associations, male minus female.
`n_pairs` counts the pairs of terms behind them, `n_pieces` the pieces of these terms together, `n_words` the words of
the sentence. `masked_as_one` says that one mask stood for a trait of several pieces (`pieces` first). `left_out` says
which pairs are missing and why, or why there is no number."""

TERMS_SCHEMA = TABLES["terms"].polars
"""Columns of the table of terms, one row a model, polarity, trait, structure and term."""


class StructureTables(NamedTuple):
    """What one model comes to."""

    traits: pl.DataFrame
    """`TRAITS_SCHEMA`"""
    terms: pl.DataFrame
    """`TERMS_SCHEMA`"""


def score_structures(
    scorer: Scorer | KnownScores,
    sentences: Sequence[TraitSentence],
    *,
    model: str,
    pieces: str = "all",
    terms: str = "log-sum-exp",
) -> StructureTables:
    """Score all traits in all structures by one model.

    Args:
        scorer: an encoder, or what it gave all sentences.
        sentences: of `traits.trait_sentences`.
        model: its name, for the tables.
        pieces: how a term of several pieces is scored (`log_probability`).
        terms: how the terms of a group become one score: log-sum-exp or mean.

    Returns:
        Both tables in the order of the sentences. Where a term has no score in a sentence, its counterpart does not
        count there either; without any pair, or with a trait that cannot be masked, a row has no numbers.

    Raises:
        InputError: as `score_log_probability`; an unknown way to combine terms.
    """
    choice("log_probability.terms", terms, TERMS)
    scores = score_items(
        scorer, [LogProbabilityItem(row.text, row.target, row.attribute) for row in sentences], pieces=pieces
    )
    of_trait: dict[tuple[str, str, str], list[tuple[TraitSentence, Score]]] = {}
    for row, score in zip(sentences, scores, strict=True):
        of_trait.setdefault((row.polarity, row.trait, row.structure), []).append((row, score))
    rows = [_trait_row(found, model, pieces, terms) for found in of_trait.values()]
    long = [
        {
            **row._asdict(),
            **score._asdict(),
            "corrected": score.corrected,
            "model": model,
            "form": row.text[slice(*row.target)],
            "left_out": _reason(score),
            "pieces": pieces,
        }
        for row, score in zip(sentences, scores, strict=True)
    ]
    return StructureTables(
        pl.DataFrame(rows, schema=dict(TRAITS_SCHEMA)), pl.DataFrame(long, schema=dict(TERMS_SCHEMA))
    )


def _trait_row(found: Sequence[tuple[TraitSentence, Score]], model: str, pieces: str, terms: str) -> dict[str, Any]:
    first, score = found[0]
    reasons: dict[int, str] = {}
    for row, each in found:
        if each.left_out is not None:
            who = "" if each.left_out_role is None else f" {row.term if each.left_out_role == 'target' else row.trait}"
            reasons.setdefault(row.pair, f"{each.left_out}{who}")
    kept = {group: [each for row, each in found if row.group == group and row.pair not in reasons] for group in GROUPS}
    n_pairs = len(kept[GROUPS[0]])
    numbers: dict[str, float] = {}
    if n_pairs:
        for group in GROUPS:
            for what in ("fill", "prior"):
                numbers[f"{group}_{what}"] = combined([getattr(each, what) for each in kept[group]], terms)
            numbers[f"{group}_corrected"] = numbers[f"{group}_fill"] - numbers[f"{group}_prior"]
        for what in QUANTITIES:
            numbers[what] = numbers[f"{GROUPS[0]}_{what}"] - numbers[f"{GROUPS[1]}_{what}"]
    return {
        "model": model,
        **{name: getattr(first, name) for name in ("polarity", "trait", "gloss", "structure", "n_words")},
        **numbers,
        "n_pairs": n_pairs,
        "n_pieces": sum(each.n_pieces for group in GROUPS for each in kept[group]),
        "n_attribute_pieces": score.n_attribute_pieces,
        "masked_as_one": pieces == "first" and score.n_attribute_pieces > 1,
        "left_out": "; ".join(dict.fromkeys(reasons.values())) or None,
        "pieces": pieces,
        "terms": terms,
    }


def _reason(score: Score) -> str | None:
    if score.left_out is None or score.left_out_role is None:
        return score.left_out
    return f"{score.left_out} ({score.left_out_role})"


# --------------------
# What context does to log-probability bias: how associations spread over the traits, structure by structure.
#
# The paper shows it by eye (Sadhu et al. 2024, Figure 2 and section 5.2): prior associations spread from S1 to S3, and
# draw near to zero in S4 and S5. Here the spread is a number for each structure, and two structures are compared on the
# traits that both have, with a bootstrap over traits: a trait is drawn with its sentences in both.


ALL = "all"
"""Both polarities together."""

SPREAD_SCHEMA = TABLES["structures"].polars
"""Columns of the spread, one row a model, polarity (`all` is both), structure and quantity (fill, prior, corrected).

Numbers are of associations over the `n` traits that have one; sd and variance with n - 1, 0 where all are the same.
`mean_low` and `mean_high` are the ends of the bootstrap interval of the mean; `mean_size` is the mean distance from
zero, `mean_words` the mean length of the sentences. The twin is the same model with random weights.

`overall` is the mean over all structures, of the `n_overall` traits that all of them have, with an interval in which
traits and structures are resampled: the same in all rows of a model, polarity and quantity. `overall_without` is that
mean without the structure of the row."""

STRUCTURE_DIFFERENCES_SCHEMA = TABLES["structure_differences"].polars
"""Columns of the comparison of two structures on the `n` traits that both have.

`ratio` is sd_2 / sd_1, `difference` mean_2 - mean_1, each with a 95 % bootstrap interval over traits."""

_FEWEST_TRAITS = 8
_NEEDED = ("model", "polarity", "trait", "structure", "n_words", "pieces", "terms", *QUANTITIES)


def spread_by_structure(
    traits: pl.DataFrame, twins: pl.DataFrame | None = None, *, n_resamples: int = 2000, seed: int = 47
) -> pl.DataFrame:
    """Return the spread of associations by structure; columns `SPREAD_SCHEMA`.

    Args:
        traits: of one or several models (`TRAITS_SCHEMA`).
        twins: the same of their twins, under the names of their models.
        n_resamples: of the interval of the mean; 0 for none, and there is none of fewer than 8 traits.
        seed: of the study.

    Raises:
        InputError: a column is missing.
    """
    _require(traits)
    beside: dict[tuple[str, ...], dict[str, Any]] = {}
    if twins is not None:
        _require(twins)
        beside = {key: _numbers(values) for key, (_, values) in _groups(twins).items()}
    overall = _overall(traits, n_resamples, seed)
    rows = []
    for key, (group, values) in _groups(traits).items():
        twin = beside.get(key, {})
        low = high = None
        if n_resamples and len(values) >= _FEWEST_TRAITS:
            means = values[_drawn(len(values), n_resamples, seed, key[1])].mean(axis=1)
            low, high = (float(end) for end in np.quantile(means, [0.025, 0.975]))
        rows.append(
            {
                **dict(zip(("model", "polarity", "structure", "quantity"), key, strict=True)),
                **_numbers(values),
                "n": len(values),
                "n_left_out": len(group) - len(values),
                "mean_words": group["n_words"].mean(),
                "mean_low": low,
                "mean_high": high,
                "twin_mean": twin.get("mean"),
                "twin_sd": twin.get("sd"),
                **overall[key],
                **{name: group[name][0] for name in ("pieces", "terms")},
                "n_resamples": n_resamples,
                "seed": seed,
            }
        )
    return pl.DataFrame(rows, schema=dict(SPREAD_SCHEMA))


def _overall(traits: pl.DataFrame, n_resamples: int, seed: int) -> dict[tuple[str, ...], dict[str, Any]]:
    """Return the columns `overall` and those beside it, by model, polarity, structure and quantity."""
    found: dict[tuple[str, ...], dict[str, Any]] = {}
    for model, polarity, quantity, structures, table in _by_structure(traits):
        table = table[np.isfinite(table).all(axis=1)]
        n, n_structures = table.shape
        mean = table.mean() if n else np.nan
        columns: dict[str, Any] = {"n_overall": n, "overall": float(mean) if n else None}
        if not n_resamples:
            columns["overall_note"] = NO_INTERVAL_ASKED
        elif n < _FEWEST_TRAITS or n_structures < FEWEST_TEMPLATES:
            columns["overall_note"] = (
                f"no interval: {n} traits in all of {n_structures} structures, and an interval over both needs"
                f" {_FEWEST_TRAITS} and {FEWEST_TEMPLATES}"
            )
        else:
            of_traits = table[_drawn(n, n_resamples, seed, polarity)].mean(axis=1)  # (n_resamples, structures)
            rng = generator(seed, "structures", "templates", *structures)
            drawn = draw_counts(n_structures, n_resamples, rng) / n_structures
            both = (of_traits * drawn).sum(axis=1)
            ends = crossed_mean_interval(of_traits.mean(axis=1), both, float(mean), n, n_structures)
            columns |= {"overall_low": ends.low, "overall_high": ends.high}
        for place, structure in enumerate(structures):
            without = np.delete(table, place, axis=1)
            known = float(without.mean()) if without.size else None
            found[model, polarity, structure, quantity] = {**columns, "overall_without": known}
    return found


def _by_structure(traits: pl.DataFrame) -> Iterator[tuple[str, str, str, list[str], FloatArray]]:
    """Yield the associations of each trait in each structure, (n_traits, n_structures), NaN for none.

    With them come model, polarity, quantity and the structures.
    """
    for (model, polarity), group in _by_polarity(traits).items():
        for quantity in QUANTITIES:
            wide = group.pivot("structure", index=["polarity", "trait"], values=quantity).sort("polarity", "trait")
            structures = sorted(name for name in wide.columns if name not in ("polarity", "trait"))
            yield model, polarity, quantity, structures, wide.select(pl.col(structures).cast(pl.Float64)).to_numpy()


def compare_structures(traits: pl.DataFrame, *, n_resamples: int = 2000, seed: int = 47) -> pl.DataFrame:
    """Return each two structures on the traits that both have; columns `STRUCTURE_DIFFERENCES_SCHEMA`.

    The interval of the ratio of standard deviations is that of the difference of their logarithms; both are
    bias-corrected percentiles over traits drawn anew, the same traits for both structures.

    Args:
        traits: as for `spread_by_structure`.
        n_resamples: of the intervals; 0 for none, and there is none of fewer than 8 traits.
        seed: of the study.

    Raises:
        InputError: a column is missing.
    """
    _require(traits)
    rows = []
    for model, polarity, quantity, structures, table in _by_structure(traits):
        for (i, first), (j, second) in combinations(enumerate(structures), 2):
            both = table[:, [i, j]]
            both = both[np.isfinite(both).all(axis=1)]
            rows.append(
                {
                    "model": model,
                    "polarity": polarity,
                    "quantity": quantity,
                    "structure_1": first,
                    "structure_2": second,
                    "n": len(both),
                    **_compared(both, n_resamples, seed, polarity),
                    "n_resamples": n_resamples,
                    "seed": seed,
                }
            )
    return pl.DataFrame(rows, schema=dict(STRUCTURE_DIFFERENCES_SCHEMA))


def gather_traits(twins: Mapping[str, pl.DataFrame]) -> pl.DataFrame | None:
    """Join the tables of twins with random weights, under the names of their models; return None if there are none."""
    if not twins:
        return None
    return pl.concat(table.with_columns(model=pl.lit(model)) for model, table in twins.items())


def _compared(both: FloatArray, n_resamples: int, seed: int, polarity: str) -> dict[str, Any]:
    if len(both) < 2:
        return {"note": f"{len(both)} traits have both structures, and a spread takes two"}
    (mean_1, mean_2), (sd_1, sd_2) = both.mean(axis=0), map(_deviation, both.T)
    vary = sd_1 > 0 and sd_2 > 0
    found: dict[str, Any] = {
        **{"sd_1": sd_1, "sd_2": sd_2, "ratio": sd_2 / sd_1 if vary else None},
        "note": None if vary else "no ratio: in one of them all traits have the same association",
        **{"mean_1": mean_1, "mean_2": mean_2, "difference": mean_2 - mean_1},
    }
    if not n_resamples:
        return {**found, "note": NO_INTERVAL_ASKED}
    if len(both) < _FEWEST_TRAITS:
        return {**found, "note": f"no interval: {len(both)} traits, and an interval over traits needs {_FEWEST_TRAITS}"}
    drawn = both[_drawn(len(both), n_resamples, seed, polarity)]  # (n_resamples, n, 2)
    means = drawn.mean(axis=1)
    apart = difference_interval(means[:, 1], means[:, 0], mean_2, mean_1)
    found |= {"difference_low": apart.low, "difference_high": apart.high}
    if vary:
        with np.errstate(divide="ignore"):
            logs = np.log(drawn.std(axis=1, ddof=1))
        logs[~np.isfinite(logs)] = np.nan
        ratio = difference_interval(logs[:, 1], logs[:, 0], float(np.log(sd_2)), float(np.log(sd_1)))
        found |= {"ratio_low": _exp(ratio.low), "ratio_high": _exp(ratio.high), "note": ratio.note or None}
    return found


def _deviation(values: FloatArray) -> float:
    """Return the standard deviation; 0 where it is rounding, as of a prior that all traits of a structure share."""
    sd = float(values.std(ddof=1))
    return sd if sd > SCORE_NOISE else 0.0


def _exp(value: float | None) -> float | None:
    return None if value is None else float(np.exp(value))


def _drawn(n: int, n_resamples: int, seed: int, polarity: str) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Return (n_resamples, n) traits drawn with replacement, the same for all models, structures and quantities."""
    return generator(seed, "structures", polarity, n).integers(n, size=(n_resamples, n))


def _numbers(values: FloatArray) -> dict[str, float]:
    if not len(values):
        return {}
    found = dict(
        zip(("min", "q25", "median", "q75", "max"), np.quantile(values, [0, 0.25, 0.5, 0.75, 1]).tolist(), strict=True)
    )
    found |= {"mean": float(values.mean()), "mean_size": float(np.abs(values).mean())}
    if len(values) > 1:
        sd = _deviation(values)
        found |= {"sd": sd, "variance": sd**2}
    return found


def _by_polarity(traits: pl.DataFrame) -> dict[tuple[str, str], pl.DataFrame]:
    """Return the rows of each model and polarity, and of both polarities where there are two."""
    found: dict[tuple[str, str], pl.DataFrame] = {}
    for (model,), of_model in traits.group_by("model", maintain_order=True):
        of_polarity = of_model.partition_by("polarity", maintain_order=True, as_dict=True)
        found |= {(str(model), str(polarity)): rows for (polarity,), rows in of_polarity.items()}
        if len(of_polarity) > 1:
            found[str(model), ALL] = of_model
    return found


def _groups(traits: pl.DataFrame) -> dict[tuple[str, ...], tuple[pl.DataFrame, FloatArray]]:
    """Return the rows, and the associations that there are, by model, polarity, structure and quantity."""
    found: dict[tuple[str, ...], tuple[pl.DataFrame, FloatArray]] = {}
    for key, group in _by_polarity(traits).items():
        for structure in sorted(group["structure"].unique()):
            rows = group.filter(pl.col("structure") == structure)
            for quantity in QUANTITIES:
                found[*key, structure, quantity] = rows, rows[quantity].drop_nulls().to_numpy()
    return found


def _require(traits: pl.DataFrame) -> None:
    require_columns("traits", traits, _NEEDED, remade_by("likelihoods"))
