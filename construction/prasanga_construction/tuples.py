"""Tuples (identity, attribute), as annotators judged them (IndiBias, section 4.1).

A file of tuples is a CSV with a row for each tuple:

    tuple_id       any text, once in the file; by default the row's number
    language       of the study; the column may be missing
    bias_type      religion, caste, gender, ... (`axis`, and the authors' `category`, are the same)
    identity       the identity term
    attribute      of the identity, in the stereotype
    polarity       positive or negative, the attribute's own connotation
    word_class     adjective (the default), quality (a noun for it: courage), person (a noun for people)
    counterpart    the identity term of the second sentence; by default what the identity terms say
    vote:<name>    1 if the annotator called the tuple a stereotype, else 0; a column for each (or `annotator-<name>`)
    score          instead of these: the number of annotators who did; `annotators` has the number of all

Other columns are ignored.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from prasanga.base.errors import InputError
from prasanga.base.io import guarded_text, write_text
from prasanga.base.seeds import generator
from prasanga.pairs.reading import canonical
from prasanga_construction.planning import INSTRUCTIONS, check_annotators
from prasanga_construction.sheets import SheetRow, csv_text, fill_instructions, read_filled, read_rows, require_once

POLARITIES = ("positive", "negative")
WORD_CLASSES = ("adjective", "quality", "person")
VOTE = "vote:"
_OWN_COLUMN = "annotator-"
_SAME = {"category": "bias_type", "axis": "bias_type", "votes": "score"}
_NEEDED = ("bias_type", "identity", "attribute", "polarity")


@dataclass(frozen=True)
class BiasTuple:
    """An identity term and an attribute.

    Attributes:
        tuple_id: its name.
        language: bn, hi, en.
        bias_type: lower case, with hyphens: `physical-appearance`.
        identity: the identity term as written.
        attribute: the attribute as written.
        polarity: `positive` or `negative`.
        word_class: of the attribute: `adjective`, `quality`, `person`.
        counterpart: identity term of the second sentence; "" if the identity terms decide.
        score: number of annotators who called it a stereotype; None without annotation.
        annotators: number of all annotators; 0 without annotation.
        votes: {annotator: 0 or 1}, if known.
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


def read_tuples(path: str | Path, language: str, *, annotators: int | None = None) -> list[BiasTuple]:
    """Read a file of tuples, in its order.

    Args:
        path: the CSV file.
        language: of the tuples.
        annotators: their number, for a file with scores that lacks it.

    Raises:
        InputError: with file and line, the value and the rule: a missing column, another language, an unknown polarity
            or class of word, an empty identity or attribute, one without a letter at its beginning, a repeated id or
            tuple, a vote other than 0 or 1, a score above the number of annotators.
    """
    named = [
        SheetRow({_SAME.get(name, name): value for name, value in row.cells.items()}, row.place)
        for row in read_rows(path)
    ]
    for column in (name for name in _NEEDED if named and name not in named[0].cells):
        raise InputError(f"{path}, line 1: no column {column!r}. Add it; docs/make_pairs.md has the layout.")
    tuples = [_read(row, number, language, annotators) for number, row in enumerate(named, start=1)]
    require_once((each.tuple_id, each.place) for each in tuples)
    require_once(
        ((each.bias_type, each.identity.casefold(), each.attribute.casefold(), each.polarity), each.place)
        for each in tuples
    )
    return tuples


