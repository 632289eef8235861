"""Words of a sentence of a pair, with their places in it.

A word here is what stands between blanks, with the punctuation at its two ends set aside: `"don't!"` holds the one
word `don't`, and a danda that stands alone is no word. That differs on purpose from `prasanga.text.words`, which cuts
at every apostrophe, hyphen and slash: in a pair SC/ST, don't and बार-बार are masked and compared whole.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import regex

from prasanga.errors import InputError
from prasanga.text.words import fold

#: Whether punctuation at the ends of a word is set aside, or belongs to the word as in the paper (IndiBias 6.1).
Punctuation: TypeAlias = Literal["apart", "with-word"]

# Blanks are Unicode's. Zero-width characters are none: they stand inside words.
_CHUNK = regex.compile(r"\S+")

# Unicode counts danda, double danda and quotes of every shape as punctuation, but the bar, which Hindi text has in
# place of a danda, and the backquote as symbols. Other symbols ($30, A+, 20°) are part of what a word says and stay.
_SET_ASIDE = r"[[\p{P}|`\p{Cf}]--[\u200c\u200d]]*"
_PUNCTUATION = regex.compile(rf"(?P<before>{_SET_ASIDE})(?P<word>.*?){_SET_ASIDE}", regex.DOTALL | regex.VERSION1)

# Joiners shape conjuncts; whatever else Unicode calls a format character (zero-width space, marks of direction, soft
# hyphen, byte-order mark) says nothing about a word.
_INVISIBLE = regex.compile(r"[\p{Cf}--[\u200c\u200d]]", regex.VERSION1)
_APOSTROPHES = str.maketrans("\u2018\u2019\u02bc\uff07", "''''")


@dataclass(frozen=True, slots=True)
class Word:
    """A word and its place: `sentence[start:end] == text`, as written."""

    text: str
    start: int
    end: int


def words_of(text: str, punctuation: Punctuation = "apart") -> list[Word]:
    """The words of a sentence, in order.

    Args:
        text: the sentence, as it will be scored.
        punctuation: `apart` sets the punctuation at the two ends of what stands between blanks aside, danda, double
            danda and bar too, and what is nothing but punctuation is no word; apostrophes, hyphens and slashes inside
            stay. `with-word` takes all that stands between blanks as a word, as IndiBias 6.1 does.

    Raises:
        InputError: for another `punctuation`.
    """
    check_punctuation(punctuation)
    chunks = (Word(match[0], match.start(), match.end()) for match in _CHUNK.finditer(text))
    if punctuation == "with-word":
        return list(chunks)
    return [word for word in map(_without_punctuation, chunks) if word.text]


def _without_punctuation(chunk: Word) -> Word:
    match = _PUNCTUATION.fullmatch(chunk.text)
    start = chunk.start + match.end("before")
    return Word(match["word"], start, start + len(match["word"]))


def comparable(word: str) -> str:
    """The form in which two words are compared; nothing is ever scored in it.

    Two spellings of one letter become one (NFC: ज़ as one code point or as ज with a nukta, য় likewise), and so do
    capital and small letters (he, He), the shapes of the apostrophe (don't, don’t), and words with and without the
    zero-width non-joiner or another invisible character; the zero-width joiner is a letter's shape and counts. A nukta
    that one spelling leaves out (ज़रूर, जरूर) remains a difference, since ड़ and ड are two letters.
    """
    visible = _INVISIBLE.sub("", fold(word))
    return unicodedata.normalize("NFC", visible.casefold().translate(_APOSTROPHES))


def check_punctuation(punctuation: str) -> None:
    """Refuse what is neither `apart` nor `with-word` (`InputError`)."""
    if punctuation not in get_args(Punctuation):
        raise InputError(
            f"punctuation: {punctuation!r} is not known. Allowed: {', '.join(get_args(Punctuation))}. Write"
            " 'punctuation: apart' to set punctuation aside, 'punctuation: with-word' for the paper's words."
        )
