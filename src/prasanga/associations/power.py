"""How much data is enough: contexts for a steady effect, and words for an effect to be found.

Two sources of chance are kept apart. More contexts make the effect of *these* words steadier; whether other words
would do is decided by the number of words alone.
"""

from __future__ import annotations

import math
from functools import lru_cache
from math import comb

import numpy as np
import numpy.typing as npt

from prasanga.associations.convergence import require_band
from prasanga.associations.cosines import Cosines
from prasanga.associations.effects import COSINE_NOISE, STD_CONVENTIONS, finite_vector
from prasanga.associations.permutation import ALTERNATIVES
from prasanga.associations.vectors import FloatArray, choice, number, whole_number
from prasanga.base.errors import InputError

_Z_95 = 1.959963984540054  # the normal distribution's 97.5 % point


def contexts_enough(effects: npt.ArrayLike, band: float, *, contexts_min: int | None = None) -> int | None:
    """Return how many contexts of each word bring the effect within `band` of what all contexts would give.

    That is meant of 95 in 100 pools of so many contexts (1.96 standard errors).
    One draw takes one context of each word, so the standard deviation of the draws' effects is what the choice of
    one context a word leaves to chance. With pools of k contexts a word and all their combinations it is
    sd / sqrt(k) or less: a part of the variance that belongs to one word falls with k, one that belongs to s words
    together with k^s (Hoeffding 1948). So k = (1.96 sd / band)^2, rounded up.

    Draws from a pool of m contexts differ less than contexts of the language do, on average by (m - 1) / m of the
    variance. It is made up for by the smallest pool, that of `contexts_min`; of few contexts the number stays a guess.

    Args:
        effects: (n_draws,) effect sizes of single draws, one context of each word in each.
        band: distance that is small enough.
        contexts_min: contexts of the word that has the fewest; None if all have many.

    Returns:
        k; None with a single draw, or with a word of one context, which says nothing about chance.

    Raises:
        InputError: a band that is not greater than 0, or effects that are not finite numbers.
    """
    drawn = finite_vector("effects", effects)
    require_band(band)
    if drawn.size < 2 or contexts_min == 1:
        return None
    finite = 1.0 if contexts_min is None else math.sqrt(contexts_min / (contexts_min - 1))
    return contexts_for_spread(float(drawn.std(ddof=1)) * finite, band)


def contexts_for_spread(spread: float, band: float) -> int:
    """Return what `contexts_enough` says, from the standard deviation of the draws' effects; at least 1."""
    require_band(band)
    if not 0 <= number("spread", spread, "a standard deviation, 0 or greater") < math.inf:
        raise InputError(f"spread: {spread}. Give a standard deviation, 0 or greater.")
    return max(1, math.ceil((_Z_95 * spread / band) ** 2))


def smallest_effect(
    cosines: Cosines,
    scores: FloatArray | None = None,
    *,
    std: str = "union_ddof1",
    alternative: str = "two-sided",
    alpha: float = 0.05,
    power: float = 0.8,
) -> float | None:
    """Return the smallest effect that the permutation test of words finds with this `power`.

    It is in units of the reported effect.

    What the test sees are the words' mean associations; what the reported effect is divided by is the spread of single
    items (contexts, sentences), which is wider. With few words and noisy contexts a small reported effect can
    therefore be found, and the ratio of both spreads is taken from the data (see `smallest_effect_of_sizes`).

    Args:
        cosines: of the category.
        scores: (n_targets,) associations of the words, where they rest on more draws than `cosines` has.
        std: the denominator's convention.
        alternative: of the test: two-sided, or one-sided in the direction of the effect (greater, less).
        alpha: p at which an effect counts as found.
        power: how often it is to be found.

    Returns:
        Its size, without a sign; None if no effect can be found with so few words, or words do not differ within sets.

    Raises:
        InputError: see `smallest_effect_of_sizes`.
    """
    words = cosines.word_scores() if scores is None else scores
    n_x, n_y = cosines.n_x, cosines.n_y
    if n_x + n_y < 3:
        return None
    _check(n_x, n_y, std, alternative, alpha, power)
    of_words = float(_within(words[None], n_x)[0]) / (n_x + n_y - 2)
    difference = _detectable(n_x, n_y, alternative, alpha, power)
    if difference is None or not of_words > COSINE_NOISE**2:
        return None

    items = cosines.item_scores()
    m_x = int((cosines.targets < n_x).sum())
    m_y = items.shape[1] - m_x
    within = float(_within(items, m_x).mean())
    # Words of one population have set means that differ a little by chance, which widens the union.
    of_one_draw = float(_within(_word_means(cosines, items), n_x).mean()) / (n_x + n_y - 2)
    between = of_one_draw * (1 / n_x + 1 / n_y) * m_x * m_y / (m_x + m_y)
    pooled, union = within / (m_x + m_y - 2), (within + between) / (m_x + m_y - 1)
    return _reported(difference, pooled / of_words, union / of_words, m_x, m_y, std)


