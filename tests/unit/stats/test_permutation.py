"""Permutation tests: exact p against full enumeration and by hand, ties, sampled p against exact, calibration."""

from collections.abc import Callable
from itertools import combinations
from math import comb

import numpy as np
import pytest

from prasanga.associations import permutation_test, weat
from prasanga.base.errors import InputError
from prasanga.stats.effects import ConstantScoresError
from prasanga.stats.permutation import permutation_test_of_scores

ALTERNATIVES = ["two-sided", "greater", "less"]
Statistic = Callable[[list[float], list[float]], float]


def difference(x: list[float], y: list[float]) -> float:
    return float(np.mean(x) - np.mean(y))


def studentized(x: list[float], y: list[float]) -> float:
    """The difference over its standard error, which is 0 of sets whose scores are all the same."""
    error = np.sqrt(np.var(x, ddof=1) / len(x) + np.var(y, ddof=1) / len(y))
    return difference(x, y) / error if error > 1e-9 else np.copysign(np.inf, difference(x, y))


def enumerated(x: np.ndarray, y: np.ndarray, alternative: str, statistic_of: Statistic = difference) -> float:
    """The share of all partitions that count, each listed and its statistic computed from scratch."""
    scores = [*x, *y]
    observed = statistic_of([*x], [*y])
    tie = 1e-9 * (max(map(abs, scores)) if statistic_of is difference else abs(observed))
    tie = tie if np.isfinite(tie) else 0.0
    hits = total = 0
    for chosen in combinations(range(len(scores)), len(x)):
        rest = [scores[i] for i in range(len(scores)) if i not in chosen]
        statistic = statistic_of([scores[i] for i in chosen], rest)
        hits += {
            "two-sided": abs(statistic) >= abs(observed) - tie,
            "greater": statistic >= observed - tie,
            "less": statistic <= observed + tie,
        }[alternative]
        total += 1
    return hits / total


def test_four_words_by_hand() -> None:
    # Of the 6 partitions of 4, 3 | 2, 1 only the observed one has the difference 2, and one has -2.
    assert permutation_test_of_scores([4, 3], [2, 1], alternative="greater").p_value == 1 / 6
    assert permutation_test_of_scores([4, 3], [2, 1], alternative="less").p_value == 1
    result = permutation_test_of_scores([4, 3], [2, 1])
    assert result.p_value == 2 / 6
    assert (result.exact, result.n_partitions, result.n_resamples) == (True, 6, 0)
    assert result.statistic == pytest.approx(2, rel=1e-14)
    assert permutation_test_of_scores([2, 1], [4, 3], alternative="less").p_value == 1 / 6


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize(("n_x", "n_y"), [(1, 1), (1, 6), (4, 4), (5, 4), (3, 7), (7, 3), (8, 1), (6, 6)])
def test_exact_equals_enumeration(n_x: int, n_y: int, alternative: str) -> None:
    rng = np.random.default_rng(n_x * 100 + n_y)
    for scores in (rng.standard_normal(n_x + n_y), rng.integers(-2, 3, n_x + n_y) * 0.1 - 0.3):  # the latter with ties
        x, y = scores[:n_x], scores[n_x:]
        result = permutation_test_of_scores(x, y, alternative=alternative, statistic="difference")
        assert result.exact
        assert result.n_partitions == comb(n_x + n_y, n_x)
        assert result.p_value == enumerated(x, y, alternative)


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize(("n_x", "n_y"), [(2, 3), (5, 4), (3, 7), (7, 3), (2, 9)])
def test_sets_of_different_sizes_are_compared_by_the_studentized_difference(
    n_x: int, n_y: int, alternative: str
) -> None:
    rng = np.random.default_rng(n_x * 100 + n_y)
    spread = np.repeat([3.0, 1.0], [n_x, n_y])
    for scores in (rng.standard_normal(n_x + n_y) * spread, rng.integers(-2, 3, n_x + n_y) * 0.1 - 0.3):
        x, y = scores[:n_x], scores[n_x:]
        result = permutation_test_of_scores(x, y, alternative=alternative)
        assert result.exact
        assert result.p_value == enumerated(x, y, alternative, studentized)
        assert result.statistic == pytest.approx(difference([*x], [*y]), rel=1e-12)


def test_few_words_that_vary_more_than_many_are_not_found_for_that() -> None:
    """Equal means, 8 against 25 words, 3 to 1: 400 studies, of .05 twenty are expected, with a deviation of 4.4."""
    rng = np.random.default_rng(2)
    found = dict.fromkeys(("studentized", "difference"), 0)
    for study in range(400):
        x, y = 3 * rng.standard_normal(8), rng.standard_normal(25)
        for statistic in found:
            test = permutation_test_of_scores(x, y, method="sampled", n_resamples=199, rng=study, statistic=statistic)
            found[statistic] += test.p_value <= 0.05
    assert found["studentized"] <= 0.09 * 400
    assert found["difference"] >= 0.16 * 400


def test_ties_are_within_a_billionth_of_the_largest_score() -> None:
    # With 2 and 1 exchanged for another word, the difference falls short by as much.
    assert permutation_test_of_scores([5, 4], [4 - 1e-10, 0], alternative="greater").p_value == 2 / 6
    assert permutation_test_of_scores([5, 4], [4 - 1e-7, 0], alternative="greater").p_value == 1 / 6


