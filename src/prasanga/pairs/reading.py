"""Files of pairs, in any layout, as one table; and the oddities of pairs.

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
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Any

import polars as pl
import regex

from prasanga.base.errors import InputError
from prasanga.base.io import read_rows
from prasanga.base.yaml import read_json_object, read_text, suggest
from prasanga.pairs.alignment import MOST_WORDS, Span, align_spans, align_words, comparable, find_wrong_marks, words_of
from prasanga.pairs.preferences import LABELS, LANGUAGES, OVERALL, check_clusters
from prasanga.schema import TABLES
from prasanga.text.words import unicode_form

PAIRS_VERSION = 2
"""Raise this number when the code reads other pairs or oddities from a file: all files are then read again."""


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

    def find_pairs(self, records: pl.DataFrame, spoken: str) -> pl.DataFrame:
        """Return the pairs of all records: `SCHEMA`, the cells that were read, and the names of the file's columns.

        Args:
            records: the columns of a file, all of them text.
            spoken: the language of a file that is in one.
        """
        defaults = {self.pair_id: pl.int_range(pl.len()).cast(pl.String), self.label: pl.lit("stereo")}
        defaults |= dict.fromkeys(("origin", "cluster", "modified", "agreeing"), pl.lit(""))
        records = records.with_columns(**{name: defaults[name] for name in defaults.keys() - {*records.columns}})
        named = {"pair_id": pl.col(self.pair_id).str.strip_chars(), "row": pl.int_range(1, pl.len() + 1)}
        named |= {name: pl.col(name).str.strip_chars().replace("", None) for name in ("origin", "cluster")}
        for name, column in (("bias_type", self.bias_type), ("label", self.label)):
            spelled = pl.col(column).replace({cell: canonical(cell) for cell in records[column].unique()})
            named |= {name: spelled, f"{name}_cell": pl.col(column), f"{name}_column": pl.lit(column)}
        if self.from_tuples:
            is_from_tuples = named["bias_type"].is_in(self.from_tuples)
            named["origin"] = pl.when(is_from_tuples).then(pl.lit("tuples")).otherwise(pl.lit("inherited"))
        records = records.with_columns(**named)
        is_turned, parts = (pl.col("label") == "antistereo") & self.more_is_first, []
        for language, names in self.sentences.items():
            own = spoken if self.one_language else language
            for belongs, columns in ((~is_turned, names), (is_turned, names[::-1])):
                read = {"language": pl.lit(own) if own else pl.col("language").str.strip_chars()}
                for side, column in zip(_SIDES, columns, strict=True):
                    read |= {side: _make_readable(column), f"{side}_cell": pl.col(column)}
                    read[f"{side}_column"] = pl.lit(column)
                parts.append(records.filter(belongs).with_columns(**read))
        return pl.concat(parts).sort("row", maintain_order=True)


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

_GOLD_LABELS = ("stereotype", "anti-stereotype")
STEREOSET = Layout("stereoset", (), {"": _GOLD_LABELS}, one_language=True)

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


def read_csv(path: Path) -> pl.DataFrame:
    """Return the records of a CSV file (UTF-8, with or without byte-order mark), all columns as text.

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
    return pl.DataFrame(rest, schema=dict.fromkeys(columns, pl.String), orient="row")


# --------------------
# StereoSet (Nadeem et al. 2021) as pairs.
#
# Each item has a stereotypical, an anti-stereotypical and an unrelated sentence. The first two are a pair labelled
# `stereo`; unrelated sentences are left, since a pair asks which of two meaningful sentences a model prefers. An
# intersentence item puts its context before both.


