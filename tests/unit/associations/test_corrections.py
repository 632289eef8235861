"""Corrections for many tests: values by hand, the definitions, scipy's, and whole tables."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import false_discovery_control

from prasanga.stats.permutation import benjamini_hochberg, holm

P_VALUES = st.lists(st.sampled_from([0.0, 1e-300, 0.001, 0.01, 0.02, 0.05, 0.3, 0.9, 1.0]), min_size=1, max_size=12)


def holm_by_definition(p: list[float], alpha: float) -> list[bool]:
    """Step down (Holm 1979): call the smallest false at alpha / m, the next at alpha / (m - 1), and stop at the first
    that is larger."""
    false = [False] * len(p)
    for step, i in enumerate(sorted(range(len(p)), key=p.__getitem__)):
        if p[i] > alpha / (len(p) - step):
            break
        false[i] = True
    return false


def benjamini_hochberg_by_definition(p: list[float], alpha: float) -> list[bool]:
    """Step up (Benjamini and Hochberg 1995): the largest i with p_(i) <= i alpha / m, and all that are no larger."""
    ordered = sorted(p)
    passed = [value for i, value in enumerate(ordered, start=1) if value <= i * alpha / len(p)]
    return [bool(passed) and value <= passed[-1] for value in p]


def test_a_missing_p_is_no_test() -> None:
    p = [np.nan, 0.03, 0.01, np.nan, 0.02]
    for adjust in (holm, benjamini_hochberg):
        adjusted = adjust(p)
        assert np.isnan(adjusted[[0, 3]]).all()
        assert adjusted[[1, 2, 4]].tolist() == adjust([0.03, 0.01, 0.02]).tolist()
        assert np.isnan(adjust([np.nan, np.nan])).all()
        assert adjust([]).size == 0


@given(p=P_VALUES)
def test_what_is_called_false_is_what_the_definitions_call_false(p: list[float]) -> None:
    for alpha in (
        0.0099,
        0.0499,
        0.0501,
        0.2003,
    ):  # of no p of the list a simple multiple, so that rounding is no matter
        assert (holm(p) <= alpha).tolist() == holm_by_definition(p, alpha)
        assert (benjamini_hochberg(p) <= alpha).tolist() == benjamini_hochberg_by_definition(p, alpha)


@given(p=P_VALUES)
def test_benjamini_hochberg_equals_scipy(p: list[float]) -> None:
    assert benjamini_hochberg(p) == pytest.approx(false_discovery_control(p, method="bh"), rel=1e-14)
