"""How the combined effect of CEAT moves as draws are added, and from how many on it no longer moves much.

More draws take away chance in the choice of contexts from the pool that there is. They add no contexts to that pool
(for that see `power.contexts_enough`) and no words.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from numbers import Integral
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from prasanga.associations.checking import number, sequence_of, whole_number
from prasanga.associations.effects import finite_vector
from prasanga.associations.random_effects import combine
from prasanga.errors import InputError


class Combined(NamedTuple):
    """The combined effect of the first `n` draws."""

    n: int
    effect: float
    standard_error: float


def sizes_up_to(n_draws: int) -> list[int]:
    """100, 200, 500, 1000, 2000, 5000, ... as long as there are so many draws, and at last all `n_draws`.

    Raises `InputError` for no draws.
    """
    n_draws = whole_number("n_draws", n_draws, least=1)
    steps = (factor * 10**power for power in range(2, len(str(n_draws))) for factor in (1, 2, 5))
    return [*(n for n in steps if n < n_draws), n_draws]


def convergence(
    effects: npt.ArrayLike, variances: npt.ArrayLike, tau2: str = "dl", sizes: Sequence[int] | None = None
) -> list[Combined]:
    """The combined effect of the first n draws, for each n of `sizes`.

    Args:
        effects: (N,) effect sizes of the draws, in the order in which they were drawn.
        variances: (N,) their in-sample variances.
        tau2: see `random_effects.combine`.
        sizes: numbers of draws, rising; those of `sizes_up_to` if None. N is added where it is not among them.

    Raises:
        InputError: sizes that do not rise or go beyond N; otherwise as `combine`.
    """
    y, v = finite_vector("effects", effects), finite_vector("variances", variances)
    taken = sizes_up_to(y.size) if sizes is None else sequence_of("sizes", sizes, "a list of whole numbers that rise")
    if taken[-1:] != [y.size]:
        taken.append(y.size)
    if any(not isinstance(n, Integral) or n < 1 for n in taken) or any(n >= later for n, later in pairwise(taken)):
        raise InputError(f"sizes: {taken[:10]}. Give whole numbers that rise, from 1 to at most {y.size} draws.")
    rows = []
    for n in taken:
        result = combine(y[:n], v[:n], tau2=tau2)
        rows.append(Combined(n, result.effect, result.standard_error))
    return rows


def draws_settled(rows: Sequence[Combined], band: float) -> int | None:
    """The smallest number of draws at and after which every combined effect is within `band` of the last one.

    None if that is said of the last one alone, which is within any band of itself. Raises `InputError` for a `band`
    that is not greater than 0.
    """
    require_band(band)
    settled = None
    for row in reversed(rows[:-1]):
        if not abs(row.effect - rows[-1].effect) <= band:
            break
        settled = row.n
    return settled


def require_band(band: float) -> None:
    """Refuse a band that is not a number greater than 0."""
    if not 0 < number("associations.band", band, "a number greater than 0, for example 0.1") < np.inf:
        raise InputError(f"associations.band: {band}. Write a number greater than 0, for example 0.1.")
