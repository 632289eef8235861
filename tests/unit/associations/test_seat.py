"""SEAT: cases worked by hand, the two units and averages, the table of a study, and calibration."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import numpy.typing as npt
import pytest

from prasanga.associations.effects import effect_size, permutation_test, seat

Array = npt.NDArray[np.float64]


def unit(degrees: float) -> list[float]:
    return [float(np.cos(np.radians(degrees))), float(np.sin(np.radians(degrees)))]


def random_words(rng: np.random.Generator, n: int, sentences: int, d: int = 6, spread: float = 0.2) -> list[Array]:
    """Words whose sentences are nearly the same: a direction each, and a little noise."""
    return [rng.normal(size=d) + spread * rng.normal(size=(sentences, d)) for _ in range(n)]


def test_a_case_worked_by_hand() -> None:
    """A at 0 and B at 90 degrees, so that s = cos - sin; four sentences of X and three of Y, two words each.

    X: s of 0, 90 degrees (1, -1) and twice 0 (1, 1): words 0 and 1, mean 1/2. Y: 90, 90 (-1, -1) and 180 (-1): words
    -1 and -1. Every word weighs the same: the mean of all is -1/4, and the mean squares about it over the sentences of
    each word are 17/16, 25/16, 9/16, 9/16, on average 15/16; with 7 sentences the variance is 15/16 * 7/6 = 35/32.
    """
    X = [[unit(0), unit(90)], [unit(0), [3.0, 0.0]]]
    Y = [[unit(90), [0.0, 0.5]], [unit(180)]]
    result = seat(X, Y, [[unit(0)]], [[unit(90)]])
    assert result.effect_size == pytest.approx(1.5 / np.sqrt(35 / 32), rel=1e-12)
    assert result.word_scores == pytest.approx([0, 1, -1, -1], abs=1e-12)
    assert result.test.statistic == pytest.approx(1.5)
    # of the six ways to choose X from (0, 1, -1, -1), the observed one and its mirror image are as extreme
    assert (result.test.p_value, result.test.n_partitions, result.test.exact) == (pytest.approx(2 / 6), 6, True)
    greater = seat(X, Y, [[unit(0)]], [[unit(90)]], alternative="greater")
    assert greater.test.p_value == pytest.approx(1 / 6)


def test_the_unit_sentence_permutes_single_sentences() -> None:
    X = [[unit(0), unit(90)], [unit(0), [3.0, 0.0]]]
    Y = [[unit(90), [0.0, 0.5]], [unit(180)]]
    scores, n_x = np.array([1, -1, 1, 1, -1, -1, -1]), 4
    observed = scores[:n_x].mean() - scores[n_x:].mean()
    statistics = []
    for chosen in combinations(range(7), n_x):
        inside = np.isin(np.arange(7), chosen)
        statistics.append(scores[inside].mean() - scores[~inside].mean())
    expected = np.mean(np.abs(statistics) >= abs(observed) - 1e-9)
    result = seat(X, Y, [[unit(0)]], [[unit(90)]], unit="sentence")
    assert result.test.p_value == pytest.approx(expected)
    assert result.test.n_partitions == 35
    assert result.effect_size == seat(X, Y, [[unit(0)]], [[unit(90)]]).effect_size


def test_one_sentence_a_word_is_weat() -> None:
    rng = np.random.default_rng(1)
    x, y, a, b = (rng.normal(size=(n, 5)) for n in (5, 4, 6, 3))
    sets = [[row[None] for row in words] for words in (x, y, a, b)]
    for which in ("word", "sentence"):
        result = seat(*sets, unit=which)
        assert result.effect_size == pytest.approx(effect_size(x, y, a, b), rel=1e-12)
        # sentences are compared by the difference, as in the papers
        compared = "studentized" if which == "word" else "difference"
        assert result.test.p_value == permutation_test(x, y, a, b, statistic=compared).p_value
        assert result.test_attributes.p_value == permutation_test(a, b, x, y).p_value
        assert result.p_association == max(result.test.p_value, result.test_attributes.p_value)
    assert seat(*sets, std="pooled").effect_size == pytest.approx(effect_size(x, y, a, b, std="pooled"), rel=1e-12)


def test_an_average_of_vectors_takes_them_as_they_are() -> None:
    """The program of Sadhu et al.: one mean vector a word, in which a longer vector weighs more."""
    rng = np.random.default_rng(2)
    sets = [random_words(rng, n, 3) for n in (4, 4, 3, 3)]
    sets[0][0][0] *= 100
    means = [np.stack([word.mean(axis=0) for word in words]) for words in sets]
    result = seat(*sets, average="vectors")
    assert result.effect_size == pytest.approx(effect_size(*means), rel=1e-12)
    assert result.test.p_value == permutation_test(*means).p_value
    assert seat(*sets, average="vectors", unit="sentence").test.p_value == result.test.p_value
    assert seat(*sets).effect_size != pytest.approx(result.effect_size, abs=0.01)


def test_under_no_effect_words_keep_the_level_and_sentences_do_not() -> None:
    """8 and 8 words in 5 templates, 200 runs: p of words is below .05 in about 5 %, p of sentences far more often."""
    rng = np.random.default_rng(5)
    below = {"word": 0, "sentence": 0}
    for _ in range(200):
        sets = [random_words(rng, n, 5) for n in (8, 8, 4, 4)]
        for which in below:
            p = seat(*sets, unit=which, n_resamples=400, rng=rng).test.p_value
            below[which] += p < 0.05
    assert 2 <= below["word"] <= 20
    assert below["sentence"] >= 60
