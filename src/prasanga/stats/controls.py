"""Controls of an effect: attribute words dealt again, copies of the model with random weights, words that are alike."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from prasanga.base.errors import InputError
from prasanga.stats.crossed import CountedScores
from prasanga.stats.effects import Z_95, finite_vector

# --------------------
# A null control: the attribute words of A and B dealt again.
#
# If an effect belongs to what A and B mean, it should vanish when their words are mixed. What remains is what any
# two sets of these words would give.
#
# An effect size is a difference over a spread. Mixed sets make both small, and their ratio need not be: where X and
# Y differ strongly, the little that mixed sets say of it is divided by a spread as little, and effect sizes near
# the largest possible come out, of either sign. The control therefore divides by the spread that the target words
# have with the real A and B; then it asks whether the difference of the sets' means vanishes,
# as it should.


# Effects closer than this, relative to the observed one, are ties: the order of a sum changes its last digits.
_TIE = 1e-9


@dataclass(frozen=True)
class ShuffledControl:
    """Where the effects of dealt attribute words lie.

    Attributes:
        low: the 2.5 % quantile of the effects.
        high: the 97.5 % quantile.
        p_value: (number with |effect| >= |observed|, + 1) / (number of effects + 1); two-sided.
    """

    low: float
    high: float
    p_value: float


def shuffled_control(
    scores: CountedScores,
    *,
    n_shuffles: int = 1000,
    rng: np.random.Generator | int | None = None,
    std: str = "union_ddof1",
) -> ShuffledControl:
    """Compare the size of the observed effect with `shuffled_effects` over the observed spread.

    `p_value` asks whether the division of these attribute words into A and B matters; it says nothing about other
    target words. Raises `ConstantScoresError` if all words have the same association.
    """
    effects, observed = scores.shuffled_effects(n_shuffles, rng, std), abs(scores.effects(std=std)[0])
    count = int(np.count_nonzero(np.abs(effects) >= observed * (1 - _TIE)))
    low, high = np.quantile(effects, [0.025, 0.975])
    return ShuffledControl(float(low), float(high), (count + 1) / (len(effects) + 1))


# --------------------
# The effects of copies of the model with random weights.


def beside_twins(
    effect: float | None, low: float | None, high: float | None, twins: Sequence[float], *, most: float = math.inf
) -> dict[str, float | None]:
    """Compare an effect with those of the model's twins, which have the same words and other, random weights.

    The difference, effect - mean of the K twins, is tested against two nulls, and has to stand out from both:

        other weights   Student's t, K - 1 degrees of freedom, of difference / (s sqrt(1 + 1 / K))
        other words     the normal distribution, of difference / sqrt(V + s^2 / K)

    s is the standard deviation of the twins; the first asks whether the model might be one more of them, with these
    words. V is how much the effect varies with other words, ((high - low) / 3.92)^2 from its interval; the second asks
    whether other words might have had the twins' mean. p is the larger of both, the interval the wider one
    (docs/statistics.md has how often they reject).

    Args:
        effect: of the model; None if there is none.
        low: lower end of its 95 % interval over words; None without.
        high: upper end.
        twins: (K,) effects of the twins.
        most: largest difference that is possible; the interval ends there.

    Returns:
        `n_twins`, `twin_effect_size` (their mean), `twin_sd`, `twin_difference`, its 95 % interval
        `twin_difference_low` to `twin_difference_high`, and `p_twins`; None for what there is not. An interval and a p
        take two twins and an interval over words.
    """
    found: dict[str, float | None] = dict.fromkeys(
        ("twin_effect_size", "twin_sd", "twin_difference_low", "twin_difference_high", "p_twins")
    )
    n = len(twins)
    if not n or effect is None:
        return found
    mean, difference = float(np.mean(twins)), effect - float(np.mean(twins))
    found |= {"n_twins": n, "twin_effect_size": mean, "twin_difference": difference}
    if n < 2:
        return found
    sd = float(np.std(twins, ddof=1))
    found["twin_sd"] = sd
    if low is None or high is None:
        return found
    from scipy.special import ndtr, stdtr, stdtrit  # here, because it takes longer to import than the rest

    of_weights = sd * (1 + 1 / n) ** 0.5
    of_words = (((high - low) / (2 * Z_95)) ** 2 + sd**2 / n) ** 0.5
    if not of_weights or not of_words:
        return found
    margin = max(float(stdtrit(n - 1, 0.975)) * of_weights, Z_95 * of_words)
    return found | {
        "twin_difference_low": max(difference - margin, -most),
        "twin_difference_high": min(difference + margin, most),
        "p_twins": float(2 * max(stdtr(n - 1, -abs(difference) / of_weights), ndtr(-abs(difference) / of_words))),
    }


# --------------------
# Effects among words that are alike in frequency and in pieces: a regression with words as rows.
#
# A frequent word and a rare one, a word of one piece and one of five, have vectors that differ for that alone. Where X
# and Y differ in it, so may their associations. With s the association of a target word,
#
#     s = b0 + b1 [word is of X] + b2 log(1 + occurrences) + b3 pieces + error
#
# b1 is the difference of the sets' mean associations between words that are alike in both. Its interval takes errors
# of unequal size into account (HC3, MacKinnon and White 1985), with Student's t for as many degrees of freedom as words
# are more than coefficients.


class Adjusted(NamedTuple):
    """A difference between words that are alike, with the ends of its 95 % interval."""

    difference: float
    low: float
    high: float


def adjusted_difference(scores: npt.ArrayLike, is_x: npt.ArrayLike, covariates: npt.ArrayLike) -> Adjusted:
    """Return by how much words of X are above those of Y with the same covariates, by least squares.

    Args:
        scores: (n,) associations of the target words.
        is_x: (n,) whether each is of X.
        covariates: (n, k) what else may make words differ.

    Raises:
        InputError: arrays that do not fit, fewer words than coefficients and one more, or covariates from which the
            sets can be told, or that follow from each other: then no words are alike.
    """
    y = finite_vector("scores", scores)
    others = np.asarray(covariates, dtype=np.float64).reshape(y.size, -1)
    design = np.column_stack([np.ones(y.size), np.asarray(is_x, dtype=np.float64), others - others.mean(axis=0)])
    n, k = design.shape
    if n <= k or np.linalg.matrix_rank(design) < k:
        raise InputError(
            f"covariates: {n} words do not tell {k} coefficients apart. Leave out a covariate, or add words."
        )
    inverse = np.linalg.inv(design.T @ design)
    coefficients = inverse @ design.T @ y
    leverage = np.einsum("ij,jk,ik->i", design, inverse, design)
    # a word of leverage 1 alone decides about a coefficient, and has no error
    errors = (y - design @ coefficients) / np.maximum(1 - leverage, 1e-12)
    covariance = inverse @ (design.T * np.square(errors)) @ design @ inverse
    from scipy.special import stdtrit  # here, because it takes longer to import than the rest of the package

    half = float(stdtrit(n - k, 0.975)) * float(np.sqrt(covariance[1, 1]))
    return Adjusted(float(coefficients[1]), float(coefficients[1]) - half, float(coefficients[1]) + half)