def read_stereoset(path: Path) -> pl.DataFrame:
    """Return the items of a file as records of the layout `STEREOSET`.

    Raises:
        InputError: another JSON layout, or an item without exactly one sentence of a kind.
    """
    records: list[tuple[str, ...]] = []
    data = read_json_object(path).get("data")
    for part in ("intrasentence", "intersentence"):
        items = data.get(part, []) if isinstance(data, dict) and data else None
        if not isinstance(items, list):
            raise InputError(
                f"{path}: `data: {part}` is no list. StereoSet has a mapping `data` with the lists intrasentence and"
                " intersentence, or one of them."
            )
        for row, item in enumerate(items, start=len(records) + 1):
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
            before, sentences = f"{context.strip()} " if part == "intersentence" else "", dict(labelled)
            records.append((pair_id, bias_type, *(before + sentences[label] for label in _GOLD_LABELS)))
    schema = dict.fromkeys(("pair_id", "bias_type", *_GOLD_LABELS), pl.String)
    return pl.DataFrame(records, schema=schema, orient="row")


# --------------------
# Oddities of pairs, one row each, so that nothing is changed or lost without a word.
#
# Scored is what the file says. Only two things are changed on reading, blanks at the ends of a sentence and line
# breaks in it, because a decoder would score them as pieces; both are reported as changed, everything else as kept.


KINDS = {row["kind"]: row["meaning"] for row in read_rows(Path(__file__).with_name("oddities.tsv"))}
"""Every kind of finding, and what it says."""

#: More modified words than this, in both sentences together, and the pair is reported as not minimally distant.
MANY_MODIFIED_WORDS = 6

_LINE_BREAK = r"\s*[\n\r\x0b\x0c\x85\u2028\u2029]\s*"
_KEPT = "kept"
_SIDES = ("first", "second")
_NUKTAS = str.maketrans("", "", "\u093c\u09bc")

# Kind -> what is odd about a sentence, in any language.
_PATTERNS = {
    "several-blanks": r"[^\S\n]{2,}",
    "other-blank": r"[^\S \t\n]",
    "invisible-character": r"[\p{Cf}--[\u200c\u200d]]",
    "replacement-character": r"\ufffd",
    "curly-quote": r"[\u2018-\u201f]",
    "blank-before-stop": r"\s[।॥|.!?,;]",
    "double-danda": r"॥|।।",
    "no-blank-after-stop": r"(?<!\S)\S*[\p{L}\p{M}][।॥|]\p{L}\S*",
}
_BAR = {"bar-for-danda": r"(?<!\|)\|(?!\|)"}
_SCRIPTS = {"bn": r"\p{Script=Bengali}", "hi": r"\p{Script=Devanagari}", "en": r"\p{Script=Latin}"}
_IN_SENTENCE = {
    language: {
        kind: regex.compile(pattern, regex.VERSION1)
        for kind, pattern in (
            *(_PATTERNS | ({} if language == "en" else _BAR)).items(),
            ("other-script", rf"[\p{{L}}--{script}]\p{{M}}*(?:\p{{L}}\p{{M}}*)*"),
        )
    }
    for language, script in _SCRIPTS.items()
}


ODDITIES_SCHEMA = TABLES["pair_oddities"].polars


def _make_readable(column: str) -> pl.Expr:
    """Return the sentences of a column as they are scored.

    They have no blanks at their ends, and a line break and the blanks around it become one blank.
    """
    return pl.col(column).str.strip_chars().str.replace_all(_LINE_BREAK, " ")


def list_oddities(pairs: pl.DataFrame) -> pl.DataFrame:
    """Return the oddities of the pairs of a file (`Layout.find_pairs`).

    Returns:
        Columns `ODDITIES_SCHEMA`: `row` counts records from 1; `column` is that of the file, both sentences' joined
        with ` / `. Sorted by row, language and column as they come.
    """
    breaks = {
        f"{side}_breaks": pl.col(f"{side}_cell").str.strip_chars().str.count_matches(_LINE_BREAK) for side in _SIDES
    }
    pairs = pairs.with_columns(**breaks, column=pl.format("{} / {}", "first_column", "second_column"))
    found: list[tuple[Any, ...]] = [
        (pair, *rest) for pair in pairs.iter_rows(named=True) for rest in _find_in_pair(pair)
    ]
    found.extend(_find_repetition(pairs))
    rows = [(pair["pair_id"], pair["row"], pair["language"], *rest) for pair, *rest in found]
    return pl.DataFrame(rows, schema=ODDITIES_SCHEMA, orient="row").sort("row", maintain_order=True)


