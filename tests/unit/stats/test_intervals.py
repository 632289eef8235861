"""Intervals: against scipy and definitions worked out slowly, symmetries, and when there is none."""

import numpy as np
import pytest
from scipy import stats

from prasanga.stats.crossed import CrossedScores, leave_one_out
from prasanga.stats.effects import STD_CONVENTIONS, effect_size_of_scores
from prasanga.stats.intervals import (
    INTERVALS,
    Interval,
    Resampling,
    _acceleration,
    _bca,
    _tails,
    difference_interval,
    draw_resampling,
    interval,
    replicate_effects,
)


def cosines_of(sizes: tuple[int, int, int, int] = (9, 8, 8, 10), n_draws: int = 3, seed: int = 0) -> CrossedScores:
    """Words of X nearer to those of A."""
    rng = np.random.default_rng(seed)
    n_x, n_y, n_a, n_b = sizes
    values = 0.3 + 0.1 * rng.standard_normal((n_draws, n_x + n_y, n_a + n_b))
    values[:, :n_x, :n_a] += 0.05
    return CrossedScores(values, np.arange(n_x + n_y), np.arange(n_a + n_b), *sizes)


def resampled(cosines: CrossedScores, n_resamples: int = 500, *, attributes: bool = True) -> Resampling:
    sizes = cosines.n_x, cosines.n_y, cosines.n_a, cosines.n_b
    words = [[f"{side}{i}" for i in range(n)] for side, n in zip("xyab", sizes, strict=True)]
    return draw_resampling(
        words, cosines.n_draws, n_resamples=n_resamples, seed=1, category="test", resample_attributes=attributes
    )


def ends(cosines: CrossedScores, method: str = "bca", std: str = "union_ddof1", **more: float) -> tuple[float, float]:
    resampling = resampled(cosines)
    replicates = replicate_effects(cosines, resampling, std)
    found = interval(cosines, resampling, replicates, method=method, std=std, **more)
    assert found.low is not None
    assert found.high is not None
    assert found.note == ""
    return found.low, found.high


def test_bca_is_that_of_scipy() -> None:
    # The effect of two samples of scores; scipy takes our replicates, and has neither scale nor widened level.
    rng = np.random.default_rng(0)
    scores = rng.exponential(size=22) * 0.1
    scores[:10] += 0.05
    cosines = CrossedScores(scores[None, :, None] * [0.5, -0.5], np.arange(22), np.arange(2), 10, 12, 1, 1)
    resampling = resampled(cosines, 2000, attributes=False)
    replicates = replicate_effects(cosines, resampling)

    def effect(x: np.ndarray, y: np.ndarray) -> float:
        return effect_size_of_scores(x, y)

    known = stats._resampling.BootstrapResult(  # what scipy's documentation hands on as `bootstrap_result`
        confidence_interval=None, bootstrap_distribution=replicates, standard_error=0.0
    )
    expected = stats.bootstrap(
        (scores[:10], scores[10:]),
        effect,
        n_resamples=0,
        vectorized=False,
        method="BCa",
        bootstrap_result=known,
    ).confidence_interval
    acceleration = _acceleration(leave_one_out(cosines), (10, 12))
    assert acceleration != 0
    found = _bca(replicates, cosines.effect(), acceleration, _tails(0.95))
    np.testing.assert_allclose(found, [expected.low, expected.high], rtol=1e-9)


def test_the_level_is_widened_by_student_t() -> None:
    expected = np.sqrt(8 / 7) * stats.t.ppf([0.025, 0.975], 15)
    np.testing.assert_allclose(_tails(0.95, 8, 15), expected, rtol=1e-9)
    cosines = cosines_of()
    replicates = replicate_effects(cosines, resampled(cosines))
    acceleration = _acceleration(leave_one_out(cosines, "union_ddof0"), (9, 8, 8, 10))
    # of 17 target words: the spread of resampled words has 17 in its denominator, that of effects 16
    expected = np.sqrt(17 / 16) * _bca(replicates, cosines.effect(), acceleration, expected)
    np.testing.assert_allclose(ends(cosines), expected, rtol=1e-12)


