"""Align the words of a pair's two sentences, check the marks of those that differ, and list oddities."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import product
from pathlib import Path
from typing import Any, Generic, Literal, NamedTuple, TypeAlias, TypeVar, get_args

import numpy as np
import polars as pl
import regex
from numpy.typing import NDArray

from prasanga.base.errors import InputError
from prasanga.base.io import read_rows
from prasanga.pairs.preferences import SIDES
from prasanga.schema import TABLES
from prasanga.text.words import fold, unicode_form

# --------------------
# Words of a sentence, with their places in it.
#
# A word here is the text between two blanks, without the punctuation at its ends: `"don't!"` is the one word `don't`,
# and a danda by itself is not a word. `prasanga.text.words` cuts at every apostrophe, hyphen and slash; here SC/ST,
# don't and बार-बार are masked and compared whole.


#: Whether punctuation at the ends of a word is set aside, or belongs to the word as in the paper (IndiBias 6.1).
Punctuation: TypeAlias = Literal["apart", "with-word"]

# Blanks are Unicode's. Zero-width characters are parts of words.
_CHUNK = regex.compile(r"\S+")

# Unicode counts danda, double danda and all quotation marks as punctuation, but the backquote and the bar, which
# replaces the danda in some Hindi text, as symbols. Other symbols ($30, A+, 20°) belong to the word.
_SET_ASIDE = regex.compile(r"[[\p{P}|`\p{Cf}]--[\u200c\u200d]]", regex.VERSION1)

# Joiners shape conjuncts. All other format characters of Unicode (zero-width space, marks of direction, soft hyphen,
# byte-order mark) make no difference to a word.
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
        punctuation: `apart` removes the punctuation at both ends of a word, including danda, double danda and bar;
            apostrophes, hyphens and slashes inside stay, and punctuation by itself is not a word. `with-word` takes
            everything between two blanks as a word, as IndiBias 6.1 does.

    Raises:
        InputError: `punctuation` has another value.
    """
    if punctuation not in get_args(Punctuation):
        raise InputError(
            f"`punctuation` is {punctuation!r}. Write `punctuation: apart` to set punctuation aside, or `punctuation:"
            " with-word` for the paper's words."
        )
    found = []
    for match in _CHUNK.finditer(text):
        start, end = match.span()
        if punctuation == "apart":
            while start < end and _is_set_aside(text[start]):
                start += 1
            while start < end and _is_set_aside(text[end - 1]):
                end -= 1
        if start < end:
            found.append(Word(text[start:end], start, end))
    return found


@cache
def _is_set_aside(character: str) -> bool:
    return _SET_ASIDE.match(character) is not None


@lru_cache(1 << 14)
def comparable(word: str) -> str:
    """Return the form in which two words are compared (scores use the words as written).

    These count as the same: two encodings of one letter (NFC: ज़ as one code point or as ज with a nukta, and য়), upper
    and lower case (he, He), shapes of the apostrophe (don't, don’t), and words with or without a zero-width non-joiner
    or another invisible character, except the zero-width joiner, which shapes letters. A missing nukta (ज़रूर, जरूर)
    remains a difference, because ड़ and ड are two letters.
    """
    visible = _INVISIBLE.sub("", fold(word))
    return unicode_form("NFC", visible.casefold().translate(_APOSTROPHES))


# --------------------
# Which words the two sentences share.
#
# IndiBias (Sahoo et al. 2024, 6.1) splits both sentences into words and scores the unmodified ones (its U sets) given
# the modified ones (its M sets). A word is unmodified if it belongs to the longest common subsequence of the two lists
# of words. Order counts: a shared word whose places cannot be matched with the others is modified in both. Whole words
# are aligned, never pieces, because unrelated words of Indic scripts share pieces (the paper's Figure 3).


Span: TypeAlias = tuple[int, int]

MOST_WORDS = 2_500
"""The most words of a sentence in a file of pairs."""


T = TypeVar("T")


