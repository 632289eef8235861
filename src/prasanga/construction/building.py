"""Pairs from tuples: a sentence about the identity of a tuple, and the same about its counterpart (IndiBias 4.2.2).

The first sentence has the tuple's own identity, the second a term that takes its place; `stereo` says that the first
sentence claims the attribute, `antistereo` that it denies it. What is not minimally distant is left out and listed.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import polars as pl

from prasanga.construction.distance import Distance, check_distance
from prasanga.construction.identities import Identities
from prasanga.construction.templates import Templates, fill
from prasanga.construction.tuples import BiasTuple
from prasanga.errors import InputError

_LOG = logging.getLogger(__name__)
ORIGIN = "tuples"
PAIR_COLUMNS = (
    "pair_id",
    "language",
    "bias_type",
    "label",
    "first",
    "second",
    "origin",
    "modified",
    "agreeing",
    "note",
)
LEFT_OUT_COLUMNS = ("pair_id", "tuple_id", "reason", "words", "first", "second")
IDENTICAL, NOT_MINIMAL, OTHER_GENDER = "identical", "not-minimal", "other-gender"


@dataclass(frozen=True)
class Built:
    """Pairs in our own layout (`PAIR_COLUMNS`), and what was left out and why (`LEFT_OUT_COLUMNS`)."""

    pairs: pl.DataFrame
    left_out: pl.DataFrame


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
        """Why it is left out; "" if it is not."""
        if self.refused:
            return self.refused
        if not any(self.distance.modified):
            return IDENTICAL
        return "" if self.distance.is_minimal else NOT_MINIMAL


def template_drafts(
    tuples: Iterable[BiasTuple], identities: Identities, templates: Templates, *, counterparts: int = 1
) -> list[Draft]:
    """A draft for each tuple, each template of its class and axis, and each of its first `counterparts` counterparts.

    Raises:
        InputError: another language, an identity or counterpart that is no term, a class of attribute without a
            template for the axis, a template that a term lacks a form for.
    """
    drafts = []
    for each in tuples:
        _require_language(each, identities, templates)
        term = identities.find(each.bias_type, each.identity, each.place)
        fitting = [
            template
            for template in templates.classes.get(each.word_class, ())
            if not template.axes or term.axis in template.axes
        ]
        if not fitting:
            raise InputError(
                f"{each.place}: {templates.path} has no template for an attribute of the class {each.word_class!r}"
                f" and the axis {term.axis!r}. Add one, or give the tuple another word_class."
            )
        for other in identities.counterparts_of(each, term)[:counterparts]:
            for template in fitting:
                one, two = fill(template, term, each), fill(template, other, each)
                distance = check_distance(
                    one.text,
                    two.text,
                    language=each.language,
                    identity=(one.identity, two.identity),
                    agreeing=(one.agreeing, two.agreeing),
                )
                name = f"{each.tuple_id}-{template.template_id}-{other.term_id}"
                drafts.append(Draft(name, each, term.bias_type, template.label, one.text, two.text, distance))
    return drafts


def build_pairs(drafts: Sequence[Draft]) -> Built:
    """The drafts that are minimally distant, and the others.

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
        pairs.append((*cells, ORIGIN, *marks, draft.note))
    _LOG.info("%d pairs of %d drafts; left out: %s", len(pairs), len(drafts), dict(Counter(row[2] for row in left_out)))
    return Built(
        pl.DataFrame(pairs, schema=dict.fromkeys(PAIR_COLUMNS, pl.String), orient="row"),
        pl.DataFrame(left_out, schema=dict.fromkeys(LEFT_OUT_COLUMNS, pl.String), orient="row"),
    )


def _require_language(each: BiasTuple, identities: Identities, templates: Templates) -> None:
    for path, language in ((identities.path, identities.language), (templates.path, templates.language)):
        if language != each.language:
            raise InputError(
                f"{each.place}: the tuple is in {each.language!r}, but {path} is in {language!r}. Name files of the"
                " same language under `construction`."
            )