def test_of_many_normal_words_all_constructions_agree() -> None:
    rng = np.random.default_rng(0)
    scores = 0.1 * rng.standard_normal(1200)
    scores[:600] += 0.05
    cosines = CrossedScores(scores[None, :, None] * [0.5, -0.5], np.arange(1200), np.arange(2), 600, 600, 1, 1)
    d = cosines.effect("pooled")
    # the sampling variance of Cohen's d (Hedges and Olkin 1985)
    half = 1.96 * np.sqrt(2 / 600 + d**2 / (2 * 1200))
    resampling = resampled(cosines, 2000, attributes=False)
    replicates = replicate_effects(cosines, resampling, "pooled")
    for method in INTERVALS:
        found = interval(cosines, resampling, replicates, method=method, std="pooled")
        assert found.low == pytest.approx(d - half, abs=0.15 * half)
        assert found.high == pytest.approx(d + half, abs=0.15 * half)


@pytest.mark.parametrize("std", ["union_ddof1", "pooled"])
def test_studentized_against_its_definition(std: str) -> None:
    cosines = cosines_of()
    resampling = resampled(cosines, 200)
    n, pivots = 17, []

    def of(value: float) -> float:
        return 2 * np.arcsinh(value / 2) if std == "pooled" else value

    def slope(value: float) -> float:
        return 1 / np.sqrt(1 + value**2 / 4) if std == "pooled" else 1.0

    scale = np.sqrt(n / (n - 1)) if std == "union_ddof1" else np.sqrt(n / (n - 2))
    once = np.ones((1, 18))
    (effect,), (error,) = cosines.effects_and_errors(attribute_counts=once, std=std)
    effect, error = of(scale * effect), scale * error * slope(scale * effect)
    for i in range(200):
        assert resampling.attribute_counts is not None
        assert resampling.draw_counts is not None
        (e,), (s,) = cosines.effects_and_errors(
            resampling.target_counts[[i]], resampling.attribute_counts[[i]], resampling.draw_counts[[i]], std
        )
        pivots.append((of(scale * e) - effect) / (scale * s * slope(scale * e)))
    first, last = np.quantile(pivots, [0.025, 0.975])
    low, high = effect - last * error, effect - first * error
    if std == "pooled":
        low, high = 2 * np.sinh(low / 2), 2 * np.sinh(high / 2)
    else:
        low, high = max(low, -2.01), min(high, 2.01)
    replicates = replicate_effects(cosines, resampling, std)
    found = interval(cosines, resampling, replicates, method="studentized", std=std)
    assert (found.low, found.high) == pytest.approx((low, high), abs=0.02 if high > 2 else 1e-9)


@pytest.mark.parametrize("method", INTERVALS)
def test_both_union_conventions_have_the_same_interval(method: str) -> None:
    # They estimate the same population, in which n and n - 1 do not differ.
    cosines = cosines_of()
    assert ends(cosines, method, "union_ddof0") == pytest.approx(ends(cosines, method, "union_ddof1"), rel=1e-9)


@pytest.mark.parametrize("method", INTERVALS)
def test_center_moves_the_interval_within_what_is_possible(method: str) -> None:
    cosines = cosines_of()
    low, high = ends(cosines, method)
    moved = ends(cosines, method, center=cosines.effect() - 0.1)
    assert moved == pytest.approx((low - 0.1, high - 0.1), rel=1e-9)
    largest = 1 / np.sqrt(9 / 17 * 8 / 17)
    resampling = resampled(cosines)
    farthest = interval(cosines, resampling, replicate_effects(cosines, resampling), method=method, center=5.0)
    assert farthest.high == pytest.approx(largest)


@pytest.mark.parametrize(
    ("sizes", "attributes", "note"),
    [
        ((7, 9, 9, 9), True, "no interval: set X has 7 words, and an interval over words needs 8 in every set"),
        ((9, 9, 9, 1), True, "no interval: set B has 1 word, and an interval over words needs 8 in every set"),
        ((8, 3, 2, 2), False, "no interval: set Y has 3 words, and an interval over words needs 8 in every set"),
    ],
)
@pytest.mark.parametrize("method", INTERVALS)
def test_few_words_have_no_interval(sizes: tuple[int, int, int, int], attributes: bool, note: str, method: str) -> None:
    cosines = cosines_of(sizes)
    resampling = resampled(cosines, 100, attributes=attributes)
    found = interval(cosines, resampling, replicate_effects(cosines, resampling), method=method)
    assert found == Interval(None, None, method, note)


def test_replicates_without_an_effect_are_left_out_and_counted() -> None:
    cosines = cosines_of()
    resampling = resampled(cosines)
    replicates = replicate_effects(cosines, resampling)
    few, many, none = replicates.copy(), replicates.copy(), np.full(500, np.nan)
    few[:5], many[:10] = np.nan, np.nan
    assert interval(cosines, resampling, few).note == ""
    found = interval(cosines, resampling, many)
    assert found.note == "2.0% of the resamples are left out, because all their scores are the same"
    assert found.low == pytest.approx(ends(cosines)[0], abs=0.1)
    assert interval(cosines, resampling, none).low is None
    assert "in no resample" in interval(cosines, resampling, none).note


