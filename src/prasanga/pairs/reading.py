"""Files of pairs, in any layout, as one table; and what is odd about them."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

import polars as pl
import regex

from prasanga.base.errors import InputError
from prasanga.pairs.alignment import MOST_WORDS, Span, align_spans, align_words, comparable, find_wrong_marks, words_of
from prasanga.pairs.layouts import (
    STEREOSET,
    Layout,
    RawPair,
    canonical,
    find_layout,
    read_csv,
    read_stereoset,
    require_layout,
)
from prasanga.pairs.preferences import LABELS, LANGUAGES, OVERALL
from prasanga.schema import TABLES
from prasanga.text.words import unicode_form

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


# --------------------
# What is odd about pairs: each finding a row, so that nothing is mended or lost unsaid.
#
# Scored is what the file says. Only two things are changed on reading, blanks at the ends of a sentence and line
# breaks in it, because a decoder would score them as pieces; both are reported as changed, everything else as kept.


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
    """Return all that is odd about the pairs of a file.

    Returns:
        Columns `ODDITIES_SCHEMA`: `row` counts records from 1; `column` is that of the file, both sentences' joined
        with ` / `. Sorted by row, language and column as they come.
    """
    found = [*((pair, *rest) for pair in pairs for rest in _find_in_pair(pair, layout)), *_find_repetition(pairs)]
    rows = [(pair.pair_id, pair.row, pair.language, *rest) for pair, *rest in found]
    return pl.DataFrame(rows, schema=ODDITIES_SCHEMA, orient="row").sort("row", maintain_order=True)


def _find_in_pair(pair: RawPair, layout: Layout) -> Iterator[tuple[str, str, str, str]]:
    """Yield the column and kind of each oddity of a pair, what was found, and what was done."""
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
    """Yield the kind of each oddity of a sentence by itself, and what was found."""
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
    """Yield the kind of each oddity of two sentences beside each other, what was found, and what was done."""
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
        oddities: what is odd about them, one row per finding (`ODDITIES_SCHEMA`).
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
    """Return the pairs of a file, one row per pair and language, in the file's order within a language.

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
            *(readable(pair.first), readable(pair.second), pair.origin),
        )
        for pair in kept
    ]
    marked = [(pair.pair_id, pair.language, pair.agreeing.strip()) for pair in kept if pair.agreeing.strip()]
    texts = dict.fromkeys(("pair_id", "language", "agreeing"), pl.String)
    return PairFile(
        pairs=pl.DataFrame(pairs, schema=SCHEMA, orient="row"),
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
