r"""Finding stimuli in text: whole words only, every occurrence, positions kept.

A word is what `prasanga.text.WORD` says: a maximal run of letters, marks, digits and joiners. Python's `\b` falls
inside Bangla words, because it takes vowel signs for punctuation, and would find গান (song) in বাগান (garden). So
the text is cut into its words once, and each word is looked up; forms of several words (a space, a hyphen) are
known by their first word and compared as a whole. The time does not depend on the number of stimuli. The search
itself is compiled (`prasanga.sentences.scanning`); here is what it searches for.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, Protocol

import numpy as np
import regex

from prasanga.base.errors import InputError
from prasanga.base.parquet import read_table
from prasanga.text import WORD, fold

if TYPE_CHECKING:
    from prasanga.sentences.scanning import Hits, Sentences
    from prasanga.text.lines import Bytes, Positions


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
        from prasanga.sentences.scanning import compile_vocabulary

        stimuli_of = _folded(lexicon.claims())
        forms, stimuli = list(stimuli_of), list(stimuli_of.values())
        texts = np.frombuffer("\0".join([*forms, ""]).encode("utf-8", "surrogatepass"), dtype=np.uint8)
        ends = np.flatnonzero(texts == 0)
        if len(ends) != len(forms):
            wrong = next(form for form in forms if "\0" in form)
            raise InputError(f"The form {wrong!r} has a NUL in it, which stands in no word. Take it out.")
        starts = np.concatenate([[0], ends + 1])[:-1]
        self._vocabulary, never_found = compile_vocabulary(texts, starts, ends)
        for number in never_found.tolist():
            raise InputError(
                f"The form {forms[number]!r} of the stimulus {' and '.join(stimuli[number])!r} does not begin and end"
                " with a letter or digit, and so is no whole word. Write it without spaces or punctuation at its ends."
            )
        claimed = list(chain.from_iterable(stimuli))
        self.stimuli = sorted(set(claimed))
        numbers = {stimulus: number for number, stimulus in enumerate(self.stimuli)}
        self.first = np.cumsum([0, *map(len, stimuli)], dtype=np.int64)
        self.of_form = np.fromiter(map(numbers.__getitem__, claimed), dtype=np.int64, count=len(claimed))
        neighbours = getattr(lexicon, "neighbours", {})
        self._neighbours = {number: neighbours[form] for number, form in enumerate(forms) if form in neighbours}

    def scan(self, data: Bytes, starts: Positions, ends: Positions) -> tuple[Sentences, Hits]:
        """Find the forms in many normalized sentences at once (`prasanga.sentences.scanning.scan`).

        Forms whose neighbours tell that they are another word are left out.
        """
        from prasanga.sentences.scanning import Hits, scan

        first_only = self.position == "sentence-initial"
        sentences, hits = scan(data, starts, ends, self._vocabulary, first_word_only=first_only)
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