def _find_in_pair(pair: Mapping[str, Any]) -> Iterator[tuple[str, str, str, str]]:
    """Yield the column and kind of each oddity of a pair, the place found, and the change made."""
    for name in ("bias_type", "label"):
        if pair[name] != (cell := pair[f"{name}_cell"]):
            yield pair[f"{name}_column"], f"{name.replace('_', '-')}-spelling", cell, f"read as {pair[name]}"
    for side in _SIDES:
        column, cell = pair[f"{side}_column"], pair[f"{side}_cell"]
        if cell != cell.strip():
            ends = repr(cell[: len(cell) - len(cell.lstrip())] + "…" + cell[len(cell.rstrip()) :])
            yield column, "outer-blanks", ends, "removed"
        if breaks := pair[f"{side}_breaks"]:
            yield column, "line-break", f"{breaks} in the cell", "a blank in its place"
        yield from ((column, kind, found, _KEPT) for kind, found in _find_in_sentence(pair[side], pair["language"]))
    yield from ((pair["column"], *rest) for rest in _find_in_sentences(pair["first"], pair["second"]))


def _find_in_sentence(text: str, language: str) -> Iterator[tuple[str, str]]:
    """Yield the kind of each oddity of a single sentence, and the place found."""
    for kind, pattern in _IN_SENTENCE[language].items():
        if hits := pattern.findall(text):
            yield kind, " ".join(f"{hit!a}" if not hit.isprintable() or hit.isspace() else hit for hit in hits)
    if not unicodedata.is_normalized("NFC", text):
        words = (word.text for word in words_of(text))
        yield "not-nfc", " ".join(word for word in words if not unicodedata.is_normalized("NFC", word))
    if text[:1].islower():
        yield "small-first-letter", words_of(text)[0].text


def _find_in_sentences(first: str, second: str) -> Iterator[tuple[str, str, str]]:
    """Yield the kind of each oddity of two sentences compared, the place found, and the change made."""
    if first == second:
        yield "identical-sentences", first, "kept, cannot be scored"
        return
    spans = align_spans(first, second)
    unmodified, modified, others, modified_others = spans.words(first, second)
    if not (modified or modified_others):
        yield "identical-words", f"{first} / {second}", "kept, cannot be scored unless punctuation belongs to words"
    if not unmodified:
        yield "no-common-word", f"{first} / {second}", "kept, cannot be scored where unmodified words are needed"
    for one, other in zip(unmodified, others, strict=True):
        if one != other:
            kind = "differing-case" if one.casefold() == other.casefold() else "differing-spelling"
            yield kind, f"{one} / {other}", "kept, compared as one word"
    without_nukta = {word: _without_nukta(word) for word in (*modified, *modified_others)}
    for one, other in product(modified, modified_others):
        if without_nukta[one] == without_nukta[other] and comparable(one) != comparable(other):
            yield "differing-nukta", f"{one} / {other}", "kept, compared as two words"
    ends = _ending(first, *spans[:2]), _ending(second, *spans[2:])
    if ends[0] != ends[1]:
        yield "differing-end", " / ".join(end or "nothing" for end in ends), _KEPT
    if len(modified) != len(modified_others):
        counts = (len(unmodified) + len(words) for words in (modified, modified_others))
        yield "differing-length", f"{' / '.join(map(str, counts))} words", _KEPT
    if len(modified) + len(modified_others) > MANY_MODIFIED_WORDS:
        yield "many-modified-words", f"{len(modified)} / {len(modified_others)} words", _KEPT


def _ending(text: str, *words: Sequence[Span]) -> str:
    """Return the punctuation that ends a sentence, without blanks; punctuation inside the words does not count."""
    last = max((end for spans in words for _, end in spans), default=0)
    return "".join(text[last:].split())


def _without_nukta(word: str) -> str:
    return unicode_form("NFD", comparable(word)).translate(_NUKTAS)


