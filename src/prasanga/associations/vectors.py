"""Checked arguments and vectors: lengths computed once per set and used by every test."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from prasanga.base.errors import InputError
from prasanga.stats.arguments import FloatArray, sequence_of, to_array

_NEAREST_TO_ITSELF = (
    "and a word is nearest to itself, whatever the model has learnt. Leave it out of the targets or of the attributes."
)
VECTORS = "(n, d) numbers: one vector a row, all rows of the same length"


def word_list(name: str, words: object) -> list[str]:
    """Return the words of one set; a text is not a list of its letters."""
    listed = sequence_of(name, words, "a list of words, such as ['rose', 'lily']")
    for word in listed:
        if not isinstance(word, str):
            raise InputError(f"{name}: a word is {word!r}. Give a list of words, such as ['rose', 'lily'].")
    return listed


def pair_of_word_lists(name: str, sets: object, sides: str) -> tuple[list[str], list[str]]:
    """Return the two sets of `targets` (`sides` XY) or of `attributes` (AB): words as listed, none of them in both."""
    wanted = f"({sides[0]}, {sides[1]}), two lists of words"
    both = sequence_of(name, sets, wanted)
    if len(both) != 2:
        raise InputError(f"{name}: {len(both)} sets. Give {wanted}.")
    first, second = (word_list(f"{name}, {side}", words) for side, words in zip(sides, both, strict=True))
    if not first or not second:
        raise InputError(f"{name}: a set without words. Every set needs at least one.")
    others = set(second)
    shared = next((word for word in first if word in others), None)
    if shared is not None:
        raise InputError(
            f"{name}: {shared!r} is in {sides[0]} and in {sides[1]}, and a word cannot differ from itself. Leave it out"
            " of one of them, or of both."
        )
    return first, second


_NON_JOINER = "\N{ZERO WIDTH NON-JOINER}"


def each_once(words: Iterable[str]) -> tuple[list[str], list[str]]:
    """Return the words of a set, each once, and the repeated ones, once per repetition.

    Spellings that Unicode treats as equal, or that differ only in a zero-width non-joiner, are one word.
    """
    kept: dict[str, str] = {}
    repeated = []
    for word in words:
        key = unicodedata.normalize("NFC", word).replace(_NON_JOINER, "")
        if key in kept:
            repeated.append(kept[key])
        kept.setdefault(key, word)
    return list(kept.values()), repeated


def describe_repeats(repeated: Sequence[str], used: Iterable[str]) -> list[tuple[str, str]]:
    """Return each entry that `each_once` took out of a set, and how often the set lists it."""
    known = set(used)
    times = {word: "twice" if n == 1 else f"{n + 1} times" for word, n in Counter(repeated).items()}
    return [(word, f"listed {times[word]}{', counted once' if word in known else ''}") for word in repeated]


# --------------------
# Checked vectors and their lengths, computed once per set of vectors and used by every test.
#
# A cosine needs unit vectors. Copying a study's vectors to scale them would double its memory, so they stay as they
# are (float16, float32 or float64) and carry 1 / length beside them; products are then taken in float64, from the
# exact values, which keeps a dozen digits where float32 unit vectors keep seven.


Words: TypeAlias = tuple[Sequence[str], Sequence[str], Sequence[str], Sequence[str]]
"""The words of X, Y, A and B."""


SMALLEST_LENGTH = float(np.finfo(np.float64).tiny)
"""Shorter vectors have lost digits, and one over their length may be no number any more."""


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
    infinity, is all zeros (such a vector has no direction) or shorter than what float64 holds in full.
    """
    array = floating(name, vectors)
    norms = _norms(array)
    if not np.isfinite(norms).all():
        row = _row_name(int(np.flatnonzero(~np.isfinite(norms))[0]), ids)
        raise InputError(f"{name}: {row} holds NaN or infinity. {mend or 'Make this vector again, or leave it out.'}")
    if not norms.all():
        row = _row_name(int(np.flatnonzero(norms == 0)[0]), ids)
        raise InputError(f"{name}: {row} is a zero vector, which has no direction. {mend or 'Leave it out.'}")
    if norms.min() < SMALLEST_LENGTH:
        row = _row_name(int(norms.argmin()), ids)
        raise InputError(
            f"{name}: {row} has the length {norms.min():.3g}, too small for its direction to be computed."
            f" {mend or 'Multiply it by a number such as 1e200, or leave it out.'}"
        )
    return DirectedVectors(array, 1.0 / norms)


