"""The words of the two sentences of a pair: which they share, which differ, and marks that say so."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import numpy as np
import regex
from numpy.typing import NDArray

from prasanga.base.errors import InputError
from prasanga.text.words import fold, unicode_form

# --------------------
# Words of a sentence of a pair, with their places in it.
#
# A word here is what stands between blanks, with the punctuation at its two ends set aside: `"don't!"` holds the
# one word `don't`, and a danda that stands alone is no word. That differs on purpose from `prasanga.text.words`,
# which cuts at every apostrophe, hyphen and slash: in a pair SC/ST, don't and बार-बार are masked and compared
# whole.


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
    """Return the words of a sentence, in order.

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
    """Return the form in which two words are compared; nothing is ever scored in it.

    Two spellings of one letter become one (NFC: ज़ as one code point or as ज with a nukta, য় likewise), and so do
    capital and small letters (he, He), the shapes of the apostrophe (don't, don’t), and words with and without the
    zero-width non-joiner or another invisible character; the zero-width joiner is a letter's shape and counts. A nukta
    that one spelling leaves out (ज़रूर, जरूर) remains a difference, since ड़ and ड are two letters.
    """
    visible = _INVISIBLE.sub("", fold(word))
    return unicode_form("NFC", visible.casefold().translate(_APOSTROPHES))


def check_punctuation(punctuation: str) -> None:
    """Refuse what is neither `apart` nor `with-word` (`InputError`)."""
    if punctuation not in get_args(Punctuation):
        raise InputError(
            f"punctuation: {punctuation!r} is not known. Allowed: {', '.join(get_args(Punctuation))}. Write"
            " 'punctuation: apart' to set punctuation aside, 'punctuation: with-word' for the paper's words."
        )


# --------------------
# Which words the two sentences of a pair share, and which they do not.
#
# IndiBias (Sahoo et al. 2024, 6.1) breaks both sentences into words and scores the unmodified ones (its U sets)
# given the modified ones (its M sets). A word is unmodified if it belongs to the longest common subsequence of the
# two lists of words, so order counts: a word that both sentences have at places that cannot be matched at once is
# modified in both. Whole words are aligned, never pieces, since unrelated words of Indic scripts share pieces (the
# paper's Figure 3).


Span: TypeAlias = tuple[int, int]


@dataclass(frozen=True)
class Alignment:
    """The words of a pair, each list in the order of its sentence and spelled as there.

    `unmodified_first[i]` and `unmodified_second[i]` are the same word, perhaps in two spellings.
    """

    unmodified_first: list[str]
    modified_first: list[str]
    unmodified_second: list[str]
    modified_second: list[str]


@dataclass(frozen=True)
class SpanAlignment:
    """The same four lists as character spans (start, end) into the sentences as given."""

    unmodified_first: list[Span]
    modified_first: list[Span]
    unmodified_second: list[Span]
    modified_second: list[Span]


def align_words(first: str, second: str, *, punctuation: Punctuation = "apart") -> Alignment:
    """Find the unmodified and modified words of two sentences.

    Words are compared as `prasanga.pairs.alignment.comparable` says and returned as written. Among the longest common
    subsequences, that with the fewest runs of modified words is taken, so that what differs lies together; then that
    with the fewest edits (one word in place of another is one edit), so that of two nouns that are exchanged around a
    word both are modified. The choice between those that are left is fixed, and the same if the two sentences change
    places.

    Args:
        first: a sentence.
        second: the other.
        punctuation: `apart` or `with-word`, see `words_of`.

    Raises:
        InputError: for another `punctuation`.
    """
    return Alignment(*([word.text for word in words] for words in _aligned(first, second, punctuation)))


def align_spans(first: str, second: str, *, punctuation: Punctuation = "apart") -> SpanAlignment:
    """Return where the words of `align_words` stand: `first[start:end]`, `second[start:end]`."""
    return SpanAlignment(
        *([(word.start, word.end) for word in words] for words in _aligned(first, second, punctuation))
    )


def _aligned(first: str, second: str, punctuation: Punctuation) -> tuple[list[Word], ...]:
    """Return the unmodified and modified words of the first sentence, then of the second."""
    of_first, of_second = words_of(first, punctuation), words_of(second, punctuation)
    matches = match_words([comparable(word.text) for word in of_first], [comparable(word.text) for word in of_second])
    return (
        *_parted(of_first, {place for place, _ in matches}),
        *_parted(of_second, {place for _, place in matches}),
    )


def _parted(words: Sequence[Word], unmodified: set[int]) -> tuple[list[Word], list[Word]]:
    return (
        [word for place, word in enumerate(words) if place in unmodified],
        [word for place, word in enumerate(words) if place not in unmodified],
    )


