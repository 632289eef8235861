"""Intervals: against the jackknife worked out in loops, theory for many words, and when there is none."""

import math
from collections.abc import Sequence

import numpy as np
import pytest
from scipy import stats

from prasanga.stats.crossed import CrossedScores
from prasanga.stats.effects import STD_CONVENTIONS, ConstantScoresError, effect_size_of_scores
from prasanga.stats.intervals import (
    Interval,
    crossed_mean_interval,
    difference_interval,
    interval,
    omit_templates,
    omit_units,
)
from prasanga.stats.permutation import Units


def cosines_of(sizes: tuple[int, int, int, int] = (9, 8, 8, 10), n_draws: int = 3, seed: int = 0) -> CrossedScores:
    """Words of X nearer to those of A."""
    rng = np.random.default_rng(seed)
    n_x, n_y, n_a, n_b = sizes
    values = 0.3 + 0.1 * rng.standard_normal((n_draws, n_x + n_y, n_a + n_b))
    values[:, :n_x, :n_a] += 0.05
    return CrossedScores(values, np.arange(n_x + n_y), np.arange(n_a + n_b), *sizes)


def of_scores(scores: np.ndarray, n_x: int) -> CrossedScores:
    """Target words with these associations, and one attribute word on either side."""
    n = len(scores)
    return CrossedScores(scores[None, :, None] * [0.5, -0.5], np.arange(n), np.arange(2), n_x, n - n_x, 1, 1)


def words_of(cosines: CrossedScores) -> list[Units]:
    n_x, n_y, n_a, n_b = cosines.sizes
    return [Units.from_sizes(n_x, n_y), Units.from_sizes(n_a, n_b)]


def measure(cosines: CrossedScores, units: Sequence[Units] = (), std: str = "union_ddof1", **more: float) -> Interval:
    units = units or words_of(cosines)
    effect = more.pop("effect", cosines.effect(std))
    return interval(effect, units, omit_units(cosines, cosines, units, std), **more)


def slow_effect(cosines: CrossedScores, x: list[int], y: list[int], a: list[int], b: list[int], std: str) -> float:
    found = []
    for draw in cosines.values:
        scores = draw[:, a].mean(axis=1) - draw[:, b].mean(axis=1)
        found.append(effect_size_of_scores(scores[x], scores[y], std))
    return float(np.mean(found))


@pytest.mark.parametrize("std", STD_CONVENTIONS)
@pytest.mark.parametrize("case", ["words", "clusters", "matched", "targets"])
def test_the_interval_is_that_of_a_jackknife_in_loops(std: str, case: str) -> None:
    cosines = cosines_of((10, 10, 9, 8))
    units = words_of(cosines)
    if case == "clusters":
        units[0] = Units((0, 0, 1, 2, 3, 4, 5, 6, 7, 7), tuple(range(10)))
    if case == "matched":
        units[0] = Units(tuple(range(10)), tuple(range(10)), matched=True)
    if case == "targets":
        units = units[:1]
    sets = [list(range(10)), list(range(10, 20)), list(range(9)), list(range(9, 17))]
    numbers = [units[0].first, units[0].second, *((units[1].first, units[1].second) if units[1:] else ())]

    def bound(n_x: int, n_y: int) -> float:
        n = n_x + n_y
        return {"union_ddof1": math.sqrt(n * (n - 1) / n_x / n_y), "union_ddof0": n / math.sqrt(n_x * n_y)}.get(
            std, math.inf
        )

    def scale(effect: float, largest: float) -> float:
        return effect if math.isinf(largest) else math.atanh(effect / largest)

    samples = [[0, 1], [2], [3]] if case == "matched" else [[side] for side in range(len(numbers))]
    variance = 0.0
    for sample in samples:
        n, values = max(numbers[sample[0]]) + 1, []
        for unit in range(n):
            left = [
                [word for word, of in zip(words, numbers[side], strict=True) if of != unit] if side in sample else words
                for side, words in enumerate(sets[: len(numbers)])
            ] + sets[len(numbers) :]
            values.append(scale(slow_effect(cosines, *left, std), bound(len(left[0]), len(left[1]))))
        variance += (n - 1) / n * sum((value - np.mean(values)) ** 2 for value in values)
    freedom = {"matched": 9, "clusters": 16}.get(case, 18)
    effect, largest = slow_effect(cosines, *sets, std), bound(10, 10)
    reach = stats.t.ppf(0.975, freedom) * math.sqrt(variance)
    expected = [scale(effect, largest) - reach, scale(effect, largest) + reach]
    if not math.isinf(largest):
        expected = [largest * math.tanh(end) for end in expected]
    found = measure(cosines, units, std)
    assert [found.low, found.high] == pytest.approx(expected, rel=1e-9)
    assert (found.method, found.note) == ("jackknife", "")


