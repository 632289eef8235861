"""Fill, prior and corrected scores of traits in the sentence structures S1 to S5 (Sadhu et al. 2024, 4.3 and 5.2).

The terms of a group have one score in a sentence, by `log_probability.terms`, fill and prior alike. The association is
that of the male terms minus that of the female ones: positive where a male subject is likelier.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import polars as pl

from prasanga.associations.checking import choice
from prasanga.likelihoods.log_probability import LogProbabilityItem, Score, ScoresMasks, score_items
from prasanga.likelihoods.structures import GROUPS, TraitSentence
from prasanga.likelihoods.term_scores import TERMS, combined

QUANTITIES = ("fill", "prior", "corrected")

TRAITS_SCHEMA: Mapping[str, type[pl.DataType]] = {
    **dict.fromkeys(("model", "polarity", "trait", "gloss", "structure"), pl.String),
    **dict.fromkeys((f"{group}_{what}" for group in GROUPS for what in QUANTITIES), pl.Float64),
    **dict.fromkeys(QUANTITIES, pl.Float64),
    **dict.fromkeys(("n_pairs", "n_words", "n_pieces", "n_attribute_pieces"), pl.Int64),
    "masked_as_one": pl.Boolean,
    **dict.fromkeys(("left_out", "pieces", "terms"), pl.String),
}
"""Columns of the table of traits, one row a model, polarity, trait and structure.

`male_fill` and the like are a group's scores; `fill`, `prior` and `corrected` are the associations, male minus female.
`n_pairs` counts the pairs of terms behind them, `n_pieces` the pieces of these terms together, `n_words` the words of
the sentence. `masked_as_one` says that one mask stood for a trait of several pieces (`pieces` first). `left_out` says
which pairs are missing and why, or why there is no number."""

TERMS_SCHEMA: Mapping[str, type[pl.DataType]] = {
    **dict.fromkeys(("model", "polarity", "trait", "structure", "group", "term", "form", "text"), pl.String),
    **dict.fromkeys(QUANTITIES, pl.Float64),
    **dict.fromkeys(("n_words", "n_pieces", "n_attribute_pieces"), pl.Int64),
    **dict.fromkeys(("left_out", "pieces"), pl.String),
}
"""Columns of the table of terms, one row a model, polarity, trait, structure and term."""


class StructureTables(NamedTuple):
    """What one model comes to."""

    traits: pl.DataFrame
    """`TRAITS_SCHEMA`"""
    terms: pl.DataFrame
    """`TERMS_SCHEMA`"""


def score_structures(
    scorer: ScoresMasks,
    sentences: Sequence[TraitSentence],
    *,
    model: str,
    pieces: str = "all",
    terms: str = "log-sum-exp",
) -> StructureTables:
    """Scores of all traits in all structures by one model.

    Args:
        scorer: an encoder.
        sentences: of `structures.trait_sentences`.
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
            **{
                name: getattr(row, name)
                for name in ("polarity", "trait", "structure", "group", "term", "text", "n_words")
            },
            "model": model,
            "form": row.text[slice(*row.target)],
            **_numbers_of(score),
            "n_pieces": score.n_pieces,
            "n_attribute_pieces": score.n_attribute_pieces,
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
            numbers[f"{group}_corrected"] = _minus(numbers, f"{group}_fill", f"{group}_prior")
        for what in QUANTITIES:
            numbers[what] = _minus(numbers, *(f"{group}_{what}" for group in GROUPS))
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


def _minus(numbers: Mapping[str, float], first: str, second: str) -> float:
    return numbers[first] - numbers[second]


def _numbers_of(score: Score) -> dict[str, float | None]:
    return {"fill": score.fill, "prior": score.prior, "corrected": score.corrected}


def _reason(score: Score) -> str | None:
    if score.left_out is None or score.left_out_role is None:
        return score.left_out
    return f"{score.left_out} ({score.left_out_role})"
