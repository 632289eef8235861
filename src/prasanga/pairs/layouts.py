"""The layouts in which files of pairs come, and files opened with errors that say where.

Every layout ends in one rule: `stereo` says that the first sentence is the stereotypical one, `antistereo` that
the second is (IndiBias 6.1.1 and Figure 9).

- `prasanga`: our own. A row is a pair in one language.
- `indibias`: Sahoo et al. 2024. A row is a pair in English and in Hindi; S1 is the first sentence under either
  label.
- `crows-pairs`: Nangia et al. 2020. `sent_more` is the more stereotypical sentence under either label, so that in
  an antistereo row it is our second sentence.
- `stereoset`: Nadeem et al. 2021, in JSON. A context has a stereotypical and an anti-stereotypical sentence.

A CSV layout is an entry of `CSV_LAYOUTS`.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from prasanga.base.errors import InputError
from prasanga.base.yaml import read_json_object, read_text, suggest

PAIRS_VERSION = 1
"""Raise this number when the code reads other pairs or oddities from a file: all files are then read again."""


class RawPair(NamedTuple):
    """One pair of one language, cells as in the file.

    `first_column` and `second_column` name the columns of the sentences, for messages.
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
class Layout:
    """A layout of pairs.

    Attributes:
        name: as in the config.
        columns: those that a CSV file must have; they tell the layouts apart.
        sentences: by language, the columns of the first and the second sentence; "" where the column `language`, or the
            file as a whole, has the language.
        pair_id: the column of the id; without it, records are numbered from 0.
        bias_type: the column of the bias type.
        label: the column of the label; without it, the first sentence is the stereotypical one.
        one_language: whether the file is in one language and does not say in which.
        more_is_first: whether the first sentence is the more stereotypical one under either label.
        from_tuples: bias types of pairs made from tuples, where all others are inherited (IndiBias 4.2).
    """

    name: str
    columns: tuple[str, ...]
    sentences: Mapping[str, tuple[str, str]]
    pair_id: str = "pair_id"
    bias_type: str = "bias_type"
    label: str = "label"
    one_language: bool = False
    more_is_first: bool = False
    from_tuples: tuple[str, ...] = ()

    def pairs(self, cells: Mapping[str, str], row: int, spoken: str) -> Iterator[RawPair]:
        """Yield the pairs of a record: its cells, its number from 1, and the language of a file that is in one."""
        kind, label = cells[self.bias_type], cells.get(self.label, "stereo")
        origin = cells.get("origin", "").strip() or None
        if self.from_tuples:
            origin = "tuples" if kind.strip().lower() in self.from_tuples else "inherited"
        for language, (first, second) in self.sentences.items():
            if self.more_is_first and canonical(label) == "antistereo":
                first, second = second, first
            yield RawPair(
                *(cells.get(self.pair_id, str(row - 1)).strip(), row),
                *(language or (spoken if self.one_language else cells["language"].strip()), kind, label),
                *(cells[first], cells[second], first, second),
                origin=origin,
                modified=cells.get("modified", ""),
                agreeing=cells.get("agreeing", ""),
            )


_LABEL = "stereo_antistereo"
_INDIBIAS = {
    "en": ("modified_eng_sent_more", "modified_eng_sent_less"),
    "hi": ("sent_more_hindi", "sent_less_hindi"),
}
_MORE_LESS = ("sent_more", "sent_less")
CSV_LAYOUTS = (
    Layout("prasanga", ("pair_id", "language", "bias_type", "label", "first", "second"), {"": ("first", "second")}),
    Layout(
        "indibias",
        ("index", *_INDIBIAS["en"], *_INDIBIAS["hi"], "bias_type", _LABEL),
        _INDIBIAS,
        pair_id="index",
        label=_LABEL,
        from_tuples=("religion", "caste"),
    ),
    Layout(
        "crows-pairs",
        (*_MORE_LESS, _LABEL, "bias_type"),
        {"": _MORE_LESS},
        pair_id="",
        label=_LABEL,
        one_language=True,
        more_is_first=True,
    ),
)
"""All CSV layouts."""

STEREOSET = Layout("stereoset", (), {}, one_language=True)

LAYOUTS = ("auto", *(layout.name for layout in CSV_LAYOUTS), STEREOSET.name)
"""Values of `layout`; auto goes by the names of the columns."""


def require_layout(layout: str, key: str) -> None:
    """Refuse a layout that is none of `LAYOUTS`, as the value of a key of the config.

    Raises:
        InputError: with the layouts there are.
    """
    if layout not in LAYOUTS:
        raise InputError(f"`{key}` is {layout!r}.{suggest(layout, LAYOUTS)}")


