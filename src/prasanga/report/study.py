"""Everything that a study has to show, as far as it is there, and what it left out, for page, cards and summary."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from prasanga import methods
from prasanga.associations.comparisons import sort_lengths
from prasanga.base.io import read_document, read_frame
from prasanga.base.places import shareable
from prasanga.base.yaml import load_yaml
from prasanga.pairs.preferences import OVERALL
from prasanga.pairs.preferences import REASONS as PAIR_REASONS
from prasanga.report import ASSETS
from prasanga.report.grid import METHODS, Grid, grid_of, is_number, pairs_left_out, why_missing
from prasanga.schema import COUNTED, TABLES, find_table, group_lost_words, read_table

Report = Mapping[str, Any]


@dataclass(frozen=True)
class EmbeddingFiles:
    """What the embeddings stage says of the vectors of a study, as plain values.

    Attributes:
        studied: settings of each model by its name in the results, with `family` (its name in the config) and one
            `layer`.
        lists: the list of shards, by model and segment length.
        reports: what the check of a model found, by family.
        audits: summary of the audit of its tokenizer, by family.
        precisions: the comparison with float32, by name in the results.
    """

    studied: Mapping[str, Report] = field(default_factory=dict)
    lists: dict[tuple[str, str], Report] = field(default_factory=dict)
    reports: dict[str, Report] = field(default_factory=dict)
    audits: dict[str, Report] = field(default_factory=dict)
    precisions: dict[str, Report] = field(default_factory=dict)

    def names(self, family: str) -> list[str]:
        """Return the names in the results of a model of the config, one per layer."""
        return [name for name, settings in self.studied.items() if settings.get("family", name) == family]


def read_embedding_files(studied: Mapping[str, Report], paths: Sequence[str]) -> EmbeddingFiles:
    """Read the JSON files of the embeddings stage, told apart by their places.

    Args:
        studied: see `EmbeddingFiles`.
        paths: any of `embeddings/<model>/<length>.json`, `embeddings/<model>/precision.json`, `models/<family>.json`
            and `models/<family>.tokenizer.json`, in any order.
    """
    found = EmbeddingFiles(studied)
    for path in map(Path, paths):
        name, folder, read = path.stem, path.parent.name, read_document(path)
        if path.parent.parent.name != "embeddings":
            (found.audits if name.endswith(".tokenizer") else found.reports)[name.removesuffix(".tokenizer")] = read
        elif name == "precision":
            found.precisions[folder] = read
        else:
            found.lists[folder, name.replace("over", ">")] = read
    return found


_NAMED_BY_FILE = {"pair_oddities": {"set": pl.String}, "tokenizer": {"model": pl.String}}
"""Tables of which there are several files, and the column for the name of the file."""


class Results:
    """The tables, figures and files of a study: `results["seat"]` is a table of the registry, empty if there is none.

    Attributes:
        tables: those with rows, by name: tables of results, `coverage`, `forms`, the tables of the audit of the
            lexicon, `<method>_words`, `measured_sentences`, `pair_scores`, `pair_oddities` with their `set`,
            `tokenizer` with its `model`, and of the study and a paper `comparison` and `comparison_structures` or
            `comparison_statistics`.
        categories: the layout of `categories.json`, glosses included.
        corpus: what was read and left out of each corpus file.
        embeddings: what the embeddings stage says of models and vectors.
        figures: SVG by name of the figure.
        files: tables, figures and cards beside the page, as paths relative to it.
        missing: what a finished study would have besides, a sentence each.
    """

    def __init__(
        self,
        *,
        categories: Mapping[str, Any] | None = None,
        corpus: Sequence[Mapping[str, Any]] = (),
        embeddings: EmbeddingFiles | None = None,
        figures: Mapping[str, str] | None = None,
        files: Sequence[str] = (),
        missing: Sequence[str] = (),
        **tables: pl.DataFrame,
    ) -> None:
        self.categories, self.corpus, self.figures = categories or {}, corpus, figures or {}
        self.embeddings, self.files, self.missing = embeddings or EmbeddingFiles(), files, missing
        self.tables = {name: table for name, table in tables.items() if not table.is_empty()}

    def __getitem__(self, name: str) -> pl.DataFrame:
        if name in self.tables:
            return self.tables[name]
        return pl.DataFrame(schema={**TABLES[name].polars, **_NAMED_BY_FILE.get(name, {})})

    def __contains__(self, name: str) -> bool:
        return name in self.tables

    def replace(self, **changes: Any) -> Results:
        """Return the same results with other tables or attributes."""
        others = ("categories", "corpus", "embeddings", "figures", "files", "missing")
        return Results(**{**{name: getattr(self, name) for name in others}, **self.tables, **changes})

    @cached_property
    def ceat(self) -> Grid:
        """Return the estimates of CEAT in reading order."""
        return grid_of(self["ceat"])

    @property
    def measured(self) -> list[str]:
        """Return the names of the methods that the study has numbers of."""
        return [method.name for method in methods.METHODS if method.tables[0].name in self.tables]

    @property
    def has_twins(self) -> bool:
        """Return whether any number is compared with random copies."""
        columns = (table[name] for table in self.tables.values() for name in ("n_twins", "twin_sd") if name in table)
        return any(column.sum() for column in columns)

    @property
    def estimates(self) -> dict[str, pl.DataFrame]:
        """Return the estimates of each method of word associations that was measured, by name; CEAT is the first."""
        return {name: self.tables[name] for name in METHODS if name in self.tables}

    @cached_property
    def strengths(self) -> dict[tuple[str, str, str], dict[str, Any]]:
        """Return the strength of bias that could have been found, by method, category and model."""
        tables = {method: self.tables.get(f"{method}_strength", pl.DataFrame()) for method in METHODS}
        rows = ((method, row) for method, table in tables.items() for row in table.iter_rows(named=True))
        return {(method, row["category"], row["model"]): row for method, row in rows}

    def list_strengths(self, method: str) -> list[dict[str, Any]]:
        """Return the rows of the table of strength of a method."""
        return [row for (name, *_), row in self.strengths.items() if name == method]


def read_results(
    inputs: Mapping[str, str | Sequence[str]],
    *,
    page: str | Path,
    studied: Mapping[str, Mapping[str, Any]],
    missing: Sequence[str] = (),
) -> Results:
    """Read the results of a study from their files.

    Args:
        inputs: paths by name of the table; an empty list, or no entry, for a missing table. `words` and `audit` are
            several tables, `embeddings` all small files of that stage, `corpus` JSON files, `figures` SVG files,
            `comparison` its CSV and Markdown files, `files` all files beside the page.
        page: path of the page.
        studied: settings of the models whose vectors were measured, by name.
        missing: see `Results`.
    """
    paths = {name: [value] if isinstance(value, str) else list(value) for name, value in inputs.items()}
    beside, figures = (paths.pop(name, []) for name in ("files", "figures"))
    tables: dict[str, list[pl.DataFrame]] = {}
    for kind, path in ((kind, path) for kind, listed in paths.items() for path in listed if path.endswith(".parquet")):
        known, stem, table = find_table(path), Path(path).stem, read_table(path)
        by_path = known if kind in ("audit", "embeddings", "sentences") else None
        name = stem if kind == "words" else by_path.name if by_path else kind
        for column in _NAMED_BY_FILE.get(name, ()):
            table = table.with_columns(pl.lit(Path(stem).stem).alias(column))
        tables.setdefault(name, []).append(table)
    for path in (path for path in paths.get("comparison", ()) if path.endswith(".csv")):
        # every column by all its rows: in one without a number at first a later one would be refused
        tables[Path(path).stem] = [pl.read_csv(path, infer_schema_length=None)]
    small = [path for path in paths.get("embeddings", ()) if path.endswith(".json")]
    return Results(
        **{name: pl.concat(each, how="diagonal_relaxed") for name, each in tables.items()},
        categories=read_document(paths["categories"][0]) if paths.get("categories") else None,
        corpus=[read_document(path) for path in paths.get("corpus", ())],
        embeddings=read_embedding_files(studied if paths.get("embeddings") else {}, small),
        figures={Path(path).stem: Path(path).read_text(encoding="utf-8") for path in figures},
        files=[Path(path).relative_to(Path(page).parent).as_posix() for path in beside],
        missing=list(missing),
    )


def without_places(config: Mapping[str, Any], results: Results) -> tuple[Mapping[str, Any], Results]:
    """Return config and results without the folders of this machine (`prasanga.base.places.shareable`)."""
    changes: dict[str, Any] = {
        "embeddings": replace(results.embeddings, studied=shareable(results.embeddings.studied, config))
    }
    for name, table in results.tables.items():
        if "source" in table.columns:
            sources = table["source"].unique().to_list()
            short = dict(zip(sources, shareable(sources, config), strict=True))
            changes[name] = table.with_columns(pl.col("source").replace(short))
    return shareable(config, config), results.replace(**changes)


def describe_categories(categories: Mapping[str, Any]) -> dict[str, Any]:
    """Return of each category its four sets in words, and whether it is a sanity check, from `categories.json`."""
    return {
        name: {
            "sets": [
                re.sub(r" \(.*\)$", "", side["gloss"]).replace("_", " ")
                for role in ("targets", "attributes")
                for side in category[role]
            ],
            "sanity_check": category.get("sanity_check", False),
        }
        for name, category in categories.items()
        if name != "glosses"
    }


def join_languages(paths: Mapping[str, str]) -> pl.DataFrame:
    """Return the rows of one table of several languages, with the column `language` first.

    Args:
        paths: the table of each language, Parquet or CSV. Columns of CSV stay text, and have `language` already.
    """
    read = {
        language: pl.read_csv(path, infer_schema=False) if Path(path).suffix == ".csv" else read_frame(path)
        for language, path in paths.items()
    }
    frames = [
        table if "language" in table.columns else table.select(pl.lit(language).alias("language"), pl.all())
        for language, table in read.items()
    ]
    return pl.concat(frames, how="diagonal_relaxed")


# --------------------
# Contexts by length, and what the study left out, stage by stage: how many of how many, and why.


WORDING: Mapping[str, Any] = load_yaml("losses.yaml", (ASSETS / "losses.yaml").read_text("utf-8"))
"""Why things are left out, by the codes of the tables."""


class StageLoss(NamedTuple):
    """Something that a stage lost: `n` of `of` things (`what`) are so (`lost`), their share in per cent, and why."""

    stage: str
    what: str
    lost: str
    n: int
    of: int
    share: str
    why: str


def coverage_by_length(coverage: pl.DataFrame) -> list[dict[str, Any]]:
    """Summarize the coverage table (one row per stimulus and segment length) by length, by the names of the summary.

    `n_short` counts the stimuli with fewer contexts than the study's minimum, `n_from_supplement` the contexts drawn
    that only the supplement has. `fewest` and `median` are of stimuli with any.
    """
    sampled = pl.col("sampled")
    by_length = coverage.group_by("segment_length").agg(
        n_stimuli=pl.len(),
        n_with_contexts=(sampled > 0).sum(),
        n_contexts=sampled.sum(),
        fewest=sampled.filter(sampled > 0).min().fill_null(0),
        median=sampled.filter(sampled > 0).median().fill_null(0.0),
        n_short=pl.col("short").sum(),
        n_from_supplement=pl.col("from_supplement").sum(),
    )
    found = {row["segment_length"]: row for row in by_length.to_dicts()}
    return [found[length] for length in sort_lengths(found)]


def totals(counts: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """Return the sums over all corpus files of what was read and left out, and their number as `files`."""
    if not counts:
        return {}
    return {
        "files": sum(count.get("files", 1) for count in counts),
        **{key: sum(count.get(key, 0) for count in counts) for key in counts[0] if key not in ("files", "digest")},
    }


def list_losses(results: Results) -> list[StageLoss]:
    """Return what a study left out, from corpus to likelihoods, as far as its results count it."""
    counted = [
        *_count_corpus(totals(results.corpus)),
        *_count_contexts(results["coverage"]),
        *_count_targets(results.embeddings),
        *(each for name, table in results.estimates.items() for each in _count_estimates(METHODS[name], table)),
        *_count_traits(results["traits"]),
        *_count_pairs(results["bias_percentages"]),
    ]
    return [
        StageLoss(stage, what, lost, n, of, f"{n / of:.1%}", why)
        for stage, what, lost, of, reasons in counted
        for why, n in sort_reasons(reasons)
        if n
    ]


Counted = tuple[str, str, str, int, Mapping[str, int]]
"""Stage, things counted, what happened to them, their total, and numbers by reason."""


def _count_corpus(read: Mapping[str, int]) -> Iterator[Counted]:
    for each in WORDING["corpus"]:
        total = sum(read.get(name, 0) for name in each["of"])
        yield "Corpus", each["what"], each["lost"], total, {each["why"]: read.get(each["count"], 0)}


def _count_contexts(coverage: pl.DataFrame) -> Iterator[Counted]:
    counts = {why: coverage[name].sum() for name, why in WORDING["contexts"].items()}
    what = "contexts, each counted for every stimulus and length"
    yield "Samples", what, "left out", int(coverage["contexts"].sum()), counts
    without = Counter(WORDING["stimuli"].get(reason, reason) for reason in coverage.filter(sampled=0)["reason"])
    yield "Samples", "stimuli, each counted for every length", "without contexts", len(coverage), without


def _count_targets(files: EmbeddingFiles) -> Iterator[Counted]:
    """Yield what each model of the config left out; its layers come from one pass, so their losses are the same."""
    for family in dict.fromkeys(settings.get("family", name) for name, settings in files.studied.items()):
        first, *_ = files.names(family)
        listed = [each for (model, _), each in files.lists.items() if model == first]
        vectors, left_out = sum(each["n_segments"] for each in listed), Counter[str]()
        for reasons in (found for each in listed for found in each.get("left_out", {}).values()):
            for reason, n in reasons.items():
                left_out[WORDING["targets"].get(reason, reason)] += n
        yield "Embeddings", f"targets of {family}", "left out", vectors + left_out.total(), left_out
        cut = {WORDING["targets"]["cut"]: sum(n for each in listed for n in each.get("cut", {}).values())}
        yield "Embeddings", f"contexts of {family}", "cut", vectors, cut


def _count_estimates(stage: str, table: pl.DataFrame) -> Iterator[Counted]:
    rows = table.rows(named=True)
    computed = [row for row in rows if is_number(row["effect_size"])]
    lost = (group_lost_words(row["lost"], without=COUNTED) for row in rows)
    words = Counter(reason for found in lost for reason, named in found.items() for _ in named)
    listed = sum(row[f"listed_{side}"] or 0 for row in rows for side in "xyab")
    yield stage, "words, each counted for every estimate", "left out", listed, words
    yield stage, "estimates", "not computed", len(rows), Counter(filter(None, map(why_missing, rows)))
    bare = Counter(str(row["interval_note"]) for row in computed if not is_number(row["ci_low"]))
    yield stage, "computed estimates", "without an interval", len(computed), bare


def _count_traits(traits: pl.DataFrame) -> Iterator[Counted]:
    without = Counter[str]()
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


def sort_reasons(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    """Return reasons with their numbers, the commonest first."""
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))