def floating(name: str, vectors: npt.ArrayLike) -> npt.NDArray[Any]:
    """Return (n, d) `vectors` as an array of floating-point numbers; errors of shape and type as above."""
    array = to_array(name, vectors, VECTORS)
    if array.ndim != 2 or not array.size:
        raise InputError(f"{name}: an array of shape {array.shape}. Give (n, d): one vector per row, at least one.")
    if array.dtype.newbyteorder("=") not in (np.float16, np.float32, np.float64):
        return array.astype(np.float64)
    return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))


def embed_again(model: str) -> str:
    """Return what to do about a vector of a study that cannot be right.

    How vectors are kept is described in docs/embeddings.md.
    """
    return (
        f"Delete its shard and the list of that shard (.json), both under results/embeddings/{model}, and run again"
        " (what results/store has is not embedded again); if this comes back, the store has the vector too, so delete"
        " with them results/store/<key>, the folder whose key.json names this model."
    )


def _row_name(row: int, ids: Sequence[str]) -> str:
    return f"row {row}, the vector of {ids[row]}," if row < len(ids) else f"row {row}"


def _norms(array: npt.NDArray[Any]) -> FloatArray:
    """Return the lengths of the rows, in float64, taking some rows at a time, which stay in the processor's cache."""
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


def mean_direction(vectors: DirectedVectors) -> FloatArray:
    """Return the mean of the unit vectors, (d,), taking some rows at a time, which stay in the processor's cache."""
    array, inverse_norms = vectors
    total = np.zeros(array.shape[1])
    for start in range(0, len(array), 256):
        total += inverse_norms[start : start + 256] @ array[start : start + 256].astype(np.float64)
    return total / len(array)


# Bytes of the rows that are added up at a time.
_BLOCK = 1 << 19
# A difference of float64 numbers is wrong by some 1e-16 of them, and that of a mean of many by more.
_ROUNDING = 1e-12


class Moments(NamedTuple):
    """Mean and standard deviation of each dimension over many vectors, divided by their number; (d,) each."""

    mean: FloatArray
    sd: FloatArray


def moments_of(arrays: Iterable[npt.NDArray[Any]]) -> Moments:
    """Return the moments of the rows of all (n, d) `arrays`, each held in memory alone.

    Arrays are merged by their means and squared deviations (Chan, Golub and LeVeque 1983), which loses no digits.
    """
    n, mean, squares = 0, np.zeros(1), np.zeros(1)
    for array in arrays:
        middle = _added_up(array) / len(array)
        apart, share = middle - mean, len(array) / (n + len(array))
        squares = squares + _added_up(array, middle) + np.square(apart) * n * share
        n, mean = n + len(array), mean + apart * share
    return Moments(mean, np.sqrt(squares / max(n, 1)))


