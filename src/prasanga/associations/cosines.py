"""CrossedScores of target with attribute items, from vectors of words, of their sentences or of their contexts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from prasanga.associations.vectors import (
    DirectedVectors,
    Words,
    require_one_dimension,
    unit_vectors,
    word_sets_and_vectors,
    word_vectors,
)
from prasanga.stats.arguments import FloatArray, IndexArray, generator_from, whole_number
from prasanga.stats.crossed import CrossedScores

_CHUNK = 1 << 28  # bytes of the vectors of all words in some draws


def compute_cosines(
    X: Sequence[npt.ArrayLike],
    Y: Sequence[npt.ArrayLike],
    A: Sequence[npt.ArrayLike],
    B: Sequence[npt.ArrayLike],
) -> CrossedScores:
    """Return one draw, from the (n_items, d) vectors of each word of the four sets; one row a word for WEAT.

    Raises `InputError` for a set without words, NaN, zero vectors and different dimensions.
    """
    sets = {name: word_vectors(name, words) for name, words in zip("XYAB", (X, Y, A, B), strict=True)}
    units: dict[str, list[FloatArray]] = {}
    for name, words in sets.items():
        units[name] = [unit_vectors(f"{name}, word {i}", word) for i, word in enumerate(words)]
    require_one_dimension(
        {f"{name}, word {i}": word.shape[1] for name, words in units.items() for i, word in enumerate(words)}
    )
    targets, attributes = units["X"] + units["Y"], units["A"] + units["B"]
    return CrossedScores(
        (np.concatenate(targets) @ np.concatenate(attributes).T)[None],
        np.repeat(np.arange(len(targets)), [len(word) for word in targets]),
        np.repeat(np.arange(len(attributes)), [len(word) for word in attributes]),
        *(len(words) for words in sets.values()),
    )


def draw_context_cosines(
    embeddings: Mapping[str, npt.ArrayLike],
    targets: tuple[Sequence[str], Sequence[str]],
    attributes: tuple[Sequence[str], Sequence[str]],
    *,
    n_draws: int = 256,
    rng: np.random.Generator | int | None = None,
    as_listed: bool = False,
) -> CrossedScores:
    """Make `n_draws` draws of one context a word, as intervals and controls of CEAT need them.

    A word's contexts are used once before any is used again, in an order by `rng` (a generator or a seed).

    Args:
        embeddings: the (n_contexts, d) vectors of each word.
        targets: the words of X and of Y.
        attributes: the words of A and of B.
        n_draws: how many.
        rng: as above.
        as_listed: whether a word listed twice in a set counts twice; otherwise it counts once.

    Raises `InputError` for a word without vectors, bad ones (NaN, zero, different dimensions), and a word in X and
    Y or in A and B.
    """
    words, vectors, _ = word_sets_and_vectors(embeddings, targets, attributes, as_listed=as_listed)
    listed = [word for side in words for word in side]
    n_draws, rng = whole_number("n_draws", n_draws, least=1), generator_from(rng)
    draws = [np.resize(rng.permutation(len(vectors[word].inverse_norms)), n_draws) for word in listed]
    values = draw_cosines(vectors, listed, np.stack(draws, axis=1), len(words[0]) + len(words[1]))
    return CrossedScores.of_words(values, map(len, words))


def compute_mean_cosines(directions: Mapping[str, FloatArray], words: Words) -> CrossedScores:
    """Return the mean cosines of the `words` of X, Y, A and B over all pairs of their contexts, as one draw.

    `directions` has the (d,) mean of each word's unit vectors. The mean of the products is the product of the
    means, so that nothing is drawn: it is what ever more draws would come to.
    """
    x, y, a, b = (np.array([directions[word] for word in side]) for side in words)
    values = np.concatenate([x, y]) @ np.concatenate([a, b]).T
    return CrossedScores.of_words(values[None], map(len, words))


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