def kept_tuples(tuples: Iterable[BiasTuple], votes: int) -> list[BiasTuple]:
    """Return the tuples that at least `votes` annotators called a stereotype, in order (IndiBias 4.1: two of three).

    Raises:
        InputError: a tuple without annotation; no tuple that is kept.
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
            f"no tuple has the votes of {votes} annotators or more. Write a smaller `construction.votes`, or have more"
            " tuples annotated."
        )
    return kept


def tuples_csv(tuples: Sequence[BiasTuple]) -> str:
    """Return tuples in the layout that `read_tuples` reads, with a column for each annotator."""
    names = list(dict.fromkeys(name for each in tuples for name in each.votes))
    columns = ["tuple_id", "language", "bias_type", "identity", "attribute", "polarity", "word_class", "counterpart"]
    counted = ["score", "annotators"] if any(each.score is not None for each in tuples) else []
    rows = [
        [*(getattr(each, key) for key in columns), *(each.votes.get(name) for name in names)]
        + [getattr(each, key) for key in counted]
        for each in tuples
    ]
    voted = [name if name.startswith(_OWN_COLUMN) else VOTE + name for name in names]
    return csv_text([*columns, *voted, *counted], rows)


def _read(row: SheetRow, number: int, language: str, annotators: int | None) -> BiasTuple:
    attribute, identity = row.text("attribute"), row.text("identity")
    for text in (attribute, identity):
        if not text[0].isalpha():
            raise InputError(f"{row.place}: {text!r} does not begin with a letter. Write a word.")
    score, asked, votes = _read_votes(row, annotators)
    return BiasTuple(
        tuple_id=row.cells.get("tuple_id", "") or str(number),
        language=row.one_of("language", (language,), row.cells.get("language", "") or language),
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


def _read_votes(row: SheetRow, annotators: int | None) -> tuple[int | None, int, dict[str, int]]:
    """Return score, number of annotators, and votes by annotator."""
    names = [name for name in row.cells if name.startswith((VOTE, _OWN_COLUMN))]
    if any(row.cells[name] for name in names):
        votes = {name.removeprefix(VOTE): int(row.one_of(name, ("0", "1"))) for name in names}
        row.one_of("score", ("", str(sum(votes.values()))))
        return sum(votes.values()), len(votes), votes
    if not row.cells.get("score", ""):
        return None, 0, {}
    score = row.count("score")
    asked = row.count("annotators") if row.cells.get("annotators", "") or annotators is None else annotators
    if score > asked:
        raise InputError(f"{row.place}: score is {score} of {asked} annotators. Write 0 to {asked}.")
    return score, asked, {}


# --------------------
# Annotation of tuples: a sheet per annotator, in a random order, its votes, and the agreement of annotators.
#
# IndiBias (Sahoo et al. 2024, appendix D): an annotator writes 1 if the tuple is a stereotype in society, else 0,
# whatever their own opinion.
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
    texts[INSTRUCTIONS] = fill_instructions("tuples", n_tuples=len(tuples))
    for name, text in texts.items():
        write_text(Path(folder, name), text)
    return [Path(folder, name) for name in texts]


def sheet_csv(tuples: Sequence[BiasTuple], annotator: str, seed: int) -> str:
    """Return the sheet of an annotator (`SHEET_COLUMNS`, votes empty), in an order drawn from the seed and their name.

    Polarity is not shown, because it would suggest an answer.
    """
    order = generator(seed, "construction", "sheet", annotator).permutation(len(tuples))
    in_order = [tuples[int(place)] for place in order]
    rows = ([each.tuple_id, *(guarded_text(getattr(each, name)) for name in _SHOWN), ""] for each in in_order)
    return csv_text(SHEET_COLUMNS, rows)


def read_sheet(path: str | Path, tuples: Sequence[BiasTuple]) -> dict[str, int]:
    """Read the votes of one annotator, {tuple_id: 0 or 1}, in the order of `tuples`.

    Args:
        path: the returned sheet.
        tuples: of the blank sheet.

    Raises:
        InputError: with file, line, value and the rule: as `read_filled`; a vote other than 0 or 1.
    """
    given = pl.DataFrame({name: [getattr(each, name) for each in tuples] for name in ("tuple_id", *_SHOWN)})
    filled = read_filled(path, given, _SHOWN, ["vote"])
    return {original["tuple_id"]: int(row.one_of("vote", ("0", "1"))) for row, original in filled}


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
        ("all" for both), n_tuples, n_annotators, n_kept, mean_score, observed (mean P_i), expected (P_e), kappa (null
        where it is undefined), and score_0 ... score_n, how many tuples got that score.

    Raises:
        InputError: a tuple with another number of annotators than the first, named; fewer than two annotators.
    """
    n = tuples[0].annotators
    for each in tuples:
        if each.annotators != n:
            raise InputError(
                f"{each.place}: {each.annotators} annotators, but {tuples[0].place} has {n}. Agreement needs the same"
                " number for each tuple: add the votes that are missing."
            )
    types = list(dict.fromkeys(each.bias_type for each in tuples))
    rows = []
    for bias_type, polarity in [(_ALL, _ALL), *((kind, each) for kind in types for each in (_ALL, *POLARITIES))]:
        scores = [
            each.score or 0
            for each in tuples
            if bias_type in (_ALL, each.bias_type) and polarity in (_ALL, each.polarity)
        ]
        if not scores:
            continue
        kappa, observed, expected = fleiss_kappa([[n - score, score] for score in scores])
        rows.append(
            {
                "bias_type": bias_type,
                "polarity": polarity,
                "n_tuples": len(scores),
                "n_annotators": n,
                "n_kept": sum(score >= votes for score in scores),
                "mean_score": float(np.mean(scores)),
                "observed": observed,
                "expected": expected,
                "kappa": None if math.isnan(kappa) else kappa,
                **{f"score_{score}": scores.count(score) for score in range(n + 1)},
            }
        )
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
        raise InputError(f"{n:g} annotator, but agreement needs two or more.")
    observed = float((((table**2).sum(axis=1) - n) / (n * (n - 1))).mean())
    expected = float(((table.sum(axis=0) / table.sum()) ** 2).sum())
    kappa = math.nan if math.isclose(expected, 1) else (observed - expected) / (1 - expected)
    return Agreement(kappa, observed, expected)
