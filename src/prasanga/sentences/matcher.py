r"""Find stimuli in text: whole words only, every occurrence, positions kept.

A word is a match of `prasanga.text.WORD`: a maximal run of letters, marks, digits and joiners. Python's `\b` splits
Bangla words, because it counts vowel signs as punctuation, and would find গান (song) in বাগান (garden). So the text is
cut into words once, and each word is looked up; forms of several words (a space, a hyphen) are looked up by their first
word and compared as a whole. The time does not depend on the number of stimuli. The search itself is compiled.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Final, Literal, NamedTuple, Protocol

import numpy as np
import polars as pl
import regex
from numpy.typing import NDArray

from prasanga.base.errors import InputError
from prasanga.base.io import read_table
from prasanga.text import WORD, fold
from prasanga.text.lines import Bytes, Positions, compiled, decode_valid
from prasanga.text.words import IS_WORD, character_flags

_TOKEN: Final = regex.compile(rf"{WORD.pattern}|\S")
_BESIDE: Final = 256
"""Bytes on either side of a form in which its neighbor is searched for: the next word or punctuation mark."""

Position = Literal["anywhere", "sentence-initial"]


class HasClaims(Protocol):
    """The part of a lexicon that the matcher needs.

    It may also have `neighbours`: folded form -> the words and marks after and before which it is another word.
    """

    def claims(self) -> Mapping[str, Sequence[str]]:
        """Return every normalized surface form with the stimuli that get its hits."""
        ...


class Match(NamedTuple):
    """One stimulus found in a text: `form` is `text[start:end]`, the whole inflected word as written there."""

    stimulus: str
    form: str
    start: int
    end: int


class Matcher:
    """Finds the surface forms of a lexicon in normalized text.

    Args:
        lexicon: its `claims()` assign forms to stimuli.
        position: `anywhere`, or `sentence-initial`: only forms at the beginning of a text (after punctuation), so the
            texts must be sentences.

    Attributes:
        stimuli: the stimuli with a form, in order.
        of_form: the numbers of the stimuli of form i are `of_form[first[i]:first[i + 1]]`.
        first: see `of_form`.

    Raises:
        InputError: a form does not begin and end with a letter or digit, so it could never be found.
    """

    def __init__(self, lexicon: HasClaims, position: Position = "anywhere") -> None:
        self.position = position
        stimuli_of = _fold_claims(lexicon.claims())
        forms, stimuli = list(stimuli_of), list(stimuli_of.values())
        self._vocabulary, is_whole = _compile_vocabulary(forms)
        if not is_whole.all():
            number = int(is_whole.argmin())
            raise InputError(
                f"The form {forms[number]!r} of the stimulus {' and '.join(stimuli[number])!r} does not begin and end"
                " with a letter or digit, so it is not a whole word. Remove spaces and punctuation from its ends."
            )
        claimed = list(chain.from_iterable(stimuli))
        self.stimuli = sorted(set(claimed))
        numbers = {stimulus: number for number, stimulus in enumerate(self.stimuli)}
        self.first = np.cumsum([0, *map(len, stimuli)], dtype=np.int64)
        self.of_form = np.fromiter(map(numbers.__getitem__, claimed), dtype=np.int64, count=len(claimed))
        neighbours = getattr(lexicon, "neighbours", {})
        self._neighbours = {number: neighbours[form] for number, form in enumerate(forms) if form in neighbours}

    def scan(self, data: Bytes, starts: Positions, ends: Positions) -> tuple[Sentences, Hits]:
        """Copy sentences into a row, count their characters and words, and find the forms in them.

        Forms are left out if their neighbors show that they are another word.

        Args:
            data: valid UTF-8, normalized.
            starts: first byte of each sentence.
            ends: the byte after its last.
        """
        sizes = ends - starts
        row_ends = np.cumsum(sizes + 1) - 1
        row_starts = row_ends - sizes
        row = np.full(int(sizes.sum()) + len(sizes), ord(" "), dtype=np.uint8)
        gather(data, starts, ends, row, row_starts)
        characters, words = np.empty((2, len(starts)), dtype=np.int64)
        sentences = Sentences(row, row_starts, row_ends, characters, words)
        capacity, found = 64 + len(row) // 256, -1
        while found < 0:
            capacity *= 4
            table = np.empty(capacity, dtype=_HIT)
            found = _scan(sentences, character_flags(), self._vocabulary, self.position == "sentence-initial", table)
        hits = Hits(*(np.ascontiguousarray(table[name][:found]) for name in Hits._fields))
        if not self._neighbours:
            return sentences, hits
        doubtful = np.flatnonzero(np.isin(hits.form, list(self._neighbours)))
        others = [hit for hit in doubtful.tolist() if self._is_another_word(sentences, hits, hit)]
        return sentences, Hits(*(np.delete(column, others) for column in hits))

    def _is_another_word(self, sentences: Sentences, hits: Hits, hit: int) -> bool:
        sentence, start, end = hits.sentence[hit], hits.start_byte[hit], hits.end_byte[hit]
        not_after, not_before = self._neighbours[int(hits.form[hit])]
        left = sentences.data[max(sentences.starts[sentence], start - _BESIDE) : start]
        right = sentences.data[end : min(sentences.ends[sentence], end + _BESIDE)]
        texts = (part.tobytes().decode(errors="ignore") for part in (left, right))
        before, after = ([each for each in map(fold, _TOKEN.findall(text)) if each] for text in texts)
        return (bool(before) and before[-1] in not_after) or (bool(after) and after[0] in not_before)

    def find(self, text: str) -> list[Match]:
        """Return every match in a normalized `text`, overlaps included, sorted by start, end and stimulus.

        If both মা-কে and মা are forms, both are found in it; `longest` keeps only the longer one.
        """
        data = np.frombuffer(text.encode("utf-8", "surrogatepass"), dtype=np.uint8)
        _, hits = self.scan(data, np.zeros(1, np.int64), np.array([len(data)], dtype=np.int64))
        matches = [
            Match(self.stimuli[number], text[start:end], start, end)
            for form, start, end in zip(hits.form.tolist(), hits.start.tolist(), hits.end.tolist(), strict=True)
            for number in self.of_form[self.first[form] : self.first[form + 1]].tolist()
        ]
        return sorted(matches, key=lambda match: (match.start, match.end, match.stimulus))


def fold_column(name: str) -> pl.Expr:
    """Return a column of forms in the matcher's spelling."""
    return pl.col(name).str.replace_all("\u200c", "", literal=True).str.replace_all("\u2010", "-", literal=True)


