"""The page of a study: one HTML file that opens from disk and needs nothing from outside.

It shows one view at a time: an overview, one a method, one a category, and what they were made from. Without a script
the address alone says which; printed, all of them follow each other.

Everything that comes from a study is escaped. The page holds no date and no host, and no path but those that the config
names, so that the same config and results give the same bytes. What a study has not, or not yet, is left out, and said.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from prasanga.report.grid import LABELS
from prasanga.report.section import View, language_of, page_to_html
from prasanga.report.sections import (
    categories,
    ceat,
    embeddings,
    estimates,
    likelihoods,
    overview,
    papers,
    robustness,
    study,
    texts,
    words,
)
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
    views = page_views(config=config, results=results, made_from=made_from)
    of_pairs = {language for table in results.pair_scores for language in table["language"]}
    return page_to_html(
        config["title"], views, language=language_of(config), scripts={str(config["language"]), *of_pairs}
    )


def page_views(*, config: Mapping[str, Any], results: Results, made_from: Mapping[str, str]) -> list[View]:
    """Return the views of the page in their order; one without a section is of what the study has not measured.

    Raises:
        InputError: as `render_page`.
    """
    method, paper, how = "By method", "For a paper", "How it was measured"
    of_ceat = [ceat.reading(results), ceat.all_numbers(results), ceat.settling_of(config, results)]
    return [
        View("overview", "Overview", "Overview", [overview.overview(config, results), study.measured(results)]),
        View(
            "method-ceat",
            method,
            "CEAT",
            [ceat.effect_by_length(results), ceat.effects(config, results)],
            [*of_ceat, ceat.sample_modes(results)],
        ),
        *(
            View(f"method-{section.id}", method, LABELS[section.id], [section])
            for section in estimates.other_methods(results)
        ),
        View("method-structures", method, "Sentence structures", [likelihoods.structures(results)]),
        View("method-pairs", method, "Sentence pairs", [likelihoods.pairs(config, results)]),
        View(
            "methods-compared",
            method,
            "Compared",
            [robustness.methods_agree(results)],
            [robustness.raw_numbers(results), robustness.other_choices(results)],
        ),
        *categories.views(config, results),
        View(
            "data",
            "Words and texts",
            "Words and texts",
            [texts.left_out(results)],
            [
                texts.coverage(results),
                words.lexicon(results),
                texts.audit(config, results),
                embeddings.embeddings(results),
            ],
        ),
        View(
            "how",
            how,
            how,
            [study.methods(config, results)],
            [study.references(results), study.making(config, made_from)],
        ),
        View(
            "paper",
            paper,
            paper,
            [papers.paper_tables(config, results)],
            [
                papers.beside_paper(config, results),
                study.figures_for_paper(config, results),
                study.downloads(results),
            ],
        ),
    ]
