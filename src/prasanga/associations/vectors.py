"""From vectors to cosines: checked words and vectors, their directions, and the cosines of targets with attributes.

A cosine needs unit vectors. Scaled copies of a study's vectors would double its memory, so vectors keep their type
(float16, float32 or float64) and come with 1 / length. Products are computed in float64 from the exact values, which
keeps a dozen digits; float32 unit vectors would keep seven.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations, product
from typing import Any, NamedTuple, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from prasanga.base.errors import InputError
from prasanga.stats.crossed import CrossedScores
from prasanga.stats.effects import FloatArray, IndexArray, sequence_of, to_array

Words: TypeAlias = tuple[Sequence[str], Sequence[str], Sequence[str], Sequence[str]]
"""The words of X, Y, A and B."""

VECTORS = "(n, d) numbers: one vector per row, all rows of the same length"
_ROWS = 256  # converted to float64 at a time, which fit into the CPU's cache
_CHUNK = 1 << 28  # bytes of the vectors of all words in some draws
_ROUNDING = 1e-12  # float64 differences are wrong by about 1e-16 of their numbers, differences of means by more

# --------------------
# Words.


def each_once(words: Iterable[str]) -> tuple[list[str], list[str]]:
    """Return the words of a set, each once, and the repeated ones, once per repetition.

    Spellings that are equal in Unicode, or differ only in a zero-width non-joiner, are one word.
    """
    kept: dict[str, str] = {}
    repeated = []
    for word in words:
        key = unicodedata.normalize("NFC", word).replace("\N{ZERO WIDTH NON-JOINER}", "")
        if key in kept:
            repeated.append(kept[key])
        kept.setdefault(key, word)
    return list(kept.values()), repeated


def describe_repeats(repeated: Sequence[str], used: Iterable[str]) -> list[tuple[str, str]]:
    """Return each entry that `each_once` removed from a set, and how often the set lists it."""
    known = set(used)
    times = {word: "twice" if n == 1 else f"{n + 1} times" for word, n in Counter(repeated).items()}
    return [(word, f"listed {times[word]}{', counted once' if word in known else ''}") for word in repeated]


# --------------------
# Vectors, checked once, with their lengths.


class DirectedVectors(NamedTuple):
    """Vectors whose directions are known: row i of `vectors`, times `inverse_norms[i]`, has length 1."""

    vectors: npt.NDArray[Any]
    """(n, d), floating point of any width, as given."""
    inverse_norms: FloatArray
    """(n,), one over each row's Euclidean length."""


def directed_vectors(name: str, vectors: npt.ArrayLike, *, ids: Sequence[str] = (), cure: str = "") -> DirectedVectors:
    """Check (n, d) `vectors` and compute the inverse length of each row.

    Messages name the vectors by `name` and `ids`; `cure` says what to do about a wrong row.

    Raises `InputError` if the array is not two-dimensional, is empty, is not numeric, or has a row with NaN or
    infinity, or of zeros (a vector without direction).
    """
    array = to_floating(name, vectors)
    norms = np.empty(len(array))
    with np.errstate(over="ignore", invalid="ignore"):
        for start in range(0, len(array), _ROWS):
            block = array[start : start + _ROWS].astype(np.float64)
            np.vecdot(block, block, out=norms[start : start + _ROWS])
    norms = np.sqrt(norms)
    if (wrong := ~np.isfinite(norms) | (norms == 0)).any():
        row = int(wrong.argmax())
        which = f"row {row}, the vector of {ids[row]}," if row < len(ids) else f"row {row}"
        problem = "has NaN or infinity." if norms[row] else "is a zero vector, without a direction."
        raise InputError(f"{name}: {which} {problem} {cure or 'Make this vector again, or leave it out.'}")
    return DirectedVectors(array, 1.0 / norms)


def to_floating(name: str, vectors: npt.ArrayLike) -> npt.NDArray[Any]:
    """Return (n, d) `vectors` as an array of floating-point numbers; errors of shape and type as above."""
    array = to_array(name, vectors, VECTORS)
    if array.ndim != 2 or not array.size:
        raise InputError(f"{name}: an array of shape {array.shape}. Give (n, d): one vector per row, at least one.")
    native = array.dtype.newbyteorder("=")
    return array.astype(native if native in (np.float16, np.float32, np.float64) else np.float64, copy=False)


