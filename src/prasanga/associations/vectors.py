"""Checked vectors and their lengths, computed once per set of vectors and used by every test.

A cosine needs unit vectors. Copying a study's vectors to scale them would double its memory, so they stay as they are
(float16, float32 or float64) and carry 1 / length beside them; products are then taken in float64, from the exact
values, which keeps a dozen digits where float32 unit vectors keep seven.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from prasanga.associations.checking import VECTORS, pair_of_word_lists, sequence_of, to_array
from prasanga.errors import InputError

FloatArray: TypeAlias = npt.NDArray[np.float64]

Words: TypeAlias = tuple[Sequence[str], Sequence[str], Sequence[str], Sequence[str]]
"""The words of X, Y, A and B."""


class DirectedVectors(NamedTuple):
    """Vectors whose directions are known: row i of `vectors`, times `inverse_norms[i]`, has length 1."""

    vectors: npt.NDArray[Any]
    """(n, d), floating point of any width, as given."""
    inverse_norms: FloatArray
    """(n,), one over each row's Euclidean length."""


def directed_vectors(name: str, vectors: npt.ArrayLike, *, ids: Sequence[str] = (), mend: str = "") -> DirectedVectors:
    """Check (n, d) `vectors` and compute the inverse length of each row; `name` says in messages whose they are.

    Where rows have `ids`, messages name them by these; `mend` says what to do about a row that cannot be used.

    Raises `InputError` if the array is not two-dimensional, is empty, is not numeric, or has a row that holds NaN or
    infinity or is all zeros (such a vector has no direction).
    """
    array = to_array(name, vectors, VECTORS)
    if array.dtype.kind not in "fiu":
        raise InputError(f"{name}: vectors of type {array.dtype}. Give numbers, for example float32.")
    if array.ndim != 2 or not array.size:
        raise InputError(f"{name}: an array of shape {array.shape}. Give (n, d): one vector per row, at least one.")
    if array.dtype.newbyteorder("=") not in (np.float16, np.float32, np.float64):
        array = array.astype(np.float64)
    elif not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    norms = _norms(array)
    if not np.isfinite(norms).all():
        row = _row_name(int(np.flatnonzero(~np.isfinite(norms))[0]), ids)
        raise InputError(f"{name}: {row} holds NaN or infinity. {mend or 'Make this vector again, or leave it out.'}")
    if not norms.all():
        row = _row_name(int(np.flatnonzero(norms == 0)[0]), ids)
        raise InputError(f"{name}: {row} is a zero vector, which has no direction. {mend or 'Leave it out.'}")
    return DirectedVectors(array, 1.0 / norms)


def embed_again(model: str) -> str:
    """What to do about a vector of a study that cannot be right; how vectors are kept stands in docs/embeddings.md."""
    return (
        f"Delete its shard and the list of that shard (.json), both under results/embeddings/{model}, and run again"
        " (what results/store has is not embedded again); if this comes back, the store has the vector too, so delete"
        " with them results/store/<key>, the folder whose key.json names this model."
    )


def _row_name(row: int, ids: Sequence[str]) -> str:
    return f"row {row}, the vector of {ids[row]}," if row < len(ids) else f"row {row}"


def _norms(array: npt.NDArray[Any]) -> FloatArray:
    """Lengths of the rows, in float64; some rows at a time, which stay in the processor's cache."""
    norms = np.empty(len(array))
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        for start in range(0, len(array), 256):
            block = array[start : start + 256].astype(np.float64)
            np.vecdot(block, block, out=norms[start : start + 256])
    norms = np.sqrt(norms)
    # Squares of numbers such as 1e-200 or 1e200 vanish or overflow: these rows are measured in units of their largest.
    for row in np.flatnonzero(~((norms > 1e-100) & (norms < 1e100))):
        wide = array[row].astype(np.float64)
        largest = np.abs(wide).max()
        if 0 < largest < np.inf:
            norms[row] = largest * np.sqrt(np.vecdot(wide / largest, wide / largest))
    return norms


def unit_vectors(name: str, vectors: npt.ArrayLike) -> FloatArray:
    """(n, d) `vectors` scaled to length 1, in float64; errors as in `directed_vectors`."""
    array, inverse_norms = directed_vectors(name, vectors)
    return np.asarray(array * inverse_norms[:, None], dtype=np.float64)


def require_one_dimension(sizes: dict[str, int]) -> None:
    """Refuse vectors of different dimensions; `sizes` maps a name to the d of its (n, d) array."""
    items = list(sizes.items())
    for name, d in items[1:]:
        first, expected = items[0]
        if d != expected:
            raise InputError(
                f"{name}: vectors of {d} dimensions, but {first} has {expected}. All vectors of a test come from one"
                " model and layer."
            )


def word_vectors(name: str, words: Sequence[npt.ArrayLike]) -> list[npt.NDArray[Any]]:
    """The arrays of a set of words, one (n_items, d) array a word, or (d,) for a word of one item; not yet checked.

    Raises `InputError` for a set without words, and for what is no list of arrays.
    """
    listed = sequence_of(name, words, "a list with one (n_items, d) array of numbers for each word")
    if not listed:
        raise InputError(f"{name}: a set without words. Every set needs at least one.")
    arrays = [to_array(f"{name}, word {i}", word, VECTORS) for i, word in enumerate(listed)]
    # A single number stays without dimensions, and is refused with the other shapes.
    return [array[None] if array.ndim == 1 else array for array in arrays]


def word_sets_and_vectors(
    embeddings: Mapping[str, npt.ArrayLike], targets: object, attributes: object
) -> tuple[Words, dict[str, DirectedVectors]]:
    """The words of X, Y, A and B, and the checked vectors of each.

    Raises `InputError` for sets that are no lists of words, a word on both sides, and a word without vectors or with
    bad ones.
    """
    words = *pair_of_word_lists("targets", targets, "XY"), *pair_of_word_lists("attributes", attributes, "AB")
    if not isinstance(embeddings, Mapping):
        raise InputError(
            f"embeddings: of type {type(embeddings).__name__}. Give a mapping word -> vectors, such as"
            " {'rose': an (n_contexts, d) array, ...}."
        )
    listed = dict.fromkeys(word for side in words for word in side)
    for word in listed:
        if word not in embeddings:
            raise InputError(f"embeddings: no vectors of {word!r}. Give its contexts' vectors, or leave the word out.")
    directed = {word: directed_vectors(f"embeddings[{word!r}]", embeddings[word]) for word in listed}
    require_one_dimension({f"embeddings[{word!r}]": v.vectors.shape[1] for word, v in directed.items()})
    return cast(Words, words), directed
