"""Views of words: which of them carry an effect, the lexicon, and the panel behind every number."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

import polars as pl
from markupsafe import Markup

from prasanga.methods import CEAT, SEAT, method_named
from prasanga.report.figures import name_of
from prasanga.report.grid import METHODS, Estimate, Grid, address_of_number, anchor_of, is_number, names_of_sets
from prasanga.report.section import (
    Section,
    and_more,
    hides_texts,
    inline_data,
    language_of,
    prose,
    render,
    utf16_length,
)
from prasanga.report.sections.estimates import told_of
from prasanga.report.sheet import Sheet, html, numbers, row_of, two
from prasanga.report.study import EmbeddingFiles, Results, family_of
from prasanga.report.words import (
    TEMPLATES,
    gloss_of,
    glosses_of,
    list_words,
    measured_words,
    pieces_as_text,
    title_of_set,
)

_KEY = ("category", "model", "segment_length", "sample_mode")


def carrying_words(results: Results, category: str, anchor: str) -> Section | None:
    """Return the packed section on the single words of a category: their standardized associations by model."""
    if results.ceat_words is None:
        return None
    title, anchor = "Which words carry the effect", f"{anchor}-carrying"
    words = results.ceat_words
    length, mode, table = measured_words(words, category)
    if table.is_empty():
        return Section(title, anchor, text=[f"No target word of {category} has an association."])
    about = results.categories.get(category)
    named = dict(words.filter(category=category).select("role", "set").iter_rows())
    sides = zip("xyab", (*about["targets"], *about["attributes"]), strict=True) if about else ()
    titles = named | {role: title_of_set(word_set) for role, word_set in sides}
    glosses, models = glosses_of(results.categories), table["model"].unique(maintain_order=True).to_list()
    found: dict[tuple[str, str], dict[str, float]] = {}
    ordered = table.with_columns(mean=pl.col("value").mean().over("role", "stimulus"))
    ordered = ordered.sort("role", "mean", "stimulus", descending=[False, True, False])
    for role, stimulus, model, value in ordered.select("role", "stimulus", "model", "value").iter_rows():
        found.setdefault((role, stimulus), {})[model] = value
    rows = [
        row_of(stimulus, titles[role], gloss_of(stimulus, glosses), *(two(values.get(model)) for model in models))
        for (role, stimulus), values in found.items()
    ]
    listed = [word for word_set in about["targets"] for word in word_set["stimuli"]] if about else []
    lost = [word for word in dict.fromkeys(listed) if word not in {stimulus for _, stimulus in found}]
    caption = f"Standardized associations of the target words of {category} by model"
    kinds = {"Word": "text", "Set": "list", "Gloss": "text"}
    file = "data/ceat_words.parquet"
    where = html('; without one they are in the <a href="{}">table of words</a>', file) if file in results.files else ""
    return Section(
        title,
        anchor,
        text=[
            prose("words_where", length=length, mode=mode, a=titles["a"], b=titles["b"]),
            prose("words", figure=name_of("words_{category}", category=category)),
        ],
        sheets=[Sheet(("Word",), numbers("Set", "Gloss", *models), rows, caption, "explorable", kinds)],
        notes=[f"Without an association: {', '.join(lost)}."] if lost else [],
        packed=html("A script unpacks these words{}.", where),
    )


def lexicon(results: Results) -> Section | None:
    """Return the section of the words of all sets, with a few of their forms."""
    words = list_words(results.categories, results.forms)
    if not words:
        if not results.estimates:
            return None
        return Section("Lexicon", "lexicon", text=["The word sets are not there, so that this page cannot show them."])
    n_sets, has_forms = len({word["set"] for word in words}), results.forms is not None
    text = f"{n_sets} word sets. A word is found in the corpus in its inflected forms; some are shown, one for each"
    heads = {"Set": "list", "Used in": "text", "Gloss": "text"}
    heads |= {"Suffix group": "list", "Forms": "text"} if has_forms else {}
    rows = []
    for word in words:
        forms = and_more(", ".join(word["forms"]), word["n_forms"] - len(word["forms"]))
        cells = (word["set"], word["used_in"], word["gloss"], word["group"], forms)
        rows.append(row_of(word["stimulus"], *cells[: len(heads)]))
    missing = [] if has_forms else ["The table of forms is not there, so the words are listed without their forms."]
    sheet = Sheet(("Word",), numbers(*heads), rows, "Words by set", "explorable", {"Word": "text", **heads})
    return Section("Lexicon", "lexicon", text=[f"{text} number and case.", *missing], sheets=[sheet])


def gloss_after(stimulus: str, glosses: Mapping[str, str]) -> Markup:
    """Return the gloss as it is written after a word; nothing if there is none."""
    gloss = gloss_of(stimulus, glosses)
    return html(' <span class="more">{}</span>', gloss) if gloss else Markup("")


# --------------------
# The panel behind a number: the words that it rests on, and the sentences in which these were measured.
#
# Every estimate on the page is a link. A script opens it as a panel over the view, from data that the page has once, as
# JSON. Without a script the link leads to a list of the estimates of its category, which names the files.

_DECIMALS = 4
"""Of associations; effects have one less."""

MOST_CHARACTERS = 2_000_000
"""Of all sentences together, about 1 MB of the page; in a larger study each word has fewer sentences."""

_HIDDEN = "Sentences of the corpus are left out of this page (report.texts: hidden)."
_STATIC = "No sentence stands behind a static vector: it is one for all sentences that the word was seen in."
_NOT_THERE = (
    "The sentences are not among the results that this page was drawn from. `snakemake` chooses them where the segments"
    " are there (results/samples)."
)


def panel(config: Mapping[str, Any], results: Results, grid: Grid | None) -> Markup:
    """Return the panel with its data, to be put once into the page; empty if no method of words was measured."""
    data = panel_data(config, results, grid)
    if not data["estimates"]:
        return Markup("")
    kind, payload = inline_data(data)
    return render("behind", kind=kind, payload=payload, language=language_of(config))


def panel_data(config: Mapping[str, Any], results: Results, grid: Grid | None) -> dict[str, Any]:
    """Return the data of the panel's script, as plain values.

    Returns:
        `words` with their `glosses`, and by model their `pieces`; `estimates` by their addresses, with their words from
        the highest association to the lowest, targets before attributes; `sentences` by what they were measured for,
        and word: how many there were, and of the first [text, from, to, start, end, source] in UTF-16 units; `why` a
        method has no sentences.
    """
    is_hidden = hides_texts(config)
    tables = {
        (method, *(first.get(name) for name in _KEY)): rows
        for method, table in ((CEAT.name, results.ceat_words), *results.words.items())
        if table is not None
        for rows in table.partition_by([name for name in _KEY if name in table.columns], maintain_order=True)
        for first in (rows.row(0, named=True),)
    }
    words: dict[str, int] = {}
    estimates = {
        address_of_number(method, row): _describe_estimate(method, row, tables, words)
        for method, row in estimates_of(results, grid)
        if is_number(row["effect_size"])
    }
    known = pieces_by_word(results.embeddings)
    models = dict.fromkeys(model for model, _ in known)
    chosen = None if is_hidden else results.sentences
    return {
        "decimals": _DECIMALS,
        "words": list(words),
        "glosses": [gloss_of(word, glosses_of(results.categories)) for word in words],
        "pieces": {model: [known.get((model, word), "") for word in words] for model in models},
        "estimates": estimates,
        **_sentences(chosen, {each["sentences"] for each in estimates.values()}, words),
        "why": {
            name: _STATIC if method_named(name).unit == "vectors" else _HIDDEN if is_hidden else _NOT_THERE
            for name in METHODS
        },
    }


def _describe_estimate(
    method: str, row: Estimate, tables: Mapping[tuple[Any, ...], pl.DataFrame], numbers: dict[str, int]
) -> dict[str, Any]:
    """Return an estimate with its words; each word has a number, given when it first occurs."""
    length = row.get("segment_length")
    where = f"{row['model']}, {length} words, {row.get('sample_mode')} draws"
    words = tables.get((method, *(row.get(name) for name in _KEY)))
    if words is None:
        words = pl.DataFrame(schema=["role", "stimulus", "association", "effect_without"])
    order = (pl.col("role").is_in(["a", "b"]), "association", "stimulus")
    words = words.sort(*order, descending=[False, True, False], nulls_last=True)
    # the sentences of CEAT and SEAT are those of all categories
    lengths = {CEAT.name: length, SEAT.name: TEMPLATES}
    kept_for = (method, "" if method in lengths else row["category"], str(lengths.get(method, "")))
    return {
        "title": f"{row['category']}, {METHODS[method]}",
        "category": row["category"],
        "view": anchor_of(row["category"]),
        "method": method,
        "model": row["model"],
        "sets": list(names_of_sets(row)),
        "effect": row["effect_size"],
        "told": told_of(row, where if method == CEAT.name else ""),
        "sentences": "\t".join(kept_for),
        "roles": "".join(words["role"].to_list()),
        "words": [numbers.setdefault(word, len(numbers)) for word in words["stimulus"].to_list()],
        "associations": [_rounded(value, _DECIMALS) for value in words["association"].to_list()],
        "without": [_rounded(value, _DECIMALS - 1) for value in words["effect_without"].to_list()],
    }


def index(category: str, anchor: str, rows: Iterable[tuple[str, Estimate]], results: Results) -> Section:
    """Return the section with a link to the panel of each number of a category."""
    places: dict[str, list[Markup]] = {}
    for method, row in rows:
        if is_number(row["effect_size"]):
            mode = f", {row['sample_mode']} draws" if "sample_mode" in row else ""
            what = f"{row['segment_length']} words" if "segment_length" in row else "its number"
            link = html('<a id="{0}" href="#{0}">{1}</a>', Markup.escape(address_of_number(method, row)), what)
            places.setdefault(f"{METHODS[method]}, {row['model']}{mode}", []).append(link)
    listed = (f"data/{name}" for name in (*(f"{method}_words.parquet" for method in METHODS), "measured_sentences.tsv"))
    return Section(
        "Words and sentences behind each number",
        f"{anchor}-behind",
        text=[prose("behind", category=category, files=", ".join(file for file in listed if file in results.files))],
        items=[html("{}: {}", name, Markup(", ").join(links)) for name, links in places.items()],
    )


def estimates_of(results: Results, grid: Grid | None) -> Iterator[tuple[str, Estimate]]:
    """Yield method and estimate of all methods of words; those of CEAT from short to long, by sample mode."""
    if grid is not None:
        lengths, modes = grid.lengths.index, grid.modes.index
        for _, row in sorted(grid.estimates.items(), key=lambda each: (modes(each[0][3]), lengths(each[0][2]))):
            yield CEAT.name, row
    for name, table in results.methods:
        for row in table.iter_rows(named=True):
            yield name, row


def pieces_by_word(files: EmbeddingFiles | None) -> dict[tuple[str, str], str]:
    """Return the pieces of every stimulus by the model's name in the results and the stimulus."""
    if files is None:
        return {}
    # models that were only scored are called as in the config
    families = {name: name for name in files.audit_tables}
    families |= {name: family_of(settings, name) for name, settings in files.studied.items()}
    return {
        (name, row["stimulus"]): pieces
        for name, family in families.items()
        if (table := files.audit_tables.get(family)) is not None
        for row in table.iter_rows(named=True)
        if (pieces := pieces_as_text(row))
    }


