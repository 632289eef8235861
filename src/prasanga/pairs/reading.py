"""Read pairs in any layout, from files and data frames, into one table.

All layouts share one rule: `stereo` means that the first sentence is the stereotypical one, `antistereo` that the
second is (IndiBias 6.1.1 and Figure 9).

- `prasanga`: our own. A row is a pair in one language.
- `indibias`: Sahoo et al. 2024. A row is a pair in English and in Hindi; S1 is the first sentence under either
  label.
- `crows-pairs`: Nangia et al. 2020. `sent_more` is the more stereotypical sentence under either label, so in an
  antistereo row it becomes our second sentence.
- `stereoset`: Nadeem et al. 2021. A context has a stereotypical and an anti-stereotypical sentence, in a nested column.

A layout is an entry of `layouts.yaml`; the file format (CSV, JSON, Parquet ...) does not matter.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, islice
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from prasanga.base.errors import InputError, reason
from prasanga.base.formats import HEAD, Content, open_decompressed, recognize, refuse, split_rows, walk_json
from prasanga.base.io import as_frame, read_rows
from prasanga.base.places import LANGUAGE_TAG
from prasanga.base.yaml import load_yaml, suggest
from prasanga.pairs.alignment import LINE_BREAK, MOST_WORDS, align_words, find_wrong_marks, list_oddities
from prasanga.pairs.preferences import LABELS, LANGUAGES, OVERALL, SIDES, check_clusters, sort_languages
from prasanga.schema import TABLES

PAIRS_VERSION = 3
"""Raise this number when a change makes the code read other pairs or oddities: all files are then read again."""


@dataclass(frozen=True)
class Layout:
    """A layout of pairs.

    Attributes:
        name: as in the config.
        columns: required columns besides `sentences`; the columns identify the layout.
        sentences: by language, the columns of the first and the second sentence; the language is "" where the column
            `language`, or the caller, names it. A file may lack both columns of a language if it has another one.
        pair_ids: columns that may have the id. Without one, or if its cells are not distinct, records are numbered
            from 0; but an id among `columns` must be distinct.
        bias_type: the column of the bias type.
        label: the column of the label; without it, the first sentence is the stereotypical one.
        one_language: whether the file is in one language and does not name it.
        more_is_first: whether the first sentence is the more stereotypical one under either label.
        from_tuples: bias types of pairs made from tuples; all others are inherited (IndiBias 4.2).
        codes: by column, the names of the numbers 0, 1, ... that the hub writes. Bias types are decoded only where
            labels are numbers, too.
    """

    name: str
    columns: tuple[str, ...]
    sentences: Mapping[str, tuple[str, str]]
    pair_ids: tuple[str, ...] = ("pair_id",)
    bias_type: str = "bias_type"
    label: str = "label"
    one_language: bool = False
    more_is_first: bool = False
    from_tuples: tuple[str, ...] = ()
    codes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def list_columns(self) -> list[str]:
        """Return the columns of a complete file."""
        return list(dict.fromkeys((*self.columns, *(name for names in self.sentences.values() for name in names))))

    def list_missing(self, columns: Sequence[str]) -> list[str]:
        """Return the columns that a file with these columns lacks."""
        absent = [names for names in self.sentences.values() if not {*names} & {*columns}]
        spared = absent if len(absent) < len(self.sentences) else absent[1:]
        allowed = {*columns, *(name for names in spared for name in names)}
        return [name for name in self.list_columns() if name not in allowed]

    def find_pairs(self, records: pl.DataFrame, spoken: str) -> pl.DataFrame:
        """Return the pairs of all records: `SCHEMA`, the cells that were read, and the names of the file's columns.

        Args:
            records: the columns of a file, as text.
            spoken: the language of a file in one language.
        """
        records = self._decode(records)
        defaults = {self.label: pl.lit("stereo")}
        defaults |= dict.fromkeys(("origin", "cluster", "modified", "agreeing"), pl.lit(""))
        records = records.with_columns(**{name: defaults[name] for name in defaults.keys() - {*records.columns}})
        ids = [name for name in self.pair_ids if name in self.columns or _is_distinct(records, name)]
        pair_id = pl.col(ids[0]).str.strip_chars() if ids else pl.int_range(pl.len()).cast(pl.String)
        named = {"pair_id": pair_id, "row": pl.int_range(1, pl.len() + 1)}
        named |= {name: pl.col(name).str.strip_chars().replace("", None) for name in ("origin", "cluster")}
        spellings = (("bias_type", self.bias_type, canonical), ("label", self.label, _canonical_label))
        for name, column, spell in spellings:
            spelled = pl.col(column).replace({cell: spell(cell) for cell in records[column].unique()})
            named |= {name: spelled, f"{name}_cell": pl.col(column), f"{name}_column": pl.lit(column)}
        if self.from_tuples:
            is_from_tuples = named["bias_type"].is_in(self.from_tuples)
            named["origin"] = pl.when(is_from_tuples).then(pl.lit("tuples")).otherwise(pl.lit("inherited"))
        records = records.with_columns(**named)
        is_turned, parts = (pl.col("label") == "antistereo") & self.more_is_first, []
        for language, names in self.sentences.items():
            if not {*names} <= {*records.columns}:
                continue
            own = spoken if self.one_language and "language" not in records.columns else language
            for belongs, columns in ((~is_turned, names), (is_turned, names[::-1])):
                read = {"language": pl.lit(own) if own else pl.col("language").str.strip_chars()}
                for side, column in zip(SIDES, columns, strict=True):
                    read |= {side: _make_readable(column), f"{side}_cell": pl.col(column)}
                    read[f"{side}_column"] = pl.lit(column)
                parts.append(records.filter(belongs).with_columns(**read))
        return pl.concat(parts).sort("row", maintain_order=True)

    def _decode(self, records: pl.DataFrame) -> pl.DataFrame:
        """Return records with names in place of the hub's numbers."""
        codes = {column: {str(code): name for code, name in enumerate(names)} for column, names in self.codes.items()}
        if not all(records[column].is_in([*names]).all() for column, names in codes.items()):
            codes = {column: names for column, names in codes.items() if column == self.label}
        return records.with_columns(pl.col(column).replace(names) for column, names in codes.items())