def _fold_claims(claims: Mapping[str, Sequence[str]]) -> Mapping[str, Sequence[str]]:
    """Return the distinct forms in the matcher's spelling, with their stimuli in order."""
    joined = "".join(claims)
    if fold(joined) == joined and "\u2010" not in joined and max(map(len, claims.values()), default=1) == 1:
        return claims  # nearly always; a large lexicon has hundreds of thousands of forms
    merged: dict[str, Sequence[str]] = {}
    for form, found in claims.items():
        spelled = fold(form).replace("\u2010", "-")
        merged[spelled] = sorted({*merged.get(spelled, ()), *found})
    return merged


def longest(matches: Sequence[Match]) -> list[Match]:
    """Keep only the longest of a stimulus's matches that begin at the same place: মা-কে, not the মা in it.

    Args:
        matches: in the order of `Matcher.find`, which is also the order of the result.
    """
    best = {(match.stimulus, match.start): match for match in matches}  # later is longer
    return [match for match in matches if best[match.stimulus, match.start] is match]


# --------------------
# The surface forms from the lexicon stage, for the matcher.


@dataclass(frozen=True)
class Forms:
    """Surface forms with the stimuli that get their hits, which `Matcher` accepts instead of a lexicon."""

    stimuli_of: Mapping[str, tuple[str, ...]]
    neighbours: Mapping[str, tuple[frozenset[str], frozenset[str]]] = field(default_factory=dict)

    def claims(self) -> Mapping[str, tuple[str, ...]]:
        """Return every normalized surface form with the stimuli that get its hits."""
        return self.stimuli_of


