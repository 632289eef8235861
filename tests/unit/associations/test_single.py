"""SC-WEAT: one target set, and the attribute words exchanged."""

import numpy as np
import pytest

from prasanga.associations import sc_weat
from prasanga.base.errors import InputError
from prasanga.stats.effects import ConstantScoresError


def at(*degrees: float) -> np.ndarray:
    """Unit vectors at these angles."""
    return np.stack([np.cos(np.radians(degrees)), np.sin(np.radians(degrees))], axis=1)


def test_by_hand() -> None:
    # The word points east; cosines with A are 1 and 1/2, with B 0 and -1/2. Means 3/4 and -1/4, squares about the mean
    # 1/4 of all four: 9/16 + 1/16 + 1/16 + 9/16 = 5/4, divided by 3.
    found = sc_weat(at(0), at(0, 60), at(90, 120))
    assert found.effect_size == pytest.approx(1 / (5 / 12) ** 0.5, rel=1e-12)
    assert found.word_effect_sizes.tolist() == pytest.approx([found.effect_size])
    # Of six partitions, the observed one and its mirror are the most extreme.
    assert (found.test.p_value, found.test.n_partitions) == (pytest.approx(1 / 3), 6)


def test_a_set_is_its_mean_cosines_and_each_word_is_its_own() -> None:
    rng = np.random.default_rng(1)
    W, A, B = rng.normal(size=(5, 7)), rng.normal(size=(4, 7)), rng.normal(size=(3, 7))
    found = sc_weat(W, A, B, std="pooled")
    assert found.word_effect_sizes.shape == (5,)
    for word, effect in zip(W, found.word_effect_sizes, strict=True):
        assert sc_weat([word], A, B, std="pooled").effect_size == pytest.approx(effect, rel=1e-12)
    swapped = sc_weat(W, B, A, std="pooled")
    assert swapped.effect_size == pytest.approx(-found.effect_size, rel=1e-12)
    assert swapped.test.p_value == found.test.p_value
    unit = W / np.linalg.norm(W, axis=1, keepdims=True)
    assert sc_weat([unit.mean(axis=0)], A, B, std="pooled").effect_size == pytest.approx(found.effect_size, rel=1e-12)


def test_a_word_in_the_middle_has_no_effect_size_of_its_own() -> None:
    # 45 degrees is as near to 0 as to 90; the set is not.
    found = sc_weat(at(45, 0), at(0), at(90))
    assert np.isnan(found.word_effect_sizes[0])
    assert found.word_effect_sizes[1] == pytest.approx(2**0.5)
    assert found.effect_size == pytest.approx(2**0.5)


def test_uniform_under_no_effect() -> None:
    rng = np.random.default_rng(2)
    p = [sc_weat(*(rng.normal(size=(n, 6)) for n in (3, 6, 6))).test.p_value for _ in range(400)]
    # Binomial: 400 trials at .05 have mean 20 and standard deviation 4.4.
    assert 7 <= np.count_nonzero(np.array(p) <= 0.05) <= 34


def test_refused() -> None:
    with pytest.raises(ConstantScoresError, match="All words have the same association"):
        sc_weat(at(0), at(60), at(60))
    with pytest.raises(InputError, match="B: vectors of 3 dimensions, but W has 2"):
        sc_weat(at(0), at(60), np.eye(3))
    with pytest.raises(InputError, match="W: row 0 holds NaN"):
        sc_weat([[np.nan, 1]], at(60), at(61))
