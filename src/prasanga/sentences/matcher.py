r"""Finding stimuli in text: whole words only, every occurrence, positions kept.

A word is what `prasanga.text.WORD` says: a maximal run of letters, marks, digits and joiners. Python's `\b` falls
inside Bangla words, because it takes vowel signs for punctuation, and would find গান (song) in বাগান (garden). So
the text is cut into its words once, and each word is looked up; forms of several words (a space, a hyphen) are
known by their first word and compared as a whole. The time does not depend on the number of stimuli. The search
itself is compiled.
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
from prasanga.base.parquet import read_table
from prasanga.text import WORD, fold
from prasanga.text.compiled import compiled
from prasanga.text.lines import Bytes, Positions, decode_valid
from prasanga.text.words import IS_WORD, character_flags

_TOKEN: Final = regex.compile(rf"{WORD.pattern}|\S")
_BESIDE: Final = 256
"""Bytes on either side of a form in which its neighbour is looked for: the next word or punctuation mark."""

Position = Literal["anywhere", "sentence-initial"]


class HasClaims(Protocol):
    """A lexicon, as far as the matcher needs one.

    It may have `neighbours` as well: folded form -> the words and marks that it is another word after, and before.
    """

    def claims(self) -> Mapping[str, Sequence[str]]:
        """Return every normalized surface form with the stimuli that get a hit for it."""
        ...


class Match(NamedTuple):
    """One stimulus found in a text: `form` is `text[start:end]`, the whole inflected word as it is written there."""

    stimulus: str
    form: str
    start: int
    end: int


class Matcher:
    """Finds the surface forms of a lexicon in normalized text.

    Args:
        lexicon: whose `claims()` say which form belongs to which stimuli.
        position: `anywhere`, or `sentence-initial`: only where the text begins with the form (punctuation aside), so
            the texts must then be sentences.

    Attributes:
        stimuli: the stimuli with a form, in order.
        of_form: the numbers of the stimuli of form i are `of_form[first[i]:first[i + 1]]`.
        first: see `of_form`.

    Raises:
        InputError: if a form does not begin and end with a letter or digit, and so could never be found.
    """

    def __init__(self, lexicon: HasClaims, position: Position = "anywhere") -> None:
        self.position = position
        stimuli_of = _folded(lexicon.claims())
        forms, stimuli = list(stimuli_of), list(stimuli_of.values())
        texts = np.frombuffer("\0".join([*forms, ""]).encode("utf-8", "surrogatepass"), dtype=np.uint8)
        ends = np.flatnonzero(texts == 0)
        if len(ends) != len(forms):
            wrong = next(form for form in forms if "\0" in form)
            raise InputError(f"The form {wrong!r} has a NUL in it, which stands in no word. Take it out.")
        starts = np.concatenate([[0], ends + 1])[:-1]
        rest, lengths = _end_first_words(texts, starts, ends, character_flags())
        if not lengths.all():
            number = int(lengths.argmin())
            raise InputError(
                f"The form {forms[number]!r} of the stimulus {' and '.join(stimuli[number])!r} does not begin and end"
                " with a letter or digit, and so is no whole word. Write it without spaces or punctuation at its ends."
            )
        first_words = [form[:length] for form, length in zip(forms, lengths.tolist(), strict=True)]
        self._vocabulary = _compile_vocabulary(texts, starts, ends, rest, first_words)
        claimed = list(chain.from_iterable(stimuli))
        self.stimuli = sorted(set(claimed))
        numbers = {stimulus: number for number, stimulus in enumerate(self.stimuli)}
        self.first = np.cumsum([0, *map(len, stimuli)], dtype=np.int64)
        self.of_form = np.fromiter(map(numbers.__getitem__, claimed), dtype=np.int64, count=len(claimed))
        neighbours = getattr(lexicon, "neighbours", {})
        self._neighbours = {number: neighbours[form] for number, form in enumerate(forms) if form in neighbours}

    def scan(self, data: Bytes, starts: Positions, ends: Positions) -> tuple[Sentences, Hits]:
        """Copy sentences into a row, count their characters and words, and find the forms in them.

        Forms whose neighbours tell that they are another word are left out.

        Args:
            data: valid UTF-8, normalized.
            starts: first byte of each sentence.
            ends: the byte after its last.
        """
        row = np.empty(int((ends - starts).sum()) + len(starts), dtype=np.uint8)
        row_starts, row_ends, characters, words = np.empty((4, len(starts)), dtype=np.int64)
        first_word_only = self.position == "sentence-initial"
        capacity, found = 64 + len(row) // 256, -1
        while found < 0:
            capacity *= 4
            table = np.empty((capacity, len(Hits._fields)), dtype=np.int64)
            found = _scan(
                *(data, starts, ends, character_flags(), *self._vocabulary, first_word_only),
                *(row, row_starts, row_ends, characters, words, table),
            )
        sentences = Sentences(row, row_starts, row_ends, characters, words)
        hits = Hits(*np.ascontiguousarray(table[:found].T))
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
        before, after = (_TOKEN.findall(part.tobytes().decode(errors="ignore")) for part in (left, right))
        return (bool(before) and fold(before[-1]) in not_after) or (bool(after) and fold(after[0]) in not_before)

    def find(self, text: str) -> list[Match]:
        """Return every match in a normalized `text`, overlaps included, sorted by start, end and stimulus.

        Both মা-কে and the word মা in it are found where both are forms; `longest` leaves the longer one.
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
    """Return a column of forms as the matcher compares them."""
    return pl.col(name).str.replace_all("\u200c", "", literal=True).str.replace_all("\u2010", "-", literal=True)


