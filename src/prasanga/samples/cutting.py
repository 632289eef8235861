"""Segment lengths, and cutting a segment of so many words out of a context, around the target.

With `pool: shared`, all fixed lengths are cut from the same contexts, those that allow the longest of them: a
difference between lengths is then one of length, and not one of who writes long sentences. With `pool:
per_length` each length takes every context that allows it, as the Bangla paper does. A length such as `>75`
always has a pool of its own.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from operator import itemgetter
from typing import Literal, NamedTuple

import polars as pl

from prasanga.base.errors import InputError
from prasanga.text.words import WORD

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
    """Return what a context must have for each length by itself.

    With the paper's window a shorter context is used whole, so that no length asks for more than the target.

    Raises:
        InputError: see `require_longest`.
    """
    require_longest(lengths, longest)
    return {
        length: Requirement(
            1 if window == "paper" else length.words + length.over, longest if length.over else length.words
        )
        for length in lengths
    }


def requirements_of_pools(own: dict[SegmentLength, Requirement], kind: PoolKind) -> dict[SegmentLength, Requirement]:
    """Return what a context must have for the pool that each length is cut from.

    Lengths with the same requirement share one pool.
    """
    fixed = [length for length in own if not length.over]
    if kind == "per_length" or not fixed:
        return dict(own)
    shared = Requirement(max(own[length].words for length in fixed), min(own[length].target_words for length in fixed))
    return {length: requirement if length.over else shared for length, requirement in own.items()}


# --------------------
# Cutting a segment of a number of words out of a context, around the target.
#
# Words are those of `prasanga.text.words`, the same that a corpus is counted in. A segment runs from its first word
# to its last and takes along the punctuation attached to them (no space between), so that a sentence keeps its
# danda; marks that join the last word to the next one, as a hyphen does, belong to neither and are left out.


class Segment(NamedTuple):
    """A part of a context: `text[start:end]` is the target, `n_words` the number of words in `text`."""

    text: str
    start: int
    end: int
    n_words: int


class Context:
    """A context divided into words once, for segments of any length.

    Args:
        text: the context, normalized.
        start: first character of the target.
        end: the character after its last.

    Raises:
        ValueError: if the span does not lie in the text, or there is no word in it.
    """

    def __init__(self, text: str, start: int, end: int) -> None:
        if not 0 <= start < end <= len(text):
            raise ValueError(f"the span {start} to {end} does not lie in a text of {len(text)} characters")
        spans = [match.span() for match in WORD.finditer(text)]
        # The target's words: those that end after its start and begin before its end.
        first = bisect_right(spans, start, key=itemgetter(1))
        stop = bisect_left(spans, end, key=itemgetter(0))
        if first >= stop:
            raise ValueError(
                f"there is no word between characters {start} and {end} of a text of {len(text)} characters"
            )
        self._text, self._start, self._end = text, start, end
        self._spans = spans
        self._first, self._stop = first, stop

    def segment(self, length: SegmentLength, *, window: Window = "exact", longest: int = LONGEST) -> Segment | None:
        """Return the segment for one entry of `samples.lengths`, or None if the context does not allow it.

        Args:
            length: from `parse_length`.
            window: `exact` for exactly so many words (`cut`), `paper` for those that the Bangla paper's program takes
                (`paper`), for a length such as `>75` every context, whole.
            longest: greatest number of words for a length such as `>75`.
        """
        if length.over:
            return self.over(length.words if window == "exact" else 0, longest)  # the program's are all texts, whole
        return self.exact(length.words) if window == "exact" else self.paper(length.words)

    def exact(self, length: int) -> Segment | None:
        """Return a segment of exactly `length` words; see `cut`."""
        of_target = self._stop - self._first
        if len(self._spans) < length or of_target > length:
            return None
        first = min(max(self._first - (length - of_target) // 2, 0), len(self._spans) - length)
        return self._between(first, first + length)

    def paper(self, length: int) -> Segment | None:
        """Return the words that the Bangla paper's program takes, of a context of any length.

        With h = `length` // 2: h words before the target and h from its first word on, so that for an odd length a
        segment has a word less than asked for. Where fewer than h words stand before the target, or no more than h
        from it on, it is the first or the last `length` words of the context. A shorter context is used whole.

        The program knows targets of one word. One of several that would reach beyond the segment moves its end, and
        as far as `length` demands its start; None if the target alone has more words.
        """
        n_words, half = len(self._spans), length // 2
        if self._stop - self._first > length:
            return None
        if n_words < length:
            return self._whole()
        if self._first < half:
            first, stop = 0, length
        elif n_words - self._first <= half:
            first, stop = n_words - length, n_words
        else:
            first, stop = self._first - half, self._first + half
        if stop < self._stop:
            first, stop = max(first, self._stop - length), self._stop
        return self._between(first, stop)

    def over(self, words: int, longest: int) -> Segment | None:
        """Return a context of more than `words` words.

        It is all of it, or `longest` words around the target if it has more.
        """
        if len(self._spans) <= words:
            return None
        return self._whole() if len(self._spans) <= longest else self.exact(longest)

    def _whole(self) -> Segment:
        return Segment(self._text, self._start, self._end, len(self._spans))

    def _between(self, first: int, stop: int) -> Segment:
        """Return the segment of the words from `first` up to `stop`, which hold the target."""
        text, spans = self._text, self._spans
        left = _with_attached_before(text, spans[first][0], spans[first - 1][1] if first else 0)
        right = _with_attached_after(text, spans[stop - 1][1], spans[stop][0] if stop < len(spans) else len(text))
        # The target without white space at the ends of the span, which may lie outside the segment.
        start, end = max(self._start, spans[self._first][0]), min(self._end, spans[self._stop - 1][1])
        return Segment(text[left:right], start - left, end - left, stop - first)


def cut(text: str, start: int, end: int, length: int) -> Segment | None:
    """Cut exactly `length` words around the target `text[start:end]`.

    With k words in the target, (length - k) // 2 words stand before it and the rest after; at an edge of the text the
    window is shifted.

    Args:
        text: the context, normalized.
        start: first character of the target.
        end: the character after its last.
        length: number of words, the target's included.

    Returns:
        The segment, or None if the text has fewer words or the target more.

    Raises:
        ValueError: if the span does not lie in the text, or there is no word in it.
    """
    return Context(text, start, end).exact(length)


def _with_attached_before(text: str, start: int, floor: int) -> int:
    """Return the position to which punctuation reaches to the left of `start`.

    `floor` is where the word before ends.
    """
    i = start
    while i > floor and not text[i - 1].isspace():
        i -= 1
    return start if 0 < i == floor else i


def _with_attached_after(text: str, end: int, ceiling: int) -> int:
    """Return the position to which punctuation reaches to the right of `end`.

    `ceiling` is where the word after begins.
    """
    i = end
    while i < ceiling and not text[i].isspace():
        i += 1
    return end if len(text) > i == ceiling else i
