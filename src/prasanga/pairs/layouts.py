"""The layouts in which files of pairs come, and files opened with errors that say where.

Every layout ends in one rule: `stereo` says that the first sentence is the stereotypical one, `antistereo` that
the second is (IndiBias 6.1.1 and Figure 9).

- `prasanga`: our own. A row is a pair in one language.
- `indibias`: Sahoo et al. 2024. A row is a pair in English and in Hindi; S1 is the first sentence under either
  label.
- `crows-pairs`: Nangia et al. 2020. `sent_more` is the more stereotypical sentence under either label, so that in
  an antistereo row it is our second sentence.
- `stereoset`: Nadeem et al. 2021, in JSON. A context has a stereotypical and an anti-stereotypical sentence.

A CSV layout is a function that makes pairs of the cells of a record, and an entry of `CSV_LAYOUTS`.
"""

from __future__ import annotations

import csv
import difflib
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from prasanga.base.errors import InputError
from prasanga.base.yaml import read_json_object, read_text

PAIRS_VERSION = 1
"""Raise this number when the code reads other pairs or oddities from a file: all files are then read again."""

# IndiBias 4.2: the pairs inherited from CrowS-Pairs and those made from tuples have no bias type in common.
_FROM_TUPLES = ("religion", "caste")


@dataclass(frozen=True, slots=True)
class RawPair:
    """One pair of one language, cells as in the file.

    `first_column` and `second_column` name where the sentences stand, for messages.
    """

    pair_id: str
    row: int
    language: str
    bias_type: str
    label: str
    first: str
    second: str
    first_column: str
    second_column: str
    origin: str | None = None
    modified: str = ""
    agreeing: str = ""


@dataclass(frozen=True)
class CsvLayout:
    """A CSV layout.

    Attributes:
        name: as in the config.
        columns: those that it must have; they tell the layouts apart.
        type_and_label: the columns of bias type and label.
        one_language: whether the file is in one language and does not say in which.
        pairs: cells of a record, its number and the file's language (where it is one) -> its pairs.
    """

    name: str
    columns: tuple[str, ...]
    type_and_label: tuple[str, str]
    one_language: bool
    pairs: Callable[[Mapping[str, str], int, str], Sequence[RawPair]]


def _raw(cells: Mapping[str, str], row: int, columns: Sequence[str], label: str, **others: Any) -> RawPair:
    """Return the pair of a record, of which two columns are the sentences, and one is the label."""
    first, second = columns
    return RawPair(
        **others,
        row=row,
        bias_type=cells["bias_type"],
        label=cells[label],
        first=cells[first],
        second=cells[second],
        first_column=first,
        second_column=second,
    )


def _prasanga(cells: Mapping[str, str], row: int, _: str) -> Sequence[RawPair]:
    others = {name: cells.get(name, "") for name in ("modified", "agreeing")}
    others |= {name: cells[name].strip() for name in ("pair_id", "language")}
    origin = cells.get("origin", "").strip() or None
    return [_raw(cells, row, ("first", "second"), "label", origin=origin, **others)]


def _indibias(cells: Mapping[str, str], row: int, _: str) -> Sequence[RawPair]:
    origin = "tuples" if cells["bias_type"].strip().lower() in _FROM_TUPLES else "inherited"
    pair = cells["index"].strip()
    return [
        _raw(cells, row, columns, _LABEL, pair_id=pair, language=language, origin=origin)
        for language, columns in _OF_INDIBIAS.items()
    ]


def _crows_pairs(cells: Mapping[str, str], row: int, language: str) -> Sequence[RawPair]:
    columns = _OF_CROWS_PAIRS[::-1] if canonical(cells[_LABEL]) == "antistereo" else _OF_CROWS_PAIRS
    pair = cells.get("", str(row - 1)).strip()
    return [_raw(cells, row, columns, _LABEL, pair_id=pair, language=language)]


_LABEL = "stereo_antistereo"
_OF_INDIBIAS = {
    "en": ("modified_eng_sent_more", "modified_eng_sent_less"),
    "hi": ("sent_more_hindi", "sent_less_hindi"),
}
_OF_CROWS_PAIRS = ("sent_more", "sent_less")
_OURS = ("pair_id", "language", "bias_type", "label", "first", "second")
_INDIBIAS = ("index", *_OF_INDIBIAS["en"], *_OF_INDIBIAS["hi"], "bias_type", _LABEL)
CSV_LAYOUTS = (
    CsvLayout("prasanga", _OURS, ("bias_type", "label"), False, _prasanga),
    CsvLayout("indibias", _INDIBIAS, ("bias_type", _LABEL), False, _indibias),
    CsvLayout("crows-pairs", (*_OF_CROWS_PAIRS, _LABEL, "bias_type"), ("bias_type", _LABEL), True, _crows_pairs),
)
"""All CSV layouts."""

STEREOSET = "stereoset"
CROWS_PAIRS = "crows-pairs"

LAYOUTS = ("auto", *(layout.name for layout in CSV_LAYOUTS), STEREOSET)
"""Values of `layout`; auto goes by the names of the columns."""


