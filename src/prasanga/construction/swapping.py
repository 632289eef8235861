"""A sentence about one identity turned into the same about another (IndiBias 4.2.2: S2 is S1 with minimal edits).

The term is replaced by its counterpart in the same form, an English article before it follows. Where the two differ in
gender, English pronouns follow too if they say which; what cannot be known without grammar is left to a person.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from prasanga.construction.building import OTHER_GENDER, Draft
from prasanga.construction.distance import check_distance, find_terms
from prasanga.construction.identities import Identities, Term
from prasanga.construction.proposals import spellings_of
from prasanga.construction.tuples import BiasTuple
from prasanga.lexicon.inflection import capitalize
from prasanga.lexicon.slots import with_article
from prasanga.pairs.alignment import Span

NO_IDENTITY, AMBIGUOUS, BOTH_THERE = "no-identity", "ambiguous-form", "counterpart-there"
_PRONOUNS = {
    "feminine": {"he": "she", "him": "her", "his": "her", "himself": "herself"},
    "masculine": {"she": "he", "hers": "his", "herself": "himself"},
}
_UNCLEAR = re.compile(r"\b(?:he|she|him|his|her|hers|himself|herself)\b", re.IGNORECASE)
_ARTICLE = re.compile(r"\b(an?)\s+$", re.IGNORECASE)


@dataclass(frozen=True)
class Swapped:
    """Two sentences, where the terms stand in each, and why they are no pair; "" if nothing speaks against it."""

    first: str
    second: str
    identity: tuple[list[Span], list[Span]]
    refused: str = ""


def swap(sentence: str, term: Term, other: Term, language: str) -> Swapped:
    """Put `other` in the place of `term` wherever it stands in `sentence`.

    Returns:
        `refused` is `no-identity` (the sentence does not have the term), `counterpart-there` (it speaks of both),
        `ambiguous-form` (a spelling that stands for two forms, which the other term tells apart) or `other-gender`
        (words would have to agree in a way that is not known here).
    """
    places = find_terms(sentence, spellings_of(term))
    if not places:
        return Swapped(sentence, sentence, ([], []), NO_IDENTITY)
    if find_terms(sentence, [one for one in spellings_of(other) if one not in spellings_of(term)]):
        return Swapped(sentence, sentence, (places, places), BOTH_THERE)
    second, moved, position = "", [], 0
    for start, end in places:
        forms = _replacements(sentence[start:end], term, other)
        if len(forms) > 1:
            return Swapped(sentence, sentence, (places, places), AMBIGUOUS)
        word = capitalize(forms[0]) if sentence[start].isupper() else forms[0]
        second += sentence[position:start]
        article = _ARTICLE.search(second) if language == "en" else None
        if article:
            right = with_article(word).split(" ", 1)[0]
            second = second[: article.start()] + (right.capitalize() if article[1][0] == "A" else right) + " "
        moved.append((len(second), len(second) + len(word)))
        second += word
        position = end
    second += sentence[position:]
    if term.gender != other.gender and language != "bn":
        followed = _follow(second, moved, other.gender) if language == "en" else None
        if followed is None:
            return Swapped(sentence, second, (places, moved), OTHER_GENDER)
        second, moved = followed
    return Swapped(sentence, second, (places, moved))


def sentence_drafts(
    sentence_id: str,
    sentence: str,
    label: str,
    each: BiasTuple,
    identities: Identities,
    *,
    note: str,
    counterparts: int = 1,
) -> list[Draft]:
    """A draft for each of the first `counterparts` counterparts of the tuple's identity.

    Raises:
        InputError: an identity or counterpart that is no term.
    """
    term = identities.find(each.bias_type, each.identity, each.place)
    drafts = []
    for other in identities.counterparts_of(each, term)[:counterparts]:
        swapped = swap(sentence, term, other, each.language)
        distance = check_distance(swapped.first, swapped.second, language=each.language, identity=swapped.identity)
        name = f"{sentence_id}-{other.term_id}"
        texts = (swapped.first, swapped.second)
        drafts.append(Draft(name, each, term.bias_type, label, *texts, distance, note, swapped.refused))
    return drafts


def _replacements(spelling: str, term: Term, other: Term) -> list[str]:
    """What `other` has for each form that a spelling may stand for, each once."""
    found = []
    for form, spellings in term.forms.items():
        folded = [one.casefold() for one in spellings]
        if spelling.casefold() in folded:
            place = folded.index(spelling.casefold())
            options = other.forms[form]
            found.append(options[place] if place < len(options) else options[0])
    return list(dict.fromkeys(found))


def _follow(text: str, spans: Sequence[Span], gender: str) -> tuple[str, list[Span]] | None:
    """The text with its pronouns in another gender, and the spans moved; None if one of them could mean either."""
    known = _PRONOUNS.get(gender, {})
    moved = list(spans)
    for match in reversed(list(_UNCLEAR.finditer(text))):
        if any(start <= match.start() < end for start, end in spans):
            continue
        new = known.get(match[0].lower())
        if new is None:
            return None
        new = new.capitalize() if match[0][0].isupper() else new
        text = text[: match.start()] + new + text[match.end() :]
        shift = len(new) - len(match[0])
        moved = [(s + shift, e + shift) if s > match.start() else (s, e) for s, e in moved]
    return text, moved
