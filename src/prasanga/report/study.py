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
from prasanga.base.documents import read_document
from prasanga.base.places import shareable
from prasanga.base.yaml import load_yaml
from prasanga.pairs.preferences import OVERALL
from prasanga.pairs.preferences import REASONS as PAIR_REASONS
from prasanga.report import wording
from prasanga.report.grid import (
    METHODS,
    Estimate,
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
    of = paths.get
    audit = {Path(path).stem: read_table(path) for path in of("audit", [])}
    folder, compared = Path(page).parent, of("comparison")
    tables = {name: read_table(paths[name][0]) for name in TABLES if of(name)}
    fields = Results.__dataclass_fields__
    return Results(
        **{name: table for name, table in tables.items() if name in fields},
        others={name: table for name, table in tables.items() if name not in fields},
        words={Path(path).stem.removesuffix("_words"): read_table(path) for path in of("words", [])},
        sentences=read_table(paths["sentences"][0]) if of("sentences") else None,
        pair_scores=[read_table(path) for path in of("pair_scores", [])],
        pair_oddities={
            Path(path).name.removesuffix(".oddities.parquet"): read_table(path) for path in of("pair_oddities", [])
        },
        categories=read_document(paths["categories"][0]) if of("categories") else {},
        corpus=[read_document(path) for path in of("corpus", [])],
        audit=AuditTables(**audit) if audit.keys() == set(AuditTables._fields) else None,
        embeddings=read_embedding_files(studied, of("embeddings", [])) if of("embeddings") else None,
        # every column by all its rows: in one without a number at first a later one would be refused
        comparison=pl.read_csv(compared[0], infer_schema_length=None) if compared else None,
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
            tables[path.name.removesuffix(".tokenizer.parquet")] = read_table(path)
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

_PLACES = {
    **{method.label: (f"#{method.name}", method.label) for method in methods.METHODS},
    **dict.fromkeys(("Corpus", "Samples", methods.CEAT.label), ("#coverage", "Coverage")),
    "Embeddings": ("#embeddings", "Embeddings"),
}
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
    def place(self) -> tuple[str, str]:
        """Return the address on the page where the losses are listed one by one, and its name."""
        is_number = self.stage == methods.CEAT.label and "estimates" in self.what.split(",")[0]
        return ("#numbers", "All numbers") if is_number else _PLACES[self.stage]

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
    found = []
    for length in sort_lengths(coverage["segment_length"].to_list()):
        rows = coverage.filter(segment_length=length)
        counts = rows["sampled"].filter(rows["sampled"] > 0)
        more = {f"n_{name}": name for name in ("short", "from_supplement")}
        found.append(
            {
                **{"segment_length": length, "n_stimuli": len(rows), "n_with_contexts": len(counts)},
                **{"n_contexts": int(counts.sum()), "fewest": min(counts, default=0), "median": counts.median() or 0.0},
                **{key: int(rows[name].sum()) if name in rows.columns else None for key, name in more.items()},
            }
        )
    return found


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
            WORDING["stimuli"].get(reason, reason),
        )
        for (stimulus, reason), where in missing.items()
    ]


