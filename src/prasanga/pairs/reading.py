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
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import polars as pl
import regex

from prasanga.base.errors import InputError
from prasanga.base.yaml import read_json_object, read_text, suggest
from prasanga.pairs.alignment import MOST_WORDS, Span, align_spans, align_words, comparable, find_wrong_marks, words_of
from prasanga.pairs.preferences import LABELS, LANGUAGES, OVERALL, check_clusters
from prasanga.schema import TABLES
from prasanga.text.words import unicode_form

PAIRS_VERSION = 2
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
    cluster: str | None = None
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
                cluster=cells.get("cluster", "").strip() or None,
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


# --------------------
# Oddities of pairs, one row each, so that nothing is changed or lost without a word.
#
# Scored is what the file says. Only two things are changed on reading, blanks at the ends of a sentence and line
# breaks in it, because a decoder would score them as pieces; both are reported as changed, everything else as kept.


#: Every kind of finding, and what it says.
KINDS = {
    "line-break": "a line break in the cell",
    "outer-blanks": "blanks at the ends of the cell",
    "bias-type-spelling": "capitals, blanks or underscores in the bias type",
    "label-spelling": "capitals, blanks or hyphens in the label",
    "identical-sentences": "both sentences are the same",
    "identical-words": "the sentences differ in punctuation, case or spelling alone",
    "no-common-word": "the sentences have no word in common",
    "duplicated-pair": "an earlier pair has the same sentences",
    "reversed-pair": "an earlier pair has the same sentences in the other order",
    "duplicated-sentence": "an earlier pair has the sentence too",
    "many-modified-words": "the sentences differ in many words",
    "differing-length": "one sentence has more words than the other",
    "differing-end": "the punctuation after the last word differs",
    "differing-case": "one word, with a capital in one sentence only",
    "differing-spelling": "one word, in two encodings or with two shapes of the apostrophe",
    "differing-nukta": "two words that are one but for a nukta",
    "not-nfc": "letters encoded in another way than NFC's",
    "bar-for-danda": "a bar for a danda",
    "double-danda": "two dandas, or the double one",
    "blank-before-stop": "a blank before a stop or comma",
    "no-blank-after-stop": "no blank after a danda, so that two words are one",
    "several-blanks": "several blanks between words",
    "other-blank": "a blank that is not the usual one, such as a no-break space",
    "invisible-character": "a zero-width character other than the joiners",
    "curly-quote": "a typographic quote or apostrophe",
    "replacement-character": "U+FFFD, what is left of a broken encoding",
    "other-script": "letters of another script than the language's",
    "small-first-letter": "a sentence that begins with a small letter",
}


#: More modified words than this, in both sentences together, and the pair is reported as not minimally distant.
MANY_MODIFIED_WORDS = 6

# These begin where blanks or words begin: tried at every letter of a long word, they take the square of its length.
_LINE_BREAK = regex.compile(r"(?<!\s)\s*[\n\r\v\f\x85\u2028\u2029]\s*")
_KEPT = "kept"
_MOST_DIFFERING = 1_000  # findings of two sentences; many words of both make millions of pairs
_NUKTAS = str.maketrans("", "", "\u093c\u09bc")
_SCRIPTS = {"bn": r"\p{Script=Bengali}", "hi": r"\p{Script=Devanagari}", "en": r"\p{Script=Latin}"}
_OTHER_SCRIPT = {
    language: regex.compile(rf"[\p{{L}}--{script}]\p{{M}}*(?:\p{{L}}\p{{M}}*)*", regex.VERSION1)
    for language, script in _SCRIPTS.items()
}

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
_IN_SENTENCE = {kind: regex.compile(pattern, regex.VERSION1) for kind, pattern in _PATTERNS.items()}
_BAR = regex.compile(r"(?<!\|)\|(?!\|)")


ODDITIES_SCHEMA = TABLES["pair_oddities"].polars


def readable(text: str) -> str:
    """Return a sentence as it is scored.

    It has no blanks at its ends, and a line break and the blanks around it become one blank.
    """
    return str(_LINE_BREAK.sub(" ", text.strip()))


def list_oddities(pairs: Sequence[RawPair], layout: Layout) -> pl.DataFrame:
    """Return the oddities of the pairs of a file.

    Returns:
        Columns `ODDITIES_SCHEMA`: `row` counts records from 1; `column` is that of the file, both sentences' joined
        with ` / `. Sorted by row, language and column as they come.
    """
    found = [*((pair, *rest) for pair in pairs for rest in _find_in_pair(pair, layout)), *_find_repetition(pairs)]
    rows = [(pair.pair_id, pair.row, pair.language, *rest) for pair, *rest in found]
    return pl.DataFrame(rows, schema=ODDITIES_SCHEMA, orient="row").sort("row", maintain_order=True)


