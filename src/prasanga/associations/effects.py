"""Effects of single categories from vectors: associations, effect size, and the permutation test of words."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from prasanga.associations.vectors import require_one_dimension, require_other_words, unit_vectors
from prasanga.stats.arguments import FloatArray
from prasanga.stats.effects import COSINE_NOISE, ConstantScoresError, effect_size_of_scores
from prasanga.stats.permutation import PermutationTest, permutation_test_of_scores


def association_scores(W: npt.ArrayLike, A: npt.ArrayLike, B: npt.ArrayLike) -> FloatArray:
    """Return the association of each row w of `W` with A rather than B.

    It is defined as follows (Caliskan et al. 2017; Sadhu et al. 2024, app. B.1).

        s(w, A, B) = mean over a in A of cos(w, a)  -  mean over b in B of cos(w, b)

    `W`, `A`, `B` are (n, d), (na, d), (nb, d); the result is (n,), within [-2, 2]. Raises `InputError` for arrays of
    other shapes, different dimensions, NaN, and zero vectors.
    """
    w, a, b = unit_vectors("W", W), unit_vectors("A", A), unit_vectors("B", B)
    require_one_dimension({"W": w.shape[1], "A": a.shape[1], "B": b.shape[1]})
    return np.asarray(w @ (a.mean(axis=0) - b.mean(axis=0)))


def effect_size(
    X: npt.ArrayLike, Y: npt.ArrayLike, A: npt.ArrayLike, B: npt.ArrayLike, *, std: str = "union_ddof1"
) -> float:
    """Return the effect size d of target sets `X`, `Y` and attribute sets `A`, `B`.

    Each set is (n, d) with one vector per word.

        d = (mean of s(x, A, B) over X  -  mean of s(y, A, B) over Y) / std of s

    with s as in `association_scores`. `std` is one of `union_ddof1`, over X and Y together, divided by n - 1 (Caliskan,
    Bryson and Narayanan 2017; Sadhu et al. 2024, appendix B.1; the default), `union_ddof0`, the same divided by n, and
    `pooled`, within X and within Y (Cohen's d). Hypothesis and test: `permutation_test`.

    Positive if X is associated with A rather than B more than Y is. The sets may differ in size. With one word on each
    side, `union_ddof1` gives +-1.414 whatever the vectors. Raises `InputError` for bad arrays (as
    `association_scores`), an unknown `std`, too few words for it, and scores that are all the same
    (`ConstantScoresError`).
    """
    return effect_size_of_scores(*target_scores(X, Y, A, B), std, noise=COSINE_NOISE)


def target_scores(
    X: npt.ArrayLike, Y: npt.ArrayLike, A: npt.ArrayLike, B: npt.ArrayLike
) -> tuple[FloatArray, FloatArray]:
    """Return the associations of the words of `X` and of `Y`: (nx,) and (ny,)."""
    x, y = unit_vectors("X", X), unit_vectors("Y", Y)
    a, b = unit_vectors("A", A), unit_vectors("B", B)
    require_other_words({"X": x, "Y": y}, {"A": a, "B": b})
    require_one_dimension({"X": x.shape[1], "Y": y.shape[1], "A": a.shape[1], "B": b.shape[1]})
    axis = a.mean(axis=0) - b.mean(axis=0)
    return np.asarray(x @ axis), np.asarray(y @ axis)


def permutation_test(
    X: npt.ArrayLike,
    Y: npt.ArrayLike,
    A: npt.ArrayLike,
    B: npt.ArrayLike,
    *,
    alternative: str = "two-sided",
    method: str = "auto",
    n_resamples: int = 100_000,
    rng: np.random.Generator | int | None = None,
    statistic: str = "studentized",
) -> PermutationTest:
    """Test whether target sets `X` and `Y` differ in their association with attributes `A` rather than `B`.

    Hypothesis of no difference: every way to part the words of X and Y into sets of these sizes is as likely as the one
    observed. Statistic, and p over these partitions (Caliskan, Bryson and Narayanan 2017; Sadhu et al. 2024, app. B.1):

        S = mean of s(x, A, B) over X  -  mean of s(y, A, B) over Y
        p = share of partitions with |S| >= |S observed|      (two-sided)

    With sets of different sizes, and two words or more in each, the difference is divided by its standard error,
    sqrt(variance over X / nx + variance over Y / ny) (`statistic="studentized"`; Janssen 1997; Chung and Romano 2013).
    Otherwise p would be small too often where the smaller set is the more varied one; with sets of one size both
    statistics have the same p. `statistic="difference"` compares S itself, as the papers' programs do.

    `X`, `Y`, `A`, `B` are (n, d) arrays, one vector per word, of any sizes; s as in `association_scores`.
    `alternative`: `two-sided` counts |statistic| >= |observed|, `greater` statistic >= observed, `less` the opposite;
    ties within 1e-9 of the largest score count. `method`: `exact` counts all partitions (up to 44 words, or more if one
    set is small; 17 million partitions of a studentized difference), `sampled`
    draws `n_resamples` of them with `rng` (a generator or a seed), `auto` is exact whenever it
    can be. If all scores are the same, every partition is a tie and p is 1. Raises `InputError` for bad arrays, unknown
    names, and `exact` with too many words.
    """
    x, y = target_scores(X, Y, A, B)
    return permutation_test_of_scores(
        x,
        y,
        alternative=alternative,
        method=method,
        n_resamples=n_resamples,
        rng=rng,
        statistic=statistic,
        noise=COSINE_NOISE,
    )


# --------------------
# Tests with one target set: SC-WEAT, which asks of single words what WEAT asks of two sets.
#
# The association of a word w with A rather than B, as an effect size over the attribute words (Caliskan, Bryson and
# Narayanan 2017, there WEFAT; May et al. 2019 and others: SC-WEAT):
#
#     d(w) = (mean over a of cos(w, a) - mean over b of cos(w, b)) / std over A and B of cos(w, .)
#
# What is exchanged under the hypothesis of no association are the attribute words.


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
    """Compute the SC-WEAT (WEFAT) of one target set `W` with the attribute sets `A`, `B`.

    Each set is (n, d), one row a word.

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