def embed_again(model: str) -> str:
    """Return what to do about a wrong vector of a study (docs/contexts.md describes shards and store)."""
    return (
        f"Delete its shard and that shard's list (.json), both in results/embeddings/{model}, and run again. If this"
        " comes back, also delete results/store/<key>, the folder whose key.json names this model."
    )


def unit_vectors(name: str, vectors: npt.ArrayLike) -> FloatArray:
    """Return (n, d) `vectors` scaled to length 1, in float64; errors as in `directed_vectors`."""
    array, inverse_norms = directed_vectors(name, vectors)
    return np.asarray(array * inverse_norms[:, None], dtype=np.float64)


def unit_sets(**sets: npt.ArrayLike) -> list[FloatArray]:
    """Return the unit vectors of (n, d) sets, by name, of one dimension d; errors as in `directed_vectors`."""
    units = {name: unit_vectors(name, vectors) for name, vectors in sets.items()}
    require_one_dimension({name: vectors.shape[1] for name, vectors in units.items()})
    return list(units.values())


def mean_direction(vectors: DirectedVectors) -> FloatArray:
    """Return the mean of the unit vectors, (d,)."""
    array, inverse_norms = vectors
    total = np.zeros(array.shape[1])
    for start in range(0, len(array), _ROWS):
        total += inverse_norms[start : start + _ROWS] @ array[start : start + _ROWS].astype(np.float64)
    return total / len(array)


def require_other_words(targets: Mapping[str, Iterable[Any]], attributes: Mapping[str, Iterable[Any]]) -> None:
    """Refuse targets and attributes with words in common; each maps a set's name to its words' arrays.

    Vectors have no names, but one word's vectors are equal in every number. In two or three dimensions a single pair
    may be equal by chance; two pairs are the same words.
    """
    for (name, of_targets), (other, of_attributes) in product(targets.items(), attributes.items()):
        places = {_digits(vector): i for i, vector in enumerate(of_targets)}
        shared = {key: i for i, vector in enumerate(of_attributes) if (key := _digits(vector)) in places}
        if len(shared) > 1:
            key, i = next(iter(shared.items()))
            fault = f"{other}: word {i} has the vector of word {places[key]} of {name}, one of {len(shared)} in both"
            raise InputError(f"{fault}. Leave these words out of one set.")


def _digits(vector: npt.ArrayLike) -> tuple[tuple[int, ...], bytes]:
    numbers = np.ascontiguousarray(vector, dtype=np.float64)
    return numbers.shape, numbers.tobytes()


def require_one_dimension(sizes: Mapping[str, int]) -> None:
    """Refuse vectors of different dimensions; `sizes` maps a name to d of its (n, d) array."""
    first = next(iter(sizes), "")
    for name, d in sizes.items():
        if d != sizes[first]:
            found = f"{name}: vectors of {d} dimensions, but {first} has {sizes[first]}"
            raise InputError(f"{found}. Take all vectors of a test from one model and layer.")


def word_vectors(name: str, words: Sequence[npt.ArrayLike]) -> list[npt.NDArray[Any]]:
    """Return the arrays of a set of words, one (n_items, d) array per word, not yet checked.

    A word of one item may be given as (d,).

    Raises `InputError` for an empty set, and for anything but a list of arrays.
    """
    listed = sequence_of(name, words, "a list with one (n_items, d) array of numbers for each word")
    if not listed:
        raise InputError(f"{name}: an empty set. Give at least one word.")
    arrays = [to_array(f"{name}, word {i}", word, VECTORS) for i, word in enumerate(listed)]
    # A single number keeps no dimensions, and is refused like other shapes.
    return [array[None] if array.ndim == 1 else array for array in arrays]


