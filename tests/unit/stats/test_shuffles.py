"""Attribute words dealt anew: against dealing the vectors, and what the control says of known cases."""

from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from prasanga.associations.vectors import compute_cosines
from prasanga.stats.crossed import CrossedScores
from prasanga.stats.intervals import shuffled_control

RNG = np.random.default_rng(6)
SETS = [[RNG.standard_normal((n, 5)) for n in items] for items in ([2, 1, 3], [1, 1, 2], [2, 1, 3], [1, 2])]


def dealt() -> list[float]:
    """The effects of all ten ways to deal five words into three and two."""
    x, y, a, b = SETS
    words, observed, effects = a + b, compute_cosines(*SETS).spreads()[0], []
    for chosen in combinations(range(5), 3):
        rest = [words[i] for i in range(5) if i not in chosen]
        cosines = compute_cosines(x, y, [words[i] for i in chosen], rest)
        own = cosines.spreads()[0]
        effects.append(cosines.effect() * own / observed)
    return effects


def test_effects_are_those_of_dealt_words_with_all_their_items() -> None:
    effects = compute_cosines(*SETS).shuffled_effects(400, 0)
    distances = np.abs(effects[:, None] - np.sort(dealt()))
    assert distances.min(axis=1).max() < 1e-12
    # each way as often as the others, about 40 times
    times = np.bincount(distances.argmin(axis=1), minlength=10)
    assert times.min() > 20
    assert times.max() < 65


def test_p_is_the_share_of_deals_that_are_as_large() -> None:
    every, cosines = np.abs(dealt()), compute_cosines(*SETS)
    share = float((every >= every[0] - 1e-12).mean())
    control = shuffled_control(cosines, n_shuffles=4000, rng=1)
    assert control.p_value == pytest.approx(share, abs=0.03)
    # the observed deal itself is a tie, whatever the order of its sums
    effects = cosines.shuffled_effects(4000, 1)
    count = np.count_nonzero(np.abs(effects) > abs(cosines.effect()) - 1e-9)
    assert control.p_value == (count + 1) / 4001
    assert (control.low, control.high) == pytest.approx(np.quantile(effects, [0.025, 0.975]).tolist())


def test_p_is_uniform_if_the_attribute_words_mean_nothing() -> None:
    p_values = []
    for seed in range(200):
        rng = np.random.default_rng(seed)
        sets = [[rng.standard_normal((1, 6)) for _ in range(5)] for _ in range(4)]
        p_values.append(shuffled_control(compute_cosines(*sets), n_shuffles=99, rng=seed).p_value)
    # 252 deals, of which each has its opposite: p is a multiple of 1/126, about
    assert stats.kstest(p_values, "uniform").pvalue > 0.01
    assert 0.01 <= np.mean(np.array(p_values) <= 0.05) <= 0.09


def test_mixed_sets_have_small_effects_over_the_observed_spread() -> None:
    # X and Y differ in one direction only, so any difference of two attribute sets divides them wholly.
    scores = np.array([0.5, 0.51, -0.5, -0.51])
    attributes = np.array([1.0, 0.9, 0.8, 0.7, -0.7, -0.8, -0.9, -1.05])
    cosines = CrossedScores(np.outer(scores, attributes)[None], np.arange(4), np.arange(8), 2, 2, 4, 4)
    control = shuffled_control(cosines, n_shuffles=999, rng=0)
    # two of 70 deals part the positive ones from the negative ones
    assert control.p_value == pytest.approx(2 / 70, abs=0.02)
    assert control.high < 0.9 * cosines.effect()
