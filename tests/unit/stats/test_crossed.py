"""Effects of words counted several times: against lists that hold the words as often, whatever an item is."""

import numpy as np
import pytest

from prasanga.associations.effects import effect_size
from prasanga.associations.vectors import compute_cosines
from prasanga.stats import crossed as module
from prasanga.stats.crossed import CrossedScores
from prasanga.stats.effects import STD_CONVENTIONS, ConstantScoresError

SIZES = 3, 4, 3, 2
RNG = np.random.default_rng(3)

# One list of words a set, one (n_items, d) array a word.
Sets = list[list[np.ndarray]]


def sets_of(items: list[list[int]], seed: int = 0) -> Sets:
    rng = np.random.default_rng(seed)
    return [[rng.standard_normal((n, 6)) + 0.5 for n in words] for words in items]


ONE_ITEM = sets_of([[1] * n for n in SIZES])
SEVERAL = sets_of([[1, 3, 2], [2, 2, 1, 4], [2, 1, 3], [1, 2]])


def several_draws(n_draws: int = 4) -> tuple[CrossedScores, list[Sets]]:
    """CEAT: the same words, other vectors in each draw."""
    draws = [sets_of([[1] * n for n in SIZES], seed) for seed in range(n_draws)]
    values = np.concatenate([compute_cosines(*sets).values for sets in draws])
    return CrossedScores(values, np.arange(7), np.arange(5), *SIZES), draws


def listed(sets: Sets, counts: np.ndarray, std: str) -> float:
    """The effect size of lists in which every word stands as often as it counts, from its definition.

    Means are over words, each the mean over its items; so are squares, with as many degrees of freedom as items.
    """
    repeats = np.split(counts.astype(int), np.cumsum(SIZES)[:-1])
    x, y, a, b = (
        [
            word / np.linalg.norm(word, axis=1, keepdims=True)
            for word, n in zip(words, often, strict=True)
            for _ in range(n)
        ]
        for words, often in zip(sets, repeats, strict=True)
    )
    axis = np.mean([word.mean(axis=0) for word in a], axis=0) - np.mean([word.mean(axis=0) for word in b], axis=0)
    of_x, of_y = ([word @ axis for word in words] for words in (x, y))
    mean_x, mean_y = (np.mean([scores.mean() for scores in of_set]) for of_set in (of_x, of_y))
    both, n = [*of_x, *of_y], sum(map(len, [*of_x, *of_y]))
    middle = (len(of_x) * mean_x + len(of_y) * mean_y) / len(both)
    around = [mean_x] * len(of_x) + [mean_y] * len(of_y) if std == "pooled" else [middle] * len(both)
    square = np.mean([np.mean((scores - m) ** 2) for scores, m in zip(both, around, strict=True)])
    freedom = {"union_ddof1": n - 1, "union_ddof0": n, "pooled": n - 2}[std]
    return float((mean_x - mean_y) / np.sqrt(square * n / freedom))


def test_with_as_many_items_a_word_it_is_the_effect_size_over_items() -> None:
    sets = sets_of([[3] * n for n in SIZES])
    for std in STD_CONVENTIONS:
        expected = effect_size(*(np.concatenate(words) for words in sets), std=std)
        assert compute_cosines(*sets).effect(std) == pytest.approx(expected, rel=1e-12)


def random_counts(n: int, seed: int = 1) -> np.ndarray:
    """(n, 12) counts in which no set is empty."""
    return np.random.default_rng(seed).integers(0, 4, size=(n, 12)) + np.eye(12)[[0, 3, 7, 10]].sum(axis=0)


@pytest.mark.parametrize("std", STD_CONVENTIONS)
@pytest.mark.parametrize("sets", [ONE_ITEM, SEVERAL], ids=["words", "sentences"])
def test_a_word_that_counts_twice_is_a_word_listed_twice(sets: Sets, std: str) -> None:
    counts = random_counts(20)
    effects = compute_cosines(*sets).effects(counts[:, :7], counts[:, 7:], std=std)
    np.testing.assert_allclose(effects, [listed(sets, row, std) for row in counts], rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("std", STD_CONVENTIONS)
def test_the_effect_is_the_mean_over_draws_as_often_as_they_count(std: str) -> None:
    cosines, draws = several_draws()
    counts, often = random_counts(6), np.array([[1, 2, 0, 1]] * 6, dtype=float)
    each = np.array([[listed(sets, row, std) for sets in draws] for row in counts])
    np.testing.assert_allclose(cosines.effects(counts[:, :7], counts[:, 7:], std=std), each.mean(axis=1), rtol=1e-12)
    np.testing.assert_allclose(
        cosines.effects(counts[:, :7], counts[:, 7:], often, std), each @ often[0] / 4, rtol=1e-12
    )


def test_blocks_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    cosines, _ = several_draws()
    counts, often = random_counts(11), RNG.integers(1, 3, size=(11, 4)).astype(float)
    at_once = cosines.effects(counts[:, :7], counts[:, 7:], often)
    monkeypatch.setattr(module, "_BLOCK", 1)
    one_by_one = cosines.effects(counts[:, :7], counts[:, 7:], often)
    np.testing.assert_allclose(one_by_one, at_once, rtol=1e-12)


def test_no_effect_is_nan() -> None:
    cosines = compute_cosines(*ONE_ITEM)
    counts = np.ones((4, 7))
    counts[1, :3] = 0  # no word of X
    counts[2] = [0, 5, 0, 0, 0, 0, 0]  # none of Y
    effects = cosines.effects(counts, np.array([[1, 1, 1, 1, 1]] * 3 + [[1, 1, 1, 0, 0]], dtype=float))
    assert np.isnan(effects).tolist() == [False, True, True, True]
    one_score = CrossedScores(np.full((1, 4, 2), 0.3), np.arange(4), np.arange(2), 2, 2, 1, 1)
    assert np.isnan(one_score.effects(np.ones((2, 4)))).all()
    with pytest.raises(ConstantScoresError):
        one_score.effect()


def test_a_draw_without_effect_is_no_matter_if_it_does_not_count() -> None:
    cosines, _ = several_draws()
    values = cosines.values.copy()
    values[2] = 0.1
    broken = CrossedScores(values, cosines.targets, cosines.attributes, *SIZES)
    often = np.array([[1, 1, 0, 1], [1, 1, 1, 1]], dtype=float)
    effects = broken.effects(draw_counts=often)
    assert effects[0] == pytest.approx(cosines.effects(draw_counts=often)[0], rel=1e-12)
    assert np.isnan(effects[1])
