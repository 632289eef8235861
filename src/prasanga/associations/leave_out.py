"""What each word adds to an effect: the effect without it, and the associations of attribute words."""

from __future__ import annotations

import numpy as np

from prasanga.associations.cosines import Cosines
from prasanga.associations.vectors import FloatArray


def leave_one_out(cosines: Cosines, std: str = "union_ddof1") -> FloatArray:
    """(n_targets + n_attributes,) the effect size without each word and all its items, in the order X, Y, A, B.

    NaN where there is none: the word was alone in its set, or the scores of the others are all the same.
    """
    n = cosines.n_targets
    kept = 1.0 - np.eye(n + cosines.n_attributes)
    return cosines.effects(kept[:, :n], kept[:, n:], std=std)


def contributions(cosines: Cosines) -> FloatArray:
    """(n_attributes,) the mean cosine of each attribute word with X minus that with Y, A before B.

    The mean over A minus the mean over B is the numerator of the effect size.
    """
    return contributions_of_means(cosines, cosines.values.mean(axis=0))


def contributions_of_means(cosines: Cosines, means: FloatArray) -> FloatArray:
    """`contributions` from the (n_target_items, n_attribute_items) means over draws, which may be in another unit."""
    n_items = np.bincount(cosines.targets)[cosines.targets]
    weights = 1 / (n_items * np.where(cosines.targets < cosines.n_x, cosines.n_x, -cosines.n_y))
    of_items = weights @ means
    return np.bincount(cosines.attributes, of_items) / np.bincount(cosines.attributes)
