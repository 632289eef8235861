"""What each code point is to the functions that look at every character: one table of flags, made once.

The flags are asked of `regex` and `str`, the same that the plain functions in `words` and `splitting` ask, so the two
cannot disagree about a character.
"""

from __future__ import annotations

import functools
import re
import sys
from typing import Any, Final

import numpy as np
import regex
from numpy.typing import NDArray

from prasanga.text.words import WORD

IS_WORD: Final = 1  # prasanga.text.WORD
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


@functools.cache
def character_flags() -> NDArray[np.uint16]:
    """The flags of every code point, (0x110000,) uint16; surrogates have none."""
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
