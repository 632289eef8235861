"""Vectors as a column of a Parquet file, and back: a fixed-size list of float16 or float32 per row."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray


def vectors_to_arrow(vectors: NDArray[np.floating]) -> pa.FixedSizeListArray:
    """(n, d) vectors as an Arrow column of fixed-size lists."""
    flat = pa.array(np.ascontiguousarray(vectors).reshape(-1))
    return pa.FixedSizeListArray.from_arrays(flat, vectors.shape[1])


def arrow_to_vectors(column: pa.ChunkedArray) -> NDArray[np.floating]:
    """A column of fixed-size lists as (n, d) vectors."""
    width = column.type.list_size
    chunks = [chunk.flatten().to_numpy(zero_copy_only=False).reshape(-1, width) for chunk in column.chunks]
    return np.concatenate(chunks) if chunks else np.empty((0, width), column.type.value_type.to_pandas_dtype())
