"""Effect sizes: the difference of the mean associations of two sets of words over a standard deviation.

A word w is associated with attribute A rather than B by s(w, A, B) = mean cos(w, a) - mean cos(w, b). The effect
size is the difference of the mean associations of the target sets X and Y over a standard deviation of the
associations (Caliskan, Bryson and Narayanan 2017; Sadhu et al. 2024, appendix B.1). Programs disagree on that
standard deviation; here its convention has a name.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, NamedTuple, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from prasanga.base.errors import InputError


class Denominator(NamedTuple):
    """A standard deviation of associations.

    Attributes:
        within_sets: whether it is taken around the mean of each set, X and Y, or around the mean of both together.
        lost: lost degrees of freedom.
    """

    within_sets: bool
    lost: int


DENOMINATORS: Mapping[str, Denominator] = {
    "union_ddof1": Denominator(within_sets=False, lost=1),  # Caliskan et al.; the default
    "union_ddof0": Denominator(within_sets=False, lost=0),
    "pooled": Denominator(within_sets=True, lost=2),  # Cohen's d
}
"""By the name of the convention. Effects, resamples, twins and power calculations use these."""

STD_CONVENTIONS = tuple(DENOMINATORS)


def largest_effect(n_x: float, n_y: float, std: str) -> float:
    """Return the bound of effect sizes of sets in these proportions, however many items they have: 2 for equal sets."""
    return math.inf if DENOMINATORS[std].within_sets else (n_x + n_y) / math.sqrt(n_x * n_y)


TIE = 1e-9
"""Statistics closer than this, relative to the largest, are ties: the order of a sum changes its last digits."""

# Cosines are sums of products of numbers below 1, wrong by about 1e-16: a spread as small as this is rounding, not
# data.
COSINE_NOISE = 1e-13

# The same for scores of unknown scale, relative to the largest of them.
_RELATIVE_NOISE = 1e-12


class ConstantScoresError(InputError):
    """All associations are the same, so the effect size, a difference over their spread, does not exist."""


def effect_size_of_scores(x: npt.ArrayLike, y: npt.ArrayLike, std: str = "union_ddof1", *, noise: float = 0.0) -> float:
    """Return the effect size of associations already computed.

    `x` (nx,) are the associations of the words of X, `y` (ny,) of the words of Y.

    `std`: `union_ddof1` (the default), `union_ddof0` or `pooled`, as in `effect_size`. A spread of `noise` or less is
    rounding (`COSINE_NOISE` for cosines). Raises `InputError` as `effect_size` does.
    """
    x, y = finite_vector("x", x), finite_vector("y", y)
    _, effects = spreads_and_effects(np.concatenate([x, y]), x.size, std, noise=noise)
    return float(effects)


def spreads_and_effects(scores: FloatArray, n_x: int, std: str, *, noise: float = 0.0) -> tuple[FloatArray, FloatArray]:
    """Return standard deviations by convention `std`, and effect sizes, along the last axis of `scores`.

    `scores` is (..., nx + ny), the words of X first; both results are (...,). A spread of `noise` or less (or of 1e-12
    of the largest score) is rounding: `ConstantScoresError`.
    """
    choice("std", std, STD_CONVENTIONS)
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


def hedges_variance(effects: FloatArray, n_x: int, n_y: int) -> FloatArray:
    """Return the sampling variance of an effect size d (Hedges and Olkin 1985).

    It is 1 / nx + 1 / ny + d^2 / (2 (nx + ny)).
    """
    return 1 / n_x + 1 / n_y + effects**2 / (2 * (n_x + n_y))


# --------------------
# The random-effects model that combines the effect sizes of many draws into one.
#
# Each effect has a variance of its own, V_i, and the true effects vary between draws with variance tau2. The combined
# effect is their mean weighted by 1 / (V_i + tau2), its standard error one over the root of the weights' sum, and p is
# two-sided by the normal distribution (Guo and Caliskan 2021; Sadhu et al. 2024, appendix D.1; in the usual form, where
# the appendix's printed formulas for W and Q slip). tau2 is estimated by
#
# - `dl`: DerSimonian and Laird (1986), from Q, one step; the papers' choice
# - `pm`: Paule and Mandel (1982), the value at which the weighted squares add up to their degrees of freedom
# - `reml`: restricted maximum likelihood


TAU2_METHODS = ("dl", "pm", "reml")

Z_95 = 1.959963984540054  # the normal distribution's 97.5% point


@dataclass(frozen=True)
class RandomEffects:
    """A combined effect."""

    effect: float
    standard_error: float
    p_value: float
    """Two-sided, of the hypothesis that the combined effect is 0; 0.0 where float64 ends (below about 1e-308)."""
    log_p_value: float
    """Natural logarithm of the same, exact far beyond that."""
    tau2: float
    """Variance of the true effects between draws."""
    q: float
    """Cochran's Q: squares about the mean weighted by 1 / V; n - 1 on average if tau2 is 0."""
    i2: float
    """Share of the effects' variation that their V do not explain, max(0, (Q - (n - 1)) / Q)."""
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
    not fit, NaN, variances that are not positive.
    """
    choice("tau2", tau2, TAU2_METHODS)
    y, v = finite_vector("effects", effects), finite_vector("variances", variances)
    if y.size != v.size:
        raise InputError(f"variances: {v.size} of them for {y.size} effects. Give one variance for each effect.")
    if v.min() <= 0:
        raise InputError(f"variances: number {int(v.argmin())} is {v.min()}. Every variance is greater than 0.")

    # In units of the largest variance, in which weights neither overflow nor vanish.
    unit = math.sqrt(float(v.max()))
    y, v = y / unit, v / v.max()
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

    This form avoids the cancellation and underflow of that expression.
    """
    from scipy.special import log_ndtr  # here, because it takes longer to import than the rest of the package

    return min(0.0, math.log(2) + float(log_ndtr(-abs(z))))


