"""Everything that a study has to show, as far as it is there, and what it left out, for page, cards and summary."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from prasanga import methods
from prasanga.base.io import read_document
from prasanga.base.places import shareable
from prasanga.base.yaml import load_yaml
from prasanga.pairs.preferences import OVERALL
from prasanga.pairs.preferences import REASONS as PAIR_REASONS
from prasanga.report import wording
from prasanga.report.grid import (
    METHODS,
    is_number,
    pairs_left_out,
    sort_lengths,
    why_missing,
    words_left_out,
)
from prasanga.schema import read_table

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
        sentences: sentences that were measured (`prasanga.samples.segments.choose_sentences`).
        others: estimates of further methods of `prasanga.methods`, by name.
        coverage: one row for each stimulus and segment length.
        forms: surface forms.
        categories: the layout of `categories.json`, glosses included.
        corpus: what was read and left out of each corpus file.
        audit: forms, suffixes, lengths and hits for judging the lexicon.
        embeddings: what the embeddings stage says of models and vectors.
        comparison: the rows of the study and a paper, or one row with the reason why there are none.
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
    corpus: Sequence[Mapping[str, Any]] = ()
    audit: AuditTables | None = None
    embeddings: EmbeddingFiles | None = None
    comparison: pl.DataFrame | None = None
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
    paths = {name: listed for name, listed in paths.items() if listed}
    fields, folder = Results.__dataclass_fields__, Path(page).parent
    tables = {name: read_table(paths[name][0]) for name in (*TABLES, "sentences") if name in paths}

    def read_named(name: str, suffix: str) -> dict[str, pl.DataFrame]:
        return {Path(path).name.removesuffix(suffix): read_table(path) for path in paths.get(name, ())}

    audit = read_named("audit", ".parquet")
    return Results(
        **{name: table for name, table in tables.items() if name in fields},
        others={name: table for name, table in tables.items() if name not in fields},
        words=read_named("words", "_words.parquet"),
        pair_scores=[read_table(path) for path in paths.get("pair_scores", ())],
        pair_oddities=read_named("pair_oddities", ".oddities.parquet"),
        categories=read_document(paths["categories"][0]) if "categories" in paths else {},
        corpus=[read_document(path) for path in paths.get("corpus", ())],
        audit=AuditTables(**audit) if audit.keys() == set(AuditTables._fields) else None,
        embeddings=read_embedding_files(studied, paths["embeddings"]) if "embeddings" in paths else None,
        # every column by all its rows: in one without a number at first a later one would be refused
        comparison=pl.read_csv(paths["comparison"][0], infer_schema_length=None) if "comparison" in paths else None,
        figures={Path(path).stem: Path(path).read_text(encoding="utf-8") for path in paths.get("figures", ())},
        files=[Path(path).relative_to(folder).as_posix() for path in paths.get("files", ())],
        missing=list(missing),
    )


def without_places(config: Mapping[str, Any], results: Results) -> tuple[Mapping[str, Any], Results]:
    """Return config and results without the folders of this machine (`prasanga.base.places.shareable`)."""

    def shorten(table: pl.DataFrame) -> pl.DataFrame:
        if "source" not in table.columns:
            return table
        sources = table["source"].unique().to_list()
        return table.with_columns(pl.col("source").replace(dict(zip(sources, shareable(sources, config), strict=True))))

    files, audit, sentences = results.embeddings, results.audit, results.sentences
    shared = replace(
        results,
        embeddings=files and files._replace(studied=shareable(files.studied, config)),
        audit=audit and AuditTables(*map(shorten, audit)),
        sentences=None if sentences is None else shorten(sentences),
    )
    return shareable(config, config), shared


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
    lists: dict[tuple[str, str], Report]
    reports: dict[str, Report]
    audits: dict[str, Report]
    audit_tables: dict[str, pl.DataFrame]
    precisions: dict[str, Report]


def read_embedding_files(studied: Mapping[str, Report], paths: Iterable[str]) -> EmbeddingFiles:
    """Read the files of the embeddings stage that are there, told apart by their places.

    Args:
        studied: see `EmbeddingFiles`.
        paths: any of `embeddings/<model>/<length>.json`, `embeddings/<model>/precision.json`, `models/<family>.json`,
            `models/<family>.tokenizer.json` and `models/<family>.tokenizer.parquet`, in any order.
    """
    files = EmbeddingFiles(studied, *({} for _ in EmbeddingFiles._fields[1:]))
    for path in map(Path, paths):
        name, folder = path.name, path.parent.name
        if name.endswith(".tokenizer.parquet"):
            files.audit_tables[name.removesuffix(".tokenizer.parquet")] = read_table(path)
        elif name.endswith(".tokenizer.json"):
            files.audits[name.removesuffix(".tokenizer.json")] = read_document(path)
        elif path.parent.parent.name != "embeddings":
            files.reports[path.stem] = read_document(path)
        elif name == "precision.json":
            files.precisions[folder] = read_document(path)
        else:
            files.lists[folder, path.stem.replace("over", ">")] = read_document(path)
    return files


def families_of(files: EmbeddingFiles) -> dict[str, str]:
    """Return the models of the config, each with one of its names in the results.

    Layers of one model come from one pass, so their losses are the same, and are reported once.
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