def word_sets_and_vectors(
    embeddings: object, targets: object, attributes: object, *, as_listed: bool = False, are_single: bool = False
) -> tuple[Words, dict[str, DirectedVectors], list[str]]:
    """Return the words of X, Y, A and B, the checked vectors of each, and a note for each repeated word.

    `embeddings` maps words to (n, d) vectors, or to one (d,) vector each if they `are_single`. A word counts once per
    set; `as_listed`, it counts as often as it is listed, without a note.

    Raises `InputError` for sets other than lists of words, a word in two sets, and missing or wrong vectors.
    """
    sets: dict[str, list[str]] = {}
    for name, given, sides in (("targets", targets, "XY"), ("attributes", attributes, "AB")):
        wanted = f"({sides[0]}, {sides[1]}), two lists of words such as ['rose', 'lily']"
        if len(both := sequence_of(name, given, wanted)) != 2:
            raise InputError(f"{name}: {len(both)} sets. Give {wanted}.")
        for side, listed in zip(sides, both, strict=True):
            sets[side] = sequence_of(f"{name}, {side}", listed, "a list of words, such as ['rose', 'lily']")
            if not sets[side] or not all(isinstance(word, str) for word in sets[side]):
                raise InputError(f"{name}, {side}: {sets[side]!r}. Give at least one word, such as ['rose', 'lily'].")
    for (one, words), (other, others) in combinations(sets.items(), 2):
        if shared := [word for word in words if word in others]:
            raise InputError(f"{one}, {other}: {shared[0]!r} is in both sets. Leave it out of one of them, or of both.")
    notes: list[str] = []
    if not as_listed:
        for side, listed in sets.items():
            sets[side], repeated = each_once(listed)
            notes += dict.fromkeys(f"{word}: {told}" for word, told in describe_repeats(repeated, sets[side]))
    if not isinstance(embeddings, Mapping):
        raise InputError(
            f"embeddings: of type {type(embeddings).__name__}. Give a dict such as"
            f" {{'rose': array of shape {'(d,)' if are_single else '(n, d)'}, ...}}."
        )
    listed = list(dict.fromkeys(word for side in sets.values() for word in side))
    if missing := [word for word in listed if word not in embeddings]:
        found = f"{', '.join(map(repr, missing))} ({len(missing)} of {len(listed)} words)"
        raise InputError(f"embeddings: no vectors of {found}. Give them, or leave these words out.")
    directed: dict[str, DirectedVectors] = {}
    for word in listed:
        name, vectors = f"embeddings[{word!r}]", embeddings[word]
        if are_single:
            vectors = to_array(name, vectors, VECTORS)
            if vectors.ndim != 1 and vectors.shape[:-1] != (1,):
                found = f"{name}: an array of shape {vectors.shape}, but WEAT has one vector per word, (d,)"
                raise InputError(f"{found}. For several contexts use `ceat`, for several sentences `seat`.")
            vectors = vectors.reshape(1, -1)
        directed[word] = directed_vectors(name, vectors)
    require_one_dimension({f"embeddings[{word!r}]": v.vectors.shape[1] for word, v in directed.items()})
    return cast(Words, tuple(sets.values())), directed, notes


# --------------------
# Other scales of the vectors, for a second effect.


class Moments(NamedTuple):
    """Mean and standard deviation of each dimension over many vectors, divided by their number; (d,) each."""

    mean: FloatArray
    sd: FloatArray


def compute_moments(arrays: Iterable[npt.NDArray[Any]]) -> Moments:
    """Return the moments of the rows of all (n, d) `arrays`, with one in memory at a time.

    Blocks of rows are merged by their means and squared deviations (Chan, Golub and LeVeque 1983), which keeps all
    digits.
    """
    n, mean, squares = 0, np.zeros(1), np.zeros(1)
    for array in arrays:
        for start in range(0, len(array), _ROWS):
            block = array[start : start + _ROWS].astype(np.float64)
            apart, share = block.mean(axis=0) - mean, len(block) / (n + len(block))
            squares = squares + np.square(block - block.mean(axis=0)).sum(axis=0) + np.square(apart) * n * share
            n, mean = n + len(block), mean + apart * share
    return Moments(mean, np.sqrt(squares / max(n, 1)))