def require_layout(layout: str, key: str) -> None:
    """Refuse a layout that is none of `LAYOUTS`, as the value of a key of the config.

    Raises:
        InputError: with the layouts there are.
    """
    if layout not in LAYOUTS:
        near = difflib.get_close_matches(layout, LAYOUTS, n=1)
        raise InputError(
            f"`{key}` is {layout!r}; allowed: {', '.join(LAYOUTS)}. Write e.g. `layout: {(near or LAYOUTS)[0]}`."
        )


def canonical(name: str) -> str:
    """Return a bias type or label in one spelling: small letters, hyphens for blanks; `antistereo` without a hyphen."""
    name = "-".join(name.lower().replace("_", " ").split())
    return "antistereo" if name == "anti-stereo" else name


# --------------------
# CSV records, with errors that say where.


# As Python's csv module wants lines, with their ends; a stream of the whole text would take four bytes a character.
_LINE = re.compile(r"[^\r\n]*(?:\r\n?|\n)|[^\r\n]+")


def read_csv(path: Path) -> tuple[list[str], list[list[str]]]:
    """Return the columns of a CSV file (UTF-8, with or without byte-order mark), and the cells of each record.

    Cells may hold line breaks; record 1 is the first after the header.

    Raises:
        InputError: for a file that is missing, empty, not UTF-8 or no CSV, a column named twice, or a record with more
            or fewer cells than columns.
    """
    reader = csv.reader((line[0] for line in _LINE.finditer(read_text(path, newline=""))), strict=True)
    try:
        rows = [row for row in reader if row]
    except csv.Error as error:
        raise InputError(
            f"{path}, line {reader.line_num}: no CSV ({error}). Put a cell that holds a comma or a line break between"
            ' double quotes, and write a double quote inside it twice: "".'
        ) from error
    columns, *rest = rows or [[]]
    if not columns:
        raise InputError(f"{path}: the file is empty. Write a header and at least one pair (docs/pairs.md).")
    twice = sorted(column for column, count in Counter(columns).items() if count > 1)
    if twice:
        raise InputError(f"{path}: column {twice[0]!r} is there more than once. Give each column a name of its own.")
    for number, row in enumerate(rest, start=1):
        if len(row) != len(columns):
            raise InputError(
                f"{path}, record {number}: {len(row)} cells, but the header names {len(columns)} columns"
                f" ({', '.join(columns)}). A sentence with a comma stands between double quotes."
            )
    return columns, rest


# --------------------
# StereoSet (Nadeem et al. 2021) as pairs.
#
# Each item has a stereotypical, an anti-stereotypical and an unrelated sentence. The first two are a pair labelled
# `stereo`; unrelated sentences are counted and left, since a pair asks which of two meaningful sentences a model
# prefers. An intersentence item puts its context before both.


PARTS = ("intrasentence", "intersentence")

_GOLD_LABELS = ("stereotype", "anti-stereotype", "unrelated")


def stereoset_pairs(path: Path, language: str) -> tuple[list[RawPair], int]:
    """Return the pairs of a file, and how many unrelated sentences were left.

    Raises:
        InputError: for another JSON layout, or an item without exactly one sentence of a kind.
    """
    parts = read_json_object(path).get("data")
    if not isinstance(parts, dict) or not any(part in parts for part in PARTS):
        raise InputError(
            f"{path}: not the layout of StereoSet. A mapping `data` with the lists {' and '.join(PARTS)} is expected."
        )
    pairs: list[RawPair] = []
    unrelated = 0
    for part in PARTS:
        items = parts.get(part, [])
        if not isinstance(items, list):
            raise InputError(f"{path}: `data: {part}` is no list. StereoSet has a list of items there, or no such key.")
        for row, item in enumerate(items, start=len(pairs) + 1):
            try:
                labelled = [(str(sentence["gold_label"]), str(sentence["sentence"])) for sentence in item["sentences"]]
                pair_id, bias_type, context = (str(item[key]) for key in ("id", "bias_type", "context"))
            except (KeyError, TypeError) as error:
                raise InputError(
                    f"{path}, item {row} ({part}): {error} is missing. Each item needs `id`, `bias_type`, `context` and"
                    " `sentences`, each of these `sentence` and `gold_label`; the public part of StereoSet (dev.json)"
                    " has them all."
                ) from error
            sentences = dict(labelled)
            labels = sorted(label for label, _ in labelled if label != "unrelated")
            if labels != ["anti-stereotype", "stereotype"]:
                raise InputError(
                    f"{path}, item {row} ({part}): sentences have the gold_label {', '.join(labels) or 'unrelated'}."
                    f" Write one each of {' and '.join(_GOLD_LABELS[:2])}; others are {_GOLD_LABELS[2]}."
                )
            unrelated += "unrelated" in sentences
            before = f"{context.strip()} " if part == "intersentence" else ""
            first, second = (before + sentences[label] for label in _GOLD_LABELS[:2])
            pairs.append(RawPair(pair_id, row, language, bias_type, "stereo", first, second, *_GOLD_LABELS[:2]))
    return pairs, unrelated
