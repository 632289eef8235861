"""The page of a study: one HTML file that opens from disk and needs nothing from outside.

Everything that comes from a study is escaped. The page holds no date and no host, and no path but those that the config
names, so that the same config and results give the same bytes.
"""

from __future__ import annotations

import base64
import itertools
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from prasanga.columns import remade_by, require_columns
from prasanga.report import heat, templates
from prasanga.report.audit import AuditTables, view
from prasanga.report.coverage import summarize, totals
from prasanga.report.embedded import embedded_section
from prasanga.report.embedding_files import EmbeddingFiles, left_out_of
from prasanga.report.findings import headline_findings, other_method
from prasanga.report.grid import Grid, grid_of
from prasanga.report.log_probability import COLUMNS as STRUCTURE_COLUMNS
from prasanga.report.log_probability import LABEL as STRUCTURES_LABEL
from prasanga.report.log_probability import findings_of_structures, structure_section
from prasanga.report.methods import FIXED, choices, describe_models, vector_conventions
from prasanga.report.numbers import MINUS
from prasanga.report.other_methods import (
    CONVERGENCE_LABEL,
    FIRST_DRAWS,
    LABELS,
    NEEDED,
    SETTLING_LABEL,
    BesideCeat,
    downloads_of,
    findings_of_differences,
    section_of,
    settling_rows,
)
from prasanga.report.pair_section import DENSITIES_LABEL, findings_of_pairs, pair_section
from prasanga.report.pair_sets import pair_sets
from prasanga.report.svg import inline
from prasanga.report.tables import to_tidy_csv
from prasanga.report.word_sets import glosses_of, word_sets

DOWNLOADS = (
    ("figures/effect_by_length.pdf", "figure, PDF"),
    ("figures/effect_by_length.svg", "figure, SVG"),
    ("figures/effect_by_length.png", "figure, PNG"),
    ("tables/ceat.csv", "table in the paper's layout, CSV"),
    ("tables/ceat.md", "the same, Markdown"),
    ("tables/ceat.tex", "the same, LaTeX"),
)
"""Files that the workflow writes beside the page."""

SECTIONS = (
    ("main", "Findings"),
    ("figure", "Figure"),
    ("effects", "Effects"),
    ("reading", "Reading the numbers"),
    ("numbers", "All numbers"),
    ("lengths", "Where effects settle"),
    ("seat", "SEAT"),
    ("weat", "WEAT"),
    ("log_probability", "Log-probability bias"),
    ("structures", "Sentence structures"),
    ("pairs", "Sentence pairs"),
    ("coverage", "Coverage"),
    ("embeddings", "Embeddings"),
    ("lexicon", "Lexicon"),
    ("audit", "Audit"),
    ("methods", "Methods"),
    ("making", "How it was made"),
    ("downloads", "Downloads"),
    ("references", "References"),
)
"""Ids and names of the page's sections; the navigation shows those that a study has."""

AUDIT_DOWNLOADS = (
    ("../sentences/audit/concordance.tsv", "concordance with sources, TSV"),
    ("../sentences/audit/suffixes.tsv", "all suffixes with their hits, TSV"),
    ("../sentences/audit/forms.tsv", "all forms by stimulus and file, TSV"),
    ("../sentences/audit/lengths.tsv", "lengths of contexts, TSV"),
)
"""Files of the audit, in the results of an earlier stage."""