def _is_distinct(records: pl.DataFrame, column: str) -> bool:
    return column in records.columns and records[column].is_unique().all() and "" not in records[column]


_GOLD_LABELS = ("stereotype", "anti-stereotype")
_GOLD_CODES = {"0": "anti-stereotype", "1": "stereotype", "2": "unrelated"}  # of the hub's export
_STEREOSET_PAIRS = Layout("stereoset", (), {"": _GOLD_LABELS}, one_language=True)

_LAYOUTS_FILE = Path(__file__).with_name("layouts.yaml")
_ALL_LAYOUTS = [Layout(**layout) for layout in load_yaml(_LAYOUTS_FILE, _LAYOUTS_FILE.read_text(encoding="utf-8"))]
LAYOUTS = ("auto", *(layout.name for layout in _ALL_LAYOUTS))
"""Values of `layout`; auto chooses by the names of the columns."""

OTHERS = read_rows(Path(__file__).with_name("others.tsv"))
"""Data sets about bias that are not pairs: name, identifying columns, description, and what to do."""


def require_layout(layout: str, key: str) -> None:
    """Refuse an unknown layout, the value of the config key `key`.

    Raises:
        InputError: the layout is not in `LAYOUTS`.
    """
    if layout not in LAYOUTS:
        raise InputError(f"`{key}` is {layout!r}.{suggest(layout, LAYOUTS)}")


def canonical(name: str) -> str:
    """Return a bias type in lower case, with hyphens for blanks."""
    return "-".join(name.lower().replace("_", " ").split())


def _canonical_label(cell: str) -> str:
    return re.sub(r"^(?:(anti)-?)?stereo(type|typical)?$", lambda match: f"{match[1] or ''}stereo", canonical(cell))


