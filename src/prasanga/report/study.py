"""Everything that a study has to show, as far as it is there: what page, cards and summary are made from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

import polars as pl

from prasanga import methods
from prasanga.base.documents import read_document
from prasanga.base.parquet import read_frame
from prasanga.base.places import shareable
from prasanga.report.comparison import reason_in

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
