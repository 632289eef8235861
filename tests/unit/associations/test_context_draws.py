"""Draws of contexts: without and with replacement, and names that make them independent of each other."""

import numpy as np
import pytest

from prasanga.associations import draw_contexts, named_draws
from prasanga.associations.ceat import spread_draws
from prasanga.base.errors import InputError


def test_without_replacement_while_there_are_enough() -> None:
    draws = draw_contexts([50, 20, 19, 1], 20, np.random.default_rng(1))
    assert draws.shape == (20, 4)
    assert len(set(draws[:, 0])) == 20
    assert sorted(draws[:, 1]) == list(range(20))
    # 19 contexts for 20 draws: drawn with replacement, so one of them at least twice, and in fact several
    assert len(set(draws[:, 2])) < 19
    assert set(draws[:, 3]) == {0}


@pytest.mark.parametrize("replacement", ["without-replacement", "with-replacement"])
def test_every_context_is_as_likely(replacement: str) -> None:
    draws = draw_contexts([10] * 4000, 4, np.random.default_rng(2), replacement)
    counts = np.bincount(draws.ravel(), minlength=10)
    # 16 000 draws over 10 contexts: 1600 each, standard deviation below 38
    assert counts.size == 10
    assert np.abs(counts - 1600).max() < 4 * 38


def test_named_draws_do_not_depend_on_other_words() -> None:
    names = ("fixed", "9", "C1")
    both = named_draws(["গোলাপ", "বেলি"], [40, 30], 25, seed=47, names=names)
    alone = named_draws(["বেলি"], [30], 25, seed=47, names=names)
    np.testing.assert_array_equal(both[:, 1], alone[:, 0])


def test_named_draws_depend_on_seed_names_and_turn() -> None:
    def draw(seed: int = 47, names: tuple[str, ...] = ("fixed", "9", "C1")) -> list[int]:
        return named_draws(["গোলাপ"], [1000], 20, seed=seed, names=names)[:, 0].tolist()

    assert draw() == draw()
    assert len({tuple(draw(*change)) for change in [(47,), (48,), (47, ("random", "m", "9", "C1"))]}) == 3
    twice = named_draws(["গোলাপ", "গোলাপ"], [1000, 1000], 20, seed=47, names=("fixed", "9", "C1"))
    assert twice[:, 0].tolist() == draw()
    assert twice[:, 0].tolist() != twice[:, 1].tolist()


def test_named_draws_are_these() -> None:
    # A change of these numbers changes every published table: it must be meant.
    assert named_draws(["a"], [100], 6, seed=47, names=("fixed", "9", "C1"))[:, 0].tolist() == [28, 67, 93, 58, 47, 19]


@pytest.mark.parametrize(
    ("n_contexts", "n_samples", "replacement", "message"),
    [
        ([3], 0, "without-replacement", "n_samples: 0. Write a whole number of at least 1"),
        ([3, 0], 5, "without-replacement", "n_contexts, word 1: 0. Write a whole number of at least 1"),
        ([3], 5, "without", "replacement: 'without' .* Write 'without-replacement' or 'with-replacement'"),
    ],
)
def test_bad_input(n_contexts: list[int], n_samples: int, replacement: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        draw_contexts(n_contexts, n_samples, 1, replacement)
    with pytest.raises(InputError, match=message):
        named_draws(["w"] * len(n_contexts), n_contexts, n_samples, seed=1, names=(), replacement=replacement)


def spread(ids: list[str], n_samples: int = 64, word: str = "গোলাপ") -> list[str]:
    return [ids[place] for place in spread_draws(ids, n_samples, seed=47, names=(word, 0))]


def test_spread_draws_use_a_context_once_or_equally_often() -> None:
    ids = [f"{i:04d}" for i in range(300)]
    assert len(set(spread(ids))) == 64
    counts = np.unique(spread(ids[:10], 64), return_counts=True)[1]
    assert sorted(counts.tolist()) == [6] * 6 + [7] * 4
    assert spread(ids[:1], 3) == ["0000"] * 3


def test_spread_draws_depend_on_ids_and_not_on_their_order() -> None:
    ids = [f"{i:04d}" for i in range(300)]
    assert spread(ids) == spread(ids[::-1])
    assert spread(ids) != spread(ids, word="বেলি")


def test_a_lost_context_moves_hardly_any_spread_draw() -> None:
    ids = [f"{i:04d}" for i in range(300)]
    before = spread(ids)
    for lost in before[:20]:
        after = spread([each for each in ids if each != lost])
        moved = [i for i, (one, other) in enumerate(zip(before, after, strict=True)) if one != other]
        assert 1 <= len(moved) <= 6
    unused = next(each for each in ids if each not in before)
    assert spread([each for each in ids if each != unused]) == before