def _folded(claims: Mapping[str, Sequence[str]]) -> Mapping[str, Sequence[str]]:
    """Return the forms as they are compared, each once, with its stimuli in order."""
    joined = "".join(claims)
    if fold(joined) == joined and "\u2010" not in joined and max(map(len, claims.values()), default=1) == 1:
        return claims  # nearly always, and there are hundreds of thousands of forms in a large lexicon
    merged: dict[str, Sequence[str]] = {}
    for form, found in claims.items():
        spelled = fold(form).replace("\u2010", "-")
        merged[spelled] = sorted({*merged.get(spelled, ()), *found})
    return merged


def longest(matches: Sequence[Match]) -> list[Match]:
    """Keep only the longest of a stimulus's matches that begin at the same place: মা-কে, and not the মা in it.

    Args:
        matches: in the order of `Matcher.find`, which is also the order of the result.
    """
    best = {(match.stimulus, match.start): match for match in matches}  # later is longer
    return [match for match in matches if best[match.stimulus, match.start] is match]


# --------------------
# The surface forms that the lexicon stage wrote, as the matcher needs them.


@dataclass(frozen=True)
class Forms:
    """Surface forms with the stimuli that get a hit for each: what `Matcher` takes beside a lexicon."""

    stimuli_of: Mapping[str, tuple[str, ...]]
    neighbours: Mapping[str, tuple[frozenset[str], frozenset[str]]] = field(default_factory=dict)

    def claims(self) -> Mapping[str, tuple[str, ...]]:
        """Return every normalized surface form with the stimuli that get a hit for it."""
        return self.stimuli_of


