"""Minimal distance, word by word: two sentences may differ in the identity terms, and in words that agree with them.

IndiBias (Sahoo et al. 2024, section 4.2.1): two sentences are minimally distant if they differ in nothing but the
target group and related pronouns. Hindi verbs and adjectives follow the gender of the group, English articles its first
sound; such words are allowed for, and told apart from the terms themselves.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from prasanga.pairs.alignment import Span, align_spans
from prasanga.pairs.marks import write_mark
from prasanga.pairs.words import comparable
from prasanga.text.words import WORD

# Words that stand for one another. English pronouns: of one person or of several, by case.
_LISTED = {
    "en": (
        {"a", "an"},
        {"he", "she", "they"},
        {"him", "her", "them"},
        {"his", "her", "their"},
        {"his", "hers", "theirs"},
        {"himself", "herself", "themselves", "themself"},
    ),
    "hi": (),
    "bn": ({"সুন্দর", "সুন্দরী"}, {"মহান", "মহীয়সী"}),
}
# Endings that stand for one another after the same stem. Hindi: gender and number of adjectives, participles and verbs,
# after a consonant, after a vowel (गया, गई, गए; हुआ, हुई), the latter with or without य.
_ENDINGS = {
    "en": (),
    "hi": (r"(?<=[\u0915-\u0939\u093c])(?:ा|े|ी|ीं)", r"(?:या|ये|यी|यीं|आ|ए|ई|ईं)"),
    "bn": (r"(?:মান|মতী)", r"(?:বান|বতী)"),
}


@dataclass(frozen=True)
class Distance:
    """What two sentences differ in: words of the first and of the second.

    Attributes:
        identity: words of the identity terms.
        agreeing: words that agree with them.
        strangers: all others; a pair that has some is not minimally distant.
        modified: all of them, in the order of the sentences.
    """

    identity: tuple[list[str], list[str]]
    agreeing: tuple[list[str], list[str]]
    strangers: tuple[list[str], list[str]]
    modified: tuple[list[str], list[str]]

    @property
    def is_minimal(self) -> bool:
        """Whether the sentences differ in the identity terms, and besides in nothing but what agrees with them."""
        return any(self.identity) and not any(self.strangers)

    @property
    def modified_mark(self) -> str:
        """All words that differ, as the column `modified` of a file of pairs has them."""
        return write_mark(*self.modified)

    @property
    def agreeing_mark(self) -> str:
        """Those that agree, as the column `agreeing` has them; empty where there are none."""
        return write_mark(*self.agreeing) if any(self.agreeing) else ""


def check_distance(
    first: str,
    second: str,
    *,
    language: str,
    identity: tuple[Sequence[Span], Sequence[Span]],
    agreeing: tuple[Sequence[Span], Sequence[Span]] = ((), ()),
) -> Distance:
    """Sort the modified words of a pair into identity, agreeing words and strangers.

    Args:
        first: a sentence.
        second: the other.
        language: of both; says which words and endings agree.
        identity: where the identity terms stand in each; a word that reaches into one belongs to it.
        agreeing: where words stand that are known to agree (the slots of a template for them). Of the other words,
            those of the two sentences that differ, in order, must be forms of one word by `agree`.
    """
    spans = align_spans(first, second)
    kinds: list[dict[str, list[str]]] = []
    for text, modified, terms, known in zip(
        (first, second), (spans.modified_first, spans.modified_second), identity, agreeing, strict=True
    ):
        sorted_: dict[str, list[str]] = {"identity": [], "known": [], "rest": [], "all": []}
        for start, end in modified:
            kind = "identity" if _reaches(start, end, terms) else "known" if _reaches(start, end, known) else "rest"
            sorted_[kind].append(text[start:end])
            sorted_["all"].append(text[start:end])
        kinds.append(sorted_)
    one, other = kinds
    agree_all = len(one["rest"]) == len(other["rest"]) and all(
        agree(a, b, language) for a, b in zip(one["rest"], other["rest"], strict=True)
    )
    rest = (one["rest"], other["rest"])
    known_words = (one["known"], other["known"])
    return Distance(
        identity=(one["identity"], other["identity"]),
        agreeing=(one["known"] + rest[0], other["known"] + rest[1]) if agree_all else known_words,
        strangers=([], []) if agree_all else rest,
        modified=(one["all"], other["all"]),
    )


def agree(first: str, second: str, language: str) -> bool:
    """Whether two words are forms of one word, for another gender (or, of articles, before another sound).

    Known by lists and endings, not by a dictionary: Hindi nouns that differ in the same way (लड़का, लड़की) pass as well.
    They are identity terms, and no identity term needs to agree.
    """
    a, b = comparable(first), comparable(second)
    if any(a in words and b in words for words in _LISTED[language]):
        return True
    for endings in _ENDINGS[language]:
        ending = re.compile(f"{endings}$")
        if ending.search(a) and ending.search(b) and ending.sub("", a) == ending.sub("", b) != "":
            return True
    return False


def find_terms(text: str, terms: Sequence[str]) -> list[Span]:
    """Where one of `terms` stands in a text as whole words, whatever its case; of several at one place the longest."""
    found: list[Span] = []
    for term in sorted(set(terms), key=lambda term: (-len(term), term)):
        for match in re.finditer(re.escape(term), text, re.IGNORECASE):
            start, end = match.span()
            if not _inside_word(text, start, end) and not _reaches(start, end, found):
                found.append((start, end))
    return sorted(found)


def _inside_word(text: str, start: int, end: int) -> bool:
    return any(WORD.match(one) for one in (text[:start][-1:], text[end : end + 1]) if one)


def _reaches(start: int, end: int, spans: Sequence[Span]) -> bool:
    return any(start < stop and begin < end for begin, stop in spans)
