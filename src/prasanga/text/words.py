"""Words of running text, the same for matching, counting and cutting; and what each character is.

A word is a maximal run of letters, marks, digits and the two joiners. Python's `re` cannot say that: its word
characters leave out the vowel signs and the hasanta, so that its word boundary lies inside nearly every Bangla or Hindi
word. It finds গান (song) in বাগান (garden) and মা (mother) in পদ্মা (a river).

Functions that look at every character of a corpus have one table of flags. These are asked of `regex` and `str`, the
same that the plain functions ask, so the two cannot disagree about a character.
"""

from __future__ import annotations

import functools
import re
import sys
import unicodedata
from itertools import groupby
from typing import Any, Final

import numpy as np
import regex
from numpy.typing import NDArray

_NON_JOINER = "\u200c"

#: One word. Marks are vowel signs, hasanta, nukta, candrabindu and their like; U+200C and U+200D are the joiners.
WORD = regex.compile(r"[\p{L}\p{M}\p{N}\u200c\u200d]+")

IS_WORD: Final = 1  # WORD
IS_SPACE: Final = 2  # str.isspace
IS_DANDA: Final = 4  # ends a sentence whatever follows
IS_QUESTION: Final = 8  # ? and !
IS_STOP: Final = 16  # full stop and bar, which need a closer look
IS_CLOSER: Final = 32  # belongs to the sentence before
IS_QUOTE: Final = 64  # straight quotes: closing unless a word follows
IS_OPENER: Final = 128  # may stand before the first letter of a sentence
IS_PYTHON_WORD: Final = 256  # \w of Python's re
IS_LOWER: Final = 512  # small letter
IS_ADDRESS: Final = 1024  # goes on with an address after ? or !
IS_ODD: Final = 2048  # white space to one library and not to the other

_SETS = {
    IS_DANDA: "।॥",
    IS_QUESTION: "?!",
    IS_STOP: ".|",
    IS_CLOSER: ")]}»”’›",
    IS_QUOTE: "\"'",
    IS_OPENER: "\"'‘“([",
    IS_ADDRESS: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789=/&%#",
}


# Unicode's order of marks costs the square of their number; longer runs than any language has are put in it before.
_MANY_MARKS = regex.compile(r"\p{M}{65,}")


def unicode_form(form: Any, text: str) -> str:
    """Return `unicodedata.normalize(form, text)`, in linear time for runs of marks of any length."""
    return unicodedata.normalize(form, _MANY_MARKS.sub(_marks_in_order, text))


def _marks_in_order(match: Any) -> str:
    parts = "".join(unicodedata.normalize("NFD", mark) for mark in match[0])
    runs = groupby(parts, lambda mark: unicodedata.combining(mark) > 0)
    ordered = (sorted(run, key=unicodedata.combining) if moves else run for moves, run in runs)
    return "".join(mark for run in ordered for mark in run)


def words(text: str) -> list[tuple[str, int, int]]:
    """Return the words of a text, in order, each as (word, start, end) with `text[start:end] == word`."""
    return [(match[0], match.start(), match.end()) for match in WORD.finditer(text)]


def count_words(text: str) -> int:
    """Return the number of words in a text."""
    return len(WORD.findall(text))


def fold(text: str) -> str:
    """Return text without the zero-width non-joiner, for comparison.

    The sign forbids a ligature and changes no word: উদ্‌যোগ is উদ্যোগ. The result is shorter by as many characters as were
    removed; positions are those of the original, which a caller keeps.
    """
    return text.replace(_NON_JOINER, "")


@functools.cache
def character_flags() -> NDArray[np.uint16]:
    """Return the flags of every code point, (0x110000,) uint16; surrogates have none."""
    flags = np.zeros(sys.maxunicode + 1, dtype=np.uint16)
    # Two ranges without the surrogates, which no UTF-8 text holds.
    for first, last in ((0, 0xD7FF), (0xE000, sys.maxunicode)):
        characters = "".join(map(chr, range(first, last + 1)))
        patterns: dict[int, Any] = {
            IS_WORD: WORD,
            IS_SPACE: re.compile(r"\s+"),
            IS_PYTHON_WORD: re.compile(r"\w+"),
            IS_LOWER: regex.compile(r"\p{Ll}+"),
        }
        for flag, pattern in patterns.items():
            for run in pattern.finditer(characters):
                flags[first + run.start() : first + run.end()] |= flag
        for run in regex.finditer(r"\s+", characters):
            flags[first + run.start() : first + run.end()] ^= IS_ODD
    flags[(flags & IS_SPACE) != 0] ^= IS_ODD
    for flag, members in _SETS.items():
        for member in members:
            flags[ord(member)] |= flag
    flags.setflags(write=False)
    return flags