class Alignment(NamedTuple, Generic[T]):
    """The words of a pair, each list in sentence order: as spelled there, or as character spans.

    `unmodified_first[i]` and `unmodified_second[i]` are the same word, perhaps in two spellings.
    """

    unmodified_first: list[T]
    modified_first: list[T]
    unmodified_second: list[T]
    modified_second: list[T]

    def words(self: SpanAlignment, first: str, second: str) -> Alignment[str]:
        """Return the words at these spans of both sentences."""
        texts = (first, first, second, second)
        return Alignment(*([text[start:end] for start, end in spans] for text, spans in zip(texts, self, strict=True)))


SpanAlignment: TypeAlias = Alignment[Span]


def align_words(first: str, second: str, *, punctuation: Punctuation = "apart") -> Alignment[str]:
    """Find the unmodified and modified words of two sentences.

    Words are compared by `prasanga.pairs.alignment.comparable` and returned as written. Among the longest common
    subsequences, the one with the fewest runs of modified words is taken; then the one with the fewest edits (a
    substitution is one edit), so that two nouns that swap places around a word are both modified. Further ties are
    broken in a fixed way that does not depend on which sentence comes first.

    Args:
        first: a sentence.
        second: the other sentence.
        punctuation: `apart` or `with-word`, see `words_of`.

    Raises:
        InputError: `punctuation` has another value.
    """
    return align_spans(first, second, punctuation=punctuation).words(first, second)


def align_spans(first: str, second: str, *, punctuation: Punctuation = "apart") -> SpanAlignment:
    """Return the spans of the words of `align_words`: `first[start:end]`, `second[start:end]`."""
    of_first, of_second = words_of(first, punctuation), words_of(second, punctuation)
    matches = match_words([comparable(word.text) for word in of_first], [comparable(word.text) for word in of_second])
    matched = {side: {match[side] for match in matches} for side in (0, 1)}
    return Alignment(
        *(
            [(word.start, word.end) for place, word in enumerate(words) if (place in matched[side]) == is_unmodified]
            for side, words in enumerate((of_first, of_second))
            for is_unmodified in (True, False)
        )
    )


def match_words(first: Sequence[str], second: Sequence[str]) -> list[tuple[int, int]]:
    """Return a longest common subsequence with the fewest gaps, then the fewest edits, as pairs of places, in order.

    Args:
        first: words in comparable form.
        second: words in comparable form.

    Returns:
        `(i, j)` with `first[i] == second[j]`, both rising. `match_words(second, first)` gives the same with i and j
        exchanged.

    Time and memory (two bytes each) grow with n x m, the numbers of words without the common beginning and end.
    """
    if tuple(second) < tuple(first):
        return [(i, j) for j, i in match_words(second, first)]
    # Matching the common beginning and end costs neither length nor gaps, and leaves little of a typical pair.
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
    """Match the words between a common beginning and a common end, as `match_words`."""
    if set(first).isdisjoint(second):
        return []
    codes = {word: code for code, word in enumerate(dict.fromkeys([*first, *second]))}
    steps = _steps(np.array([codes[word] for word in first]), np.array([codes[word] for word in second]))
    matches = []
    i = j = 0
    adjacent = True
    while i < len(first) and j < len(second):
        step = steps[i + j, i]
        adjacent = bool(step & (_AFTER_MATCH if adjacent else _AFTER_GAP))
        if adjacent:
            matches.append((i, j))
        i += adjacent or not step & _SECOND_ALONE
        j += adjacent or not step & _FIRST_ALONE
    return matches


_AFTER_MATCH, _AFTER_GAP, _FIRST_ALONE, _SECOND_ALONE = 1, 2, 4, 8


