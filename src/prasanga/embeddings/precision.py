"""How far vectors are from those that the same model gives in full precision, measured once per model.

A model runs in half precision where the device has it, perhaps with weights of 8 bits, and its vectors are kept in
float16. None of it should matter to a statistic of cosines; this says by how much it might, on a few of the study's own
segments.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

COMPARED = 64
"""Segments that are compared at most: enough for the third decimal, and soon done on any device."""


@dataclass(frozen=True)
class PrecisionReport:
    """Cosines between vectors as they are kept and the same vectors in float32 throughout.

    Attributes:
        compared: segments compared.
        cosine_mean: mean of the cosines; None if nothing was compared.
        cosine_min: the smallest of them.
        float16_cosine_min: the smallest cosine between a vector as the run computes it and itself in float16: what
            keeping vectors in float16 alone does, or would do.
        reason: why the figures are worse than they should be, or why there are none; None otherwise.
    """

    compared: int
    cosine_mean: float | None
    cosine_min: float | None
    float16_cosine_min: float | None
    reason: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """The report as plain values for JSON."""
        return asdict(self)


def not_compared(reason: str) -> PrecisionReport:
    """The report where there is nothing to compare, or no way to."""
    return PrecisionReport(0, None, None, None, reason)


def compare_vectors(
    vectors: NDArray[np.float32], exact: NDArray[np.float32], *, stored_dtype: str = "float16"
) -> PrecisionReport:
    """Compare (n, d) vectors, once they are rounded to `stored_dtype`, with the (n, d) vectors that they should be."""
    if not len(vectors):
        return not_compared("there are no segments")
    stored = _rounded(vectors, stored_dtype)
    found = cosines(stored, exact)
    overflowing = int((~np.isfinite(stored).all(axis=1)).sum())
    return PrecisionReport(
        compared=len(vectors),
        cosine_mean=round(float(found.mean()), 8),
        cosine_min=round(float(found.min()), 8),
        float16_cosine_min=round(float(cosines(_rounded(vectors, "float16"), vectors).min()), 8),
        reason=(
            f"{overflowing} of {len(vectors)} vectors have numbers beyond the range of {stored_dtype}; write"
            " `embeddings: {stored_dtype: float32}`"
            if overflowing
            else None
        ),
    )


def choose(texts: Sequence[str], count: int) -> list[int]:
    """Places of up to `count` texts, spread evenly from the shortest to the longest.

    The same texts are chosen in whatever order they come; texts of one length go by their characters.
    """
    ordered = sorted(range(len(texts)), key=lambda place: (len(texts[place]), texts[place], place))
    if len(ordered) <= count:
        return ordered
    if count < 2:
        return ordered[: max(0, count)]
    return [ordered[step * (len(ordered) - 1) // (count - 1)] for step in range(count)]


def cosines(one: NDArray[np.floating], other: NDArray[np.floating]) -> NDArray[np.float64]:
    """The cosine of each row of `one` with the same row of `other`, (n,) from (n, d) each.

    Two rows of zeros are the same vector (1); a row of zeros, or one that is not finite, has nothing in common with
    another (0).
    """
    both = np.stack([one, other]).astype(np.float64)
    finite = np.isfinite(both).all(axis=(0, 2))
    both[:, ~finite] = 0.0
    lengths = np.linalg.norm(both, axis=2)
    scale = lengths.prod(axis=0)
    products = (both[0] * both[1]).sum(axis=1) / np.where(scale > 0.0, scale, 1.0)
    equal = finite & (lengths == 0.0).all(axis=0)
    return np.where(equal, 1.0, np.clip(products, -1.0, 1.0))


def _rounded(vectors: NDArray[np.float32], dtype: str) -> NDArray[np.float32]:
    with np.errstate(over="ignore"):
        return vectors.astype(dtype).astype(np.float32)
