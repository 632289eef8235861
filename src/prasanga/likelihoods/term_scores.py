"""Scores of sentences from those of the terms that stand in them, and how they move when the terms change.

A set of terms has one score in a sentence. With `log-sum-exp` the terms' probabilities are added, fill and prior alike,
and the logarithm of the ratio is taken; with `mean` the corrected scores, which are logarithms, are averaged:

    log-sum-exp    log(sum of p_target over the terms) - log(sum of p_prior over the terms)
    mean           mean over the terms of log(p_target / p_prior)

The score of a sentence is that of the first set minus that of the second. Words of the attributes, with all their
sentences, are what the test permutes; terms may be resampled, dealt anew or left out, and are then counted anew: what
counts twice has twice the probability.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from prasanga.associations.checking import choice
from prasanga.associations.cosines import Cosines, Counts
from prasanga.associations.effects import STD_CONVENTIONS
from prasanga.associations.shuffles import ShuffledControl
from prasanga.associations.vectors import FloatArray

TERMS = ("log-sum-exp", "mean")
"""How the terms of a set become one score (`log_probability.terms`)."""

SCORE_NOISE = 1e-5
"""Models say their log-probabilities to some 1e-6: a spread of scores as small as this is rounding."""

# Effects closer than this, relative to the observed one, are ties, as in `associations.shuffles`.
_TIE = 1e-9
_BLOCK = 2**21  # numbers of one block of replicates


def combined(scores: npt.ArrayLike, terms: str = "log-sum-exp") -> float:
    """One score of several terms, from their log-probabilities (n,): of their sum, or the mean of them."""
    array = np.asarray(scores, dtype=np.float64)
    choice("log_probability.terms", terms, TERMS)
    return float(array.mean() if terms == "mean" else _log_sum(array[None], np.ones((1, array.size)))[0, 0])


@dataclass(frozen=True, eq=False)
class TermScores:
    """Log-probabilities of all terms in all sentences of a category.

    Attributes:
        fill: (n_sentences, n_terms); sentences of the first attribute set before those of the second, terms of the
            first target set before those of the second.
        prior: the same, with the attribute masked as well.
        words: (n_sentences,) the attribute word of each sentence, those of the first set numbered first.
        n_first: terms of the first target set.
        n_a: words of the first attribute set; likewise `n_b` of the second.
        terms: log-sum-exp or mean.
    """

    fill: FloatArray
    prior: FloatArray
    words: npt.NDArray[np.int64]
    n_first: int
    n_a: int
    n_b: int
    terms: str = "log-sum-exp"

    @property
    def n_terms(self) -> int:
        """Terms of both sets."""
        return int(self.fill.shape[1])

    @property
    def n_words(self) -> int:
        """Attribute words of both sets."""
        return self.n_a + self.n_b

    @cached_property
    def sentence_scores(self) -> FloatArray:
        """(n_sentences,), the score of the first set minus that of the second."""
        return np.asarray(self.scores_of(np.ones((1, self.n_terms)))[0])

    def set_scores(self, which: str) -> tuple[FloatArray, FloatArray]:
        """(n_sentences,) of each set: `fill`, `prior`, or `corrected`, their difference."""
        if which == "corrected":
            fill, prior = self.set_scores("fill"), self.set_scores("prior")
            return fill[0] - prior[0], fill[1] - prior[1]
        scores = getattr(self, which)
        first, second = (self._combined(part, np.ones((1, part.shape[1])))[0] for part in self._sides(scores))
        return first, second

    def scores_of(self, counts: Counts) -> FloatArray:
        """(n_replicates, n_sentences) scores with the terms counted as (n_replicates, n_terms) says."""
        return self._of_sides(*self._sides(self.fill), *self._sides(self.prior), *self._sides(counts))

    def dealt(self, in_first: npt.NDArray[np.bool_]) -> FloatArray:
        """(n_replicates, n_sentences) scores with the terms dealt into two sets, (n_replicates, n_terms)."""
        first = in_first.astype(np.float64)
        return self._of_sides(self.fill, self.fill, self.prior, self.prior, first, 1 - first)

    def as_cosines(self) -> tuple[Cosines, float]:
        """These scores in the place of cosines, and what their values were divided by to lie within [-1, 1].

        X and Y are the two attribute sets, each word with its sentences, A and B the two target sets. An effect size
        does not depend on the scale. With `mean` the values are the terms' corrected scores. With `log-sum-exp` they
        are each term's share in the score, s + n (p_fill / sum of p_fill - p_prior / sum of p_prior) for a set of n
        terms with score s: their mean is the score, and to first order they say how it moves when terms are counted
        anew (empirical influence values, Efron 1982).
        """
        parts = []
        for fill, prior in zip(self._sides(self.fill), self._sides(self.prior), strict=True):
            if self.terms == "mean":
                parts.append(fill - prior)
            else:
                ones = np.ones((1, fill.shape[1]))
                score = self._combined(fill, ones)[0] - self._combined(prior, ones)[0]
                parts.append(score[:, None] + fill.shape[1] * (_shares(fill) - _shares(prior)))
        values = np.concatenate(parts, axis=1)
        scale = float(np.exp2(np.ceil(np.log2(max(float(np.abs(values).max()), 1e-300)))))  # exact in binary
        numbers = np.arange(self.n_terms)
        n_second = self.n_terms - self.n_first
        return Cosines((values / scale)[None], self.words, numbers, self.n_a, self.n_b, self.n_first, n_second), scale

    def effects(
        self, word_counts: Counts | None = None, term_counts: Counts | None = None, std: str = "union_ddof1"
    ) -> FloatArray:
        """(n_replicates,) effect sizes with attribute words and terms counted several times or not at all.

        Every word weighs the same, however many sentences it has, as in `Cosines.effects`, which this equals for
        `mean`; NaN where an effect does not exist.
        """
        choice("std", std, STD_CONVENTIONS)
        n = max(1 if given is None else len(given) for given in (word_counts, term_counts))
        words = np.ones((1, self.n_words)) if word_counts is None else np.asarray(word_counts, dtype=np.float64)
        terms = np.ones((1, self.n_terms)) if term_counts is None else np.asarray(term_counts, dtype=np.float64)
        rows = max(1, _BLOCK // max(1, self.fill.shape[0]))
        found = []
        for start in range(0, n, rows):
            block = [part if len(part) == 1 else part[start : start + rows] for part in (words, terms)]
            with np.errstate(divide="ignore", invalid="ignore"):
                found.append(self._effects_of(block[0], self.scores_of(block[1]), std))
        return np.concatenate(found)

    def without_each(self, std: str = "union_ddof1") -> FloatArray:
        """(n_words + n_terms,) the effect without each attribute word, without each term; NaN where there is none."""
        kept = 1.0 - np.eye(self.n_words + self.n_terms)
        return self.effects(kept[:, : self.n_words], kept[:, self.n_words :], std)

    def shuffled(self, n_shuffles: int, rng: np.random.Generator, std: str = "union_ddof1") -> ShuffledControl:
        """A null control as `associations.shuffles`: the terms dealt anew, over the spread of the real sets.

        If an effect belongs to what the two target sets mean, it should vanish when their terms are mixed.
        """
        observed = float(self.effects(std=std)[0])
        spread = self._difference(self.sentence_scores[None])[0] / observed
        order = np.tile(np.arange(self.n_terms), (n_shuffles, 1))
        in_first = rng.permuted(order, axis=1) < self.n_first
        effects = self._difference(self.dealt(in_first)) / spread
        count = int(np.count_nonzero(np.abs(effects) >= abs(observed) * (1 - _TIE)))
        low, high = np.quantile(effects, [0.025, 0.975])
        return ShuffledControl(float(low), float(high), (count + 1) / (n_shuffles + 1))

    def term_associations(self) -> FloatArray:
        """(n_terms,) mean corrected score of each term over the first attribute set's words minus the second's."""
        return np.asarray(self._difference((self.fill - self.prior).T))

    def _sides(self, array: FloatArray) -> tuple[FloatArray, FloatArray]:
        return array[:, : self.n_first], array[:, self.n_first :]

    def _of_sides(
        self,
        fill_1: FloatArray,
        fill_2: FloatArray,
        prior_1: FloatArray,
        prior_2: FloatArray,
        counts_1: Counts,
        counts_2: Counts,
    ) -> FloatArray:
        first = self._combined(fill_1, counts_1) - self._combined(prior_1, counts_1)
        return first - (self._combined(fill_2, counts_2) - self._combined(prior_2, counts_2))

    def _combined(self, scores: FloatArray, counts: Counts) -> FloatArray:
        """(n_replicates, n_sentences) from the (n_sentences, n) log-probabilities of a set's terms."""
        if self.terms == "mean":
            with np.errstate(invalid="ignore"):
                return np.asarray(counts @ scores.T / counts.sum(axis=1, keepdims=True))
        return _log_sum(scores, counts)

    @cached_property
    def _by_word(self) -> FloatArray:
        """(n_sentences, n_words): 1 where a sentence is the word's, divided by how many are."""
        belongs = self.words[:, None] == np.arange(self.n_words)
        return np.asarray(belongs / belongs.sum(axis=0))

    def _difference(self, scores: FloatArray) -> FloatArray:
        """(n,) mean over the words of the first attribute set minus the second's, of (n, n_sentences) scores."""
        of_words = scores @ self._by_word
        return np.asarray(of_words[:, : self.n_a].mean(axis=1) - of_words[:, self.n_a :].mean(axis=1))

    def _effects_of(self, counts: Counts, scores: FloatArray, std: str) -> FloatArray:
        """Effects as `Cosines` computes them: of one word together as of any other, of all together their number."""
        n_items = np.bincount(self.words).astype(np.float64)
        per_word = (counts @ n_items) / counts.sum(axis=1)
        weights = per_word[:, None] * (counts / n_items)[:, self.words]
        first = self.words < self.n_a
        sizes = weights[:, first].sum(axis=1), weights[:, ~first].sum(axis=1)
        means = (
            (weights * scores)[:, first].sum(axis=1) / sizes[0],
            (weights * scores)[:, ~first].sum(axis=1) / sizes[1],
        )
        total = sizes[0] + sizes[1]
        if std == "pooled":
            middle = np.where(first, means[0][:, None], means[1][:, None])
            freedom = total - 2
        else:
            middle = ((sizes[0] * means[0] + sizes[1] * means[1]) / total)[:, None]
            freedom = total - (std == "union_ddof1")
        spread = np.sqrt((weights * np.square(scores - middle)).sum(axis=1) / freedom)
        return np.asarray(np.where(spread > 0, (means[0] - means[1]) / spread, np.nan))


def _log_sum(scores: FloatArray, counts: Counts) -> FloatArray:
    """(n_replicates, n_sentences) logarithms of counts times the exponentials of (n_sentences, n) scores, summed."""
    largest = scores.max(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(counts @ np.exp(scores - largest[:, None]).T) + largest
    return np.asarray(np.where(np.isfinite(logs), logs, np.nan))


def _shares(scores: FloatArray) -> FloatArray:
    """(n_sentences, n) shares of the terms in the sum of their probabilities."""
    probabilities = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(probabilities / probabilities.sum(axis=1, keepdims=True))
