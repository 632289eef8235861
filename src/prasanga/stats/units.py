"""Units of chance on one side of a category: what is permuted, left out and drawn again.

A unit is a word; a cluster of words that stand for one another (near-synonyms, inflected forms), whose score is the
mean of its words'; or, where the two sets of a side are matched, a pair of words, one of either set. The members of a
pair have as much in common as each other's score tells, so that the difference within pairs is what is tested. Where
matched words form clusters, these are of whole pairs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from prasanga.stats.crossed import Counts
from prasanga.stats.effects import FloatArray, IndexArray
from prasanga.stats.permutation import PermutationTest, permutation_test_of_scores, sign_flip_test

Flags: TypeAlias = npt.NDArray[np.bool_]

FEWEST_CLUSTERS = 4
"""Units that a set with clusters of words needs for a test."""


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
        """(n_words,) the unit of each word; those of the second set follow, unless the sets are matched."""
        return np.concatenate([self.first, np.array(self.second) + (0 if self.matched else self.sizes[0])]).astype(int)

    @property
    def is_first(self) -> Flags:
        """(n_words,) whether each word is of the first set."""
        return np.arange(len(self.first) + len(self.second)) < len(self.first)

    @cached_property
    def _belongs(self) -> FloatArray:
        """(n_words, n_units), 1 where a word is of a unit."""
        return np.asarray(self.numbers[:, None] == np.arange(self.numbers.max() + 1), dtype=np.float64)

    def average(self, scores: FloatArray) -> FloatArray:
        """Return (..., n_units) the scores of units, those of the first set first, from those of words."""
        return np.asarray(scores @ (self._belongs / self._belongs.sum(axis=0)))

    def subtract(self, scores: FloatArray, is_first: Flags | None = None) -> FloatArray:
        """Return (..., n) the difference within each unit of matched sets, first minus second.

        With `is_first`, (..., n_words), pairs have changed places.
        """
        is_first = self.is_first if is_first is None else is_first
        sides = (np.where(side, scores, 0) @ self._belongs / (side @ self._belongs) for side in (is_first, ~is_first))
        return np.asarray(np.subtract(*sides))

    def label(self, is_first: Flags) -> Flags:
        """Return (..., n_units) whether each unit is of the first set, from the same of words."""
        return np.asarray(is_first[..., np.unique(self.numbers, return_index=True)[1]])

    def relabel(self, n: int, rng: np.random.Generator) -> Flags:
        """Return (n, n_words) whether each word is of the first set after a random relabeling of the units."""
        n_first, n_second = self.sizes
        if self.matched:
            flipped = rng.integers(2, size=(n, n_first)).astype(bool)
            return np.asarray(self.is_first ^ flipped[:, self.numbers])
        of_units = rng.permuted(np.tile(np.arange(n_first + n_second) < n_first, (n, 1)), axis=1)
        return np.asarray(of_units[:, self.numbers])

    def test(
        self,
        scores: FloatArray,
        *,
        alternative: str,
        n_resamples: int,
        rng: np.random.Generator,
        statistic: str,
        noise: float,
    ) -> PermutationTest:
        """Test the scores of words, (n_first + n_second,): units change sets, or members of pairs change places.

        See `permutation_test_of_scores` and `sign_flip_test` for the arguments.
        """
        how = {"alternative": alternative, "n_resamples": n_resamples, "rng": rng, "noise": noise}
        if self.matched:
            return sign_flip_test(self.subtract(scores), **how)  # type: ignore[arg-type]
        first, second = np.split(self.average(scores), self.sizes[:1])
        return permutation_test_of_scores(first, second, statistic=statistic, **how)  # type: ignore[arg-type]

    def leave_one_out(self) -> list[Counts]:
        """Return which words are left without each unit, (n_units, n_words), for each sample: of a set, or of pairs."""
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
    """Return (n_resamples, n), how often each of `n` was drawn in `n` draws with replacement."""
    chosen = rng.integers(n, size=(n_resamples, n)) + n * np.arange(n_resamples)[:, None]
    return np.bincount(chosen.ravel(), minlength=n * n_resamples).reshape(n_resamples, n).astype(np.float64)


def matched_effect_size(differences: FloatArray) -> float | None:
    """Return the mean difference within pairs over its standard deviation (n - 1), Cohen's d_z (1988, section 2.3.5).

    None for fewer than 8 pairs, and where all differ by the same amount.
    """
    spread = float(differences.std(ddof=1)) if differences.size >= 8 else 0.0
    return float(differences.mean()) / spread if spread > 0 else None
