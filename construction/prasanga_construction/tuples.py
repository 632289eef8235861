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

import math
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from prasanga.base.errors import InputError
from prasanga.base.io import guarded_text, write_text
from prasanga.base.seeds import generator
from prasanga.pairs.layouts import canonical
from prasanga.pairs.preferences import LANGUAGES
from prasanga_construction.planning import INSTRUCTIONS, check_annotators
from prasanga_construction.sheets import Row, csv_text, fill_instructions, read_rows, require_columns

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
    rows = [
        Row({_SAME.get(name, name): value for name, value in row.cells.items()}, row.place)
        for row in read_rows(path, what="tuples")
    ]
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


# --------------------
# What annotators say of tuples: a sheet for each, in an order of their own, its votes, and how far they agree.
#
# IndiBias (Sahoo et al. 2024, appendix D): an annotator writes 1 if the tuple is a stereotype in society, else 0,
# whatever they think of it themselves.
#
# Agreement is Fleiss' kappa (Fleiss 1971): of n annotators, n_ij put item i into category j. The agreement on an item
# is the share of pairs of annotators that put it into the same one,
#
#     P_i = (sum_j n_ij^2 - n) / (n (n - 1)),
#
# and kappa = (mean P_i - P_e) / (1 - P_e) with P_e = sum_j p_j^2, p_j the share of all votes that went to category j.
# IndiBias (appendix D, table 8) prints scores, the votes that a tuple got; kappa needs no more than these.

SHEET_COLUMNS = ("tuple_id", "bias_type", "identity", "attribute", "vote")
_SHOWN = ("bias_type", "identity", "attribute")
_ALL = "all"


def write_sheets(tuples: Sequence[BiasTuple], folder: str | Path, annotators: Sequence[str], seed: int) -> list[Path]:
    """Write `<annotator>.csv` for each annotator and `instructions.md`; return their paths.

    Raises:
        InputError: no tuples or annotators, an annotator whose name cannot be a file's, or two of one name.
    """
    check_annotators(annotators)
    if not tuples:
        raise InputError("no tuples to annotate: the file of tuples is empty. Propose some, or write them.")
    texts = {f"{annotator}.csv": sheet_csv(tuples, annotator, seed) for annotator in annotators}
    texts[INSTRUCTIONS] = _instructions(len(tuples))
    for name, text in texts.items():
        write_text(Path(folder, name), text)
    return [Path(folder, name) for name in texts]


def sheet_csv(tuples: Sequence[BiasTuple], annotator: str, seed: int) -> str:
    """Return the sheet of an annotator (`SHEET_COLUMNS`, votes empty), in an order drawn from the seed and their name.

    Polarity is not shown: it is not what is asked, and would suggest an answer.
    """
    order = generator(seed, "construction", "sheet", annotator).permutation(len(tuples))
    in_order = [tuples[int(place)] for place in order]
    rows = ([each.tuple_id, *(guarded_text(getattr(each, name)) for name in _SHOWN), ""] for each in in_order)
    return csv_text(SHEET_COLUMNS, rows)


def read_sheet(path: str | Path, tuples: Sequence[BiasTuple]) -> dict[str, int]:
    """Read the votes of one annotator, {tuple_id: 0 or 1}, in the order of `tuples`.

    Args:
        path: the sheet as it came back; rows may be in any order.
        tuples: those that the sheet was written for.

    Raises:
        InputError: with file, line, value and what is allowed: a missing column, an unknown id, one that stands twice,
            text that was changed, a vote that is not 0 or 1; a row that is missing.
    """
    rows = read_rows(path, what="votes")
    require_columns(path, rows, SHEET_COLUMNS, f"Restore the header: {','.join(SHEET_COLUMNS)}.")
    known = {each.tuple_id: each for each in tuples}
    votes: dict[str, int] = {}
    places: dict[str, str] = {}
    for row in rows:
        name = row.text("tuple_id")
        if name not in known:
            raise InputError(
                f"{row.place}: the tuple_id {name!r} is none of the {len(known)} that were given out. Restore the id as"
                " it was in the sheet."
            )
        if name in places:
            raise InputError(f"{row.place}: the tuple {name!r} stands in {places[name]} already. Delete one of them.")
        for column in _SHOWN:
            given = unicodedata.normalize("NFC", getattr(known[name], column)).strip()
            if row.cells[column] != given:
                raise InputError(
                    f"{row.place}: {column!r} of the tuple {name!r} is {row.cells[column]!r}, but {given!r} was given"
                    " out. A vote is on what was given out: restore the text, and write remarks elsewhere."
                )
        places[name] = row.place
        votes[name] = int(row.one_of("vote", ("0", "1")))
    missing = [name for name in known if name not in votes]
    if missing:
        raise InputError(
            f"{path}: {len(missing)} of {len(known)} tuples are missing, for example {missing[0]!r}"
            f" ({known[missing[0]].identity}, {known[missing[0]].attribute}). Restore their rows."
        )
    return {name: votes[name] for name in known}