def read_forms(path: str | Path, only: Collection[str] | None = None, *, neighbours: bool = True) -> Forms:
    """Read the table of surface forms (`results/lexicon/forms.parquet`), without the rows that do not count.

    Args:
        path: the table.
        only: the stimuli whose forms are wanted; None for all.
        neighbours: whether a form beside certain words is passed over (`not_after`, `not_before`).
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
# The search, compiled: every word of every sentence is hashed once and looked up.
#
# Forms are known by their first word (`Vocabulary`). A word costs the same whatever the size of the lexicon: most words
# fail at a bitmap that stays in the processor's cache. Whatever passes it is compared byte by byte, so that a hit is
# never a matter of hashes.

_NON_JOINER: Final = 0x200C
_HYPHEN: Final = 0x2010
_PLAIN_HYPHEN: Final = ord("-")
_SPACE: Final = 32

_OFFSET: Final = np.uint64(0xCBF29CE484222325)
_FACTOR: Final = np.uint64(0x9E3779B97F4A7C15)
_SHIFT: Final = np.uint64(32)


class Vocabulary(NamedTuple):
    """The folded forms of a lexicon, by first word.

    Attributes:
        texts: UTF-8 of the forms.
        bitmap: a bit for each hash of a first word, by the hash's lowest bits.
        slots: open hash table: number of a first word, or -1.
        hashes: hash of each first word.
        words: (n, 2) where each first word begins and ends in `texts`.
        alone: number of the form that consists of the first word, or -1.
        longer: (n, 2) which of `forms` begin with the word and go on.
        forms: (m, 3) of each form of several words: where what follows its first word begins and ends in `texts`, and
            its number.
    """

    texts: Bytes
    bitmap: NDArray[np.uint8]
    slots: NDArray[np.int32]
    hashes: NDArray[np.uint64]
    words: Positions
    alone: Positions
    longer: Positions
    forms: Positions


def _compile_vocabulary(
    texts: Bytes, starts: Positions, ends: Positions, rest: Positions, first_words: Sequence[str]
) -> Vocabulary:
    """Compile folded forms; form i is `texts[starts[i]:ends[i]]`, UTF-8, and its first word ends at `rest[i]`."""
    numbers: dict[str, int] = {}
    first = np.array([numbers.setdefault(word, len(numbers)) for word in first_words], dtype=np.int64)
    words = np.column_stack([starts, rest])[np.unique(first, return_index=True)[1]]
    hashes = np.empty(len(words), dtype=np.uint64)
    bitmap = np.zeros(_power_of_two(16 * len(words)) // 8, dtype=np.uint8)
    slots = np.full(_power_of_two(4 * len(words)), -1, dtype=np.int32)
    _fill(texts, words, hashes, bitmap, slots)
    is_alone = rest == ends
    alone = np.full(len(words), -1, dtype=np.int64)
    alone[first[is_alone]] = np.flatnonzero(is_alone)
    # Forms of several words, those of one first word together; of each, what follows its first word.
    several = np.flatnonzero(~is_alone)
    several = several[np.argsort(first[several], kind="stable")]
    longer = np.searchsorted(first[several], np.arange(len(words))[:, None] + [0, 1]).astype(np.int64)
    forms = np.column_stack([rest[several], ends[several], several])
    return Vocabulary(texts, bitmap, slots, hashes, words, alone, longer, forms)


def _power_of_two(least: int) -> int:
    return 1 << max(least, 1 << 16).bit_length()


class Sentences(NamedTuple):
    """Sentences in a row, one space after each, with what was counted in them.

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


@compiled
def _end_first_words(
    texts: Bytes, starts: Positions, ends: Positions, flags: NDArray[np.uint16]
) -> tuple[Positions, Positions]:
    """Return where the first word of each form ends, and its characters: 0 if the form is no whole word or words."""
    rest, lengths = starts.copy(), np.zeros(len(starts), dtype=np.int64)
    for form in range(len(starts)):
        i = starts[form]
        is_word, is_first = False, True
        while i < ends[form]:
            code, length = decode_valid(texts, i)
            i += length
            is_word = flags[code] & IS_WORD != 0
            is_first = is_first and is_word
            if is_first:
                rest[form] = i
                lengths[form] += 1
        if not is_word:
            lengths[form] = 0
    return rest, lengths


@compiled
def _fill(
    texts: Bytes, words: Positions, hashes: NDArray[np.uint64], bitmap: NDArray[np.uint8], slots: NDArray[np.int32]
) -> None:
    """Hash each first word, as `_scan` does those of the text, and write it into the tables."""
    for number in range(len(words)):
        i = words[number, 0]
        hash_ = _OFFSET
        while i < words[number, 1]:
            code, length = decode_valid(texts, i)
            hash_ = (hash_ ^ np.uint64(code)) * _FACTOR
            i += length
        hash_ ^= hash_ >> _SHIFT
        hashes[number] = hash_
        bit = np.int64(hash_ & np.uint64(len(bitmap) * 8 - 1))
        bitmap[bit >> 3] |= np.uint8(1 << (bit & 7))
        slot = np.int64(hash_ & np.uint64(len(slots) - 1))
        while slots[slot] >= 0:
            slot = (slot + 1) & (len(slots) - 1)
        slots[slot] = number