def _sentences(chosen: pl.DataFrame | None, keys: Collection[str], numbers: Mapping[str, int]) -> dict[str, Any]:
    """Return texts, sources, and the places of the sentences by key, of those that are asked for, and word."""
    found: dict[str, dict[int, list[Any]]] = {}
    texts: dict[str, int] = {}
    sources: dict[str, int] = {}
    if chosen is not None:
        of = pl.concat_str("method", "category", "segment_length", separator="\t")
        asked = chosen.with_columns(key=of).filter(pl.col("stimulus").is_in([*numbers]) & pl.col("key").is_in([*keys]))
        rows = asked.rows(named=True)
        for most in range(max((row["rank"] for row in rows), default=0), 1, -1):
            if sum(len(row["text"]) for row in rows) > MOST_CHARACTERS:
                rows = [row for row in rows if row["rank"] < most]
        for row in rows:
            text, marked = row["text"], (0, 0) if row["start"] is None else (row["start"], row["end"])
            units = [0, *(utf16_length(text[:at]) for at in (len(text), *marked))]
            place = [texts.setdefault(text, len(texts)), *units, sources.setdefault(row["source"], len(sources))]
            of_word = found.setdefault(row["key"], {}).setdefault(numbers[row["stimulus"]], [row["n_measured"]])
            of_word.append(place)
    return {"texts": list(texts), "sources": list(sources), "sentences": found}


def _rounded(value: float | None, decimals: int) -> float | None:
    return round(value, decimals) if is_number(value) else None
