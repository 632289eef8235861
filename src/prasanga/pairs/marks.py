"""Marks in our own layout: which words differ, and which of those differ only because they agree with another.

A mark names the words of the first sentence and those of the second, as in `he | his / she | her`; one side may be
empty. `modified` names every modified word and is checked against the alignment, so that a slip of the pen in one
sentence is found on reading. `agreeing` names those of them that merely follow (Hindi चाहता / चाहती).
"""

from __future__ import annotations

import re
from collections import Counter

from prasanga.errors import InputError
from prasanga.pairs.alignment import Alignment
from prasanga.pairs.words import comparable

# SC/ST is one word: a slash parts the sides only between blanks or at an end.
_SIDES = re.compile(r"(?:^|\s+)/(?:\s+|$)")
# In the same way a bar inside a word is part of it.
_WORDS = re.compile(r"(?:^|(?<=\s))\|(?=\s|$)")


def check_marks(where: str, modified: str, agreeing: str, alignment: Alignment) -> None:
    """Compare the marks of a pair with its words; an empty mark says nothing and is not checked.

    Args:
        where: file, record and pair, for the message.
        modified: the cell of that name.
        agreeing: the cell of that name.
        alignment: of the pair.

    Raises:
        InputError: if `modified` is not what the alignment finds, or `agreeing` names a word that is not modified.
    """
    found = (alignment.modified_first, alignment.modified_second)
    if modified.strip() and _comparable(read_mark(where, "modified", modified)) != _comparable(found):
        raise InputError(
            f"{where}: modified is {modified!r}, but the sentences differ in {write_mark(*found)!r}. Mend the"
            " sentences, or write what they differ in."
        )
    if agreeing.strip():
        for side, marked, allowed in zip(
            ("first", "second"), _comparable(read_mark(where, "agreeing", agreeing)), _comparable(found), strict=True
        ):
            extra = Counter(marked) - Counter(allowed)
            if extra:
                raise InputError(
                    f"{where}: agreeing names {next(iter(extra))!r}, which is no modified word of the {side} sentence."
                    f" Allowed: {', '.join(allowed) or 'none'}."
                )


def read_mark(where: str, column: str, mark: str) -> tuple[list[str], list[str]]:
    """The words of the first and of the second sentence in a mark; `InputError` for another spelling of it."""
    sides = _SIDES.split(mark)
    if len(sides) != 2:
        raise InputError(
            f"{where}: {column} is {mark!r}. Write the words of the first sentence, a slash between blanks, and those"
            " of the second, with a bar between blanks from word to word, as in 'he | his / she | her'."
        )
    first, second = ([word.strip() for word in _WORDS.split(side) if word.strip()] for side in sides)
    return first, second


def write_mark(first: list[str], second: list[str]) -> str:
    """The mark that `read_mark` reads."""
    return f"{' | '.join(first)} / {' | '.join(second)}".strip()


def _comparable(sides: tuple[list[str], list[str]]) -> tuple[list[str], list[str]]:
    first, second = ([comparable(word) for word in side] for side in sides)
    return first, second
