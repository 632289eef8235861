"""Pairs from tuples: a sentence about the identity of a tuple, and the same about its counterpart (IndiBias 4.2.2).

The first sentence has the tuple's own identity, the second a term that takes its place; `stereo` says that the first
sentence claims the attribute, `antistereo` that it denies it. What is not minimally distant is left out and listed.

Sentences come from templates, or from a model and people: the file of proposals is the sheet on which a person writes 1
or 0 into `accepted`, mends the sentence, changes the label of one that denies the stereotype to antistereo, and may add
sentences of their own. In such a sentence the counterpart takes the term's place in the same form, an English article
before it follows. Where the two differ in gender, English pronouns follow too if they say which; what cannot be known
without grammar is left to a person.
"""

from __future__ import annotations

import logging
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import polars as pl

from prasanga.base.errors import InputError
from prasanga.base.io import guarded_text
from prasanga.lexicon.inflection import capitalize
from prasanga.lexicon.templates import with_article
from prasanga.pairs.alignment import Span
from prasanga.pairs.preferences import LABELS
from prasanga_construction.distance import Distance, check_distance, find_terms
from prasanga_construction.sheets import csv_text, read_rows, require_once
from prasanga_construction.templates import Identities, PairTemplates, Term, fill
from prasanga_construction.tuples import BiasTuple

_LOG = logging.getLogger(__name__)
SENTENCE_COLUMNS = ("sentence_id", "tuple_id", "identity", "attribute", "label", "sentence", "accepted")
PAIR_COLUMNS = (
    *("pair_id", "language", "bias_type", "label", "first", "second"),
    *("origin", "modified", "agreeing", "note"),
)
LEFT_OUT_COLUMNS = ("pair_id", "tuple_id", "reason", "words", "first", "second")
_PRONOUNS = {
    "feminine": {"he": "she", "him": "her", "his": "her", "himself": "herself"},
    "masculine": {"she": "he", "hers": "his", "herself": "himself"},
}
_UNCLEAR = re.compile(r"\b(?:he|she|him|his|her|hers|himself|herself)\b", re.IGNORECASE)
_ARTICLE = re.compile(r"\b(an?)\s+$", re.IGNORECASE)


class Sentence(NamedTuple):
    """A sentence about the identity of a tuple, with the label of the pairs that are made of it."""

    sentence_id: str
    tuple_id: str
    sentence: str
    label: str = LABELS[0]


@dataclass(frozen=True)
class Draft:
    """A pair before its distance is known.

    Attributes:
        pair_id: from tuple, template and counterpart.
        each: the tuple that it is made from.
        bias_type: of the identity terms.
        label: `stereo` or `antistereo`.
        first: a sentence.
        second: the other.
        distance: what they differ in.
        note: where it comes from.
        refused: why it cannot be a pair, whatever its distance; "" if nothing speaks against it.
    """

    pair_id: str
    each: BiasTuple
    bias_type: str
    label: str
    first: str
    second: str
    distance: Distance
    note: str = ""
    refused: str = ""

    @property
    def reason(self) -> str:
        """Return why it is left out; "" if it is not."""
        if self.refused:
            return self.refused
        if not any(self.distance.modified):
            return "identical"
        return "" if self.distance.is_minimal else "not-minimal"


class Built(NamedTuple):
    """Pairs in our own layout (`PAIR_COLUMNS`), and omissions with reasons (`LEFT_OUT_COLUMNS`)."""

    pairs: pl.DataFrame
    left_out: pl.DataFrame


class Swapped(NamedTuple):
    """Two sentences, the places of the terms in each, and why they are not a pair; "" if they are one."""

    first: str
    second: str
    identity: tuple[list[Span], list[Span]]
    refused: str = ""


def template_drafts(tuples: Iterable[BiasTuple], identities: Identities, templates: PairTemplates) -> list[Draft]:
    """Make a draft for each tuple and template of its class and axis, with its counterpart.

    Raises:
        InputError: an unknown identity or counterpart, a class of attribute without a
            template for the axis, a template that a term lacks a form for.
    """
    drafts = []
    for each in tuples:
        term = identities.find(each.bias_type, each.identity, each.place)
        fitting = [
            template
            for template in templates.classes.get(each.word_class, ())
            if not template.axes or term.axis in template.axes
        ]
        if not fitting:
            raise InputError(
                f"{each.place}: {templates.path} lacks a template for an attribute of the class {each.word_class!r}"
                f" and the axis {term.axis!r}. Add one, or give the tuple another word_class."
            )
        other = identities.counterpart_of(each, term)
        for template in fitting:
            one, two = fill(template, term, each), fill(template, other, each)
            spans = {"identity": (one.identity, two.identity), "agreeing": (one.agreeing, two.agreeing)}
            distance = check_distance(one.text, two.text, language=each.language, **spans)
            name = f"{each.tuple_id}-{template.template_id}-{other.term_id}"
            drafts.append(Draft(name, each, term.bias_type, template.label, one.text, two.text, distance))
    return drafts


