"""Leaving out a word equals computing without it."""

import numpy as np
import pytest

from prasanga.associations.vectors import compute_cosines
from prasanga.stats.crossed import contributions, leave_one_out
from prasanga.stats.effects import STD_CONVENTIONS

RNG = np.random.default_rng(4)
SETS = [[RNG.standard_normal((n, 5)) for n in items] for items in ([2, 1, 3], [1, 1, 2, 1], [2, 2, 2], [1, 1])]


@pytest.mark.parametrize("std", STD_CONVENTIONS)
def test_leaving_out_is_computing_without(std: str) -> None:
    expected = []
    for side in range(4):
        for word in range(len(SETS[side])):
            without = [[w for j, w in enumerate(s) if (i, j) != (side, word)] for i, s in enumerate(SETS)]
            expected.append(compute_cosines(*without).effect(std))
    np.testing.assert_allclose(leave_one_out(compute_cosines(*SETS), std), expected, rtol=1e-12)


def test_without_its_only_word_a_set_has_no_effect() -> None:
    x, y, a, b = SETS
    without = leave_one_out(compute_cosines(x[:1], y, a, b[:1]))
    assert np.isnan(without).tolist() == [True, *[False] * 4, *[False] * 3, True]


def test_contributions_add_up_to_the_difference_of_means() -> None:
    cosines = compute_cosines(*[[w[:1] for w in words] for words in SETS])
    scores, of_words = cosines.word_scores(), contributions(cosines)
    difference = scores[:3].mean() - scores[3:].mean()
    assert of_words[:3].mean() - of_words[3:].mean() == pytest.approx(difference, rel=1e-12)