def two_sided_p(z: float) -> float:
    """Return 2 * (1 - Phi(|z|)), the p of a combined effect that is z standard errors from 0."""
    return math.exp(two_sided_log_p(z))


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
    from scipy.optimize import brentq  # here, because it takes longer to import than the rest of the package

    def excess(tau2: float) -> float:
        return _mean_and_q(y, 1 / (v + tau2))[1] - (y.size - 1)

    # Q falls with tau2, and at the variance of the effects it is at most their number less one.
    return float(brentq(excess, 0.0, 2 * float(y.var(ddof=1)), xtol=1e-300)) if excess(0.0) > 0 else 0.0


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
# Checks of arguments of public functions. A message names the argument, the value found and what to give.

FloatArray: TypeAlias = npt.NDArray[np.float64]
IndexArray: TypeAlias = npt.NDArray[np.int64]


def whole_number(name: str, value: object, *, least: int) -> int:
    """Return `value` if it is a whole number of at least `least`; refuse True and False."""
    if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
        raise InputError(f"{name}: {value!r}. Write a whole number of at least {least}.")
    return int(value)


def positive_number(name: str, value: object, *, most: float = np.inf, example: str = "0.1") -> float:
    """Return `value` if it is a finite number greater than 0, and at most `most`."""
    number = float(value) if isinstance(value, Real) and not isinstance(value, bool) else np.nan
    if not (0 < number <= most and number < np.inf):
        limit = "" if most == np.inf else f" and at most {most:g}"
        raise InputError(f"{name}: {value!r}. Write a number greater than 0{limit}, for example {example}.")
    return number


def choice(name: str, value: object, allowed: Sequence[str]) -> None:
    """Refuse a value that is not allowed."""
    if not isinstance(value, str) or value not in allowed:
        raise InputError(f"{name}: {value!r} is not known. Write {' or '.join(map(repr, allowed))}.")


def generator_from(rng: object) -> np.random.Generator:
    """Return the generator of an argument `rng`: itself, one from a seed, or for None one that never repeats."""
    try:
        if isinstance(rng, bool):
            raise TypeError
        return np.random.default_rng(rng)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        message = f"rng: {rng!r}. Give a seed, a whole number of at least 0, or a numpy.random.Generator."
        raise InputError(message) from None


def to_array(name: str, values: object, wanted: str) -> npt.NDArray[Any]:
    """Return `values` as a numpy array of numbers of any type and shape; `wanted` says in messages what to give.

    Raises `InputError` for everything else: None, a text, a dict, rows of different lengths, a tensor with gradients.
    """
    try:
        array = np.asarray(values)
    except (TypeError, ValueError, RuntimeError):
        raise InputError(f"{name}: no array can be made of it ({type(values).__name__}). Give {wanted}.") from None
    if array.dtype.kind not in "fiu":
        raise InputError(f"{name}: of type {array.dtype}. Give {wanted}.")
    return array


def finite_vector(name: str, numbers: npt.ArrayLike) -> FloatArray:
    """Check (n,) `numbers`, n >= 1, all finite, and return them in float64."""
    array = to_array(name, numbers, "(n,) numbers, at least one")
    if array.ndim != 1 or not array.size:
        raise InputError(f"{name}: an array of shape {array.shape}. Give (n,) numbers, at least one.")
    if not np.isfinite(array).all():
        row = int(np.flatnonzero(~np.isfinite(array))[0])
        raise InputError(f"{name}: number {row} is {array[row]}. Leave it out, or compute it again.")
    return array.astype(np.float64)


def sequence_of(name: str, values: object, wanted: str) -> list[Any]:
    """Return `values` as a list; refuse a text, a dict and a single number."""
    if not isinstance(values, (str, bytes, Mapping)) and hasattr(values, "__len__") and isinstance(values, Iterable):
        with contextlib.suppress(TypeError):  # an array without dimensions
            return list(values)
    raise InputError(f"{name}: {values!r}. Give {wanted}.")


def finite_or_none(value: float | None) -> float | None:
    """Return a number as tables have it: None for NaN and infinity."""
    return None if value is None or not np.isfinite(value) else float(value)