def count_left_out(files: EmbeddingFiles, key: str = "left_out") -> Iterator[tuple[str, str, str, str, int]]:
    """Yield stimulus, segment length, model of the config, reason and number of its targets left out (or `cut`)."""
    for family, name in families_of(files).items():
        for (model, length), listed in files.lists.items():
            for stimulus, reasons in listed.get(key, {}).items() if model == name else ():
                for reason, n in reasons.items() if isinstance(reasons, Mapping) else [(key, reasons)]:
                    yield stimulus, length, family, reason, n


# --------------------
# Contexts by length, and what the study left out, stage by stage: how many of how many, and why.


WORDING: Mapping[str, Any] = load_yaml("losses.yaml", (files(wording.__name__) / "losses.yaml").read_text("utf-8"))
"""Why things are left out, by the codes of the tables."""

_FEW = 4


class Loss(NamedTuple):
    """Something that a stage lost: `n` of `of` things (`what`) are so (`lost`), and why."""

    stage: str
    what: str
    lost: str
    n: int
    of: int
    why: str

    @property
    def share(self) -> str:
        """Return the share in per cent, never rounded to all or nothing."""
        if not 0 < self.n < self.of:
            return f"{100 if self.n else 0} %"
        percent = 100 * self.n / self.of
        return "< 0.1 %" if percent < 0.05 else "> 99.9 %" if percent >= 99.95 else f"{percent:.1f} %"


class Losses(NamedTuple):
    """What a study left out; and by stage of what it left out nothing, with its number."""

    rows: list[Loss]
    nothing: list[tuple[str, str]]


def coverage_by_length(coverage: pl.DataFrame) -> list[dict[str, Any]]:
    """Summarize the coverage table (one row per stimulus and segment length) by length, by the names of the summary.

    `n_short` counts the stimuli with fewer contexts than the study's minimum, `n_from_supplement` the contexts drawn
    that only the supplement has; None if the table does not say. `fewest` and `median` are of stimuli with any.
    """
    sampled = pl.col("sampled")
    more = {f"n_{name}": name if name in coverage.columns else None for name in ("short", "from_supplement")}
    by_length = coverage.group_by("segment_length").agg(
        n_stimuli=pl.len(),
        n_with_contexts=(sampled > 0).sum(),
        n_contexts=sampled.sum(),
        fewest=sampled.filter(sampled > 0).min().fill_null(0),
        median=sampled.filter(sampled > 0).median().fill_null(0.0),
        **{key: pl.lit(None) if name is None else pl.col(name).sum() for key, name in more.items()},
    )
    found = {row["segment_length"]: row for row in by_length.to_dicts()}
    return [found[length] for length in sort_lengths(found)]


def stimuli_without_contexts(coverage: pl.DataFrame) -> list[tuple[str, str, str]]:
    """Return the stimuli that have no contexts at some length, each with these lengths in words and the reason."""
    n_lengths = coverage["segment_length"].n_unique()
    missing = coverage.sort("stimulus").filter(sampled=0).group_by("stimulus", "reason", maintain_order=True)
    return [
        (
            stimulus,
            "all lengths" if len(lengths) == n_lengths else ", ".join(sort_lengths(lengths)),
            WORDING["stimuli"].get(reason, reason),
        )
        for stimulus, reason, lengths in missing.agg("segment_length").iter_rows()
    ]