def _find_repetition(pairs: pl.DataFrame) -> Iterator[tuple[Mapping[str, Any], str, str, str, str]]:
    """Yield the sentences that several pairs of one language have, as a pair or one by one."""
    seen: dict[tuple[str, ...], str] = {}
    for pair in pairs.iter_rows(named=True):
        language, first, second = pair["language"], pair["first"], pair["second"]
        if earlier := seen.get((language, first, second)):
            yield pair, pair["column"], "duplicated-pair", f"as {earlier}", _KEPT
        elif turned := seen.get((language, second, first)):
            yield pair, pair["column"], "reversed-pair", f"of {turned}", _KEPT
        else:
            for side in _SIDES:
                if same := seen.get((language, pair[side])):
                    yield pair, pair[f"{side}_column"], "duplicated-sentence", f"also in {same}", _KEPT
        for sentences in ((first, second), (first,), (second,)):
            seen.setdefault((language, *sentences), pair["pair_id"])


# --------------------
# Files of pairs, in any layout, as one table.

#: Columns of the table of pairs.
SCHEMA = TABLES["pairs"].polars


@dataclass(frozen=True)
class PairFile:
    """What a file of pairs holds.

    Attributes:
        pairs: the table that `read_pairs` gives.
        layout: of the file.
        cells: the pairs with the cells that they were read from (`Layout.find_pairs`).
    """

    pairs: pl.DataFrame
    layout: str
    cells: pl.DataFrame = field(repr=False)

    @cached_property
    def oddities(self) -> pl.DataFrame:
        """One row per oddity (`ODDITIES_SCHEMA`), looked for when they are first asked for."""
        return list_oddities(self.cells)


def read_pairs(path: str | Path, language: str | Sequence[str] | None = None, *, layout: str = "auto") -> pl.DataFrame:
    """Return the pairs of a file, one row per pair and language, in the file's order within a language.

    Args:
        path: a CSV file in one of `prasanga.pairs.reading.CSV_LAYOUTS`, or StereoSet's JSON.
        language: bn, hi or en, or several of them; None for all that the file has. The layouts of CrowS-Pairs and
            StereoSet do not say their language: it is the one given here, English if none is.
        layout: one of `prasanga.pairs.reading.LAYOUTS`; auto goes by the names of the columns.

    Returns:
        Columns `SCHEMA`. `first` and `second` are as in the file but for line breaks and blanks at the ends. `label` is
        stereo if the first is the stereotypical sentence, antistereo if the second is. `bias_type` has small letters
        and hyphens. `origin` and `cluster` are null where the file says nothing.

    Raises:
        InputError: for a file that cannot be read or fits no layout, a missing column, an empty cell, an unknown label
            or language, no language, a pair_id that occurs twice, a bias type or origin called `all`, marks that do not
            fit the sentences, a sentence of more than `MOST_WORDS` words, clusters of both labels beside clusters of
            one label in the same bias type.
    """
    return read_pair_file(path, language, layout=layout).pairs


def read_pair_file(
    path: str | Path, language: str | Sequence[str] | None = None, *, layout: str = "auto", spoken: str = "en"
) -> PairFile:
    """Read pairs as `read_pairs`, together with their oddities.

    `spoken` is the language of a file that does not say its own, where `language` does not say it either.
    """
    path = Path(path)
    wanted = [language] if isinstance(language, str) else language
    if wanted is not None and (not wanted or set(wanted) - set(LANGUAGES)):
        raise InputError(
            f"language: {language!r} is not known. Write one or more of {', '.join(LANGUAGES)}, or None for all of the"
            " file."
        )
    require_layout(layout, "layout")
    if layout == STEREOSET.name or (layout == "auto" and path.suffix.lower() == ".json"):
        chosen, records = STEREOSET, read_stereoset(path)
    else:
        records = read_csv(path)
        chosen = find_layout(path, records.columns, layout)
    if chosen.one_language and wanted and len(wanted) > 1:
        raise InputError(
            f"{path}: the layout {chosen.name} holds one language, but {', '.join(wanted)} were asked for. Name the one"
            " that the file is in."
        )
    if records.is_empty():
        raise InputError(f"{path}: no pairs. Write at least one after the header (docs/pairs.md).")
    pairs = chosen.find_pairs(records, (wanted or [spoken])[0])
    _refuse_mistakes(path, pairs, chosen)
    there = pairs["language"].unique().sort().to_list()
    if missing := [one for one in wanted or () if one not in there]:
        raise InputError(f"{path}: no pairs in the language {missing[0]}. The file has: {', '.join(there)}.")
    pairs = pl.concat(pairs.filter(language=one) for one in LANGUAGES if one in (wanted or there))
    table = pairs.select(*SCHEMA)
    check_clusters(path, table)
    return PairFile(table, chosen.name, pairs)