def _find_in_pair(pair: RawPair, layout: Layout) -> Iterator[tuple[str, str, str, str]]:
    """Yield the column and kind of each oddity of a pair, the place found, and the change made."""
    for kind, cell in (("bias_type", pair.bias_type), ("label", pair.label)):
        if cell != canonical(cell):
            yield getattr(layout, kind), f"{kind.replace('_', '-')}-spelling", cell, f"read as {canonical(cell)}"
    for column, cell in ((pair.first_column, pair.first), (pair.second_column, pair.second)):
        if cell != cell.strip():
            ends = repr(cell[: len(cell) - len(cell.lstrip())] + "…" + cell[len(cell.rstrip()) :])
            yield column, "outer-blanks", ends, "removed"
        if breaks := _LINE_BREAK.findall(cell.strip()):
            yield column, "line-break", f"{len(breaks)} in the cell", "a blank in its place"
        yield from ((column, kind, found, _KEPT) for kind, found in _find_in_sentence(readable(cell), pair.language))
    both = f"{pair.first_column} / {pair.second_column}"
    yield from ((both, *rest) for rest in _find_in_sentences(readable(pair.first), readable(pair.second)))


def _find_in_sentence(text: str, language: str) -> Iterator[tuple[str, str]]:
    """Yield the kind of each oddity of a single sentence, and the place found."""
    for kind, pattern in _IN_SENTENCE.items():
        hits = pattern.findall(text)
        if hits:
            yield kind, " ".join(f"{hit!a}" if not hit.isprintable() or hit.isspace() else hit for hit in hits)
    if language in ("bn", "hi") and _BAR.search(text):
        yield "bar-for-danda", " ".join(_BAR.findall(text))
    if not unicodedata.is_normalized("NFC", text):
        words = (word.text for word in words_of(text))
        yield "not-nfc", " ".join(word for word in words if not unicodedata.is_normalized("NFC", word))
    strangers = _OTHER_SCRIPT[language].findall(text)
    if strangers:
        yield "other-script", " ".join(strangers)
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
    alike: dict[str, list[str]] = {}
    for word in modified_others:
        alike.setdefault(_without_nukta(word), []).append(word)
    several = ((one, other) for one in modified for other in alike.get(_without_nukta(one), ()))
    differing = (words for words in several if comparable(words[0]) != comparable(words[1]))
    for one, other in islice(differing, _MOST_DIFFERING):
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


def _find_repetition(pairs: Sequence[RawPair]) -> Iterator[tuple[RawPair, str, str, str, str]]:
    """Yield the sentences that several pairs of one language have, as a pair or one by one."""
    seen: dict[tuple[str, ...], RawPair] = {}
    for pair in pairs:
        first, second = readable(pair.first), readable(pair.second)
        both = f"{pair.first_column} / {pair.second_column}"
        if earlier := seen.get((pair.language, first, second)):
            yield pair, both, "duplicated-pair", f"as {earlier.pair_id}", _KEPT
        elif turned := seen.get((pair.language, second, first)):
            yield pair, both, "reversed-pair", f"of {turned.pair_id}", _KEPT
        else:
            for column, sentence in ((pair.first_column, first), (pair.second_column, second)):
                if same := seen.get((pair.language, sentence)):
                    yield pair, column, "duplicated-sentence", f"also in {same.pair_id}", _KEPT
        for sentences in ((first, second), (first,), (second,)):
            seen.setdefault((pair.language, *sentences), pair)


# --------------------
# Files of pairs, in any layout, as one table.

#: Columns of the table of pairs.
SCHEMA = TABLES["pairs"].polars