def find_layout(source: object, columns: Sequence[str], layout: str) -> Layout:
    """Return the layout that fits the columns of a file or frame best.

    Raises:
        InputError: the best layout still lacks a column.
    """
    candidates = [one for one in _ALL_LAYOUTS if layout in ("auto", one.name)]

    def fit(one: Layout) -> tuple[bool, float]:
        return not one.list_missing(columns), len({*one.list_columns()} & {*columns}) / len(one.list_columns())

    nearest = max(candidates, key=fit)
    if not (missing := nearest.list_missing(columns)):
        return nearest
    for other in OTHERS:
        if {*other["columns"].split(",")} <= {*columns}:
            raise InputError(f"{source}: this looks like {other['name']}: {other['what']}. {other['remedy']}")
    raise InputError(
        f"{source}: column {missing[0]!r} is missing. The file has {', '.join(map(repr, columns)) or 'none'}; the"
        f" layout {nearest.name} needs {', '.join(nearest.list_columns())} (docs/pairs.md)."
    )


# --------------------
# Records: any table that a program writes, with all cells as text.


_WINO_BIAS = re.compile(r"\d+ .*\[.+\].*\[.+\]")


def read_records(source: Any) -> pl.DataFrame:
    """Return the records of a file or data frame.

    Args:
        source: the path of a table (commas, semicolons, tabs or bars), JSON lines, JSON, Parquet or Arrow, compressed
            or not (the content decides, not the name); or a table of polars, pandas or Arrow, or a dict.

    Returns:
        Columns named in lower case, with underscores for blanks and hyphens; an unnamed first one is called "". Cells
        are text: "" for missing values, lists and structs, except in the column `sentences`.

    Raises:
        InputError: the file is missing, damaged, empty, not UTF-8 or of another format; a column is named twice; a
            record has more or fewer cells than columns.
    """
    if not isinstance(source, str | Path):
        table = as_frame("pairs", source)
        return _as_text("pairs", _name_classes(table, source.schema) if isinstance(source, pa.Table) else table)
    with open_decompressed(source) as stream:
        head = stream.read(HEAD + 1)
        content = recognize(head, "pairs.csv")  # text is read as a table, whatever the file's name
        if why := refuse(content):
            raise InputError(f"{source} {why} Pairs are read from tables, JSON and Parquet (docs/pairs.md).")
        data = head + stream.read()
    if content.kind in ("parquet", "dataset"):
        return _as_text(source, _read_arrow(source, data))
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise InputError(f"{source}, line {line}: not UTF-8. Save the file as UTF-8 (Excel: `CSV UTF-8`).") from None
    del data  # as large as all that follows
    is_json = content.kind in ("json", "jsonl")
    frames = list(_read_json(source, text) if is_json else _read_table(source, text, content))
    return _as_text(source, pl.concat(frames, how="diagonal_relaxed") if frames else pl.DataFrame())


def _plain_names(source: object, columns: Iterable[str]) -> list[str]:
    """Return the names of columns in one spelling; "" for the unnamed index that pandas writes."""
    names = ["_".join(re.sub(r"[\ufeff_-]", " ", column.casefold()).split()) for column in columns]
    names = [name or (f"unnamed:_{place}" if place else "") for place, name in enumerate(names)]
    if names[:1] == ["unnamed:_0"]:
        names[0] = ""
    if twice := sorted(name for name, count in Counter(names).items() if count > 1):
        raise InputError(f"{source}: two columns are named {twice[0]!r}. Give each column a name of its own.")
    return names


