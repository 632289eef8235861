"""Tests with one target set: SC-WEAT, which asks of single words what WEAT asks of two sets.

The association of a word w with A rather than B, as an effect size over the attribute words (Caliskan, Bryson and
Narayanan 2017, there WEFAT; May et al. 2019 and others: SC-WEAT):

    d(w) = (mean over a of cos(w, a) - mean over b of cos(w, b)) / std over A and B of cos(w, .)

What is exchanged under the hypothesis of no association are the attribute words.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from prasanga.associations.effects import COSINE_NOISE, spreads_and_effects
from prasanga.associations.permutation import PermutationTest, permutation_test_of_scores
from prasanga.associations.vectors import FloatArray, require_one_dimension, unit_vectors


@dataclass(frozen=True, eq=False)
class SingleTarget:
    """Result of `sc_weat`."""

    effect_size: float
    """Of the whole set: its words' mean cosine with each attribute word takes the place of a word's cosine."""
    word_effect_sizes: FloatArray
    """(n,), of each word by itself."""
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

    Hypothesis of no association: the attribute words could change sides. `std` as in `effect_size`; `alternative`,
    `method`, `n_resamples` and `rng` as in `permutation_test`. Raises `InputError` for bad arrays (as
    `association_scores`), unknown names, and `ConstantScoresError` if a word is equally near to all attribute words.
    """
    w, a, b = unit_vectors("W", W), unit_vectors("A", A), unit_vectors("B", B)
    require_one_dimension({"W": w.shape[1], "A": a.shape[1], "B": b.shape[1]})
    cosines = np.concatenate([w @ a.T, w @ b.T], axis=1)
    _, of_words = spreads_and_effects(cosines, len(a), std, noise=COSINE_NOISE)
    of_set = cosines.mean(axis=0)
    _, effect = spreads_and_effects(of_set, len(a), std, noise=COSINE_NOISE)
    test = permutation_test_of_scores(
        of_set[: len(a)],
        of_set[len(a) :],
        alternative=alternative,
        method=method,
        n_resamples=n_resamples,
        rng=rng,
    )
    return SingleTarget(float(effect), of_words, test)
