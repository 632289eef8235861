"""Views of texts and vectors: contexts, hits for judging the lexicon, models, and what was left out."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import polars as pl
from markupsafe import Markup

from prasanga.report.grid import anchor_of, sort_lengths
from prasanga.report.section import Section, count, fold, hides_texts, prose
from prasanga.report.sections.ceat import ceat_grid, left_out_of_estimates
from prasanga.report.sheet import Cell, Row, Sheet, html, language_of, numbers
from prasanga.report.study import (
    WORDING,
    EmbeddingFiles,
    Report,
    Results,
    count_left_out,
    coverage_by_length,
    families_of,
    losses_of,
    stimuli_without_contexts,
    totals,
)
from prasanga.report.words import glosses_of, list_words, pieces_as_text

_FEW = 10
"""A table of more rows sorts and filters."""

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


def tabulate(caption: str, heads: Mapping[str, str], rows: Iterable[Sequence[Any]]) -> Sheet:
    """Return a table of rows of cells under heads, each with its kind (`Sheet.kinds`; empty for numbers)."""
    lines = [Row((row[0],), tuple(map(_cell, row[1:]))) for row in rows]
    kinds = {head: kind for head, kind in heads.items() if kind}
    label, *others = heads
    return Sheet((label,), numbers(*others), lines, caption, "explorable" if len(lines) > _FEW else "", kinds)


def _cell(value: Any) -> Cell:
    return value if isinstance(value, Cell) else Cell(value if isinstance(value, str) else f"{value:,}")


# ---- contexts


def coverage(results: Results) -> Section | None:
    """Return the section on contexts; if contexts were measured without a table of them, it says so."""
    grid = ceat_grid(results)
    table = None if results.coverage is None or results.coverage.is_empty() else results.coverage
    if grid is None and table is None:
        return None
    text: list[str] = []
    if read := totals(results.corpus):
        counts = {name: f"{n:,}" for name, n in read.items()}
        text.append(prose("read", files=count(read["files"], "file"), read=counts))
    if table is None:
        text.append(prose("no_coverage"))
    left_out = [] if grid is None else left_out_of_estimates(grid)
    said = [] if left_out else ["Nothing: every listed stimulus was used in every estimate."]
    without = Counter[tuple[str, str]]()
    if results.embeddings is not None:
        for stimulus, length, _, _, n in count_left_out(results.embeddings):
            without[stimulus, length] += n
    if without:
        said.insert(0, prose("without_vectors", stimuli=len({stimulus for stimulus, _ in without})))
    histogram = [] if results.audit is None else [_count_by_words(results.audit.lengths)]
    return Section(
        "Coverage",
        "coverage",
        text=text,
        sheets=[] if table is None else [_count_by_length(table)],
        parts=[
            *([] if table is None else _list_contexts(table, results, without)),
            *histogram,
            Section("Left out of the estimates", text=said, items=left_out),
        ],
    )


def _count_by_length(table: pl.DataFrame) -> Sheet:
    lengths = coverage_by_length(table)
    heads = {head: name for head, name in _OF_LENGTHS.items() if lengths[0][name] is not None}
    rows = ((each["segment_length"], *(f"{each[name]:,g}" for name in heads.values())) for each in lengths)
    return tabulate("Contexts by segment length", {"Words": "list", **dict.fromkeys(heads, "")}, rows)


def _list_contexts(table: pl.DataFrame, results: Results, without: Mapping[tuple[str, str], int]) -> Iterator[Section]:
    """Yield the parts with all stimuli at every length, and with the stimuli that have no contexts."""
    glosses, lengths = glosses_of(results.categories), sort_lengths(table["segment_length"])
    stimuli: dict[str, dict[str, Mapping[str, Any]]] = {}
    for row in table.sort("stimulus").iter_rows(named=True):
        stimuli.setdefault(row["stimulus"], {})[row["segment_length"]] = row
    counts = [name for name in ("occurrences", "contexts", "copies") if name in table.columns]
    heads = {"Stimulus": "text", "Gloss": "text", **{name.capitalize(): "" for name in counts}}
    heads |= {f"{length} words": "" for length in lengths}
    rows = [
        (
            *(stimulus, glosses.get(stimulus, "")),
            *(next(iter(by_length.values()))[name] for name in counts),
            *(_describe_contexts(by_length.get(length, {}), without.get((stimulus, length), 0)) for length in lengths),
        )
        for stimulus, by_length in stimuli.items()
    ]
    caption = "Contexts kept of those possible, by stimulus and length"
    yield Section(f"All {len(rows)} stimuli at every length", sheets=[tabulate(caption, heads, rows)], folded=True)
    if missing := stimuli_without_contexts(table):
        found = [(stimulus, glosses.get(stimulus, ""), *where) for stimulus, *where in missing]
        heads = {"Stimulus": "text", "Gloss": "text", "Words": "list", "Reason": "list"}
        sheet = tabulate("Stimuli without contexts", heads, found)
        yield Section(f"{count(len(found), 'time')} a stimulus has no contexts", sheets=[sheet], folded=True)


def _describe_contexts(row: Mapping[str, Any], without_vector: int) -> Cell:
    """Return the contexts kept of those possible, and how many of them count only in part."""
    sampled, eligible, supplement = (row.get(name, 0) for name in ("sampled", "eligible", "from_supplement"))
    asides = [
        *([f"{supplement:,} from the supplement"] if supplement else []),
        *(["below the minimum"] if row.get("short") else []),
        *([f"{without_vector:,} without a vector"] if without_vector else []),
    ]
    text = Markup("").join(html(' <span class="aside">{}</span>', aside) for aside in asides)
    return Cell(html("{:,} of {:,}{}", sampled, eligible, text), bold=bool(row.get("short")), order=str(sampled))


def _count_by_words(lengths: pl.DataFrame) -> Section:
    """Return how many contexts have how many words."""
    counts = lengths["contexts"].to_list()
    total = max(sum(counts), 1)
    rows = [
        (
            f"{low} or more" if high is None else f"{low}–{high}",
            counts[place],
            *(f"{100 * n / total:.1f} %" for n in (counts[place], sum(counts[place:]))),
        )
        for place, (low, high) in enumerate(lengths.select("at_least", "at_most").iter_rows())
    ]
    heads = {"Words": "text", "Contexts": "", "Share": "", "This long or longer": ""}
    sheet = tabulate("Contexts by their number of words", heads, rows)
    return Section("Length of the contexts", text=[prose("lengths_of_contexts")], sheets=[sheet])


def left_out(results: Results) -> Section | None:
    """Return the section on what the stages of a study left out."""
    found = losses_of(results)
    if found is None:
        return None
    heads = dict.fromkeys(("Stage", "What", "Is"), "text") | dict.fromkeys(("How many", "of", "Share"), "")
    rows = [
        (
            loss.stage,
            loss.what,
            loss.lost,
            loss.n,
            loss.of,
            loss.share,
            loss.why,
            html('<a href="{}">{}</a>', *loss.place),
        )
        for loss in found.rows
    ]
    sheet = tabulate("Left out, by stage and reason", heads | {"Why": "text", "Listed under": "text"}, rows)
    nothing = [html("<strong>{}</strong>: {}.", stage, sentence) for stage, sentence in found.nothing]
    return Section(
        "What was left out, and why",
        "left-out",
        text=[prose("left_out")] if rows else [],
        sheets=[sheet] if rows else [],
        items=[*([html("Nothing was lost here:")] if nothing else []), *nothing],
    )


# ---- hits for judging the lexicon


def audit(config: Mapping[str, Any], results: Results) -> Section | None:
    """Return the section for judging the lexicon: suffixes with their hits, and hits in their surroundings."""
    if results.audit is None:
        if ceat_grid(results) is None:
            return None
        return Section("Audit of the lexicon", "audit", text=[prose("no_audit")])
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
    notes = [f"{count(n_unused, 'suffix', 'suffixes')} more do not occur."] if n_unused else []
    return Section(
        "Audit of the lexicon",
        "audit",
        text=[prose("audit")],
        widget=prose("audit_callout"),
        parts=[
            Section("Suffixes", text=[prose("suffixes")], sheets=[sheet], notes=notes),
            _concordance(results, hidden=hides_texts(config)),
        ],
    )


def _concordance(results: Results, *, hidden: bool) -> Section:
    """Return the hits of every stimulus once, in the first word set that has it; those of no set at the end."""
    tables, file = results.audit, "data/concordance.tsv"
    there = file in results.files
    is_empty = tables is None or tables.concordance.is_empty()
    text = prose("concordance", hidden=hidden, is_empty=is_empty, file=file if there else "")
    if tables is None or hidden or is_empty:
        return Section("Concordance", "concordance", text=[text])
    hits: defaultdict[str, list[Markup]] = defaultdict(list)
    for row in tables.concordance.sort("stimulus", "rank").iter_rows(named=True):
        hit = Markup("<li><span>{}</span><mark>{}</mark><span>{}</span></li>")
        hits[row["stimulus"]].append(hit.format(row["left"], row["form"], row["right"]))
    totals = dict(tables.forms.group_by("stimulus").agg(pl.col("occurrences").sum()).iter_rows())
    unpacked = f"A script unpacks these hits{'; without one they are in the file of the concordance' * there}."
    parts = []
    for name, words in words_with_hits(results).items():
        folds = []
        for word in words:
            stimulus, drawn = word["stimulus"], hits[word["stimulus"]]
            group = html(" · <code>{}</code>", word["group"]) if word["group"] else ""
            more = html("{}{} · {} of {:,} hits", word["gloss"], group, len(drawn), totals.get(stimulus, 0))
            lines = html('<ol class="kwic" lang="{}">{}</ol>', language_of(stimulus), Markup("").join(drawn))
            folds.append(fold(stimulus, more, id=anchor_of(stimulus, "word"), widget=lines))
        n_hits = count(sum(len(hits[word["stimulus"]]) for word in words), "hit")
        about = {"id": anchor_of(name, "hits"), "packed": unpacked, "look": "concordance"}
        parts.append(fold(name, f"{count(len(words), 'stimulus', 'stimuli')}, {n_hits}", parts=folds, **about))
    return Section("Concordance", "concordance", text=[text], parts=parts)


def words_with_hits(results: Results) -> dict[str, list[dict[str, Any]]]:
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


def embeddings(results: Results) -> Section | None:
    """Return the section on vectors; if contexts were measured without files on them, it says so."""
    files = results.embeddings
    if files is None:
        if ceat_grid(results) is None:
            return None
        return Section("Embeddings", "embeddings", text=[prose("no_embeddings")])
    glosses = glosses_of(results.categories)
    models = [_describe_model(files, name) for name in files.studied]
    by_kind = {kind: [row[0] for row in models if row[1] == kind] for kind in ("decoder", "encoder-decoder")}
    lengths = sort_lengths(length for _, length in files.lists)
    vectors = [(name, *(_count_vectors(files.lists.get((name, each))) for each in lengths)) for name in files.studied]
    columns = {"Model": "text", **{f"{length} words": "" for length in lengths}}
    lost = [
        (stimulus, glosses.get(stimulus, ""), model, f"{length} words", WORDING["targets"].get(reason, reason), n)
        for stimulus, length, model, reason, n in (*count_left_out(files), *count_left_out(files, "cut"))
    ]
    heads = dict.fromkeys(("Stimulus", "Gloss"), "text") | dict.fromkeys(("Model", "Length", "Reason"), "list")
    of_lost = tabulate("Targets left out and contexts cut", heads | {"Number": ""}, lost)
    return Section(
        "Embeddings",
        "embeddings",
        text=[
            *_list_missing(files),
            *(prose(f"{kind.replace('-', '_')}s", models=", ".join(names)) for kind, names in by_kind.items() if names),
        ],
        sheets=[
            tabulate("Models, and how their vectors were made", dict.fromkeys(_OF_MODELS, "text"), models),
            tabulate("Vectors by segment length, and the targets and contexts that were lost", columns, vectors),
        ],
        parts=[
            *(
                [Section("Lost targets", sheets=[of_lost], notes=[prose("left_out_of_vectors")], folded=True)]
                if lost
                else []
            ),
            *_tokenizers(files, glosses),
        ],
    )


_OF_MODELS = (
    *("Model", "Kind", "Reads pieces", "Least cosine with float32", "Layer", "Pieces of the target", "Run in"),
    *("Kept in", "Tokenizer options", "Quantization", "Python code of its own"),
)


def _describe_model(files: EmbeddingFiles, name: str) -> tuple[str, ...]:
    """Return how the vectors of a model were made, a text for each column."""
    settings, precision = files.studied[name], files.precisions.get(name, {})
    report = files.reports.get(settings.get("family", name), {})
    listed = next((each for (model, _), each in files.lists.items() if model == name), {})
    made = json.loads(listed.get("made_from", {}).get("settings", "{}"))
    kind, cosine = report.get("kind") or settings.get("kind", "auto"), precision.get("cosine_min")
    options = settings.get("tokenizer", {}).items()
    found = (
        name,
        None if kind == "auto" else kind,
        report["max_pieces"] or "no limit" if "max_pieces" in report else None,
        precision.get("reason") or (cosine and f"{cosine:.7f}"),
        settings.get("layer"),
        settings.get("pieces", "all"),
        made.get("dtype") or precision.get("dtype") or settings.get("dtype"),
        listed.get("stored_dtype") or precision.get("stored_dtype"),
        ", ".join(f"{option}: {json.dumps(value, ensure_ascii=False)}" for option, value in options) or "none",
        settings.get("quantization", "none"),
        "yes" if settings.get("remote_code") else "no",
    )
    return tuple(NOT_KNOWN if value is None else str(value) for value in found)


def _count_vectors(listed: Report | None) -> Cell:
    """Return the vectors of a list, with the targets left out and the contexts cut."""
    if listed is None:
        return Cell(NOT_KNOWN)
    left_out = sum(sum(reasons.values()) for reasons in listed.get("left_out", {}).values())
    lost = {"left out": left_out, "cut": sum(listed.get("cut", {}).values())}
    asides = (html(' <span class="aside">{:,} {}</span>', n, what) for what, n in lost.items() if n)
    return Cell(html("{:,}{}", listed["n_segments"], Markup("").join(asides)), order=str(listed["n_segments"]))


def _list_missing(files: EmbeddingFiles) -> list[str]:
    """Return which files are missing, a sentence each."""
    names, families = files.studied.keys(), families_of(files).keys()
    wanted = {
        "No list of vectors is there for {}.": (names, {model for model, _ in files.lists}),
        "The check of the model is not there for {}.": (families, files.reports),
        "The comparison with float32 is not there for {}.": (names, files.precisions),
        "The audit of the tokenizer is not there for {}.": (families, files.audits),
    }
    absent = {text: [name for name in asked if name not in there] for text, (asked, there) in wanted.items()}
    return [text.format(", ".join(missing)) for text, missing in absent.items() if missing]


def _tokenizers(files: EmbeddingFiles, glosses: Mapping[str, str]) -> Iterator[Section]:
    """Yield the audit of the tokenizers: shares of damaged forms, and the pieces of every stimulus."""
    audits = {family: files.audits[family] for family in families_of(files) if family in files.audits}
    rows, pieces = [], []
    for family, found in audits.items():
        counts = (found["n_forms"], *(found.get(name, "") for name in ("n_occurrences", "n_unseen")))
        rows.append((family, *counts, *(f"{100 * found[name]:.3g} %" for name in _DAMAGES)))
        for row in files.audit_tables.get(family, pl.DataFrame()).iter_rows(named=True):
            examples = "; ".join(filter(None, (row[f"{name}_example"] for name in _DAMAGES)))
            texts = (row["stimulus"], glosses.get(row["stimulus"], ""), family, pieces_as_text(row))
            lost = (row["forms"], row["unknown_forms"], row["marks_lost_forms"])
            pieces.append((*texts, *lost, ", ".join(row["identical_to"]), examples))
    if not audits:
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
