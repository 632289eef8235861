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

from collections.abc import Callable
from dataclasses import dataclass
from math import comb
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from prasanga.base.errors import InputError
from prasanga.base.progress import progress
from prasanga.stats.arguments import FloatArray, choice, finite_vector, generator_from, whole_number

_Predicate: TypeAlias = Callable[[FloatArray, FloatArray], npt.NDArray[np.bool_]]
"""Does a partition count? Takes the sums, and the sums of squares, of X's scores in many partitions."""

ALTERNATIVES = ("two-sided", "greater", "less")

METHODS = ("auto", "exact", "sampled")

STATISTICS = ("studentized", "difference")

# Statistics closer than this, relative to the largest score, are ties: the order of a sum changes its last digits.
_TIE = 1e-9

# Subsets of one half of the words that are listed at most: those of 22 words.
_LARGEST_HALF = 2**22

# Numbers shuffled at a time when partitions are drawn (8 MiB).
_SHUFFLED = 2**20

# Partitions that are gone through one by one at most, and how many at a time, which stay in the processor's cache.
_LISTED = 2**24

_LISTED_AT_A_TIME = 2**15


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
    compared: str = "difference"
    """What was compared: the difference, or `studentized`, where sets of different sizes are."""


def permutation_test_of_scores(
    x: npt.ArrayLike,
    y: npt.ArrayLike,
    *,
    alternative: str = "two-sided",
    method: str = "auto",
    n_resamples: int = 100_000,
    rng: np.random.Generator | int | None = None,
    statistic: str = "studentized",
    noise: float = 0.0,
) -> PermutationTest:
    """Run the test of `permutation_test` on associations already computed.

    `x` (nx,) has those of X's words, `y` (ny,) those of Y's.

    `alternative` (two-sided, greater, less), `method` (auto, exact, sampled), `n_resamples`, `rng` (a generator or a
    seed, for partitions that are drawn) and `statistic` (studentized, difference) are those of `permutation_test`, and
    so are the result and the errors.
    Statistics closer than `noise` are ties as well, for scores that are wrong by some such number (`COSINE_NOISE` for
    cosines); without it, what rounding leaves of no difference would be tested.
    """
    x, y = finite_vector("x", x), finite_vector("y", y)
    choice("alternative", alternative, ALTERNATIVES)
    choice("method", method, METHODS)
    choice("statistic", statistic, STATISTICS)
    n_resamples, rng = whole_number("n_resamples", n_resamples, least=1), generator_from(rng)
    n = x.size + y.size
    total = comb(n, x.size)
    # with sets of one size both statistics order the partitions alike; a single word has no variance
    studentized = statistic == "studentized" and x.size != y.size and min(x.size, y.size) > 1
    countable = total <= _LISTED if studentized else _can_be_counted(n, x.size)
    if method == "exact" and not countable:
        works = f"up to {_LISTED:,} of a studentized difference" if studentized else "up to 44 words in all"
        raise InputError(
            f"method: 'exact' with {x.size} and {y.size} words has too many partitions to count; {works} it works."
            " Write 'auto' or 'sampled'."
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
    exact = countable and method != "sampled"
    ci_low = ci_high = 1.0
    if lower >= upper or np.ptp(scores) <= tolerance * per_sum / scores.size:
        p_value, exact = 1.0, True  # every sum is beyond one of the bounds
    elif exact and not studentized:
        ci_low = ci_high = p_value = _count_all(centred, x.size, lower, upper) / total
    else:
        counts = _is_beyond(lower, upper)
        if studentized:
            counts = _is_as_extreme(centred, x.size, alternative, tolerance * per_sum, noise)
        if exact:
            ci_low = ci_high = p_value = _count_listed(centred, x.size, counts) / total
        else:
            count = _count_drawn(centred, x.size, counts, n_resamples, rng)
            p_value = (count + 1) / (n_resamples + 1)
            ci_low, ci_high = _interval_of_share(count, n_resamples)
    n_drawn, difference = 0 if exact else n_resamples, float(np.ldexp(observed * per_sum, power))
    compared = "studentized" if studentized else "difference"
    return PermutationTest(p_value, exact, total, n_drawn, ci_low, ci_high, difference, alternative, compared)


def test_of_statistics(
    statistics: FloatArray, observed: float, n_partitions: int, alternative: str, *, exact: bool
) -> PermutationTest:
    """Return the test of any statistic, from its values in all partitions or in those drawn.

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
    """Return the limits of the sum of X's scores: partitions at or below the lower, at or above the upper, count."""
    if alternative == "greater":
        return -np.inf, observed - tolerance
    if alternative == "less":
        return observed + tolerance, np.inf
    reach = abs(observed) - tolerance
    return -reach, reach


def _is_beyond(lower: float, upper: float) -> _Predicate:
    """Return a predicate on the sums of X's scores: at or below `lower`, or at or above `upper`."""
    return lambda sums, _: (sums <= lower) | (sums >= upper)


def _is_as_extreme(scores: FloatArray, n_x: int, alternative: str, tolerance: float, noise: float) -> _Predicate:
    """Return a predicate on the sums, and sums of squares, of X's scores: is the studentized difference as extreme?

    `scores` add up to 0, those of X first; differences within `tolerance` are ties. With D the difference and V its
    squared error, |D| / sqrt(V) >= bound / sqrt(V observed) is a quadratic form of both sums, without a division.
    """
    n_y, all_squares = scores.size - n_x, float(np.square(scores).sum())
    sign, of_x, of_y = -1 if alternative == "less" else 1, 1 / (n_x * (n_x - 1)), 1 / (n_y * (n_y - 1))
    of_sum = of_x / n_x + of_y / n_y  # V = of_x squares + of_y (all squares - squares) - of_sum sum^2
    total, squares = float(scores[:n_x].sum()), float(np.square(scores[:n_x]).sum())
    observed = sign * total * (1 / n_x + 1 / n_y)
    variance = of_x * squares + of_y * (all_squares - squares) - of_sum * total**2
    bound = abs(observed) - tolerance if alternative == "two-sided" else observed - tolerance
    limit = bound**2
    slack = limit * (_TIE * variance + 1e-13 * float(np.abs(scores).max()) ** 2 + noise**2)
    by_sum, by_squares = (1 / n_x + 1 / n_y) ** 2 * variance + limit * of_sum, limit * (of_x - of_y)
    least = limit * of_y * all_squares - slack if bound > 0 else limit * of_y * all_squares + slack

    def counts(sums: FloatArray, squares: FloatArray) -> npt.NDArray[np.bool_]:
        beyond = by_sum * np.square(sums) - by_squares * squares >= least
        if alternative == "two-sided":
            return np.asarray(beyond)
        # as far beyond a bound above 0; or not beyond one that is below
        return np.asarray(beyond & (sign * sums > 0) if bound > 0 else ~beyond | (sign * sums > 0))

    return counts


def _can_be_counted(n: int, size: int) -> bool:
    larger_half = n - n // 2
    return sum(comb(larger_half, k) for k in range(min(size, n - size, larger_half) + 1)) <= _LARGEST_HALF


def _count_all(scores: FloatArray, size: int, lower: float, upper: float) -> int:
    """Count the subsets of `size` of `scores` (which add up to 0) whose sum is <= `lower` or >= `upper`."""
    if size > scores.size - size:
        # What is left over is the smaller set, and its sum is the negative one.
        size, lower, upper = scores.size - size, -upper, -lower
    half = scores.size // 2
    first, second = (
        [np.sort(sums[0]) for sums in _sums_by_size(part[None], size)] for part in (scores[:half], scores[half:])
    )
    count = 0
    for k in range(size + 1):
        sums, others = first[k], second[size - k]
        if upper < np.inf:
            count += sums.size * others.size - int(np.searchsorted(others, upper - sums, side="left").sum())
        if lower > -np.inf:
            count += int(np.searchsorted(others, lower - sums, side="right").sum())
    return count


def _sums_by_size(scores: FloatArray, largest: int) -> list[FloatArray]:
    """Return the sums of all subsets of the columns of `scores`, (m, n).

    Element k holds the sums of k columns, (m, number of subsets), none if there are none.
    """
    sums = [np.zeros((len(scores), 1))] + [np.empty((len(scores), 0))] * largest
    for column in scores.T[:, :, None]:
        for k in range(largest, 0, -1):
            sums[k] = np.concatenate([sums[k], sums[k - 1] + column], axis=1)
    return sums


def _count_listed(scores: FloatArray, size: int, counts: _Predicate) -> int:
    """Count the subsets of `size` of `scores` for which `counts`, going through them all.

    Where a subset is more than half, the rest of it is listed: as many, and small ones fit into memory.
    """
    both = np.stack([scores, np.square(scores)])
    if 2 * size > scores.size:
        whole, squares = both.sum(axis=1)
        return _count_listed(scores, scores.size - size, lambda rest, of_rest: counts(whole - rest, squares - of_rest))
    half, count = scores.size // 2, 0
    first, second = _sums_by_size(both[:, :half], size), _sums_by_size(both[:, half:], size)
    with progress("permutation test", comb(scores.size, size), "partitions") as done:
        for k in range(size + 1):
            sums, others = first[k], second[size - k]
            step = max(1, _LISTED_AT_A_TIME // max(1, sums.shape[1]))
            for start in range(0, others.shape[1] if sums.size else 0, step):
                of_both = sums[:, :, None] + others[:, None, start : start + step]
                count += int(np.count_nonzero(counts(*of_both)))
                done.advance(of_both[0].size)
    return count


def _count_drawn(scores: FloatArray, size: int, counts: _Predicate, n_resamples: int, rng: np.random.Generator) -> int:
    """Return the same among `n_resamples` subsets drawn at random, each without replacement."""
    count, block = 0, max(1, _SHUFFLED // scores.size)
    with progress("permutation test", n_resamples, "partitions") as done:
        for start in range(0, n_resamples, block):
            rows = min(block, n_resamples - start)
            shuffled = rng.permuted(np.broadcast_to(scores, (rows, scores.size)), axis=1)
            drawn = shuffled[:, :size]
            count += int(np.count_nonzero(counts(drawn.sum(axis=1), np.vecdot(drawn, drawn))))
            done.advance(rows)
    return count