def _as_text(source: object, table: pl.DataFrame) -> pl.DataFrame:
    """Return a table with plain names and cells of text; integers that pandas wrote as floats become integers again."""
    table = table.rename(dict(zip(table.columns, _plain_names(source, table.columns), strict=True)))
    cells = {}
    for column in table.iter_columns():
        if column.dtype.is_float() and (column.fill_nan(None).drop_nulls() % 1 == 0).all():
            column = column.fill_nan(None).cast(pl.Int64, strict=False)
        if not column.dtype.is_nested() and column.dtype != pl.Binary:
            column = column.cast(pl.String).fill_null("")
        elif not column.name.startswith("sentences"):  # no other list, object or image is used
            column = pl.Series(column.name, [""] * len(column), dtype=pl.String)
        cells[column.name] = column
    table = pl.DataFrame(cells)
    if "lang" in cells and "language" not in cells and {*table["lang"]} <= {*LANGUAGES}:
        table = table.rename({"lang": "language"})
    return table


def _read_arrow(path: str | Path, data: bytes) -> pl.DataFrame:
    try:
        if data.startswith(b"PAR1"):
            return _name_classes(pl.read_parquet(data), pq.read_schema(pa.BufferReader(data)))
        table = (pa.ipc.open_file if data.startswith(b"ARROW1") else pa.ipc.open_stream)(data).read_all()
        return _name_classes(as_frame("pairs", table), table.schema)
    except (OSError, pa.ArrowException, pl.exceptions.PolarsError) as error:
        raise InputError(f"{path}: damaged ({reason(error)}). Write the file again, or fetch it again.") from error


def _name_classes(table: pl.DataFrame, schema: pa.Schema) -> pl.DataFrame:
    """Return a table with class names in place of the numbers that the hub's library writes with a list of names."""
    try:
        features = json.loads((schema.metadata or {})[b"huggingface"])["info"]["features"]
        classes = {name: feature["names"] for name, feature in features.items() if "names" in feature}
    except (AttributeError, KeyError, TypeError, ValueError):  # others than the hub's library write there, too
        return table
    for column in classes.keys() & {*table.columns}:
        codes = {str(code): name for code, name in enumerate(classes[column])}
        table = table.with_columns(pl.col(column).cast(pl.String).replace(codes))
    return table


_ROWS = 8_192
"""Records that are Python objects at a time, which take ten times their memory in a frame."""


def _read_json(path: str | Path, text: str) -> Iterator[pl.DataFrame]:
    """Yield the records of JSON lines, of a JSON list, or of the list in a JSON object."""
    values = walk_json(text)
    try:
        first = list(islice(values, 2))
        if len(first) == 1 and text.lstrip().startswith("{"):
            first = _list_records(first[0])
        # pages of the hub's viewer have each record in the field `row`
        records = (row["row"] if isinstance(row.get("row"), dict) else row for row in chain(first, values))
        while several := list(islice(records, _ROWS)):
            columns = dict[str, list[Any]]()
            for name in dict.fromkeys(name for record in several for name in record):
                cells = [record.get(name) for record in several]
                if not name.startswith("sentences"):  # others are not used, and may differ from record to record
                    cells = [None if isinstance(cell, list | dict) else cell for cell in cells]
                columns[name] = cells
            yield pl.DataFrame(columns, strict=False)
    except (AttributeError, RecursionError, TypeError, ValueError, pl.exceptions.PolarsError) as error:
        line = f", line {error.lineno}" if isinstance(error, json.JSONDecodeError) else ""
        raise InputError(
            f"{path}{line}: not a table in JSON ({reason(error)}). Write one object per line or one list of objects,"
            " with the columns as keys."
        ) from None


def _list_records(content: dict[str, Any]) -> list[Any]:
    """Return the records of a JSON object: StereoSet as published, the only list in it, or the object itself."""
    data = content.get("data", content.get("rows", content))
    if isinstance(data, dict) and {*data} & {*_PARTS}:
        return [{**item, "part": part} for part in _PARTS for item in data.get(part) or ()]
    if isinstance(data, dict) and len(data) == 1:  # a split
        (data,) = data.values()
    if isinstance(data, list):
        return data
    if all(isinstance(value, list) for value in content.values()):
        raise ValueError(f"an object of {', '.join(map(repr, content))} around the records")
    return [content]


