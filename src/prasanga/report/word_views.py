"""Views of words and texts: categories, single words, lexicon, contexts, hits, vectors, and the panel of a number."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import polars as pl
from markupsafe import Markup

from prasanga.associations.comparisons import fixed_lengths, sort_lengths
from prasanga.methods import CEAT, SEAT, method_named
from prasanga.report import grid, section, study
from prasanga.report.findings import tell_strength
from prasanga.report.grid import METHODS, EstimateRow, anchor_of, is_number
from prasanga.report.method_views import describe_estimate, draw_chart, list_estimates
from prasanga.report.section import Section, View, fill_section, fold, fold_table, hides_texts, prose
from prasanga.report.sheet import Cell, language_of, plural, show_table
from prasanga.report.study import Results

_DAMAGES = ("unknown", "marks_lost", "identical")
"""Damage that a tokenizer may do to a form, as the audit calls it."""

FILLED = "templates"
"""`segment_length` of sentences of filled templates."""

Rows = list[tuple[str, EstimateRow]]


# --------------------
# A view for each category: the same words through all methods, and their sentences.


def category_views(config: Mapping[str, Any], results: Results) -> list[View]:
    """Return a view for each category that any method measured, in natural order."""
    rows: dict[str, Rows] = {}
    for method, row in list_all_estimates(results):
        rows.setdefault(row["category"], []).append((method, row))
    with_hits = {} if hides_texts(config) else words_with_hits(results)
    hits = {word["stimulus"]: anchor_of(name, "hits") for name, found in with_hits.items() for word in found}
    return [_category_view(name, rows[name], results, hits) for name in sorted(rows, key=grid.natural_order)]


def _category_view(name: str, rows: Rows, results: Results, hits: Mapping[str, str]) -> View:
    anchor, first, ceat = anchor_of(name), rows[0][1], results.ceat
    of_ceat = [each for each in ceat.categories if each.name == name]
    sheet = list_estimates("by_methods", rows, category=name)
    chart, title = draw_chart(ceat, of_ceat, choose=False) if of_ceat else "", f"{name}: {first['category_title']}"
    strengths = [(key, row) for key, row in results.strengths.items() if key[1] == name]
    said = [f"{METHODS[method]}, {model}: {tell_strength(method, row)}" for (method, _, model), row in strengths]
    detectable = [Section("Associations that could have been found", items=said, folded=True)] * bool(said)
    about = Section(title, f"{anchor}-methods", widget=chart, sheets=[sheet], parts=detectable)
    its_words = Section("Its words", f"{anchor}-words", definitions=_list_sets(results, first, hits))
    folded = [list_numbers_behind(name, anchor, rows, results)]
    tab = "–".join(grid.category_of(first)[1:])
    return View(anchor, "Categories", name, [about, its_words], folded, more=tab)


def _list_sets(results: Results, row: EstimateRow, hits: Mapping[str, str]) -> list[tuple[str, Markup]]:
    """Return each set with its words and their glosses, each a link to its sentences if there are any."""
    about, glosses = results.categories.get(row["category"]), grid.glosses_of(results.categories)
    if about is None:
        return [(each, Markup("The templates of this set have its words.")) for each in grid.names_of_sets(row)]
    found = []
    for each in (*about["targets"], *about["attributes"]):
        words = [(word, grid.gloss_of(word, glosses), hits.get(word)) for word in dict.fromkeys(each["stimuli"])]
        found.append((grid.title_of_set(each), prose("words_of_set", words=words)))
    return found


# --------------------
# Contexts of words, and what the stages left out.


def text_view(config: Mapping[str, Any], results: Results) -> View:
    """Return the view of words and sentences."""
    folded = [audit(config, results), embeddings(results)]
    sections = [coverage(config, results), left_out(results)]
    return View("data", "Words and sentences", "Words and sentences", sections, folded)


def coverage(config: Mapping[str, Any], results: Results) -> Section | None:
    """Return the section on contexts; if contexts were measured without a table of them, it says so."""
    table = results["coverage"]
    if "ceat" not in results and table.is_empty():
        return None
    read = {name: f"{n:,}" for name, n in study.totals(results.corpus).items()}
    values: dict[str, Any] = {"n": len(results.corpus), "read": read, "has_table": not table.is_empty()}
    if table.is_empty():
        return fill_section("coverage", values)
    values |= {"asked": config["samples"]["contexts_per_stimulus"]}
    values |= {name: int(table[name].sum()) for name in ("sampled", "eligible")}
    parts = [_list_contexts(table, grid.glosses_of(results.categories))]
    counts = map(dict.values, study.coverage_by_length(table))
    lengths = show_table("lengths", [[length, *(f"{n:,g}" for n in of_length)] for length, *of_length in counts])
    return fill_section("coverage", values, sheets=[lengths], parts=parts)


def _list_contexts(table: pl.DataFrame, glosses: Mapping[str, str]) -> Section:
    """Return the part with the contexts of all stimuli at every length, kept of those possible."""
    lengths = sort_lengths(table["segment_length"])
    counts = ("occurrences", "contexts", "copies")
    columns = {f"{length} words": "" for length in lengths}
    rows = []
    for stimulus, found in table.sort("stimulus").rows_by_key("stimulus", named=True).items():
        at = {row["segment_length"]: row for row in found}
        cells = (_describe_contexts(at.get(length, {})) for length in lengths)
        rows.append((stimulus, glosses.get(stimulus, ""), *(found[0][name] for name in counts), *cells))
    sheet = show_table("contexts", rows, columns=columns)
    return Section(f"All {len(rows)} stimuli at every length", sheets=[sheet], folded=True)


def _describe_contexts(row: Mapping[str, Any]) -> Cell:
    kept, possible = row.get("sampled", 0), row.get("eligible", 0)
    return Cell(f"{kept:,} of {possible:,}", bold=bool(row.get("short")), order=str(kept))


def left_out(results: Results) -> Section | None:
    """Return the section on what the stages of a study left out."""
    losses = study.list_losses(results)
    return fill_section("left_out", sheets=[show_table("left_out", losses)]) if losses else None


# --------------------
# Hits for judging the lexicon.


def audit(config: Mapping[str, Any], results: Results) -> Section | None:
    """Return the section for judging the lexicon: suffixes with their hits, and hits in their surroundings."""
    if "suffixes" not in results:
        return None
    used = results["suffixes"].filter(pl.col("occurrences") > 0).sort("occurrences", descending=True)
    rows = []
    for row in used.iter_rows(named=True):
        read_as = ", ".join(filter(None, (row["number"], row["case"])))
        names = (row["suffix"] or "none", row["group"] or "no group", row["kind"], read_as)
        rows.append((*names, row["occurrences"], row["stimuli"], row["examples"]))
    suffixes = Section("Suffixes", text=[prose("suffixes")], sheets=[show_table("suffixes", rows)])
    parts = [suffixes, _concordance(results, hidden=hides_texts(config))]
    return fill_section("audit", parts=parts)


def _concordance(results: Results, *, hidden: bool) -> Section:
    """Return the hits of every stimulus once, in the first word set that has it."""
    file, is_empty = "data/concordance.tsv", "concordance" not in results
    there = file in results.files
    hits = results["concordance"].sort("stimulus", "rank").rows_by_key("stimulus", named=True)
    n_hits = dict(results["audit_forms"].group_by("stimulus").agg(pl.col("occurrences").sum()).iter_rows())
    parts = []
    for name, words in ({} if hidden else words_with_hits(results)).items():
        folds = []
        for word in words:
            stimulus, drawn = word["stimulus"], hits[word["stimulus"]]
            more = prose("hits", word=word, n=len(drawn), of=n_hits.get(stimulus, 0))
            lines = prose("kwic", hits=drawn, language=language_of(stimulus))
            folds.append(fold(stimulus, more, id=anchor_of(stimulus, "word"), widget=lines))
        n_drawn = plural(sum(len(hits[word["stimulus"]]) for word in words), "hit")
        packed = f"These hits need a script{'; without one, open the concordance file' * there}."
        about = {"id": anchor_of(name, "hits"), "packed": packed, "look": "concordance"}
        parts.append(fold(name, f"{plural(len(words), 'stimulus', 'stimuli')}, {n_drawn}", parts=folds, **about))
    return fill_section("concordance", {"hidden": hidden, "is_empty": is_empty, "file": file * there}, parts=parts)


def words_with_hits(results: Results) -> dict[str, list[dict[str, Any]]]:
    """Return words with hits, their glosses and suffix groups, by the first word set of each.

    Words of measured categories; if nothing was measured, all words of the lexicon, words without a set last.
    """
    drawn, glosses = set(results["concordance"]["stimulus"]), grid.glosses_of(results.categories)
    forms = results["forms"].drop_nulls("group").unique(["stimulus", "group"], maintain_order=True)
    groups = dict(forms.group_by("stimulus").agg(pl.col("group").str.join(", ")).iter_rows())
    measured = {name for table in results.estimates.values() for name in table["category"]}
    sets = [
        (grid.title_of_set(word_set), word_set["stimuli"])
        for name, category in results.categories.items()
        if name in (measured or results.categories.keys() - {"glosses"})
        for word_set in (*category["targets"], *category["attributes"])
    ]
    found: dict[str, list[dict[str, Any]]] = {}
    for title, stimuli in [*sets, ("Words of no set", () if measured else sorted(drawn))]:
        for stimulus in (each for each in stimuli if each in drawn):
            word = {"stimulus": stimulus, "gloss": glosses.get(stimulus, ""), "group": groups.get(stimulus, "")}
            found.setdefault(title, []).append(word)
            drawn.remove(stimulus)
    return found


# --------------------
# Vectors, and what tokenizers make of the words.


def embeddings(results: Results) -> Section | None:
    """Return the section on vectors."""
    files, glosses = results.embeddings, grid.glosses_of(results.categories)
    if not files.studied:
        return None
    reports = {name: files.reports.get(each.get("family", name), {}) for name, each in files.studied.items()}
    kinds = {name: reports[name].get("kind") or each.get("kind") for name, each in files.studied.items()}
    named = {kind: [name for name in kinds if kinds[name] == kind] for kind in ("decoder", "encoder-decoder")}
    text = [prose(f"{kind.replace('-', '_')}s", models=", ".join(names)) for kind, names in named.items() if names]
    return Section("Embeddings", "embeddings", text=text, parts=list(_audit_tokenizers(results, glosses)))


def _audit_tokenizers(results: Results, glosses: Mapping[str, str]) -> Iterator[Section]:
    """Yield the audit of the tokenizers: shares of damaged forms, and the pieces of every stimulus."""
    rows, pieces = [], []
    for family, found in results.embeddings.audits.items():
        counts = (found[name] for name in ("n_forms", "n_occurrences", "n_unseen"))
        rows.append((family, *counts, *(f"{100 * found[name]:.3g}%" for name in _DAMAGES)))
        for row in results["tokenizer"].filter(model=family).iter_rows(named=True):
            examples = "; ".join(filter(None, (row[f"{name}_example"] for name in _DAMAGES)))
            texts = (row["stimulus"], glosses.get(row["stimulus"], ""), family, grid.pieces_as_text(row))
            lost = (row["forms"], row["unknown_forms"], row["marks_lost_forms"])
            pieces.append((*texts, *lost, ", ".join(row["identical_to"]), examples))
    if not rows:
        return
    pieces.sort(key=lambda row: not row[-1])
    parts = fold_table("All stimuli in pieces, damaged ones first", "pieces", pieces)
    sheets = [show_table("tokenizers", rows)]
    yield Section("Check of the tokenizers", text=[prose("tokenizers")], sheets=sheets, parts=parts)


# --------------------
# The panel behind a number: the words that it rests on, and the sentences in which these were measured.
#
# Every estimate on the page is a link. A script opens it as a panel over the view, from data that the page has once, as
# JSON. Without a script the link leads to a list of the estimates of its category, which names the files.

_DECIMALS = 4
"""Of associations; effects have one less."""

MOST_CHARACTERS = 2_000_000
"""Of all sentences together, about 1 MB of the page; in a larger study each word has fewer sentences."""


def panel(config: Mapping[str, Any], results: Results, language: str) -> Markup:
    """Return the panel with its data, to be put once into the page; empty if no method of words was measured."""
    data = panel_data(config, results)
    if not data["estimates"]:
        return Markup("")
    kind, payload = section.inline_data(data)
    return section.render("behind", kind=kind, payload=payload, language=language)


def panel_data(config: Mapping[str, Any], results: Results) -> dict[str, Any]:
    """Return the data of the panel's script, as plain values.

    Returns:
        `words` with their `glosses`, and by model their `pieces`; `estimates` by their addresses, with their words from
        the highest association to the lowest, targets before attributes; `sentences` by what they were measured for,
        and word: how many there were, and of the first [text, from, to, start, end, source] in UTF-16 units; `why` a
        method has no sentences.
    """
    hidden, glosses = hides_texts(config), grid.glosses_of(results.categories)
    words: dict[str, int] = {}
    no_words = results["seat_words"].clear()  # all methods have the same columns
    longest = next(reversed(fixed_lengths(results.ceat.lengths)), "")
    estimates = {
        grid.address_of_number(method, row): _describe_number(
            method, row, results.tables.get(f"{method}_words", no_words), words, longest
        )
        | _describe_strength(method, results.strengths.get((method, row["category"], row["model"])))
        for method, row in list_all_estimates(results)
        if is_number(row["effect_size"])
    }
    known = _pieces_by_model(results)
    kept = {each["sentences"] for each in estimates.values()}
    sentences = results["measured_sentences"]
    return {
        "decimals": _DECIMALS,
        "words": list(words),
        "glosses": [grid.gloss_of(word, glosses) for word in words],
        "pieces": {model: [pieces.get(word, "") for word in words] for model, pieces in known.items()},
        "estimates": estimates,
        **_list_sentences(sentences.clear() if hidden else sentences, kept, words),
        "why": {name: prose("no_sentences", unit=method_named(name).unit, hidden=hidden) for name in METHODS},
    }


def _describe_number(
    method: str, row: EstimateRow, words: pl.DataFrame, numbers: dict[str, int], longest: str
) -> dict[str, Any]:
    """Return an estimate with its words; each word has a number, given when it first occurs.

    Primary estimates are shown with the sentences of the longest fixed length.
    """
    length = row.get("segment_length")
    # CEAT and SEAT share their sentences over all categories
    lengths = {CEAT.name: longest if length == grid.MEAN else length, SEAT.name: FILLED}
    kept_for = (method, "" if method in lengths else row["category"], str(lengths.get(method, "")))
    words = words.filter(**{name: row.get(name) for name in grid.KEY if name in words.columns})
    order = (pl.col("role").is_in(["a", "b"]), "association", "stimulus")
    words = words.sort(*order, descending=[False, True, False], nulls_last=True)
    return {
        "title": f"{row['category']}, {METHODS[method]}",
        "category": row["category"],
        "view": anchor_of(row["category"]),
        "method": method,
        "model": row["model"],
        "sets": list(grid.names_of_sets(row)),
        "effect": row["effect_size"],
        "told": describe_estimate(row),
        "sentences": "\t".join(kept_for),
        "roles": "".join(words["role"].to_list()),
        "words": [numbers.setdefault(word, len(numbers)) for word in words["stimulus"].to_list()],
        "associations": _round(words["association"], _DECIMALS),
        "without": _round(words["effect_without"], _DECIMALS - 1),
    }


def _describe_strength(method: str, row: EstimateRow | None) -> dict[str, Any]:
    """Return which biases would have been found, in words, and as shifts with the shares of studies that find them."""
    if row is None:
        return {}
    curve = [row["shifts"], [round(share, 3) for share in row["shares_found"]]] if row["shifts"] else None
    return {"strength": tell_strength(method, row), "curve": curve}


def _round(values: pl.Series, decimals: int) -> list[float | None]:
    return [round(value, decimals) if is_number(value) else None for value in values.to_list()]


def list_numbers_behind(
    category: str, anchor: str, rows: Iterable[tuple[str, EstimateRow]], results: Results
) -> Section:
    """Return the section with a link to the panel of each number of a category."""
    places: dict[str, list[tuple[str, str]]] = {}
    for method, row in rows:
        if is_number(row["effect_size"]):
            what = grid.name_length(row["segment_length"]) if "segment_length" in row else "its number"
            address = grid.address_of_number(method, row)
            places.setdefault(f"{METHODS[method]}, {row['model']}", []).append((address, what))
    listed = (f"data/{name}" for name in (*(f"{method}_words.parquet" for method in METHODS), "measured_sentences.tsv"))
    files = ", ".join(file for file in listed if file in results.files)
    items = [prose("links", name=name, numbers=numbers) for name, numbers in places.items()]
    return fill_section("behind", {"anchor": anchor, "category": category, "files": files}, items=items)


def list_all_estimates(results: Results) -> Iterator[tuple[str, EstimateRow]]:
    """Yield method and estimate of all methods of words; CEAT by length, primary estimates first."""
    for name, table in results.estimates.items():
        rows = table.rows(named=True)
        if name == CEAT.name:
            lengths = [grid.MEAN, *results.ceat.lengths]
            rows.sort(key=lambda row: lengths.index(row["segment_length"]))
        yield from ((name, row) for row in rows)


def _pieces_by_model(results: Results) -> dict[str, dict[str, str]]:
    """Return the pieces of every stimulus by the model's name in the results and the stimulus."""
    of_family: dict[str, dict[str, str]] = {}
    for row in results["tokenizer"].iter_rows(named=True):
        if pieces := grid.pieces_as_text(row):
            of_family.setdefault(row["model"], {})[row["stimulus"]] = pieces
    # models that were only scored are called as in the config
    names = {name: name for name in of_family}
    names |= {name: settings.get("family", name) for name, settings in results.embeddings.studied.items()}
    return {name: of_family[family] for name, family in names.items() if family in of_family}