def match_words(first: Sequence[str], second: Sequence[str]) -> list[tuple[int, int]]:
    """Return a longest common subsequence with the fewest gaps, then the fewest edits, as pairs of places, in order.

    Args:
        first: words, as they are to be compared.
        second: words.

    Returns:
        `(i, j)` with `first[i] == second[j]`, both rising. `match_words(second, first)` gives the same with i and j
        exchanged.

    Without what both begin and end with there are n and m words left; time and memory grow with n x m, 25 bytes
    each. That is nothing for sentences, and 100 MB for two texts of 2,000 words that begin and end differently.
    """
    if tuple(second) < tuple(first):
        return [(i, j) for j, i in match_words(second, first)]
    # Matching what both begin and end with costs neither length nor gaps, and leaves little of a usual pair.
    shorter = min(len(first), len(second))
    begin = next((i for i in range(shorter) if first[i] != second[i]), shorter)
    end = next((i for i in range(shorter - begin) if first[-1 - i] != second[-1 - i]), shorter - begin)
    inner = _match_inner(first[begin : len(first) - end], second[begin : len(second) - end])
    return [
        *((i, i) for i in range(begin)),
        *((begin + i, begin + j) for i, j in inner),
        *((len(first) - i, len(second) - i) for i in range(end, 0, -1)),
    ]


def _match_inner(first: Sequence[str], second: Sequence[str]) -> list[tuple[int, int]]:
    """Match as `match_words` what is left between a common beginning and a common end."""
    if not first or not second:
        return []
    codes = {word: code for code, word in enumerate(dict.fromkeys([*first, *second]))}
    equal = np.equal.outer([codes[word] for word in first], [codes[word] for word in second])
    beside = len(first) + len(second) + 1  # more than all edits together
    one_match = beside * (min(len(first), len(second)) + 2)  # more than all that can stand side by side
    apart, joined = _values(equal, one_match, beside)
    matches = []
    i = j = 0
    adjacent = True
    while i < len(first) and j < len(second):
        value = joined[i, j] if adjacent else apart[i, j]
        if equal[i, j] and value == one_match + adjacent * beside + joined[i + 1, j + 1]:
            matches.append((i, j))
            i, j, adjacent = i + 1, j + 1, True
            continue
        if apart[i + 1, j + 1] - 1 == value:
            i, j = i + 1, j + 1
        elif apart[i + 1, j] - 1 == value:
            i += 1
        else:
            j += 1
        adjacent = False
    return matches


def _values(equal: NDArray[np.bool_], one_match: int, beside: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return what the words from (i, j) on can still bring.

    A match brings `one_match`, and `beside` as well where no gap parts it from the last.

    An edit takes 1 away: a word of one sentence left out, or a word of each in one place. `apart[i, j]` supposes that
    the places before (i, j) are not matched with each other, `joined[i, j]` that they are. The places before the
    beginning and after the end count as matched. Filled along the diagonals i + j, which depend on later ones only.
    """
    n, m = equal.shape
    left = np.maximum.outer(n - np.arange(n + 1), m - np.arange(m + 1))
    apart = -left.astype(np.int64)  # right where one sentence is at its end: the rest of the other is left out
    joined = apart.copy()
    joined[n, m] = beside
    for total in range(n + m - 2, -1, -1):
        i = np.arange(max(0, total - m + 1), min(n - 1, total) + 1)
        j = total - i
        skipped = np.maximum(np.maximum(apart[i + 1, j], apart[i, j + 1]), apart[i + 1, j + 1]) - 1
        matched = np.where(equal[i, j], one_match + joined[i + 1, j + 1], skipped)
        apart[i, j] = np.maximum(skipped, matched)
        joined[i, j] = np.maximum(skipped, np.where(equal[i, j], matched + beside, skipped))
    return apart, joined


# --------------------
# Marks in our own layout: which words differ, and which of those differ only because they agree with another.
#
# A mark names the words of the first sentence and those of the second, as in `he | his / she | her`; one side may
# be empty. `modified` names every modified word and is checked against the alignment, so that a slip of the pen in
# one sentence is found on reading. `agreeing` names those of them that merely follow (Hindi चाहता / चाहती).


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
    """Return the words of the first and of the second sentence in a mark; `InputError` for another spelling of it."""
    sides = _SIDES.split(mark)
    if len(sides) != 2:
        raise InputError(
            f"{where}: {column} is {mark!r}. Write the words of the first sentence, a slash between blanks, and those"
            " of the second, with a bar between blanks from word to word, as in 'he | his / she | her'."
        )
    first, second = ([word.strip() for word in _WORDS.split(side) if word.strip()] for side in sides)
    return first, second


def write_mark(first: list[str], second: list[str]) -> str:
    """Return the mark that `read_mark` reads."""
    return f"{' | '.join(first)} / {' | '.join(second)}".strip()


def _comparable(sides: tuple[list[str], list[str]]) -> tuple[list[str], list[str]]:
    first, second = ([comparable(word) for word in side] for side in sides)
    return first, second
