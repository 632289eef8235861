r"""Finding stimuli in text: whole words only, every occurrence, positions kept.

A word is what `prasanga.text.WORD` says: a maximal run of letters, marks, digits and joiners. Python's `\b` falls
inside Bangla words, because it takes vowel signs for punctuation, and would find গান (song) in বাগান (garden). So the text
is cut into its words once, and each word is looked up in a dictionary; forms of several words (a space, a hyphen) are
indexed by their first word and compared as a whole. The time does not depend on the number of stimuli.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple, Protocol

from prasanga.errors import InputError
from prasanga.text import fold, words

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


class _Form(NamedTuple):
    folded: str
    n_words: int
    stimuli: tuple[str, ...]


class Matcher:
    """Finds the surface forms of a lexicon in normalized text.

    Args:
        lexicon: whose `claims()` say which form belongs to which stimuli.
        position: `anywhere`, or `sentence-initial`: only where the text begins with the form (punctuation aside), so
            the texts must then be sentences.

    Raises:
        InputError: if a form does not begin and end with a letter or digit, and so could never be found.
    """

    def __init__(self, lexicon: HasClaims, position: Position = "anywhere") -> None:
        self.position = position
        stimuli_of: defaultdict[str, set[str]] = defaultdict(set)
        for form, stimuli in lexicon.claims().items():
            stimuli_of[fold(form)].update(stimuli)
        self._of_one_word: dict[str, tuple[str, ...]] = {}
        self._of_several: defaultdict[str, list[_Form]] = defaultdict(list)
        for folded, found in stimuli_of.items():
            parts = words(folded)
            if not parts or parts[0][1] != 0 or parts[-1][2] != len(folded):
                raise InputError(
                    f"The form {folded!r} of the stimulus {' and '.join(sorted(found))!r} does not begin and end with a"
                    " letter or digit, and so is no whole word. Write it without spaces or punctuation at its ends."
                )
            if len(parts) == 1:
                self._of_one_word[folded] = tuple(sorted(found))
            else:
                self._of_several[parts[0][0]].append(_Form(_compared(folded), len(parts), tuple(sorted(found))))

    def find(self, text: str) -> list[Match]:
        """Every match in a normalized `text`, overlaps included, sorted by start, end and stimulus.

        Both মা-কে and the word মা in it are found where both are forms; `longest` leaves the longer one.
        """
        # A run of nothing but joiners is a word by the rule, but says nothing; no form contains one.
        found = [(folded, start, end) for word, start, end in words(text) if (folded := fold(word))]
        matches: list[Match] = []
        for i, (word, start, end) in enumerate(found[:1] if self.position == "sentence-initial" else found):
            for stimulus in self._of_one_word.get(word, ()):
                matches.append(Match(stimulus, text[start:end], start, end))
            for form in self._of_several.get(word, ()):
                last = i + form.n_words - 1
                if last < len(found) and _compared(text[start : found[last][2]]) == form.folded:
                    end_of_last = found[last][2]
                    matches += [Match(s, text[start:end_of_last], start, end_of_last) for s in form.stimuli]
        return sorted(matches, key=lambda match: (match.start, match.end, match.stimulus))


def _compared(text: str) -> str:
    """Text of several words as it is compared: folded, and with the hyphen that NFKC leaves (U+2010) as a hyphen."""
    return fold(text).replace("\u2010", "-")


def longest(matches: Sequence[Match]) -> list[Match]:
    """Of the matches of one stimulus that begin at the same place, only the longest: মা-কে, and not the মা in it.

    Args:
        matches: in the order of `Matcher.find`, which is also the order of the result.
    """
    best = {(match.stimulus, match.start): match for match in matches}  # later is longer
    return [match for match in matches if best[match.stimulus, match.start] is match]
