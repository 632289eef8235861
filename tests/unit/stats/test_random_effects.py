"""The random-effects model: by hand, against slow programs written from the definitions, and p far beyond float64."""

import math

import numpy as np
import pytest
from scipy.optimize import brentq, minimize_scalar

from prasanga.associations import combine
from prasanga.base.errors import InputError

METHODS = ["dl", "pm", "reml"]


def test_dersimonian_laird_with_unequal_variances_by_hand() -> None:
    # w = 1, 1, 1/2; mean (0 + 4 + 1) / 2.5 = 2; Q = 4 + 4 + 0 = 8; c = 2.5 - 2.25 / 2.5 = 1.6; tau2 = (8 - 2) / 1.6.
    result = combine([0, 4, 2], [1, 1, 2])
    assert result.q == pytest.approx(8, rel=1e-14)
    assert result.tau2 == pytest.approx(3.75, rel=1e-14)
    assert result.i2 == pytest.approx(0.75, rel=1e-14)
    assert result.effect == pytest.approx(2, rel=1e-14)
    assert result.standard_error == pytest.approx((2 / 4.75 + 1 / 5.75) ** -0.5, rel=1e-14)


def slow_q(y: np.ndarray, v: np.ndarray, tau2: float) -> float:
    w = [1 / (vi + tau2) for vi in v]
    mean = math.fsum(wi * yi for wi, yi in zip(w, y, strict=True)) / math.fsum(w)
    return math.fsum(wi * (yi - mean) ** 2 for wi, yi in zip(w, y, strict=True))


def slow_tau2(y: np.ndarray, v: np.ndarray, method: str) -> float:
    """From the definitions: root of Q(tau2) - (n - 1); maximum of the restricted likelihood by the matrix formula."""
    if method == "dl":
        w = 1 / v
        return max(0.0, (slow_q(y, v, 0) - len(y) + 1) / (w.sum() - (w**2).sum() / w.sum()))
    if method == "pm":
        if slow_q(y, v, 0) <= len(y) - 1:
            return 0.0
        return brentq(lambda t: slow_q(y, v, t) - (len(y) - 1), 0, 100, xtol=1e-15, rtol=1e-14)
    ones = np.ones((len(y), 1))

    def minus_likelihood(t: float) -> float:
        sigma = np.diag(v + t)
        inverse = np.linalg.inv(sigma)
        information = ones.T @ inverse @ ones
        projection = inverse - inverse @ ones @ np.linalg.inv(information) @ ones.T @ inverse
        return 0.5 * (np.linalg.slogdet(sigma)[1] + np.linalg.slogdet(information)[1] + y @ projection @ y)

    starts = np.concatenate([[0.0], np.geomspace(1e-6, 50, 400)])
    best = int(np.argmin([minus_likelihood(t) for t in starts]))
    bounds = (starts[max(best - 1, 0)], starts[min(best + 1, 400)])
    return minimize_scalar(minus_likelihood, bounds=bounds, method="bounded", options={"xatol": 1e-12}).x


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("seed", range(6))
def test_estimators_equal_slow_ones(method: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 25))
    v = rng.uniform(0.01, 3, n)
    y = 0.4 + rng.standard_normal(n) * np.sqrt(v + rng.uniform(0, 2))
    expected = slow_tau2(y, v, method)
    # A maximum is flat: comparing likelihoods finds its place to half the digits.
    assert combine(y, v, tau2=method).tau2 == pytest.approx(expected, rel=1e-9, abs=2e-6 if method == "reml" else 1e-12)


@pytest.mark.parametrize(
    ("y", "v", "between"),
    [
        # A maximum at 0, and a higher one that a search from 0 does not see.
        ([2.7, 2.7, -2.1], [0.123, 0.01, 2.536], (2, 10)),
        # Maxima near 0.014 and near 3, the first one higher.
        ([1.7, 1.9, 3.9, 1.2, -4.1], [0.002, 0.01, 18.647, 18.078, 4.474], (0.001, 0.1)),
    ],
)
def test_restricted_likelihood_finds_the_higher_of_two_maxima(
    y: list[float], v: list[float], between: tuple[float, float]
) -> None:
    found = combine(y, v, tau2="reml").tau2
    assert between[0] < found < between[1]
    assert found == pytest.approx(slow_tau2(np.array(y), np.array(v), "reml"), rel=1e-6)


def test_one_effect_is_itself() -> None:
    result = combine([-0.4], [0.04], tau2="reml")
    assert (result.effect, result.tau2, result.q, result.i2) == (-0.4, 0, 0, 0)
    assert result.standard_error == pytest.approx(0.2, rel=1e-15)
    assert result.p_value == pytest.approx(0.0455002638963584, rel=1e-12)