def _steps(first: NDArray[np.int64], second: NDArray[np.int64]) -> NDArray[np.uint8]:
    """Return the best step from each pair of places (i, j), at `[i + j, i]`, (n + m - 1, n) uint8.

    A match scores one unit, plus a bonus if it directly follows a match. An edit (a word of one sentence left out, or
    a word of each substituted) costs a little. `apart[i]` is the best score from (i, j) on if the places before are
    not matched with each other, `joined[i]` if they are; the places before the beginning and after the end count as
    matched. Diagonals i + j are filled backwards, because each depends only on the two after it.

    Returns:
        Bits: match here after a match; match here after a gap; otherwise leave out only the first's word, only the
        second's, or both if neither bit is set.
    """
    n, m = len(first), len(second)
    beside = n + m + 1  # more than all edits together
    one_match = beside * (min(n, m) + 2)  # more than all adjacent matches together
    steps = np.zeros((n + m - 1, n), np.uint8)
    backwards = second[::-1]
    apart_next, joined_next = np.zeros((2, n + 1), np.int64)  # of i + j = n + m - 1, at the ends of the sentences
    apart_next[[n - 1, n]] = joined_next[[n - 1, n]] = -1
    apart_last, joined_last = np.zeros((2, n + 1), np.int64)
    joined_last[n] = beside
    for total in range(n + m - 2, -1, -1):
        low, high = max(0, total - m + 1), min(n - 1, total) + 1
        here, after = slice(low, high), slice(low + 1, high + 1)
        both, one, other = apart_last[after] - 1, apart_next[after] - 1, apart_next[here] - 1
        skipped = np.maximum(np.maximum(one, other), both)
        equal = first[here] == backwards[m - 1 - total + low : m - 1 - total + high]
        matched = np.where(equal, one_match + joined_last[after], -one_match)
        steps[total, here] = (
            (matched + beside >= skipped) * _AFTER_MATCH
            + (matched >= skipped) * _AFTER_GAP
            + (both != skipped) * np.where(one == skipped, _FIRST_ALONE, _SECOND_ALONE)
        )
        apart, joined = np.zeros((2, n + 1), np.int64)
        apart[here] = np.maximum(skipped, matched)
        joined[here] = np.maximum(skipped, matched + beside)
        if total >= m:  # the second sentence has ended: the rest of the first is left out
            apart[total - m] = joined[total - m] = total - m - n
        if total >= n:
            apart[n] = joined[n] = total - n - m
        apart_last, joined_last, apart_next, joined_next = apart_next, joined_next, apart, joined
    return steps


# --------------------
# Marks in our own layout: which words differ, and which of them differ only in agreement with another word.
#
# A mark lists words of the first sentence and words of the second, as in `he | his / she | her`; one side may be
# empty. `modified` lists every modified word and is checked against the alignment, which finds slips in a sentence.
# `agreeing` lists the modified words that only follow another in grammar (Hindi चाहता / चाहती).


# SC/ST is one word: a slash separates the sides only between blanks or at an end. The same holds for the bar.
_SIDES = re.compile(r"(?:^|\s+)/(?:\s+|$)")
_WORDS = re.compile(r"(?:^|(?<=\s))\|(?=\s|$)")


def find_wrong_marks(modified: str, agreeing: str, found: Alignment[str]) -> Iterator[str]:
    """Yield the mistakes in the marks of a pair; an empty mark is not checked.

    Args:
        modified: the cell of that name.
        agreeing: the cell of that name.
        found: the alignment of the sentences.
    """
    known = [[*map(comparable, words)] for words in (found.modified_first, found.modified_second)]
    for column, mark in (("modified", modified), ("agreeing", agreeing)):
        sides = _SIDES.split(mark)
        marked = [[comparable(word.strip()) for word in _WORDS.split(side) if word.strip()] for side in sides]
        if not mark.strip():
            continue
        if len(sides) != 2:
            yield (
                f"{column} is {mark!r}. Write the words of the first sentence, ` / `, and the words of the second, with"
                " ` | ` between words, as in 'he | his / she | her'."
            )
        elif column == "modified" and marked != known:
            yield (
                f"modified is {mark!r}, but the sentences differ in"
                f" {write_mark(found.modified_first, found.modified_second)!r}. Correct the sentences, or write the"
                " words that differ."
            )
        for side, words, allowed in zip(("first", "second"), marked, known, strict=False):
            if extra := Counter(words) - Counter(allowed):
                yield (
                    f"{column} names {next(iter(extra))!r}, which is not a modified word of the {side} sentence."
                    f" Allowed: {', '.join(allowed) or 'none'}."
                )


