"""Scores of every target item with every attribute item, from which an effect is computed again and again.

The scores of a category are cosines (WEAT, SEAT, CEAT) or log-probabilities. Intervals, leave-one-out effects and
shuffled attributes need nothing else. An item has its own scores: a word (WEAT), a word in a context (CEAT, one per
draw), or a sentence (SEAT, several per word). Resampling moves a word with all its items, and every word has the same
weight, however many items it has. So the effect and the permutation test of words are about the same difference.

A replicate counts each word twice, once or not at all. One matrix product gives the scores of many replicates, another
their means and variances, in blocks that fit into the CPU's cache.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from prasanga.stats.effects import (
    COSINE_NOISE,
    DENOMINATORS,
    ConstantScoresError,
    FloatArray,
    IndexArray,
    generator_from,
    spreads_and_effects,
)

Counts: TypeAlias = npt.NDArray[np.float64]
"""How often each word (or draw) counts, (n_replicates, n_words)."""

_BLOCK = 2**20  # bytes of the scores of one block of replicates


class CountedScores(Protocol):
    """Scores that give effects with words counted several times, or dealt into other sets."""

    @property
    def n_targets(self) -> int:
        """Words of X and Y together."""

    @property
    def n_attributes(self) -> int:
        """Words of A and B together."""

    def effects(
        self, target_counts: Counts | None = None, attribute_counts: Counts | None = None, *, std: str = "union_ddof1"
    ) -> FloatArray:
        """Return (n_replicates,) effect sizes with words counted several times or not at all."""

    def shuffled_effects(self, n_shuffles: int, rng: np.random.Generator | int | None, std: str) -> FloatArray:
        """Return (n_shuffles,) effects with the attribute words dealt at random into sets as large as A and B."""


@dataclass(frozen=True, eq=False)
class CrossedScores:
    """Scores of targets with attributes, and to which word each item belongs.

    Attributes:
        values: (n_draws, n_target_items, n_attribute_items); X before Y, A before B.
        targets: (n_target_items,) the word of each item: 0 to n_x - 1 in X, from n_x on in Y.
        attributes: (n_attribute_items,) the same for A and B.
        n_x: words of X; likewise `n_y`, `n_a`, `n_b`.
        noise: a spread of scores as small as this is rounding. It depends on the unit: 1e-13 for cosines.
    """

    values: FloatArray
    targets: IndexArray
    attributes: IndexArray
    n_x: int
    n_y: int
    n_a: int
    n_b: int
    noise: float = COSINE_NOISE

    @classmethod
    def of_words(cls, values: FloatArray, sizes: Iterable[int]) -> CrossedScores:
        """Return the scores of words that are one item each, from their `values` and the `sizes` of X, Y, A and B."""
        n_x, n_y, n_a, n_b = sizes
        return cls(values, np.arange(n_x + n_y), np.arange(n_a + n_b), n_x, n_y, n_a, n_b)

    @property
    def n_draws(self) -> int:
        """Draws; one for WEAT and SEAT."""
        return len(self.values)

    @property
    def sizes(self) -> tuple[int, int, int, int]:
        """Words of X, Y, A and B."""
        return self.n_x, self.n_y, self.n_a, self.n_b

    @property
    def n_targets(self) -> int:
        """Words of X and Y together."""
        return self.n_x + self.n_y

    @property
    def n_attributes(self) -> int:
        """Words of A and B together."""
        return self.n_a + self.n_b

    def item_scores(self) -> FloatArray:
        """Return the association s(item, A, B) of each item in each draw, (n_draws, n_target_items).

        Every word of A weighs the same, and so does every word of B.
        """
        n_words = np.where(self.attributes < self.n_a, self.n_a, -self.n_b)
        return self.values @ (1 / (n_words * np.bincount(self.attributes)[self.attributes]))

    def spreads(self, std: str = "union_ddof1") -> FloatArray:
        """Return (n_draws,) the denominator of the effect size of each draw, NaN where all scores are the same."""
        ((_, spreads),) = self._replicates(None, None, None, std)
        return np.asarray(spreads[0])

    def word_scores(self) -> FloatArray:
        """Return (n_targets,), the mean association of each target word over its items and the draws, X before Y."""
        of_items = self.item_scores().mean(axis=0)
        return np.bincount(self.targets, of_items) / np.bincount(self.targets)

    def split(self, unit: str = "word") -> tuple[list[FloatArray], list[FloatArray]]:
        """Return the scores that are permuted: associations of X and of Y, and contributions of A and of B.

        X and Y have a score per word, or per item for the unit `sentence`.
        """
        if unit == "word":
            targets = np.split(self.word_scores(), [self.n_x])
        else:
            targets = np.split(self.item_scores()[0], [self._n_x_items])
        return targets, np.split(contributions(self), [self.n_a])

    def effect(self, std: str = "union_ddof1") -> float:
        """Return the effect size, each word counted once: the mean over draws.

        Raises `InputError` for an unknown `std` or too few words for it, and `ConstantScoresError`.
        """
        if self.targets.size == self.n_targets:
            return float(spreads_and_effects(self.item_scores(), self._n_x_items, std, noise=self.noise)[1].mean())
        effect = float(self.effects(std=std)[0])
        if np.isnan(effect):
            raise ConstantScoresError("All words have the same association, so that there is no effect size.")
        return effect

    def effects(
        self,
        target_counts: Counts | None = None,
        attribute_counts: Counts | None = None,
        draw_counts: Counts | None = None,
        std: str = "union_ddof1",
    ) -> FloatArray:
        """Return (n_replicates,) effect sizes with words counted several times or not at all.

        Args:
            target_counts: (n_replicates, n_targets), X before Y; None counts every word once.
            attribute_counts: (n_replicates, n_attributes), A before B; None counts every word once.
            draw_counts: (n_replicates, n_draws); None counts every draw once.
            std: see `effects.effect_size`; a word that counts twice is two words.

        Returns:
            NaN where an effect does not exist: a set without words, or scores that are all the same.
        """
        blocks = self._replicates(target_counts, attribute_counts, draw_counts, std)
        return np.concatenate([effects for effects, _ in blocks])

    def shuffled_effects(
        self, n_shuffles: int, rng: np.random.Generator | int | None = None, std: str = "union_ddof1"
    ) -> FloatArray:
        """Return (n_shuffles,) effects with the attribute words dealt at random into sets as large as A and B.

        A word moves with all its items. Each draw is divided by its spread with the real A and B, by the convention
        `std`. With that spread fixed, an effect is linear in the scores: each attribute word adds its own share.

        Raises:
            ConstantScoresError: all words have the same association.
        """
        spreads = self.spreads(std)
        if np.isnan(spreads).any():
            raise ConstantScoresError("All words have the same association: there is no spread to divide by.")
        in_a = deal(self.n_a, self.n_b, n_shuffles, generator_from(rng))
        of_words = contributions(replace(self, values=self.values / spreads[:, None, None]))
        return np.asarray(in_a @ of_words / self.n_a - ~in_a @ of_words / self.n_b)

    @cached_property
    def _n_x_items(self) -> int:
        return int((self.targets < self.n_x).sum())

    @cached_property
    def _by_word(self) -> FloatArray:
        """(n_draws * n_target_items, n_attributes), mean cosines over the items of each attribute word.

        Less their mean over targets, which cancels in an effect: sums of squares then lose no digits.
        """
        n_items = np.bincount(self.attributes)
        if (n_items == 1).all():
            means = self.values[:, :, np.argsort(self.attributes)]
        else:
            means = self.values @ ((self.attributes[:, None] == np.arange(self.n_attributes)) / n_items)
        means = means - means.mean(axis=1, keepdims=True)
        return np.ascontiguousarray(means.reshape(-1, self.n_attributes))

    def _replicates(
        self, target_counts: Counts | None, attribute_counts: Counts | None, draw_counts: Counts | None, std: str
    ) -> Iterator[tuple[FloatArray, FloatArray]]:
        """Yield effects (n_replicates,) and denominators of draws (n_replicates, n_draws) in blocks."""
        given = (target_counts, attribute_counts, draw_counts)
        sizes = (self.n_targets, self.n_attributes, self.n_draws)
        once = [np.ones((1, n)) for n in sizes]
        n_replicates = max((len(counts) for counts in given if counts is not None), default=1)
        rows = max(1, _BLOCK // (8 * self.n_draws * self.targets.size))
        for start in range(0, n_replicates, rows):
            block = [c if g is None else g[start : start + rows] for g, c in zip(given, once, strict=True)]
            with np.errstate(divide="ignore", invalid="ignore"):
                replicates = self._compute(block[0], block[1], block[2], std)
            yield replicates

    def _compute(self, targets: Counts, attributes: Counts, draws: Counts, std: str) -> tuple[FloatArray, FloatArray]:
        shares = contrast(attributes, np.arange(self.n_attributes) < self.n_a)
        scores = (shares @ self._by_word.T).reshape(-1, self.n_draws, self.targets.size)
        weights = weigh_items(self.targets, targets)
        of_draws, spreads = effects_of_items(scores, weights, self._n_x_items, std, noise=self.noise)
        # A draw that does not count may lack an effect.
        counted = np.where(draws > 0, of_draws * draws, 0.0)
        return counted.sum(axis=1) / draws.sum(axis=1), spreads


def contrast(counts: Counts | npt.NDArray[np.bool_], is_first: npt.NDArray[np.bool_]) -> FloatArray:
    """Return (R, n) weights of words in the mean of the first set minus the mean of the second.

    `counts` says how often each word counts, (R, n); `is_first`, (n,) or (R, n), whether it is of the first set.
    """
    first, second = counts * is_first, counts * ~is_first
    return np.asarray(first / first.sum(axis=-1, keepdims=True) - second / second.sum(axis=-1, keepdims=True))


def weigh_items(words: IndexArray, counts: Counts) -> Counts:
    """Return (R, n_items) weights of items: each word has the same total, and all weights add up to the items' number.

    `words` are the (n_items,) words of the items, `counts` says how often each word counts, (R, n_words).
    """
    n_items = np.bincount(words)
    per_word = (counts @ n_items) / counts.sum(axis=1)
    return np.asarray(per_word[:, None] * (counts / n_items)[:, words])


def effects_of_items(
    scores: FloatArray, weights: Counts, n_first: int, std: str, *, noise: float = 0.0
) -> tuple[FloatArray, FloatArray]:
    """Return effect sizes of items that count by their weights, and the denominators of these: (R, n_draws) each.

    Args:
        scores: (R, n_draws, n_items) associations; R may be 1.
        weights: (R, n_items), together the number of items; R may be 1.
        n_first: items of the first set, which come before the others.
        std: convention of the denominator (`effect_size`).
        noise: a spread as small as this is rounding; denominator and effect are then NaN.
    """
    size_x, size_y = (part.sum(axis=1)[:, None] for part in (weights[:, :n_first], weights[:, n_first:]))
    halves = np.zeros((*weights.shape, 2))
    halves[:, :n_first, 0], halves[:, n_first:, 1] = weights[:, :n_first] / size_x, weights[:, n_first:] / size_y
    means = scores @ halves  # (R, n_draws, 2)
    within_sets, lost = DENOMINATORS[std]
    if within_sets:
        deviations = np.empty(np.broadcast_shapes(scores.shape, (len(means), 1, 1)))
        np.subtract(scores[..., :n_first], means[..., :1], out=deviations[..., :n_first])
        np.subtract(scores[..., n_first:], means[..., 1:], out=deviations[..., n_first:])
    else:
        middle = (size_x * means[..., 0] + size_y * means[..., 1]) / (size_x + size_y)
        deviations = scores - middle[..., None]
    spreads = np.sqrt((np.square(deviations) @ weights[..., None])[..., 0] / (size_x + size_y - lost))
    spreads[~(spreads > noise)] = np.nan
    return (means[..., 0] - means[..., 1]) / spreads, spreads


def deal(n_first: int, n_second: int, n: int, rng: np.random.Generator) -> npt.NDArray[np.bool_]:
    """Return (n, n_first + n_second) whether each word is in the first set, dealt at random `n` times."""
    return rng.permuted(np.tile(np.arange(n_first + n_second) < n_first, (n, 1)), axis=1)


def leave_one_out(crossed: CountedScores, std: str = "union_ddof1") -> FloatArray:
    """Return (n_targets + n_attributes,) the effect size without each word and all its items, in the order X, Y, A, B.

    NaN if the word was the only one in its set, or if the scores of the others are all the same.
    """
    n = crossed.n_targets
    kept = 1.0 - np.eye(n + crossed.n_attributes)
    return crossed.effects(kept[:, :n], kept[:, n:], std=std)


def contributions(crossed: CrossedScores) -> FloatArray:
    """Return (n_attributes,) the mean cosine of each attribute word with X minus that with Y, A before B.

    The mean over A minus the mean over B is the numerator of the effect size.
    """
    n_items = np.bincount(crossed.targets)[crossed.targets]
    weights = 1 / (n_items * np.where(crossed.targets < crossed.n_x, crossed.n_x, -crossed.n_y))
    of_items = weights @ crossed.values.mean(axis=0)
    return np.bincount(crossed.attributes, of_items) / np.bincount(crossed.attributes)


class VarianceComponents(NamedTuple):
    """Parts of the variance of the difference of means in one draw: how much other words and contexts would change it.

    In squared crossed. Estimates are unbiased, so a part near zero may come out below 0.
    """

    words: float
    """Of target words: the variance of their associations, divided by their number."""
    attributes: float
    """Of attribute words, likewise."""
    contexts: float
    """Of the one context that each word has, targets and attributes together."""
    rest: float
    """Of the interaction between target and attribute words, and between their contexts."""


def variance_components(crossed: CrossedScores) -> VarianceComponents:
    """Return the components of variance of mean s over X - mean s over Y, words and contexts being random and crossed.

    By the method of moments (Henderson 1953, method 1; Cornfield and Tukey 1956), from sums of squares within draws,
    which share words and contexts, and from products between two draws, which share words only. With k_t for the target
    words' associations, k_a for the attribute words' `contributions` and k_r for the residuals of cosines without both,
    each over the numbers of words that the difference is a mean of,

        words = k_t - k_r between     attributes = k_a - k_r between     rest = k_r within
        contexts = (k_t - k_r within) + (k_a - k_r within) - words - attributes

    Their sum is the variance of the difference over studies with other words, each word in one other context.

    `crossed` has two draws or more, with other contexts of all words in each, two words or more in each set, and one
    item per word.
    """
    sides = (crossed.n_x, crossed.n_y), (crossed.n_a, crossed.n_b)
    targets, attributes = (np.split(np.arange(sum(sizes)), [sizes[0]]) for sizes in sides)
    values = crossed.values
    x, y = (values[:, of_set].mean(axis=1) for of_set in targets)
    a, b = (values[:, :, of_set].mean(axis=2) for of_set in attributes)
    of_targets = [_within_and_between((a - b)[:, of_set]) for of_set in targets]
    of_attributes = [_within_and_between((x - y)[:, of_set]) for of_set in attributes]
    of_both = [_within_and_between(values[:, rows][:, :, columns]) for rows in targets for columns in attributes]
    words, others, rest = (np.sum(parts, axis=0) for parts in (of_targets, of_attributes, of_both))
    of_words, of_attribute_words = words[1] - rest[1], others[1] - rest[1]
    contexts = words[0] + others[0] - 2 * rest[0] - of_words - of_attribute_words
    return VarianceComponents(float(of_words), float(of_attribute_words), float(contexts), float(rest[0]))


def _within_and_between(values: FloatArray) -> FloatArray:
    """Return the mean product of deviations within a draw and between two, (2,), as parts of a mean's variance.

    Deviations are from the means over every axis but the first, the draws. Sums are divided by the degrees of freedom,
    and by the number of values.
    """
    axes = range(1, values.ndim)
    for axis in axes:
        values = values - values.mean(axis=axis, keepdims=True)
    n_draws, shape = len(values), np.array(values.shape[1:])
    squares, total = float(np.square(values).sum()), float(np.square(values.sum(axis=0)).sum())
    size = float(np.prod(shape - 1) * np.prod(shape))
    return np.array([squares / n_draws, (total - squares) / (n_draws * (n_draws - 1))]) / size