def test_templates_are_one_sample_more() -> None:
    cosines, effects = cosines_of(), np.array([0.9, 1.0, 1.1, 1.3, 0.8])
    units, (_, bound) = words_of(cosines), (0, math.sqrt(17 * 16 / 72))
    omitted, templates = omit_units(cosines, cosines, units), omit_templates(effects, cosines)
    left = bound * math.sqrt((17 * 4 / 5 - 1) / (17 * 4 / 5) / (16 / 17))
    places = np.arctanh(effects / left)
    of_templates = 4 / 5 * np.square(places - places.mean()).sum()
    narrow = measure(cosines)
    assert narrow.low is not None
    words = ((math.atanh(cosines.effect() / bound) - math.atanh(narrow.low / bound)) / stats.t.ppf(0.975, 15)) ** 2
    freedom = (words + of_templates) ** 2 / (words**2 / 15 + of_templates**2 / 4)
    reach = stats.t.ppf(0.975, freedom) * math.sqrt(words + of_templates)
    found = interval(cosines.effect(), units, omitted, templates=templates)
    assert found.low == pytest.approx(bound * math.tanh(math.atanh(cosines.effect() / bound) - reach), rel=1e-9)


@pytest.mark.parametrize("std", STD_CONVENTIONS)
@pytest.mark.parametrize("apart", [0.0, 1.5, 4.0, 12.0, 60.0])
def test_the_effect_is_inside_and_the_ends_are_possible(std: str, apart: float) -> None:
    scores = 0.02 * np.random.default_rng(3).standard_normal(20)
    scores[:10] += 0.02 * apart
    cosines = of_scores(scores, 10)
    found = measure(cosines, words_of(cosines)[:1], std)
    assert found.low is not None
    assert found.high is not None
    assert found.low < cosines.effect(std) < found.high
    largest = {"union_ddof1": math.sqrt(20 * 19 / 100), "union_ddof0": 2.0}.get(std, math.inf)
    assert -largest < found.low < found.high < largest


def test_an_effect_of_more_draws_is_the_center() -> None:
    cosines = cosines_of()
    bound, effect = math.sqrt(17 * 16 / 72), cosines.effect()
    here, there = measure(cosines), measure(cosines, effect=effect - 0.3)
    assert here.low is not None
    assert there.low is not None
    step = math.atanh(effect / bound) - math.atanh((effect - 0.3) / bound)
    assert math.atanh(here.low / bound) - math.atanh(there.low / bound) == pytest.approx(step)


def test_of_many_normal_words_the_interval_is_that_of_theory() -> None:
    scores = 0.1 * np.random.default_rng(0).standard_normal(1200)
    scores[:600] += 0.05
    cosines = of_scores(scores, 600)
    d = cosines.effect("pooled")
    error = np.sqrt(2 / 600 + d**2 / (2 * 1200))  # Hedges and Olkin 1985
    found = measure(cosines, words_of(cosines)[:1], "pooled", margin=d + 1.5 * error)
    assert [found.low, found.high] == pytest.approx([d - 1.96 * error, d + 1.96 * error], abs=0.1 * error)
    assert found.p_equivalence == pytest.approx(1 - stats.norm.cdf(1.5), abs=0.01)
    assert found.equivalent_within == pytest.approx(d + 1.645 * error, rel=0.01)


