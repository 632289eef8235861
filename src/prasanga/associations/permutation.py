"""Permutation tests of a difference between two sets of words.

If the target words of X and Y do not differ in their associations, every way to part all of them into sets of the
same sizes is as likely as the one observed. p is the share of those partitions whose statistic, the difference of the
sets' mean associations, is at least as extreme (Caliskan, Bryson and Narayanan 2017; the unit is the word).

All partitions are counted without listing them. A set's sum is the sum of its words in the first half of the list and
of those in the second; with the sums of every subset of each half sorted, the pairs beyond a bound are counted by
binary search ("meeting in the middle"). That takes 2 * 2^(n/2) sums in place of C(n, nx) partitions: 44 words have
2 * 10^12 partitions and 8 million sums. Beyond that, partitions are drawn at random.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from math import comb

import numpy as np
import numpy.typing as npt

from prasanga.associations.effects import (
    COSINE_NOISE,
    ConstantScoresError,
    effect_size_of_scores,
    finite_vector,
    target_scores,
)
from prasanga.associations.vectors import (
    FloatArray,
    choice,
    generator_from,
    require_one_dimension,
    unit_vectors,
    whole_number,
)
from prasanga.base.errors import InputError
from prasanga.base.progress import progress

# If the target words of X and Y do not differ in their associations, every way to part all of them into sets of the
# same sizes is as likely as the one observed. p is the share of those partitions whose statistic, the difference of
# the sets' mean associations, is at least as extreme (Caliskan, Bryson and Narayanan 2017; the unit is the word).
#
# All partitions are counted without listing them. A set's sum is the sum of its words in the first half of the list
# and of those in the second; with the sums of every subset of each half sorted, the pairs beyond a bound are
# counted by binary search ("meeting in the middle"). That takes 2 * 2^(n/2) sums in place of C(n, nx) partitions:
# 44 words have 2 * 10^12 partitions and 8 million sums. Beyond that, partitions are drawn at random.


ALTERNATIVES = ("two-sided", "greater", "less")
METHODS = ("auto", "exact", "sampled")

# Statistics closer than this, relative to the largest score, are ties: the order of a sum changes its last digits.
_TIE = 1e-9
# Subsets of one half of the words that are listed at most: those of 22 words.
_LARGEST_HALF = 2**22
# Numbers shuffled at a time when partitions are drawn (8 MiB).
_SHUFFLED = 2**20


@dataclass(frozen=True)
class PermutationTest:
    """Result of a permutation test."""

    p_value: float
    """Exact: share of all partitions; sampled: (count + 1) / (n_resamples + 1). Never 0."""
    exact: bool
    """Whether all partitions were counted."""
    n_partitions: int
    """C(nx + ny, nx), the partitions that there are."""
    n_resamples: int
    """Partitions drawn at random; 0 if exact."""
    ci_low: float
    """Lower end of the 95 % interval of the p of all partitions, which a sampled p estimates (Clopper and Pearson).

    The p itself if exact.
    """
    ci_high: float
    statistic: float
    """Difference of the mean associations, X minus Y."""
    alternative: str
    """two-sided, greater or less."""


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
) -> PermutationTest:
    """Test whether target sets `X` and `Y` differ in their association with attributes `A` rather than `B`.

    Hypothesis of no difference: every way to part the words of X and Y into sets of these sizes is as likely as the one
    observed. Statistic, and p over these partitions (Caliskan, Bryson and Narayanan 2017; Sadhu et al. 2024, app. B.1):

        S = mean of s(x, A, B) over X  -  mean of s(y, A, B) over Y
        p = share of partitions with |S| >= |S observed|      (two-sided)

    `X`, `Y`, `A`, `B` are (n, d) arrays, one vector per word, of any sizes; s as in `association_scores`.
    `alternative`: `two-sided` counts |statistic| >= |observed|, `greater` statistic >= observed, `less` the opposite;
    ties within 1e-9 of the largest score count. `method`: `exact` counts all partitions (up to 44 words, or more if one
    set is small), `sampled` draws `n_resamples` of them with `rng` (a generator or a seed), `auto` is exact whenever it
    can be. If all scores are the same, every partition is a tie and p is 1. Raises `InputError` for bad arrays, unknown
    names, and `exact` with too many words.
    """
    x, y = target_scores(X, Y, A, B)
    return permutation_test_of_scores(
        x, y, alternative=alternative, method=method, n_resamples=n_resamples, rng=rng, noise=COSINE_NOISE
    )


def permutation_test_of_scores(
    x: npt.ArrayLike,
    y: npt.ArrayLike,
    *,
    alternative: str = "two-sided",
    method: str = "auto",
    n_resamples: int = 100_000,
    rng: np.random.Generator | int | None = None,
    noise: float = 0.0,
) -> PermutationTest:
    """Run the test of `permutation_test` on associations already computed.

    `x` (nx,) has those of X's words, `y` (ny,) those of Y's.

    `alternative` (two-sided, greater, less), `method` (auto, exact, sampled), `n_resamples` and `rng` (a generator or a
    seed, for partitions that are drawn) are those of `permutation_test`, and so are the result and the errors.
    Statistics closer than `noise` are ties as well, for scores that are wrong by some such number (`COSINE_NOISE` for
    cosines); without it, what rounding leaves of no difference would be tested.
    """
    x, y = finite_vector("x", x), finite_vector("y", y)
    choice("alternative", alternative, ALTERNATIVES)
    choice("method", method, METHODS)
    n_resamples, rng = whole_number("n_resamples", n_resamples, least=1), generator_from(rng)
    n = x.size + y.size
    countable = _can_be_counted(n, x.size)
    if method == "exact" and not countable:
        raise InputError(
            f"method: 'exact' with {x.size} and {y.size} words has too many partitions to count; up to 44 words in all"
            " it works. Write 'auto' or 'sampled'."
        )

    # For sets of given sizes the statistic grows with the sum of X's scores alone; centred, that sum is 0 on average.
    # In units of a power of two, which rounds nothing, sums of very large or very small scores stay what they are.
    scores = np.concatenate([x, y])
    power = int(np.frexp(np.abs(scores).max())[1])
    scores, noise = np.ldexp(scores, -power), float(np.ldexp(noise, min(-power, 1000)))
    per_sum = 1 / x.size + 1 / y.size
    centred = scores - scores.mean()
    observed = float(centred[: x.size].sum())
    tolerance = max(_TIE * float(np.abs(scores).max()), noise) / per_sum
    lower, upper = _bounds(observed, tolerance, alternative)
    total = comb(n, x.size)
    exact = countable and method != "sampled"
    ci_low = ci_high = 1.0
    if lower >= upper or np.ptp(scores) <= tolerance * per_sum / scores.size:
        p_value, exact = 1.0, True  # every sum is beyond one of the bounds
    elif exact:
        ci_low = ci_high = p_value = _count_all(centred, x.size, lower, upper) / total
    else:
        count = _count_drawn(centred, x.size, lower, upper, n_resamples, rng)
        p_value = (count + 1) / (n_resamples + 1)
        ci_low, ci_high = _interval_of_share(count, n_resamples)
    return PermutationTest(
        p_value,
        exact,
        total,
        0 if exact else n_resamples,
        ci_low,
        ci_high,
        float(np.ldexp(observed * per_sum, power)),
        alternative,
    )


def test_of_statistics(
    statistics: FloatArray, observed: float, n_partitions: int, alternative: str, *, exact: bool
) -> PermutationTest:
    """Return the test of a statistic that no sum of scores is, from its values in all partitions or in those drawn.

    `statistics` are (n,) values, with `exact` one for each of the `n_partitions`. Ties as in `permutation_test`.
    """
    tolerance = _TIE * max(abs(observed), float(np.abs(statistics).max()))
    lower, upper = _bounds(observed, tolerance, alternative)
    count = int(np.count_nonzero((statistics <= lower) | (statistics >= upper)))
    if exact:
        p_value = ci_low = ci_high = count / n_partitions
    else:
        p_value = (count + 1) / (statistics.size + 1)
        ci_low, ci_high = _interval_of_share(count, statistics.size)
    n_resamples = 0 if exact else statistics.size
    return PermutationTest(p_value, exact, n_partitions, n_resamples, ci_low, ci_high, observed, alternative)


test_of_statistics.__test__ = False  # type: ignore[attr-defined]  # no test of pytest's


def _interval_of_share(count: int, n: int) -> tuple[float, float]:
    """Return the 95 % interval of a share of which `count` of `n` were found (Clopper and Pearson 1934)."""
    from scipy.special import betaincinv  # here, because it takes longer to import than the rest of the package

    low = float(betaincinv(count, n - count + 1, 0.025)) if count else 0.0
    high = float(betaincinv(count + 1, n - count, 0.975)) if count < n else 1.0
    return low, high


def _bounds(observed: float, tolerance: float, alternative: str) -> tuple[float, float]:
    """Return a sum counts if it is <= the first or >= the second."""
    if alternative == "greater":
        return -np.inf, observed - tolerance
    if alternative == "less":
        return observed + tolerance, np.inf
    reach = abs(observed) - tolerance
    return -reach, reach


def _can_be_counted(n: int, size: int) -> bool:
    larger_half = n - n // 2
    return sum(comb(larger_half, k) for k in range(min(size, n - size, larger_half) + 1)) <= _LARGEST_HALF


def _count_all(scores: FloatArray, size: int, lower: float, upper: float) -> int:
    """Count the subsets of `size` of `scores` (which add up to 0) whose sum is <= `lower` or >= `upper`."""
    if size > scores.size - size:
        # What is left over is the smaller set, and its sum is the negative one.
        size, lower, upper = scores.size - size, -upper, -lower
    half = scores.size // 2
    first, second = _sums_by_size(scores[:half], size), _sums_by_size(scores[half:], size)
    count = 0
    for k in range(size + 1):
        sums, others = first[k], second[size - k]
        if upper < np.inf:
            count += sums.size * others.size - int(np.searchsorted(others, upper - sums, side="left").sum())
        if lower > -np.inf:
            count += int(np.searchsorted(others, lower - sums, side="right").sum())
    return count


def _sums_by_size(scores: FloatArray, largest: int) -> list[FloatArray]:
    """Return the sums of all subsets of `scores`.

    Element k holds the sums of k scores, sorted (empty if there are none).
    """
    sums = [np.zeros(1)] + [np.empty(0)] * largest
    for score in scores:
        for k in range(largest, 0, -1):
            sums[k] = np.concatenate([sums[k], sums[k - 1] + score])
    return [np.sort(values) for values in sums]


def _count_drawn(
    scores: FloatArray, size: int, lower: float, upper: float, n_resamples: int, rng: np.random.Generator
) -> int:
    """Return the same among `n_resamples` subsets drawn at random, each without replacement."""
    count, block = 0, max(1, _SHUFFLED // scores.size)
    with progress("permutation test", n_resamples, "partitions") as done:
        for start in range(0, n_resamples, block):
            rows = min(block, n_resamples - start)
            shuffled = rng.permuted(np.broadcast_to(scores, (rows, scores.size)), axis=1)
            sums = shuffled[:, :size].sum(axis=1)
            count += int(np.count_nonzero((sums <= lower) | (sums >= upper)))
            done.advance(rows)
    return count


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
