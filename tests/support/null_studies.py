"""Simulated studies whose truth is known: target words of one population, or of two that differ by a known shift.

A word has a vector of its own; its contexts (CEAT) and sentences (SEAT) scatter around it. The attribute words of A lie
to one side of a direction and those of B to the other, so that every word is associated with one of them more or less:
what there is not, without a shift, is a difference between X and Y.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from prasanga.associations.ceat import ceat
from prasanga.associations.effects import permutation_test
from prasanga.associations.vectors import compute_cosines
from prasanga.stats.crossed import CrossedScores
from prasanga.stats.permutation import permutation_test_of_scores

Floats = NDArray[np.float64]

DIMENSIONS = 8
CONTEXTS = 20
SENTENCES = 6
ATTRIBUTES = 4
_SHUFFLES = 199
"""Partitions drawn for a test of single sentences; its p is then a multiple of 1 / 200."""


class CeatP(NamedTuple):
    """What one simulated study of contexts says."""

    p_stimuli: float
    p_draws: float
    effect: float
    scores: Floats
    """(n_x + n_y,), mean associations of the target words."""


class SeatP(NamedTuple):
    """p of one simulated study of sentences, by what is permuted."""

    word: float
    sentence: float


def word_vectors(n: int, shift: float, rng: np.random.Generator) -> list[Floats]:
    """X, Y, A and B, (n_words, d) each, `n` words in a target set; those of X are moved by `shift` towards A."""
    towards = np.zeros(DIMENSIONS)
    towards[0] = 1
    x, y = rng.standard_normal((2, n, DIMENSIONS))
    a, b = rng.standard_normal((2, ATTRIBUTES, DIMENSIONS))
    return [x + shift * towards, y, a + 2 * towards, b - 2 * towards]


TRUTHS = ("nothing differs", "targets differ", "attributes differ", "both differ, at right angles", "an association")
"""What may be true of four sets of words; there is an association in the last one alone."""

_TRUTH_DIMENSIONS = 30


def planted_sets(truth: str, n: int, rng: np.random.Generator) -> list[Floats]:
    """X, Y, A and B, (n, d) each, of words that scatter around 0, or to either side of it along a direction.

    Where targets, or attributes, differ, their sets lie on either side of 0 by as much as the root of the words' mean
    square, along a direction of their own. An association has both along one direction, by half as much.
    """
    g, h = np.linalg.qr(rng.normal(size=(_TRUTH_DIMENSIONS, 2)))[0].T * _TRUTH_DIMENSIONS**0.5 / 2
    targets, attributes = {
        "nothing differs": (0 * g, 0 * g),
        "targets differ": (g, 0 * g),
        "attributes differ": (0 * g, h),
        "both differ, at right angles": (g, h),
        "an association": (g / 2, g / 2),
    }[truth]
    words = rng.normal(size=(4, n, _TRUTH_DIMENSIONS))
    return [each + side for each, side in zip(words, (targets, -targets, attributes, -attributes), strict=True)]


TRUTHS_OF_TWINS = (
    "random weights",
    "random weights, sets spelt alike",
    "words of their own, no association",
    "an association",
)
"""What may be true of a model beside its twins; only in the last one it has learnt an association."""

TWINS = 8
_PIECES, _MODEL_CONTEXTS = 12, 16


def beside_twins_of(truth: str, n: int, rng: np.random.Generator) -> tuple[CrossedScores, list[float]]:
    """The cosines of a model with `n` words a set, and the effects of its twins, which share as many contexts.

    A word is spelt with three pieces: half of them are those of its set, or (spelt alike) of X and A, and of Y and B.
    Random weights give each piece a vector of 30 dimensions, and a word's vector is the sum of its pieces'. A model
    that has learnt has a vector for each word instead, with sets on either side of 0 along a direction if there is an
    association. Contexts scatter around the word as much as words do.
    """
    own = [np.arange(_PIECES) + _PIECES * (side % 2 if truth.endswith("alike") else side) for side in range(4)]
    spelt = [
        np.where(rng.random((n, 1)) < 0.5, rng.choice(pieces, (n, 3)), rng.integers(4 * _PIECES, size=(n, 3)))
        for pieces in own
    ]

    def of_random_weights(contexts: int) -> CrossedScores:
        pieces = rng.normal(size=(4 * _PIECES, _TRUTH_DIMENSIONS)) / 3**0.5
        return _in_contexts([pieces[words].sum(axis=1) for words in spelt], contexts, rng)

    twins = [of_random_weights(_MODEL_CONTEXTS // TWINS).effect() for _ in range(TWINS)]
    if truth.startswith("random weights"):
        return of_random_weights(_MODEL_CONTEXTS), twins
    sets = planted_sets("an association" if truth == "an association" else "nothing differs", n, rng)
    return _in_contexts(sets, _MODEL_CONTEXTS, rng), twins


def _in_contexts(sets: list[Floats], contexts: int, rng: np.random.Generator) -> CrossedScores:
    """CrossedScores of so many draws, each of a context of every word."""
    drawn = [words + rng.standard_normal((contexts, *words.shape)) for words in sets]
    x, y, a, b = (words / np.linalg.norm(words, axis=2, keepdims=True) for words in drawn)
    targets, attributes = np.concatenate([x, y], axis=1), np.concatenate([a, b], axis=1)
    n_t, n_a = targets.shape[1], attributes.shape[1]
    values = targets @ attributes.transpose(0, 2, 1)
    return CrossedScores(values, np.arange(n_t), np.arange(n_a), x.shape[1], y.shape[1], a.shape[1], b.shape[1])


def ceat_p(n: int, rng: np.random.Generator, *, n_samples: int = 40, shift: float = 0.0) -> CeatP:
    """CEAT of `n` and `n` words with `CONTEXTS` contexts each, which scatter as much as words do."""
    embeddings, sets = {}, []
    for name, words in zip("xyab", word_vectors(n, shift, rng), strict=True):
        sets.append([f"{name}{i}" for i in range(len(words))])
        scattered = words[:, None] + rng.standard_normal((len(words), CONTEXTS, DIMENSIONS))
        embeddings |= dict(zip(sets[-1], scattered, strict=True))
    x, y, a, b = sets
    result = ceat(embeddings, (x, y), (a, b), n_samples=n_samples, rng=rng)
    test = result.test
    return CeatP(test.p_value, result.combined.p_value, result.combined.effect, result.scores.mean(axis=0))


def weat_p(n: int, rng: np.random.Generator, *, shift: float = 0.0) -> float:
    """WEAT of `n` and `n` words, one vector each."""
    return permutation_test(*word_vectors(n, shift, rng), n_resamples=_SHUFFLES, rng=rng).p_value


def seat_p(n: int, rng: np.random.Generator, *, shift: float = 0.0) -> SeatP:
    """SEAT of `n` and `n` words in `SENTENCES` sentences each, which scatter around the word as words do."""
    vectors = [
        list(words[:, None] + rng.standard_normal((len(words), SENTENCES, DIMENSIONS)))
        for words in word_vectors(n, shift, rng)
    ]
    cosines = compute_cosines(*vectors)
    words, sentences = cosines.word_scores(), cosines.item_scores()[0]
    of_sentences = permutation_test_of_scores(
        sentences[: n * SENTENCES], sentences[n * SENTENCES :], method="sampled", n_resamples=_SHUFFLES, rng=rng
    )
    of_words = permutation_test_of_scores(words[:n], words[n:], n_resamples=_SHUFFLES, rng=rng)
    return SeatP(of_words.p_value, of_sentences.p_value)


def chance(share: float, n_studies: int, z: float = 3.3) -> float:
    """How far the share of `n_studies` may be from the true one; with z = 3.3, but for 1 time in 1000."""
    return z * math.sqrt(share * (1 - share) / n_studies)
