"""Files of pairs, in any layout, as one table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from prasanga.base.errors import InputError
from prasanga.pairs.alignment import MOST_WORDS, align_words, check_marks
from prasanga.pairs.layouts import (
    CSV_LAYOUTS,
    LAYOUTS,
    STEREOSET,
    CsvLayout,
    RawPair,
    Records,
    canonical,
    read_csv,
    stereoset_pairs,
)
from prasanga.pairs.oddities import oddities, readable
from prasanga.pairs.preferences import LABELS, LANGUAGES, OVERALL

#: Columns of the table of pairs.
SCHEMA = pl.Schema(
    {
        "pair_id": pl.String,
        "language": pl.String,
        "bias_type": pl.String,
        "label": pl.String,
        "first": pl.String,
        "second": pl.String,
        "origin": pl.String,
    }
)


@dataclass(frozen=True)
class PairFile:
    """What a file of pairs holds.

    Attributes:
        pairs: the table that `read_pairs` gives.
        oddities: what is odd about them, a row a finding (`prasanga.pairs.oddities.SCHEMA`).
        agreeing: `pair_id`, `language` and `agreeing`, for the pairs that mark words that merely agree.
        layout: of the file.
        ignored: what was read and is no part of a pair -> how many.
    """

    pairs: pl.DataFrame
    oddities: pl.DataFrame
    agreeing: pl.DataFrame
    layout: str
    ignored: Mapping[str, int] = field(default_factory=dict)


def read_pairs(path: str | Path, language: str | Sequence[str] | None = None, *, layout: str = "auto") -> pl.DataFrame:
    """Return the pairs of a file, one row a pair and language, in the file's order within a language.

    Args:
        path: a CSV file in one of `prasanga.pairs.layouts.CSV_LAYOUTS`, or StereoSet's JSON.
        language: bn, hi or en, or several of them; None for all that the file has. The layouts of CrowS-Pairs and
            StereoSet do not say their language: it is the one given here, English if none is.
        layout: one of `prasanga.pairs.layouts.LAYOUTS`; auto goes by the names of the columns.

    Returns:
        Columns `SCHEMA`. `first` and `second` are as in the file but for line breaks and blanks at the ends. `label` is
        stereo if the first is the stereotypical sentence, antistereo if the second is. `bias_type` has small letters
        and hyphens. `origin` is null where the file says nothing.

    Raises:
        InputError: for a file that cannot be read or fits no layout, a missing column, an empty cell, an unknown label
            or language, no language, a pair_id that occurs twice, a bias type or origin called `all`, marks that do not
            fit the sentences, a sentence of more than `MOST_WORDS` words.
    """
    return read_pair_file(path, language, layout=layout).pairs


def read_pair_file(
    path: str | Path, language: str | Sequence[str] | None = None, *, layout: str = "auto", spoken: str = "en"
) -> PairFile:
    """Read pairs as `read_pairs`, together with what is odd about them, their marks, and what was ignored.

    `spoken` is the language of a file that does not say its own, where `language` does not say it either.
    """
    path = Path(path)
    wanted = _languages(language)
    raw, chosen, columns, ignored = _raw_pairs(path, wanted, layout, spoken)
    _check(path, raw, columns)
    kept = [pair for pair in raw if wanted is None or pair.language in wanted]
    missing = [one for one in wanted or () if one not in {pair.language for pair in kept}]
    if missing:
        there = ", ".join(sorted({pair.language for pair in raw})) or "none at all"
        raise InputError(f"{path}: no pairs in the language {missing[0]}. The file has: {there}.")
    kept.sort(key=lambda pair: LANGUAGES.index(pair.language))
    return PairFile(
        pairs=pl.DataFrame(list(map(_row, kept)), schema=SCHEMA, orient="row"),
        oddities=oddities(kept, columns),
        agreeing=pl.DataFrame(
            [(pair.pair_id, pair.language, pair.agreeing.strip()) for pair in kept if pair.agreeing.strip()],
            schema={"pair_id": pl.String, "language": pl.String, "agreeing": pl.String},
            orient="row",
        ),
        layout=chosen,
        ignored=ignored,
    )


def _languages(language: str | Sequence[str] | None) -> tuple[str, ...] | None:
    if language is None:
        return None
    languages = (language,) if isinstance(language, str) else tuple(language)
    if not languages:
        raise InputError(
            f"language: no language is named. Write one or more of {', '.join(LANGUAGES)}, or None for all of the file."
        )
    for one in languages:
        if one not in LANGUAGES:
            raise InputError(f"language: {one!r} is not known. Allowed: {', '.join(LANGUAGES)}.")
    return languages


def _raw_pairs(
    path: Path, languages: Sequence[str] | None, layout: str, spoken: str
) -> tuple[list[RawPair], str, tuple[str, str], Mapping[str, int]]:
    """Return the pairs, the layout, the columns of bias type and label, and what was ignored."""
    if layout not in LAYOUTS:
        raise InputError(f"layout: {layout!r} is not known. Allowed: {', '.join(LAYOUTS)}.")
    if layout == STEREOSET or (layout == "auto" and path.suffix.lower() == ".json"):
        pairs, unrelated = stereoset_pairs(path, _one_language(path, STEREOSET, languages, spoken))
        return pairs, STEREOSET, ("bias_type", "label"), {"unrelated sentences": unrelated}
    records = read_csv(path)
    chosen = _csv_layout(path, records, layout)
    one = _one_language(path, chosen.name, languages, spoken) if chosen.one_language else ""
    pairs = [pair for row, cells in enumerate(records.cells, start=1) for pair in chosen.pairs(cells, row, one)]
    return pairs, chosen.name, chosen.type_and_label, {}


def _one_language(path: Path, layout: str, languages: Sequence[str] | None, spoken: str) -> str:
    if languages is None:
        return spoken
    if len(languages) != 1:
        raise InputError(
            f"{path}: the layout {layout} holds one language, but {', '.join(languages)} were asked for. Name"
            " the one that the file is in."
        )
    return languages[0]


def _csv_layout(path: Path, records: Records, layout: str) -> CsvLayout:
    candidates = [one for one in CSV_LAYOUTS if layout in ("auto", one.name)]
    # The layout that fits best is the one that was meant, if a column is missing.
    nearest = max(candidates, key=lambda one: len(set(one.columns) & set(records.columns)) / len(one.columns))
    missing = [column for column in nearest.columns if column not in records.columns]
    if missing:
        (only, *others) = records.columns or ("",)
        parted = next((name for mark, name in ((";", "semicolons"), ("\t", "tabs")) if mark in only and not others), "")
        raise InputError(
            f"{path}: column {missing[0]!r} is missing. The file has {', '.join(map(repr, records.columns))}; the"
            f" layout {nearest.name} needs {', '.join(nearest.columns)}."
            + (f" Its columns are parted by {parted}: save it with commas." if parted else "")
        )
    return nearest


def _check(path: Path, raw: Sequence[RawPair], columns: tuple[str, str]) -> None:
    if not raw:
        raise InputError(f"{path}: no pairs. Write at least one after the header (docs/pairs.md).")
    seen: dict[tuple[str, str], int] = {}
    for pair in raw:
        where = f"{path}, record {pair.row} (pair {pair.pair_id})"
        cells = {
            "pair_id": pair.pair_id,
            columns[0]: pair.bias_type,
            pair.first_column: pair.first,
            pair.second_column: pair.second,
        }
        empty = [column for column, cell in cells.items() if not cell.strip()]
        if empty:
            raise InputError(f"{where}: {empty[0]} is empty. Fill the cell or remove the record.")
        for column, sentence in ((pair.first_column, pair.first), (pair.second_column, pair.second)):
            if (words := len(sentence.split())) > MOST_WORDS:
                raise InputError(
                    f"{where}: {column} has {words} words; at most {MOST_WORDS} are compared. Write sentences,"
                    " not texts."
                )
        if pair.language not in LANGUAGES:
            raise InputError(f"{where}: language {pair.language!r} is not known. Allowed: {', '.join(LANGUAGES)}.")
        if canonical(pair.label) not in LABELS:
            raise InputError(
                f"{where}: {columns[1]} {pair.label!r} is not known. Allowed: {', '.join(LABELS)}; {LABELS[0]} if the"
                f" first sentence is the stereotypical one, {LABELS[1]} if the second is."
            )
        for key, value in ((columns[0], canonical(pair.bias_type)), ("origin", pair.origin)):
            if value == OVERALL:
                raise InputError(
                    f"{where}: {key} is {OVERALL!r}, the name of all pairs together. Give it another name."
                )
        earlier = seen.setdefault((pair.pair_id, pair.language), pair.row)
        if earlier != pair.row:
            raise InputError(f"{where}: record {earlier} has the same id. Results are filed by it; give each its own.")
        if pair.modified or pair.agreeing:
            check_marks(where, pair.modified, pair.agreeing, align_words(readable(pair.first), readable(pair.second)))


def _row(pair: RawPair) -> tuple[str | None, ...]:
    return (
        pair.pair_id,
        pair.language,
        canonical(pair.bias_type),
        canonical(pair.label),
        readable(pair.first),
        readable(pair.second),
        pair.origin,
    )