def test_log_p_at_1e_300_and_beyond() -> None:
    # For large z, p = 2 phi(z) / z (1 - 1/z^2 + 3/z^4 - 15/z^6 ...).
    for z in (10.0, 37.0, 40.0, 1000.0):
        series = 1 - z**-2 + 3 * z**-4 - 15 * z**-6 + 105 * z**-8 - 945 * z**-10
        expected = math.log(2) - z * z / 2 - math.log(z) - math.log(2 * math.pi) / 2 + math.log(series)
        for sign in (1, -1):
            result = combine([sign * z], [1.0])
            assert result.log_p_value == pytest.approx(expected, abs=1e-7)
    assert combine([37.0], [1.0]).p_value == pytest.approx(1.1451e-299, rel=1e-3)
    assert combine([40.0], [1.0]).p_value == 0.0


@pytest.mark.parametrize(
    ("effects", "variances", "tau2", "message"),
    [
        ([1, 2], [1, 1], "DL", "tau2: 'DL' .* Write 'dl' or 'pm' or 'reml'"),
        ([1, 2], [1], "dl", "variances: 1 of them for 2 effects"),
        ([1, 2], [1, 0], "dl", "variances: number 1 is 0"),
        ([1, math.nan], [1, 1], "dl", "effects: number 1 is nan"),
        ([], [], "dl", "effects: an array of shape"),
    ],
)
def test_bad_input(effects: list, variances: list, tau2: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        combine(effects, variances, tau2=tau2)


@pytest.mark.parametrize("scale", [1e-250, 1e-30, 1e30, 1e250])
@pytest.mark.parametrize("tau2", ["dl", "pm", "reml"])
def test_the_unit_does_not_matter(scale: float, tau2: str) -> None:
    rng = np.random.default_rng(31)
    effects, variances = rng.normal(0.4, 0.3, 40), rng.uniform(0.01, 0.1, 40)
    expected = combine(effects, variances, tau2=tau2)
    found = combine(effects * scale**0.5, variances * scale, tau2=tau2)
    assert found.effect == pytest.approx(expected.effect * scale**0.5, rel=1e-9)
    assert found.standard_error == pytest.approx(expected.standard_error * scale**0.5, rel=1e-9)
    assert (found.tau2 / scale, found.q, found.i2) == pytest.approx((expected.tau2, expected.q, expected.i2), rel=1e-9)
    assert found.log_p_value == pytest.approx(expected.log_p_value, rel=1e-9)


@pytest.mark.parametrize(("tau2", "theirs"), [("dl", "chi2"), ("pm", "iterated")])
@pytest.mark.parametrize("spread", [0.0, 0.1, 0.6])
def test_equals_statsmodels(tau2: str, theirs: str, spread: float) -> None:
    from statsmodels.stats.meta_analysis import combine_effects

    rng = np.random.default_rng(32)
    for n in (3, 30, 300):
        effects, variances = rng.normal(0.4, spread + 0.2, n), rng.uniform(0.01, 0.3, n)
        expected = combine_effects(effects, variances, method_re=theirs, atol=1e-12)
        found = combine(effects, variances, tau2=tau2)
        if theirs == "iterated" and expected.tau2 == 0 and expected.q > n - 1:
            # theirs gives up where its last step rounds to below the root, which depends on the processor
            weights = 1 / (variances + found.tau2)
            mean = weights @ effects / weights.sum()
            assert weights @ (effects - mean) ** 2 == pytest.approx(n - 1, rel=1e-9)
            continue
        assert found.tau2 == pytest.approx(max(0.0, expected.tau2), rel=1e-6, abs=1e-9)
        assert found.q == pytest.approx(expected.q, rel=1e-9)
        assert found.i2 == pytest.approx(max(0.0, expected.i2), rel=1e-9, abs=1e-12)
        if expected.tau2 < 0:  # which is not cut off there
            continue
        assert found.effect == pytest.approx(expected.mean_effect_re, rel=1e-6)
        assert found.standard_error == pytest.approx(expected.sd_eff_w_re, rel=1e-6)


def test_one_weight_that_is_nearly_all() -> None:
    # W = 1 and 1e20, effects 0 and 5: Q = 1 * 5^2, S1 - S2 / S1 = 2 W1 W2 / S1 = 2, tau2 = (25 - 1) / 2.
    assert combine([0, 5], [1, 1e-20]).tau2 == pytest.approx(12, rel=1e-12)
    assert combine([0, 5], [1, 1e-4]).tau2 == pytest.approx((25 * 1e4 / 10001 - 1) * 10001 / 2e4, rel=1e-12)