def read_forms(path: str | Path, only: Collection[str] | None = None, *, neighbours: bool = True) -> Forms:
    """Read the table of surface forms (`results/lexicon/forms.parquet`), only rows that count.

    Args:
        path: the table.
        only: the stimuli whose forms are read; None for all.
        neighbours: whether a form next to certain words is skipped (`not_after`, `not_before`).
    """
    columns = read_table(path, ["form", "stimulus", "counted", "not_after", "not_before"]).to_pydict()
    stimuli_of: defaultdict[str, list[str]] = defaultdict(list)
    for form, stimulus, counted in zip(columns["form"], columns["stimulus"], columns["counted"], strict=True):
        if counted and (only is None or stimulus in only) and stimulus not in stimuli_of[fold(form)]:
            stimuli_of[fold(form)].append(stimulus)
    stands = zip(columns["form"], columns["not_after"], columns["not_before"], strict=True) if neighbours else ()
    beside = {
        fold(form): (frozenset(after.split()), frozenset(before.split()))
        for form, after, before in stands
        if after or before
    }
    return Forms({form: tuple(stimuli) for form, stimuli in stimuli_of.items() if stimuli}, beside)


# --------------------
# The compiled search: the first word of each form is hashed, and so is every word of every sentence.
#
# A word costs the same whatever the size of the lexicon: most words fail at a bitmap that stays in the CPU's cache. The
# others are compared byte by byte with the forms of that hash, so equal hashes never make a hit.

_NON_JOINER: Final = 0x200C
_HYPHEN: Final = 0x2010
_PLAIN_HYPHEN: Final = ord("-")

_NO_WORD: Final = np.uint64(0xCBF29CE484222325)
"""The hash of an empty text."""
_FACTOR: Final = np.uint64(0x9E3779B97F4A7C15)
_SHIFT: Final = np.uint64(32)


class Vocabulary(NamedTuple):
    """The folded forms of a lexicon, sorted by the hash of their first word.

    Attributes:
        texts: UTF-8 of the forms; form i is `texts[starts[i]:ends[i]]`.
        starts: bytes.
        ends: bytes.
        hashes: of the first words.
        numbers: of the forms in the lexicon's order.
        bitmap: a bit for each hash, by its lowest bits.
    """

    texts: Bytes
    starts: Positions
    ends: Positions
    hashes: NDArray[np.uint64]
    numbers: Positions
    bitmap: NDArray[np.uint8]


class Sentences(NamedTuple):
    """Sentences in a row, one space after each, with their counts.

    Attributes:
        data: their UTF-8; sentence i is `data[starts[i]:ends[i]]`.
        starts: bytes.
        ends: bytes.
        characters: of each sentence.
        words: of each sentence.
    """

    data: Bytes
    starts: Positions
    ends: Positions
    characters: Positions
    words: Positions


class Hits(NamedTuple):
    """Found forms, in the order of the text.

    Attributes:
        sentence: number of the sentence.
        form: number of the form.
        start_byte: first byte in the row.
        end_byte: the byte after the last.
        start: first character in the sentence.
        end: the character after the last.
        word: number of words before it in the sentence.
    """

    sentence: Positions
    form: Positions
    start_byte: Positions
    end_byte: Positions
    start: Positions
    end: Positions
    word: Positions


_HIT = np.dtype([(name, np.int64) for name in Hits._fields])


def _compile_vocabulary(forms: Sequence[str]) -> tuple[Vocabulary, NDArray[np.bool_]]:
    """Return the vocabulary of folded forms, and which forms begin and end with a letter or digit."""
    encoded = [form.encode("utf-8", "surrogatepass") for form in forms]
    texts = np.frombuffer(b"".join(encoded), dtype=np.uint8)
    ends = np.cumsum([0, *map(len, encoded)], dtype=np.int64)
    starts, ends = ends[:-1], ends[1:]
    hashes, is_whole = _hash_forms(texts, starts, ends, character_flags())
    order = np.argsort(hashes, kind="stable")
    n_bits = 1 << max(16 * len(forms), 1 << 16).bit_length()
    is_there = np.zeros(n_bits, dtype=np.bool_)
    is_there[hashes & np.uint64(n_bits - 1)] = True
    bitmap = np.packbits(is_there, bitorder="little")
    return Vocabulary(texts, starts[order], ends[order], hashes[order], order, bitmap), is_whole


@compiled
def gather(data: Bytes, starts: Positions, ends: Positions, copied: Bytes, places: Positions) -> None:
    """Copy the stretches `data[starts[i]:ends[i]]` to `copied`, each to its place."""
    for i in range(len(starts)):
        copied[places[i] : places[i] + ends[i] - starts[i]] = data[starts[i] : ends[i]]


