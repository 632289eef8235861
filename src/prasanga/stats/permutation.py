"""Permutation tests of a difference between two sets of words.

If the target words of X and Y do not differ in their associations, every partition into sets of the same sizes is as
likely as the observed one. p is the share of partitions whose statistic, the difference of the sets' mean associations,
is at least as extreme (Caliskan, Bryson and Narayanan 2017; the unit is the word).

All partitions are counted without listing them. A set's sum has a part from each half of the list of words. The sums of
every subset of each half are sorted, and the pairs beyond a bound are counted by binary search ("meeting in the
middle"). That takes 2 * 2^(n/2) sums in place of C(n, nx) partitions: 44 words have 2 * 10^12 partitions and 8 million
sums. Beyond that, partitions are drawn at random.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import combinations
from math import comb
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from prasanga.base.errors import InputError
from prasanga.stats.crossed import Counts, deal
from prasanga.stats.effects import TIE, FloatArray, IndexArray, choice, finite_vector, generator_from, whole_number

Flags: TypeAlias = npt.NDArray[np.bool_]
"""Booleans."""

_Predicate: TypeAlias = Callable[[FloatArray, FloatArray], npt.NDArray[np.bool_]]
"""Says which partitions count, from the sums, and the sums of squares, of X's scores in each."""

ALTERNATIVES = ("two-sided", "greater", "less")

METHODS = ("auto", "exact", "sampled")

STATISTICS = ("studentized", "difference")

# The most subsets of one half of the words that are listed: all subsets of 22 words.
_LARGEST_HALF = 2**22

# Numbers shuffled at a time when partitions are drawn (8 MiB).
_SHUFFLED = 2**20

# The most partitions that are listed one by one, and how many at a time, which fit into the CPU's cache.
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
    """C(nx + ny, nx), the number of all partitions."""
    n_resamples: int
    """Partitions drawn at random; 0 if exact."""
    ci_low: float
    """Lower end of the 95% interval (Clopper and Pearson) of the exact p, which a sampled p estimates; or p itself."""
    ci_high: float
    statistic: float
    """Difference of the mean associations, X minus Y."""
    smallest_p: float
    """The smallest p that is possible with this number of partitions."""


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

    `x` (nx,) are the associations of X's words, `y` (ny,) of Y's.

    `alternative` (two-sided, greater, less), `method` (auto, exact, sampled), `n_resamples`, `rng` (a generator or a
    seed, for partitions that are drawn), `statistic` (studentized, difference), the result and the errors are as in
    `permutation_test`. Statistics closer than `noise` are ties as well, for scores with rounding errors of that size
    (`COSINE_NOISE` for cosines); without it, the test would compare rounding errors.
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
        works = f"up to {_LISTED:,} partitions of a studentized difference" if studentized else "up to 44 words in all"
        found = f"{x.size} and {y.size} words have too many partitions; it works with {works}"
        raise InputError(f"method: 'exact'. {found}. Write 'auto' or 'sampled'.")

    # For sets of given sizes the statistic depends only on the sum of X's scores; centered, that sum is 0 on average.
    # Scaling by a power of two rounds nothing, and keeps sums of very large or very small scores exact.
    scores = np.concatenate([x, y])
    power = int(np.frexp(np.abs(scores).max())[1])
    scores, noise = np.ldexp(scores, -power), float(np.ldexp(noise, min(-power, 1000)))
    per_sum = 1 / x.size + 1 / y.size
    centred = scores - scores.mean()
    observed = float(centred[: x.size].sum())
    tolerance = max(TIE * float(np.abs(scores).max()), noise) / per_sum
    lower, upper = find_bounds(observed, tolerance, alternative)
    n_drawn = 0 if countable and method != "sampled" else n_resamples
    if lower >= upper or np.ptp(scores) <= tolerance * per_sum / scores.size:
        count, n_drawn = total, 0  # every sum is beyond one of the bounds
    elif not n_drawn and not studentized:
        count = _count_all(centred, x.size, lower, upper)
    else:
        counts: _Predicate = (
            _is_as_extreme(centred, x.size, alternative, tolerance * per_sum, noise)
            if studentized
            else lambda sums, _: (sums <= lower) | (sums >= upper)
        )
        if n_drawn:
            count = _count_drawn(centred, x.size, counts, n_drawn, rng)
        else:
            count = _count_listed(centred, x.size, counts)
    # the mirror image of a partition into sets of one size counts with it
    together = 2 if alternative == "two-sided" and x.size == y.size else 1
    return _conclude(count, total, n_drawn, float(np.ldexp(observed * per_sum, power)), together)