def totals(counts: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """Return the sums over all corpus files of what was read and left out, and their number as `files`."""
    if not counts:
        return {}
    return {
        "files": sum(len(count.get("digest", [""])) for count in counts),
        **{key: sum(count.get(key, 0) for count in counts) for key in counts[0] if key != "digest"},
    }


def losses_of(results: Results) -> Losses | None:
    """Return what a study left out, from corpus to likelihoods, as far as its results count it; None if none does."""
    found = [
        *_of_corpus(totals(results.corpus)),
        *_of_samples(results.coverage),
        *([] if results.embeddings is None else _of_embeddings(results.embeddings)),
        *(loss for name, table in results.estimates.items() for loss in _of_estimates(name, table.rows(named=True))),
        *_of_traits(results.traits),
        *_of_pairs(results.bias_percentages),
    ]
    if not found:
        return None
    nothing: dict[str, list[str]] = {}
    for loss in found:
        if loss.of and not loss.n:
            noun, comma, counted = loss.what.partition(", ")
            nothing.setdefault(loss.stage, []).append(f"0 of {loss.of:,} {noun} {loss.lost}{comma}{counted}")
    return Losses([loss for loss in found if loss.n], [(stage, "; ".join(said)) for stage, said in nothing.items()])


def _of_corpus(read: Mapping[str, int]) -> Iterator[Loss]:
    for each in WORDING["corpus"] if read else ():
        n, total = read.get(each["count"], 0), sum(read.get(name, 0) for name in each["of"])
        if n or each["count"] == "skipped_lines":
            yield Loss("Corpus", each["what"], each["lost"], n, total, each["why"])


def _of_samples(coverage: pl.DataFrame | None) -> Iterator[Loss]:
    if coverage is None or coverage.is_empty():
        return
    counts = {why: int(coverage[name].sum()) for name, why in WORDING["contexts"].items() if name in coverage.columns}
    what = "contexts, each counted for every stimulus and length"
    yield from _by_reason("Samples", what, "left out", int(coverage["contexts"].sum()), counts)
    without = Counter(WORDING["stimuli"].get(reason, reason) for reason in coverage.filter(sampled=0)["reason"])
    what = "stimuli, each counted for every length"
    yield from _by_reason("Samples", what, "without contexts", len(coverage), without)


def _of_embeddings(files: EmbeddingFiles) -> Iterator[Loss]:
    counts: dict[str, dict[str, Counter[str]]] = {"left_out": {}, "cut": {}}
    for key, of_models in counts.items():
        for _, _, family, reason, n in count_left_out(files, key):
            of_models.setdefault(family, Counter())[WORDING["targets"].get(reason, reason)] += n
    for family, name in families_of(files).items():
        told = [each for (model, _), each in files.lists.items() if model == name and "left_out" in each]
        vectors = sum(each["n_segments"] for each in told)
        left_out, cut = (of_models.get(family, Counter()) for of_models in counts.values())
        if told:
            total = vectors + left_out.total()
            yield from _by_reason("Embeddings", f"targets of {family}", "left out", total, left_out)
        yield from (Loss("Embeddings", f"contexts of {family}", "cut", n, vectors, why) for why, n in cut.items())


def _of_estimates(method: str, rows: Sequence[Estimate]) -> Iterator[Loss]:
    stage = METHODS[method]
    missing = [row for row in rows if not is_number(row["effect_size"])]
    listed, used = (sum(row[f"{kind}_{side}"] or 0 for row in rows for side in "xyab") for kind in ("listed", "n"))
    why = _in_short(Counter(reason for row in rows for reason, words in words_left_out(row).items() for _ in words))
    # a word may be used although some of its contexts or sentences are missing
    yield Loss(stage, "words, each counted for every estimate", "left out", listed - used, listed, why)
    yield Loss(
        stage, "estimates", "not computed", len(missing), len(rows), _in_short(Counter(map(why_missing, missing)))
    )
    bare = [row for row in rows if is_number(row["effect_size"]) and not is_number(row["ci_low"])]
    why = _in_short(Counter(str(row.get("interval_note") or "the table does not say why") for row in bare))
    yield Loss(stage, "computed estimates", "without an interval", len(bare), len(rows) - len(missing), why)


def _of_traits(traits: pl.DataFrame | None) -> Iterator[Loss]:
    if traits is None:
        return
    without: Counter[str] = Counter()
    for row in traits.filter(~pl.col("fill").is_finite().fill_null(False)).iter_rows(named=True):
        codes = dict.fromkeys(each.split(" ")[0] for each in (row["left_out"] or "").split("; "))
        without["; ".join(WORDING["traits"].get(code, code) for code in codes if code) or "no reason is given"] += 1
    what = "traits, each counted for every model and structure"
    yield from _by_reason("Sentence structures", what, "without a score", len(traits), without)


def _of_pairs(pairs: pl.DataFrame | None) -> Iterator[Loss]:
    if pairs is None or pairs.is_empty():
        return
    for rows in pairs.filter(bias_type=OVERALL).partition_by("model", maintain_order=True):
        model, n_pairs, ties = rows["model"][0], int(rows["n_pairs"].sum()), int(rows["n_ties"].sum())
        found = (each for row in rows.iter_rows(named=True) for each in pairs_left_out(row).items())
        reasons = Counter(PAIR_REASONS.get(reason, reason) for reason, listed in found for _ in listed)
        yield from _by_reason("Sentence pairs", f"pairs of {model}", "left out", n_pairs, reasons)
        if ties:
            counted = "they count as not stereotypical" if rows["ties"][0] == "against" else "no preference"
            equal = f"both sentences have the same score: {counted}"
            yield Loss("Sentence pairs", f"pairs of {model}", "not in the test against 50", ties, n_pairs, equal)


def _by_reason(stage: str, what: str, lost: str, of: int, reasons: Mapping[str, int]) -> Iterator[Loss]:
    """Yield a row for each reason, the most frequent first; one of none where there is no loss."""
    found = sorted(((n, why) for why, n in reasons.items() if n), key=lambda pair: (-pair[0], pair[1]))
    for n, why in found or [(0, "")]:
        yield Loss(stage, what, lost, n, of, why)


def _in_short(reasons: Counter[str]) -> str:
    """Return the most frequent reasons, with their numbers where there are several."""
    if len(reasons) == 1:
        return next(iter(reasons))
    ordered = sorted(reasons.items(), key=lambda pair: (-pair[1], pair[0]))
    said = [f"{reason} ({n:,})" for reason, n in ordered[:_FEW]]
    more = len(ordered) - _FEW
    return "; ".join(said + ([f"and {more} more reasons"] if more > 0 else []))
