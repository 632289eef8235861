"""The page of a study: one HTML file that opens from disk and needs nothing from outside.

Everything that comes from a study is escaped. The page holds no date and no host, and no path but those that the config
names, so that the same config and results give the same bytes. What a study has not, or not yet, is left out, and said.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from prasanga.columns import remade_by, require_columns
from prasanga.report import heat, templates
from prasanga.report.assets import inline, pack, page_assets
from prasanga.report.audit import view
from prasanga.report.beside_paper import LABEL as PUBLISHED_LABEL
from prasanga.report.beside_paper import beside_paper
from prasanga.report.coverage import summarize, totals
from prasanga.report.downloads import downloads_of
from prasanga.report.embedded import embedded_section
from prasanga.report.findings import headline_findings, other_method
from prasanga.report.grid import LABELS, Grid, grid_of, natural_order
from prasanga.report.log_probability import COLUMNS as STRUCTURE_COLUMNS
from prasanga.report.log_probability import LABEL as STRUCTURES_LABEL
from prasanga.report.log_probability import findings_of_structures, structure_section
from prasanga.report.losses import losses
from prasanga.report.methods_text import (
    PAPERS,
    QUANTITIES,
    REFERENCES,
    choices,
    describe_models,
    fixed_choices,
    no_model_of_a_language,
    references_of,
    vector_conventions,
)
from prasanga.report.other_methods import (
    CONVERGENCE_LABEL,
    FIRST_DRAWS,
    NEEDED,
    SETTLING_LABEL,
    findings_of_differences,
    section_of,
    settling_rows,
)
from prasanga.report.overview import overview_of
from prasanga.report.pair_browser import pair_browser
from prasanga.report.pair_section import DENSITIES_LABEL, findings_of_pairs, pair_section
from prasanga.report.pair_sets import pair_sets
from prasanga.report.sample_modes import LABEL as SAMPLE_MODES_LABEL
from prasanga.report.sample_modes import sample_mode_section
from prasanga.report.shown_paper_tables import paper_tables
from prasanga.report.study import Results, left_out_of
from prasanga.report.word_sets import glosses_of, word_sets
from prasanga.report.words import NOTABLE, STRIP_WIDTH, words_section

SECTIONS = (
    ("main", "Overview"),
    ("figure", "Effect by length"),
    ("effects", "Effects"),
    ("sample_modes", "Fixed against random"),
    ("reading", "Reading the numbers"),
    ("numbers", "All numbers"),
    ("words", "Single words"),
    ("lengths", "Where effects settle"),
    ("seat", "SEAT"),
    ("weat", "WEAT"),
    ("log_probability", "Log-probability bias"),
    ("structures", "Sentence structures"),
    ("pairs", "Sentence pairs"),
    ("paper-tables", "The papers' tables"),
    ("beside-paper", "Beside the paper"),
    ("coverage", "Coverage"),
    ("embeddings", "Embeddings"),
    ("lexicon", "Lexicon"),
    ("audit", "Audit"),
    ("left-out", "What was left out"),
    ("methods", "Methods"),
    ("making", "How it was made"),
    ("downloads", "Downloads"),
    ("references", "References"),
)
"""Ids and names of the page's sections, in their order; the navigation shows those that a study has."""

HEXBINS_LABEL = "Prior against corrected association of each trait, one panel for each sentence structure."

RECOMMENDED = "recommended"
"""The preset of a study that names none."""

HIDDEN = "hidden"
"""The value of `report.texts` with which no sentence of the corpus and no sentence pair is on the page."""


