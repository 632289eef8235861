"""Units of chance: words, clusters and matched pairs, permuted, left out and drawn again."""

from itertools import combinations, product

import numpy as np
import pytest
from scipy.stats import permutation_test

from prasanga.stats.permutation import Units, matched_effect_size, sign_flip_test

CLUSTERED = Units((0, 0, 1, 2, 3, 3), (0, 1, 2, 2, 3))
PAIRS = Units.from_clusters("abcdef", "ghijkl", {"a": "1", "c": "1"}, {"g": "1", "i": "1"}, matched=True)


def test_words_of_a_cluster_are_one_unit() -> None:
    found = Units.from_clusters(["mum", "rose", "mother"], ["ant", "wasp"], {"mum": "m", "mother": "m"}, {})
    assert found == Units((0, 1, 0), (0, 1))
    assert (found.sizes, found.freedom) == ((2, 2), 2)
    assert (PAIRS.sizes, PAIRS.freedom, PAIRS.first, PAIRS.second) == (
        (5, 5),
        4,
        (0, 1, 0, 2, 3, 4),
        (0, 1, 0, 2, 3, 4),
    )


def test_a_unit_has_the_mean_score_of_its_words() -> None:
    found = CLUSTERED.average(np.array([1, 3, 5, 7, 9, 11, 2, 4, 6, 8, 10.0]))
    assert found.tolist() == [2, 5, 7, 10, 2, 4, 7, 10]
    differences = PAIRS.subtract(np.array([5, 1, 7, 2, 3, 4, 1, 1, 2, 1, 1, 1.0]))
    assert differences.tolist() == [4.5, 0, 1, 2, 3]


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
@pytest.mark.parametrize("seed", range(5))
def test_clusters_change_sets_whole(alternative: str, seed: int) -> None:
    scores = np.random.default_rng(seed).standard_normal(11).round(1)
    units = CLUSTERED.average(scores)

    def difference(chosen: tuple[int, ...]) -> float:
        return float(units[list(chosen)].mean() - np.delete(units, list(chosen)).mean())

    observed = difference((0, 1, 2, 3))
    as_extreme = {
        "two-sided": lambda d: abs(d) >= abs(observed) - 1e-9,
        "greater": lambda d: d >= observed - 1e-9,
        "less": lambda d: d <= observed + 1e-9,
    }[alternative]
    differences = [difference(chosen) for chosen in combinations(range(8), 4)]
    how = {"alternative": alternative, "n_resamples": 100, "rng": np.random.default_rng(0), "noise": 0.0}
    test = CLUSTERED.test(scores, statistic="studentized", **how)  # type: ignore[arg-type]
    assert test.p_value == pytest.approx(np.mean([as_extreme(d) for d in differences]))
    assert test.smallest_p == pytest.approx((2 if alternative == "two-sided" else 1) / 70)


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
@pytest.mark.parametrize("n", [1, 2, 5, 9])
def test_all_flips_are_counted(alternative: str, n: int) -> None:
    differences = np.random.default_rng(n).integers(-3, 5, size=n).astype(float)
    observed = differences.mean()
    means = [float(np.dot(signs, differences)) / n for signs in product((1, -1), repeat=n)]
    count = {
        "two-sided": sum(abs(mean) >= abs(observed) - 1e-9 for mean in means),
        "greater": sum(mean >= observed - 1e-9 for mean in means),
        "less": sum(mean <= observed + 1e-9 for mean in means),
    }[alternative]
    test = sign_flip_test(differences, alternative=alternative)
    assert (test.p_value, test.exact, test.n_partitions) == (count / 2**n, True, 2**n)
    assert test.smallest_p == (2 if alternative == "two-sided" else 1) / 2**n
    if n > 1:
        how = {"permutation_type": "samples", "alternative": alternative, "n_resamples": np.inf}
        known = permutation_test((differences, np.zeros(n)), lambda x, y: np.mean(x - y), vectorized=False, **how)
        assert test.p_value == pytest.approx(known.pvalue)


def test_many_pairs_are_flipped_at_random() -> None:
    differences = np.random.default_rng(0).standard_normal(24) + 0.3
    exact = np.mean(np.abs(_all_means(differences)) >= abs(differences.mean()) - 1e-9)
    test = sign_flip_test(differences, n_resamples=50_000, rng=1)
    assert not test.exact
    assert test.ci_low < exact < test.ci_high
    assert test.p_value == pytest.approx(exact, abs=0.005)
    assert test.smallest_p == 1 / 50_001


def _all_means(differences: np.ndarray) -> np.ndarray:
    sums = np.zeros(1)
    for difference in differences:
        sums = np.concatenate([sums + difference, sums - difference])
    return sums / differences.size


def test_no_difference_within_any_pair_has_p_1() -> None:
    assert sign_flip_test(np.zeros(8)).p_value == 1
    assert sign_flip_test(np.full(8, 1e-15), noise=1e-13).p_value == 1
    assert sign_flip_test(np.full(8, 0.5)).p_value == 2 / 256


def test_of_pairs_that_move_together_the_difference_is_found() -> None:
    # the scores of pairs differ much more between pairs than within them
    rng = np.random.default_rng(4)
    common, matched = 5 * rng.standard_normal(8), Units(tuple(range(8)), tuple(range(8)), matched=True)
    scores = np.concatenate([common + 0.5, common]) + 0.01 * rng.standard_normal(16)
    how = {"alternative": "two-sided", "n_resamples": 100, "rng": rng, "statistic": "difference", "noise": 0.0}
    assert matched.test(scores, **how).p_value == 2 / 256  # type: ignore[arg-type]
    assert Units.from_sizes(8, 8).test(scores, **how).p_value > 0.5  # type: ignore[arg-type]


def test_units_are_left_out_whole() -> None:
    x, y = CLUSTERED.leave_one_out()
    assert x[:, :6].tolist() == [[0, 0, 1, 1, 1, 1], [1, 1, 0, 1, 1, 1], [1, 1, 1, 0, 1, 1], [1, 1, 1, 1, 0, 0]]
    assert (x[:, 6:] == 1).all()
    assert y[:, 6:].tolist() == [[0, 1, 1, 1, 1], [1, 0, 1, 1, 1], [1, 1, 0, 0, 1], [1, 1, 1, 1, 0]]
    (pairs,) = PAIRS.leave_one_out()
    assert pairs[0].tolist() == [0, 1, 0, 1, 1, 1] * 2
    assert pairs[1].tolist() == [1, 0, 1, 1, 1, 1] * 2


def test_units_are_drawn_again_whole() -> None:
    rngs = [np.random.default_rng(0), np.random.default_rng(1)]
    counts = CLUSTERED.draw(500, rngs)
    assert (counts[:, 0] == counts[:, 1]).all()
    assert (counts[:, [0, 2, 3, 4]].sum(axis=1) == 4).all()
    np.testing.assert_allclose(counts.mean(axis=0), 1, atol=0.15)
    pairs = PAIRS.draw(500, rngs)
    assert (pairs[:, :6] == pairs[:, 6:]).all()


def test_effect_within_pairs() -> None:
    differences = np.array([1, 2, 3, 4, 5, 6, 7, 8.0])
    assert matched_effect_size(differences) == pytest.approx(4.5 / np.std(differences, ddof=1))
    assert matched_effect_size(differences[:7]) is None
    assert matched_effect_size(np.ones(8)) is None
