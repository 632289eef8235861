"""A null control: the attribute words of A and B dealt anew.

If an effect belongs to what A and B mean, it should vanish when their words are mixed. What remains is what any two
sets of these words would give.

An effect size is a difference over a spread. Mixed sets make both small, and their ratio need not be: where X and Y
differ strongly, the little that mixed sets say of it is divided by a spread as little, and effect sizes near the
largest possible come out, of either sign. The control therefore divides by the spread that the target words have with
the real A and B (`spread="observed"`); then it asks whether the difference of the sets' means vanishes, as it should.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from prasanga.associations.checking import choice, generator_from, whole_number
from prasanga.associations.cosines import Cosines
from prasanga.associations.effects import ConstantScoresError
from prasanga.associations.leave_out import contributions_of_means
from prasanga.associations.vectors import FloatArray

SPREADS = ("observed", "own")

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


def shuffled_effects(
    cosines: Cosines,
    n_shuffles: int,
    rng: np.random.Generator | int | None = None,
    std: str = "union_ddof1",
    *,
    spread: str = "observed",
) -> FloatArray:
    """(n_shuffles,) effects with the attribute words dealt at random into sets as large as A and B.

    A word moves with all its items. `spread` names the denominator: `observed` is that of each draw with the real A and
    B, by the convention `std`; `own` that of the dealt sets, which makes effect sizes in the usual sense, NaN where all
    scores are the same. Raises `InputError` for no shuffles and an unknown `spread`, and as `Cosines.effect` does.
    """
    n_shuffles = whole_number("n_shuffles", n_shuffles, least=1)
    choice("spread", spread, SPREADS)
    n = cosines.n_attributes
    order = np.tile(np.arange(n), (n_shuffles, 1))
    in_a = generator_from(rng).permuted(order, axis=1) < cosines.n_a
    if spread == "observed":
        return _over_observed_spread(cosines, in_a, std)
    # Every word stands in both sets, and counts in one of them.
    doubled = Cosines(
        np.concatenate([cosines.values, cosines.values], axis=2),
        cosines.targets,
        np.concatenate([cosines.attributes, cosines.attributes + n]),
        cosines.n_x,
        cosines.n_y,
        n,
        n,
    )
    return doubled.effects(attribute_counts=np.concatenate([in_a, ~in_a], axis=1).astype(np.float64), std=std)


def shuffled_control(
    cosines: Cosines,
    *,
    n_shuffles: int = 1000,
    rng: np.random.Generator | int | None = None,
    std: str = "union_ddof1",
) -> ShuffledControl:
    """The middle 95 % of `shuffled_effects` over the observed spread, and how many are as large as the observed effect.

    `p_value` asks whether the division of these attribute words into A and B matters; it says nothing about other
    target words. Raises as `shuffled_effects` does.
    """
    observed = abs(cosines.effect(std))
    effects = shuffled_effects(cosines, n_shuffles, rng, std)
    count = int(np.count_nonzero(np.abs(effects) >= observed * (1 - _TIE)))
    low, high = np.quantile(effects, [0.025, 0.975])
    return ShuffledControl(float(low), float(high), (count + 1) / (n_shuffles + 1))


def _over_observed_spread(
    cosines: Cosines, in_a: np.ndarray[tuple[int, ...], np.dtype[np.bool_]], std: str
) -> FloatArray:
    """An effect is then linear in the cosines: each attribute word adds its own share."""
    spreads = cosines.spreads(std)
    if np.isnan(spreads).any():
        raise ConstantScoresError("All words have the same association: there is no spread to divide by.")
    of_words = contributions_of_means(cosines, (cosines.values / spreads[:, None, None]).mean(axis=0))
    return np.asarray(in_a @ of_words / cosines.n_a - ~in_a @ of_words / cosines.n_b)
