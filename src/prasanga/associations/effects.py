"""Associations of words and the effect size of a difference between two sets of them (WEAT).

A word w is associated with attribute A rather than B by s(w, A, B) = mean cos(w, a) - mean cos(w, b). The effect size
is the difference of the mean associations of the target sets X and Y over a standard deviation of the associations
(Caliskan, Bryson and Narayanan 2017; Sadhu et al. 2024, appendix B.1). Programs disagree on that standard deviation;
here its convention has a name:

- `union_ddof1`: of all associations of X and Y together, divided by n - 1 (Caliskan et al.; the default)
- `union_ddof0`: the same, divided by n
- `pooled`: from the variances within X and within Y, with nx + ny - 2 degrees of freedom (Cohen's d)
"""

from __future__ import annotations

from typing import cast

import numpy as np
import numpy.typing as npt

from prasanga.associations.checking import NUMBERS, to_array
from prasanga.associations.vectors import FloatArray, require_one_dimension, unit_vectors
from prasanga.errors import InputError

STD_CONVENTIONS = ("union_ddof1", "union_ddof0", "pooled")

# Cosines are sums of products of numbers below 1, wrong by some 1e-16: a spread as small as this is rounding, not data.
COSINE_NOISE = 1e-13
# The same for scores of unknown scale, relative to the largest of them.
_RELATIVE_NOISE = 1e-12


class ConstantScoresError(InputError):
    """All associations are the same, so that an effect size, a difference over a spread, does not exist."""


def association_scores(W: npt.ArrayLike, A: npt.ArrayLike, B: npt.ArrayLike) -> FloatArray:
    """The association of each row w of `W` with A rather than B (Caliskan et al. 2017; Sadhu et al. 2024, app. B.1).

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
    """Effect size d of target sets `X`, `Y` and attribute sets `A`, `B`, each (n, d) with one vector per word.

        d = (mean of s(x, A, B) over X  -  mean of s(y, A, B) over Y) / std of s

    with s as in `association_scores`. `std` is one of `union_ddof1`, over X and Y together, divided by n - 1 (Caliskan,
    Bryson and Narayanan 2017; Sadhu et al. 2024, appendix B.1; the default), `union_ddof0`, the same divided by n, and
    `pooled`, within X and within Y (Cohen's d). Hypothesis and test: `permutation_test`.

    Positive if X is associated with A rather than B more than Y is. The sets may differ in size. With one word on each
    side, `union_ddof1` gives +-1.414 whatever the vectors. Raises `InputError` for bad arrays (as
    `association_scores`), an unknown `std`, too few words for it, and scores that are all the same
    (`ConstantScoresError`).
    """
    x, y = target_scores(X, Y, A, B)
    _, effects = spreads_and_effects(np.concatenate([x, y]), x.size, std, noise=COSINE_NOISE)
    return float(effects)


def effect_size_of_scores(x: npt.ArrayLike, y: npt.ArrayLike, std: str = "union_ddof1", *, noise: float = 0.0) -> float:
    """Effect size of associations already computed: `x` (nx,) of the words of X, `y` (ny,) of those of Y.

    `std`: `union_ddof1` (the default), `union_ddof0` or `pooled`, as in `effect_size`. A spread of `noise` or less is
    rounding (`COSINE_NOISE` for cosines). Raises `InputError` as `effect_size` does.
    """
    x, y = finite_vector("x", x), finite_vector("y", y)
    _, effects = spreads_and_effects(np.concatenate([x, y]), x.size, std, noise=noise)
    return float(effects)


def target_scores(
    X: npt.ArrayLike, Y: npt.ArrayLike, A: npt.ArrayLike, B: npt.ArrayLike
) -> tuple[FloatArray, FloatArray]:
    """The associations of the words of `X` and of `Y`: (nx,) and (ny,)."""
    x, y = unit_vectors("X", X), unit_vectors("Y", Y)
    a, b = unit_vectors("A", A), unit_vectors("B", B)
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
    """Standard deviations by convention `std`, and effect sizes, along the last axis of `scores`.

    `scores` is (..., nx + ny), the words of X first; both results are (...,). A spread of `noise` or less (or of 1e-12
    of the largest score) is rounding: `ConstantScoresError`.
    """
    if not isinstance(std, str) or std not in STD_CONVENTIONS:
        raise InputError(f"std: {std!r} is no convention of the denominator. Write {_one_of(STD_CONVENTIONS)}.")
    x, y = scores[..., :n_x], scores[..., n_x:]
    if std == "pooled":
        freedom = scores.shape[-1] - 2
        if freedom < 1:
            raise InputError("std: 'pooled' needs three words in X and Y together. Add words, or write 'union_ddof1'.")
        within = sum(np.square(side - side.mean(axis=-1, keepdims=True)).sum(axis=-1) for side in (x, y))
        spreads = np.sqrt(within / freedom)
    else:
        spreads = scores.std(axis=-1, ddof=1 if std == "union_ddof1" else 0)
    constant = spreads <= np.maximum(noise, _RELATIVE_NOISE * np.abs(scores).max(axis=-1))
    if constant.any():
        where = f" in draw {int(np.flatnonzero(constant)[0])}" if constant.ndim else ""
        within_sets = " within X and within Y" if std == "pooled" else ""
        raise ConstantScoresError(
            f"All words have the same association{within_sets}{where}: the effect size, a difference over their"
            " spread, does not exist. Are the sets, or the two attribute sets, the same?"
        )
    return cast(FloatArray, spreads), (x.mean(axis=-1) - y.mean(axis=-1)) / spreads


def _one_of(names: tuple[str, ...]) -> str:
    return " or ".join(map(repr, names))