@dataclass(frozen=True)
class PairFile:
    """What a file of pairs holds.

    Attributes:
        pairs: the table that `read_pairs` gives.
        oddities: one row per oddity (`ODDITIES_SCHEMA`).
        agreeing: `pair_id`, `language` and `agreeing`, for the pairs that mark words that merely agree.
        layout: of the file.
        ignored: how many of each thing were read that belong to no pair.
    """

    pairs: pl.DataFrame
    oddities: pl.DataFrame
    agreeing: pl.DataFrame
    layout: str
    ignored: Mapping[str, int] = field(default_factory=dict)


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
    """Read pairs as `read_pairs`, together with their oddities, their marks, and the count of ignored sentences.

    `spoken` is the language of a file that does not say its own, where `language` does not say it either.
    """
    path, ignored = Path(path), dict[str, int]()
    wanted = [language] if isinstance(language, str) else language
    if wanted is not None and (not wanted or set(wanted) - set(LANGUAGES)):
        raise InputError(
            f"language: {language!r} is not known. Write one or more of {', '.join(LANGUAGES)}, or None for all of the"
            " file."
        )
    require_layout(layout, "layout")
    spoken = (wanted or [spoken])[0]
    if layout == STEREOSET.name or (layout == "auto" and path.suffix.lower() == ".json"):
        chosen = STEREOSET
        raw, ignored["unrelated sentences"] = read_stereoset(path, spoken)
    else:
        header, records = read_csv(path)
        chosen = find_layout(path, header, layout)
        rows = enumerate((dict(zip(header, cells, strict=True)) for cells in records), start=1)
        raw = [pair for row, cells in rows for pair in chosen.pairs(cells, row, spoken)]
    if chosen.one_language and wanted and len(wanted) > 1:
        raise InputError(
            f"{path}: the layout {chosen.name} holds one language, but {', '.join(wanted)} were asked for. Name the one"
            " that the file is in."
        )
    _check(path, raw, chosen)
    kept = sorted(
        (pair for pair in raw if wanted is None or pair.language in wanted),
        key=lambda pair: LANGUAGES.index(pair.language),
    )
    if missing := [one for one in wanted or () if one not in {pair.language for pair in kept}]:
        there = ", ".join(sorted({pair.language for pair in raw})) or "none at all"
        raise InputError(f"{path}: no pairs in the language {missing[0]}. The file has: {there}.")
    pairs = [
        (
            *(pair.pair_id, pair.language, canonical(pair.bias_type), canonical(pair.label)),
            *(readable(pair.first), readable(pair.second), pair.origin, pair.cluster),
        )
        for pair in kept
    ]
    marked = [(pair.pair_id, pair.language, pair.agreeing.strip()) for pair in kept if pair.agreeing.strip()]
    texts = dict.fromkeys(("pair_id", "language", "agreeing"), pl.String)
    table = pl.DataFrame(pairs, schema=SCHEMA, orient="row")
    check_clusters(path, table)
    return PairFile(
        pairs=table,
        oddities=list_oddities(kept, chosen),
        agreeing=pl.DataFrame(marked, schema=texts, orient="row"),
        layout=chosen.name,
        ignored=ignored,
    )


def _check(path: Path, raw: Sequence[RawPair], layout: Layout) -> None:
    """Refuse a file without pairs, or with a pair that has a mistake."""
    if not raw:
        raise InputError(f"{path}: no pairs. Write at least one after the header (docs/pairs.md).")
    seen: dict[tuple[str, str], int] = {}
    for pair in raw:
        earlier = seen.setdefault((pair.pair_id, pair.language), pair.row)
        for problem in _find_problems(pair, layout, earlier):
            raise InputError(f"{path}, record {pair.row} (pair {pair.pair_id}): {problem}")


def _find_problems(pair: RawPair, layout: Layout, earlier: int) -> Iterator[str]:
    """Yield the mistakes of a pair; `earlier` is the first record with its id and language."""
    bias_type, sentences = canonical(pair.bias_type), {pair.first_column: pair.first, pair.second_column: pair.second}
    for column, cell in {"pair_id": pair.pair_id, layout.bias_type: pair.bias_type, **sentences}.items():
        if not cell.strip():
            yield f"{column} is empty. Fill the cell or remove the record."
    for column, sentence in sentences.items():
        if (words := len(sentence.split())) > MOST_WORDS:
            yield f"{column} has {words} words; at most {MOST_WORDS} are compared."
    if pair.language not in LANGUAGES:
        yield f"language {pair.language!r} is not known. Allowed: {', '.join(LANGUAGES)}."
    if canonical(pair.label) not in LABELS:
        yield (
            f"{layout.label} {pair.label!r} is not known. Allowed: {', '.join(LABELS)}. {_explain_labels(pair, layout)}"
        )
    for column, name in ((layout.bias_type, bias_type), ("origin", pair.origin)):
        if name == OVERALL:
            yield f"{column} is {name!r}, the name of all pairs together. Write another name."
    if earlier != pair.row:
        yield f"record {earlier} has the same id. Results are filed by it; give each its own."
    if pair.modified or pair.agreeing:
        aligned = align_words(readable(pair.first), readable(pair.second))
        yield from find_wrong_marks(pair.modified, pair.agreeing, aligned)


def _explain_labels(pair: RawPair, layout: Layout) -> str:
    """Return what the labels mean in a layout: another one's rule would swap the sentences."""
    if layout.more_is_first:
        return (
            f"In this layout {layout.sentences[''][0]} is the more stereotypical sentence under either label, so leave"
            f" both sentences in their columns. Write stereo where {layout.sentences[''][0]} is about the disadvantaged"
            f" group, and antistereo where {layout.sentences[''][1]} is; in the hub's export 0 is stereo and 1"
            " antistereo."
        )
    return (
        f"Write {LABELS[0]} if {pair.first_column} is the stereotypical sentence, {LABELS[1]} if {pair.second_column}"
        " is."
    )
