"""Views of words: each category by all methods, which words carry an effect, the lexicon, and the panel of a number."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import polars as pl
from markupsafe import Markup

from prasanga.methods import CEAT, SEAT, method_named
from prasanga.report.figures import name_of
from prasanga.report.grid import (
    METHODS,
    Estimate,
    Grid,
    address_of_number,
    anchor_of,
    gloss_of,
    glosses_of,
    is_number,
    list_words,
    measured_words,
    names_of_sets,
    natural_order,
    pieces_as_text,
    title_of_set,
)
from prasanga.report.section import (
    Section,
    View,
    hides_texts,
    inline_data,
    language_of,
    prose,
    render,
    section,
    utf16_length,
)
from prasanga.report.sections.associations import ceat_grid, describe_estimate, draw_chart, list_estimates, name_place
from prasanga.report.sections.texts import words_with_hits
from prasanga.report.sheet import html, tabulate, two
from prasanga.report.study import EmbeddingFiles, Results, family_of

FILLED = "templates"
"""`segment_length` of sentences of filled templates."""

_KEY = ("category", "model", "segment_length", "sample_mode")
Rows = list[tuple[str, Estimate]]


# --------------------
# A view for each category: the same words through all methods, which of them carry an effect, and their sentences.


def category_views(config: Mapping[str, Any], results: Results) -> list[View]:
    """Return a view for each category that any method measured, in natural order."""
    grid = ceat_grid(results)
    rows: dict[str, Rows] = {}
    for method, row in list_all_estimates(results, grid):
        rows.setdefault(row["category"], []).append((method, row))
    with_hits = {} if hides_texts(config) else words_with_hits(results)
    hits = {word["stimulus"]: anchor_of(name, "hits") for name, found in with_hits.items() for word in found}
    return [_category_view(name, rows[name], grid, results, hits) for name in sorted(rows, key=natural_order)]


def _category_view(name: str, rows: Rows, grid: Grid | None, results: Results, hits: Mapping[str, str]) -> View:
    anchor, title = anchor_of(name), rows[0][1]["category_title"]
    of_ceat = [(n, each) for n, each in enumerate(grid.categories, start=1) if each.name == name] if grid else []
    # of CEAT the estimates of the first sample mode
    first_mode = grid.modes[0] if grid else ""
    names = "method model segment_length effect_size ci_low ci_high p_association_holm twin_difference n_x n_y n_a n_b"
    sheet = list_estimates(
        [(method, row) for method, row in rows if row.get("sample_mode", first_mode) == first_mode],
        names,
        caption=f"{name} by every method and model",
        look="by-methods",
    )
    about = Section(
        f"{name}: {title}",
        f"{anchor}-methods",
        widget=draw_chart(grid, [each for _, each in of_ceat], choose=False) if grid and of_ceat else "",
        sheets=[sheet],
        notes=[prose("link_to_numbers", n=n, category=name) for n, _ in of_ceat],
    )
    its_words = Section("Its words", f"{anchor}-words", definitions=_list_sets(results, name, rows[0][1], hits))
    folded = [carrying_words(results, name, anchor), list_numbers_behind(name, anchor, rows, results)]
    return View(anchor, "By category", name, [about, its_words], folded, hover=title)


def _list_sets(results: Results, name: str, row: Estimate, hits: Mapping[str, str]) -> list[tuple[str, Markup]]:
    """Return each set with its words and their glosses, each a link to its sentences if there are any."""
    about, glosses = results.categories.get(name), glosses_of(results.categories)
    if about is None:
        return [(each, Markup("The words of this set are with its templates.")) for each in names_of_sets(row)]
    sets = [(title_of_set(each), dict.fromkeys(each["stimuli"])) for each in (*about["targets"], *about["attributes"])]
    return [
        (title, prose("words_of_set", words=[(word, gloss_of(word, glosses), hits.get(word)) for word in words]))
        for title, words in sets
    ]


def carrying_words(results: Results, category: str, anchor: str) -> Section | None:
    """Return the packed section on the single words of a category: their standardized associations by model."""
    if results.ceat_words is None:
        return None
    length, mode, table = measured_words(results.ceat_words, category)
    if table.is_empty():
        return section("no_carrying_words", {"anchor": anchor, "category": category})
    about, glosses = results.categories.get(category), glosses_of(results.categories)
    titles = dict(results.ceat_words.filter(category=category).select("role", "set").iter_rows())
    sides = zip("xyab", (*about["targets"], *about["attributes"]), strict=True) if about else ()
    titles |= {role: title_of_set(word_set) for role, word_set in sides}
    models = table["model"].unique(maintain_order=True).to_list()
    ordered = table.with_columns(mean=pl.col("value").mean().over("role", "stimulus"))
    ordered = ordered.sort("role", "mean", "stimulus", descending=[False, True, False])
    by_word = ordered.pivot("model", index=["role", "stimulus"], values="value", maintain_order=True)
    rows = [
        (stimulus, titles[role], gloss_of(stimulus, glosses), *map(two, values))
        for role, stimulus, *values in by_word.select("role", "stimulus", *models).iter_rows()
    ]
    listed = [word for word_set in about["targets"] for word in word_set["stimuli"]] if about else []
    lost = [word for word in dict.fromkeys(listed) if word not in set(by_word["stimulus"])]
    caption = f"Standardized associations of the target words of {category} by model"
    heads = {"Word": "text", "Set": "list", "Gloss": "text", **dict.fromkeys(models, "")}
    file = "data/ceat_words.parquet"
    where = {"length": length, "mode": mode, "a": titles["a"], "b": titles["b"]}
    return section(
        "carrying_words",
        {"anchor": anchor, "figure": name_of("words_{category}", category=category), **where},
        sheets=[tabulate(caption, heads, rows, look="explorable")],
        notes=[f"Without an association: {', '.join(lost)}."] if lost else [],
        packed=prose("words_unscripted", file=file if file in results.files else ""),
    )


def lexicon(results: Results) -> Section | None:
    """Return the section of the words of all sets, with a few of their forms."""
    words = list_words(results.categories, results.forms)
    if not words:
        return section("lexicon", {"n": 0, "has_forms": False}) if results.estimates else None
    has_forms = results.forms is not None
    heads = {"Word": "text", "Set": "list", "Used in": "text", "Gloss": "text"}
    heads |= {"Suffix group": "list", "Forms": "text"} if has_forms else {}
    rows = []
    for word in words:
        forms = prose("forms", forms=word["forms"], n_more=word["n_forms"] - len(word["forms"]))
        cells = (word["stimulus"], word["set"], word["used_in"], word["gloss"], word["group"], forms)
        rows.append(cells[: len(heads)])
    values = {"n": len({word["set"] for word in words}), "has_forms": has_forms}
    return section("lexicon", values, sheets=[tabulate("Words by set", heads, rows, look="explorable")])


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


def panel(config: Mapping[str, Any], results: Results) -> Markup:
    """Return the panel with its data, to be put once into the page; empty if no method of words was measured."""
    data = panel_data(config, results, ceat_grid(results))
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
    hidden = hides_texts(config)
    words: dict[str, int] = {}
    estimates = {
        address_of_number(method, row): _describe_estimate(method, row, _find_words(method, row, results), words)
        for method, row in list_all_estimates(results, grid)
        if is_number(row["effect_size"])
    }
    known, glosses = _pieces_by_word(results.embeddings), glosses_of(results.categories)
    models = dict.fromkeys(model for model, _ in known)
    kept = {each["sentences"] for each in estimates.values()}
    missing = _HIDDEN if hidden else _NOT_THERE
    return {
        "decimals": _DECIMALS,
        "words": list(words),
        "glosses": [gloss_of(word, glosses) for word in words],
        "pieces": {model: [known.get((model, word), "") for word in words] for model in models},
        "estimates": estimates,
        **_list_sentences(None if hidden else results.sentences, kept, words),
        "why": {name: _STATIC if method_named(name).unit == "vectors" else missing for name in METHODS},
    }


def _find_words(method: str, row: Estimate, results: Results) -> pl.DataFrame:
    """Return the words of an estimate from the highest association to the lowest, targets before attributes."""
    table = results.ceat_words if method == CEAT.name else results.words.get(method)
    if table is None:
        return pl.DataFrame(schema=["role", "stimulus", "association", "effect_without"])
    words = table.filter(**{name: row.get(name) for name in _KEY if name in table.columns})
    order = (pl.col("role").is_in(["a", "b"]), "association", "stimulus")
    return words.sort(*order, descending=[False, True, False], nulls_last=True)


def _describe_estimate(method: str, row: Estimate, words: pl.DataFrame, numbers: dict[str, int]) -> dict[str, Any]:
    """Return an estimate with its words; each word has a number, given when it first occurs."""
    length = row.get("segment_length")
    # the sentences of CEAT and SEAT are those of all categories
    lengths = {CEAT.name: length, SEAT.name: FILLED}
    kept_for = (method, "" if method in lengths else row["category"], str(lengths.get(method, "")))
    where = name_place(row["model"], length, row.get("sample_mode")) if method == CEAT.name else ""
    return {
        "title": f"{row['category']}, {METHODS[method]}",
        "category": row["category"],
        "view": anchor_of(row["category"]),
        "method": method,
        "model": row["model"],
        "sets": list(names_of_sets(row)),
        "effect": row["effect_size"],
        "told": describe_estimate(row, where),
        "sentences": "\t".join(kept_for),
        "roles": "".join(words["role"].to_list()),
        "words": [numbers.setdefault(word, len(numbers)) for word in words["stimulus"].to_list()],
        "associations": _round(words["association"], _DECIMALS),
        "without": _round(words["effect_without"], _DECIMALS - 1),
    }


def _round(values: pl.Series, decimals: int) -> list[float | None]:
    return [round(value, decimals) if is_number(value) else None for value in values.to_list()]


def list_numbers_behind(category: str, anchor: str, rows: Iterable[tuple[str, Estimate]], results: Results) -> Section:
    """Return the section with a link to the panel of each number of a category."""
    places: dict[str, list[Markup]] = {}
    for method, row in rows:
        if is_number(row["effect_size"]):
            mode = f", {row['sample_mode']} draws" if "sample_mode" in row else ""
            what = f"{row['segment_length']} words" if "segment_length" in row else "its number"
            link = html('<a id="{0}" href="#{0}">{1}</a>', Markup.escape(address_of_number(method, row)), what)
            places.setdefault(f"{METHODS[method]}, {row['model']}{mode}", []).append(link)
    listed = (f"data/{name}" for name in (*(f"{method}_words.parquet" for method in METHODS), "measured_sentences.tsv"))
    files = ", ".join(file for file in listed if file in results.files)
    items = [html("{}: {}", name, Markup(", ").join(links)) for name, links in places.items()]
    return section("behind", {"anchor": anchor, "category": category, "files": files}, items=items)


def list_all_estimates(results: Results, grid: Grid | None) -> Iterator[tuple[str, Estimate]]:
    """Yield method and estimate of all methods of words; those of CEAT from short to long, by sample mode."""
    if grid is not None:
        lengths, modes = grid.lengths.index, grid.modes.index
        for _, row in sorted(grid.estimates.items(), key=lambda each: (modes(each[0][3]), lengths(each[0][2]))):
            yield CEAT.name, row
    for name, table in results.methods:
        for row in table.iter_rows(named=True):
            yield name, row


def _pieces_by_word(files: EmbeddingFiles | None) -> dict[tuple[str, str], str]:
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


def _list_sentences(chosen: pl.DataFrame | None, keys: set[str], numbers: Mapping[str, int]) -> dict[str, Any]:
    """Return texts, sources, and the places of the sentences by key, of those that are asked for, and word."""
    found: dict[str, dict[int, list[Any]]] = {}
    texts: dict[str, int] = {}
    sources: dict[str, int] = {}
    if chosen is not None:
        key = pl.concat_str("method", "category", "segment_length", separator="\t")
        asked = chosen.with_columns(key=key).filter(pl.col("stimulus").is_in([*numbers]) & pl.col("key").is_in([*keys]))
        while asked["text"].str.len_chars().sum() > MOST_CHARACTERS and (most := max(asked["rank"].to_list())) > 1:
            asked = asked.filter(pl.col("rank") < most)
        for row in asked.iter_rows(named=True):
            text, marked = row["text"], (0, 0) if row["start"] is None else (row["start"], row["end"])
            units = [0, *(utf16_length(text[:at]) for at in (len(text), *marked))]
            place = [texts.setdefault(text, len(texts)), *units, sources.setdefault(row["source"], len(sources))]
            of_word = found.setdefault(row["key"], {}).setdefault(numbers[row["stimulus"]], [row["n_measured"]])
            of_word.append(place)
    return {"texts": list(texts), "sources": list(sources), "sentences": found}
