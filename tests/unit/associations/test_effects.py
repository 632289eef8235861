"""Effect sizes: cases worked by hand, symmetries, the three denominators, and what cannot be computed."""

import numpy as np
import pytest

from prasanga.associations import effect_size, permutation_test, weat
from prasanga.base.errors import InputError
from prasanga.stats.effects import ConstantScoresError, effect_size_of_scores

EAST, NORTH = [1.0, 0.0], [0.0, 1.0]


def test_targets_that_are_attributes_are_refused() -> None:
    u, v = np.random.default_rng(1).normal(size=(2, 8, 30))
    for measure in (effect_size, permutation_test, weat):
        for sets in ((u, v, u, v), (u, v, v, u), (u, v, v[:2], u + v), (v, u[::-1], u - v, u)):
            with pytest.raises(InputError, match=r"[AB]: word \d has the vector of word \d of [XY], one of \d in both"):
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


def test_constant_scores_are_refused() -> None:
    with pytest.raises(ConstantScoresError, match="same association"):
        effect_size_of_scores([0.1, 0.1, 0.1], [0.1, 0.1])
    with pytest.raises(ConstantScoresError, match="within X and within Y"):
        effect_size_of_scores([2, 2], [1, 1], "pooled")
    rng = np.random.default_rng(5)
    X, Y, A = rng.standard_normal((4, 6)), rng.standard_normal((4, 6)), rng.standard_normal((5, 6))
    with pytest.raises(ConstantScoresError, match="attribute sets, the same"):
        effect_size(X, Y, A, A[[3, 1, 0, 4, 2]])  # the same set, in an order that leaves rounding errors