def center(vectors: npt.NDArray[Any], moments: Moments) -> FloatArray:
    """Return (n, d) vectors minus the mean; rounding errors become 0."""
    apart = np.asarray(vectors - moments.mean)
    apart[np.abs(apart) <= _ROUNDING * np.abs(moments.mean)] = 0.0
    return apart


def standardize(vectors: npt.NDArray[Any], moments: Moments) -> FloatArray:
    """Return (n, d) vectors minus the mean, each dimension over its standard deviation; a constant one becomes 0.

    Otherwise a few rogue dimensions of large variance dominate cosines (Timkey and van Schijndel 2021, section 5).
    """
    return center(vectors, moments) / np.where(moments.sd > _ROUNDING * np.abs(moments.mean), moments.sd, 1.0)


Change: TypeAlias = Callable[[npt.NDArray[Any], Moments], FloatArray]
SCALES: Mapping[str, Change] = {"centered": center, "standardized": standardize}
"""Other scales in which cosines are measured, by the ending of the columns."""

# --------------------
# Cosines of target and attribute items: words, their sentences, or their contexts.


def compute_cosines(
    X: Sequence[npt.ArrayLike], Y: Sequence[npt.ArrayLike], A: Sequence[npt.ArrayLike], B: Sequence[npt.ArrayLike]
) -> CrossedScores:
    """Return one draw, from the (n_items, d) vectors of each word of the four sets; one row per word for WEAT.

    Raises `InputError` for an empty set, NaN, zero vectors and different dimensions.
    """
    sets = {name: word_vectors(name, words) for name, words in zip("XYAB", (X, Y, A, B), strict=True)}
    named = {f"{name}, word {i}": word for name, words in sets.items() for i, word in enumerate(words)}
    units = unit_sets(**named)
    n_x, n_y, n_a, n_b = map(len, sets.values())
    targets, attributes = units[: n_x + n_y], units[n_x + n_y :]
    values = np.concatenate(targets) @ np.concatenate(attributes).T
    words = [np.repeat(np.arange(len(side)), list(map(len, side))) for side in (targets, attributes)]
    return CrossedScores(values[None], words[0], words[1], n_x, n_y, n_a, n_b)


def compute_mean_cosines(directions: Mapping[str, FloatArray], words: Words) -> CrossedScores:
    """Return the mean cosines of the `words` of X, Y, A and B over all pairs of their contexts, as one draw.

    `directions` has the (d,) mean of each word's unit vectors. The mean of the products is the product of the means, so
    no draw is needed: it is the limit of many draws.
    """
    x, y, a, b = (np.array([directions[word] for word in side]) for side in words)
    values = np.concatenate([x, y]) @ np.concatenate([a, b]).T
    return CrossedScores.of_words(values[None], map(len, words))


def draw_cosines(vectors: Mapping[str, DirectedVectors], words: Words, draws: IndexArray) -> CrossedScores:
    """Return the cosines of every target with every attribute word in every draw.

    `draws` are (n_draws, n_words) rows of each word's vectors. They are taken in chunks of `_CHUNK` bytes of vectors; a
    mapping that reads on demand is asked once per word and chunk.
    """
    listed, n_targets = [word for side in words for word in side], len(words[0]) + len(words[1])
    dimension = vectors[listed[0]].vectors.shape[1]
    cosines = np.empty((len(draws), n_targets, len(listed) - n_targets))
    rows = max(1, min(len(draws), _CHUNK // (8 * len(listed) * dimension)))
    units = np.empty((rows, len(listed), dimension))
    for start in range(0, len(draws), rows):
        chunk = draws[start : start + rows]
        held = units[: len(chunk)]
        for column, (word, picked) in enumerate(zip(listed, chunk.T, strict=True)):
            array, inverse_norms = vectors[word]
            np.multiply(array[picked], inverse_norms[picked, None], out=held[:, column])
        np.matmul(held[:, :n_targets], held[:, n_targets:].transpose(0, 2, 1), out=cosines[start : start + rows])
    return CrossedScores.of_words(cosines, map(len, words))
