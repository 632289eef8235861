"""What stands behind a number: the words that it rests on, and the sentences that these were measured in.

Every estimate on the page is a link. A script opens it as a panel over the view, from data that stand in the page once,
as JSON. Without a script the link leads to a list of the estimates of its category, which names the files.

Words, and the effects without each of them, are those of the tables of words, from the highest association down.
Sentences are those of `prasanga.report.words.choose_sentences`. A context of 9 words is mostly a part of that of 25, so
of each occurrence only the longest text is kept, and from where to where a shorter one goes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

import polars as pl
from markupsafe import Markup

from prasanga.base.parquet import remade_by, require_columns
from prasanga.methods import CEAT, SEAT, method_named
from prasanga.report.grid import METHODS, Estimate, Grid, address_of_number, anchor_of, is_number, names_of_sets
from prasanga.report.section import Section, hides_texts, inline_data, language_of, render, utf16_length
from prasanga.report.sections.ceat import told_of_ceat
from prasanga.report.sections.estimates import told_of
from prasanga.report.sections.words import pieces_by_word
from prasanga.report.sheet import html
from prasanga.report.study import Results
from prasanga.report.words import SENTENCES_SCHEMA, TEMPLATES, gloss_of, glosses_of

DECIMALS = 4
"""Of associations in the panel; effects have one less."""

_KEY = ("category", "model", "segment_length", "sample_mode")
MOST_CHARACTERS = 2_000_000
"""Of the sentences together, about 1 MB of the page; of a study with more the last of each word are left out."""

_NEEDED = ("category", "model", "role", "stimulus", "association", "effect_without")
_HIDDEN = "Sentences of the corpus are left out of this page (report.texts: hidden)."
_STATIC = "No sentence stands behind a static vector: it is one for all sentences that the word was seen in."
_NOT_THERE = (
    "The sentences are not among the results that this page was drawn from. `snakemake` chooses them where the segments"
    " are there (results/samples)."
)


def panel(config: Mapping[str, Any], results: Results, grid: Grid | None) -> Markup:
    """Return the panel with its data, to stand once in the page; empty where no method of words was measured."""
    data = panel_data(config, results, grid)
    if not data["estimates"]:
        return Markup("")
    kind, payload = inline_data(data)
    return render("behind", kind=kind, payload=payload, language=language_of(config))


def panel_data(config: Mapping[str, Any], results: Results, grid: Grid | None) -> dict[str, Any]:
    """Return what the script of the panel shows, as plain values.

    Returns:
        `words` with their `glosses`, and by model their `pieces`; `estimates` by their addresses, with their words from
        the highest association to the lowest, targets before attributes; `sentences` by what they were measured for,
        and word: how many there were, and of the first [text, from, to, start, end, source] in UTF-16 units; `why` a
        method has no sentences.
    """
    found = _Words(results)
    estimates = {
        address_of_number(method, row): found.of(method, row)
        for method, row in estimates_of(results, grid)
        if is_number(row["effect_size"])
    }
    chosen = None if hides_texts(config) else results.sentences
    return {
        "decimals": DECIMALS,
        "words": list(found.numbers),
        "glosses": [gloss_of(word, glosses_of(results.categories)) for word in found.numbers],
        "pieces": found.pieces(results),
        "estimates": estimates,
        **_sentences(chosen, {each["sentences"] for each in estimates.values()}, found.numbers),
        "why": {name: _why_none(name, is_hidden=hides_texts(config)) for name in METHODS},
    }


def index(category: str, anchor: str, rows: Iterable[tuple[str, Estimate]], results: Results) -> Section:
    """Return the section with a link to what stands behind each number of a category."""
    places: dict[str, list[Markup]] = {}
    for method, row in rows:
        if not is_number(row["effect_size"]):
            continue
        mode = f", {row['sample_mode']} draws" if "sample_mode" in row else ""
        what = f"{row['segment_length']} words" if "segment_length" in row else "its number"
        address = Markup.escape(address_of_number(method, row))
        link = html('<a id="{0}" href="#{0}">{1}</a>', address, what)
        places.setdefault(f"{METHODS[method]}, {row['model']}{mode}", []).append(link)
    files = ", ".join(f"data/{name}" for name in _files(results))
    unscripted = f" It takes a script. Without one, words and sentences are in {files}." if files else ""
    text = html(
        "A number of {} opens the words that it rests on, the effect without each of them, the pieces that the model"
        " read, and sentences that were measured.{}",
        category,
        html("<noscript>{}</noscript>", unscripted) if unscripted else "",
    )
    items = [html("{}: {}", name, Markup(", ").join(links)) for name, links in places.items()]
    return Section("Words and sentences behind each number", f"{anchor}-behind", text=[text], items=items)


def estimates_of(results: Results, grid: Grid | None) -> Iterator[tuple[str, Estimate]]:
    """Yield method and estimate of all methods of words; those of CEAT from short to long, by sample mode."""
    if grid is not None:
        lengths, modes = grid.lengths.index, grid.modes.index
        for _, row in sorted(grid.estimates.items(), key=lambda each: (modes(each[0][3]), lengths(each[0][2]))):
            yield CEAT.name, row
    for name, table in results.methods:
        for row in table.iter_rows(named=True):
            yield name, row


class _Words:
    """The words of all estimates, each with a number of its own from when it is first asked for."""

    def __init__(self, results: Results) -> None:
        self.numbers: dict[str, int] = {}
        self._tables: dict[tuple[str | None, ...], pl.DataFrame] = {}
        tables = {CEAT.name: results.ceat_words, **results.words}
        for method, table in tables.items():
            if table is None:
                continue
            require_columns(f"associations of words, {METHODS[method]}", table, _NEEDED, remade_by("associations"))
            keys = [name for name in _KEY if name in table.columns]
            for key, rows in table.partition_by(keys, as_dict=True, maintain_order=True).items():
                of = dict(zip(keys, key, strict=True))
                self._tables[method, *(of.get(name) for name in _KEY)] = rows

    def of(self, method: str, row: Estimate) -> dict[str, Any]:
        """Return an estimate with its words."""
        x, y, a, b = names_of_sets(row)
        length = row.get("segment_length")
        where = f"{row['model']}, {length} words, {row.get('sample_mode')} draws"
        key = (method, *(row.get(name) for name in _KEY))
        words = self._tables.get(key, pl.DataFrame(schema=dict.fromkeys(_NEEDED)))
        attributes = pl.col("role").is_in(["a", "b"])
        words = words.sort(
            attributes, pl.col("association"), "stimulus", descending=[False, True, False], nulls_last=True
        )
        # the sentences of CEAT and SEAT are those of all categories
        lengths = {CEAT.name: length, SEAT.name: TEMPLATES}
        kept_for = {
            "method": method,
            "category": "" if method in lengths else row["category"],
            "segment_length": lengths.get(method, ""),
        }
        return {
            "title": f"{row['category']}, {METHODS[method]}",
            "category": row["category"],
            "view": anchor_of(row["category"]),
            "method": method,
            "model": row["model"],
            "sets": [x, y, a, b],
            "effect": row["effect_size"],
            "told": told_of_ceat(row, where) if method == CEAT.name else told_of(row),
            "sentences": _key_of(kept_for),
            "roles": "".join(words["role"].to_list()),
            "words": [self.numbers.setdefault(word, len(self.numbers)) for word in words["stimulus"].to_list()],
            "associations": [_rounded(value, DECIMALS) for value in words["association"].to_list()],
            "without": [_rounded(value, DECIMALS - 1) for value in words["effect_without"].to_list()],
        }

    def pieces(self, results: Results) -> dict[str, list[str]]:
        """Return the pieces of each word by the model that reads them; "" where they are not known."""
        known = pieces_by_word(results.embeddings)
        models = dict.fromkeys(model for model, _ in known)
        return {model: [known.get((model, word), "") for word in self.numbers] for model in models}


_REMADE = "Run `snakemake` where the segments are, or delete results/samples/measured_sentences.parquet."


def _sentences(chosen: pl.DataFrame | None, keys: Collection[str], numbers: Mapping[str, int]) -> dict[str, Any]:
    """Return texts, sources, and the places of the sentences by key, of those that are asked for, and word."""
    found: dict[str, dict[int, list[Any]]] = {}
    texts: dict[str, int] = {}
    sources: dict[str, int] = {}
    if chosen is not None:
        require_columns("measured sentences", chosen, SENTENCES_SCHEMA, _REMADE)
        longest: dict[str, tuple[str, int]] = {}
        rows = [row for row in chosen.iter_rows(named=True) if row["stimulus"] in numbers and _key_of(row) in keys]
        for most in range(max((row["rank"] for row in rows), default=0), 1, -1):
            if sum(len(row["text"]) for row in rows) > MOST_CHARACTERS:
                rows = [row for row in rows if row["rank"] < most]
        for row in rows:
            text, start = longest.get(row["occurrence_id"], ("", 0))
            if row["occurrence_id"] and len(row["text"]) > len(text):
                longest[row["occurrence_id"]] = row["text"], row["start"]
        for row in rows:
            whole, start = longest.get(row["occurrence_id"], (row["text"], row["start"]))
            text, own = row["text"], row["start"]
            begin = 0 if own is None else start - own
            if begin < 0 or whole[begin : begin + len(text)] != text:
                whole, begin = text, 0
            marked = (0, 0) if own is None else (begin + own, begin + row["end"])
            units = [utf16_length(whole[:at]) for at in (begin, begin + len(text), *marked)]
            place = [texts.setdefault(whole, len(texts)), *units, sources.setdefault(row["source"], len(sources))]
            of_word = found.setdefault(_key_of(row), {}).setdefault(numbers[row["stimulus"]], [row["n_measured"]])
            of_word.append(place)
    return {"texts": list(texts), "sources": list(sources), "sentences": found}


def _key_of(row: Mapping[str, Any]) -> str:
    """Return what a sentence was measured for."""
    return "\t".join((row["method"], row["category"], row["segment_length"]))


def _rounded(value: float | None, decimals: int) -> float | None:
    return round(value, decimals) if is_number(value) else None


def _why_none(method: str, *, is_hidden: bool) -> str:
    """Return why a word has no sentences."""
    if method_named(method).unit == "vectors":
        return _STATIC
    return _HIDDEN if is_hidden else _NOT_THERE


def _files(results: Results) -> list[str]:
    """Return the files beside the page that hold words and sentences."""
    wanted = [*(f"{method}_words.parquet" for method in METHODS), "measured_sentences.tsv"]
    return [name for name in wanted if f"data/{name}" in results.files]
