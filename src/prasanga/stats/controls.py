"""Controls of an effect: attribute words dealt again, copies of the model with random weights, words that are alike."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from prasanga.base.errors import InputError
from prasanga.stats.crossed import CountedScores
from prasanga.stats.effects import TIE, Z_95, FloatArray, finite_vector

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
    count = int(np.count_nonzero(np.abs(effects) >= observed * (1 - TIE)))
    low, high = np.quantile(effects, [0.025, 0.975])
    return ShuffledControl(float(low), float(high), (count + 1) / (len(effects) + 1))


# --------------------
# The effects of copies of the model with random weights.
#
# Few copies say little about how much effects vary with the weights. The standard deviations of all cells of a model
# are therefore moderated by empirical Bayes (Smyth 2004, section 6.2): each variance is drawn towards a common one,
# s0^2, which counts as d0 degrees of freedom. A cell whose copies vary much more than the others' keeps its own
# deviation: drawn towards them, it would be told from its copies far too often (Phipson et al. 2016).


FEWEST_CELLS = 3
"""Standard deviations that tell how standard deviations vary."""

_WIDE = 0.2
_INFINITE = 1e10  # half of as many degrees of freedom: all cells vary alike


class BesideTwins(NamedTuple):
    """An estimate beside those of the model's twins, which have the same words and other, random weights.

    Attributes:
        effect: of the model; None if there is none.
        low: lower end of its 95% interval over words or pairs; None without.
        high: upper end.
        twins: the K estimates of the twins.
        group: estimates of one group share words or pairs, and are not independent.
        most: largest difference that is possible; the interval ends there.
        unit: how much such an estimate varies compared with others; standard deviations are moderated in this unit.
    """

    effect: float | None
    low: float | None
    high: float | None
    twins: Sequence[float]
    group: str = ""
    most: float = math.inf
    unit: float = 1.0


def compare_with_twins(cells: Sequence[BesideTwins]) -> list[dict[str, float | None]]:
    """Compare the estimates of one model by one method with those of its twins.

    The difference, effect - mean of the K twins, is tested against two null hypotheses, and has to stand out from both:

        other weights   Student's t, f degrees of freedom, of difference / (s sqrt(1 + 1 / K))
        other words     the normal distribution, of difference / sqrt(V + s^2 / K)

    s and f are the twins' moderated standard deviation and its degrees of freedom (`moderate_deviations`); the first
    hypothesis is that the model is one more of the twins, with these words. V is how much the effect varies with other
    words, ((high - low) / 3.92)^2; the second is that words of the same kind have the twins' mean. p is the larger of
    both, the interval the wider one (docs/statistics.md has how often they reject).

    Returns:
        For each cell `n_twins`, `twin_effect_size` (their mean), `twin_sd`, `twin_difference`, its 95% interval
        `twin_difference_low` to `twin_difference_high`, `p_twins`, and s and f as `twin_sd_moderated` and `twin_df`;
        None for what there is not. An interval and a p need two twins and an interval over words.
    """
    found = [_describe_twins(cell) for cell in cells]
    tested = [
        (cell, of_cell)
        for cell, of_cell in zip(cells, found, strict=True)
        if of_cell["twin_sd"] is not None and cell.low is not None and cell.high is not None
    ]
    moderated = moderate_deviations(
        [(of_cell["twin_sd"] or 0.0) / cell.unit for cell, of_cell in tested],
        [len(cell.twins) - 1 for cell, _ in tested],
        [cell.group for cell, _ in tested],
    )
    for (cell, of_cell), s, df in zip(tested, *(each.tolist() for each in moderated), strict=True):
        if s > 0:
            of_cell |= judge_difference(cell, s * cell.unit, df)
    return found


def _describe_twins(cell: BesideTwins) -> dict[str, float | None]:
    names = ("twin_effect_size", "twin_sd", "twin_sd_moderated", "twin_df", "p_twins")
    ends = ("twin_difference_low", "twin_difference_high")
    found: dict[str, float | None] = dict.fromkeys((*names, *ends))
    if (n := len(cell.twins)) and cell.effect is not None:
        mean = float(np.mean(cell.twins))
        found |= {"n_twins": n, "twin_effect_size": mean, "twin_difference": cell.effect - mean}
        found["twin_sd"] = float(np.std(cell.twins, ddof=1)) if n > 1 else None
    return found


def judge_difference(cell: BesideTwins, sd: float, df: float) -> dict[str, float | None]:
    """Return the columns of the test, from the moderated standard deviation and its degrees of freedom."""
    assert cell.effect is not None
    assert cell.low is not None
    assert cell.high is not None
    difference = cell.effect - float(np.mean(cell.twins))
    p, margin = map(float, assess_difference(difference, cell.high - cell.low, len(cell.twins), sd, df))
    return {
        "twin_sd_moderated": sd,
        "twin_df": df,
        "twin_difference_low": max(difference - margin, -cell.most),
        "twin_difference_high": min(difference + margin, cell.most),
        "p_twins": p,
    }


def assess_difference(difference: Any, width: Any, n_twins: int, sd: Any, df: Any) -> tuple[Any, Any]:
    """Return p of the difference from the copies' mean, and half of its interval; numbers, or arrays of many studies.

    `width` is that of the effect's interval over words.
    """
    from scipy.special import ndtr, stdtr, stdtrit  # here, because it takes longer to import than the rest

    of_weights = sd * (1 + 1 / n_twins) ** 0.5
    of_words = ((width / (2 * Z_95)) ** 2 + sd**2 / n_twins) ** 0.5
    margin = np.maximum(stdtrit(df, 0.975) * of_weights, Z_95 * of_words)
    distance = -np.abs(difference)
    return 2 * np.maximum(stdtr(df, distance / of_weights), ndtr(distance / of_words)), margin


def moderate_deviations(
    deviations: npt.ArrayLike, df: npt.ArrayLike, groups: Sequence[str]
) -> tuple[FloatArray, FloatArray]:
    """Return standard deviations drawn towards a common one, and their degrees of freedom.

    With e = log s^2 - digamma(d / 2) + log(d / 2) of each s with d degrees of freedom, trigamma(d0 / 2) is the variance
    of e minus the mean of trigamma(d / 2), and d0 is infinite where that is not positive; log s0^2 = mean of e +
    digamma(d0 / 2) - log(d0 / 2). The moderated variance is (d0 s0^2 + d s^2) / (d0 + d), with d0 + d degrees of
    freedom, at most as many as the groups have together. A variance stays as it is if the common distribution has
    larger ones in fewer than `_WIDE` of the cells.

    Args:
        deviations: (n,) standard deviations; zeros do not count for d0 and s0, and are moderated.
        df: (n,) degrees of freedom of each.
        groups: (n,) deviations of one group are correlated, and count once among all degrees of freedom.

    Returns:
        Two arrays, (n,); the arguments where fewer than `FEWEST_CELLS` deviations are above zero.
    """
    s, d = np.asarray(deviations, dtype=np.float64), np.asarray(df, dtype=np.float64)
    if np.count_nonzero(s) < FEWEST_CELLS:
        return s, d
    from scipy.special import digamma, fdtrc, polygamma  # here, because it takes longer to import than the rest

    half = d[s > 0] / 2
    logs = 2 * np.log(s[s > 0]) - digamma(half) + np.log(half)
    excess = float(logs.var(ddof=1) - polygamma(1, half).mean())
    half_prior = _invert_trigamma(excess) if excess > 0 else _INFINITE
    prior, common = 2 * half_prior, np.exp(logs.mean() + digamma(half_prior) - np.log(half_prior))
    most = {group: max(df for other, df in zip(groups, d, strict=True) if other == group) for group in set(groups)}
    is_kept = fdtrc(d, prior, s**2 / common) < _WIDE
    moderated = np.sqrt((prior * common + d * s**2) / (prior + d))
    return np.where(is_kept, s, moderated), np.where(is_kept, d, np.minimum(prior + d, sum(most.values())))


def _invert_trigamma(value: float) -> float:
    """Return the y with trigamma(y) = value > 0, by Newton's method for 1 / trigamma, from below (Smyth 2004)."""
    from scipy.special import polygamma

    y, step = 0.5 + 1 / value, 1.0
    while abs(step) > 1e-12 * y:
        trigamma = polygamma(1, y)
        step = float(trigamma * (1 - trigamma / value) / polygamma(2, y))
        y += step
    return y


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
