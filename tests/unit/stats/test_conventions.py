"""Golden values of every named convention: worked out in fractions, with ties, negative effects and unequal sizes."""

import math
from fractions import Fraction

import pytest
from tables import read_data

from prasanga.stats.effects import effect_size_of_scores, hedges_variance
from prasanga.stats.permutation import permutation_test_of_scores

# x, y; squared effect size by denominator (with the sign of the effect); p by alternative; number of partitions
CASES = read_data(__file__, "conventions")


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("std", ["union_ddof1", "union_ddof0", "pooled"])
def test_effect_sizes(case: str, std: str) -> None:
    (x, y), effects, _, _ = CASES[case]
    squared = Fraction(effects[std])
    expected = math.copysign(math.sqrt(abs(squared)), squared)
    assert effect_size_of_scores(x, y, std) == pytest.approx(expected, rel=1e-14)
    # another unit of the scores, and both sets exchanged
    assert effect_size_of_scores([7e-3 * s for s in x], [7e-3 * s for s in y], std) == pytest.approx(
        expected, rel=1e-12
    )
    assert effect_size_of_scores(y, x, std) == pytest.approx(-expected, rel=1e-14)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
# Thirds of a number are no fractions of two: sums of ties differ in their last digits.
@pytest.mark.parametrize("unit", [1, 1 / 3, 1e-7])
def test_exact_p(case: str, alternative: str, unit: float) -> None:
    (x, y), _, p_values, n_partitions = CASES[case]
    x, y = ([unit * score for score in side] for side in (x, y))
    test = permutation_test_of_scores(x, y, alternative=alternative, statistic="difference")
    assert (test.exact, test.n_partitions, test.n_resamples) == (True, n_partitions, 0)
    assert test.p_value == pytest.approx(float(Fraction(p_values[alternative])), rel=1e-14)
    assert (test.ci_low, test.ci_high) == (test.p_value, test.p_value)


def test_a_strong_negative_effect_is_significant_two_sided() -> None:
    # Programs that compare the absolute statistic with the signed one find p = 1 here.
    test = permutation_test_of_scores([0, 1, 2, 3, 4, 5], [10, 11, 12, 13, 14, 15])
    assert test.statistic == -10
    assert test.p_value == pytest.approx(2 / math.comb(12, 6), rel=1e-14)


def test_hedges_variance() -> None:
    # 1/8 + 1/4 + (1/2)^2 / (2 * 12)
    assert hedges_variance(0.5, 8, 4) == pytest.approx(float(Fraction(3, 8) + Fraction(1, 96)), rel=1e-15)