def totals(counts: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """Return the sums over all corpus files of what was read and left out, and their number as `files`."""
    if not counts:
        return {}
    return {
        "files": sum(count.get("files", 1) for count in counts),
        **{key: sum(count.get(key, 0) for count in counts) for key in counts[0] if key not in ("files", "digest")},
    }


def losses_of(results: Results) -> Losses | None:
    """Return what a study left out, from corpus to likelihoods, as far as its results count it; None if none does."""
    counted = [
        *_count_corpus(totals(results.corpus)),
        *([] if results.coverage is None else _count_contexts(results.coverage)),
        *([] if results.embeddings is None else _count_targets(results.embeddings)),
        *(each for name, table in results.estimates.items() for each in _count_estimates(METHODS[name], table)),
        *([] if results.traits is None else _count_traits(results.traits)),
        *([] if results.bias_percentages is None else _count_pairs(results.bias_percentages)),
    ]
    rows: list[Loss] = []
    nothing: dict[str, list[str]] = {}
    for stage, what, lost, of, reasons in counted:
        found = [(why, n) for why, n in sort_reasons(reasons) if n]
        rows += [Loss(stage, what, lost, n, of, why) for why, n in found]
        if of and not found:
            noun, comma, every = what.partition(", ")
            nothing.setdefault(stage, []).append(f"0 of {of:,} {noun} {lost}{comma}{every}")
    return Losses(rows, [(stage, "; ".join(said)) for stage, said in nothing.items()]) if counted else None


Counted = tuple[str, str, str, int, Mapping[str, int]]
"""Stage, what is counted, what happened to it, of how many, and numbers by reason."""


def _count_corpus(read: Mapping[str, int]) -> Iterator[Counted]:
    for each in WORDING["corpus"] if read else ():
        n, total = read.get(each["count"], 0), sum(read.get(name, 0) for name in each["of"])
        if n or each["count"] == "skipped_lines":
            yield "Corpus", each["what"], each["lost"], total, {each["why"]: n}


def _count_contexts(coverage: pl.DataFrame) -> Iterator[Counted]:
    if len(coverage):
        counts = {why: coverage[name].sum() for name, why in WORDING["contexts"].items() if name in coverage.columns}
        what = "contexts, each counted for every stimulus and length"
        yield "Samples", what, "left out", int(coverage["contexts"].sum()), counts
        without = Counter(WORDING["stimuli"].get(reason, reason) for reason in coverage.filter(sampled=0)["reason"])
        yield "Samples", "stimuli, each counted for every length", "without contexts", len(coverage), without


def _count_targets(files: EmbeddingFiles) -> Iterator[Counted]:
    for family, name in families_of(files).items():
        told = [each for (model, _), each in files.lists.items() if model == name and "left_out" in each]
        vectors = sum(each["n_segments"] for each in told)
        left_out, cut = Counter[str](), Counter[str]()
        for key, counts in (("left_out", left_out), ("cut", cut)):
            for *_, of, reason, n in count_left_out(files, key):
                if of == family:
                    counts[WORDING["targets"].get(reason, reason)] += n
        if told:
            yield "Embeddings", f"targets of {family}", "left out", vectors + left_out.total(), left_out
        if cut:
            yield "Embeddings", f"contexts of {family}", "cut", vectors, cut


def _count_estimates(stage: str, table: pl.DataFrame) -> Iterator[Counted]:
    rows = table.rows(named=True)
    missing = [row for row in rows if not is_number(row["effect_size"])]
    bare = [row for row in rows if is_number(row["effect_size"]) and not is_number(row["ci_low"])]
    listed, used = (sum(row[f"{kind}_{side}"] or 0 for row in rows for side in "xyab") for kind in ("listed", "n"))
    # a word may be used although some of its contexts or sentences are missing
    words = Counter(reason for row in rows for reason, words in words_left_out(row).items() for _ in words)
    notes = Counter(str(row.get("interval_note") or "the table does not say why") for row in bare)
    whys = Counter(map(why_missing, missing))
    yield stage, "words, each counted for every estimate", "left out", listed, {_in_short(words): listed - used}
    yield stage, "estimates", "not computed", len(rows), {_in_short(whys): len(missing)}
    n_computed = len(rows) - len(missing)
    yield stage, "computed estimates", "without an interval", n_computed, {_in_short(notes): len(bare)}


def _count_traits(traits: pl.DataFrame) -> Iterator[Counted]:
    without: Counter[str] = Counter()
    for left_out in traits.filter(~pl.col("fill").is_finite().fill_null(False))["left_out"]:
        codes = dict.fromkeys(each.split(" ")[0] for each in (left_out or "").split("; "))
        without["; ".join(WORDING["traits"].get(code, code) for code in codes if code) or "no reason is given"] += 1
    what = "traits, each counted for every model and structure"
    yield "Sentence structures", what, "without a score", len(traits), without


def _count_pairs(pairs: pl.DataFrame) -> Iterator[Counted]:
    for (model,), rows in pairs.filter(bias_type=OVERALL).group_by("model", maintain_order=True):
        what, n_pairs = f"pairs of {model}", int(rows["n_pairs"].sum())
        found = (each for row in rows.iter_rows(named=True) for each in pairs_left_out(row).items())
        reasons = Counter(PAIR_REASONS.get(reason, reason) for reason, listed in found for _ in listed)
        yield "Sentence pairs", what, "left out", n_pairs, reasons
        if ties := int(rows["n_ties"].sum()):
            counted = "they count as not stereotypical" if rows["ties"][0] == "against" else "no preference"
            equal = f"both sentences have the same score: {counted}"
            yield "Sentence pairs", what, "not in the test against 50", n_pairs, {equal: ties}


def _in_short(reasons: Counter[str]) -> str:
    """Return the most frequent reasons, with their numbers where there are several."""
    ordered = sort_reasons(reasons)
    said = [f"{reason} ({n:,})" for reason, n in ordered[:_FEW]]
    more = [f"and {len(ordered) - _FEW} more reasons"] if len(ordered) > _FEW else []
    return "; ".join(reasons if len(reasons) == 1 else [*said, *more])


def sort_reasons(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    """Return reasons with their numbers, the commonest first."""
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))
