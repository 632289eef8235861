r"""Finding stimuli in text: whole words only, every occurrence, positions kept.

A word is what `prasanga.text.WORD` says: a maximal run of letters, marks, digits and joiners. Python's `\b` falls
inside Bangla words, because it takes vowel signs for punctuation, and would find গান (song) in বাগান (garden). So the text
is cut into its words once, and each word is looked up; forms of several words (a space, a hyphen) are known by their
first word and compared as a whole. The time does not depend on the number of stimuli. The search itself is compiled
(`prasanga.sentences.scanning`); here is what it searches for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

import numpy as np

from prasanga.errors import InputError
from prasanga.text import WORD, fold

if TYPE_CHECKING:
    from prasanga.sentences.scanning import Hits, Sentences, Vocabulary
    from prasanga.text.rewriting import Bytes, Positions

Position = Literal["anywhere", "sentence-initial"]


class HasClaims(Protocol):
    """A lexicon, as far as the matcher needs one."""

    def claims(self) -> Mapping[str, Sequence[str]]:
        """Every normalized surface form with the stimuli that get a hit for it."""
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
        stimuli_of: dict[str, tuple[str, ...]] = {}
        for form, stimuli in lexicon.claims().items():
            spelled = fold(form).replace("\u2010", "-")
            others = stimuli_of.get(spelled, ())
            stimuli_of[spelled] = tuple(sorted({*others, *stimuli})) if others or len(stimuli) > 1 else tuple(stimuli)
        self._first_words = [match[0] if (match := WORD.match(form)) else "" for form in stimuli_of]
        for (form, claimants), first_word in zip(stimuli_of.items(), self._first_words, strict=True):
            if not first_word or (form != first_word and not WORD.match(form[-1])):
                raise InputError(
                    f"The form {form!r} of the stimulus {' and '.join(sorted(claimants))!r} does not begin and end with"
                    " a letter or digit, and so is no whole word. Write it without spaces or punctuation at its ends."
                )
        self.stimuli = sorted(set().union(*stimuli_of.values()))
        numbers = {stimulus: number for number, stimulus in enumerate(self.stimuli)}
        self.first = np.cumsum([0, *map(len, stimuli_of.values())], dtype=np.int64)
        self.of_form = np.array([numbers[s] for found in stimuli_of.values() for s in found], dtype=np.int64)
        self._forms = list(stimuli_of)

    @cached_property
    def _vocabulary(self) -> Vocabulary:
        from prasanga.sentences.scanning import compile_vocabulary

        return compile_vocabulary(self._forms, self._first_words)

    def scan(self, data: Bytes, starts: Positions, ends: Positions) -> tuple[Sentences, Hits]:
        """Find the forms in many normalized sentences at once (`prasanga.sentences.scanning.scan`)."""
        from prasanga.sentences.scanning import scan

        return scan(data, starts, ends, self._vocabulary, first_word_only=self.position == "sentence-initial")

    def find(self, text: str) -> list[Match]:
        """Every match in a normalized `text`, overlaps included, sorted by start, end and stimulus.

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


def longest(matches: Sequence[Match]) -> list[Match]:
    """Of the matches of one stimulus that begin at the same place, only the longest: মা-কে, and not the মা in it.

    Args:
        matches: in the order of `Matcher.find`, which is also the order of the result.
    """
    best = {(match.stimulus, match.start): match for match in matches}  # later is longer
    return [match for match in matches if best[match.stimulus, match.start] is match]