def write_mark(first: list[str], second: list[str]) -> str:
    """Return the mark for these words of the first and of the second sentence."""
    return f"{' | '.join(first)} / {' | '.join(second)}".strip()


# --------------------
# Oddities of pairs, one row each, so that nothing is changed or lost silently.
#
# Sentences are scored as in the file. Reading changes only blanks at the ends and line breaks, because a decoder would
# score them as pieces. Both are reported as changed, everything else as kept.


_ODDITIES = read_rows(Path(__file__).with_name("oddities.tsv"))
KINDS = {row["kind"]: row["meaning"] for row in _ODDITIES}
"""The meaning of each kind of oddity."""

#: A pair with more modified words, in both sentences together, is reported as not minimally distant.
MANY_MODIFIED_WORDS = 6

LINE_BREAK = r"\s*[\n\r\x0b\x0c\x85\u2028\u2029]\s*"
_KEPT = "kept"
_NUKTAS = str.maketrans("", "", "\u093c\u09bc")

_SCRIPTS = {"bn": r"\p{Script=Bengali}", "hi": r"\p{Script=Devanagari}", "en": r"\p{Script=Latin}"}
# Language -> kind -> pattern; other languages have no patterns. In English a bar does not replace a danda.
_IN_SENTENCE = {
    language: {
        row["kind"]: regex.compile(row["pattern"].replace("{script}", script), regex.VERSION1)
        for row in _ODDITIES
        if row["pattern"] and (language, row["kind"]) != ("en", "bar-for-danda")
    }
    for language, script in _SCRIPTS.items()
}


ODDITIES_SCHEMA = TABLES["pair_oddities"].polars


def list_oddities(pairs: pl.DataFrame) -> pl.DataFrame:
    """Return the oddities of the pairs of a file (`Layout.find_pairs`).

    Returns:
        Columns `ODDITIES_SCHEMA`, sorted by row. `row` counts records from 1; `column` is the file's, or both columns
        joined with ` / `.
    """
    breaks = {
        f"{side}_breaks": pl.col(f"{side}_cell").str.strip_chars().str.count_matches(LINE_BREAK) for side in SIDES
    }
    pairs = pairs.with_columns(**breaks, column=pl.format("{} / {}", "first_column", "second_column"))
    found: list[tuple[Any, ...]] = [
        (pair, *rest) for pair in pairs.iter_rows(named=True) for rest in _find_in_pair(pair)
    ]
    found.extend(_find_repetition(pairs))
    rows = [(pair["pair_id"], pair["row"], pair["language"], *rest) for pair, *rest in found]
    return pl.DataFrame(rows, schema=ODDITIES_SCHEMA, orient="row").sort("row", maintain_order=True)


def _find_in_pair(pair: Mapping[str, Any]) -> Iterator[tuple[str, str, str, str]]:
    """Yield column, kind, place and change of each oddity of a pair."""
    for name in ("bias_type", "label"):
        if pair[name] != (cell := pair[f"{name}_cell"]):
            yield pair[f"{name}_column"], f"{name.replace('_', '-')}-spelling", cell, f"read as {pair[name]}"
    for side in SIDES:
        column, cell = pair[f"{side}_column"], pair[f"{side}_cell"]
        if cell != cell.strip():
            ends = repr(cell[: len(cell) - len(cell.lstrip())] + "…" + cell[len(cell.rstrip()) :])
            yield column, "outer-blanks", ends, "removed"
        if breaks := pair[f"{side}_breaks"]:
            yield column, "line-break", f"{breaks} in the cell", "a blank in its place"
        yield from ((column, kind, found, _KEPT) for kind, found in _find_in_sentence(pair[side], pair["language"]))
    yield from ((pair["column"], *rest) for rest in _find_in_sentences(pair["first"], pair["second"]))


