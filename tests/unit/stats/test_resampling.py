"""Resampled words and draws: their numbers, and that models and lengths share them."""

import numpy as np

from prasanga.stats.intervals import Resampling, draw_resampling
from prasanga.stats.permutation import Units

WORDS = [["rose", "lily", "iris"], ["ant", "wasp"], ["love", "peace", "joy", "hope"], ["war"]]


def draw(words: list[list[str]] = WORDS, n_draws: int = 5, n_resamples: int = 200, sides: int = 2) -> Resampling:
    sizes = [len(of_set) for of_set in words]
    units = [Units.from_sizes(*sizes[:2]), Units.from_sizes(*sizes[2:])][:sides]
    return draw_resampling(words, units, n_draws, n_resamples=n_resamples, seed=1, category="flowers")


def test_every_set_keeps_its_size() -> None:
    resampling = draw()
    assert resampling.attribute_counts is not None
    assert resampling.draw_counts is not None
    assert (resampling.target_counts[:, :3].sum(axis=1) == 3).all()
    assert (resampling.target_counts[:, 3:].sum(axis=1) == 2).all()
    assert (resampling.attribute_counts[:, :4].sum(axis=1) == 4).all()
    assert (resampling.attribute_counts[:, 4] == 1).all()
    assert (resampling.draw_counts.sum(axis=1) == 5).all()
    assert resampling.target_counts.shape == (200, 5)


def test_words_are_drawn_with_replacement_and_alike() -> None:
    counts = draw(words=[[str(i) for i in range(10)]] * 4, n_resamples=4000).target_counts
    np.testing.assert_allclose(counts.mean(axis=0), 1, atol=0.06)
    # of n draws with replacement the variance of a count is 1 - 1 / n
    np.testing.assert_allclose(counts.var(axis=0), 0.9, atol=0.1)


def test_the_same_words_give_the_same_resamples() -> None:
    # which model, and which length, is not even asked
    first, second = draw(), draw()
    np.testing.assert_array_equal(first.target_counts, second.target_counts)
    np.testing.assert_array_equal(first.attribute_counts, second.attribute_counts)
    np.testing.assert_array_equal(first.draw_counts, second.draw_counts)


def test_more_resamples_begin_with_those_of_fewer() -> None:
    np.testing.assert_array_equal(draw(n_resamples=300).target_counts[:200], draw().target_counts)


def test_levels_that_are_not_resampled() -> None:
    assert draw(n_draws=1).draw_counts is None
    fixed = draw(sides=1)
    assert fixed.attribute_counts is None
    np.testing.assert_array_equal(fixed.target_counts, draw().target_counts)
