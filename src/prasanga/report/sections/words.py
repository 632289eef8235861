"""Views of words and texts: categories, single words, lexicon, contexts, hits, vectors, and the panel of a number."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import polars as pl
from markupsafe import Markup

from prasanga.methods import CEAT, SEAT, method_named
from prasanga.report import study
from prasanga.report.figures import name_of
from prasanga.report.findings import plural
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
    sort_lengths,
    title_of_set,
)
from prasanga.report.section import (
    Section,
    View,
    fold,
    hides_texts,
    inline_data,
    language_of,
    prose,
    render,
    section,
    utf16_length,
)
from prasanga.report.sections.associations import ceat_grid, describe_estimate, draw_chart, list_estimates, name_place
from prasanga.report.sheet import Cell, Sheet, html, tabulate, two
from prasanga.report.sheet import language_of as script_of

_COUNTS = {
    "Stimuli": "n_stimuli",
    "With contexts": "n_with_contexts",
    "Contexts in all": "n_contexts",
    "Fewest": "fewest",
    "Median": "median",
    "Stimuli below the minimum": "n_short",
    "Contexts from the supplement": "n_from_supplement",
}
"""Counts at each length, by their heads."""

NOT_KNOWN = "not known"
_DAMAGES = {"unknown": "Unknown pieces", "marks_lost": "Marks lost", "identical": "Pieces of another stimulus"}
"""Damage that a tokenizer may do to a form, by the names of the audit."""

FILLED = "templates"
"""`segment_length` of sentences of filled templates."""

_KEY = ("category", "model", "segment_length", "sample_mode")
Rows = list[tuple[str, Estimate]]


# --------------------
# A view for each category: the same words through all methods, which of them carry an effect, and their sentences.


def category_views(config: Mapping[str, Any], results: study.Results) -> list[View]:
    """Return a view for each category that any method measured, in natural order."""
    grid = ceat_grid(results)
    rows: dict[str, Rows] = {}
    for method, row in list_all_estimates(results, grid):
        rows.setdefault(row["category"], []).append((method, row))
    with_hits = {} if hides_texts(config) else words_with_hits(results)
    hits = {word["stimulus"]: anchor_of(name, "hits") for name, found in with_hits.items() for word in found}
    return [_category_view(name, rows[name], grid, results, hits) for name in sorted(rows, key=natural_order)]


def _category_view(name: str, rows: Rows, grid: Grid | None, results: study.Results, hits: Mapping[str, str]) -> View:
    anchor, title = anchor_of(name), rows[0][1]["category_title"]
    of_ceat = [each for each in grid.categories if each.name == name] if grid else []
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
        widget=draw_chart(grid, of_ceat, choose=False) if grid and of_ceat else "",
        sheets=[sheet],
    )
    its_words = Section("Its words", f"{anchor}-words", definitions=_list_sets(results, name, rows[0][1], hits))
    folded = [carrying_words(results, name, anchor), list_numbers_behind(name, anchor, rows, results)]
    return View(anchor, "By category", name, [about, its_words], folded)


def _list_sets(results: study.Results, name: str, row: Estimate, hits: Mapping[str, str]) -> list[tuple[str, Markup]]:
    """Return each set with its words and their glosses, each a link to its sentences if there are any."""
    about, glosses = results.categories.get(name), glosses_of(results.categories)
    if about is None:
        return [(each, Markup("The words of this set are with its templates.")) for each in names_of_sets(row)]
    sets = [(title_of_set(each), dict.fromkeys(each["stimuli"])) for each in (*about["targets"], *about["attributes"])]
    return [
        (title, prose("words_of_set", words=[(word, gloss_of(word, glosses), hits.get(word)) for word in words]))
        for title, words in sets
    ]


def carrying_words(results: study.Results, category: str, anchor: str) -> Section | None:
    """Return the packed section on the single words of a category: their standardized associations by model."""
    if results.ceat_words is None:
        return None
    length, mode, table = measured_words(results.ceat_words, category)
    if table.is_empty():
        return None
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
    caption = f"Standardized associations of the target words of {category} by model"
    heads = {"Word": "text", "Set": "list", "Gloss": "text", **dict.fromkeys(models, "")}
    file = "data/ceat_words.parquet"
    where = {"length": length, "mode": mode, "a": titles["a"], "b": titles["b"]}
    return section(
        "carrying_words",
        {"anchor": anchor, "figure": name_of("words_{category}", category=category), **where},
        sheets=[tabulate(caption, heads, rows, look="explorable")],
        packed=prose("words_unscripted", file=file if file in results.files else ""),
    )


def lexicon(results: study.Results) -> Section | None:
    """Return the section of the words of all sets, with a few of their forms."""
    words = list_words(results.categories, results.forms)
    if not words:
        return None
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
# Contexts of words, and what the stages left out.


def coverage(results: study.Results) -> Section | None:
    """Return the section on contexts; if contexts were measured without a table of them, it says so."""
    table = None if results.coverage is None or results.coverage.is_empty() else results.coverage
    if ceat_grid(results) is None and table is None:
        return None
    read = {name: f"{n:,}" for name, n in study.totals(results.corpus).items()}
    return section(
        "coverage",
        {"n": len(results.corpus), "read": read, "has_table": table is not None},
        sheets=[] if table is None else [_count_by_length(table)],
        parts=[] if table is None else [_list_contexts(table, glosses_of(results.categories))],
    )


def _count_by_length(table: pl.DataFrame) -> Sheet:
    lengths = study.coverage_by_length(table)
    heads = {head: name for head, name in _COUNTS.items() if lengths[0][name] is not None}
    rows = ((each["segment_length"], *(f"{each[name]:,g}" for name in heads.values())) for each in lengths)
    return tabulate("Contexts by segment length", {"Words": "list", **dict.fromkeys(heads, "")}, rows)


def _list_contexts(table: pl.DataFrame, glosses: Mapping[str, str]) -> Section:
    """Return the part with the contexts of all stimuli at every length, kept of those possible."""
    lengths = sort_lengths(table["segment_length"])
    counts = [name for name in ("occurrences", "contexts", "copies") if name in table.columns]
    heads = {"Stimulus": "text", "Gloss": "text", **{name.capitalize(): "" for name in counts}}
    heads |= {f"{length} words": "" for length in lengths}
    rows = []
    for (stimulus,), found in table.sort("stimulus").group_by("stimulus", maintain_order=True):
        at = {row["segment_length"]: row for row in found.iter_rows(named=True)}
        first = found.row(0, named=True)
        cells = (_describe_contexts(at.get(length, {})) for length in lengths)
        rows.append((stimulus, glosses.get(stimulus, ""), *(first[name] for name in counts), *cells))
    caption = "Contexts kept of those possible, by stimulus and length; bold: below the study's minimum"
    return Section(f"All {len(rows)} stimuli at every length", sheets=[tabulate(caption, heads, rows)], folded=True)


def _describe_contexts(row: Mapping[str, Any]) -> Cell:
    kept, possible = row.get("sampled", 0), row.get("eligible", 0)
    return Cell(f"{kept:,} of {possible:,}", bold=bool(row.get("short")), order=str(kept))


def left_out(results: study.Results) -> Section | None:
    """Return the section on what the stages of a study left out."""
    found = study.losses_of(results)
    if found is None:
        return None
    heads = dict.fromkeys(("Stage", "What", "Is"), "text") | dict.fromkeys(("How many", "of", "Share"), "")
    rows = [(*each[:5], each.share, each.why) for each in found.rows]
    nothing = [html("<strong>{}</strong>: {}.", stage, sentence) for stage, sentence in found.nothing]
    return section(
        "left_out",
        {"rows": rows},
        sheets=[tabulate("Left out, by stage and reason", heads | {"Why": "text"}, rows)] if rows else [],
        items=[*(["Nothing was lost here:"] if nothing else []), *nothing],
    )


# --------------------
# Hits for judging the lexicon.


def audit(config: Mapping[str, Any], results: study.Results) -> Section | None:
    """Return the section for judging the lexicon: suffixes with their hits, and hits in their surroundings."""
    if results.audit is None:
        return None if ceat_grid(results) is None else section("no_audit")
    used = results.audit.suffixes.filter(pl.col("occurrences") > 0).sort("occurrences", descending=True)
    heads = {"Suffix": "text", "Group": "list", "Kind": "list", "Read as": "text", "Hits": "", "Stimuli": ""}
    rows = [
        (
            *(row["suffix"] or "none", row["group"] or "no group", row["kind"]),
            ", ".join(filter(None, (row["number"], row["case"]))),
            *(row["occurrences"], row["stimuli"], row["examples"]),
        )
        for row in used.iter_rows(named=True)
    ]
    sheet = tabulate("Suffixes that occur", heads | {"Most frequent forms": "text"}, rows)
    return section(
        "audit",
        widget=prose("audit_callout"),
        parts=[
            Section("Suffixes", text=[prose("suffixes")], sheets=[sheet]),
            _concordance(results, hidden=hides_texts(config)),
        ],
    )


def _concordance(results: study.Results, *, hidden: bool) -> Section:
    """Return the hits of every stimulus once, in the first word set that has it; those of no set at the end."""
    file = "data/concordance.tsv"
    there = file in results.files
    is_empty = results.audit is None or results.audit.concordance.is_empty()
    parts = []
    if results.audit is not None and not hidden:
        hits = results.audit.concordance.sort("stimulus", "rank").rows_by_key("stimulus", named=True)
        n_hits = dict(results.audit.forms.group_by("stimulus").agg(pl.col("occurrences").sum()).iter_rows())
        for name, words in words_with_hits(results).items():
            folds = []
            for word in words:
                drawn, stimulus = hits[word["stimulus"]], word["stimulus"]
                more = prose("hits", word=word, n=len(drawn), of=n_hits.get(stimulus, 0))
                lines = prose("kwic", hits=drawn, language=script_of(stimulus))
                folds.append(fold(stimulus, more, id=anchor_of(stimulus, "word"), widget=lines))
            n_drawn = plural(sum(len(hits[word["stimulus"]]) for word in words), "hit")
            packed = f"A script unpacks these hits{'; without one they are in the file of the concordance' * there}."
            about = {"id": anchor_of(name, "hits"), "packed": packed, "look": "concordance"}
            parts.append(fold(name, f"{plural(len(words), 'stimulus', 'stimuli')}, {n_drawn}", parts=folds, **about))
    return section("concordance", {"hidden": hidden, "is_empty": is_empty, "file": file * there}, parts=parts)


def words_with_hits(results: study.Results) -> dict[str, list[dict[str, Any]]]:
    """Return the words that have hits in the concordance, by the first word set of each; those of no set last."""
    drawn = set() if results.audit is None else set(results.audit.concordance["stimulus"])
    found: dict[str, list[dict[str, Any]]] = {}
    for word in list_words(results.categories, results.forms):
        if word["stimulus"] in drawn:
            drawn.remove(word["stimulus"])
            found.setdefault(word["set"], []).append(word)
    if drawn:
        found["Words of no set"] = [{"stimulus": stimulus, "gloss": "", "group": ""} for stimulus in sorted(drawn)]
    return found


# --------------------
# Models and vectors. A value that no file has is not known: nothing is guessed from the config.


def embeddings(results: study.Results) -> Section | None:
    """Return the section on vectors; if contexts were measured without files on them, it says so."""
    files = results.embeddings
    if files is None:
        return None if ceat_grid(results) is None else section("no_embeddings")
    glosses = glosses_of(results.categories)
    models = [_describe_model(files, name) for name in files.studied]
    lengths = sort_lengths(length for _, length in files.lists)
    vectors = [(name, *(_count_vectors(files.lists.get((name, each))) for each in lengths)) for name in files.studied]
    columns = {"Model": "text", **{f"{length} words": "" for length in lengths}}
    lost = [
        (stimulus, glosses.get(stimulus, ""), model, f"{length} words", study.WORDING["targets"].get(reason, reason), n)
        for key in ("left_out", "cut")
        for stimulus, length, model, reason, n in study.count_left_out(files, key)
    ]
    heads = dict.fromkeys(("Stimulus", "Gloss"), "text") | dict.fromkeys(("Model", "Length", "Reason"), "list")
    lost_sheet = tabulate("Targets left out and contexts cut", heads | {"Number": ""}, lost)
    notes = [prose("left_out_of_vectors")]
    kinds = [(kind, [row["Model"] for row in models if row["Kind"] == kind]) for kind in ("decoder", "encoder-decoder")]
    return Section(
        "Embeddings",
        "embeddings",
        text=[prose(f"{kind.replace('-', '_')}s", models=", ".join(names)) for kind, names in kinds if names],
        sheets=[
            tabulate(
                "Models, and how their vectors were made",
                dict.fromkeys(models[0], "text"),
                [tuple(row.values()) for row in models],
            ),
            tabulate("Vectors by segment length", columns, vectors),
        ],
        parts=[
            *([Section("Lost targets", sheets=[lost_sheet], notes=notes, folded=True)] if lost else []),
            *_audit_tokenizers(files, glosses),
        ],
    )


def _describe_model(files: study.EmbeddingFiles, name: str) -> dict[str, str]:
    """Return how the vectors of a model were made, a text for each column."""
    settings, precision = files.studied[name], files.precisions.get(name, {})
    report = files.reports.get(settings.get("family", name), {})
    listed = next((each for (model, _), each in files.lists.items() if model == name), {})
    made = json.loads(listed.get("made_from", {}).get("settings", "{}"))
    kind, cosine = report.get("kind") or settings.get("kind", "auto"), precision.get("cosine_min")
    options = settings.get("tokenizer", {}).items()
    found = {
        "Model": name,
        "Kind": None if kind == "auto" else kind,
        "Reads pieces": report["max_pieces"] or "no limit" if "max_pieces" in report else None,
        "Least cosine with float32": precision.get("reason") or (cosine and f"{cosine:.7f}"),
        "Run in": made.get("dtype") or precision.get("dtype") or settings.get("dtype"),
        "Kept in": listed.get("stored_dtype") or precision.get("stored_dtype"),
        "Tokenizer options": ", ".join(f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in options)
        or "none",
        "Python code of its own": "yes" if settings.get("remote_code") else "no",
    }
    return {head: NOT_KNOWN if value is None else str(value) for head, value in found.items()}


def _count_vectors(listed: study.Report | None) -> Cell:
    n = None if listed is None else listed["n_segments"]
    return Cell(NOT_KNOWN if n is None else f"{n:,}", order="" if n is None else str(n))


def _audit_tokenizers(files: study.EmbeddingFiles, glosses: Mapping[str, str]) -> Iterator[Section]:
    """Yield the audit of the tokenizers: shares of damaged forms, and the pieces of every stimulus."""
    rows, pieces = [], []
    for family in study.families_of(files):
        if (found := files.audits.get(family)) is None:
            continue
        counts = (found["n_forms"], *(found.get(name, "") for name in ("n_occurrences", "n_unseen")))
        rows.append((family, *counts, *(f"{100 * found[name]:.3g} %" for name in _DAMAGES)))
        for row in files.audit_tables.get(family, pl.DataFrame()).iter_rows(named=True):
            examples = "; ".join(filter(None, (row[f"{name}_example"] for name in _DAMAGES)))
            texts = (row["stimulus"], glosses.get(row["stimulus"], ""), family, pieces_as_text(row))
            lost = (row["forms"], row["unknown_forms"], row["marks_lost_forms"])
            pieces.append((*texts, *lost, ", ".join(row["identical_to"]), examples))
    if not rows:
        return
    heads = dict.fromkeys(("Forms", "Occurrences", "Forms that do not occur", *_DAMAGES.values()), "")
    sheet = tabulate("What the tokenizers make of the forms", {"Model": "text", **heads}, rows)
    pieces.sort(key=lambda row: not row[-1])
    heads = {"Stimulus": "text", "Gloss": "text", "Model": "list", "Pieces": "text"}
    heads |= dict.fromkeys(("Forms", "Unknown", "Marks lost"), "")
    of_words = tabulate("Stimuli in pieces", heads | {"Same pieces as": "text", "Damaged forms": "text"}, pieces)
    part = Section("All stimuli in pieces, damaged ones first", sheets=[of_words], folded=True)
    parts = [part] if pieces else []
    yield Section("Audit of the tokenizers", text=[prose("tokenizers")], sheets=[sheet], parts=parts)


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


def panel(config: Mapping[str, Any], results: study.Results) -> Markup:
    """Return the panel with its data, to be put once into the page; empty if no method of words was measured."""
    data = panel_data(config, results, ceat_grid(results))
    if not data["estimates"]:
        return Markup("")
    kind, payload = inline_data(data)
    return render("behind", kind=kind, payload=payload, language=language_of(config))


def panel_data(config: Mapping[str, Any], results: study.Results, grid: Grid | None) -> dict[str, Any]:
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


def _find_words(method: str, row: Estimate, results: study.Results) -> pl.DataFrame:
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


def list_numbers_behind(
    category: str, anchor: str, rows: Iterable[tuple[str, Estimate]], results: study.Results
) -> Section:
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


def list_all_estimates(results: study.Results, grid: Grid | None) -> Iterator[tuple[str, Estimate]]:
    """Yield method and estimate of all methods of words; those of CEAT from short to long, by sample mode."""
    if grid is not None:
        lengths, modes = grid.lengths.index, grid.modes.index
        for _, row in sorted(grid.estimates.items(), key=lambda each: (modes(each[0][3]), lengths(each[0][2]))):
            yield CEAT.name, row
    for name, table in results.methods:
        for row in table.iter_rows(named=True):
            yield name, row


def _pieces_by_word(files: study.EmbeddingFiles | None) -> dict[tuple[str, str], str]:
    """Return the pieces of every stimulus by the model's name in the results and the stimulus."""
    if files is None:
        return {}
    # models that were only scored are called as in the config
    families = {name: name for name in files.audit_tables}
    families |= {name: study.family_of(settings, name) for name, settings in files.studied.items()}
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