def test_constant_scores_are_all_ties() -> None:
    assert permutation_test_of_scores([0.3] * 5, [0.3] * 4).p_value == 1
    assert permutation_test_of_scores([0.0] * 30, [0.0] * 30, n_resamples=10).p_value == 1


@pytest.mark.parametrize(("n_x", "n_y"), [(22, 22), (13, 31), (4, 60), (200, 2)])
def test_many_words_are_exact_where_p_is_known(n_x: int, n_y: int) -> None:
    # Powers apart, no two subsets tie: the observed partition is the only one so far up, and p is 1 / C(n, k).
    x, y = 10.0 + np.linspace(0, 1, n_x), np.linspace(0, 1, n_y)
    result = permutation_test_of_scores(x, y, alternative="greater", method="exact", statistic="difference")
    assert result.exact
    assert result.p_value * comb(n_x + n_y, n_x) == pytest.approx(1, rel=1e-12)


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_sampled_agrees_with_exact(alternative: str) -> None:
    rng = np.random.default_rng(11)
    x, y = rng.standard_normal(9) + 0.5, rng.standard_normal(7)
    exact = permutation_test_of_scores(x, y, alternative=alternative)
    sampled = permutation_test_of_scores(x, y, alternative=alternative, method="sampled", n_resamples=200_000, rng=1)
    assert not sampled.exact
    assert (sampled.n_resamples, sampled.n_partitions) == (200_000, comb(16, 9))
    error = (exact.p_value * (1 - exact.p_value) / 200_000) ** 0.5
    assert sampled.p_value == pytest.approx(exact.p_value, abs=4 * error)
    assert sampled.statistic == exact.statistic


def test_sampled_p_is_never_zero_and_repeats_with_the_seed() -> None:
    rng = np.random.default_rng(12)
    assert permutation_test_of_scores(np.arange(30) + 99.0, np.arange(30.0), n_resamples=999, rng=1).p_value == 0.001
    x, y = rng.standard_normal(30), rng.standard_normal(30)
    first = permutation_test_of_scores(x, y, n_resamples=999, rng=1)
    assert not first.exact
    assert first == permutation_test_of_scores(x, y, n_resamples=999, rng=np.random.default_rng(1))
    assert first.p_value != permutation_test_of_scores(x, y, n_resamples=999, rng=2).p_value


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"alternative": "two_sided"}, "alternative: 'two_sided' .* Write 'two-sided' or 'greater' or 'less'"),
        ({"method": "all"}, "method: 'all'"),
        ({"n_resamples": 0}, "n_resamples: 0"),
        ({"x": [1.0, float("nan")]}, "x: number 1 is nan"),
        ({"y": []}, "y: an array of shape"),
        ({"x": np.arange(23.0), "y": np.arange(23.0), "method": "exact"}, "23 and 23 words .* up to 44"),
        ({"x": np.arange(14.0), "y": np.arange(15.0), "method": "exact"}, "14 and 15 words .* up to 16,777,216 p"),
        ({"statistic": "t"}, "statistic: 't' .* Write 'studentized' or 'difference'"),
    ],
)
def test_bad_input(changed: dict, message: str) -> None:
    arguments = {"x": [1.0, 2.0], "y": [3.0, 4.0]} | changed
    with pytest.raises(InputError, match=message):
        permutation_test_of_scores(arguments.pop("x"), arguments.pop("y"), **arguments)


def test_the_interval_is_that_of_clopper_and_pearson() -> None:
    from scipy.stats import binomtest

    rng = np.random.default_rng(22)
    test = permutation_test_of_scores(rng.normal(size=25), rng.normal(0.4, 1, 25), n_resamples=2000, rng=1)
    count = round(test.p_value * 2001) - 1
    expected = binomtest(count, 2000).proportion_ci(method="exact")
    assert 0 < count < 2000
    assert (test.ci_low, test.ci_high) == pytest.approx((expected.low, expected.high), rel=1e-9)


@pytest.mark.parametrize(
    ("x", "y", "alternative", "expected"),
    [
        ([1e308, 9e307], [1e307, -2e307], "two-sided", 1 / 3),
        ([5e-324, 0.0], [0.0, 0.0], "two-sided", 1.0),
        ([1e-320, 2e-320, 3e-320], [1e-320, 7e-320], "greater", 0.8),
    ],
)
def test_scores_at_the_ends_of_what_a_number_can_be(
    x: list[float], y: list[float], alternative: str, expected: float
) -> None:
    assert permutation_test_of_scores(x, y, alternative=alternative).p_value == pytest.approx(expected)


def test_rounding_is_no_difference() -> None:
    rng = np.random.default_rng(23)
    X, Y, A = (rng.normal(size=(n, 30)) for n in (7, 8, 6))
    B = A[[3, 1, 5, 0, 2, 4]]  # the same words in another order
    test = permutation_test(X, Y, A, B)
    assert (test.p_value, test.exact) == (1.0, True)
    with pytest.raises(ConstantScoresError):
        weat(X, Y, A, B)
    assert permutation_test_of_scores(np.full(30, 0.1), np.full(31, 0.1)).exact
