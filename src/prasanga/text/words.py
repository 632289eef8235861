"""Split running text into words and sentences, the same for matching, counting and cutting; classify characters.

A word is a maximal run of letters, marks, digits and the two joiners. Python's `re` cannot express that: its word
characters leave out the vowel signs and the hasanta, so it sees a word boundary inside nearly every Bangla or Hindi
word. It finds গান (song) in বাগান (garden) and মা (mother) in পদ্মা (a river).

Functions that look at every character of a corpus share one table of flags, computed with the same `regex` and `str`
functions as the plain versions, so the two cannot disagree about a character.
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
IS_PYTHON_WORD: Final = 128  # \w of Python's re
IS_ADDRESS: Final = 256  # goes on with an address after ? or !

_SETS = {
    IS_DANDA: "।॥",
    IS_QUESTION: "?!",
    IS_STOP: ".|",
    IS_CLOSER: ")]}»”’›",
    IS_QUOTE: "\"'",
    IS_ADDRESS: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789=/&%#",
}


# Unicode's ordering of marks takes time quadratic in their number; unusually long runs are sorted before.
_MANY_MARKS = regex.compile(r"\p{M}{65,}")


def unicode_form(form: Any, text: str) -> str:
    """Return `unicodedata.normalize(form, text)`, in linear time for runs of marks of any length."""
    return unicodedata.normalize(form, order_marks(text))


def order_marks(text: str) -> str:
    """Return a text with the marks of long runs in Unicode's order, which does not change its normal forms."""
    return str(_MANY_MARKS.sub(_marks_in_order, text))


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

    The sign prevents a ligature and does not change the word: উদ্‌যোগ is উদ্যোগ. The result is shorter by the removed
    characters; positions refer to the original, which the caller keeps.
    """
    return text.replace(_NON_JOINER, "")


@functools.cache
def character_flags() -> NDArray[np.uint16]:
    """Return the flags of every code point, (0x110000,) uint16; 0 for surrogates."""
    flags = np.zeros(sys.maxunicode + 1, dtype=np.uint16)
    # Two ranges without the surrogates, which do not occur in UTF-8.
    for first, last in ((0, 0xD7FF), (0xE000, sys.maxunicode)):
        characters = "".join(map(chr, range(first, last + 1)))
        patterns: dict[int, Any] = {IS_WORD: WORD, IS_SPACE: re.compile(r"\s+"), IS_PYTHON_WORD: re.compile(r"\w+")}
        for flag, pattern in patterns.items():
            for run in pattern.finditer(characters):
                flags[first + run.start() : first + run.end()] |= flag
    for flag, members in _SETS.items():
        for member in members:
            flags[ord(member)] |= flag
    flags.setflags(write=False)
    return flags


# --------------------
# Sentences of running text, by rules: Bangla, Hindi, English.
#
# A danda nearly always ends a sentence, so rules go far here. Two marks need care: the full stop, which also occurs in
# numbers, initials, titles and ellipses, and the vertical bar, which many people type instead of a danda. Each mark is
# looked at once, with the few characters next to it, so time grows only with the length of the text.

# Marks and the closing quotes and brackets after them, or a line end. A straight quote opens if a word follows at once.
_CANDIDATE = re.compile(r"""(?P<marks>[।॥?!.|]+)(?P<closing>(?:[)\]}»”’›]|["'](?!\w))*)|\n""")
_INK = re.compile(r"\S")

_LETTERS = r"\p{L}\p{M}\p{N}\u200c\u200d"
_ENDS_A_WORD = regex.compile(rf"""[{_LETTERS}"')\]}}»”’›]""")
_LAST_WORD = regex.compile(rf"[{_LETTERS}]*$")
# One letter, perhaps with a nukta. With a vowel sign it can be a word, which is why the syllables are listed.
_INITIAL = regex.compile(r"\p{L}[\u093c\u09bc]?")
_ITEM_NUMBER = regex.compile(r"\(?\p{Nd}{1,3}")
_LOWER_CASE = regex.compile(r"""\s*["'‘“(\[]*\p{Ll}""")
_UPPER_CASE = regex.compile(r"""\s+["'‘“(\[]*\p{Lu}""")
_NUMBER = regex.compile(r"\s*\p{Nd}")
_ADDRESS = re.compile(r"[A-Za-z0-9=/&%#]")