def sentence_drafts(
    sentences: Iterable[Sentence], tuples: Sequence[BiasTuple], identities: Identities, *, note: str
) -> list[Draft]:
    """Make a draft of each sentence about the identity of its tuple, with the first counterpart in its place.

    Raises:
        InputError: an unknown identity or counterpart.
    """
    by_id = {each.tuple_id: each for each in tuples}
    drafts = []
    for one in sentences:
        each = by_id[one.tuple_id]
        term = identities.find(each.bias_type, each.identity, each.place)
        other = identities.counterpart_of(each, term)
        swapped = swap(one.sentence, term, other, each.language)
        distance = check_distance(swapped.first, swapped.second, language=each.language, identity=swapped.identity)
        name, texts = f"{one.sentence_id}-{other.term_id}", (swapped.first, swapped.second)
        drafts.append(Draft(name, each, term.bias_type, one.label, *texts, distance, note, swapped.refused))
    return drafts


def build_pairs(drafts: Sequence[Draft]) -> Built:
    """Make pairs of the drafts that are minimally distant, and list the others.

    Drafts of the same two sentences in one language are one pair, the first; the others are left out as `duplicate`.
    """
    pairs, left_out = [], []
    seen: dict[tuple[str, str, str], str] = {}
    for draft in drafts:
        reason, words = draft.reason, " / ".join(" | ".join(side) for side in draft.distance.strangers).strip(" /")
        sentences = (draft.each.language, draft.first, draft.second)
        if not reason and sentences in seen:
            reason, words = "duplicate", seen[sentences]
        if reason:
            left_out.append((draft.pair_id, draft.each.tuple_id, reason, words, draft.first, draft.second))
            continue
        seen[sentences] = draft.pair_id
        marks = (draft.distance.modified_mark, draft.distance.agreeing_mark)
        cells = (draft.pair_id, draft.each.language, draft.bias_type, draft.label, draft.first, draft.second)
        pairs.append((*cells, "tuples", *marks, draft.note))
    _LOG.info("%d pairs of %d drafts; left out: %s", len(pairs), len(drafts), dict(Counter(row[2] for row in left_out)))
    return Built(
        pl.DataFrame(pairs, schema=dict.fromkeys(PAIR_COLUMNS, pl.String), orient="row"),
        pl.DataFrame(left_out, schema=dict.fromkeys(LEFT_OUT_COLUMNS, pl.String), orient="row"),
    )


def sentences_csv(sentences: Sequence[Sentence], tuples: Sequence[BiasTuple]) -> str:
    """Return proposed sentences as the sheet that people fill in (`SENTENCE_COLUMNS`)."""
    by_id = {each.tuple_id: each for each in tuples}
    rows = []
    for one in sentences:
        each = by_id[one.tuple_id]
        shown = (each.identity, each.attribute, one.label, one.sentence)
        rows.append([one.sentence_id, one.tuple_id, *map(guarded_text, shown), ""])
    return csv_text(SENTENCE_COLUMNS, rows)


def read_sentences(path: str | Path, tuples: Sequence[BiasTuple], *, reviewed: bool) -> list[Sentence]:
    """Read the accepted sentences of a sheet, in its order; all of them if nobody has reviewed it.

    Args:
        path: the sheet.
        tuples: those that are kept; sentences of other tuples are left out.
        reviewed: whether the sheet came back from a person, and every row says if it is accepted.

    Raises:
        InputError: with file and line: a missing column, a repeated id, an unknown label, an `accepted` other than 0 or
            1, an empty sentence.
    """
    rows = read_rows(path, ["sentence_id", "tuple_id", "label", "sentence", "accepted"])
    require_once((row.text("sentence_id"), row.place) for row in rows)
    known = {each.tuple_id for each in tuples}
    accepted = []
    for row in rows:
        taken = not reviewed or row.one_of("accepted", ("0", "1")) == "1"
        label = row.one_of("label", LABELS)
        if taken and row.text("tuple_id") in known:
            accepted.append(Sentence(row.cells["sentence_id"], row.text("tuple_id"), row.text("sentence"), label))
    return accepted


def swap(sentence: str, term: Term, other: Term, language: str) -> Swapped:
    """Replace `term` by `other` everywhere in `sentence`.

    Returns:
        `refused` is `no-identity` (the sentence does not have the term), `counterpart-there` (it speaks of both),
        `ambiguous-form` (a spelling of two forms that differ in the other term) or `other-gender` (words would have to
        agree in an unknown way).
    """
    places = find_terms(sentence, term.spellings)
    if not places:
        return Swapped(sentence, sentence, ([], []), "no-identity")
    if find_terms(sentence, [one for one in other.spellings if one not in term.spellings]):
        return Swapped(sentence, sentence, (places, places), "counterpart-there")
    second, moved, position = "", [], 0
    for start, end in places:
        forms = _replacements(sentence[start:end], term, other)
        if len(forms) > 1:
            return Swapped(sentence, sentence, (places, places), "ambiguous-form")
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
            return Swapped(sentence, second, (places, moved), "other-gender")
        second, moved = followed
    return Swapped(sentence, second, (places, moved))


def _replacements(spelling: str, term: Term, other: Term) -> list[str]:
    """Return what `other` has for each form that a spelling may stand for, each once."""
    found = []
    for form, spellings in term.forms.items():
        folded = [one.casefold() for one in spellings]
        if spelling.casefold() in folded:
            place = folded.index(spelling.casefold())
            options = other.forms[form]
            found.append(options[place] if place < len(options) else options[0])
    return list(dict.fromkeys(found))


def _follow(text: str, spans: Sequence[Span], gender: str) -> tuple[str, list[Span]] | None:
    """Return the text with its pronouns in another gender, and the spans moved; None if one could mean either."""
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