def render_page(*, config: Mapping[str, Any], results: Results, made_from: Mapping[str, str]) -> str:
    """Render the page.

    Args:
        config: the study's config, defaults filled in.
        results: what the study has to show.
        made_from: what `provenance.describe` says of the page's making.

    Raises:
        InputError: a table without rows or without a column that the page shows, or a figure that is not SVG.
    """
    if results.ceat is not None and results.ceat.is_empty():
        results = replace(results, ceat=None)
    environment = Environment(
        loader=PackageLoader(templates.__name__, ""),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["packed"] = pack
    environment.filters["with_code"] = _with_code
    environment.filters["with_language"] = lambda text: _with_language(text, str(config["language"]))
    parts = {
        **_of_ceat(results, preset=str(config.get("preset", RECOMMENDED))),
        **_of_words(results, language=str(config["language"])),
        **_of_lengths(results),
        **_of_other_methods(results),
        **_of_structures(results),
        **_of_pairs(results, hidden=_hides_texts(config)),
        **_of_papers(config, results),
        **_of_texts(results, hidden=_hides_texts(config)),
        **_of_methods(config, made_from, measured=_measured(results)),
    }
    there = _sections_there(parts)
    return environment.get_template("index.html.j2").render(
        assets=page_assets(_languages(config, results)),
        config=config,
        findings=_findings(results),
        overview=overview_of(results),
        missing=results.missing,
        downloads=downloads_of(results.files),
        files=set(results.files),
        **parts,
        there=there,
        navigation=[(section, name) for section, name in SECTIONS if there.get(section, True)],
    )


def _of_ceat(results: Results, *, preset: str) -> dict[str, Any]:
    """What the heat table, the figure above it and the table of all numbers show; no grid without CEAT."""
    if results.ceat is None:
        return {"grid": None, "left_out": {}, "sample_modes": None}
    require_columns("estimates of CEAT", results.ceat, heat.NEEDED, remade_by("associations"))
    grid = grid_of(results.ceat)
    return {
        "grid": grid,
        "figure": _figure(results, "effect_by_length", _label_of_figure(grid)),
        "heat": {mode: heat.heat_rows(grid, mode, preset=preset) for mode in grid.modes},
        "legend": heat.legend(preset=preset),
        "numbers": [(category, heat.number_rows(grid, category)) for category in grid.categories],
        "columns": heat.COLUMNS,
        "conventions": heat.conventions(grid),
        "left_out": heat.left_out(grid),
        "sample_modes": sample_mode_section(results.ceat),
        "sample_modes_figure": _figure(results, "sample_modes", SAMPLE_MODES_LABEL),
    }


def _of_words(results: Results, *, language: str) -> dict[str, Any]:
    """What the section on single words shows."""
    return {
        "words": words_section(results.ceat_words, results.categories, language=language, ceat=results.ceat),
        "strip_width": STRIP_WIDTH,
        "notable": NOTABLE,
    }


def _of_lengths(results: Results) -> dict[str, Any]:
    """What the section on lengths shows."""
    if results.settling is None or results.differences is None:
        return {"settling": []}
    # with so few draws there is one point, which shows nothing
    drawn = results.ceat is not None and bool((results.ceat["n_samples"] > FIRST_DRAWS).any())
    return {
        "settling": settling_rows(results.settling),
        "difference_findings": list(findings_of_differences(results.differences, results.settling)),
        "settling_figure": _figure(results, "settling", SETTLING_LABEL),
        "convergence_figure": _figure(results, "convergence", CONVERGENCE_LABEL) if drawn else None,
    }


def _of_other_methods(results: Results) -> dict[str, Any]:
    return {"other_methods": [section_of(method, table) for method, table in results.methods]}


def _of_structures(results: Results) -> dict[str, Any]:
    """What the section on sentence structures shows."""
    if results.structures is None or results.structure_differences is None:
        return {"structures": None}
    return {
        "structures": structure_section(results.structures, results.structure_differences),
        "structure_findings": list(findings_of_structures(results.structures, results.structure_differences)),
        "structure_columns": STRUCTURE_COLUMNS,
        "structure_figure": _figure(results, "structures", STRUCTURES_LABEL),
        "hexbins": _figures(results, "hexbins_", HEXBINS_LABEL),
    }


def _of_pairs(results: Results, *, hidden: bool) -> dict[str, Any]:
    """What the section on sentence pairs shows."""
    described = results.pair_statistics
    oddities = {} if hidden else results.pair_oddities  # what is odd is shown with the words in question
    return {
        "pairs": None if results.bias_percentages is None else pair_section(results.bias_percentages),
        "pair_sets": None if described is None else pair_sets(described, oddities),
        "pair_densities": _figure(results, "score_differences", DENSITIES_LABEL),
        "pair_browser": pair_browser(results.pair_scores, texts=not hidden),
    }


def _of_papers(config: Mapping[str, Any], results: Results) -> dict[str, Any]:
    """The papers' tables, the study beside a paper, and what was left out on the way."""
    estimates = dict(results.methods) if results.ceat is None else {"ceat": results.ceat, **dict(results.methods)}
    by_layout = {
        "log_probability_bias" if name == "log_probability" else name: table for name, table in estimates.items()
    }
    return {
        "paper_tables": paper_tables(config, by_layout, results.bias_percentages, results.files),
        "beside_paper": beside_paper(
            config.get("comparison", {}).get("paper", "none"),
            results.comparison,
            why_nothing=results.why_no_comparison,
            files=results.files,
        ),
        "published_figure": _figure(results, "published", PUBLISHED_LABEL),
        "losses": losses(
            corpus=results.corpus,
            coverage=results.coverage,
            embeddings=results.embeddings,
            estimates=estimates,
            traits=results.traits,
            pairs=results.bias_percentages,
        ),
    }


def _of_texts(results: Results, *, hidden: bool) -> dict[str, Any]:
    """What the sections on coverage, embeddings, lexicon and audit show."""
    glosses, sets = glosses_of(results.categories), word_sets(results.categories, results.forms)
    vectors_left_out = {} if results.embeddings is None else left_out_of(results.embeddings)
    coverage = None if results.coverage is None or results.coverage.is_empty() else results.coverage
    audit = results.audit
    if audit is not None and hidden:
        audit = audit._replace(concordance=audit.concordance.clear())
    return {
        "coverage": None if coverage is None else summarize(coverage, glosses, vectors_left_out),
        "corpus": totals(results.corpus),
        "word_sets": sets,
        "audit": None if audit is None else view(audit, sets),
        "embedded": None if results.embeddings is None else embedded_section(results.embeddings, glosses),
        "vectors_left_out": vectors_left_out,
        "has_forms": results.forms is not None,
        "texts_hidden": hidden,
    }


def _of_methods(config: Mapping[str, Any], made_from: Mapping[str, str], *, measured: Sequence[str]) -> dict[str, Any]:
    """What the sections on methods, making and references show, and what is to be known of numbers and models."""
    cited = references_of(measured)
    vectors = (config.get("static") or {}).get("vectors") or {}
    models = [{"name": name, **settings} for name, settings in config.get("models", {}).items()]
    return {
        "choices": choices(config),
        "vector_choices": vector_conventions(models),
        "fixed_choices": fixed_choices(measured),
        "quantities": [each for each in QUANTITIES if "ceat" in each.methods],
        "references": [each for each in REFERENCES if each in cited or each in PAPERS],
        "models": describe_models(models),
        "trained": no_model_of_a_language(
            [
                *(str(model["name"]) for model in models if model.get("train")),
                *(str(name) for name, settings in vectors.items() if settings.get("train")),
            ]
        ),
        "made_from": made_from,
        "inputs": _json_of(made_from, "inputs"),
        "versions": _json_of(made_from, "versions"),
    }


def _measured(results: Results) -> list[str]:
    """The methods that the study has numbers of."""
    found = {
        "ceat": results.ceat,
        **dict(results.methods),
        "structures": results.structures,
        "pairs": results.bias_percentages,
    }
    return [name for name, table in found.items() if table is not None]


def _findings(results: Results) -> list[str]:
    sentences = [] if results.ceat is None else list(headline_findings(results.ceat))
    for method, table in results.methods:
        require_columns(LABELS[method], table, NEEDED, remade_by("associations"))
        sentences.append(other_method(LABELS[method], table) or "")
    sentences += [] if results.bias_percentages is None else findings_of_pairs(results.bias_percentages)
    return [sentence for sentence in sentences if sentence]


def _sections_there(parts: Mapping[str, Any]) -> dict[str, bool]:
    """Which of the sections that not every study has are on this page."""
    has_grid = parts["grid"] is not None
    others = {section.id for section in parts["other_methods"]}
    return {
        **dict.fromkeys(("effects", "reading", "numbers"), has_grid),
        "figure": parts.get("figure") is not None,
        "sample_modes": parts["sample_modes"] is not None,
        "words": bool(parts["words"]),
        "lengths": bool(parts["settling"]),
        **{name: name in others for name in LABELS},
        "structures": parts["structures"] is not None,
        "pairs": parts["pairs"] is not None or parts["pair_sets"] is not None,
        # where contexts were measured, a page says also that it does not know of their texts
        "coverage": has_grid or parts["coverage"] is not None,
        "embeddings": has_grid or parts["embedded"] is not None,
        "lexicon": has_grid or bool(others) or bool(parts["word_sets"]),
        "audit": has_grid or parts["audit"] is not None,
        **{
            section: parts[name] is not None
            for section, name in (
                *(("paper-tables", "paper_tables"), ("beside-paper", "beside_paper"), ("left-out", "losses")),
            )
        },
    }


def _hides_texts(config: Mapping[str, Any]) -> bool:
    return bool(config.get("report", {}).get("texts") == HIDDEN)


def _figure(results: Results, name: str, label: str) -> Markup | None:
    """A figure of the study as a part of the page; None where it was not drawn."""
    svg = results.figures.get(name)
    return inline(svg, label=label) if svg else None


def _figures(results: Results, prefix: str, label: str) -> list[tuple[str, Markup]]:
    """The figures of a family, each with what it is of: a category, a model."""
    names = sorted((name for name in results.figures if name.startswith(prefix)), key=natural_order)
    found = ((name.removeprefix(prefix), _figure(results, name, label)) for name in names)
    return [(of, figure) for of, figure in found if figure is not None]


def _languages(config: Mapping[str, Any], results: Results) -> list[str]:
    """The languages whose words stand on the page."""
    of_pairs = [language for table in results.pair_scores for language in table["language"].unique(maintain_order=True)]
    return list(dict.fromkeys([str(config["language"]), *of_pairs]))


def _with_language(text: str, language: str) -> Markup:
    """Text in English with Bangla or Hindi words in it, these marked as such for fonts and screen readers."""
    parts = re.split("([\u0900-\u09ff\u200c\u200d]+)", text)
    words = (
        Markup('<span lang="{}">{}</span>').format(language, part) if n % 2 else escape(part)
        for n, part in enumerate(parts)
    )
    return Markup("").join(words)


def _with_code(text: str) -> Markup:
    """Text in which `x` is code."""
    parts = re.split("`([^`]+)`", text)
    return Markup("").join(
        Markup("<code>{}</code>").format(part) if n % 2 else escape(part) for n, part in enumerate(parts)
    )


def _label_of_figure(grid: Grid) -> str:
    return (
        f"Line charts of effect size against segment length, {', '.join(grid.lengths)} words, one panel for each of"
        f" {len(grid.categories)} categories, one line for each of {', '.join(grid.models)};"
        f" {' and '.join(grid.modes)} draws. The same numbers stand in the heat table below."
    )


def _json_of(made_from: Mapping[str, str], key: str) -> dict[str, str]:
    """A part of the record that is kept as JSON; empty where there is none."""
    found = json.loads(made_from.get(key) or "{}")
    return {str(name): str(value) for name, value in found.items()} if isinstance(found, dict) else {}
