"""Where the sentences of many pairs differ: the words of `prasanga.pairs.align_spans`, found in a fraction of its time.

Nearly all pairs differ in one place. What both sentences begin with is set aside as text, and where the words that are
left between a common beginning and a common end have none in common, there is nothing to be aligned.
"""

from __future__ import annotations

import functools
from typing import NamedTuple

import regex

from prasanga.pairs.alignment import Span, match_words
from prasanga.pairs.words import Punctuation, comparable, words_of

_CHUNK = regex.compile(r"\S+")


class _Piece(NamedTuple):
    """A word as it is compared, and its place in what stands between blanks."""

    compared: str
    start: int
    end: int


def modified_spans(first: str, second: str, punctuation: Punctuation = "apart") -> tuple[list[Span], list[Span]]:
    """The modified words of both sentences as spans of characters, those that `align_spans` finds."""
    begin = first.rfind(" ", 0, common_beginning(first, second)) + 1  # what is before it are the same words
    words = _words(first, begin, punctuation), _words(second, begin, punctuation)
    kept = _unmatched([word for word, _ in words[0]], [word for word, _ in words[1]])
    return [words[0][place][1] for place in kept[0]], [words[1][place][1] for place in kept[1]]


def common_beginning(first: str, second: str) -> int:
    """How many characters both texts begin with."""
    low, high = 0, min(len(first), len(second))
    while low < high:
        middle = (low + high + 1) // 2
        if first[low:middle] == second[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def utf16_length(text: str) -> int:
    """The length of a text in UTF-16 units, as a browser counts it: a character beyond U+FFFF is two."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le")) // 2


def _words(text: str, begin: int, punctuation: Punctuation) -> list[tuple[str, Span]]:
    """The words from `begin` on, as they are compared, with their spans."""
    found = []
    for chunk in _CHUNK.finditer(text, begin):
        piece = _piece(chunk[0], punctuation)
        if piece is not None:
            found.append((piece.compared, (chunk.start() + piece.start, chunk.start() + piece.end)))
    return found


@functools.lru_cache(maxsize=1 << 16)
def _piece(chunk: str, punctuation: Punctuation) -> _Piece | None:
    """The word in what stands between blanks; None if that is nothing but punctuation."""
    words = words_of(chunk, punctuation)
    return _Piece(comparable(words[0].text), words[0].start, words[0].end) if words else None


def _unmatched(first: list[str], second: list[str]) -> tuple[list[int], list[int]]:
    """Places of the words that are not matched, in both lists."""
    shorter = min(len(first), len(second))
    begin = next((i for i in range(shorter) if first[i] != second[i]), shorter)
    end = next((i for i in range(shorter - begin) if first[-1 - i] != second[-1 - i]), shorter - begin)
    inner = range(begin, len(first) - end), range(begin, len(second) - end)
    if set(first[begin : len(first) - end]).isdisjoint(second[begin : len(second) - end]):
        return list(inner[0]), list(inner[1])
    matches = match_words(first, second)
    left, right = {place for place, _ in matches}, {place for _, place in matches}
    return [i for i in inner[0] if i not in left], [i for i in inner[1] if i not in right]
