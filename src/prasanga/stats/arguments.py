"""Checks of arguments at the public functions. A message has the argument, the value found and what to give."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping, Sequence
from numbers import Integral, Real
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from prasanga.base.errors import InputError

FloatArray: TypeAlias = npt.NDArray[np.float64]
IndexArray: TypeAlias = npt.NDArray[np.int64]


def whole_number(name: str, value: object, *, least: int) -> int:
    """Return `value` if it is a whole number of at least `least`; True and False are none."""
    if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
        raise InputError(f"{name}: {value!r}. Write a whole number of at least {least}.")
    return int(value)


def positive_number(name: str, value: object, *, most: float = np.inf, example: str = "0.1") -> float:
    """Return `value` if it is a finite number greater than 0, and at most `most`."""
    number = float(value) if isinstance(value, Real) and not isinstance(value, bool) else np.nan
    if not (0 < number <= most and number < np.inf):
        limit = "" if most == np.inf else f" and at most {most:g}"
        raise InputError(f"{name}: {value!r}. Write a number greater than 0{limit}, for example {example}.")
    return number


def choice(name: str, value: object, allowed: Sequence[str]) -> None:
    """Refuse a value that is none of those allowed."""
    if not isinstance(value, str) or value not in allowed:
        raise InputError(f"{name}: {value!r} is not known. Write {' or '.join(map(repr, allowed))}.")


def generator_from(rng: object) -> np.random.Generator:
    """Return the generator of an argument `rng`: itself, one from a seed, or for None one that never repeats."""
    try:
        if isinstance(rng, bool):
            raise TypeError
        return np.random.default_rng(rng)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise InputError(
            f"rng: {rng!r}. Give a seed, a whole number of at least 0, or a numpy.random.Generator."
        ) from None


def to_array(name: str, values: object, wanted: str) -> npt.NDArray[Any]:
    """Return `values` as a numpy array of numbers, of whatever type and shape; `wanted` says in messages what to give.

    Raises `InputError` for everything else: None, a text, a dict, rows of different lengths, a tensor with gradients.
    """
    try:
        array = np.asarray(values)
    except (TypeError, ValueError, RuntimeError):
        raise InputError(f"{name}: no array can be made of it ({type(values).__name__}). Give {wanted}.") from None
    if array.dtype.kind not in "fiu":
        raise InputError(f"{name}: of type {array.dtype}. Give {wanted}.")
    return array


def finite_vector(name: str, numbers: npt.ArrayLike) -> FloatArray:
    """Check (n,) `numbers`, n >= 1, all finite, and return them in float64."""
    array = to_array(name, numbers, "(n,) numbers, at least one")
    if array.ndim != 1 or not array.size:
        raise InputError(f"{name}: an array of shape {array.shape}. Give (n,) numbers, at least one.")
    if not np.isfinite(array).all():
        row = int(np.flatnonzero(~np.isfinite(array))[0])
        raise InputError(f"{name}: number {row} is {array[row]}. Leave it out, or compute it again.")
    return array.astype(np.float64)


def sequence_of(name: str, values: object, wanted: str) -> list[Any]:
    """Return the list of `values`, several things of one kind: no text, dict or single number."""
    if not isinstance(values, (str, bytes, Mapping)) and hasattr(values, "__len__") and isinstance(values, Iterable):
        with contextlib.suppress(TypeError):  # an array without dimensions
            return list(values)
    raise InputError(f"{name}: {values!r}. Give {wanted}.")


def finite_or_none(value: float | None) -> float | None:
    """Return a number as tables have it: None for NaN and infinity."""
    return None if value is None or not np.isfinite(value) else float(value)
