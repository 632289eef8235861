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
from prasanga.associations.cosines import Cosines
from prasanga.associations.permutation import permutation_test, permutation_test_of_scores

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


TRUTHS = (
    "nothing differs",
    "targets differ",
    "attributes differ",
    "both differ, at right angles",
    "an association",
)
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


def ceat_p(n: int, rng: np.random.Generator, *, n_samples: int = 40, shift: float = 0.0) -> CeatP:
    """CEAT of `n` and `n` words with `CONTEXTS` contexts each, which scatter as much as words do."""
    embeddings, sets = {}, []
    for name, words in zip("xyab", word_vectors(n, shift, rng), strict=True):
        sets.append([f"{name}{i}" for i in range(len(words))])
        scattered = words[:, None] + rng.standard_normal((len(words), CONTEXTS, DIMENSIONS))
        embeddings |= dict(zip(sets[-1], scattered, strict=True))
    x, y, a, b = sets
    result = ceat(embeddings, (x, y), (a, b), n_samples=n_samples, rng=rng)
    test = result.test_stimuli(n_resamples=_SHUFFLES, rng=rng)
    return CeatP(test.p_value, result.combined.p_value, result.combined.effect, result.target_scores)


def weat_p(n: int, rng: np.random.Generator, *, shift: float = 0.0) -> float:
    """WEAT of `n` and `n` words, one vector each."""
    return permutation_test(*word_vectors(n, shift, rng), n_resamples=_SHUFFLES, rng=rng).p_value


def seat_p(n: int, rng: np.random.Generator, *, shift: float = 0.0) -> SeatP:
    """SEAT of `n` and `n` words in `SENTENCES` sentences each, which scatter around the word as words do."""
    vectors = [
        list(words[:, None] + rng.standard_normal((len(words), SENTENCES, DIMENSIONS)))
        for words in word_vectors(n, shift, rng)
    ]
    cosines = Cosines.of_vectors(*vectors)
    words, sentences = cosines.word_scores(), cosines.item_scores()[0]
    of_sentences = permutation_test_of_scores(
        sentences[: n * SENTENCES], sentences[n * SENTENCES :], method="sampled", n_resamples=_SHUFFLES, rng=rng
    )
    of_words = permutation_test_of_scores(words[:n], words[n:], n_resamples=_SHUFFLES, rng=rng)
    return SeatP(of_words.p_value, of_sentences.p_value)


def chance(share: float, n_studies: int, z: float = 3.3) -> float:
    """How far the share of `n_studies` may be from the true one; with z = 3.3, but for 1 time in 1000."""
    return z * math.sqrt(share * (1 - share) / n_studies)
