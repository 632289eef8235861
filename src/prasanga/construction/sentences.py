"""Proposed sentences on their way through people's hands, and the pairs that are made of those that come back.

IndiBias (Sahoo et al. 2024, section 4.2.2): what a model wrote was verified, filtered and modified by people. The file
of proposals is the sheet: a person writes 1 or 0 into `accepted`, mends the sentence, changes the label of one that
denies the stereotype to antistereo, and may add sentences of their own.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from prasanga.construction.building import Draft
from prasanga.construction.identities import Identities
from prasanga.construction.proposals import ProposedSentence
from prasanga.construction.swapping import sentence_drafts
from prasanga.construction.tables import read_rows
from prasanga.construction.tuples import BiasTuple
from prasanga.errors import InputError
from prasanga.pairs.names import LABELS
from prasanga.spreadsheets import guarded_text

SENTENCE_COLUMNS = ("sentence_id", "tuple_id", "identity", "attribute", "label", "sentence", "accepted")


@dataclass(frozen=True)
class ReviewedSentence:
    """A sentence with the label of the pairs that are made of it."""

    sentence_id: str
    tuple_id: str
    label: str
    sentence: str


def sentences_csv(sentences: Sequence[ProposedSentence], tuples: Sequence[BiasTuple]) -> str:
    """Proposed sentences as the sheet that people fill in (`SENTENCE_COLUMNS`)."""
    by_id = {each.tuple_id: each for each in tuples}
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(SENTENCE_COLUMNS)
    for one in sentences:
        each = by_id[one.tuple_id]
        shown = [guarded_text(text) for text in (each.identity, each.attribute, LABELS[0], one.sentence)]
        writer.writerow([one.sentence_id, one.tuple_id, *shown, ""])
    return text.getvalue()


def read_sentences(path: str | Path, tuples: Sequence[BiasTuple], *, reviewed: bool) -> list[ReviewedSentence]:
    """The accepted sentences of a sheet, in its order; all of them if nobody has reviewed it.

    Args:
        path: the sheet.
        tuples: those that are kept; sentences of other tuples are left out.
        reviewed: whether the sheet came back from a person, and every row says if it is accepted.

    Raises:
        InputError: with file and line: a missing column, an id that stands twice, an unknown label, an `accepted` that
            is not 0 or 1, an empty sentence.
    """
    rows = read_rows(path, what="sentences", may_be_empty=True)
    known = {each.tuple_id for each in tuples}
    places: dict[str, str] = {}
    accepted = []
    for row in rows:
        for column in ("sentence_id", "tuple_id", "label", "sentence", "accepted"):
            if column not in row.cells:
                raise InputError(
                    f"{path}, line 1: no column {column!r}; there are {', '.join(row.cells)}. Restore the header:"
                    f" {','.join(SENTENCE_COLUMNS)}."
                )
        name = row.text("sentence_id")
        if name in places:
            raise InputError(f"{row.place}: the id {name!r} stands in {places[name]} already. Give each row its own.")
        places[name] = row.place
        taken = not reviewed or row.one_of("accepted", ("0", "1")) == "1"
        label = row.one_of("label", LABELS)
        if taken and row.text("tuple_id") in known:
            accepted.append(ReviewedSentence(name, row.text("tuple_id"), label, row.text("sentence")))
    return accepted


def drafts_of_sentences(
    sentences: Sequence[ReviewedSentence],
    tuples: Sequence[BiasTuple],
    identities: Identities,
    *,
    note: str,
    counterparts: int = 1,
) -> list[Draft]:
    """Drafts of pairs from sentences about the identity of their tuple (`prasanga.construction.swapping`)."""
    by_id = {each.tuple_id: each for each in tuples}
    return [
        draft
        for one in sentences
        for draft in sentence_drafts(
            one.sentence_id,
            one.sentence,
            one.label,
            by_id[one.tuple_id],
            identities,
            note=note,
            counterparts=counterparts,
        )
    ]


def where_from(proposer: str | None, *, reviewed: bool) -> str:
    """What the column `note` of a pair says of its sentences."""
    if reviewed:
        return "reviewed by a person"
    return f"proposed by {proposer}, not reviewed by a person"