def _added_up(array: npt.NDArray[Any], middle: FloatArray | None = None) -> FloatArray:
    """Return the sum of the rows, (d,), or of their squared deviations from `middle`.

    Rows are added one after another, some at a time, which stay in the processor's cache.
    """
    rows = max(1, min(len(array), _BLOCK // (8 * array.shape[1])))
    summands = np.zeros((rows + 1, array.shape[1]))
    for start in range(0, len(array), rows):
        block = array[start : start + rows]
        wide = summands[1 : len(block) + 1]
        wide[:] = block
        if middle is not None:
            wide -= middle
            wide *= wide
        summands[0] = summands[: len(block) + 1].sum(axis=0)
    return np.array(summands[0])


def centered(vectors: npt.NDArray[Any], moments: Moments) -> FloatArray:
    """Return (n, d) vectors less the mean; what is left of a number by rounding alone is 0."""
    apart = np.asarray(vectors - moments.mean)
    apart[np.abs(apart) <= _ROUNDING * np.abs(moments.mean)] = 0.0
    return apart


def standardized(vectors: npt.NDArray[Any], moments: Moments) -> FloatArray:
    """Return (n, d) vectors less the mean, each dimension over its standard deviation; one that never varies is 0.

    Rogue dimensions, a few of large variance, decide about cosines that the others hardly move; by this step all count
    alike (Timkey and van Schijndel 2021, section 5).
    """
    return centered(vectors, moments) / np.where(moments.sd > _ROUNDING * np.abs(moments.mean), moments.sd, 1.0)


Change: TypeAlias = Callable[[npt.NDArray[Any], Moments], FloatArray]
SCALES: Mapping[str, Change] = {"centered": centered, "standardized": standardized}
"""In what else cosines are measured, by the ending of the columns."""


def unit_vectors(name: str, vectors: npt.ArrayLike) -> FloatArray:
    """Return (n, d) `vectors` scaled to length 1, in float64; errors as in `directed_vectors`."""
    array, inverse_norms = directed_vectors(name, vectors)
    return np.asarray(array * inverse_norms[:, None], dtype=np.float64)


def require_other_words(targets: Mapping[str, Iterable[Any]], attributes: Mapping[str, Iterable[Any]]) -> None:
    """Refuse a set of targets and one of attributes with words in common; each maps a name to its words' arrays.

    Vectors have no names: those of one word are the same in every number. A single one may be so by chance, in examples
    of two or three dimensions; two are the same words.
    """
    for name, of_targets in targets.items():
        places = {_digits(vector): i for i, vector in enumerate(of_targets)}
        for other, of_attributes in attributes.items():
            shared = {key: i for i, vector in enumerate(of_attributes) if (key := _digits(vector)) in places}
            if len(shared) > 1:
                key, i = next(iter(shared.items()))
                raise InputError(
                    f"{other}: word {i} has the vector of word {places[key]} of {name}, one of {len(shared)} that both"
                    f" have, {_NEAREST_TO_ITSELF}"
                )


def _digits(vector: npt.ArrayLike) -> tuple[tuple[int, ...], bytes]:
    numbers = np.ascontiguousarray(vector, dtype=np.float64)
    return numbers.shape, numbers.tobytes()


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
    """Return the arrays of a set of words, one (n_items, d) array a word, not yet checked.

    A word of one item may be given as (d,).

    Raises `InputError` for a set without words, and for what is no list of arrays.
    """
    listed = sequence_of(name, words, "a list with one (n_items, d) array of numbers for each word")
    if not listed:
        raise InputError(f"{name}: a set without words. Every set needs at least one.")
    arrays = [to_array(f"{name}, word {i}", word, VECTORS) for i, word in enumerate(listed)]
    # A single number stays without dimensions, and is refused with the other shapes.
    return [array[None] if array.ndim == 1 else array for array in arrays]


def word_sets_and_vectors(
    embeddings: Mapping[str, npt.ArrayLike], targets: object, attributes: object, *, as_listed: bool = False
) -> tuple[Words, dict[str, DirectedVectors], list[str]]:
    """Return the words of X, Y, A and B, the checked vectors of each, and a note for each repeated word.

    A word counts once per set; `as_listed`, it counts as often as it is listed, without a note.

    Raises `InputError` for sets that are no lists of words, a word on both sides, and a word without vectors or with
    bad ones.
    """
    words: Words = *pair_of_word_lists("targets", targets, "XY"), *pair_of_word_lists("attributes", attributes, "AB")
    notes: list[str] = []
    if not as_listed:
        sides = [each_once(side) for side in words]
        words = cast(Words, tuple(kept for kept, _ in sides))
        notes = [f"{word}: {told}" for kept, repeated in sides for word, told in describe_repeats(repeated, kept)]
    if not isinstance(embeddings, Mapping):
        raise InputError(
            f"embeddings: of type {type(embeddings).__name__}. Give a mapping word -> vectors, such as"
            " {'rose': an (n_contexts, d) array, ...}."
        )
    listed = dict.fromkeys(word for side in words for word in side)
    shared = next((word for word in (*words[0], *words[1]) if word in {*words[2], *words[3]}), None)
    if shared is not None:
        raise InputError(f"targets, attributes: {shared!r} is in both, {_NEAREST_TO_ITSELF}")
    for word in listed:
        if word not in embeddings:
            raise InputError(f"embeddings: no vectors of {word!r}. Give its contexts' vectors, or leave the word out.")
    directed = {word: directed_vectors(f"embeddings[{word!r}]", embeddings[word]) for word in listed}
    require_one_dimension({f"embeddings[{word!r}]": v.vectors.shape[1] for word, v in directed.items()})
    return words, directed, notes
