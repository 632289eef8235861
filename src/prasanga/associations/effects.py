"""Effect sizes of a difference between two sets of words (WEAT), what combines them, and p corrected for many tests."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from numbers import Real
from typing import NamedTuple, cast

import numpy as np
import numpy.typing as npt

from prasanga.associations.vectors import (
    NUMBERS,
    FloatArray,
    require_one_dimension,
    require_other_words,
    to_array,
    unit_vectors,
)
from prasanga.base.errors import InputError

# --------------------
# Associations of words and the effect size of a difference between two sets of them (WEAT).
#
# A word w is associated with attribute A rather than B by s(w, A, B) = mean cos(w, a) - mean cos(w, b). The effect
# size is the difference of the mean associations of the target sets X and Y over a standard deviation of the
# associations (Caliskan, Bryson and Narayanan 2017; Sadhu et al. 2024, appendix B.1). Programs disagree on that
# standard deviation; here its convention has a name.


class Denominator(NamedTuple):
    """A standard deviation of associations.

    Attributes:
        within_sets: whether it is taken around the mean of each set, X and Y, or around that of both together.
        lost: how much less than the number of words it is divided by.
    """

    within_sets: bool
    lost: int


DENOMINATORS: Mapping[str, Denominator] = {
    "union_ddof1": Denominator(within_sets=False, lost=1),  # Caliskan et al.; the default
    "union_ddof0": Denominator(within_sets=False, lost=0),
    "pooled": Denominator(within_sets=True, lost=2),  # Cohen's d
}
"""By the name of the convention. Effects, resamples, twins and the power of a test all compute by these."""

STD_CONVENTIONS = tuple(DENOMINATORS)


def largest_effect(n_x: float, n_y: float, std: str) -> float:
    """Return the bound of effect sizes of sets in these proportions, however many items they have: 2 for equal sets."""
    return math.inf if DENOMINATORS[std].within_sets else (n_x + n_y) / math.sqrt(n_x * n_y)


# Cosines are sums of products of numbers below 1, wrong by some 1e-16: a spread as small as this is rounding, not data.
COSINE_NOISE = 1e-13
# The same for scores of unknown scale, relative to the largest of them.
_RELATIVE_NOISE = 1e-12


class ConstantScoresError(InputError):
    """All associations are the same, so that an effect size, a difference over a spread, does not exist."""


def association_scores(W: npt.ArrayLike, A: npt.ArrayLike, B: npt.ArrayLike) -> FloatArray:
    """Return the association of each row w of `W` with A rather than B.

    It is defined as follows (Caliskan et al. 2017; Sadhu et al. 2024, app. B.1).

        s(w, A, B) = mean over a in A of cos(w, a)  -  mean over b in B of cos(w, b)

    `W`, `A`, `B` are (n, d), (na, d), (nb, d); the result is (n,), within [-2, 2]. Raises `InputError` for arrays of
    other shapes, different dimensions, NaN, and zero vectors.
    """
    w, a, b = unit_vectors("W", W), unit_vectors("A", A), unit_vectors("B", B)
    require_one_dimension({"W": w.shape[1], "A": a.shape[1], "B": b.shape[1]})
    return np.asarray(w @ (a.mean(axis=0) - b.mean(axis=0)))


def effect_size(
    X: npt.ArrayLike, Y: npt.ArrayLike, A: npt.ArrayLike, B: npt.ArrayLike, *, std: str = "union_ddof1"
) -> float:
    """Return the effect size d of target sets `X`, `Y` and attribute sets `A`, `B`.

    Each set is (n, d) with one vector per word.

        d = (mean of s(x, A, B) over X  -  mean of s(y, A, B) over Y) / std of s

    with s as in `association_scores`. `std` is one of `union_ddof1`, over X and Y together, divided by n - 1 (Caliskan,
    Bryson and Narayanan 2017; Sadhu et al. 2024, appendix B.1; the default), `union_ddof0`, the same divided by n, and
    `pooled`, within X and within Y (Cohen's d). Hypothesis and test: `permutation_test`.

    Positive if X is associated with A rather than B more than Y is. The sets may differ in size. With one word on each
    side, `union_ddof1` gives +-1.414 whatever the vectors. Raises `InputError` for bad arrays (as
    `association_scores`), an unknown `std`, too few words for it, and scores that are all the same
    (`ConstantScoresError`).
    """
    return effect_size_of_scores(*target_scores(X, Y, A, B), std, noise=COSINE_NOISE)


def effect_size_of_scores(x: npt.ArrayLike, y: npt.ArrayLike, std: str = "union_ddof1", *, noise: float = 0.0) -> float:
    """Return the effect size of associations already computed.

    `x` (nx,) has those of the words of X, `y` (ny,) those of the words of Y.

    `std`: `union_ddof1` (the default), `union_ddof0` or `pooled`, as in `effect_size`. A spread of `noise` or less is
    rounding (`COSINE_NOISE` for cosines). Raises `InputError` as `effect_size` does.
    """
    x, y = finite_vector("x", x), finite_vector("y", y)
    _, effects = spreads_and_effects(np.concatenate([x, y]), x.size, std, noise=noise)
    return float(effects)


def target_scores(
    X: npt.ArrayLike, Y: npt.ArrayLike, A: npt.ArrayLike, B: npt.ArrayLike
) -> tuple[FloatArray, FloatArray]:
    """Return the associations of the words of `X` and of `Y`: (nx,) and (ny,)."""
    x, y = unit_vectors("X", X), unit_vectors("Y", Y)
    a, b = unit_vectors("A", A), unit_vectors("B", B)
    require_other_words({"X": x, "Y": y}, {"A": a, "B": b})
    require_one_dimension({"X": x.shape[1], "Y": y.shape[1], "A": a.shape[1], "B": b.shape[1]})
    axis = a.mean(axis=0) - b.mean(axis=0)
    return np.asarray(x @ axis), np.asarray(y @ axis)


def finite_vector(name: str, numbers: npt.ArrayLike) -> FloatArray:
    """Check (n,) `numbers`, n >= 1, all finite, and return them in float64."""
    array = to_array(name, numbers, NUMBERS)
    if array.dtype.kind not in "fiu" or array.ndim != 1 or not array.size:
        raise InputError(f"{name}: {array.dtype}, shape {array.shape}. Give (n,) numbers, at least one.")
    if not np.isfinite(array).all():
        row = int(np.flatnonzero(~np.isfinite(array))[0])
        raise InputError(f"{name}: number {row} is {array[row]}. Leave it out, or compute it again.")
    return array.astype(np.float64)


def spreads_and_effects(scores: FloatArray, n_x: int, std: str, *, noise: float = 0.0) -> tuple[FloatArray, FloatArray]:
    """Return standard deviations by convention `std`, and effect sizes, along the last axis of `scores`.

    `scores` is (..., nx + ny), the words of X first; both results are (...,). A spread of `noise` or less (or of 1e-12
    of the largest score) is rounding: `ConstantScoresError`.
    """
    if not isinstance(std, str) or std not in STD_CONVENTIONS:
        raise InputError(f"std: {std!r} is no convention of the denominator. Write {_one_of(STD_CONVENTIONS)}.")
    x, y = scores[..., :n_x], scores[..., n_x:]
    within_sets, lost = DENOMINATORS[std]
    if within_sets:
        freedom = scores.shape[-1] - lost
        if freedom < 1:
            raise InputError(f"std: {std!r} needs three words in X and Y together. Add words, or write 'union_ddof1'.")
        squares = sum(np.square(side - side.mean(axis=-1, keepdims=True)).sum(axis=-1) for side in (x, y))
        spreads = np.sqrt(squares / freedom)
    else:
        spreads = scores.std(axis=-1, ddof=lost)
    constant = spreads <= np.maximum(noise, _RELATIVE_NOISE * np.abs(scores).max(axis=-1))
    if constant.any():
        where = f" in draw {int(np.flatnonzero(constant)[0])}" if constant.ndim else ""
        within = " within X and within Y" if within_sets else ""
        raise ConstantScoresError(
            f"All words have the same association{within}{where}: the effect size, a difference over their"
            " spread, does not exist. Are the sets, or the two attribute sets, the same?"
        )
    return cast(FloatArray, spreads), (x.mean(axis=-1) - y.mean(axis=-1)) / spreads


def _one_of(names: tuple[str, ...]) -> str:
    return " or ".join(map(repr, names))


# --------------------
# The random-effects model that combines the effect sizes of many draws into one.
#
# Each effect has a variance of its own, V_i, and the true effects vary between draws with variance tau2. The
# combined effect is their mean weighted by 1 / (V_i + tau2), its standard error one over the root of the weights'
# sum, and p is two-sided by the normal distribution (Guo and Caliskan 2021; Sadhu et al. 2024, appendix D.1; in the
# usual form, where the appendix's printed formulas for W and Q slip). tau2 is estimated by
#
# - `dl`: DerSimonian and Laird (1986), from Q, one step; the papers' choice
# - `pm`: Paule and Mandel (1982), the value at which the weighted squares add up to their degrees of freedom
# - `reml`: restricted maximum likelihood


TAU2_METHODS = ("dl", "pm", "reml")

Z_95 = 1.959963984540054  # the normal distribution's 97.5 % point

# Of the largest variance, and of its root: within these, no weight and no square leaves what a float64 can hold.
_SMALLEST = 1e-100
_LARGEST = 1e50


@dataclass(frozen=True)
class RandomEffects:
    """A combined effect."""

    effect: float
    standard_error: float
    p_value: float
    """Two-sided, of the hypothesis that the combined effect is 0; 0.0 where float64 ends (below some 1e-308)."""
    log_p_value: float
    """Natural logarithm of the same, right far beyond that."""
    tau2: float
    """Variance of the true effects between draws."""
    q: float
    """Cochran's Q: squares about the mean weighted by 1 / V; n - 1 on average if tau2 is 0."""
    i2: float
    """Share of the effects' variation that is more than their V explain, max(0, (Q - (n - 1)) / Q)."""
    ci_low: float
    """Lower end of effect +- 1.96 standard errors."""
    ci_high: float


def combine(effects: npt.ArrayLike, variances: npt.ArrayLike, *, tau2: str = "dl") -> RandomEffects:
    """Combine (n,) `effects` d_i with their (n,) `variances` V_i (each > 0) by the random-effects model.

        W_i = 1 / V_i,   Q = sum of W_i (d_i - weighted mean)^2,   tau2 (dl) = max(0, (Q - (n-1)) / (S1 - S2 / S1))
        v_i = 1 / (V_i + tau2),   effect = sum of v_i d_i / sum of v_i,   standard error = (sum of v_i)^(-1/2)

    with S1, S2 the sums of W_i and of their squares. Hypothesis of the p: the combined effect is 0; two-sided, by the
    normal distribution (Guo and Caliskan 2021; Sadhu et al. 2024, appendix D.1). `tau2` names the estimator: `dl`
    (DerSimonian and Laird 1986), `pm` (Paule and Mandel 1982), `reml`, the restricted maximum likelihood. With one
    effect there is nothing to compare: tau2, Q and I2 are 0. Raises `InputError` for an unknown `tau2`, arrays that do
    not fit, NaN, variances that are not positive, and numbers too far apart to compute with: an effect beyond 1e50
    roots of the largest variance, or a variance below 1e-100 of it.
    """
    if tau2 not in TAU2_METHODS:
        raise InputError(f"tau2: {tau2!r} is no estimator. Write {_one_of(TAU2_METHODS)}.")
    y, v = finite_vector("effects", effects), finite_vector("variances", variances)
    if y.size != v.size:
        raise InputError(f"variances: {v.size} of them for {y.size} effects. Give one variance for each effect.")
    if v.min() <= 0:
        raise InputError(f"variances: number {int(v.argmin())} is {v.min()}. Every variance is greater than 0.")

    # In units of the largest variance, in which weights neither overflow nor vanish.
    unit = math.sqrt(float(v.max()))
    with np.errstate(over="ignore"):
        given, y, v = y, y / unit, v / v.max()
    if v.min() < _SMALLEST:
        raise InputError(f"variances: the smallest is less than {_SMALLEST} of the largest. Leave out one of the two.")
    largest = int(np.abs(y).argmax())
    if not np.abs(y[largest]) < _LARGEST:
        raise InputError(
            f"effects: number {largest} is {given[largest]}, more than {_LARGEST:.0e} times the root of the largest"
            " variance, and sums of such squares are no numbers any more. Leave it out, or compute both again."
        )
    estimate = {"dl": _der_simonian_laird, "pm": _paule_mandel, "reml": _restricted_likelihood}[tau2]
    between = estimate(y, v) if y.size > 1 else 0.0
    q = _mean_and_q(y, 1 / v)[1] if y.size > 1 else 0.0  # of one effect, rounding alone would be left
    weights = 1 / (v + between)
    effect = _mean_and_q(y, weights)[0] * unit
    standard_error = unit / math.sqrt(weights.sum())
    between *= unit**2
    log_p_value = two_sided_log_p(effect / standard_error)
    margin = Z_95 * standard_error
    return RandomEffects(
        effect=effect,
        standard_error=standard_error,
        p_value=math.exp(log_p_value),
        log_p_value=log_p_value,
        tau2=between,
        q=q,
        i2=max(0.0, 1 - (y.size - 1) / q) if q > 0 else 0.0,
        ci_low=effect - margin,
        ci_high=effect + margin,
    )


def two_sided_log_p(z: float) -> float:
    """Return the natural logarithm of 2 * (1 - Phi(|z|)).

    The result has none of the cancellation and underflow of that expression.
    """
    from scipy.special import log_ndtr  # here, because it takes longer to import than the rest of the package

    return min(0.0, math.log(2) + float(log_ndtr(-abs(z))))


def _mean_and_q(y: FloatArray, weights: FloatArray) -> tuple[float, float]:
    """Return the weighted mean and the weighted sum of squares about it.

    The sum is not computed as a difference of sums, which loses digits.
    """
    mean = float((weights * y).sum() / weights.sum())
    return mean, float((weights * (y - mean) ** 2).sum())


def _der_simonian_laird(y: FloatArray, v: FloatArray) -> float:
    weights = 1 / v
    _, q = _mean_and_q(y, weights)
    total = weights.sum()
    c = total - (weights**2).sum() / total
    if c < 1e-3 * total:  # one weight is nearly all, and the difference has lost its digits
        rest = total - weights
        rest[weights.argmax()] = np.delete(weights, weights.argmax()).sum()
        c = (weights * rest).sum() / total
    return max(0.0, float((q - (y.size - 1)) / c))


def _paule_mandel(y: FloatArray, v: FloatArray) -> float:
    # Q(tau2) falls and is convex: Newton's steps from 0 go up to the root and never beyond it.
    tau2 = 0.0
    for _ in range(200):
        weights = 1 / (v + tau2)
        mean, q = _mean_and_q(y, weights)
        excess = q - (y.size - 1)
        if excess <= 0:
            break
        step = excess / float((weights**2 * (y - mean) ** 2).sum())
        tau2 += step
        if step <= 1e-15 * tau2:
            break
    return tau2


def _restricted_likelihood(y: FloatArray, v: FloatArray) -> float:
    """Return the tau2 >= 0 of the greatest restricted likelihood: the best of a grid, then bisection on its slope.

    The likelihood can have several maxima when the variances differ a lot, so that following the slope from one
    starting point is not enough.
    """
    s2 = float(y.var(ddof=1))
    # Beyond this bound the slope is negative: tau2^2 > s2 (max V + tau2) there, see `_restricted_slope`.
    bound = (s2 + math.sqrt(s2 * s2 + 4 * s2 * float(v.max()))) / 2
    if bound == 0:
        return 0.0
    grid = np.concatenate([[0.0], np.geomspace(1e-10 * bound, bound, 64)])
    best = int(np.argmax([_restricted_log_likelihood(y, v, float(tau2)) for tau2 in grid]))
    if best == 0 and _restricted_slope(y, v, 0.0) <= 0:
        return 0.0
    low, high = float(grid[max(best - 1, 0)]), float(grid[min(best + 1, grid.size - 1)])
    while high - low > 1e-15 * high:
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (middle, high) if _restricted_slope(y, v, middle) > 0 else (low, middle)
    return (low + high) / 2


def _restricted_log_likelihood(y: FloatArray, v: FloatArray, tau2: float) -> float:
    weights = 1 / (v + tau2)
    _, q = _mean_and_q(y, weights)
    return float(0.5 * (np.log(weights).sum() - np.log(weights.sum()) - q))


def _restricted_slope(y: FloatArray, v: FloatArray, tau2: float) -> float:
    """Return the derivative of the restricted log-likelihood by tau2, times 2."""
    weights = 1 / (v + tau2)
    mean, _ = _mean_and_q(y, weights)
    squares = weights**2
    return float((squares * (y - mean) ** 2).sum() - weights.sum() + squares.sum() / weights.sum())


# --------------------
# Corrections for many tests: a table of hundreds of p-values has small ones by chance.
#
# - `holm`: the chance that one or more of the hypotheses called false is true stays below alpha, whatever the tests
#   have to do with each other (Holm 1979).
# - `benjamini_hochberg`: of the hypotheses called false, the expected share that is true stays below alpha, if the
#   tests are independent or rise and fall together (Benjamini and Hochberg 1995).
#
# Both give adjusted p-values: call false what is at most alpha. The family is what is given, here all estimates of
# a table; a missing p (NaN) is no test and does not count.


def holm(p: npt.ArrayLike) -> FloatArray:
    """Return (n,) p-values adjusted by Holm's method (1979); NaN stays NaN and does not count.

    The i-th smallest of m is multiplied by m - i + 1, and is no smaller than those before it and no larger than 1.
    Equal p-values stay equal. Raises `InputError` for numbers outside [0, 1].
    """
    return _adjusted(p, lambda ordered, ranks: np.maximum.accumulate(ordered * (ranks.size - ranks + 1)))


def benjamini_hochberg(p: npt.ArrayLike) -> FloatArray:
    """Return (n,) p-values adjusted by the method of Benjamini and Hochberg (1995); NaN stays NaN and does not count.

    The i-th smallest of m is multiplied by m / i, and is no larger than those after it and no larger than 1. Equal
    p-values stay equal. Raises `InputError` for numbers outside [0, 1].
    """
    return _adjusted(p, lambda ordered, ranks: np.minimum.accumulate((ordered * (ranks.size / ranks))[::-1])[::-1])


def _adjusted(p: npt.ArrayLike, adjust: Callable[[FloatArray, FloatArray], FloatArray]) -> FloatArray:
    """Adjust the p-values that are there, in ascending order with their ranks from 1, and put them back."""
    given = _numbers(p)
    if given.ndim != 1:
        raise InputError(f"p: an array of shape {given.shape}. Give (n,) p-values, NaN for those that are missing.")
    wrong = (given < 0) | (given > 1)
    if wrong.any():
        i = int(np.flatnonzero(wrong)[0])
        raise InputError(f"p: number {i} is {given[i]}. A p-value is from 0 to 1, or NaN where it is missing.")
    result = np.full(given.shape, np.nan)
    present = np.flatnonzero(~np.isnan(given))
    order = present[np.argsort(given[present], kind="stable")]
    result[order] = np.minimum(adjust(given[order], np.arange(1.0, order.size + 1)), 1.0)
    return result


def _numbers(p: npt.ArrayLike) -> FloatArray:
    """Return the p-values in float64; None, as tables have it, is a missing one."""
    wanted = "(n,) p-values from 0 to 1, NaN for those that are missing"
    array = to_array("p", p, wanted)
    if array.dtype.kind == "O":
        strange = next((value for value in array.flat if value is not None and not isinstance(value, Real)), None)
    else:
        strange = None if array.dtype.kind in "fiu" or not array.size else array.flat[0].item()
    if strange is not None:
        raise InputError(f"p: {strange!r} is no p-value. Give {wanted}.")
    return np.asarray(array, dtype=np.float64)