@compiled
def _scan(
    data: Bytes,
    starts: Positions,
    ends: Positions,
    flags: NDArray[np.uint16],
    texts: Bytes,
    bitmap: NDArray[np.uint8],
    slots: NDArray[np.int32],
    hashes: NDArray[np.uint64],
    vocabulary: Positions,
    alone: Positions,
    longer: Positions,
    forms: Positions,
    first_word_only: bool,
    row: Bytes,
    row_starts: Positions,
    row_ends: Positions,
    row_characters: Positions,
    row_words: Positions,
    hits: Positions,
) -> int:
    """Fill the row and the hits; the number of hits, or -1 if there is no room for them."""
    found = 0
    size = 0
    bits = np.uint64(len(bitmap) * 8 - 1)
    mask = len(slots) - 1
    for sentence in range(len(starts)):
        i, end = starts[sentence], ends[sentence]
        shift = size - i
        row_starts[sentence] = size
        characters = 0
        words = 0
        looked_at = 0
        while i < end:
            # between words
            code, length = decode_valid(data, i)
            if flags[code] & IS_WORD == 0:
                for k in range(length):
                    row[size + k] = data[i + k]
                size += length
                i += length
                characters += 1
                continue
            start, start_character = i, characters
            hash_ = _OFFSET
            empty = True
            while True:
                if code != _NON_JOINER:
                    hash_ = (hash_ ^ np.uint64(code)) * _FACTOR
                    empty = False
                if length == 3:
                    row[size] = data[i]
                    row[size + 1] = data[i + 1]
                    row[size + 2] = data[i + 2]
                else:
                    for k in range(length):
                        row[size + k] = data[i + k]
                size += length
                i += length
                characters += 1
                if i >= end:
                    break
                code, length = decode_valid(data, i)
                if flags[code] & IS_WORD == 0:
                    break
            words += 1
            if empty:
                continue
            looked_at += 1
            if first_word_only and looked_at > 1:
                continue
            hash_ ^= hash_ >> _SHIFT
            bit = np.int64(hash_ & bits)
            if bitmap[bit >> 3] & np.uint8(1 << (bit & 7)) == 0:
                continue
            slot = np.int64(hash_ & np.uint64(mask))
            while slots[slot] >= 0:
                number = slots[slot]
                slot = (slot + 1) & mask
                if hashes[number] != hash_:
                    continue
                stop, _ = _after(data, start, i, flags, texts, vocabulary[number, 0], vocabulary[number, 1])
                if stop != i:
                    continue
                if alone[number] >= 0:
                    if found == len(hits):
                        return -1
                    hit = hits[found]
                    hit[0], hit[1], hit[2], hit[3] = sentence, alone[number], start + shift, i + shift
                    hit[4], hit[5], hit[6] = start_character, characters, words - 1
                    found += 1
                for form in range(longer[number, 0], longer[number, 1]):
                    stop, more = _after(data, i, end, flags, texts, forms[form, 0], forms[form, 1])
                    if stop >= 0:
                        if found == len(hits):
                            return -1
                        hit = hits[found]
                        hit[0], hit[1], hit[2], hit[3] = sentence, forms[form, 2], start + shift, stop + shift
                        hit[4], hit[5], hit[6] = start_character, characters + more, words - 1
                        found += 1
                break
        row_ends[sentence] = size
        row_characters[sentence] = characters
        row_words[sentence] = words
        row[size] = _SPACE
        size += 1
    return found


@compiled
def _after(
    data: Bytes, start: int, end: int, flags: NDArray[np.uint16], texts: Bytes, form: int, form_end: int
) -> tuple[int, int]:
    """Return where a form, or the rest of one, ends that begins at `start`, and its characters.

    The end is -1 if the form is not there whole.

    The zero-width non-joiner is passed over, and the hyphen that NFKC leaves (U+2010) is a hyphen.
    """
    i, j = start, form
    characters = 0
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
