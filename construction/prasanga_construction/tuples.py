"""Tuples (identity, attribute): who is said to be how, as annotators judged it (IndiBias, section 4.1).

A file of tuples is a CSV with a row for each tuple:

    tuple_id       any text, once in the file; made from the row's number where the column is missing
    language       bn, hi, en; may be missing if the reader is told
    bias_type      religion, caste, gender, ... (`axis`, and the authors' `category`, are the same)
    identity       the identity term
    attribute      what is said of it
    polarity       positive or negative, the attribute's own connotation
    word_class     adjective (where the column is missing), quality (a noun for it: courage), person (a noun for people)
    counterpart    the identity term of the second sentence; by default what the identity terms say
    vote:<name>    1 if the annotator called the tuple a stereotype, else 0; a column for each (or `annotator-<name>`)
    score          in place of these: how many annotators did; `annotators` says of how many, if not the reader

Other columns are kept, unread.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from prasanga.base.errors import InputError
from prasanga.pairs.layouts import canonical
from prasanga.pairs.preferences import LANGUAGES
from prasanga_construction.sheets import Row, csv_text, read_rows, require_columns

POLARITIES = ("positive", "negative")
WORD_CLASSES = ("adjective", "quality", "person")
VOTE = "vote:"
_OWN_COLUMN = "annotator-"
_SAME = {"category": "bias_type", "axis": "bias_type", "votes": "score"}


@dataclass(frozen=True)
class BiasTuple:
    """An identity term and what is said of it.

    Attributes:
        tuple_id: its name.
        language: bn, hi, en.
        bias_type: lower case, with hyphens: `physical-appearance`.
        identity: the identity term as written.
        attribute: the attribute as written.
        polarity: `positive` or `negative`.
        word_class: of the attribute: `adjective`, `quality`, `person`.
        counterpart: identity term of the second sentence; "" if the identity terms decide.
        score: how many annotators called it a stereotype; None without annotation.
        annotators: how many were asked; 0 without annotation.
        votes: {annotator: 0 or 1}, where they are known one by one.
        place: file and line, for messages.
    """

    tuple_id: str
    language: str
    bias_type: str
    identity: str
    attribute: str
    polarity: str
    word_class: str = "adjective"
    counterpart: str = ""
    score: int | None = None
    annotators: int = 0
    votes: Mapping[str, int] = field(default_factory=dict)
    place: str = field(default="", compare=False)


def read_tuples(path: str | Path, language: str | None = None, *, annotators: int | None = None) -> list[BiasTuple]:
    """Read a file of tuples, in its order.

    Args:
        path: the CSV file.
        language: of tuples without a language of their own.
        annotators: how many were asked, for a file that has scores and does not say.

    Raises:
        InputError: with file and line, the value and what is allowed: a missing column, no rows, an unknown language,
            polarity or class of word, an empty identity or attribute, one that does not begin with a letter, an id that
            stands twice, the same tuple twice, a vote that is not 0 or 1, a score above the number of annotators.
    """
    rows = [_renamed(row) for row in read_rows(path, what="tuples")]
    needed = ("bias_type", "identity", "attribute", "polarity")
    require_columns(path, rows, needed, "Add it; docs/pairs.md has the layout.")
    tuples = [_read(row, number, language, annotators) for number, row in enumerate(rows, start=1)]
    _refuse_repeated(tuples)
    return tuples


def kept_tuples(tuples: Iterable[BiasTuple], votes: int) -> list[BiasTuple]:
    """Return the tuples that at least `votes` annotators called a stereotype, in order (IndiBias 4.1: two of three).

    Raises:
        InputError: a tuple without annotation; none that is kept.
    """
    kept = []
    for each in tuples:
        if each.score is None:
            raise InputError(
                f"{each.place}: the tuple {each.tuple_id!r} has neither votes nor a score. Have it annotated"
                f" (`snakemake write_annotation_sheets`), or add columns {VOTE}<name> with 0 or 1, or `score`."
            )
        if each.score >= votes:
            kept.append(each)
    if not kept:
        raise InputError(
            f"no tuple was called a stereotype by {votes} annotators or more. Write a smaller `construction.votes`, or"
            " have more tuples annotated."
        )
    return kept


def tuples_csv(tuples: Sequence[BiasTuple]) -> str:
    """Return tuples in the layout that `read_tuples` reads, with a column for each annotator."""
    names = list(dict.fromkeys(name for each in tuples for name in each.votes))
    scored = any(each.score is not None for each in tuples)
    columns = ["tuple_id", "language", "bias_type", "identity", "attribute", "polarity", "word_class", "counterpart"]
    rows = []
    for each in tuples:
        counted = ["" if each.score is None else each.score, each.annotators] if scored else []
        rows.append([getattr(each, key) for key in columns] + [each.votes.get(name, "") for name in names] + counted)
    return csv_text([*columns, *map(_column_of, names), *(["score", "annotators"] if scored else [])], rows)


def _column_of(annotator: str) -> str:
    return annotator if annotator.startswith(_OWN_COLUMN) else VOTE + annotator


def _renamed(row: Row) -> Row:
    cells = {_SAME.get(name, name): value for name, value in row.cells.items()}
    return Row(cells, row.place)


def _read(row: Row, number: int, language: str | None, annotators: int | None) -> BiasTuple:
    attribute, identity = row.text("attribute"), row.text("identity")
    for name, text in (("attribute", attribute), ("identity", identity)):
        if not text[0].isalpha():
            raise InputError(f"{row.place}: the {name} {text!r} begins with no letter. Write a word.")
    score, asked, votes = _votes(row, annotators)
    spoken = row.cells.get("language", "") or language
    if spoken is None:
        raise InputError(f"{row.place}: no language. Add a column `language` with {', '.join(LANGUAGES)}.")
    return BiasTuple(
        tuple_id=row.cells.get("tuple_id", "") or str(number),
        language=row.one_of("language", LANGUAGES, spoken),
        bias_type=canonical(row.text("bias_type")),
        identity=identity,
        attribute=attribute,
        polarity=row.one_of("polarity", POLARITIES, row.text("polarity").lower()),
        word_class=row.one_of("word_class", WORD_CLASSES, row.cells.get("word_class", "") or WORD_CLASSES[0]),
        counterpart=row.cells.get("counterpart", ""),
        score=score,
        annotators=asked,
        votes=votes,
        place=row.place,
    )


def _votes(row: Row, annotators: int | None) -> tuple[int | None, int, dict[str, int]]:
    """Return score, number of annotators, and votes by annotator."""
    names = [name for name in row.cells if name.startswith((VOTE, _OWN_COLUMN))]
    if any(row.cells[name] for name in names):
        votes = {name.removeprefix(VOTE): int(row.one_of(name, ("0", "1"))) for name in names}
        score = sum(votes.values())
        if row.cells.get("score", "") not in ("", str(score)):
            raise InputError(f"{row.place}: score is {row.cells['score']}, but the votes add up to {score}. Mend one.")
        return score, len(votes), votes
    if not row.cells.get("score", ""):
        return None, 0, {}
    score = row.count("score")
    asked = row.count("annotators") if row.cells.get("annotators", "") else annotators
    if asked is None:
        raise InputError(f"{row.place}: score is {score}, but of how many annotators? Add a column `annotators`.")
    if score > asked:
        raise InputError(f"{row.place}: score is {score} of {asked} annotators. Write 0 to {asked}.")
    return score, asked, {}


def _refuse_repeated(tuples: Sequence[BiasTuple]) -> None:
    ids: dict[str, str] = {}
    said: dict[Any, str] = {}
    for each in tuples:
        if each.tuple_id in ids:
            raise InputError(
                f"{each.place}: the id {each.tuple_id!r} stands in {ids[each.tuple_id]} already. Give each tuple"
                " its own."
            )
        ids[each.tuple_id] = each.place
        what = (each.language, each.bias_type, each.identity.casefold(), each.attribute.casefold(), each.polarity)
        if what in said:
            raise InputError(
                f"{each.place}: ({each.identity}, {each.attribute}) stands in {said[what]} already. Delete one."
            )
        said[what] = each.place
