"""Effect sizes: the difference of the mean associations of two sets of words over a standard deviation.

A word w is associated with attribute A rather than B by s(w, A, B) = mean cos(w, a) - mean cos(w, b). The effect
size is the difference of the mean associations of the target sets X and Y over a standard deviation of the
associations (Caliskan, Bryson and Narayanan 2017; Sadhu et al. 2024, appendix B.1). Programs disagree on that
standard deviation; here its convention has a name.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple, cast

import numpy as np
import numpy.typing as npt

from prasanga.base.errors import InputError
from prasanga.stats.arguments import FloatArray, choice, finite_vector


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


def effect_size_of_scores(x: npt.ArrayLike, y: npt.ArrayLike, std: str = "union_ddof1", *, noise: float = 0.0) -> float:
    """Return the effect size of associations already computed.

    `x` (nx,) has those of the words of X, `y` (ny,) those of the words of Y.

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