def canonical(name: str) -> str:
    """Return a bias type or label in one spelling: small letters, hyphens for blanks; `antistereo` without a hyphen."""
    name = "-".join(name.lower().replace("_", " ").split())
    return "antistereo" if name == "anti-stereo" else name


def find_layout(path: Path, columns: list[str], layout: str) -> Layout:
    """Return the CSV layout that fits a file's columns best.

    Raises:
        InputError: a column of it is missing.
    """
    candidates = [one for one in CSV_LAYOUTS if layout in ("auto", one.name)]
    nearest = max(candidates, key=lambda one: len(set(one.columns) & set(columns)) / len(one.columns))
    if missing := [column for column in nearest.columns if column not in columns]:
        raise InputError(
            f"{path}: column {missing[0]!r} is missing. The file has {', '.join(map(repr, columns))}; the layout"
            f" {nearest.name} needs {', '.join(nearest.columns)}, separated by commas."
        )
    return nearest


# --------------------
# CSV records, with errors that say where.


# As Python's csv module wants lines, with their ends; a stream of the whole text would take four bytes a character.
_LINE = re.compile(r"[^\r\n]*(?:\r\n?|\n)|[^\r\n]+")


def read_csv(path: Path) -> tuple[list[str], list[list[str]]]:
    """Return the columns of a CSV file (UTF-8, with or without byte-order mark), and the cells of each record.

    Cells may hold line breaks; record 1 is the first after the header.

    Raises:
        InputError: a file that is missing, empty, not UTF-8 or not CSV, a column named twice, or a record with more or
            fewer cells than columns.
    """
    reader = csv.reader((line[0] for line in _LINE.finditer(read_text(path, newline=""))), strict=True)
    try:
        columns, *rest = [row for row in reader if row] or [[]]
    except csv.Error as error:
        raise InputError(
            f"{path}, line {reader.line_num}: no CSV ({error}). Put a cell that holds a comma or a line break between"
            ' double quotes, and write a double quote inside it twice: "".'
        ) from error
    if not columns:
        raise InputError(f"{path}: the file is empty. Write a header and at least one pair (docs/pairs.md).")
    if twice := sorted(column for column, count in Counter(columns).items() if count > 1):
        raise InputError(f"{path}: column {twice[0]!r} is there more than once. Give each column a name of its own.")
    for number, row in enumerate(rest, start=1):
        if len(row) != len(columns):
            raise InputError(
                f"{path}, record {number}: {len(row)} cells, but the header names {len(columns)} columns"
                f" ({', '.join(columns)}). Put a sentence with a comma between double quotes."
            )
    return columns, rest


# --------------------
# StereoSet (Nadeem et al. 2021) as pairs.
#
# Each item has a stereotypical, an anti-stereotypical and an unrelated sentence. The first two are a pair labelled
# `stereo`; unrelated sentences are counted and left, since a pair asks which of two meaningful sentences a model
# prefers. An intersentence item puts its context before both.


_GOLD_LABELS = ("stereotype", "anti-stereotype")


def read_stereoset(path: Path, language: str) -> tuple[list[RawPair], int]:
    """Return the pairs of a file, and how many unrelated sentences were left.

    Raises:
        InputError: another JSON layout, or an item without exactly one sentence of a kind.
    """
    pairs: list[RawPair] = []
    unrelated, data = 0, read_json_object(path).get("data")
    for part in ("intrasentence", "intersentence"):
        items = data.get(part, []) if isinstance(data, dict) and data else None
        if not isinstance(items, list):
            raise InputError(
                f"{path}: `data: {part}` is no list. StereoSet has a mapping `data` with the lists intrasentence and"
                " intersentence, or one of them."
            )
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
            labels = sorted(label for label, _ in labelled if label != "unrelated")
            if labels != sorted(_GOLD_LABELS):
                raise InputError(
                    f"{path}, item {row} ({part}): sentences have the gold_label {', '.join(labels) or 'unrelated'}."
                    f" Write one each of {' and '.join(_GOLD_LABELS)}; others are unrelated."
                )
            sentences = dict(labelled)
            unrelated += "unrelated" in sentences
            before = f"{context.strip()} " if part == "intersentence" else ""
            first, second = (before + sentences[label] for label in _GOLD_LABELS)
            pairs.append(RawPair(pair_id, row, language, bias_type, "stereo", first, second, *_GOLD_LABELS))
    return pairs, unrelated
