"""Everything that a study has to show, as far as it is there: what page, cards and summary are made from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from prasanga.documents import read_document
from prasanga.frames import read_frame
from prasanga.report.audit import AuditTables
from prasanga.report.beside_paper import reason_in
from prasanga.report.embedding_files import EmbeddingFiles, read_files

TABLES = (
    *("ceat", "ceat_words", "differences", "settling", "convergence"),
    *("seat", "weat", "log_probability"),
    *("structures", "structure_differences", "traits"),
    *("bias_percentages", "pair_differences", "pair_statistics"),
    *("coverage", "forms"),
)
"""Results that are one Parquet table each."""


@dataclass(frozen=True)
class Results:
    """Tables, figures and files of a study; None or empty where a study has none, or has none yet.

    Attributes:
        ceat: estimates of CEAT.
        ceat_words: associations of single words in CEAT.
        differences: paired differences of CEAT between lengths and between models.
        settling: from which length on effects stay.
        convergence: effects against the number of draws.
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
    def methods(self) -> list[tuple[str, pl.DataFrame]]:
        """Name and estimates of each method besides CEAT that was measured: seat, weat, log_probability."""
        return [
            (name, table) for name in ("seat", "weat", "log_probability") if (table := getattr(self, name)) is not None
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
    folder = Path(page).parent
    return Results(
        **{name: read_frame(paths[name][0]) for name in TABLES if of(name)},
        pair_scores=[read_frame(path) for path in of("pair_scores", [])],
        pair_oddities={
            Path(path).name.removesuffix(".oddities.parquet"): read_frame(path) for path in of("pair_oddities", [])
        },
        categories=read_document(paths["categories"][0]) if of("categories") else {},
        corpus=[read_document(path) for path in of("corpus", [])],
        audit=AuditTables(**audit) if audit.keys() == set(AuditTables._fields) else None,
        embeddings=read_files(studied, of("embeddings", [])) if of("embeddings") else None,
        comparison=_comparison(paths["comparison"][0]) if of("comparison") else None,
        why_no_comparison=reason_in(Path(paths["comparison"][1]).read_text(encoding="utf-8"))
        if of("comparison")
        else "",
        figures={Path(path).stem: Path(path).read_text(encoding="utf-8") for path in of("figures", [])},
        files=[Path(path).relative_to(folder).as_posix() for path in of("files", [])],
        missing=list(missing),
    )


def _comparison(path: str) -> pl.DataFrame:
    # every column by all its rows: in one without a number at first a later one would be refused
    return pl.read_csv(path, infer_schema_length=None)