def check_pair_file(
    path: str | Path, language: str | Sequence[str] | None = None, *, layout: str = "auto", spoken: str = "en"
) -> None:
    """Refuse a file of pairs that `read_pair_file` would refuse; for a plan, before any job.

    Raises:
        InputError: as `read_pairs`.
    """
    read_pair_file(path, language, layout=layout, spoken=spoken)


def _refuse_mistakes(path: Path, pairs: pl.DataFrame, layout: Layout) -> None:
    """Refuse a file with a pair that has a mistake: the first of these, in the first pair that has it."""
    # another layout's rule would swap the sentences
    rule = "Write stereo if {first_column} is the stereotypical sentence, antistereo if {second_column} is."
    if layout.more_is_first:
        more, less = layout.sentences[""]
        rule = (
            f"In this layout {more} is the more stereotypical sentence under either label, so leave both sentences in"
            f" their columns. Write stereo where {more} is about the disadvantaged group, and antistereo where {less}"
            " is; in the hub's export 0 is stereo and 1 antistereo."
        )
    columns = {"pair_id": "pair_id", "bias_type": layout.bias_type}
    columns |= {side: f"{{{side}_column}}" for side in _SIDES}
    many = f"words; at most {MOST_WORDS} are compared."
    known_languages, known_labels = (f"is not known. Allowed: {', '.join(known)}." for known in (LANGUAGES, LABELS))
    reserved = "is 'all', the name of all pairs together. Write another name."
    is_repeated = pl.col("earlier") != pl.col("row")
    mistakes = {
        **{f"{columns[name]} is empty. Fill the cell or remove the record.": pl.col(name) == "" for name in columns},
        **{f"{columns[side]} has {{{side}_words}} {many}": pl.col(f"{side}_words") > MOST_WORDS for side in _SIDES},
        f"language {{language!r}} {known_languages}": ~pl.col("language").is_in(LANGUAGES),
        f"{layout.label} {{label_cell!r}} {known_labels} {rule}": ~pl.col("label").is_in(LABELS),
        f"{layout.bias_type} {reserved}": pl.col("bias_type") == OVERALL,
        f"origin {reserved}": pl.col("origin") == OVERALL,
        "record {earlier} has the same id. Results are filed by it; give each its own.": is_repeated,
    }
    pairs = pairs.with_columns(
        *(pl.col(side).str.count_matches(r"\S+").alias(f"{side}_words") for side in _SIDES),
        earlier=pl.col("row").first().over("pair_id", "language"),
    )
    for mistake, is_wrong in mistakes.items():
        wrong = pairs.filter(is_wrong)
        if len(wrong):
            pair = wrong.row(0, named=True)
            raise InputError(f"{path}, record {pair['row']} (pair {pair['pair_id']}): {mistake.format(**pair)}")
    for pair in pairs.filter((pl.col("modified") != "") | (pl.col("agreeing") != "")).iter_rows(named=True):
        aligned = align_words(pair["first"], pair["second"])
        for mistake in find_wrong_marks(pair["modified"], pair["agreeing"], aligned):
            raise InputError(f"{path}, record {pair['row']} (pair {pair['pair_id']}): {mistake}")
