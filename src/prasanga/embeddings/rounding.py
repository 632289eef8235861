"""Vectors in the precision that they are kept in."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from prasanga.errors import InputError

StoredDtype = Literal["float16", "float32"]


def rounded(vectors: NDArray[np.float32], dtype: StoredDtype) -> NDArray[np.floating]:
    """Vectors in `dtype`.

    Raises:
        InputError: if one has a number too large for it.
    """
    with np.errstate(over="ignore"):
        kept = vectors.astype(dtype)
    if not np.isfinite(kept).all():
        largest = float(np.abs(vectors).max())
        raise InputError(
            f"a vector has a number of {largest:.4g}, too large for {dtype} (at most {np.finfo(dtype).max:.0f}). Write"
            " embeddings: {stored_dtype: float32}."
        )
    return kept