@pytest.mark.parametrize("method", INTERVALS)
@pytest.mark.parametrize("std", STD_CONVENTIONS)
@pytest.mark.parametrize("seed", range(2))
def test_two_one_sided_tests_against_intervals_of_every_level(method: str, std: str, seed: int) -> None:
    # The oracle: p is the level up to which the interval lies within the margin, found by halving.
    cosines = cosines_of(seed=seed)
    resampling = resampled(cosines)
    replicates = replicate_effects(cosines, resampling, std)
    center = cosines.effect(std) - 0.15

    def of(level: float) -> Interval:
        return interval(cosines, resampling, replicates, method=method, std=std, center=center, level=level)

    def inside(level: float, margin: float) -> bool:
        found = of(level)
        assert found.low is not None
        assert found.high is not None
        return -margin < found.low and found.high < margin

    for margin in (0.3, 1.2, 1.8):
        found = interval(cosines, resampling, replicates, method=method, std=std, center=center, margin=margin)
        least, most = 0.0, 1.0
        for _ in range(14):
            middle = (least + most) / 2
            least, most = (middle, most) if inside(middle, margin) else (least, middle)
        expected = (1 - least) / 2
        assert found.p_equivalence is not None
        assert found.equivalent_within is not None
        if inside(1e-9, margin):
            assert found.p_equivalence == pytest.approx(max(expected, 1 / 501), abs=1e-3)
        else:  # the middle is farther from 0 than the margin
            assert found.p_equivalence >= 0.5
        at_90 = of(0.9)
        assert found.equivalent_within == pytest.approx(max(abs(at_90.low or 0), abs(at_90.high or 0)))
        assert (found.p_equivalence <= 0.05) == (found.equivalent_within <= margin)


def test_of_many_words_the_two_tests_are_those_of_normal_theory() -> None:
    rng = np.random.default_rng(0)
    scores = 0.1 * rng.standard_normal(1200)
    cosines = CrossedScores(scores[None, :, None] * [0.5, -0.5], np.arange(1200), np.arange(2), 600, 600, 1, 1)
    d = cosines.effect("pooled")
    error = np.sqrt(2 / 600 + d**2 / (2 * 1200))  # Hedges and Olkin 1985
    margin = abs(d) + 1.5 * error
    expected = 1 - stats.norm.cdf(1.5)
    resampling = resampled(cosines, 2000, attributes=False)
    replicates = replicate_effects(cosines, resampling, "pooled")
    for method in INTERVALS:
        found = interval(cosines, resampling, replicates, method=method, std="pooled", margin=margin)
        assert found.p_equivalence == pytest.approx(expected, abs=0.02)
        assert found.equivalent_within == pytest.approx(abs(d) + 1.645 * error, rel=0.1)


def test_a_difference_is_of_pairs() -> None:
    # Two models that agree in every word: however uncertain the effects are, their difference is not.
    cosines = cosines_of()
    replicates = replicate_effects(cosines, resampled(cosines))
    low, high = ends(cosines)
    found = difference_interval(replicates + 0.2, replicates, cosines.effect() + 0.2, cosines.effect())
    assert (found.low, found.high) == pytest.approx((0.2, 0.2))
    assert high - low > 0.5
    assert found.method == "bc"


def test_a_difference_is_corrected_for_bias() -> None:
    rng = np.random.default_rng(0)
    first, second = rng.standard_normal((2, 4000))
    differences, observed = first - second, 0.4
    bias = stats.norm.ppf((differences < observed).mean())
    expected = np.quantile(differences, stats.norm.cdf(2 * bias + np.array([-1.959964, 1.959964])))
    found = difference_interval(first, second, 1.0, 0.6)
    assert (found.low, found.high) == pytest.approx(expected.tolist(), rel=1e-6)
    negated = difference_interval(second, first, 0.6, 1.0)
    assert (negated.low, negated.high) == pytest.approx((-expected[1], -expected[0]), rel=1e-6)


def test_an_effect_beyond_all_replicates_still_has_an_interval() -> None:
    found = _bca(np.arange(100.0), 200.0, 0.3, _tails(0.95))
    assert (np.diff(found) >= 0).all()
    assert found[1] == 99
