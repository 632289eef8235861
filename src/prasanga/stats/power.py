"""How many words are enough: the smallest effect that the test of words finds.

Two sources of chance are kept apart. More contexts make the effect of *these* words steadier (`contexts_enough`);
whether other words would do depends on the number of words.
"""

from __future__ import annotations

import math
from functools import lru_cache
from math import comb

import numpy as np

from prasanga.base.errors import InputError
from prasanga.stats.arguments import FloatArray, choice, positive_number, whole_number
from prasanga.stats.crossed import CrossedScores
from prasanga.stats.effects import DENOMINATORS, STD_CONVENTIONS
from prasanga.stats.permutation import ALTERNATIVES

ALPHA, _POWER = 0.05, 0.8
"""p at which an effect counts as found, and how often it is to be found."""


def smallest_effect(
    crossed: CrossedScores,
    scores: FloatArray | None = None,
    *,
    std: str = "union_ddof1",
    alternative: str = "two-sided",
) -> float | None:
    """Return the smallest effect that the permutation test of words finds in four of five studies, with p below .05.

    It is in units of the reported effect.

    What the test sees are the words' mean associations; what the reported effect is divided by is the spread of single
    items (contexts, sentences), which is wider. With few words and noisy contexts a small reported effect can
    therefore be found, and the ratio of both spreads is taken from the data (see `smallest_effect_of_sizes`).

    Args:
        crossed: scores of the category.
        scores: (n_targets,) associations of the words, where they rest on more draws than `crossed` has.
        std: the denominator's convention.
        alternative: of the test: two-sided, or one-sided in the direction of the effect (greater, less).

    Returns:
        Its size, without a sign; None if no effect can be found with so few words, or words do not differ within sets.
    """
    words = crossed.word_scores() if scores is None else scores
    n_x, n_y = crossed.n_x, crossed.n_y
    if n_x + n_y < 3:
        return None
    of_words = float(_within(words[None], n_x)[0]) / (n_x + n_y - 2)
    difference = _detectable(n_x, n_y, alternative, ALPHA, _POWER)
    if difference is None or not of_words > crossed.noise**2:
        return None

    items = crossed.item_scores()
    m_x = int((crossed.targets < n_x).sum())
    m_y = items.shape[1] - m_x
    within = float(_within(items, m_x).mean())
    # Words of one population have set means that differ a little by chance, which widens the union.
    of_one_draw = float(_within(_word_means(crossed, items), n_x).mean()) / (n_x + n_y - 2)
    between = of_one_draw * (1 / n_x + 1 / n_y) * m_x * m_y / (m_x + m_y)
    pooled, union = within / (m_x + m_y - 2), (within + between) / (m_x + m_y - 1)
    return _reported(difference, pooled / of_words, union / of_words, m_x, m_y, std)


def smallest_effect_at(
    effect: float | None, n_x: int, n_y: int, *, alpha: float, std: str = "union_ddof1", alternative: str = "two-sided"
) -> float | None:
    """Return at another level what `smallest_effect` found at .05 for `n_x` and `n_y` words; None if nothing is found.

    The ratio of spreads r is the one behind `effect`, by the formula of `smallest_effect_of_sizes`.
    """
    if effect is None:
        return None
    known, wanted = (_detectable(n_x, n_y, alternative, level, _POWER) for level in (ALPHA, alpha))
    if known is None or wanted is None:
        return None
    within_sets, lost = DENOMINATORS[std]
    n = n_x + n_y
    between = 0.0 if within_sets else (wanted**2 - known**2) * n_x * n_y / (n * (n - lost))
    return wanted / math.sqrt((known / effect) ** 2 + between)


def smallest_effect_of_sizes(
    n_x: int,
    n_y: int,
    *,
    spread_ratio: float = 1.0,
    std: str = "union_ddof1",
    alternative: str = "two-sided",
    alpha: float = ALPHA,
    power: float = _POWER,
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
    if whole_number("n_x", n_x, least=1) + whole_number("n_y", n_y, least=1) < 3:
        raise InputError(f"n_x, n_y: {n_x} and {n_y} words. Give at least one in each set, and three in both.")
    choice("std", std, STD_CONVENTIONS)
    choice("alternative", alternative, ALTERNATIVES)
    if not 0 < alpha < power < 1:
        raise InputError(f"alpha, power: {alpha} and {power}. Write 0 < alpha < power < 1, for example 0.05 and 0.8.")
    positive_number("spread_ratio", spread_ratio, example="1")
    difference = _detectable(n_x, n_y, alternative, alpha, power)
    return None if difference is None else _reported(difference, spread_ratio**2, spread_ratio**2, n_x, n_y, std)


def _reported(difference: float, pooled: float, union: float, m_x: int, m_y: int, std: str) -> float:
    """Return the effect size of a difference of means, both in standard deviations of words within sets.

    `pooled` is the items' variance within sets, `union` that of all items if the sets did not differ, in squares of the
    same unit; `m_x` and `m_y` count items.
    """
    m, (within_sets, lost) = m_x + m_y, DENOMINATORS[std]
    if within_sets:
        return difference / math.sqrt(pooled * ((m - 2) / (m - lost)))
    squares = union * (m - 1) + difference**2 * m_x * m_y / m
    return difference / math.sqrt(squares / (m - lost))


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


def _word_means(crossed: CrossedScores, items: FloatArray) -> FloatArray:
    """Return (n_draws, n_targets), the mean of each word's items in each draw."""
    weights = (crossed.targets == np.arange(crossed.n_targets)[:, None]) / np.bincount(crossed.targets)[:, None]
    return np.asarray(items @ weights.T)