def smallest_effect_of_sizes(
    n_x: int,
    n_y: int,
    *,
    spread_ratio: float = 1.0,
    std: str = "union_ddof1",
    alternative: str = "two-sided",
    alpha: float = 0.05,
    power: float = 0.8,
) -> float | None:
    """Return the smallest effect that is found in a study with `n_x` and `n_y` words, for example one that is planned.

    The smallest difference D of the sets' means, in standard deviations of words within sets, comes from the noncentral
    t distribution with n - 2 degrees of freedom, n = nx + ny (Cohen 1988, chapter 2), which the permutation test
    follows closely. With r the `spread_ratio`, the effect that CEAT reports for it is about

        D / sqrt(r^2 + D^2 nx ny / (n (n - 1)))                  union_ddof1
        D / sqrt(r^2 (n - 1) / n + D^2 nx ny / n^2)              union_ddof0
        D / r                                                    pooled

    Args:
        n_x: words of X.
        n_y: words of Y.
        spread_ratio: standard deviation within sets of the associations of single contexts over that of the words'
            means; 1 for WEAT, where a word has one vector.
        std: the denominator's convention: union_ddof1, union_ddof0 or pooled.
        alternative: of the test: two-sided, greater or less.
        alpha: p at which an effect counts as found.
        power: how often it is to be found.

    Returns:
        None if no partition is rare enough for alpha: 3 and 3 words have 20, and p is never below 2 / 20.

    Raises:
        InputError: fewer than one word in a set or three in both, a ratio that is not greater than 0, unknown names,
            alpha or power outside (0, 1), power below alpha.
    """
    _check(n_x, n_y, std, alternative, alpha, power)
    if not 0 < number("spread_ratio", spread_ratio, "a number greater than 0") < math.inf:
        raise InputError(f"spread_ratio: {spread_ratio}. Write a number greater than 0; 1 for one vector a word.")
    difference = _detectable(n_x, n_y, alternative, alpha, power)
    return None if difference is None else _reported(difference, spread_ratio**2, spread_ratio**2, n_x, n_y, std)


def _reported(difference: float, pooled: float, union: float, m_x: int, m_y: int, std: str) -> float:
    """Return the effect size of a difference of means, both in standard deviations of words within sets.

    `pooled` is the items' variance within sets, `union` that of all items if the sets did not differ, in squares of the
    same unit; `m_x` and `m_y` count items.
    """
    if std == "pooled":
        return difference / math.sqrt(pooled)
    m = m_x + m_y
    squares = union * (m - 1) + difference**2 * m_x * m_y / m
    return difference / math.sqrt(squares / (m - (std == "union_ddof1")))


@lru_cache
def _detectable(n_x: int, n_y: int, alternative: str, alpha: float, power: float) -> float | None:
    """Return the difference of means, in standard deviations within sets, at which the test of words has this power.

    None if the rarest partition is not rare enough.
    """
    from scipy.special import nctdtr, stdtrit  # here, because it takes longer to import than the rest of the package

    two_sided = alternative == "two-sided"
    # p is a count of partitions over their number. The mirror image of a partition of equal sets counts with it.
    together, total = 2 if two_sided and n_x == n_y else 1, comb(n_x + n_y, n_x)
    # Of so many partitions that rounding p down to one of them changes nothing, there is no need to count.
    attained = alpha if total > 10**9 else int(alpha * total / together + 1e-9) * together / total
    if attained == 0:
        return None
    freedom, per_root = n_x + n_y - 2, math.sqrt(n_x * n_y / (n_x + n_y))
    bound = float(stdtrit(freedom, 1 - (attained / 2 if two_sided else attained)))

    def found(difference: float) -> float:
        shift = difference * per_root
        beyond = 1 - float(nctdtr(freedom, shift, bound))
        return beyond + float(nctdtr(freedom, shift, -bound)) if two_sided else beyond

    low, high = 0.0, 1.0
    while found(high) < power:
        low, high = high, 2 * high
    while low < (middle := (low + high) / 2) < high:
        low, high = (middle, high) if found(middle) < power else (low, middle)
    return high


def _within(scores: FloatArray, n_x: int) -> FloatArray:
    """Sum the squares about the mean of each set: (n, n_items) -> (n,)."""
    sides = scores[:, :n_x], scores[:, n_x:]
    return np.asarray(sum(np.square(side - side.mean(axis=1, keepdims=True)).sum(axis=1) for side in sides))


def _word_means(cosines: Cosines, items: FloatArray) -> FloatArray:
    """Return (n_draws, n_targets), the mean of each word's items in each draw."""
    weights = (cosines.targets == np.arange(cosines.n_targets)[:, None]) / np.bincount(cosines.targets)[:, None]
    return np.asarray(items @ weights.T)


def _check(n_x: int, n_y: int, std: str, alternative: str, alpha: float, power: float) -> None:
    if whole_number("n_x", n_x, least=1) + whole_number("n_y", n_y, least=1) < 3:
        raise InputError(f"n_x, n_y: {n_x} and {n_y} words. Give at least one in each set, and three in both.")
    choice("std", std, STD_CONVENTIONS)
    choice("alternative", alternative, ALTERNATIVES)
    for name, share in (("alpha", alpha), ("power", power)):
        number(name, share, "a number between 0 and 1")
    if not 0 < alpha < power < 1:
        raise InputError(f"alpha, power: {alpha} and {power}. Write 0 < alpha < power < 1, for example 0.05 and 0.8.")
