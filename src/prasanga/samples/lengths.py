"""Segment lengths, and what a context must have to serve one of them or several at once.

With `pool: shared`, all fixed lengths are cut from the same contexts, those that allow the longest of them: a
difference between lengths is then one of length, and not one of who writes long sentences. With `pool: per_length` each
length takes every context that allows it, as the Bangla paper does. A length such as `>75` always has a pool of its
own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

import polars as pl

from prasanga.errors import InputError

PoolKind = Literal["shared", "per_length"]
Window = Literal["exact", "paper"]

LONGEST = 250
"""Words of the longest segment that is cut for a length such as `>75`, where the config says nothing else."""


class SegmentLength(NamedTuple):
    """One entry of `samples.lengths`: `words` words, or, where `over` is set, contexts of more than that.

    `label` stands in tables and configs (`9`, `>75`), `file_name` in paths (`9`, `over75`).
    """

    label: str
    file_name: str
    words: int
    over: bool


class Requirement(NamedTuple):
    """What a context must have for a pool: at least `words` words, and a target of at most `target_words`."""

    words: int
    target_words: int

    @property
    def enough_words(self) -> pl.Expr:
        """Whether the context has the words, as a condition on the column `n_words`."""
        return pl.col("n_words") >= self.words

    @property
    def met(self) -> pl.Expr:
        """Whether context and target fit, as a condition on the columns `n_words` and `form_words`."""
        return self.enough_words & (pl.col("form_words") <= self.target_words)


def parse_length(label: str | int) -> SegmentLength:
    """Read a segment length: a number of words (`9`), or `>` and a number (`>75`).

    Raises:
        InputError: for anything else.
    """
    text = str(label).strip()
    number = text.removeprefix(">")
    if not (number.isascii() and number.isdigit() and int(number) > 0):
        raise InputError(
            f"samples.lengths: {label!r} is no segment length; allowed are a number of words from 1, or `>` and a"
            ' number for contexts of more words. Write e.g. `lengths: [9, 25, 75, ">75"]`.'
        )
    size, over = int(number), text.startswith(">")
    return SegmentLength(f">{size}" if over else str(size), f"over{size}" if over else str(size), size, over)


def require_longest(lengths: Iterable[SegmentLength], longest: int) -> None:
    """Refuse a `samples.longest` that leaves no segment for one of the lengths.

    Raises:
        InputError: if contexts of more than so many words were to be cut to no more than that.
    """
    for length in lengths:
        if length.over and longest <= length.words:
            raise InputError(
                f"samples.longest: {longest}, but samples.lengths has {length.label!r}, whose segments have more than"
                f" {length.words} words. Allowed are numbers from {length.words + 1}. Write e.g."
                f" `longest: {max(LONGEST, 2 * length.words)}`."
            )


def requirements_by_length(
    lengths: Sequence[SegmentLength], window: Window, longest: int
) -> dict[SegmentLength, Requirement]:
    """What a context must have for each length by itself.

    With the paper's window a shorter context is used whole, so that a fixed length asks for no words at all.

    Raises:
        InputError: see `require_longest`.
    """
    require_longest(lengths, longest)
    return {
        length: Requirement(length.words + 1, longest)
        if length.over
        else Requirement(length.words if window == "exact" else 1, length.words)
        for length in lengths
    }


def requirements_of_pools(own: dict[SegmentLength, Requirement], kind: PoolKind) -> dict[SegmentLength, Requirement]:
    """What a context must have for the pool that each length is cut from; lengths with the same share one pool."""
    fixed = [length for length in own if not length.over]
    if kind == "per_length" or not fixed:
        return dict(own)
    shared = Requirement(max(own[length].words for length in fixed), min(own[length].target_words for length in fixed))
    return {length: requirement if length.over else shared for length, requirement in own.items()}