def _read_table(path: str | Path, text: str, content: Content) -> Iterator[pl.DataFrame]:
    """Yield the records of a table as text. Cells may hold line breaks."""
    # a stream of the whole text would take four bytes per character
    lines = (line[0] for line in re.finditer(r"[^\n]*\n|[^\n]+", text))
    rows = (row for _, row in split_rows(path, lines, content) if any(row))
    header = next(rows, [])
    if _WINO_BIAS.match("".join(header)):
        header = ["tokens", "coreference_clusters"]  # as the hub calls its columns
    columns = _plain_names(path, header)
    yield pl.DataFrame(schema=dict.fromkeys(columns, pl.String))
    if not {*columns} & {name for layout in _ALL_LAYOUTS for name in layout.list_columns()}:
        return  # other text
    number = 0
    while several := list(islice(rows, _ROWS)):
        for row in several:
            number += 1
            if len(row) > len(columns) and not any(row[len(columns) :]):  # a spreadsheet's empty columns
                del row[len(columns) :]
            if len(row) != len(columns):
                raise InputError(
                    f"{path}, record {number}: {len(row)} cells, but the header names {len(columns)} columns"
                    f" ({', '.join(columns)}). Put sentences with {content.dialect['delimiter']!r} in double quotes."
                )
        yield pl.DataFrame(several, schema=dict.fromkeys(columns, pl.String), orient="row")


# --------------------
# StereoSet (Nadeem et al. 2021) as pairs.
#
# Each item has a stereotypical, an anti-stereotypical and an unrelated sentence. The first two become a pair labeled
# `stereo`. Unrelated sentences are left out, because a pair asks which of two meaningful sentences a model prefers. In
# an intersentence item the context precedes both.


_PARTS = ("intrasentence", "intersentence")
_BLANK = re.compile(r"\bBLANK\b|_{2,}|\[MASK\]|<mask>")


def list_stereoset_pairs(source: object, items: pl.DataFrame) -> pl.DataFrame:
    """Return the items of a file as records of pairs, with the gold labels as columns.

    Args:
        source: the file, for messages.
        items: the layout's columns; `sentences` is a list of objects, as the authors published it, or an object of
            lists, as the hub exports it. `part` is one of `_PARTS`; without it, a context with a blank is
            intrasentence.

    Raises:
        InputError: an item does not have exactly one sentence of each kind.
    """
    records: list[tuple[str, ...]] = []
    for row, item in enumerate(items.iter_rows(named=True), start=1):
        sentences, context = item["sentences"], item["context"].strip()
        part = item.get("part") or _PARTS[not _BLANK.search(context)]
        place = f"{source}, item {row} ({part})"
        try:
            if isinstance(sentences, list):
                sentences = {name: [each[name] for each in sentences] for name in ("gold_label", "sentence")}
            elif not isinstance(sentences, dict):
                raise TypeError(f"found {str(sentences)[:60]!r}")
            labels = [_GOLD_CODES.get(str(label), str(label)) for label in sentences["gold_label"]]
            labelled = dict(zip(labels, sentences["sentence"], strict=True))
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(
                f"{place}: `sentences` needs a `gold_label` and a `sentence` for each ({reason(error)}). Save the data"
                " set as JSON lines (`to_json`) or Parquet (`to_parquet`); a table of text cannot nest them."
            ) from error
        related = sorted(label for label in labels if label != "unrelated")
        if related != sorted(_GOLD_LABELS):
            raise InputError(
                f"{place}: the gold labels are {', '.join(related) or 'unrelated'}. Write one sentence each with"
                f" {' and '.join(_GOLD_LABELS)} (in the hub's export 1 and 0); others are unrelated (2)."
            )
        before = f"{context} " if part == "intersentence" else ""
        records.append((item["id"], item["bias_type"], *(before + (labelled[label] or "") for label in _GOLD_LABELS)))
    schema = dict.fromkeys(("pair_id", "bias_type", *_GOLD_LABELS), pl.String)
    return pl.DataFrame(records, schema=schema, orient="row")


# --------------------
# Files of pairs, in any layout, as one table.


