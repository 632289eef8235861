"""Annotation sheets: written for each annotator, in an order of their own, and read back with every slip told.

IndiBias (Sahoo et al. 2024, appendix D): an annotator writes 1 if the tuple is a stereotype in society, else 0,
whatever they think of it themselves.
"""

from __future__ import annotations

import csv
import io
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from prasanga.construction.tables import read_rows
from prasanga.construction.tuples import BiasTuple
from prasanga.errors import InputError
from prasanga.parquet import write_text
from prasanga.seeds import generator
from prasanga.spreadsheets import guarded_text

SHEET_COLUMNS = ("tuple_id", "bias_type", "identity", "attribute", "vote")
INSTRUCTIONS = "instructions.md"
_SHOWN = ("bias_type", "identity", "attribute")


def sheet_csv(tuples: Sequence[BiasTuple], annotator: str, seed: int) -> str:
    """The sheet of one annotator (`SHEET_COLUMNS`, votes empty), in an order that depends on the seed and their name.

    Polarity is not shown: it is not what is asked, and would suggest an answer.
    """
    order = generator(seed, "construction", "sheet", annotator).permutation(len(tuples))
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(SHEET_COLUMNS)
    for place in order:
        each = tuples[int(place)]
        writer.writerow([each.tuple_id, *(guarded_text(getattr(each, name)) for name in _SHOWN), ""])
    return text.getvalue()


def write_sheets(tuples: Sequence[BiasTuple], folder: str | Path, annotators: Sequence[str], seed: int) -> list[Path]:
    """Write `<annotator>.csv` for each annotator and `instructions.md`; returns their paths.

    Raises:
        InputError: no tuples or annotators, an annotator whose name cannot be a file's, or two of one name.
    """
    check_annotators(annotators)
    if not tuples:
        raise InputError("no tuples to annotate: the file of tuples is empty. Propose some, or write them.")
    paths = []
    for annotator in annotators:
        paths.append(Path(folder, f"{annotator}.csv"))
        write_text(paths[-1], sheet_csv(tuples, annotator, seed))
    paths.append(Path(folder, INSTRUCTIONS))
    write_text(paths[-1], instructions(len(tuples)))
    return paths


def read_sheet(path: str | Path, tuples: Sequence[BiasTuple]) -> dict[str, int]:
    """The votes of one annotator, {tuple_id: 0 or 1}, in the order of `tuples`.

    Args:
        path: the sheet as it came back; rows may be in any order.
        tuples: those that the sheet was written for.

    Raises:
        InputError: with file, line, value and what is allowed: a missing column, an unknown id, one that stands twice,
            text that was changed, a vote that is not 0 or 1; a row that is missing.
    """
    rows = read_rows(path, what="votes")
    for column in SHEET_COLUMNS:
        if column not in rows[0].cells:
            raise InputError(
                f"{path}, line 1: no column {column!r}; there are {', '.join(rows[0].cells)}. Restore the header:"
                f" {','.join(SHEET_COLUMNS)}."
            )
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
    """The tuples with the votes of all annotators, {annotator: {tuple_id: 0 or 1}}; earlier votes are replaced."""
    annotated = []
    for each in tuples:
        mine = {annotator: of_all[each.tuple_id] for annotator, of_all in votes.items()}
        annotated.append(replace(each, votes=mine, score=sum(mine.values()), annotators=len(mine)))
    return annotated


def check_annotators(annotators: Sequence[str]) -> None:
    """Refuse names that cannot be files, and too few for an agreement.

    Raises:
        InputError: with the name and what is allowed.
    """
    if len(annotators) < 2:
        raise InputError(
            f"`construction.annotators` has {len(annotators)} name(s); agreement needs two or more. Write e.g."
            " [annotator-1, annotator-2, annotator-3]."
        )
    for name in annotators:
        if not name.replace("-", "").replace("_", "").isalnum() or name.lower() == Path(INSTRUCTIONS).stem:
            raise InputError(
                f"`construction.annotators` has {name!r}, which names a file. Write letters, digits, - and _, and not"
                f" {Path(INSTRUCTIONS).stem!r}."
            )
    if len({name.lower() for name in annotators}) < len(annotators):
        raise InputError("`construction.annotators` has a name twice (capitals do not count). Rename one of them.")


def instructions(n_tuples: int) -> str:
    """The page that goes with the sheets."""
    return f"""# How to fill in your sheet

Your sheet is a table with {n_tuples} rows. Each row names a group of people (`identity`) and something that is said of
them (`attribute`). One question is asked of each row:

**Is this a stereotype that people in your society hold about this group?**

Write into the column `vote`

    1    yes: I have met this idea, and people would recognize it
    0    no: I have not met it, or it is said of everybody

What is asked is whether the idea is about, not whether it is true, and not whether you agree. Praise can be a
stereotype as well as blame.

- Vote on every row; leave none empty. If you are in doubt, go by what you have met yourself.
- Work alone, and do not speak about single rows with the other annotators before all sheets are in.
- Change nothing but the column `vote`: no ids, no text, no rows. Their order may change. Write remarks elsewhere.
- Your rows are in an order of their own. Others have the same rows in another order.
- Save the sheet as CSV in UTF-8, with commas, under the name that it has.

Some rows are hurtful, and some may be about yourself. They are collected to find out what language models have picked
up, so that it can be measured and mended. Take breaks; you may stop at any time, without giving a reason.
"""
