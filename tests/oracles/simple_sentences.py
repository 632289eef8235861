"""The simple way from a corpus file to located stimuli: one line at a time, one word at a time.

It does what the programs of the papers do, and what anybody would write first: normalize a line, try the pattern of
each stimulus on it (a base and its suffixes), keep the lines beside it, write a row. What they get wrong is put right:
a pattern is tried anywhere in the line, and a word ends after its last vowel sign. So it finds what
`prasanga.sentences.extract_shard` finds where each line is one sentence, and serves as an oracle for it and as the
program that its speed is compared with.

Nobody should win against a straw man. A pattern begins with letters, and the boundary before it is looked at after a
hit: the search for those letters is then one quick scan, twelve times as fast as a pattern that begins with a
look-behind.
"""

from __future__ import annotations

import csv
import functools
import re
import sys
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

from prasanga.text import normalize

ZWNJ = "\u200c"
_JOINERS = ZWNJ + "\u200d"


class HasClaims(Protocol):
    """A lexicon, as far as it is needed here."""

    def claims(self) -> Mapping[str, Sequence[str]]:
        """Every normalized surface form with the stimuli that get a hit for it."""
        ...


class Pattern(NamedTuple):
    """A stimulus, and a pattern for some of its forms: those that begin with the same base."""

    stimulus: str
    regex: re.Pattern[str]


class Found(NamedTuple):
    """One stimulus in a line: `form` is `line[start:end]`."""

    stimulus: str
    form: str
    start: int
    end: int


class Row(NamedTuple):
    """One stimulus in its context, the lines joined with one space; `start` and `end` are positions in `text`."""

    source: str
    offset: int
    stimulus: str
    form: str
    text: str
    start: int
    end: int


class _Line(NamedTuple):
    text: str
    offset: int


def read_documents(path: Path) -> Iterator[list[_Line]]:
    """The documents of a UTF-8 file, between blank lines; each line normalized, with its byte offset."""
    document: list[_Line] = []
    offset = 0
    with path.open("rb") as stream:
        for raw in stream:
            line = raw.decode("utf-8")
            if not line.strip():
                yield document
                document = []
            elif text := normalize(line).strip():
                document.append(_Line(text, offset))
            offset += len(raw)
    yield document


def compile_patterns(lexicon: HasClaims) -> list[Pattern]:
    """One pattern for each stimulus and base: the base, its suffixes, and no letter after them."""
    forms_of: defaultdict[str, set[str]] = defaultdict(set)
    for form, stimuli in lexicon.claims().items():
        for stimulus in stimuli:
            forms_of[stimulus].add(_plain(form))
    return [
        Pattern(stimulus, re.compile(f"{re.escape(base)}(?:{'|'.join(map(re.escape, suffixes))})(?![{_letters()}])"))
        for stimulus, forms in forms_of.items()
        for base, suffixes in _bases(forms)
    ]


def find(text: str, patterns: Iterable[Pattern]) -> list[Found]:
    """Every stimulus in a line, sorted by place; of its forms that begin at one place, the longest."""
    plain = _plain(text)
    places = [place for place, letter in enumerate(text) if letter != ZWNJ] if ZWNJ in text else None
    found = []
    for stimulus, pattern in patterns:
        hit = pattern.search(plain)
        while hit is not None:
            start, end = hit.span()
            if start == 0 or not is_letter(plain[start - 1]):
                if places is not None:
                    start, end = _with_non_joiners(text, places[start], places[end - 1] + 1)
                found.append(Found(stimulus, text[start:end], start, end))
            hit = pattern.search(plain, hit.start() + 1)
    return sorted(found, key=lambda f: (f.start, f.end, f.stimulus))


def extract(
    path: str | Path, *, source: str, patterns: Sequence[Pattern], before: int = 3, after: int = 3
) -> Iterator[Row]:
    """The occurrences of the stimuli in a text file with one sentence per line and blank lines between documents."""
    for document in read_documents(Path(path)):
        for number, line in enumerate(document):
            for stimulus, form, start, end in find(line.text, patterns):
                left = [other.text for other in document[max(0, number - before) : number]]
                right = [other.text for other in document[number + 1 : number + 1 + after]]
                shift = sum(len(other) + 1 for other in left)
                text = " ".join([*left, line.text, *right])
                yield Row(source, line.offset, stimulus, form, text, shift + start, shift + end)


def write_rows(path: str | Path, rows: Iterable[Row]) -> None:
    """Write the rows as CSV, as the papers' programs do."""
    with Path(path).open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(Row._fields)
        writer.writerows(rows)


def is_letter(character: str) -> bool:
    """Whether a character is part of a word: a letter, a mark (vowel signs are marks), a digit or a joiner."""
    return character in _JOINERS or unicodedata.category(character)[0] in "LMN"


@functools.cache
def _letters() -> str:
    """What `is_letter` says of all characters, as the inside of a character class."""
    ranges: list[tuple[int, int]] = []
    for code in range(sys.maxunicode + 1):
        if is_letter(chr(code)):
            first = ranges.pop()[0] if ranges and ranges[-1][1] == code - 1 else code
            ranges.append((first, code))
    return "".join(f"{chr(first)}-{chr(last)}" for first, last in ranges)


def _bases(forms: set[str]) -> Iterator[tuple[str, list[str]]]:
    """Group forms as base and suffixes, the longest suffix first: a base is a form that begins with no other form."""
    base, suffixes = "", list[str]()
    for form in sorted(forms):
        if suffixes and form.startswith(base):
            suffixes.append(form.removeprefix(base))
        else:
            if suffixes:
                yield base, sorted(suffixes, key=len, reverse=True)
            base, suffixes = form, [""]
    if suffixes:
        yield base, sorted(suffixes, key=len, reverse=True)


def _plain(text: str) -> str:
    """Text as it is compared: without the zero-width non-joiner, and with one kind of hyphen."""
    return text.replace(ZWNJ, "").replace("\u2010", "-")


def _with_non_joiners(text: str, start: int, end: int) -> tuple[int, int]:
    """Take in the non-joiners at both ends, which belong to the word."""
    while start > 0 and text[start - 1] == ZWNJ:
        start -= 1
    while end < len(text) and text[end] == ZWNJ:
        end += 1
    return start, end
