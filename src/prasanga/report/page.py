"""The page of a study: one HTML file that opens from disk and needs nothing from outside.

Everything that comes from a study is escaped. The page holds no date and no host, and no path but those that the config
names, so that the same config and results give the same bytes. What a study has not, or not yet, is left out, and said.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from prasanga.report.assets import page_assets
from prasanga.report.methods_text import no_model_of_a_language
from prasanga.report.section import Section, prose, render, section_to_html
from prasanga.report.sections import ceat, embeddings, estimates, likelihoods, papers, robustness, study, texts, words
from prasanga.report.study import Results, without_places


def render_page(*, config: Mapping[str, Any], results: Results, made_from: Mapping[str, str]) -> str:
    """Render the page.

    Args:
        config: the study's config, defaults filled in.
        results: what the study has to show.
        made_from: what `provenance.describe` says of the page's making.

    Raises:
        InputError: a table without rows or without a column that the page shows, or a figure that is not SVG.
    """
    config, results = without_places(config, results)
    sections = page_sections(config=config, results=results, made_from=made_from)
    ids = {section.id for section in sections}
    measured = [row.labels[0] for row in study.overview_sheet(results).rows]
    return render(
        "index",
        assets=page_assets(_languages(config, results)),
        config=config,
        lead=prose("lead", measured=measured, study=config["study"]),
        missing=results.missing,
        trained=no_model_of_a_language(_trained(config)),
        has_pairs=any(len(table) for table in results.pair_scores) or results.pair_statistics is not None,
        has_lexicon="lexicon" in ids,
        sections=[section_to_html(section) for section in sections],
        navigation=[("main", "Overview"), *((section.id, section.name) for section in sections[1:])],
    )


def page_sections(*, config: Mapping[str, Any], results: Results, made_from: Mapping[str, str]) -> list[Section]:
    """Return the sections of the page in their order, those that the study has something for.

    Raises:
        InputError: as `render_page`.
    """
    found = [
        study.findings(results),
        ceat.effect_by_length(results),
        ceat.effects(config, results),
        ceat.sample_modes(results),
        ceat.reading(results),
        ceat.all_numbers(results),
        words.single_words(results),
        ceat.settling_of(config, results),
        *estimates.other_methods(results),
        robustness.methods_agree(results),
        robustness.raw_numbers(results),
        robustness.other_choices(results),
        likelihoods.structures(results),
        likelihoods.pairs(config, results),
        papers.paper_tables(config, results),
        papers.beside_paper(config, results),
        texts.coverage(results),
        embeddings.embeddings(results),
        words.lexicon(results),
        texts.audit(config, results),
        texts.left_out(results),
        study.methods(config, results),
        study.making(config, made_from),
        study.downloads(results),
        study.references(results),
    ]
    return [section for section in found if section is not None]


def _trained(config: Mapping[str, Any]) -> list[str]:
    """Return the models and static vectors that the study trained itself."""
    vectors = (config.get("static") or {}).get("vectors") or {}
    return [
        str(name) for name, settings in (*config.get("models", {}).items(), *vectors.items()) if settings.get("train")
    ]


def _languages(config: Mapping[str, Any], results: Results) -> list[str]:
    """Return the languages whose words stand on the page."""
    of_pairs = [language for table in results.pair_scores for language in table["language"].unique(maintain_order=True)]
    return list(dict.fromkeys([str(config["language"]), *of_pairs]))
