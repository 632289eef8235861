"""How many contexts are enough, and which difference one test finds: by hand, and against simulated studies."""

import math

import numpy as np
import pytest
from scipy.stats import nct, t

from prasanga.associations import contexts_enough
from prasanga.base.errors import InputError
from prasanga.stats.permutation import find_detectable_difference, find_detectable_shift, permutation_test_of_scores


def chance(share: float, n: int) -> float:
    """How far a share of `n` simulated studies may be from the true share, but for 1 time in 1000."""
    return 3.3 * math.sqrt(share * (1 - share) / n)


def test_contexts_by_hand() -> None:
    # 0 and 1 have the standard deviation .7071: (1.96 x .7071 / .1)^2 = 192.07.
    assert contexts_enough([0.0, 1.0], 0.1) == 193
    assert contexts_enough([0.0, 1.0], 0.05) == math.ceil(4 * 192.0729)  # half the band takes four times as many
    assert contexts_enough([0.5, 0.5], 0.1) == 1
    assert contexts_enough([0.4], 0.1) is None
    # Of pools of 5 contexts the variance is 4 / 5 of that of the language: 192.07 x 5 / 4 = 240.09.
    assert contexts_enough([0.0, 1.0], 0.1, contexts_min=5) == 241


def test_contexts_enough_keeps_the_effect_within_the_band() -> None:
    # 6 and 6 words whose contexts scatter their associations, and pools of the k contexts that are said to be enough.
    rng = np.random.default_rng(3)
    words = np.concatenate([rng.normal(0.5, 1, 6), rng.normal(0, 1, 6)])

    def effects(scores: np.ndarray) -> np.ndarray:
        return (scores[..., :6].mean(-1) - scores[..., 6:].mean(-1)) / scores.std(-1, ddof=1)

    single = effects(words + rng.standard_normal((20_000, 12)))
    k = contexts_enough(single, 0.2)
    assert k is not None
    pools = words[:, None] + rng.standard_normal((400, 12, k))
    drawn = rng.integers(k, size=(400, 12, 600))
    of_pools = effects(np.take_along_axis(pools, drawn, axis=2).transpose(0, 2, 1)).mean(axis=1)
    within = (np.abs(of_pools - single.mean()) <= 0.2).mean()
    assert within > 0.95 - chance(0.95, 400)
    # A quarter of them is not enough.
    of_few = effects(np.take_along_axis(pools, drawn % (k // 4), axis=2).transpose(0, 2, 1)).mean(axis=1)
    assert (np.abs(of_few - single.mean()) <= 0.2).mean() < 0.9


def test_what_cannot_be_a_spread_or_a_band_is_refused() -> None:
    with pytest.raises(InputError, match=r"associations\.band: 0"):
        contexts_enough([0.1, 0.2], 0)
    with pytest.raises(InputError, match="effects: number 1 is nan"):
        contexts_enough([0.1, float("nan")], 0.1)


def test_the_detectable_difference_is_the_textbooks() -> None:
    # Cohen (1988), table 2.3.5 (two-sided .05, power .80): 26 a group for d = .80, 64 for .50, 17 for 1.00.
    for n, d in ((17, 1.0), (26, 0.8), (64, 0.5)):
        found = find_detectable_difference(n, n)
        assert found == pytest.approx(d, abs=0.011)
        assert found is not None
        assert found <= d  # n is the first number that is enough
        before = find_detectable_difference(n - 1, n - 1)
        assert before is not None
        assert before > d


@pytest.mark.parametrize(("n_x", "n_y"), [(5, 5), (6, 6), (6, 7), (8, 8)])
def test_p_is_a_count_of_partitions(n_x: int, n_y: int) -> None:
    # The largest p of 5 % or less: of sets of one size a partition and its mirror image count as one.
    step = (1 + (n_x == n_y)) / math.comb(n_x + n_y, n_x)
    attained = max(k * step for k in range(1000) if k * step <= 0.05)
    found = find_detectable_difference(n_x, n_y)
    assert found is not None
    freedom, shift = n_x + n_y - 2, found * math.sqrt(n_x * n_y / (n_x + n_y))
    bound = t.isf(attained / 2, freedom)
    assert nct.sf(bound, freedom, shift) + nct.cdf(-bound, freedom, shift) == pytest.approx(0.8, abs=1e-9)


def test_no_effect_can_be_found_with_too_few_words() -> None:
    assert find_detectable_difference(3, 3) is None  # p is 2 / 20 or more
    assert find_detectable_difference(3, 3, alternative="greater") is not None  # 1 / 20
    assert find_detectable_difference(3, 4) is not None  # 1 / 35: sets of different sizes have no mirror image
    assert find_detectable_difference(4, 4) is not None  # 2 / 70
    assert find_detectable_difference(2, 4) is None  # 1 / 15
    assert find_detectable_difference(5000, 5000) == pytest.approx(0.056, abs=0.001)


@pytest.mark.parametrize(
    ("n_x", "n_y", "studies"), [(4, 4, 1500), (8, 8, 1500), (8, 13, 1000), (13, 13, 600), (25, 25, 400)]
)
def test_power_of_the_permutation_test(n_x: int, n_y: int, studies: int) -> None:
    # Words with one vector (WEAT): a difference of means as large as is said, in standard deviations within sets.
    difference = find_detectable_difference(n_x, n_y)
    assert difference is not None
    rng = np.random.default_rng(n_x)
    found = 0
    for _ in range(studies):
        x, y = rng.normal(difference, 1, n_x), rng.normal(0, 1, n_y)
        method = "exact" if n_x + n_y <= 26 else "sampled"
        found += permutation_test_of_scores(x, y, method=method, n_resamples=499, rng=rng).p_value <= 0.05
    # With 4 and 4 words the test is not quite as good as the t distribution says: .74.
    expected = 0.74 if n_x == 4 else 0.8
    assert found / studies == pytest.approx(expected, abs=chance(0.8, studies))


def test_power_at_the_level_of_many_tests() -> None:
    """The difference for 28 tests is found at .05 / 28, the first step of Holm's method, in four studies of five."""
    difference = find_detectable_difference(8, 8, alpha=0.05 / 28)
    assert difference is not None
    rng = np.random.default_rng(28)
    found = sum(
        permutation_test_of_scores(rng.normal(difference, 1, 8), rng.normal(0, 1, 8), method="exact").p_value
        <= 0.05 / 28
        for _ in range(1500)
    )
    assert found / 1500 == pytest.approx(0.8, abs=chance(0.8, 1500))


def test_a_shift_by_words_and_contexts_is_found_as_often_as_is_said() -> None:
    """Words and contexts of these variances, 20 words of a set and 6 contexts of each, planned for 12 words and 3."""
    rng = np.random.default_rng(4)
    of_words, of_attributes, of_contexts = 1.0, 0.6, 2.0  # of one word
    row = {**dict.fromkeys(("n_x", "n_y"), 20), **dict.fromkeys(("n_a", "n_b"), 10), "contexts_min": 6}
    row |= {"variance_words": of_words / 10, "variance_attributes": of_attributes / 5}
    row["variance_contexts"] = of_contexts / 10 + of_contexts / 10  # half of it is of the attributes
    n, m, studies = 12, 3, 2000
    shift = find_detectable_shift(row, n, m, alternative="two-sided", alpha=0.01)
    assert shift is not None
    difference = shift * math.sqrt(of_words + of_contexts / 6)

    found = []
    for variance, contexts in ((of_words, of_contexts), (of_attributes, of_contexts / 2)):
        scores = math.sqrt(variance + contexts / m) * rng.standard_normal((studies, 2, n))
        scores[:, 0] += difference
        apart = np.abs(scores[:, 0].mean(axis=1) - scores[:, 1].mean(axis=1))
        error = np.sqrt(scores.var(axis=2, ddof=1).sum(axis=1) / n)
        found.append((apart > t.isf(0.005, 2 * n - 2) * error).mean())
    # the side with the wider spread decides, and finds it in 80% of studies
    assert min(found) == pytest.approx(0.8, abs=chance(0.8, studies) + 0.01)
    assert find_detectable_shift(row, 3, m, alternative="two-sided", alpha=0.01) is None
    more = [find_detectable_shift(row, n, m, alternative="two-sided", alpha=0.01) for n, m in ((12, 100), (50, 3))]
    assert all(each is not None and each < shift for each in more)