def _list_sentences(chosen: pl.DataFrame, keys: set[str], numbers: Mapping[str, int]) -> dict[str, Any]:
    """Return texts, sources, and the places of the sentences by key, of those that are asked for, and word."""
    found: dict[str, dict[int, list[Any]]] = {}
    texts: dict[str, int] = {}
    sources: dict[str, int] = {}
    key = pl.concat_str("method", "category", "segment_length", separator="\t")
    asked = chosen.with_columns(key=key).filter(pl.col("stimulus").is_in([*numbers]) & pl.col("key").is_in([*keys]))
    while asked["text"].str.len_chars().sum() > MOST_CHARACTERS and (most := max(asked["rank"].to_list())) > 1:
        asked = asked.filter(pl.col("rank") < most)
    for row in asked.iter_rows(named=True):
        text, marked = row["text"], (0, 0) if row["start"] is None else (row["start"], row["end"])
        # a browser counts in UTF-16 units: a character beyond U+FFFF is two
        units = [0, *(len(text[:at].encode("utf-16-le")) // 2 for at in (len(text), *marked))]
        place = [texts.setdefault(text, len(texts)), *units, sources.setdefault(row["source"], len(sources))]
        of_word = found.setdefault(row["key"], {}).setdefault(numbers[row["stimulus"]], [row["n_measured"]])
        of_word.append(place)
    return {"texts": list(texts), "sources": list(sources), "sentences": found}