def _make_readable(column: str) -> pl.Expr:
    """Return the sentences of a column as they are scored: stripped, with one blank for a line break."""
    return pl.col(column).str.strip_chars().str.replace_all(LINE_BREAK, " ")


#: Columns of the table of pairs.
SCHEMA = TABLES["pairs"].polars


@dataclass(frozen=True)
class PairFile:
    """The content of a file of pairs.

    Attributes:
        pairs: the table that `read_pairs` returns.
        layout: the name of the file's layout.
        cells: the pairs with the cells that they were read from (`Layout.find_pairs`).
    """

    pairs: pl.DataFrame
    layout: str
    cells: pl.DataFrame = field(repr=False)

    @cached_property
    def oddities(self) -> pl.DataFrame:
        """One row per oddity (`ODDITIES_SCHEMA`), computed on first use."""
        return list_oddities(self.cells)


def read_pairs(path: Any, language: str | Sequence[str] | None = None, *, layout: str = "auto") -> pl.DataFrame:
    """Return the pairs of a file or data frame, one row per pair and language, in its order within a language.

    Args:
        path: a file or data frame (`read_records`) in one of `LAYOUTS`.
        language: bn, hi or en, or several of them; None for all in the file. CrowS-Pairs and StereoSet do not name
            their language: it is the one given here, or English.
        layout: one of `prasanga.pairs.reading.LAYOUTS`; auto chooses by the names of the columns.

    Returns:
        Columns `SCHEMA`. `first` and `second` are as in the file except for line breaks and blanks at the ends. `label`
        is stereo if the first is the stereotypical sentence, antistereo if the second is. `bias_type` is in lower case
        with hyphens. `origin` and `cluster` are null where the file does not give them.

    Raises:
        InputError: as `read_records`; or the records fit no layout, or have a missing column, an empty cell, an unknown
            label or language, no language, a repeated pair_id, a bias type or origin called `all`, marks that do not
            fit the sentences, a sentence of more than `MOST_WORDS` words, or clusters of both labels and clusters of
            one label in the same bias type.
    """
    return read_pair_file(path, language, layout=layout).pairs


def read_pair_file(
    path: Any, language: str | Sequence[str] | None = None, *, layout: str = "auto", spoken: str = "en"
) -> PairFile:
    """Read pairs as `read_pairs`, with their oddities.

    `spoken` is the language where neither the file nor `language` names it.
    """
    wanted = [language] if isinstance(language, str) else language
    if wanted is not None and not (wanted and all(re.search(LANGUAGE_TAG, each) for each in wanted)):
        raise InputError(
            f"language: {language!r} is not a language tag. Write one or more, such as bn, or None for all."
        )
    require_layout(layout, "layout")
    source, records = path, read_records(path)
    if not isinstance(path, str | Path):
        source, records = "pairs", _fill_frame(records, (wanted or [""])[0])
    chosen = find_layout(source, records.columns, layout)
    if chosen.one_language and "language" not in records.columns and wanted and len(wanted) > 1:
        raise InputError(
            f"{source}: a file in the layout {chosen.name} is in one language, but the languages given are"
            f" {', '.join(wanted)}. Write the one that the file is in."
        )
    if records.is_empty():
        raise InputError(f"{source}: no pairs. Write at least one after the header (docs/pairs.md).")
    if chosen.name == _STEREOSET_PAIRS.name:
        chosen, records = _STEREOSET_PAIRS, list_stereoset_pairs(source, records)
    pairs = chosen.find_pairs(records, (wanted or [spoken])[0])
    _refuse_mistakes(source, pairs, chosen)
    there = pairs["language"].unique().sort().to_list()
    english = pairs.filter(language="en")["first"]
    if len(english) and english.str.contains(r"[\u0900-\u09ff]").all() and not english.str.contains("[A-Za-z]").any():
        raise InputError(
            f"{source}: the language is en, but the sentences are in another script, such as {english[0]!r}. Add a"
            " column `language` with bn or hi, or write `languages: [hi]` under the set of pairs."
        )
    if missing := [one for one in wanted or () if one not in there]:
        raise InputError(
            f"{source}: no pairs in the language {missing[0]}; the file has {', '.join(there)}. In a study, write for"
            f" example `languages: [{there[0]}]` under the set."
        )
    if len(there) > 1:
        pairs = pl.concat(pairs.filter(language=one) for one in sort_languages(wanted or there))
    table = pairs.select(*SCHEMA)
    check_clusters(source, table)
    return PairFile(table, chosen.name, pairs)