def add_votes(tuples: Sequence[BiasTuple], votes: Mapping[str, Mapping[str, int]]) -> list[BiasTuple]:
    """Return tuples with the votes of all annotators, {annotator: {tuple_id: 0 or 1}}, in place of earlier ones."""
    annotated = []
    for each in tuples:
        mine = {annotator: of_all[each.tuple_id] for annotator, of_all in votes.items()}
        annotated.append(replace(each, votes=mine, score=sum(mine.values()), annotators=len(mine)))
    return annotated


def agreement_table(tuples: Sequence[BiasTuple], votes: int) -> pl.DataFrame:
    """Measure agreement over all tuples, and for each bias type and polarity.

    Args:
        tuples: annotated, all by the same number of annotators.
        votes: from how many on a tuple is kept.

    Returns:
        A row for all tuples, then one for each bias type, then one for each of its polarities: bias_type, polarity
        ("all" where it is not told apart), n_tuples, n_annotators, n_kept, mean_score, observed (mean P_i), expected
        (P_e), kappa (null where it is undefined), and score_0 ... score_n, how many tuples got that score.

    Raises:
        InputError: a tuple without annotation, or one with another number of annotators than the first, named; fewer
            than two annotators.
    """
    _score_counts(tuples)
    types = list(dict.fromkeys(each.bias_type for each in tuples))
    groups = [(_ALL, _ALL), *((kind, polarity) for kind in types for polarity in (_ALL, "positive", "negative"))]
    rows = []
    for bias_type, polarity in groups:
        mine = [each for each in tuples if bias_type in (_ALL, each.bias_type) and polarity in (_ALL, each.polarity)]
        if mine:
            rows.append({"bias_type": bias_type, "polarity": polarity, **_summary(mine, votes)})
    return pl.DataFrame(rows)


class Agreement(NamedTuple):
    """Fleiss' kappa (NaN where all votes went to one category), the mean of P_i, and P_e."""

    kappa: float
    observed: float
    expected: float


def fleiss_kappa(counts: ArrayLike) -> Agreement:
    """Return how far annotators agree.

    Args:
        counts: (items, categories), how many annotators put an item into a category; the same number for each item.

    Raises:
        InputError: fewer than two annotators.
    """
    table = np.asarray(counts, dtype=np.float64)
    n = table[0].sum()
    if n < 2:
        raise InputError(f"{n:g} annotator; agreement is that of two or more.")
    observed = float((((table**2).sum(axis=1) - n) / (n * (n - 1))).mean())
    expected = float(((table.sum(axis=0) / table.sum()) ** 2).sum())
    kappa = math.nan if math.isclose(expected, 1) else (observed - expected) / (1 - expected)
    return Agreement(kappa, observed, expected)


def _summary(tuples: Sequence[BiasTuple], votes: int) -> dict[str, int | float | None]:
    counts = _score_counts(tuples)
    n = tuples[0].annotators
    agreement = fleiss_kappa(counts)
    scores = counts[:, 1].astype(int).tolist()
    return {
        "n_tuples": len(tuples),
        "n_annotators": n,
        "n_kept": sum(score >= votes for score in scores),
        "mean_score": float(np.mean(scores)),
        "observed": agreement.observed,
        "expected": agreement.expected,
        "kappa": None if math.isnan(agreement.kappa) else agreement.kappa,
        **{f"score_{score}": scores.count(score) for score in range(n + 1)},
    }


def _score_counts(tuples: Sequence[BiasTuple]) -> NDArray[np.float64]:
    """Count the annotators who said no, and yes: (tuples, 2)."""
    for each in tuples:
        if each.score is None:
            raise InputError(
                f"{each.place}: the tuple {each.tuple_id!r} has no votes. Have it annotated, or delete it."
            )
        if each.annotators != tuples[0].annotators:
            raise InputError(
                f"{each.place}: {each.annotators} annotators, but {tuples[0].place} has {tuples[0].annotators}."
                " Agreement is that of the same number on each tuple: add the votes that are missing."
            )
    return np.array([[each.annotators - (each.score or 0), each.score or 0] for each in tuples], dtype=np.float64)


def _instructions(n_tuples: int) -> str:
    """Return the page that goes with the sheets."""
    return fill_instructions("tuples", n_tuples=n_tuples)