@pytest.mark.parametrize(
    ("units", "note"),
    [
        ([Units.from_sizes(7, 9), Units.from_sizes(9, 9)], "set X has 7 words"),
        ([Units.from_sizes(9, 9), Units.from_sizes(9, 1)], "set B has 1 word"),
        ([Units.from_sizes(8, 3)], "set Y has 3 words"),
        ([Units.from_sizes(9, 9), Units((0, 0, 1, 2, 3, 4, 5, 6), tuple(range(8)))], "set A has 7 independent words"),
        ([Units(tuple(range(7)), tuple(range(7)), matched=True)], "set X has 7 matched pairs"),
    ],
)
def test_few_units_have_no_interval(units: list[Units], note: str) -> None:
    n_x, n_y = len(units[0].first), len(units[0].second)
    n_a, n_b = (len(units[1].first), len(units[1].second)) if units[1:] else (2, 2)
    found = measure(cosines_of((n_x, n_y, n_a, n_b)), units)
    expected = f"no interval: {note}, and an interval over words needs 8 in every set"
    assert found == Interval(None, None, "jackknife", expected)


def test_no_interval_where_all_scores_but_those_of_one_word_are_the_same() -> None:
    cosines = of_scores(np.array([1.0] + [0.5] * 19), 10)
    assert "without one of the words" in measure(cosines, words_of(cosines)[:1]).note
    with pytest.raises(ConstantScoresError):
        of_scores(np.full(20, 0.5), 10).effect()


@pytest.mark.parametrize("std", STD_CONVENTIONS)
@pytest.mark.parametrize("margin", [0.3, 1.2, 1.8])
def test_two_one_sided_tests_against_intervals_of_every_level(std: str, margin: float) -> None:
    # The oracle: p is the level up to which the interval lies within the margin, found by halving.
    cosines = cosines_of(seed=1)
    found = measure(cosines, std=std, margin=margin)
    least, most = 0.0, 1.0
    for _ in range(40):
        middle = (least + most) / 2
        at = measure(cosines, std=std, level=middle)
        assert at.low is not None
        assert at.high is not None
        least, most = (middle, most) if -margin < at.low and at.high < margin else (least, middle)
    assert found.p_equivalence is not None
    if least:
        assert found.p_equivalence == pytest.approx((1 - least) / 2, abs=1e-9)
    else:  # the effect itself is farther from 0 than the margin
        assert found.p_equivalence >= 0.5
    at_90 = measure(cosines, std=std, level=0.9)
    assert found.equivalent_within == pytest.approx(max(abs(at_90.low or 0), abs(at_90.high or 0)))


def test_a_mean_over_things_and_templates_has_the_variance_of_both() -> None:
    values = np.random.default_rng(2).standard_normal((12, 5)) + 3
    rows, columns = values.mean(axis=1), values.mean(axis=0)
    parts = stats.sem(rows) ** 2, stats.sem(columns) ** 2
    freedom = sum(parts) ** 2 / (parts[0] ** 2 / 11 + parts[1] ** 2 / 4)
    reach = stats.t.ppf(0.975, freedom) * math.sqrt(sum(parts))
    found = crossed_mean_interval(values)
    assert [found.low, found.high] == pytest.approx([values.mean() - reach, values.mean() + reach], rel=1e-9)
    assert crossed_mean_interval(np.ones((3, 4))) == Interval(1.0, 1.0, "jackknife")


def test_a_difference_is_corrected_for_bias() -> None:
    rng = np.random.default_rng(0)
    first, second = rng.standard_normal((2, 4000))
    differences, observed = first - second, 0.4
    bias = stats.norm.ppf((differences < observed).mean())
    expected = np.quantile(differences, stats.norm.cdf(2 * bias + np.array([-1.959964, 1.959964])))
    found = difference_interval(first, second, 1.0, 0.6)
    assert (found.low, found.high) == pytest.approx(expected.tolist(), rel=1e-6)
    assert found.method == "bc"
    negated = difference_interval(second, first, 0.6, 1.0)
    assert (negated.low, negated.high) == pytest.approx((-expected[1], -expected[0]), rel=1e-6)


def test_differences_without_an_effect_are_left_out_and_counted() -> None:
    first, second = np.random.default_rng(0).standard_normal((2, 500))
    few, many = first.copy(), first.copy()
    few[:5], many[:10] = np.nan, np.nan
    assert difference_interval(few, second, 0.0, 0.0).note == ""
    expected = "2.0% of the resamples are left out, because all their scores are the same"
    assert difference_interval(many, second, 0.0, 0.0).note == expected
    assert difference_interval(np.full(500, np.nan), second, 0.0, 0.0).low is None
