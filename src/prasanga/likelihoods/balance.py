"""Bias percentage with both labels weighted alike, and the exact test of the label.

In most sets the stereotypical sentence comes first in most pairs. A model that prefers first sentences, whatever they
say, then has a bias percentage above 50. Within a bias type t, let p_t,stereo and p_t,anti be the shares of pairs of
either label in which the first sentence scores higher, ties left out. For such a model their difference D_t is zero;
50 + 50 D_t is the mean of both labels' bias percentages.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import stats

from prasanga.stats.random_effects import Z_95

_TIE = 1e-9


class LabelCounts(NamedTuple):
    """Pairs of one bias type in which the first sentence scores higher, and untied pairs, for each label."""

    first_stereo: int
    n_stereo: int
    first_anti: int
    n_anti: int

    @property
    def has_both(self) -> bool:
        """Whether there are pairs of both labels."""
        return self.n_stereo > 0 and self.n_anti > 0


class Balanced(NamedTuple):
    """A balanced percentage, its 95% interval in percent, and p of the label; None without pairs of both labels."""

    percentage: float | None
    low: float | None
    high: float | None
    p_value: float | None


def balance(types: Sequence[LabelCounts]) -> Balanced:
    """Return the balanced percentage over bias types, with its interval and the exact test of the label.

    The difference is D = sum v_t D_t, v_t proportional to n_t,stereo n_t,anti / (n_t,stereo + n_t,anti). Its interval
    combines those of Newcombe's method 10 (1998) for each D_t, and never leaves 0 to 100. The hypothesis of the test is
    that within each type the first sentence wins equally often under both labels. Given the margins, the stereo pairs
    in which it wins are then a sum of independent hypergeometric variables; p is two-sided by the distance of their
    number from its expectation.

    Args:
        types: counts of each bias type; a type with one label says nothing and is left out.
    """
    types = [counts for counts in types if counts.has_both]
    if not types:
        return Balanced(None, None, None, None)
    weights = np.array([of.n_stereo * of.n_anti / (of.n_stereo + of.n_anti) for of in types])
    weights /= weights.sum()
    differences, lows, highs = np.array([_difference(counts) for counts in types]).T
    difference = float(weights @ differences)
    below = math.sqrt(float(np.sum((weights * (differences - lows)) ** 2)))
    above = math.sqrt(float(np.sum((weights * (highs - differences)) ** 2)))
    ends = (max(-1.0, difference - below), min(1.0, difference + above))
    return Balanced(50 + 50 * difference, 50 + 50 * ends[0], 50 + 50 * ends[1], label_p_value(types))


def _difference(counts: LabelCounts) -> tuple[float, float, float]:
    """Return the difference of both shares with its ends (Newcombe 1998, method 10, from Wilson's intervals)."""
    stereo, stereo_low, stereo_high = _wilson(counts.first_stereo, counts.n_stereo)
    anti, anti_low, anti_high = _wilson(counts.first_anti, counts.n_anti)
    difference = stereo - anti
    return (
        difference,
        difference - math.hypot(stereo - stereo_low, anti_high - anti),
        difference + math.hypot(stereo_high - stereo, anti - anti_low),
    )


def _wilson(count: int, n: int) -> tuple[float, float, float]:
    """Return a share with the ends of Wilson's 95% interval (1927), without correction for continuity."""
    share, square = count / n, Z_95**2
    middle = (share + square / (2 * n)) / (1 + square / n)
    half = Z_95 * math.sqrt(share * (1 - share) / n + square / (4 * n * n)) / (1 + square / n)
    return share, min(share, middle - half), max(share, middle + half)


def label_p_value(types: Sequence[LabelCounts]) -> float:
    """Return the exact two-sided p of the label (see `balance`), over types that have both labels."""
    offset, expected, observed = 0, 0.0, 0
    distribution: npt.NDArray[np.float64] = np.ones(1)
    for of in types:
        n, wins = of.n_stereo + of.n_anti, of.first_stereo + of.first_anti
        support = np.arange(max(0, wins - of.n_anti), min(of.n_stereo, wins) + 1)
        chances = stats.hypergeom(n, of.n_stereo, wins).pmf(support)
        known = np.flatnonzero(chances > 0)  # far tails are zero, and a short array is quickly convolved
        support, chances = support[known[0] : known[-1] + 1], chances[known[0] : known[-1] + 1]
        distribution = np.convolve(distribution, chances)
        offset += int(support[0])
        expected += of.n_stereo * wins / n
        observed += of.first_stereo
    distances = np.abs(np.arange(len(distribution)) + offset - expected)
    far = distances >= abs(observed - expected) - _TIE * max(1.0, expected)
    return min(1.0, float(distribution[far].sum()))