# Titles, honorifics, units, and the names of Latin letters, which initials are written with. Words that often end a
# sentence are left out.
_BANGLA = """
    ডা ডাঃ ডঃ মো মোঃ মোসা মোছা মু মুহা মি মিস মিসেস প্রফ প্রো অধ্যা ইঞ্জি অ্যাড এড শ্রী সা রা রহ খ্রি হি লি কো প্রা গ্রা তাং
    এ বি সি ডি ই এফ জি এইচ আই জে কে এল এম এন ও পি কিউ আর এস টি ইউ ভি ডব্লিউ এক্স ওয়াই জেড
"""
_HINDI = """
    डॉ डा श्री श्रीमती सुश्री कु पं प्रो मो मि सं पृ कि ई ए बी सी डी एफ जी एच आई जे के एल एम एन ओ पी आर एस टी यू वी
"""
_ENGLISH = "dr mr mrs ms prof st sr jr vs cf hon capt lt"
_ABBREVIATIONS = frozenset((_BANGLA + _HINDI + _ENGLISH).split())
# Abbreviations only where a number follows: "no" and "পৃ" (page) before 5.
_BEFORE_A_NUMBER = frozenset(["no", "fig", "vol", "p", "pp", "art", "নং", "পৃ", "সং"])
# More than the longest abbreviation.
_REACH = 16


def split_sentences(text: str) -> list[tuple[int, int]]:
    """Return the sentences of a text as spans, in order, without the white space around them.

    A sentence ends at a line end, at । ॥ ? !, at a full stop that is not part of a number, address, initial, title or
    item number and is not followed by a small letter, and at a vertical bar after a word. Several marks end it once.
    Closing quotes and brackets stay with the sentence before. An ellipsis ends a sentence only if a capital letter
    follows. Text left at the end is also a sentence.

    Args:
        text: normalized running text (straight quotes); other text is split as well, with curly quotes understood.
    """
    spans: list[tuple[int, int]] = []
    start = _next_ink(text, 0)
    for candidate in _CANDIDATE.finditer(text):
        end = candidate.end()
        if candidate["marks"] is not None and not _is_end(text, start, candidate):
            continue
        if start >= end:  # an empty line
            continue
        if spans and candidate.start() == start and "\n" not in text[spans[-1][1] : start]:
            spans[-1] = (spans[-1][0], end)  # marks and nothing else, typed after a space
        else:
            spans.append((start, start + len(text[start:end].rstrip())))
        start = _next_ink(text, end)
    if start < len(text):
        spans.append((start, len(text.rstrip())))
    return spans


def _is_end(text: str, sentence: int, candidate: re.Match[str]) -> bool:
    """Return whether the marks end the sentence that begins at `sentence`."""
    marks, after = candidate["marks"], candidate.end()
    if "।" in marks or "॥" in marks:
        return True
    if "?" in marks or "!" in marks:
        if candidate["closing"]:
            return not _LOWER_CASE.match(text, after)
        return not _ADDRESS.match(text, after)
    if after < len(text) and not text[after].isspace():
        return False
    if "|" in marks:
        return candidate.start() > sentence and bool(_ENDS_A_WORD.match(text, candidate.start() - 1))
    if len(marks) > 1:
        return bool(_UPPER_CASE.match(text, after))
    return not (_LOWER_CASE.match(text, after) or _is_abbreviated(text, sentence, candidate))


def _is_abbreviated(text: str, sentence: int, stop: re.Match[str]) -> bool:
    """Return whether a single full stop belongs to the text before it."""
    if stop["closing"]:
        return False
    before = stop.start()
    if before - sentence <= _REACH and _ITEM_NUMBER.fullmatch(text, sentence, before):
        return True
    word = _LAST_WORD.search(text[max(sentence, before - _REACH) : before])[0].casefold()
    if word in _BEFORE_A_NUMBER:
        return bool(_NUMBER.match(text, stop.end()))
    return word in _ABBREVIATIONS or bool(_INITIAL.fullmatch(word))


def _next_ink(text: str, position: int) -> int:
    """Return the next position that is not white space, or the end of the text."""
    ink = _INK.search(text, position)
    return ink.start() if ink else len(text)