def _find_in_sentence(text: str, language: str) -> Iterator[tuple[str, str]]:
    """Yield kind and place of each oddity of a single sentence."""
    for kind, pattern in _IN_SENTENCE.get(language, {}).items():
        if hits := pattern.findall(text):
            yield kind, " ".join(f"{hit!a}" if not hit.isprintable() or hit.isspace() else hit for hit in hits)
    if not unicodedata.is_normalized("NFC", text):
        words = (word.text for word in words_of(text))
        yield "not-nfc", " ".join(word for word in words if not unicodedata.is_normalized("NFC", word))
    if text[:1].islower():
        yield "small-first-letter", words_of(text)[0].text


def _find_in_sentences(first: str, second: str) -> Iterator[tuple[str, str, str]]:
    """Yield kind, place and change of each oddity in a comparison of two sentences."""
    if first == second:
        yield "identical-sentences", first, "kept, cannot be scored"
        return
    spans = align_spans(first, second)
    unmodified, modified, others, modified_others = spans.words(first, second)
    if not (modified or modified_others):
        yield "identical-words", f"{first} / {second}", "kept, cannot be scored unless punctuation belongs to words"
    if not unmodified:
        yield "no-common-word", f"{first} / {second}", "kept, cannot be scored where unmodified words are needed"
    for one, other in zip(unmodified, others, strict=True):
        if one != other:
            kind = "differing-case" if one.casefold() == other.casefold() else "differing-spelling"
            yield kind, f"{one} / {other}", "kept, compared as one word"
    without_nukta = {word: _without_nukta(word) for word in (*modified, *modified_others)}
    for one, other in product(modified, modified_others):
        if without_nukta[one] == without_nukta[other] and comparable(one) != comparable(other):
            yield "differing-nukta", f"{one} / {other}", "kept, compared as two words"
    ends = _ending(first, *spans[:2]), _ending(second, *spans[2:])
    if ends[0] != ends[1]:
        yield "differing-end", " / ".join(end or "nothing" for end in ends), _KEPT
    if len(modified) != len(modified_others):
        counts = (len(unmodified) + len(words) for words in (modified, modified_others))
        yield "differing-length", f"{' / '.join(map(str, counts))} words", _KEPT
    if len(modified) + len(modified_others) > MANY_MODIFIED_WORDS:
        yield "many-modified-words", f"{len(modified)} / {len(modified_others)} words", _KEPT


def _ending(text: str, *words: Sequence[Span]) -> str:
    """Return the punctuation after the last word, without blanks."""
    last = max((end for spans in words for _, end in spans), default=0)
    return "".join(text[last:].split())


def _without_nukta(word: str) -> str:
    return unicode_form("NFD", comparable(word)).translate(_NUKTAS)


def _find_repetition(pairs: pl.DataFrame) -> Iterator[tuple[Mapping[str, Any], str, str, str, str]]:
    """Yield the sentences that several pairs of one language share, as a pair or one by one."""
    seen: dict[tuple[str, ...], str] = {}
    for pair in pairs.iter_rows(named=True):
        language, first, second = pair["language"], pair["first"], pair["second"]
        if earlier := seen.get((language, first, second)):
            yield pair, pair["column"], "duplicated-pair", f"as {earlier}", _KEPT
        elif turned := seen.get((language, second, first)):
            yield pair, pair["column"], "reversed-pair", f"of {turned}", _KEPT
        else:
            for side in SIDES:
                if same := seen.get((language, pair[side])):
                    yield pair, pair[f"{side}_column"], "duplicated-sentence", f"also in {same}", _KEPT
        for sentences in ((first, second), (first,), (second,)):
            seen.setdefault((language, *sentences), pair["pair_id"])
