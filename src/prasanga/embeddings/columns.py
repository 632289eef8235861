"""Vectors as a column of a Parquet file, and back: a fixed-size list of float16 or float32 per row.

Neither a row nor a number in it may be null, and the schema says so: Parquet then has no levels to decode per number,
and a file is read several times faster.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

StoredDtype = Literal["float16", "float32"]


def embedding_field(dtype: StoredDtype, width: int) -> pa.Field:
    """The schema's field for vectors of `width` numbers: named embedding, without nulls."""
    return pa.field("embedding", _list_type(pa.from_numpy_dtype(np.dtype(dtype)), width), nullable=False)


def vectors_to_arrow(vectors: NDArray[np.floating]) -> pa.FixedSizeListArray:
    """(n, d) vectors as an Arrow column of fixed-size lists of non-null numbers."""
    flat = pa.array(np.ascontiguousarray(vectors).reshape(-1))
    return pa.FixedSizeListArray.from_arrays(flat, type=_list_type(flat.type, vectors.shape[1]))


def arrow_to_vectors(column: pa.ChunkedArray) -> NDArray[np.floating]:
    """A column of fixed-size lists as (n, d) vectors; no copy is made of a column in one chunk."""
    width = column.type.list_size
    chunks: list[NDArray[np.floating]] = [
        chunk.flatten().to_numpy(zero_copy_only=False).reshape(-1, width) for chunk in column.chunks
    ]
    if len(chunks) == 1:
        return chunks[0]
    return np.concatenate(chunks) if chunks else np.empty((0, width), column.type.value_type.to_pandas_dtype())


def _list_type(number: pa.DataType, width: int) -> pa.DataType:
    return pa.list_(pa.field("element", number, nullable=False), width)
