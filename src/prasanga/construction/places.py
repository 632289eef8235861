"""Where the two sentences of a pair differ: stretches of words, which say whether more than one thing was changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from prasanga.construction.distance import agree
from prasanga.pairs.alignment import Span, align_spans
from prasanga.pairs.marks import write_mark
from prasanga.pairs.words import comparable

_NEGATIONS = {
    "en": frozenset(("not", "never", "no", "cannot", "without")),
    "hi": frozenset(("नहीं", "न", "ना", "मत", "बिना", "कभी")),
    "bn": frozenset(("না", "নয়", "নেই", "নি", "নন", "নও", "নই", "ছাড়া")),
}


@dataclass(frozen=True)
class Place:
    """Modified words of both sentences that stand opposite each other; one side may have none."""

    first: tuple[str, ...]
    second: tuple[str, ...]

    @property
    def mark(self) -> str:
        """The words as a mark of our own layout."""
        return write_mark(list(self.first), list(self.second))

    def agrees(self, language: str) -> bool:
        """Whether every word is a form of the one that stands opposite (he / she, चाहता / चाहती)."""
        return len(self.first) == len(self.second) and all(
            agree(a, b, language) for a, b in zip(self.first, self.second, strict=True)
        )

    def negates(self, language: str) -> bool:
        """Whether one side says no and the other does not."""
        return _negates(self.first, language) != _negates(self.second, language)

    def like(self, other: Place) -> bool:
        """Whether the same words, or forms of them, are exchanged at another place."""
        return all(
            len(mine) == len(its) and all(begin_alike(a, b) for a, b in zip(mine, its, strict=True))
            for mine, its in ((self.first, other.first), (self.second, other.second))
        )


def find_places(first: str, second: str, language: str) -> list[Place]:
    """The places where two sentences of `language` differ, in order."""
    spans = align_spans(first, second)
    sides = (
        (first, spans.unmodified_first, spans.modified_first),
        (second, spans.unmodified_second, spans.modified_second),
    )
    found: dict[int, tuple[list[str], list[str]]] = {}
    for side, (text, unmodified, modified) in enumerate(sides):
        for start, end in modified:
            found.setdefault(_before(unmodified, start), ([], []))[side].append(text[start:end])
    return [part for place in sorted(found) for part in _parts(*found[place], language)]


def _parts(first: list[str], second: list[str], language: str) -> list[Place]:
    """A stretch, with words that are forms of the one opposite taken as places of their own.

    Identity term and verb often stand side by side (महिला करती); the verb is no part of the term.
    """
    shorter = min(len(first), len(second))
    begin = next((i for i in range(shorter) if not _forms(first[i], second[i], language)), shorter)
    end = next(
        (i for i in range(shorter - begin) if not _forms(first[-1 - i], second[-1 - i], language)), shorter - begin
    )
    inner = [(first[begin : len(first) - end], second[begin : len(second) - end])]
    if len(first) == len(second):
        inner = [([], [])]
        for one, other in zip(first[begin : len(first) - end], second[begin : len(second) - end], strict=True):
            if _forms(one, other, language):
                inner += [([one], [other]), ([], [])]
            else:
                inner[-1][0].append(one)
                inner[-1][1].append(other)
    outer = [[([first[i]], [second[i]]) for i in places] for places in (range(begin), range(-end, 0))]
    return [Place(tuple(a), tuple(b)) for a, b in (*outer[0], *inner, *outer[1]) if a or b]


def _forms(word: str, other: str, language: str) -> bool:
    return begin_alike(word, other) or agree(word, other, language)


def changes(places: Sequence[Place], language: str) -> list[Place]:
    """What was changed: places that do more than agree, each exchange of the same words once.

    One change is what minimal distance allows (IndiBias 4.2.1). Where nothing but pronouns differs there is none, and
    the pronouns themselves are the change.
    """
    different: list[Place] = []
    for place in places:
        if not place.agrees(language) and not any(place.like(other) for other in different):
            different.append(place)
    return different


def begin_alike(word: str, other: str) -> bool:
    """Whether two words are the same, or begin alike for half of the shorter one and two letters at least."""
    word, other = comparable(word), comparable(other)
    shorter = min(len(word), len(other))
    begin = next((i for i in range(shorter) if word[i] != other[i]), shorter)
    return word == other or (begin >= 2 and 2 * begin >= shorter)


def _negates(words: Sequence[str], language: str) -> bool:
    told = [comparable(word) for word in words]
    return any(word in _NEGATIONS[language] or word.endswith("n't") for word in told)


def _before(unmodified: Sequence[Span], start: int) -> int:
    return sum(begin < start for begin, _ in unmodified)