_FLIPPED = 20
"""The most pairs whose flips are all counted."""


def sign_flip_test(
    differences: FloatArray,
    *,
    alternative: str = "two-sided",
    n_resamples: int = 100_000,
    rng: np.random.Generator | int | None = None,
    noise: float = 0.0,
) -> PermutationTest:
    """Test whether the members of matched pairs differ, by their (n,) `differences`.

    Hypothesis: the members of each pair are exchangeable, so each difference is as likely with the other sign.
    Statistic: the mean difference (Fisher 1935, The Design of Experiments, section 21). All 2^n flips of up to 20 pairs
        are counted; of more pairs, `n_resamples` flips are drawn. `alternative` and `rng` as in
        `permutation_test_of_scores`; means within 1e-9 of the largest difference, or within `noise`, are ties.
    """
    n, rng = differences.size, generator_from(rng)
    if n <= _FLIPPED:
        sums = [np.zeros(1)]
        for difference in differences:
            sums = [np.concatenate([sums[0] + difference, sums[0] - difference])]
    else:
        rows = max(1, _SHUFFLED // n)
        blocks = (min(rows, n_resamples - start) for start in range(0, n_resamples, rows))
        sums = [(2.0 * rng.integers(2, size=(block, n)) - 1) @ differences for block in blocks]
    tolerance = max(TIE * float(np.abs(differences).max()), noise)
    how: dict[str, Any] = {"exact": n <= _FLIPPED, "mirrored": True, "tolerance": tolerance}
    return assess_statistics(np.concatenate(sums) / n, float(differences.mean()), 2**n, alternative, **how)


def assess_statistics(
    statistics: FloatArray,
    observed: float,
    n_partitions: int,
    alternative: str,
    *,
    exact: bool,
    mirrored: bool,
    tolerance: float = 0.0,
) -> PermutationTest:
    """Return the test of any statistic, from its values in all partitions or in drawn ones.

    `statistics` are (n,) values, with `exact` one for each of the `n_partitions`. Values within `tolerance`, or within
    1e-9 of the largest, are ties. `mirrored`: the mirror image of a partition has the same statistic.
    """
    tolerance = max(tolerance, TIE * max(abs(observed), float(np.abs(statistics).max())))
    lower, upper = find_bounds(observed, tolerance, alternative)
    count = int(np.count_nonzero((statistics <= lower) | (statistics >= upper)))
    together = 2 if mirrored and alternative == "two-sided" else 1
    return _conclude(count, n_partitions, 0 if exact else statistics.size, observed, together)


def _conclude(count: int, n_partitions: int, n_drawn: int, statistic: float, together: int) -> PermutationTest:
    """Return the test from the `count` of extreme partitions, of all or of the `n_drawn`, with the interval of p.

    `together` is how many partitions have the observed statistic, whatever the scores are.
    """
    p_value = low = high = count / n_partitions
    smallest = 1 / (n_drawn + 1) if n_drawn else together / n_partitions
    if n_drawn:
        from scipy.special import betaincinv  # here, because it takes longer to import than the rest of the package

        p_value = (count + 1) / (n_drawn + 1)
        low = float(betaincinv(count, n_drawn - count + 1, 0.025)) if count else 0.0
        high = float(betaincinv(count + 1, n_drawn - count, 0.975)) if count < n_drawn else 1.0
    return PermutationTest(p_value, not n_drawn, n_partitions, n_drawn, low, high, statistic, smallest)


def find_bounds(observed: Any, tolerance: Any, alternative: str) -> tuple[Any, Any]:
    """Return the limits of a statistic, or of many: partitions at or below the lower, at or above the upper, count."""
    if alternative == "greater":
        return -np.inf, observed - tolerance
    if alternative == "less":
        return observed + tolerance, np.inf
    reach = abs(observed) - tolerance
    return -reach, reach


def _is_as_extreme(scores: FloatArray, n_x: int, alternative: str, tolerance: float, noise: float) -> _Predicate:
    """Return a predicate on the sums, and sums of squares, of X's scores: is the studentized difference as extreme?

    `scores` add up to 0, X first; differences within `tolerance` are ties. With D the difference and V its
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
    slack = limit * (TIE * variance + 1e-13 * float(np.abs(scores).max()) ** 2 + noise**2)
    by_sum, by_squares = (1 / n_x + 1 / n_y) ** 2 * variance + limit * of_sum, limit * (of_x - of_y)
    least = limit * of_y * all_squares - slack if bound > 0 else limit * of_y * all_squares + slack

    def counts(sums: FloatArray, squares: FloatArray) -> npt.NDArray[np.bool_]:
        beyond = by_sum * np.square(sums) - by_squares * squares >= least
        if alternative == "two-sided":
            return np.asarray(beyond)
        # beyond a bound above 0, or not beyond a bound below 0
        return np.asarray(beyond & (sign * sums > 0) if bound > 0 else ~beyond | (sign * sums > 0))

    return counts


def _can_be_counted(n: int, size: int) -> bool:
    larger_half = n - n // 2
    return sum(comb(larger_half, k) for k in range(min(size, n - size, larger_half) + 1)) <= _LARGEST_HALF


def _count_all(scores: FloatArray, size: int, lower: float, upper: float) -> int:
    """Count the subsets of `size` of `scores` (which add up to 0) whose sum is <= `lower` or >= `upper`."""
    if size > scores.size - size:
        # The rest is the smaller set, and has the negative sum.
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

    Element k has the sums of k columns, (m, number of subsets).
    """
    sums = [np.zeros((len(scores), 1))] + [np.empty((len(scores), 0))] * largest
    for column in scores.T[:, :, None]:
        for k in range(largest, 0, -1):
            sums[k] = np.concatenate([sums[k], sums[k - 1] + column], axis=1)
    return sums


def _count_listed(scores: FloatArray, size: int, counts: _Predicate) -> int:
    """Count the subsets of `size` of `scores` for which `counts` is true, one by one.

    Subsets of more than half of the scores are represented by the rest: as many, and small enough for memory.
    """
    both = np.stack([scores, np.square(scores)])
    if 2 * size > scores.size:
        whole, squares = both.sum(axis=1)
        return _count_listed(scores, scores.size - size, lambda rest, of_rest: counts(whole - rest, squares - of_rest))
    half, count = scores.size // 2, 0
    first, second = _sums_by_size(both[:, :half], size), _sums_by_size(both[:, half:], size)
    for k in range(size + 1):
        sums, others = first[k], second[size - k]
        step = max(1, _LISTED_AT_A_TIME // max(1, sums.shape[1]))
        for start in range(0, others.shape[1] if sums.size else 0, step):
            of_both = sums[:, :, None] + others[:, None, start : start + step]
            count += int(np.count_nonzero(counts(*of_both)))
    return count


def _count_drawn(scores: FloatArray, size: int, counts: _Predicate, n_resamples: int, rng: np.random.Generator) -> int:
    """Count the same among `n_resamples` subsets drawn at random, each without replacement."""
    count, block = 0, max(1, _SHUFFLED // scores.size)
    for start in range(0, n_resamples, block):
        rows = min(block, n_resamples - start)
        drawn = rng.permuted(np.broadcast_to(scores, (rows, scores.size)), axis=1)[:, :size]
        count += int(np.count_nonzero(counts(drawn.sum(axis=1), np.vecdot(drawn, drawn))))
    return count


# --------------------
# Units of chance on one side of a category: permuted, left out and resampled as wholes.
#
# A unit is a word; a cluster of related words (near-synonyms, inflected forms), with the mean of their scores; or,
# where the two sets of a side are matched, a pair of words, one from each set. The members of a pair have correlated
# scores, so the test is about the difference within pairs. Clusters of matched words consist of whole pairs.


FEWEST_CLUSTERS = 4
"""Units needed for a test in a set with clusters of words."""


@dataclass(frozen=True)
class Units:
    """The units of two sets of words, targets or attributes.

    Attributes:
        first: (n_first,) the unit of each word of the first set, numbered from 0.
        second: the same of the second set; of matched sets the same numbers as in the first, pair by pair.
        matched: whether the sets are matched.
    """

    first: tuple[int, ...]
    second: tuple[int, ...]
    matched: bool = False

    @classmethod
    def from_sizes(cls, n_first: int, n_second: int) -> Units:
        """Return units that are single words."""
        return cls(tuple(range(n_first)), tuple(range(n_second)))

    @classmethod
    def from_clusters(
        cls,
        first: Sequence[str],
        second: Sequence[str],
        of_first: Mapping[str, str],
        of_second: Mapping[str, str],
        *,
        matched: bool = False,
    ) -> Units:
        """Return the units of two lists of words; `of_first` and `of_second` name the clusters of words in one."""
        numbers = _number_units(first, of_first)
        return cls(numbers, numbers if matched else _number_units(second, of_second), matched)

    @property
    def sizes(self) -> tuple[int, int]:
        """Units of the first and of the second set."""
        return max(self.first, default=-1) + 1, max(self.second, default=-1) + 1

    @property
    def freedom(self) -> int:
        """Degrees of freedom of the difference of the sets' means."""
        n_first, n_second = self.sizes
        return n_first - 1 if self.matched else n_first + n_second - 2

    @property
    def are_few(self) -> bool:
        """Whether clusters leave fewer than four units in a set: too few for a test."""
        return min(self.sizes) < FEWEST_CLUSTERS and sum(self.sizes) < len(self.first) + len(self.second)

    @cached_property
    def numbers(self) -> IndexArray:
        """(n_words,) the unit of each word; units of the second set follow, unless the sets are matched."""
        return np.concatenate([self.first, np.array(self.second) + (0 if self.matched else self.sizes[0])]).astype(int)

    @property
    def ungrouped(self) -> Units:
        """Each word as a unit of its own."""
        return Units.from_sizes(len(self.first), len(self.second))

    @property
    def is_first(self) -> Flags:
        """(n_words,) whether each word is of the first set."""
        return np.arange(len(self.first) + len(self.second)) < len(self.first)

    @cached_property
    def _belongs(self) -> FloatArray:
        """(n_words, n_units), 1 where a word is of a unit."""
        return np.asarray(self.numbers[:, None] == np.arange(self.numbers.max() + 1), dtype=np.float64)

    def average(self, scores: FloatArray) -> FloatArray:
        """Return (..., n_units) the scores of units, the first set first, from the scores of words."""
        return np.asarray(scores @ (self._belongs / self._belongs.sum(axis=0)))

    def subtract(self, scores: FloatArray, is_first: Flags | None = None) -> FloatArray:
        """Return (..., n) the difference within each unit of matched sets, first minus second.

        `is_first`, (..., n_words), says which members of pairs are now first.
        """
        is_first = self.is_first if is_first is None else is_first
        sides = (np.where(side, scores, 0) @ self._belongs / (side @ self._belongs) for side in (is_first, ~is_first))
        return np.asarray(np.subtract(*sides))

    def label(self, is_first: Flags) -> Flags:
        """Return (..., n_units) whether each unit is of the first set, from the same of words."""
        return np.asarray(is_first[..., np.unique(self.numbers, return_index=True)[1]])

    @property
    def n_partitions(self) -> int:
        """Ways to divide the units into sets of their sizes, or to flip pairs."""
        return 2 ** self.sizes[0] if self.matched else comb(sum(self.sizes), self.sizes[0])

    def list_partitions(self) -> Flags:
        """Return (n_partitions, n_units) whether each unit is of the first set, or whether each pair stays as it is."""
        n_first, n = self.sizes[0], self.numbers.max() + 1
        if self.matched:
            return np.asarray(np.arange(self.n_partitions)[:, None] >> np.arange(n) & 1, dtype=bool)
        chosen = np.zeros((self.n_partitions, n), dtype=bool)
        np.put_along_axis(chosen, np.array([*combinations(range(n), n_first)]), True, axis=1)
        return chosen

    def draw_partitions(self, n: int, rng: np.random.Generator) -> Flags:
        """Return (n, n_units) labels as `list_partitions` does, drawn at random."""
        return rng.integers(2, size=(n, self.sizes[0])).astype(bool) if self.matched else deal(*self.sizes, n, rng)

    def label_words(self, partitions: Flags) -> Flags:
        """Return (n, n_words) whether each word is of the first set in each of these partitions."""
        of_words = partitions[:, self.numbers]
        return np.asarray(of_words == self.is_first if self.matched else of_words)

    def relabel(self, n: int, rng: np.random.Generator) -> Flags:
        """Return (n, n_words) whether each word is of the first set after a random relabeling of the units."""
        drawn = self.draw_partitions(n, rng)
        return self.label_words(~drawn if self.matched else drawn)

    def test(self, scores: FloatArray, *, statistic: str, **how: Any) -> PermutationTest:
        """Test the scores of words, (n_first + n_second,): units change sets, or members of pairs change places.

        `how` are other arguments of `permutation_test_of_scores` and `sign_flip_test`.
        """
        if self.matched:
            return sign_flip_test(self.subtract(scores), **how)
        first, second = np.split(self.average(scores), self.sizes[:1])
        return permutation_test_of_scores(first, second, statistic=statistic, **how)

    def leave_one_out(self) -> list[Counts]:
        """Return which words remain without each unit, (n_units, n_words), for each sample: of a set, or of pairs."""
        of_sets = self.first, self.second
        kept = [np.arange(n)[:, None] != np.array(of) for n, of in zip(self.sizes, of_sets, strict=True)]
        if self.matched:
            return [np.hstack(kept).astype(np.float64)]
        whole = [np.ones((n, len(of))) for n, of in zip(self.sizes, reversed(of_sets), strict=True)]
        return [np.hstack([kept[0], whole[0]]), np.hstack([whole[1], kept[1]])]

    def draw(self, n_resamples: int, rngs: Sequence[np.random.Generator]) -> Counts:
        """Return (n_resamples, n_words), how often each word counts where units are drawn with replacement.

        A generator draws for the first set, and another for the second; pairs are drawn by the first.
        """
        first, second = (draw_counts(n, n_resamples, rng) for n, rng in zip(self.sizes, rngs, strict=True))
        return np.hstack([first[:, self.first], (first if self.matched else second)[:, self.second]])


def _number_units(words: Sequence[str], clusters: Mapping[str, str]) -> tuple[int, ...]:
    numbers: dict[object, int] = {}
    return tuple(numbers.setdefault(clusters.get(word, place), len(numbers)) for place, word in enumerate(words))


def draw_counts(n: int, n_resamples: int, rng: np.random.Generator) -> Counts:
    """Return (n_resamples, n), how often each of `n` is drawn in `n` draws with replacement."""
    chosen = rng.integers(n, size=(n_resamples, n)) + n * np.arange(n_resamples)[:, None]
    return np.bincount(chosen.ravel(), minlength=n * n_resamples).reshape(n_resamples, n).astype(np.float64)


def matched_effect_size(differences: FloatArray) -> float | None:
    """Return the mean difference within pairs over its standard deviation (n - 1), Cohen's d_z (1988, section 2.3.5).

    None for fewer than 8 pairs, and if all differ by the same amount.
    """
    spread = float(differences.std(ddof=1)) if differences.size >= 8 else 0.0
    return float(differences.mean()) / spread if spread > 0 else None


# --------------------
# Corrections for many tests: a table of hundreds of p-values has small ones by chance.
#
# - `holm`: the chance that at least one rejected hypothesis is true stays below alpha, whatever the dependence between
#   tests (Holm 1979).
# - `benjamini_hochberg`: the expected share of true hypotheses among the rejected ones stays below alpha, if tests are
#   independent or positively dependent (Benjamini and Hochberg 1995).
#
# Both give adjusted p-values: reject at alpha or less. A missing p (NaN or None) does not count as a test.


def holm(p: npt.ArrayLike) -> FloatArray:
    """Return (n,) p-values adjusted by Holm's method (1979); NaN stays NaN and does not count.

    The i-th smallest of m is multiplied by m - i + 1, raised to the one before it, and cut at 1.
    Equal p-values stay equal. Raises `InputError` for numbers outside [0, 1].
    """
    return _adjusted(p, lambda ordered, ranks: np.maximum.accumulate(ordered * (ranks.size - ranks + 1)))


def benjamini_hochberg(p: npt.ArrayLike) -> FloatArray:
    """Return (n,) p-values adjusted by the method of Benjamini and Hochberg (1995); NaN stays NaN and does not count.

    The i-th smallest of m is multiplied by m / i, lowered to the one after it, and cut at 1. Equal p-values stay equal.
    Raises `InputError` for numbers outside [0, 1].
    """
    return _adjusted(p, lambda ordered, ranks: np.minimum.accumulate((ordered * (ranks.size / ranks))[::-1])[::-1])


def _adjusted(p: npt.ArrayLike, adjust: Callable[[FloatArray, FloatArray], FloatArray]) -> FloatArray:
    """Adjust the p-values that are there, in ascending order with their ranks from 1, and put them back."""
    try:
        given = np.asarray(p, dtype=np.float64)
    except (TypeError, ValueError):
        given = np.empty((0, 0))
    if given.ndim != 1 or ((given < 0) | (given > 1)).any():
        raise InputError(f"p: {p!r:.80}. Give (n,) p-values from 0 to 1, NaN for those that are missing.")
    result = np.full(given.shape, np.nan)
    present = np.flatnonzero(~np.isnan(given))
    order = present[np.argsort(given[present], kind="stable")]
    result[order] = np.minimum(adjust(given[order], np.arange(1.0, order.size + 1)), 1.0)
    return result


# --------------------
# How many words are enough for one test.


ALPHA, _POWER = 0.05, 0.8
"""The p at which an effect counts as found, and how often it should be found."""


@lru_cache
def find_detectable_difference(
    n_x: int, n_y: int, *, alternative: str = "two-sided", alpha: float = ALPHA
) -> float | None:
    """Return the difference of means, in standard deviations within sets, that 80% of tests of words find.

    By the noncentral t distribution with n_x + n_y - 2 degrees of freedom (Cohen 1988, chapter 2), which the
    permutation test follows closely. If few words allow few values of p, the largest one of at most `alpha` counts.
    None if no partition is rare enough: 3 and 3 words have 20, and p is never below 2 / 20. The rule of a finding asks
    for more (`prasanga.stats.strength`).
    """
    from scipy.special import nctdtr, stdtrit  # here, because it takes longer to import than the rest of the package

    two_sided = alternative == "two-sided"
    # p is a count of partitions over their number. The mirror image of a partition of equal sets counts with it.
    together, total = 2 if two_sided and n_x == n_y else 1, comb(n_x + n_y, n_x)
    # With this many partitions, rounding p down to an attainable value changes nothing.
    attained = alpha if total > 10**9 else int(alpha * total / together + 1e-9) * together / total
    if attained == 0:
        return None
    freedom, per_root = n_x + n_y - 2, math.sqrt(n_x * n_y / (n_x + n_y))
    bound = float(stdtrit(freedom, 1 - (attained / 2 if two_sided else attained)))

    def found(difference: float) -> float:
        shift = difference * per_root
        beyond = 1 - float(nctdtr(freedom, shift, bound))
        return beyond + float(nctdtr(freedom, shift, -bound)) if two_sided else beyond

    low, high = 0.0, 1.0
    while found(high) < _POWER:
        low, high = high, 2 * high
    while low < (middle := (low + high) / 2) < high:
        low, high = (middle, high) if found(middle) < _POWER else (low, middle)
    return high


def find_detectable_shift(
    row: Mapping[str, Any], n_words: int, n_contexts: int, *, alternative: str, alpha: float
) -> float | None:
    """Return the shift that 80% of studies with these words per set and contexts per word find, by noncentral t.

    It passes the tests of both sides at `alpha` and the interval over words; the comparison with random copies is left
    out. Half of the variance from contexts belongs to the targets.

    Args:
        row: an estimate of CEAT with its components of variance (`variance_components`).
        n_words: in each set.
        n_contexts: of each word.
        alternative: of the tests.
        alpha: level of the tests.

    Returns:
        In standard deviations of the word scores that `row` rests on; None if no p is as small as `alpha`.
    """
    words, attributes, contexts = (max(row[f"variance_{name}"], 0.0) for name in ("words", "attributes", "contexts"))
    n_now, n_attributes = (2 / (1 / row[f"n_{a}"] + 1 / row[f"n_{b}"]) for a, b in ("xy", "ab"))
    unit = math.sqrt((words + contexts / 2 / row["contexts_min"]) * n_now / 2)
    targets, others = ((words, n_now), (attributes, n_attributes))
    errors = [(own + contexts / 2 / n_contexts) * n / n_words for own, n in (targets, others)]
    tested, included = (
        find_detectable_difference(n_words, n_words, alternative=side, alpha=level)
        for side, level in ((alternative, alpha), ("two-sided", ALPHA))
    )
    if tested is None or included is None or not unit:
        return None
    return max(tested * math.sqrt(max(errors)), included * math.sqrt(sum(errors))) * math.sqrt(n_words / 2) / unit
