"""Calibration: where there is no effect, p is uniform, or it is known not to be; where there is one, it is found."""

from collections.abc import Sequence

import numpy as np
import pytest
from null_studies import ceat_p, chance, seat_p, weat_p
from scipy.stats import binom, kstest

from prasanga.stats.permutation import find_detectable_difference

QUANTILES = (0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9)


def require_uniform(p: Sequence[float]) -> None:
    """p is at most a in a share a of the studies, at every quantile, but for what chance does 1 time in 10 000."""
    values = np.asarray(p)
    for a in QUANTILES:
        low, high = binom.interval(0.9999, values.size, a)
        # Counts of p that are rounded up by nothing but the last digit belong to the quantile.
        assert low <= np.count_nonzero(values <= a + 1e-12) <= high, f"{a}: {(values <= a).mean():.3f}"
    assert kstest(values, "uniform").pvalue > 1e-4


@pytest.mark.parametrize(("n", "studies"), [(6, 400), (8, 400)])
def test_p_stimuli_is_uniform_without_an_effect(n: int, studies: int) -> None:
    rng = np.random.default_rng(n)
    require_uniform([ceat_p(n, rng).p_stimuli for _ in range(studies)])


@pytest.mark.parametrize(("n", "studies"), [(6, 2000), (10, 600), (25, 1000)])
def test_p_of_weat_is_uniform_without_an_effect(n: int, studies: int) -> None:
    rng = np.random.default_rng(n)
    require_uniform([weat_p(n, rng) for _ in range(studies)])


def test_p_of_seat_is_uniform_if_words_are_permuted_and_not_if_sentences_are() -> None:
    rng = np.random.default_rng(1)
    found = [seat_p(8, rng) for _ in range(500)]
    require_uniform([p.word for p in found])
    rejected = np.mean([p.sentence <= 0.05 for p in found])
    print(f"SEAT without an effect, sentences permuted: p <= .05 in {rejected:.0%} of studies")
    assert rejected > 0.2


def test_p_draws_is_below_05_without_an_effect() -> None:
    rng = np.random.default_rng(2)
    rejected = np.mean([ceat_p(8, rng, n_samples=2000).p_draws <= 0.05 for _ in range(150)])
    print(f"CEAT without an effect, 2000 draws: p_draws <= .05 in {rejected:.0%} of studies")
    assert rejected > 0.9


def test_p_draws_falls_with_the_number_of_draws_and_p_stimuli_does_not() -> None:
    few, many = ([ceat_p(8, np.random.default_rng(i), n_samples=n) for i in range(60)] for n in (50, 2000))
    assert np.median([p.p_draws for p in many]) < 1e-3 * np.median([p.p_draws for p in few])
    for n_draws in (few, many):
        assert np.mean([p.p_stimuli <= 0.05 for p in n_draws]) < 0.05 + chance(0.05, 60)


def test_a_planted_effect_is_found_as_often_as_said() -> None:
    # A shift of 1.77 sets the words about 1.5 standard deviations apart, which 8 and 8 words show 4 times in 5.
    rng = np.random.default_rng(3)
    planted = [ceat_p(8, rng, shift=1.77) for _ in range(400)]
    scores = np.array([p.scores for p in planted]).reshape(-1, 2, 8)
    difference = (scores[:, 0].mean() - scores[:, 1].mean()) / np.sqrt(scores.var(axis=2, ddof=1).mean())
    assert difference == pytest.approx(find_detectable_difference(8, 8), rel=0.04)
    found = np.mean([p.p_stimuli <= 0.05 for p in planted])
    print(
        f"CEAT, 8 and 8 words, {difference:.2f} standard deviations apart: p_stimuli <= .05 in {found:.0%} of studies"
    )
    assert found == pytest.approx(0.8, abs=chance(0.8, 400))


def test_the_direction_of_a_planted_effect_makes_no_difference() -> None:
    for shift in (3.5, -3.5):
        rng = np.random.default_rng(4)
        assert np.mean([ceat_p(8, rng, shift=shift).p_stimuli <= 0.05 for _ in range(50)]) > 0.9
        assert np.mean([weat_p(8, rng, shift=shift) <= 0.05 for _ in range(50)]) > 0.9
        assert np.mean([seat_p(8, rng, shift=shift).word <= 0.05 for _ in range(50)]) > 0.9
