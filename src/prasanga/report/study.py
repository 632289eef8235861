"""Everything that a study has to show, as far as it is there, and what it left out, for page, cards and summary."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

import polars as pl

from prasanga import methods
from prasanga.base.documents import read_document
from prasanga.base.parquet import read_frame, remade_by, require_columns
from prasanga.base.places import shareable
from prasanga.pairs.preferences import OVERALL
from prasanga.pairs.preferences import REASONS as PAIR_REASONS
from prasanga.report.comparison import reason_in
from prasanga.report.grid import (
    METHODS,
    Estimate,
    is_number,
    pair_grid_of,
    pairs_left_out,
    sort_lengths,
    why_missing,
    words_left_out,
)

TABLES = (*(name for name, table in methods.TABLES.items() if table.on_page), "coverage", "forms")
"""Results that are one Parquet table each."""


class AuditTables(NamedTuple):
    """The tables that `prasanga.sentences.audit` makes."""

    forms: pl.DataFrame
    concordance: pl.DataFrame
    suffixes: pl.DataFrame
    lengths: pl.DataFrame


@dataclass(frozen=True)
class Results:
    """Tables, figures and files of a study; None or empty where a study has none, or has none yet.

    Attributes:
        ceat: estimates of CEAT.
        ceat_words: associations of single words in CEAT.
        differences: paired differences of CEAT between lengths and between models.
        settling: from which length on effects stay.
        convergence: effects against the number of draws.
        multiverse: estimates under all choices that the vectors allow.
        seat: estimates of SEAT.
        weat: estimates of WEAT.
        log_probability: estimates of log-probability bias.
        structures: how traits spread in the sentence structures.
        structure_differences: structures compared, two by two.
        traits: the scores of every trait in every structure.
        bias_percentages: of sentence pairs, by set, language, type and model.
        pair_differences: the difference of scores of every pair.
        pair_statistics: what all sets of pairs hold.
        pair_scores: the scores of a set by a model or its twin, a table each.
        pair_oddities: what is odd about each set, by its name.
        words: associations of single words in the methods besides CEAT, by name of the method.
        sentences: sentences that were measured (`prasanga.report.words.choose_sentences`).
        others: estimates of further methods of `prasanga.methods`, by name.
        coverage: one row for each stimulus and segment length.
        forms: surface forms.
        categories: the layout of `categories.json`, glosses included.
        corpus: what was read and left out of each corpus file.
        audit: forms, suffixes, lengths and hits for judging the lexicon.
        embeddings: what the embeddings stage says of models and vectors.
        comparison: the rows of the study beside a paper's.
        why_no_comparison: why there are none.
        figures: SVG by name of the figure.
        files: tables, figures and cards that lie beside the page, as paths from it.
        missing: what a finished study would have besides, a sentence each.
    """

    ceat: pl.DataFrame | None = None
    ceat_words: pl.DataFrame | None = None
    differences: pl.DataFrame | None = None
    settling: pl.DataFrame | None = None
    convergence: pl.DataFrame | None = None
    multiverse: pl.DataFrame | None = None
    seat: pl.DataFrame | None = None
    weat: pl.DataFrame | None = None
    log_probability: pl.DataFrame | None = None
    structures: pl.DataFrame | None = None
    structure_differences: pl.DataFrame | None = None
    traits: pl.DataFrame | None = None
    bias_percentages: pl.DataFrame | None = None
    pair_differences: pl.DataFrame | None = None
    pair_statistics: pl.DataFrame | None = None
    pair_scores: Sequence[pl.DataFrame] = ()
    pair_oddities: Mapping[str, pl.DataFrame] = field(default_factory=dict)
    words: Mapping[str, pl.DataFrame] = field(default_factory=dict)
    sentences: pl.DataFrame | None = None
    others: Mapping[str, pl.DataFrame] = field(default_factory=dict)
    coverage: pl.DataFrame | None = None
    forms: pl.DataFrame | None = None
    categories: Mapping[str, Any] = field(default_factory=dict)
    corpus: Sequence[Mapping[str, int]] = ()
    audit: AuditTables | None = None
    embeddings: EmbeddingFiles | None = None
    comparison: pl.DataFrame | None = None
    why_no_comparison: str = ""
    figures: Mapping[str, str] = field(default_factory=dict)
    files: Sequence[str] = ()
    missing: Sequence[str] = ()

    @property
    def estimates(self) -> dict[str, pl.DataFrame]:
        """Return the estimates of CEAT and of each other method that was measured, by name."""
        return {**({} if self.ceat is None else {"ceat": self.ceat}), **dict(self.methods)}

    @property
    def methods(self) -> list[tuple[str, pl.DataFrame]]:
        """Return name and estimates of each method besides CEAT that was measured: seat, weat, log_probability."""
        tables = {**vars(self), **self.others}
        return [
            (name, table) for name in methods.names_of(methods.FAMILY[1:]) if (table := tables.get(name)) is not None
        ]


def read_results(
    inputs: Mapping[str, str | Sequence[str]],
    *,
    page: str | Path,
    studied: Mapping[str, Mapping[str, Any]],
    missing: Sequence[str] = (),
) -> Results:
    """Read the results of a study from their files.

    Args:
        inputs: paths by the names of the fields of `Results`; an empty list, or no entry, for what is not there.
            `audit` are the tables named as the fields of `AuditTables`, `pair_oddities` files named
            `<set>.oddities.parquet`, `corpus` JSON files, `embeddings` all small files of that stage, `figures` SVG
            files, `comparison` the CSV file and the Markdown file.
        page: the page that `files` lie beside.
        studied: settings of the models whose vectors were measured, by name.
        missing: see `Results`.
    """
    paths = {name: [value] if isinstance(value, str) else list(value) for name, value in inputs.items()}
    of = paths.get
    audit = {Path(path).stem: read_frame(path) for path in of("audit", [])}
    folder, compared = Path(page).parent, of("comparison")
    tables = {name: read_frame(paths[name][0]) for name in TABLES if of(name)}
    fields = Results.__dataclass_fields__
    return Results(
        **{name: table for name, table in tables.items() if name in fields},
        others={name: table for name, table in tables.items() if name not in fields},
        words={Path(path).stem.removesuffix("_words"): read_frame(path) for path in of("words", [])},
        sentences=read_frame(paths["sentences"][0]) if of("sentences") else None,
        pair_scores=[read_frame(path) for path in of("pair_scores", [])],
        pair_oddities={
            Path(path).name.removesuffix(".oddities.parquet"): read_frame(path) for path in of("pair_oddities", [])
        },
        categories=read_document(paths["categories"][0]) if of("categories") else {},
        corpus=[read_document(path) for path in of("corpus", [])],
        audit=AuditTables(**audit) if audit.keys() == set(AuditTables._fields) else None,
        embeddings=read_embedding_files(studied, of("embeddings", [])) if of("embeddings") else None,
        # every column by all its rows: in one without a number at first a later one would be refused
        comparison=pl.read_csv(compared[0], infer_schema_length=None) if compared else None,
        why_no_comparison=reason_in(Path(compared[1]).read_text(encoding="utf-8")) if compared else "",
        figures={Path(path).stem: Path(path).read_text(encoding="utf-8") for path in of("figures", [])},
        files=[Path(path).relative_to(folder).as_posix() for path in of("files", [])],
        missing=list(missing),
    )


def without_places(config: Mapping[str, Any], results: Results) -> tuple[Mapping[str, Any], Results]:
    """Return config and results without the folders of this machine (`prasanga.base.places.shareable`)."""
    files, audit, sentences = results.embeddings, results.audit, results.sentences
    if files is not None:
        files = files._replace(studied=shareable(files.studied, config))
    if audit is not None:
        audit = AuditTables(*(_without_places(table, config) for table in audit))
    if sentences is not None:
        sentences = _without_places(sentences, config)
    return shareable(config, config), replace(results, embeddings=files, audit=audit, sentences=sentences)


def _without_places(table: pl.DataFrame, config: Mapping[str, Any]) -> pl.DataFrame:
    if "source" not in table.columns:
        return table
    sources = table["source"].unique().to_list()
    return table.with_columns(pl.col("source").replace(dict(zip(sources, shareable(sources, config), strict=True))))


Report = Mapping[str, Any]


class EmbeddingFiles(NamedTuple):
    """What the embeddings stage says of the vectors of a study, as plain values.

    Attributes:
        studied: settings of each model by its name in the results, with `family` (its name in the config) and one
            `layer`.
        lists: the list of shards, by model and segment length.
        reports: what the check of a model found, by family.
        audits: summary of the audit of its tokenizer, by family.
        audit_tables: the same audit with one row per stimulus, by family.
        precisions: the comparison with float32, by name in the results.
    """

    studied: Mapping[str, Report]
    lists: Mapping[tuple[str, str], Report]
    reports: Mapping[str, Report]
    audits: Mapping[str, Report]
    audit_tables: Mapping[str, pl.DataFrame]
    precisions: Mapping[str, Report]


def read_embedding_files(studied: Mapping[str, Report], paths: Iterable[str]) -> EmbeddingFiles:
    """Read the files of the embeddings stage that are there, told apart by their places.

    Args:
        studied: see `EmbeddingFiles`.
        paths: any of `embeddings/<model>/<length>.json`, `embeddings/<model>/precision.json`, `models/<family>.json`,
            `models/<family>.tokenizer.json` and `models/<family>.tokenizer.parquet`, in any order.
    """
    lists: dict[tuple[str, str], Report] = {}
    reports: dict[str, Report] = {}
    audits: dict[str, Report] = {}
    tables: dict[str, pl.DataFrame] = {}
    precisions: dict[str, Report] = {}
    for path in map(Path, paths):
        if path.suffix == ".parquet":
            tables[path.name.removesuffix(".tokenizer.parquet")] = read_frame(path)
            continue
        found = read_document(path)
        if path.parent.parent.name != "embeddings":
            of_tokenizer = path.name.endswith(".tokenizer.json")
            (audits if of_tokenizer else reports)[path.name.removesuffix(".json").removesuffix(".tokenizer")] = found
        elif path.name == "precision.json":
            precisions[path.parent.name] = found
        else:
            lists[path.parent.name, path.stem.replace("over", ">")] = found
    return EmbeddingFiles(studied, lists, reports, audits, tables, precisions)


def families_of(files: EmbeddingFiles) -> dict[str, str]:
    """Return the models of the config, each with one of its names in the results.

    Layers of one model come from one pass, so that what was cut or left out is the same for all of them, and told once.
    """
    names: dict[str, str] = {}
    for name, settings in files.studied.items():
        names.setdefault(family_of(settings, name), name)
    return names


def family_of(settings: Report, name: str) -> str:
    """Return the name in the config of the model that is called `name` in the results."""
    return str(settings.get("family", name))


def model_dimensions(files: EmbeddingFiles | None, family: str) -> int | None:
    """Return the size of the vectors of a model of the config, by its lists of shards or its check; None if unknown."""
    if files is None:
        return None
    names = [name for name, settings in files.studied.items() if family_of(settings, name) == family]
    found = [each["dimension"] for (model, _), each in files.lists.items() if model in names and "dimension" in each]
    size = found[0] if found else files.reports.get(family, {}).get("hidden_size")
    return None if size is None else int(size)


def left_out_of(files: EmbeddingFiles) -> dict[tuple[str, str], dict[str, int]]:
    """Return how many targets each model left out, by stimulus and segment length; nothing where none was."""
    found: dict[tuple[str, str], dict[str, int]] = {}
    for family, name in families_of(files).items():
        for (model, length), listed in files.lists.items():
            for stimulus, reasons in listed.get("left_out", {}).items() if model == name else ():
                found.setdefault((stimulus, length), {})[family] = sum(reasons.values())
    return found


_WITH_P = (*methods.names_of(methods.FAMILY), "bias_percentages")
"""Results with a p that is corrected for all of its family."""

_NAMED = 4


def said_of_parts(missing: Sequence[str], total: int) -> str:
    """Return how much of a table is there that is gathered from one file a job.

    Args:
        missing: paths of the files that are not there.
        total: how many there are to be.
    """
    if not missing:
        return f"{'its one part is' if total == 1 else f'all {total} parts are'} there, not yet gathered"
    parts = [f"{path.parent.name}/{path.stem}" for path in map(PurePosixPath, missing)]
    more = f" and {len(parts) - _NAMED} more" if len(parts) > _NAMED else ""
    return f"{total - len(missing)} of {total} parts are there; {', '.join(parts[:_NAMED])}{more} not yet"


def missing_results(said: Mapping[str, str], paths: Mapping[str, str]) -> list[str]:
    """Return a sentence for each result that is missing, or there in part.

    Args:
        said: by name of the result, what is there of it (`said_of_parts`); empty if nothing is.
        paths: where each result of a finished study is.
    """
    sentences = []
    for name, part in said.items():
        table = methods.TABLES[name]
        verb, them = ("is", "it") if table.is_one else ("are", "them")
        so_far = "; p is corrected for what is there alone" if name in _WITH_P else ""
        there = f"not complete: {part}{so_far}." if part else "not there."
        holds = f"{table.holds[:1].upper()}{table.holds[1:]}"
        sentences.append(f"{holds} {verb} {there} `snakemake {paths[name]}` makes {them}.")
    return sentences


# --------------------
# How many contexts the words of a study have, and what it left out, stage by stage: how many of how many, why.
# Only what the tables of the stages count: a list stands where its stage has its section.


_REASONS = {
    "no-occurrence": "does not occur in the corpus",
    "no-context-long-enough": "occurs, but in no context long enough",
    "no-context-for-all-lengths": "occurs, but in no context long enough for all lengths of the pool",
    "target-too-long": "occurs, but its forms have more words than the segment",
}
"""Why a stimulus has no contexts, by the words of the table."""

VECTOR_REASONS = {"unknown": "the tokenizer does not know a piece of it", "cut": "more pieces than the model reads"}
"""Why a target has no vector, or one of a part of its context."""

_NEEDED_OF_ESTIMATES = (
    *("category", "model", "effect_size", "lost", "ci_low"),
    *(f"{kind}_{side}" for kind in ("n", "listed") for side in "xyab"),
)
"""The columns of a table of estimates without which it cannot be told what was left out."""

_OF_FILES = (
    *("lines", "skipped_lines", "unknown_stimuli", "sentences", "cut_sentences", "shorter_matches", "occurrences"),
)
_OF_MINIMUM = ("short", "from_supplement")
_LEFT_OUT = "left out"

_FEW = 4
_CONTEXTS = {
    "copies": "they have the text of another context",
    "too_short": "they have fewer words than the segment",
    "target_too_long": "the target has more words than the segment",
    "outside_pool": "they are not long enough for all lengths of the pool",
    "over_cap": "so many were not needed: samples.contexts_per_stimulus were drawn",
}
_TRAITS = {
    "dropped-word": "the tokenizer has no piece for the trait or a term",
    "unknown-piece": "the trait or a term has a piece that the tokenizer does not know",
    "shared-piece": "one piece belongs to the trait and to a term",
    "too-long": "the sentence is longer than the model reads",
}
_PLACES = {
    **{method.label: (f"#{method.name}", method.label) for method in methods.METHODS},
    **dict.fromkeys(("Corpus", "Samples", methods.CEAT.label), ("#coverage", "Coverage")),
    "Embeddings": ("#embeddings", "Embeddings"),
}
"""Where the losses of each stage are listed: the address on the page, and its name."""


class Loss(NamedTuple):
    """Something that a stage lost: `n` of `of` things (`what`) are so (`lost`), and why.

    `link` and `place` say where each is listed.
    """

    stage: str
    what: str
    lost: str
    n: int
    of: int
    why: str
    link: str
    place: str

    @property
    def share(self) -> str:
        """Return the share in per cent, never rounded to all or nothing."""
        if not 0 < self.n < self.of:
            return f"{100 if self.n else 0} %"
        percent = 100 * self.n / self.of
        return "< 0.1 %" if percent < 0.05 else "> 99.9 %" if percent >= 99.95 else f"{percent:.1f} %"


class Losses(NamedTuple):
    """The section of the page: what was left out, and by stage of what nothing was, with how much there is of it."""

    rows: list[Loss]
    nothing: list[tuple[str, str]]


def coverage_by_length(coverage: pl.DataFrame) -> list[dict[str, Any]]:
    """Summarize the coverage table (one row per stimulus and segment length) by length, by the names of the summary.

    `n_short` are the stimuli with fewer contexts than the study's minimum, `n_from_supplement` the contexts drawn that
    stand in the supplement alone; None where the table does not say. `fewest` and `median` are of stimuli with any.
    """
    lengths = sort_lengths(coverage["segment_length"].to_list())
    return [_of_length(coverage.filter(pl.col("segment_length") == length), length) for length in lengths]


def stimuli_without_contexts(coverage: pl.DataFrame) -> list[tuple[str, str, str]]:
    """Return the stimuli that have no contexts at some length, each with these lengths in words and the reason."""
    lengths = sort_lengths(coverage["segment_length"].to_list())
    missing: dict[tuple[str, str], list[str]] = {}
    for row in coverage.sort("stimulus").filter(sampled=0).iter_rows(named=True):
        missing.setdefault((row["stimulus"], row["reason"]), []).append(row["segment_length"])
    return [
        (
            stimulus,
            "all lengths" if len(where) == len(lengths) else ", ".join(sort_lengths(where)),
            _REASONS.get(reason, reason),
        )
        for (stimulus, reason), where in missing.items()
    ]


def totals(counts: Sequence[Mapping[str, int]]) -> dict[str, int]:
    """Return the sums over all corpus files of what was read and left out, and their number as `files`."""
    if not counts:
        return {}
    return {"files": len(counts), **{key: sum(count.get(key, 0) for count in counts) for key in counts[0]}}


def losses_of(results: Results) -> Losses | None:
    """Return what a study left out, from corpus to likelihoods, as far as its results tell; None if none of them does.

    Raises:
        InputError: a table lacks a column.
    """
    found: list[Loss] = [
        *_of_corpus(totals(results.corpus)),
        *_of_samples(results.coverage),
        *([] if results.embeddings is None else _of_embeddings(results.embeddings)),
    ]
    for method, table in results.estimates.items():
        require_columns(METHODS[method], table, _NEEDED_OF_ESTIMATES, remade_by("associations"))
        found += _of_estimates(method, table.rows(named=True))
    found += [*_of_traits(results.traits), *_of_pairs(results.bias_percentages)]
    if not found:
        return None
    nothing: dict[str, list[str]] = {}
    for loss in found:
        if loss.of and not loss.n:
            noun, comma, counted = loss.what.partition(", ")
            nothing.setdefault(loss.stage, []).append(f"0 of {loss.of:,} {noun} {loss.lost}{comma}{counted}")
    return Losses([loss for loss in found if loss.n], [(stage, "; ".join(said)) for stage, said in nothing.items()])


def _of_length(rows: pl.DataFrame, length: str) -> dict[str, Any]:
    counts = rows["sampled"].filter(rows["sampled"] > 0)
    return {
        "segment_length": length,
        "n_stimuli": rows.height,
        "n_with_contexts": len(counts),
        "n_contexts": int(counts.sum()),
        "fewest": min(counts, default=0),
        "median": counts.median() or 0.0,
        **{f"n_{name}": int(rows[name].sum()) if name in rows.columns else None for name in _OF_MINIMUM},
    }


def _of_corpus(read: Mapping[str, int]) -> Iterator[Loss]:
    if not read:
        return
    lines, skipped, unknown, sentences, cut, shorter, kept = (read.get(name, 0) for name in _OF_FILES)
    found = (
        ("lines or records", _LEFT_OUT, skipped, lines, "they are not UTF-8, or hold no text where it should be"),
        ("lines of a table of sentences", _LEFT_OUT, unknown, lines, "their stimulus is none of the lexicon's"),
        ("sentences", "divided", cut, sentences, "they are of extreme length; no text is lost"),
        ("matches", _LEFT_OUT, shorter, shorter + kept, "a longer form of the same stimulus begins at the same place"),
    )
    yield from (Loss("Corpus", *loss, *_PLACES["Corpus"]) for loss in found if loss is found[0] or loss[2])


def _of_samples(coverage: pl.DataFrame | None) -> Iterator[Loss]:
    if coverage is None or coverage.is_empty():
        return
    what = "contexts, each counted for every stimulus and length"
    counts = {why: int(coverage[name].sum()) for name, why in _CONTEXTS.items() if name in coverage.columns}
    yield from _by_reason("Samples", what, _LEFT_OUT, int(coverage["contexts"].sum()), counts)
    what = "stimuli, each counted for every length"
    without = Counter(_REASONS.get(reason, reason) for reason in coverage.filter(sampled=0)["reason"])
    yield from _by_reason("Samples", what, "without contexts", len(coverage), without)


def _of_embeddings(files: EmbeddingFiles) -> Iterator[Loss]:
    for family, name in families_of(files).items():
        said = [each for (model, _), each in files.lists.items() if model == name and "left_out" in each]
        if not said:
            continue
        left_out = sum((Counter(reasons) for each in said for reasons in each["left_out"].values()), Counter[str]())
        vectors = sum(listed["n_segments"] for listed in said)
        reasons = {VECTOR_REASONS.get(reason, reason): n for reason, n in left_out.items()}
        yield from _by_reason("Embeddings", f"targets of {family}", _LEFT_OUT, vectors + left_out.total(), reasons)
        if cut := sum(sum(listed.get("cut", {}).values()) for listed in said):
            why = f"{VECTOR_REASONS['cut']}; the vector is of a part of the context"
            yield Loss("Embeddings", f"contexts of {family}", "cut", cut, vectors, why, *_PLACES["Embeddings"])


def _of_estimates(method: str, rows: Sequence[Estimate]) -> Iterator[Loss]:
    stage, place = METHODS[method], _PLACES[METHODS[method]]
    missing = [row for row in rows if not is_number(row["effect_size"])]
    listed, used = (sum(row[f"{kind}_{side}"] or 0 for row in rows for side in "xyab") for kind in ("listed", "n"))
    why = _in_short(Counter(reason for row in rows for reason, words in words_left_out(row).items() for _ in words))
    # contexts or sentences of a word may be missing where the word itself is not
    yield Loss(stage, "words, each counted for every estimate", _LEFT_OUT, listed - used, listed, why, *place)
    where = ("#numbers", "All numbers") if method == "ceat" else place
    why = _in_short(Counter(map(why_missing, missing)))
    yield Loss(stage, "estimates", "not computed", len(missing), len(rows), why, *where)
    bare = [row for row in rows if is_number(row["effect_size"]) and not is_number(row["ci_low"])]
    why = _in_short(Counter(str(row.get("interval_note") or "the table does not say why") for row in bare))
    yield Loss(stage, "computed estimates", "without an interval", len(bare), len(rows) - len(missing), why, *where)


def _of_traits(traits: pl.DataFrame | None) -> Iterator[Loss]:
    if traits is None:
        return
    require_columns("traits", traits, ("fill", "left_out"), remade_by("likelihoods"))
    rows = traits.select("fill", "left_out").iter_rows(named=True)
    without = Counter(_why_no_score(row["left_out"]) for row in rows if not is_number(row["fill"]))
    what = "traits, each counted for every model and structure"
    yield from _by_reason("Sentence structures", what, "without a score", len(traits), without)


def _why_no_score(left_out: str | None) -> str:
    """Return why a trait has no score: codes, each with the word that it is about, in words and without these."""
    codes = dict.fromkeys(each.split(" ")[0] for each in (left_out or "").split("; "))
    return "; ".join(_TRAITS.get(code, code) for code in codes if code) or "no reason is given"


def _of_pairs(pairs: pl.DataFrame | None) -> Iterator[Loss]:
    if pairs is None or pairs.is_empty():
        return
    grid = pair_grid_of(pairs)
    for model in grid.models:
        rows = [row for key, row in grid.rows.items() if key[2] == model and key[3] == OVERALL]
        found = (each for row in rows for each in pairs_left_out(row).items())
        reasons = Counter(PAIR_REASONS.get(reason, reason) for reason, listed in found for _ in listed)
        n_pairs, ties = (sum(row[name] for row in rows) for name in ("n_pairs", "n_ties"))
        yield from _by_reason("Sentence pairs", f"pairs of {model}", _LEFT_OUT, n_pairs, reasons)
        if ties:
            counted = "they count as not stereotypical" if rows[0]["ties"] == "against" else "no preference"
            equal = {f"both sentences have the same score: {counted}": ties}
            yield from _by_reason("Sentence pairs", f"pairs of {model}", "not in the test against 50", n_pairs, equal)


def _by_reason(stage: str, what: str, lost: str, of: int, reasons: Mapping[str, int]) -> Iterator[Loss]:
    """Yield a row for each reason, the most frequent first; one of none where there is no loss."""
    found = sorted(((n, why) for why, n in reasons.items() if n), key=lambda pair: (-pair[0], pair[1]))
    for n, why in found or [(0, "")]:
        yield Loss(stage, what, lost, n, of, why, *_PLACES[stage])


def _in_short(reasons: Counter[str]) -> str:
    """Return the most frequent reasons, with their numbers where there are several."""
    if len(reasons) == 1:
        return next(iter(reasons))
    ordered = sorted(reasons.items(), key=lambda pair: (-pair[1], pair[0]))
    said = [f"{reason} ({n:,})" for reason, n in ordered[:_FEW]]
    more = len(ordered) - _FEW
    return "; ".join(said + ([f"and {more} more reasons"] if more > 0 else []))
