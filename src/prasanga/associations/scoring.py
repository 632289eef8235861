"""The associations of target words in every draw of CEAT, from vectors that need not be in memory together.

The mean cosine of a word with an attribute set is the product of its unit vector with the mean of the set's unit
vectors. So each draw needs one such mean, g = mean a - mean b, and one product per target word, instead of a cosine for
every pair. The means of all draws are kept, (n_samples, d), and the words come by in groups: those of the attributes
are added to the means, then those of the targets multiplied with them. Draws are taken in blocks whose means stay in
the processor's cache.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from prasanga.associations.vectors import DirectedVectors, FloatArray, IndexArray, whole_number
from prasanga.text.compiled import compiled_sums

_Group: TypeAlias = dict[int, tuple[npt.NDArray[np.floating], FloatArray]]

_GROUP = 1 << 29
"""Bytes of the words' vectors that are held at a time, besides those that `vectors` itself keeps."""
_BLOCK = 1 << 19
"""Bytes of the means of one block of draws."""
_CHUNK = 1 << 28
"""Bytes of the vectors of all words in some draws, for their cosines."""


@compiled_sums
def _add_drawn(
    sums: npt.NDArray[np.float64],
    vectors: npt.NDArray[np.float32],
    inverse_norms: npt.NDArray[np.float64],
    rows: npt.NDArray[np.int64],
    weight: float,
) -> None:
    for i in range(rows.size):
        row = rows[i]
        scale = weight * inverse_norms[row]
        for j in range(sums.shape[1]):
            sums[i, j] += scale * vectors[row, j]


@compiled_sums
def _multiply_drawn(
    sums: npt.NDArray[np.float64],
    vectors: npt.NDArray[np.float32],
    inverse_norms: npt.NDArray[np.float64],
    rows: npt.NDArray[np.int64],
    products: npt.NDArray[np.float64],
) -> None:
    for i in range(rows.size):
        row = rows[i]
        product = 0.0
        for j in range(sums.shape[1]):
            product += sums[i, j] * vectors[row, j]
        products[i] = inverse_norms[row] * product


def draw_scores(
    vectors: Mapping[str, DirectedVectors],
    words: Sequence[str],
    draws: IndexArray,
    n_targets: int,
    n_a: int,
    *,
    threads: int = 1,
) -> FloatArray:
    """Return the associations s(w, A, B) of the target words in every draw: (n_samples, n_targets), in float64.

    Args:
        vectors: of each word; a mapping that reads them when asked is asked for each word once per set that it is in.
        words: of X, Y, A, B, one for each column of `draws`.
        draws: (n_samples, n_words) rows of each word's vectors.
        n_targets: words of X and Y.
        n_a: words of A.
        threads: blocks of draws are shared out among so many; the result is the same.

    Besides what `vectors` keeps, memory holds the means, 8 * n_samples * d bytes, and the words of one group.
    """
    threads = whole_number("threads", threads, least=1)
    n_samples, n_words = draws.shape
    first = n_targets + n_a
    columns = np.asfortranarray(draws)
    sums = np.zeros((n_samples, vectors[words[0]].vectors.shape[1]))
    scores = np.empty((n_samples, n_targets), order="F")
    block = max(1, _BLOCK // sums[0].nbytes)
    blocks = [slice(start, start + block) for start in range(0, n_samples, block)]

    def add(group: _Group, part: slice) -> None:
        for column, (array, inverse_norms) in group.items():
            weight = 1 / n_a if column < first else -1 / (n_words - first)
            _add_drawn(sums[part], array, inverse_norms, columns[part, column], weight)

    def multiply(group: _Group, part: slice) -> None:
        for column, (array, inverse_norms) in group.items():
            _multiply_drawn(sums[part], array, inverse_norms, columns[part, column], scores[part, column])

    with ThreadPoolExecutor(threads) as pool:
        for work, chosen in ((add, range(n_targets, n_words)), (multiply, range(n_targets))):
            for group in _groups(vectors, words, chosen):
                list(pool.map(partial(work, group), blocks))
    return np.ascontiguousarray(scores)


def draw_cosines(
    vectors: Mapping[str, DirectedVectors], words: Sequence[str], draws: IndexArray, n_targets: int
) -> FloatArray:
    """Return the cosines of every target with every attribute word in every draw.

    Their shape is (n_samples, n_targets, n_attributes).

    Draws are taken in chunks whose vectors fill `_CHUNK` bytes; a mapping that reads vectors when asked is asked for
    each word once a chunk.
    """
    n_samples, n_words = draws.shape
    dimension = vectors[words[0]].vectors.shape[1]
    cosines = np.empty((n_samples, n_targets, n_words - n_targets))
    rows = max(1, min(n_samples, _CHUNK // (8 * n_words * dimension)))
    units = np.empty((rows, n_words, dimension))
    for start in range(0, n_samples, rows):
        chunk = draws[start : start + rows]
        for column, word in enumerate(words):
            array, inverse_norms = vectors[word]
            picked = chunk[:, column]
            np.multiply(array[picked], inverse_norms[picked, None], out=units[: len(chunk), column])
        held = units[: len(chunk)]
        np.matmul(held[:, :n_targets], held[:, n_targets:].transpose(0, 2, 1), out=cosines[start : start + rows])
    return cosines


def _groups(vectors: Mapping[str, DirectedVectors], words: Sequence[str], columns: Sequence[int]) -> Iterator[_Group]:
    """Yield the vectors of these columns with their inverse lengths, as many columns at a time as `_GROUP` allows.

    Half precision is widened, which the processor does not compute in.
    """
    group: _Group = {}
    held = 0
    for column in columns:
        array, inverse_norms = vectors[words[column]]
        wide = np.ascontiguousarray(array, dtype=np.float32 if array.dtype == np.float16 else None)
        if group and held + wide.nbytes > _GROUP:
            yield group
            group, held = {}, 0
        group[column] = wide, inverse_norms
        held += wide.nbytes
    if group:
        yield group
