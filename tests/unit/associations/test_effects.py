"""Effect sizes: cases worked by hand, symmetries, the three denominators, and what cannot be computed."""

import math

import numpy as np
import pytest

from prasanga.associations import effect_size, permutation_test, weat
from prasanga.base.errors import InputError
from prasanga.stats.effects import ConstantScoresError, effect_size_of_scores

EAST, NORTH = [1.0, 0.0], [0.0, 1.0]


def test_association_scores_by_hand() -> None:
    # cos with east minus cos with north: 1 - 0, 0.6 - 0.8, (1 - 1) / sqrt 2
    scores = weat([[2, 0], [3, 4], [5, 5]], [NORTH], [EAST], [NORTH]).word_scores[:3]
    np.testing.assert_allclose(scores, [1.0, -0.2, 0.0], atol=1e-15)


def test_attribute_sets_are_means_of_cosines() -> None:
    # mean cos with A = (1 + 0) / 2, however long the vectors are; with B = -1
    scores = weat([EAST], [NORTH], [[7, 0], NORTH], [[-0.1, 0]]).word_scores[:1]
    np.testing.assert_allclose(scores, [1.5], atol=1e-15)


@pytest.mark.parametrize(
    ("std", "expected"),
    [
        # scores 3, 5 | 1, 1: difference 3, mean 2.5, squares .25 + 6.25 + 2.25 + 2.25 = 11
        ("union_ddof1", 3 / math.sqrt(11 / 3)),
        ("union_ddof0", 3 / math.sqrt(11 / 4)),
        # within X 1 + 1, within Y 0, two degrees of freedom
        ("pooled", 3 / math.sqrt(2 / 2)),
    ],
)
def test_denominators_by_hand(std: str, expected: float) -> None:
    assert effect_size_of_scores([3, 5], [1, 1], std) == pytest.approx(expected, rel=1e-14)
    assert effect_size_of_scores([1, 1], [3, 5], std) == pytest.approx(-expected, rel=1e-14)


@pytest.mark.parametrize(
    ("std", "expected"),
    [
        # scores 4 | 0, 1, 1, 2: difference 3, mean 1.6, squares 5.76 + 2.56 + .36 + .36 + .16 = 9.2
        ("union_ddof1", 3 / math.sqrt(9.2 / 4)),
        ("union_ddof0", 3 / math.sqrt(9.2 / 5)),
        ("pooled", 3 / math.sqrt(2 / 3)),
    ],
)
def test_unequal_sizes_by_hand(std: str, expected: float) -> None:
    assert effect_size_of_scores([4], [0, 1, 1, 2], std) == pytest.approx(expected, rel=1e-14)


def test_targets_that_are_attributes_are_refused() -> None:
    u, v = np.random.default_rng(1).normal(size=(2, 8, 30))
    for measure in (effect_size, permutation_test, weat):
        for sets in ((u, v, u, v), (u, v, v, u), (u, v, v[:2], u + v), (v, u[::-1], u - v, u)):
            with pytest.raises(
                InputError, match=r"[AB]: word \d has the vector of word \d of [XY], one of \d that both"
            ):
                measure(*sets)
    one = np.concatenate([u[:1], u + v])
    assert np.isfinite(effect_size(u, v, one, u - v))  # a single vector may be the same by chance


@pytest.mark.parametrize("std", ["union_ddof1", "union_ddof0", "pooled"])
def test_symmetries(std: str) -> None:
    rng = np.random.default_rng(3)
    X, Y, A, B = (rng.standard_normal((n, 7)) for n in (5, 8, 4, 6))
    d = effect_size(X, Y, A, B, std=std)
    assert d != 0
    assert effect_size(Y, X, A, B, std=std) == pytest.approx(-d, rel=1e-12)
    assert effect_size(X, Y, B, A, std=std) == pytest.approx(-d, rel=1e-12)
    assert effect_size(X[::-1], Y, A[::-1], B, std=std) == pytest.approx(d, rel=1e-12)
    lengths = rng.uniform(0.01, 100, (5, 1))
    assert effect_size(X * lengths, Y, A * 3, B * 1e-4, std=std) == pytest.approx(d, rel=1e-12)


def test_equals_the_definition_word_by_word() -> None:
    rng = np.random.default_rng(4)
    X, Y, A, B = (rng.standard_normal((n, 5)).astype(np.float32) for n in (4, 3, 2, 5))

    def cos(u: np.ndarray, v: np.ndarray) -> float:
        u, v = u.astype(float), v.astype(float)
        return float(u @ v) / math.sqrt(float(u @ u) * float(v @ v))

    def s(w: np.ndarray) -> float:
        return sum(cos(w, a) for a in A) / len(A) - sum(cos(w, b) for b in B) / len(B)

    x, y = [s(w) for w in X], [s(w) for w in Y]
    mean = sum(x + y) / 7
    std = math.sqrt(sum((value - mean) ** 2 for value in x + y) / 6)
    assert effect_size(X, Y, A, B) == pytest.approx((sum(x) / 4 - sum(y) / 3) / std, rel=1e-12)


def test_constant_scores_are_refused() -> None:
    with pytest.raises(ConstantScoresError, match="same association"):
        effect_size_of_scores([0.1, 0.1, 0.1], [0.1, 0.1])
    with pytest.raises(ConstantScoresError, match="within X and within Y"):
        effect_size_of_scores([2, 2], [1, 1], "pooled")
    rng = np.random.default_rng(5)
    X, Y, A = rng.standard_normal((4, 6)), rng.standard_normal((4, 6)), rng.standard_normal((5, 6))
    with pytest.raises(ConstantScoresError, match="attribute sets, the same"):
        effect_size(X, Y, A, A[[3, 1, 0, 4, 2]])  # the same set, in an order that leaves rounding errors