@compiled
def _hash_forms(
    texts: Bytes, starts: Positions, ends: Positions, flags: NDArray[np.uint16]
) -> tuple[NDArray[np.uint64], NDArray[np.bool_]]:
    """Return the hash of each form's first word, and whether the form begins and ends with a word."""
    hashes, is_whole = np.empty(len(starts), dtype=np.uint64), np.zeros(len(starts), dtype=np.bool_)
    for form in range(len(starts)):
        i, _, hashes[form] = _hash_word(texts, starts[form], ends[form], flags)
        is_whole[form] = i > starts[form]
        while i < ends[form]:
            code, length = decode_valid(texts, i)
            i += length
            if i == ends[form]:
                is_whole[form] &= flags[code] & IS_WORD != 0
    return hashes, is_whole


@compiled
def _hash_word(data: Bytes, start: int, end: int, flags: NDArray[np.uint16]) -> tuple[int, int, np.uint64]:
    """Return where the word at `start` ends, its characters, and its hash without non-joiners."""
    i, characters, hash_ = start, 0, _NO_WORD
    while i < end:
        code, length = decode_valid(data, i)
        if flags[code] & IS_WORD == 0:
            break
        if code != _NON_JOINER:
            hash_ = (hash_ ^ np.uint64(code)) * _FACTOR
        i += length
        characters += 1
    return i, characters, hash_ if hash_ == _NO_WORD else hash_ ^ (hash_ >> _SHIFT)


@compiled
def _scan(
    sentences: Sentences,
    flags: NDArray[np.uint16],
    vocabulary: Vocabulary,
    first_word_only: bool,
    hits: NDArray[np.void],
) -> int:
    """Count characters and words, and fill the hits; return their number, or -1 if there is no room for them."""
    data, hashes, bitmap = sentences.data, vocabulary.hashes, vocabulary.bitmap
    bits = np.uint64(len(bitmap) * 8 - 1)
    found = 0
    for sentence in range(len(sentences.starts)):
        i, end = sentences.starts[sentence], sentences.ends[sentence]
        characters = words = 0
        is_first = True
        while i < end:
            code, length = decode_valid(data, i)
            if flags[code] & IS_WORD == 0:
                i += length
                characters += 1
                continue
            start, first_character = i, characters
            i, length, hash_ = _hash_word(data, start, end, flags)
            characters += length
            words += 1
            if hash_ == _NO_WORD:
                continue
            is_looked_for = is_first or not first_word_only
            is_first = False
            bit = np.int64(hash_ & bits)
            if not is_looked_for or bitmap[bit >> 3] & np.uint8(1 << (bit & 7)) == 0:
                continue
            form = int(np.searchsorted(hashes, hash_))
            while form < len(hashes) and hashes[form] == hash_:
                stop, length = _match(data, start, end, flags, vocabulary, form)
                if stop >= 0:
                    if found == len(hits):
                        return -1
                    hit = hits[found]
                    hit.sentence, hit.form = sentence, vocabulary.numbers[form]
                    hit.start_byte, hit.end_byte = start, stop
                    hit.start, hit.end, hit.word = first_character, first_character + length, words - 1
                    found += 1
                form += 1
        sentences.characters[sentence], sentences.words[sentence] = characters, words
    return found


@compiled
def _match(
    data: Bytes, start: int, end: int, flags: NDArray[np.uint16], vocabulary: Vocabulary, form: int
) -> tuple[int, int]:
    """Return where a form ends that begins at `start`, and its characters; the end is -1 if the form is not there.

    The zero-width non-joiner is passed over, and the hyphen that NFKC leaves (U+2010) is a hyphen.
    """
    texts, j, form_end = vocabulary.texts, vocabulary.starts[form], vocabulary.ends[form]
    i, characters = start, 0
    while i < end:
        code, length = decode_valid(data, i)
        if j == form_end and code != _NON_JOINER:
            return (-1, 0) if flags[code] & IS_WORD else (i, characters)
        i += length
        characters += 1
        if code == _NON_JOINER:
            continue
        wanted, wanted_length = decode_valid(texts, j)
        if code == _HYPHEN:
            code = np.int32(_PLAIN_HYPHEN)
        if code != wanted:
            return -1, 0
        j += wanted_length
    return (i, characters) if j == form_end else (-1, 0)
