"""Words of running text, the same for matching, counting and cutting.

A word is a maximal run of letters, marks, digits and the two joiners. Python's `re` cannot say that: its word
characters leave out the vowel signs and the hasanta, so that its word boundary lies inside nearly every Bangla or Hindi
word. It finds গান (song) in বাগান (garden) and মা (mother) in পদ্মা (a river).
"""

from __future__ import annotations

import regex

_NON_JOINER = "\u200c"

#: One word. Marks are vowel signs, hasanta, nukta, candrabindu and their like; U+200C and U+200D are the joiners.
WORD = regex.compile(r"[\p{L}\p{M}\p{N}\u200c\u200d]+")


def words(text: str) -> list[tuple[str, int, int]]:
    """The words of a text, in order, each as (word, start, end) with `text[start:end] == word`."""
    return [(match[0], match.start(), match.end()) for match in WORD.finditer(text)]


def count_words(text: str) -> int:
    """The number of words in a text."""
    return len(WORD.findall(text))


def fold(text: str) -> str:
    """Text without the zero-width non-joiner, for comparison.

    The sign forbids a ligature and changes no word: উদ্‌যোগ is উদ্যোগ. The result is shorter by as many characters as were
    removed; positions are those of the original, which a caller keeps.
    """
    return text.replace(_NON_JOINER, "")
