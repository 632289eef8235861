"""The layouts in which files of pairs come: which columns they have, and which sentence of a row is which.

Every layout ends in one rule: `stereo` says that the first sentence is the stereotypical one, `antistereo` that the
second is (IndiBias 6.1.1 and Figure 9).

- `prasanga`: our own. A row is a pair in one language.
- `indibias`: Sahoo et al. 2024. A row is a pair in English and in Hindi; S1 is the first sentence under either label.
- `crows-pairs`: Nangia et al. 2020. `sent_more` is the more stereotypical sentence under either label, so that in an
  antistereo row it is our second sentence.

A CSV layout is a function that makes pairs of the cells of a record, and an entry of `CSV_LAYOUTS`.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from prasanga.errors import InputError

# IndiBias 4.2: the pairs inherited from CrowS-Pairs and those made from tuples have no bias type in common.
_FROM_TUPLES = ("religion", "caste")


@dataclass(frozen=True)
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


def _prasanga(cells: Mapping[str, str], row: int, _: str) -> Sequence[RawPair]:
    return [
        RawPair(
            pair_id=cells["pair_id"].strip(),
            row=row,
            language=cells["language"].strip(),
            bias_type=cells["bias_type"],
            label=cells["label"],
            first=cells["first"],
            second=cells["second"],
            first_column="first",
            second_column="second",
            origin=cells.get("origin", "").strip() or None,
            modified=cells.get("modified", ""),
            agreeing=cells.get("agreeing", ""),
        )
    ]


def _indibias(cells: Mapping[str, str], row: int, _: str) -> Sequence[RawPair]:
    return [
        RawPair(
            pair_id=cells["index"].strip(),
            row=row,
            language=language,
            bias_type=cells["bias_type"],
            label=cells["stereo_antistereo"],
            first=cells[first],
            second=cells[second],
            first_column=first,
            second_column=second,
            origin="tuples" if cells["bias_type"].strip().lower() in _FROM_TUPLES else "inherited",
        )
        for language, first, second in (
            ("en", "modified_eng_sent_more", "modified_eng_sent_less"),
            ("hi", "sent_more_hindi", "sent_less_hindi"),
        )
    ]


def _crows_pairs(cells: Mapping[str, str], row: int, language: str) -> Sequence[RawPair]:
    columns = ["sent_more", "sent_less"]
    if canonical(cells["stereo_antistereo"]) == "antistereo":
        columns.reverse()
    return [
        RawPair(
            pair_id=cells.get("", str(row - 1)).strip(),
            row=row,
            language=language,
            bias_type=cells["bias_type"],
            label=cells["stereo_antistereo"],
            first=cells[columns[0]],
            second=cells[columns[1]],
            first_column=columns[0],
            second_column=columns[1],
        )
    ]


CSV_LAYOUTS = (
    CsvLayout(
        "prasanga",
        ("pair_id", "language", "bias_type", "label", "first", "second"),
        ("bias_type", "label"),
        False,
        _prasanga,
    ),
    CsvLayout(
        "indibias",
        (
            "index",
            "modified_eng_sent_more",
            "modified_eng_sent_less",
            "sent_more_hindi",
            "sent_less_hindi",
            "bias_type",
            "stereo_antistereo",
        ),
        ("bias_type", "stereo_antistereo"),
        False,
        _indibias,
    ),
    CsvLayout(
        "crows-pairs",
        ("sent_more", "sent_less", "stereo_antistereo", "bias_type"),
        ("bias_type", "stereo_antistereo"),
        True,
        _crows_pairs,
    ),
)

"""All CSV layouts; `prasanga.pairs.stereoset` reads the one in JSON."""

STEREOSET = "stereoset"

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
    """A bias type or label in one spelling: small letters, hyphens for blanks; `antistereo` without a hyphen."""
    name = "-".join(name.lower().replace("_", " ").split())
    return "antistereo" if name == "anti-stereo" else name