def render_page(
    *,
    config: Mapping[str, Any],
    ceat: pl.DataFrame,
    coverage: pl.DataFrame | None,
    categories: Mapping[str, Any],
    forms: pl.DataFrame | None,
    models: Sequence[Mapping[str, Any]],
    figure_svg: str,
    made_from: Mapping[str, str],
    corpus: Sequence[Mapping[str, int]] = (),
    audit: AuditTables | None = None,
    embeddings: EmbeddingFiles | None = None,
    beside: BesideCeat | None = None,
) -> str:
    """Render the page.

    Args:
        config: the study's config, defaults filled in.
        ceat: the table of estimates.
        coverage: one row per stimulus and segment length; None if only vectors are there.
        categories: the layout of `categories.json`, glosses included; may be empty.
        forms: the table of surface forms; None if it is not there.
        models: a mapping with `name` for each model, and what the config says of it; may be empty.
        figure_svg: the figure of effect size against length.
        made_from: what `provenance.describe` says of the page's making.
        corpus: what was read and left out of each corpus file (`results/sentences/*.json`); empty if it is not there.
        audit: forms, suffixes, lengths and hits for judging the lexicon; None if they are not there.
        embeddings: what the embeddings stage says of models and vectors; None if nothing of it is there.
        beside: how CEAT changes with length and model, and the tables of the other methods; None for none of them.

    Raises:
        InputError: a table without estimates or without a column that the page shows, or a figure that is not SVG.
    """
    grid = grid_of(ceat)
    require_columns("estimates of CEAT", ceat, heat.NEEDED, remade_by("associations"))
    beside = beside or BesideCeat()
    glosses = glosses_of(categories)
    sets = word_sets(categories, forms)
    vectors_left_out = {} if embeddings is None else left_out_of(embeddings)
    environment = Environment(
        loader=PackageLoader(templates.__name__, ""),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["with_language"] = lambda text: _with_language(text, str(config["language"]))
    return environment.get_template("index.html.j2").render(
        style=Markup(_source(environment, "style.css")),
        config=config,
        grid=grid,
        findings=[*headline_findings(ceat), *_other_findings(beside)],
        figure=inline(figure_svg, label=_label_of_figure(grid)),
        heat={mode: heat.heat_rows(grid, mode) for mode in grid.modes},
        legend=_legend(),
        numbers=[(category, heat.number_rows(grid, category)) for category in grid.categories],
        columns=heat.COLUMNS,
        conventions=heat.conventions(grid),
        left_out=heat.left_out(grid),
        coverage=None if coverage is None or coverage.is_empty() else summarize(coverage, glosses, vectors_left_out),
        corpus=totals(corpus),
        word_sets=sets,
        audit=None if audit is None else view(audit, sets),
        embedded=None if embeddings is None else embedded_section(embeddings, glosses),
        vectors_left_out=vectors_left_out,
        has_forms=forms is not None,
        choices=choices(config),
        vector_choices=vector_conventions(models),
        fixed_choices=FIXED,
        models=describe_models(models),
        trained=[str(model["name"]) for model in models if model.get("train")],
        downloads=[*DOWNLOADS, *downloads_of(beside), *(AUDIT_DOWNLOADS if audit is not None else ())],
        sections=_sections(beside),
        **_beside(beside, ceat),
        tidy_csv=base64.b64encode(to_tidy_csv(ceat).encode()).decode(),
        made_from=made_from,
        inputs=_json_of(made_from, "inputs"),
        versions=_json_of(made_from, "versions"),
    )


def _beside(tables: BesideCeat, ceat: pl.DataFrame) -> dict[str, Any]:
    """What the sections on lengths, SEAT and WEAT show."""
    # with so few draws there is one point, which shows nothing
    drawn = tables.convergence_svg and (ceat["n_samples"] > FIRST_DRAWS).any()
    settling, sentences = [], []
    if tables.settling is not None and tables.differences is not None:
        settling = settling_rows(tables.settling)
        sentences = list(findings_of_differences(tables.differences, tables.settling))
    return {
        "settling": settling,
        "difference_findings": sentences,
        "settling_figure": inline(tables.settling_svg, label=SETTLING_LABEL) if tables.settling_svg else None,
        "convergence_figure": inline(tables.convergence_svg, label=CONVERGENCE_LABEL) if drawn else None,
        "other_methods": [section_of(method, table) for method, table in _others(tables)],
        **_structures(tables),
        "pairs": None if tables.pairs is None else pair_section(tables.pairs),
        "pair_sets": None
        if tables.pair_statistics is None
        else pair_sets(tables.pair_statistics, tables.pair_oddities),
        "pair_densities": inline(tables.pairs_svg, label=DENSITIES_LABEL) if tables.pairs_svg else None,
    }


def _others(tables: BesideCeat) -> list[tuple[str, pl.DataFrame]]:
    """The tables of the methods besides CEAT that a study has."""
    found = (("seat", tables.seat), ("weat", tables.weat), ("log_probability", tables.log_probability))
    return [(method, table) for method, table in found if table is not None]


def _structures(tables: BesideCeat) -> dict[str, Any]:
    """What the section on sentence structures shows."""
    section, sentences = None, []
    if tables.structures is not None and tables.structure_differences is not None:
        section = structure_section(tables.structures, tables.structure_differences)
        sentences = list(findings_of_structures(tables.structures, tables.structure_differences))
    svg = tables.structures_svg
    return {
        "structures": section,
        "structure_findings": sentences,
        "structure_columns": STRUCTURE_COLUMNS,
        "structure_figure": inline(svg, label=STRUCTURES_LABEL) if svg else None,
    }


def _other_findings(tables: BesideCeat) -> list[str]:
    sentences = []
    for method, table in _others(tables):
        require_columns(LABELS[method], table, NEEDED, remade_by("associations"))
        sentences.append(other_method(LABELS[method], table))
    sentences += [] if tables.pairs is None else findings_of_pairs(tables.pairs)
    return [sentence for sentence in sentences if sentence]


def _sections(tables: BesideCeat) -> list[tuple[str, str]]:
    """Ids and names of the sections of this page, in their order."""
    there = {
        "lengths": tables.settling is not None and tables.differences is not None,
        "seat": tables.seat is not None,
        "weat": tables.weat is not None,
        "log_probability": tables.log_probability is not None,
        "structures": tables.structures is not None and tables.structure_differences is not None,
        "pairs": tables.pairs is not None or tables.pair_statistics is not None,
    }
    return [(section, name) for section, name in SECTIONS if there.get(section, True)]


def _source(environment: Environment, name: str) -> str:
    loader = environment.loader
    assert loader is not None
    return loader.get_source(environment, name)[0]


def _with_language(text: str, language: str) -> Markup:
    """Text in English with Bangla or Hindi words in it, these marked as such for fonts and screen readers."""
    parts = re.split("([\u0900-\u09ff\u200c\u200d]+)", text)
    words = (
        Markup('<span lang="{}">{}</span>').format(language, part) if n % 2 else escape(part)
        for n, part in enumerate(parts)
    )
    return Markup("").join(words)


def _label_of_figure(grid: Grid) -> str:
    return (
        f"Line charts of effect size against segment length, {', '.join(grid.lengths)} words, one panel for each of"
        f" {len(grid.categories)} categories, one line for each of {', '.join(grid.models)};"
        f" {' and '.join(grid.modes)} draws. The same numbers stand in the heat table below."
    )


def _legend() -> list[tuple[str, str]]:
    """Shade and range of each colour of the heat table, from the most negative to the most positive."""
    edges = [str(edge) for edge in heat.THRESHOLDS]
    ranges = [*itertools.pairwise(edges), (edges[-1], "")]
    signs = {"minus": MINUS, "plus": "+"}
    shades = {
        sign: [
            (f"{sign}-{step}", f"{mark}{low} to {mark}{high}" if high else f"{mark}{low} and beyond")
            for step, (low, high) in enumerate(ranges, start=1)
        ]
        for sign, mark in signs.items()
    }
    return [*reversed(shades["minus"]), ("zero", f"within ±{edges[0]}"), *shades["plus"]]


def _json_of(made_from: Mapping[str, str], key: str) -> dict[str, str]:
    """A part of the record that is kept as JSON; empty where there is none."""
    found = json.loads(made_from.get(key) or "{}")
    return {str(name): str(value) for name, value in found.items()} if isinstance(found, dict) else {}
