"""What is said of a category by log-probability: the columns that WEAT, SEAT and CEAT have, from scores of sentences.

Effect and test come from `measure_cosines`, with the attribute words, and their sentences as items, in the place of its
targets. What depends on the terms - the interval, dealt terms, the effect without one of them - is linear in them for
the mean alone; for log-sum-exp it is computed anew (`TermScores`). There the studentized interval takes the terms'
shares to first order.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np

from prasanga.associations.categories import Category
from prasanga.associations.cosines import Cosines
from prasanga.associations.effects import ConstantScoresError
from prasanga.associations.estimates import TestSettings, measure_cosines, word_rows
from prasanga.associations.intervals import interval
from prasanga.associations.permutation import permutation_test_of_scores
from prasanga.associations.resampling import draw_resampling
from prasanga.associations.vectors import FloatArray
from prasanga.likelihoods.term_scores import SCORE_NOISE, TermScores
from prasanga.likelihoods.usable_sentences import UsableSentences
from prasanga.seeds import generator


def category_numbers(
    category: Category, model: str, usable: UsableSentences, terms: TermScores, settings: TestSettings, seed: int
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The columns of the estimate, and the rows of words.

    Raises:
        ConstantScoresError: all sentences have the same score.
    """
    if float(terms.sentence_scores.std()) <= SCORE_NOISE:
        raise ConstantScoresError("all sentences have the same score, so that there is no effect size")
    cosines, scale = terms.as_cosines()
    x, y, a, b = usable.words
    permuted, names = (a, b, x, y), ("log_probability", model)
    linear = terms.terms == "mean"
    known = measure_cosines(
        cosines,
        settings if linear else replace(settings, n_resamples=0, n_shuffles=0),
        category=category.name,
        words=permuted,
        seed=seed,
        names=names,
    )
    columns, without = dict(known.columns), known.without
    if not linear:
        without = terms.without_each(settings.std)
        finite = without[np.isfinite(without)]
        columns |= {
            "leave_out_low": float(finite.min()) if finite.size else None,
            "leave_out_high": float(finite.max()) if finite.size else None,
            **interval_of_terms(terms, cosines, category.name, permuted, settings, seed),
        }
        if settings.n_shuffles:
            rng = generator(seed, "shuffles", *names, category.name)
            shuffled = terms.shuffled(settings.n_shuffles, rng, settings.std)
            columns |= {
                "shuffled_low": shuffled.low,
                "shuffled_high": shuffled.high,
                "p_shuffled": shuffled.p_value,
            }
    columns["interval_note"] = _in_roles(columns["interval_note"], category)
    of_a = terms.words < terms.n_a
    columns["p_sentences"] = permutation_test_of_scores(
        terms.sentence_scores[of_a],
        terms.sentence_scores[~of_a],
        alternative=settings.alternative,
        n_resamples=settings.n_permutations,
        rng=generator(seed, "p_sentences", *names, category.name),
    ).p_value
    return columns, _word_rows(cosines, scale, terms, permuted, category, without)


def interval_of_terms(
    terms: TermScores,
    cosines: Cosines,
    category: str,
    words: tuple[list[str], list[str], list[str], list[str]],
    settings: TestSettings,
    seed: int,
) -> dict[str, Any]:
    """The interval, from replicates in which the terms' probabilities are added anew."""
    if not settings.n_resamples:
        return {"interval_note": "no interval was asked for (associations.n_resamples is 0)"}
    resampling = draw_resampling(
        words,
        1,
        n_resamples=settings.n_resamples,
        seed=seed,
        category=category,
        resample_attributes=settings.resample_attributes,
    )
    replicates = terms.effects(resampling.target_counts, resampling.attribute_counts, settings.std)
    found = interval(cosines, resampling, replicates, method=settings.interval, std=settings.std)
    return {"ci_low": found.low, "ci_high": found.high, "interval_note": found.note or None}


def _in_roles(note: str | None, category: Category) -> str | None:
    """A note on the sets of `measure_cosines`, X to B, in the names of the category's sets."""
    x, y, a, b = category.set_names
    names = dict(zip("XYAB", (a, b, x, y), strict=True))
    return note and re.sub(r"\bset ([XYAB])\b", lambda found: f"the set {names[found[1]]}", note)


def _word_rows(
    cosines: Cosines,
    scale: float,
    terms: TermScores,
    permuted: tuple[list[str], list[str], list[str], list[str]],
    category: Category,
    without: FloatArray,
) -> list[dict[str, Any]]:
    """Rows of targets, then of attributes: `word_rows` in the category's own roles."""
    x, y, a, b = category.set_names
    rows = word_rows(cosines, permuted, (a, b, x, y), without, cosines.word_scores() * scale)
    n_words = terms.n_words
    for row, association in zip(rows[n_words:], terms.term_associations(), strict=True):
        row |= {"association": float(association), "n_items": len(terms.words)}
    for row in rows:
        row["role"] = {"x": "a", "y": "b", "a": "x", "b": "y"}[row["role"]]
    return [*rows[n_words:], *rows[:n_words]]
