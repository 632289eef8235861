"""Views of texts and vectors: contexts, hits for judging the lexicon, models, and what was left out."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import polars as pl
from markupsafe import Markup

from prasanga.report import study
from prasanga.report.findings import plural
from prasanga.report.grid import anchor_of, glosses_of, list_words, pieces_as_text, sort_lengths
from prasanga.report.section import Section, fold, hides_texts, prose, section
from prasanga.report.sections.associations import ceat_grid, list_left_out
from prasanga.report.sheet import Cell, Sheet, html, language_of, tabulate

_OF_LENGTHS = {
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


def _aside(text: str, asides: Mapping[str, int]) -> Markup:
    """Return a text with those numbers set off after it that are not zero."""
    there = (html(' <span class="aside">{:,} {}</span>', n, what) for what, n in asides.items() if n)
    return html("{}{}", text, Markup("").join(there))


# ---- contexts


def coverage(results: study.Results) -> Section | None:
    """Return the section on contexts; if contexts were measured without a table of them, it says so."""
    grid = ceat_grid(results)
    table = None if results.coverage is None or results.coverage.is_empty() else results.coverage
    if grid is None and table is None:
        return None
    read = {name: f"{n:,}" for name, n in study.totals(results.corpus).items()}
    without = Counter[tuple[str, str]]()
    for stimulus, length, _, _, n in study.count_left_out(results.embeddings) if results.embeddings else ():
        without[stimulus, length] += n
    left_out = [] if grid is None else list_left_out(grid)
    said = [] if left_out else ["Nothing: every listed stimulus was used in every estimate."]
    missed = [prose("without_vectors", stimuli=len({stimulus for stimulus, _ in without}))] if without else []
    return section(
        "coverage",
        {"n": len(results.corpus), "read": read, "has_table": table is not None},
        sheets=[] if table is None else [_count_by_length(table)],
        parts=[
            *([] if table is None else _list_contexts(table, results, without)),
            *([] if results.audit is None else [_count_by_words(results.audit.lengths)]),
            Section("Left out of the estimates", text=[*missed, *said], items=left_out),
        ],
    )


def _count_by_length(table: pl.DataFrame) -> Sheet:
    lengths = study.coverage_by_length(table)
    heads = {head: name for head, name in _OF_LENGTHS.items() if lengths[0][name] is not None}
    rows = ((each["segment_length"], *(f"{each[name]:,g}" for name in heads.values())) for each in lengths)
    return tabulate("Contexts by segment length", {"Words": "list", **dict.fromkeys(heads, "")}, rows)


def _list_contexts(
    table: pl.DataFrame, results: study.Results, without: Mapping[tuple[str, str], int]
) -> Iterator[Section]:
    """Yield the parts with all stimuli at every length, and with the stimuli that have no contexts."""
    glosses, lengths = glosses_of(results.categories), sort_lengths(table["segment_length"])
    counts = [name for name in ("occurrences", "contexts", "copies") if name in table.columns]
    heads = {"Stimulus": "text", "Gloss": "text", **{name.capitalize(): "" for name in counts}}
    heads |= {f"{length} words": "" for length in lengths}
    rows = []
    for (stimulus,), of_stimulus in table.sort("stimulus").group_by("stimulus", maintain_order=True):
        at = {row["segment_length"]: row for row in of_stimulus.iter_rows(named=True)}
        cells = (_describe_contexts(at.get(length, {}), without.get((stimulus, length), 0)) for length in lengths)
        first = of_stimulus.row(0, named=True)
        rows.append((stimulus, glosses.get(stimulus, ""), *(first[name] for name in counts), *cells))
    caption = "Contexts kept of those possible, by stimulus and length"
    yield Section(f"All {len(rows)} stimuli at every length", sheets=[tabulate(caption, heads, rows)], folded=True)
    if missing := study.stimuli_without_contexts(table):
        found = [(stimulus, glosses.get(stimulus, ""), *where) for stimulus, *where in missing]
        heads = {"Stimulus": "text", "Gloss": "text", "Words": "list", "Reason": "list"}
        sheet = tabulate("Stimuli without contexts", heads, found)
        yield Section(f"{plural(len(found), 'time')} a stimulus has no contexts", sheets=[sheet], folded=True)


def _describe_contexts(row: Mapping[str, Any], without_vector: int) -> Cell:
    """Return the contexts kept of those possible, and how many of them count only in part."""
    kept, possible, is_short = row.get("sampled", 0), row.get("eligible", 0), bool(row.get("short"))
    text = _aside(f"{kept:,} of {possible:,}", {"from the supplement": row.get("from_supplement", 0)})
    text += html(' <span class="aside">{}</span>', "below the minimum") if is_short else ""
    return Cell(_aside(text, {"without a vector": without_vector}), bold=is_short, order=str(kept))


def _count_by_words(lengths: pl.DataFrame) -> Section:
    """Return how many contexts have how many words."""
    n = pl.col("contexts")
    total = pl.max_horizontal(n.sum(), 1)
    counts = lengths.with_columns(share=100 * n / total, longer=100 * n.cum_sum(reverse=True) / total)
    rows = [
        (
            f"{row['at_least']} or more" if row["at_most"] is None else f"{row['at_least']}–{row['at_most']}",
            *(row["contexts"], f"{row['share']:.1f} %", f"{row['longer']:.1f} %"),
        )
        for row in counts.iter_rows(named=True)
    ]
    heads = {"Words": "text", "Contexts": "", "Share": "", "This long or longer": ""}
    sheet = tabulate("Contexts by their number of words", heads, rows)
    return Section("Length of the contexts", text=[prose("lengths_of_contexts")], sheets=[sheet])


def left_out(results: study.Results) -> Section | None:
    """Return the section on what the stages of a study left out."""
    found = study.losses_of(results)
    if found is None:
        return None
    heads = dict.fromkeys(("Stage", "What", "Is"), "text") | dict.fromkeys(("How many", "of", "Share"), "")
    heads |= {"Why": "text", "Listed under": "text"}
    rows = [(*each[:5], each.share, each.why, html('<a href="{}">{}</a>', *each.place)) for each in found.rows]
    nothing = [html("<strong>{}</strong>: {}.", stage, sentence) for stage, sentence in found.nothing]
    return section(
        "left_out",
        {"rows": rows},
        sheets=[tabulate("Left out, by stage and reason", heads, rows)] if rows else [],
        items=[*(["Nothing was lost here:"] if nothing else []), *nothing],
    )


# ---- hits for judging the lexicon


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
    n_unused = len(results.audit.suffixes) - len(used)
    sheet = tabulate("Suffixes that occur", heads | {"Most frequent forms": "text"}, rows)
    notes = [f"{plural(n_unused, 'suffix', 'suffixes')} more do not occur."] if n_unused else []
    return section(
        "audit",
        widget=prose("audit_callout"),
        parts=[
            Section("Suffixes", text=[prose("suffixes")], sheets=[sheet], notes=notes),
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
                lines = prose("kwic", hits=drawn, language=language_of(stimulus))
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


# ---- models and vectors. A value that no file has is not known: nothing is guessed from the config.


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
        text=[
            *_list_missing(files),
            *(prose(f"{kind.replace('-', '_')}s", models=", ".join(names)) for kind, names in kinds if names),
        ],
        sheets=[
            tabulate(
                "Models, and how their vectors were made",
                dict.fromkeys(models[0], "text"),
                [tuple(row.values()) for row in models],
            ),
            tabulate("Vectors by segment length, and the targets and contexts that were lost", columns, vectors),
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
        "Layer": settings.get("layer"),
        "Pieces of the target": settings.get("pieces", "all"),
        "Run in": made.get("dtype") or precision.get("dtype") or settings.get("dtype"),
        "Kept in": listed.get("stored_dtype") or precision.get("stored_dtype"),
        "Tokenizer options": ", ".join(f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in options)
        or "none",
        "Quantization": settings.get("quantization", "none"),
        "Python code of its own": "yes" if settings.get("remote_code") else "no",
    }
    return {head: NOT_KNOWN if value is None else str(value) for head, value in found.items()}


def _count_vectors(listed: study.Report | None) -> Cell:
    """Return the vectors of a list, with the targets left out and the contexts cut."""
    if listed is None:
        return Cell(NOT_KNOWN)
    left_out = sum(sum(reasons.values()) for reasons in listed.get("left_out", {}).values())
    lost = {"left out": left_out, "cut": sum(listed.get("cut", {}).values())}
    return Cell(_aside(f"{listed['n_segments']:,}", lost), order=str(listed["n_segments"]))


def _list_missing(files: study.EmbeddingFiles) -> list[str]:
    """Return which files are missing, a sentence each."""
    names, families = files.studied.keys(), study.families_of(files).keys()
    wanted = {
        "No list of vectors is there for {}.": (names, {model for model, _ in files.lists}),
        "The check of the model is not there for {}.": (families, files.reports),
        "The comparison with float32 is not there for {}.": (names, files.precisions),
        "The audit of the tokenizer is not there for {}.": (families, files.audits),
    }
    absent = {text: [name for name in asked if name not in there] for text, (asked, there) in wanted.items()}
    return [text.format(", ".join(missing)) for text, missing in absent.items() if missing]


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
