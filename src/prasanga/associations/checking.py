"""Checks of arguments that many functions share. Every message has the argument, what was found and what to give.

The functions are used in notebooks, where a list of unequal rows, a text in place of a list of texts, or a tensor that
still has its gradients comes by easily, and numpy's own message names none of the arguments.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np
import numpy.typing as npt

from prasanga.errors import InputError

VECTORS = "(n, d) numbers: one vector a row, all rows of the same length"
NUMBERS = "(n,) numbers, at least one"


def whole_number(name: str, value: object, *, least: int) -> int:
    """`value` if it is a whole number (python's or numpy's) of at least `least`; True and False are none."""
    if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
        raise InputError(f"{name}: {value!r}. Write a whole number of at least {least}.")
    return int(value)


def number(name: str, value: object, allowed: str) -> float:
    """`value` if it is a number at all, for the checks that say more; `allowed` says in the message which to write."""
    if not isinstance(value, Real) or isinstance(value, bool):
        raise InputError(f"{name}: {value!r}. Write {allowed}.")
    return float(value)


def choice(name: str, value: object, allowed: Sequence[str]) -> None:
    """Refuse a value that is none of those allowed."""
    if not isinstance(value, str) or value not in allowed:
        raise InputError(f"{name}: {value!r} is not known. Write {' or '.join(map(repr, allowed))}.")


def require_choices(choices: Mapping[str, tuple[object, Sequence[str]]]) -> None:
    """Refuse a value of a key of the config that is none of those allowed: {key: (value, allowed)}."""
    for key, (value, allowed) in choices.items():
        if value not in allowed:
            raise InputError(f"{key}: {value!r} is not allowed. Write {' or '.join(allowed)}.")


def require_counts(counts: Mapping[str, object], *, least: int) -> None:
    """Refuse what is no whole number of at least `least`: {key: value}."""
    for key, count in counts.items():
        whole_number(key, count, least=least)


def require_flag(name: str, value: object) -> None:
    """Refuse what is neither True nor False: a text such as "no" would count as true."""
    if not isinstance(value, (bool, np.bool_)):
        raise InputError(f"{name}: {value!r}. Write true or false (in Python True or False).")


def generator_from(rng: object) -> np.random.Generator:
    """The generator of an argument `rng`: itself, one from a seed, or for None one that never repeats."""
    try:
        if isinstance(rng, bool):
            raise TypeError
        return np.random.default_rng(rng)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise InputError(
            f"rng: {rng!r}. Give a seed, a whole number of at least 0, or a numpy.random.Generator."
        ) from None


def to_array(name: str, values: object, wanted: str) -> npt.NDArray[Any]:
    """`values` as a numpy array, of whatever type and shape; `wanted` says in messages what to give.

    Raises `InputError` for what is no array: None, a text, a dict, a generator, rows of different lengths, and tensors
    that numpy cannot read.
    """
    if isinstance(values, np.ndarray):
        return values
    if values is None or isinstance(values, (str, bytes, Mapping, Iterator, set, frozenset)):
        raise InputError(f"{name}: {_what(values)}. Give {wanted}.")
    try:
        return np.asarray(values)
    except (TypeError, ValueError, RuntimeError):
        raise InputError(f"{name}: {_why_no_array(values, wanted)}") from None


def sequence_of(name: str, values: object, wanted: str) -> list[Any]:
    """The list of `values`, which are several things of a kind: no text, no dict, no single number, no None."""
    if values is None or isinstance(values, (str, bytes, Mapping)) or not isinstance(values, Iterable):
        raise InputError(f"{name}: {_what(values)}. Give {wanted}.")
    try:
        return list(values)
    except TypeError:  # an array without dimensions
        raise InputError(f"{name}: {_what(values)}. Give {wanted}.") from None


def word_list(name: str, words: object) -> list[str]:
    """The words of one set; a text is not a list of its letters."""
    listed = sequence_of(name, words, "a list of words, such as ['rose', 'lily']")
    for word in listed:
        if not isinstance(word, str):
            raise InputError(f"{name}: a word is {_what(word)}. Give a list of words, such as ['rose', 'lily'].")
    return listed


def pair_of_word_lists(name: str, sets: object, sides: str) -> tuple[list[str], list[str]]:
    """The two sets of `targets` (`sides` XY) or of `attributes` (AB): words, none of them in both.

    A word may stand twice in one set; then it counts twice.
    """
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


def _what(value: object) -> str:
    """A value in few words."""
    if value is None or isinstance(value, (str, bytes, int, float)):
        text = repr(value)
        return text if len(text) <= 60 else f"{text[:60]}..."
    kind = type(value).__name__
    return f"{'an' if kind[0].lower() in 'aeiou' else 'a'} {kind}"


def _why_no_array(values: object, wanted: str) -> str:
    tensor = _tensor_in(values)
    if tensor is not None:
        grad = ", with gradients" if getattr(tensor, "requires_grad", False) else ""
        return (
            f"a torch tensor ({tensor.dtype}, on {tensor.device}{grad}) that numpy cannot read. Write"
            " .detach().float() behind it, and .cpu() if it is not in the machine's own memory."
        )
    lengths = _lengths_of(values)
    for row, length in enumerate(lengths):
        if length != lengths[0]:
            one, other = ("a single number" if n is None else f"{n} long" for n in (lengths[0], length))
            return f"row 0 is {one}, row {row} is {other}. Give {wanted}."
    return f"{_what(values)} of which no array can be made. Give {wanted}."


def _tensor_in(values: object) -> Any:
    """The tensor that `values` is, or begins with; torch itself is not imported, which takes seconds."""
    while isinstance(values, (list, tuple)) and values:
        values = values[0]
    return values if type(values).__module__.partition(".")[0] == "torch" and hasattr(values, "detach") else None


def _lengths_of(values: object) -> list[int | None]:
    """How long each row is, None of a number."""
    rows = list(values) if isinstance(values, Iterable) else []
    return [len(row) if hasattr(row, "__len__") else None for row in rows]