def _fill_frame(records: pl.DataFrame, language: str) -> pl.DataFrame:
    """Return the records of a frame with defaults for the columns that only a file must have."""
    if not {"first", "second"} <= {*records.columns} or "stereo_antistereo" in records.columns:
        return records
    said = {"label": "stereo", "bias_type": "not stated", "language": language}
    number = pl.int_range(1, pl.len() + 1).cast(pl.String)
    filled = {"pair_id": number, **{name: pl.lit(value) for name, value in said.items()}}
    return records.with_columns(**{name: value for name, value in filled.items() if name not in records.columns})


def _refuse_mistakes(source: object, pairs: pl.DataFrame, layout: Layout) -> None:
    """Refuse a file with a mistake in a pair: the first kind of mistake, in the first pair that has it."""
    # another layout's rule would swap the sentences
    rule = "Write stereo if {first_column} is the stereotypical sentence, antistereo if {second_column} is."
    if layout.more_is_first:
        more, less = layout.sentences[""]
        rule = (
            f"In this layout {more} is the more stereotypical sentence under either label, so leave both sentences in"
            f" their columns. Write stereo where {more} is about the disadvantaged group, and antistereo where {less}"
            " is; 0 is stereo and 1 antistereo, as in the hub's export."
        )
    columns = {"pair_id": "pair_id", "bias_type": layout.bias_type}
    columns |= {side: f"{{{side}_column}}" for side in SIDES}
    many = f"words; the most is {MOST_WORDS}. Shorten the sentence or remove the record."
    known_languages = "is not a language tag. Write for example bn, hi, en or ta."
    known_labels = f"is not known. Allowed: {', '.join(LABELS)}."
    reserved = "is 'all', which is reserved for all pairs. Write another name."
    is_repeated = pl.col("earlier") != pl.col("row")
    mistakes = {
        **{f"{columns[name]} is empty. Fill the cell or remove the record.": pl.col(name) == "" for name in columns},
        **{f"{columns[side]} has {{{side}_words}} {many}": pl.col(f"{side}_words") > MOST_WORDS for side in SIDES},
        f"language {{language!r}} {known_languages}": ~pl.col("language").str.contains(LANGUAGE_TAG),
        f"{layout.label} {{label_cell!r}} {known_labels} {rule}": ~pl.col("label").is_in(LABELS),
        f"{layout.bias_type} {reserved}": pl.col("bias_type") == OVERALL,
        f"origin {reserved}": pl.col("origin") == OVERALL,
        "record {earlier} has the same id. Give each pair its own.": is_repeated,
    }
    pairs = pairs.with_columns(
        *(pl.col(side).str.count_matches(r"\S+").alias(f"{side}_words") for side in SIDES),
        earlier=pl.col("row").first().over("pair_id", "language"),
    )
    for mistake, is_wrong in mistakes.items():
        wrong = pairs.filter(is_wrong)
        if len(wrong):
            pair = wrong.row(0, named=True)
            raise InputError(f"{source}, record {pair['row']} (pair {pair['pair_id']}): {mistake.format(**pair)}")
    for pair in pairs.filter((pl.col("modified") != "") | (pl.col("agreeing") != "")).iter_rows(named=True):
        aligned = align_words(pair["first"], pair["second"])
        for mistake in find_wrong_marks(pair["modified"], pair["agreeing"], aligned):
            raise InputError(f"{source}, record {pair['row']} (pair {pair['pair_id']}): {mistake}")
