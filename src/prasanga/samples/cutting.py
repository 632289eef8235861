"""Cutting a segment of an exact number of words out of a context, with the target in the middle.

Words are those of `prasanga.text.words`, the same that a corpus is counted in. A segment runs from its first word to
its last and takes along the punctuation attached to them (no space between), so that a sentence keeps its danda; marks
that join the last word to the next one, as a hyphen does, belong to neither and are left out.
"""

from __future__ import annotations

from typing import NamedTuple

from prasanga.errors import InputError
from prasanga.text import words


class Segment(NamedTuple):
    """A part of a context: `text[start:end]` is the target, `n_words` the number of words in `text`."""

    text: str
    start: int
    end: int
    n_words: int


class SegmentLength(NamedTuple):
    """One entry of `samples.lengths`: exactly `words` words, or, where `over` is set, whole contexts of more than that.

    `label` stands in tables and configs (`9`, `>75`), `file_name` in paths (`9`, `over75`).
    """

    label: str
    file_name: str
    words: int
    over: bool


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
            ' number for whole contexts of more words. Write e.g. `lengths: [9, 25, 75, ">75"]`.'
        )
    size, over = int(number), text.startswith(">")
    return SegmentLength(f">{size}" if over else str(size), f"over{size}" if over else str(size), size, over)


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
    if not 0 <= start < end <= len(text):
        raise ValueError(f"the span {start} to {end} does not lie in a text of {len(text)} characters")
    spans = [(word_start, word_end) for _, word_start, word_end in words(text)]
    target = [i for i, (word_start, word_end) in enumerate(spans) if word_start < end and word_end > start]
    if not target:
        raise ValueError(f"there is no word between characters {start} and {end} of a text of {len(text)} characters")
    if len(spans) < length or len(target) > length:
        return None
    first = min(max(target[0] - (length - len(target)) // 2, 0), len(spans) - length)
    last = first + length - 1
    left = _with_attached_before(text, spans[first][0], spans[first - 1][1] if first else 0)
    right = _with_attached_after(text, spans[last][1], spans[last + 1][0] if last + 1 < len(spans) else len(text))
    # The target without white space at the ends of the span, which may lie outside the segment.
    start, end = max(start, spans[target[0]][0]), min(end, spans[target[-1]][1])
    return Segment(text[left:right], start - left, end - left, length)


def whole(text: str, start: int, end: int, more_than: int) -> Segment | None:
    """The whole context as a segment if it has more than `more_than` words, else None."""
    n_words = len(words(text))
    return Segment(text, start, end, n_words) if n_words > more_than else None


def segment(text: str, start: int, end: int, length: SegmentLength) -> Segment | None:
    """The segment of a context for one entry of `samples.lengths`, or None if the context does not allow it."""
    if length.over:
        return whole(text, start, end, length.words)
    return cut(text, start, end, length.words)


def _with_attached_before(text: str, start: int, floor: int) -> int:
    """The position to which punctuation reaches to the left of `start`; `floor` is where the word before ends."""
    i = start
    while i > floor and not text[i - 1].isspace():
        i -= 1
    return start if 0 < i == floor else i


def _with_attached_after(text: str, end: int, ceiling: int) -> int:
    """The position to which punctuation reaches to the right of `end`; `ceiling` is where the word after begins."""
    i = end
    while i < ceiling and not text[i].isspace():
        i += 1
    return end if len(text) > i == ceiling else i
