"""Tests with one target set: SC-WEAT, which asks of single words what WEAT asks of two sets.

The association of a word w with A rather than B, as an effect size over the attribute words (Caliskan, Bryson and
Narayanan 2017, there WEFAT; May et al. 2019 and others: SC-WEAT):

    d(w) = (mean over a of cos(w, a) - mean over b of cos(w, b)) / std over A and B of cos(w, .)

What is exchanged under the hypothesis of no association are the attribute words.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from prasanga.associations.effects import COSINE_NOISE, ConstantScoresError, effect_size_of_scores
from prasanga.associations.permutation import PermutationTest, permutation_test_of_scores
from prasanga.associations.vectors import FloatArray, require_one_dimension, unit_vectors


@dataclass(frozen=True, eq=False)
class SingleTarget:
    """Result of `sc_weat`."""

    effect_size: float
    """Of the whole set: its words' mean cosine with each attribute word takes the place of a word's cosine."""
    word_effect_sizes: FloatArray
    """(n,), of each word by itself; NaN of a word that is equally near to all attribute words."""
    test: PermutationTest
    """Permutation of the attribute words, for the whole set."""


def sc_weat(
    W: npt.ArrayLike,
    A: npt.ArrayLike,
    B: npt.ArrayLike,
    *,
    std: str = "union_ddof1",
    alternative: str = "two-sided",
    method: str = "auto",
    n_resamples: int = 100_000,
    rng: np.random.Generator | int | None = None,
) -> SingleTarget:
    """SC-WEAT (WEFAT) of one target set `W` (n, d) with the attribute sets `A`, `B`, each (n, d), one row a word.

        d(w) = (mean over a in A of cos(w, a) - mean over b in B of cos(w, b)) / std over A and B of cos(w, .)

    and for the set with the mean of cos(w, .) over W (Caliskan, Bryson and Narayanan 2017, there WEFAT). Hypothesis of
    no association: the attribute words could change sides. `std` (union_ddof1, union_ddof0, pooled) as in
    `effect_size`; `alternative` (two-sided, greater, less), `method` (auto, exact, sampled), `n_resamples` and `rng` as
    in `permutation_test`. Raises `InputError` for bad arrays (as `association_scores`), unknown names, and
    `ConstantScoresError` if the set is equally near to all attribute words.
    """
    w, a, b = unit_vectors("W", W), unit_vectors("A", A), unit_vectors("B", B)
    require_one_dimension({"W": w.shape[1], "A": a.shape[1], "B": b.shape[1]})
    cosines = np.concatenate([w @ a.T, w @ b.T], axis=1)
    of_words = np.full(len(w), np.nan)
    for i, row in enumerate(cosines):
        with contextlib.suppress(ConstantScoresError):
            of_words[i] = effect_size_of_scores(row[: len(a)], row[len(a) :], std, noise=COSINE_NOISE)
    of_set = cosines.mean(axis=0)
    try:
        effect = effect_size_of_scores(of_set[: len(a)], of_set[len(a) :], std, noise=COSINE_NOISE)
    except ConstantScoresError:
        raise ConstantScoresError(
            "W is equally near to all attribute words: the effect size, a difference over the spread of its cosines"
            " with them, does not exist. Are A and B the same word?"
        ) from None
    test = permutation_test_of_scores(
        of_set[: len(a)],
        of_set[len(a) :],
        alternative=alternative,
        method=method,
        n_resamples=n_resamples,
        rng=rng,
        noise=COSINE_NOISE,
    )
    return SingleTarget(effect, of_words, test)
