"""The page of a study: one HTML file that opens from disk and needs nothing from outside.

It shows one view at a time: an overview, one a method, one a category, and what they were made from. Without a script
the address alone says which; printed, all of them follow each other.

Everything that comes from a study is escaped. The page holds no date and no host, and no path but those that the config
names, so that the same config and results give the same bytes. What a study has not, or not yet, is left out, and said.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from prasanga.report import cards
from prasanga.report.grid import LABELS, name_of_language
from prasanga.report.section import Section, View, hides_texts, language_of, page_to_html, prose
from prasanga.report.sections import associations, likelihoods, overview, papers, texts, words
from prasanga.report.sheet import Sheet, html, tabulate
from prasanga.report.study import Results, without_places
from prasanga.report.summary import describe_models, summarize_methods


def render_page(*, config: Mapping[str, Any], results: Results, made_from: Mapping[str, str]) -> str:
    """Render the page.

    Args:
        config: the study's config, defaults filled in.
        results: what the study has to show.
        made_from: what `prasanga.base.origin.describe` says of the page's making.

    Raises:
        InputError: a table without rows or without a column that the page shows, or a figure that is not SVG.
    """
    config, results = without_places(config, results)
    if hides_texts(config):
        results = replace(results, sentences=None)
    of_pairs = {language for table in results.pair_scores for language in table["language"]}
    return page_to_html(
        config["title"],
        page_views(config=config, results=results, made_from=made_from),
        language=language_of(config),
        scripts={str(config["language"]), *of_pairs},
        panel=words.panel(config, results),
    )


def page_views(*, config: Mapping[str, Any], results: Results, made_from: Mapping[str, str]) -> list[View]:
    """Return the views of the page in their order; one without a section is of what the study has not measured.

    Raises:
        InputError: as `render_page`.
    """
    method, data, how, paper = "By method", "Words and texts", "How it was measured", "For a paper"
    others = associations.other_methods(results)
    choices = [associations.raw_numbers(results), associations.other_choices(results)]
    of_words = [texts.coverage(results), words.lexicon(results)]
    of_texts = [*of_words, texts.audit(config, results), texts.embeddings(results)]
    of_paper = [papers.beside_paper(config, results), papers.figures(config, results), papers.downloads(results)]
    return [
        View("overview", "Overview", "Overview", [overview.overview(config, results), measured(results)]),
        View("method-ceat", method, "CEAT", *associations.ceat_sections(config, results)),
        *(View(f"method-{section.id}", method, LABELS[section.id], [section]) for section in others),
        View("method-structures", method, "Sentence structures", [likelihoods.structures(results)]),
        View("method-pairs", method, "Sentence pairs", [likelihoods.pairs(config, results)]),
        View("methods-compared", method, "Compared", [associations.methods_agree(results)], choices),
        *words.category_views(config, results),
        View("data", data, data, [texts.left_out(results)], of_texts),
        View("how", how, how, [methods(config, results)], [references(results), making(config, made_from)]),
        View("paper", paper, paper, [papers.paper_tables(config, results)], of_paper),
    ]


# --------------------
# Sections on the study as a whole: what was measured, by which choices, from what.


def measured(results: Results) -> Section | None:
    """Return the section on what was measured by which method."""
    sheet = list_measured(results)
    return Section("What was measured", "measured", sheets=[sheet]) if sheet.rows else None


def list_measured(results: Results) -> Sheet:
    """Return a row for each method measured: over what, how many numbers came out, how many are significant."""
    rows = []
    for name, found in summarize_methods(results).items():
        if found is None:
            continue
        n = next(found[key] for key in ("n_estimates", "n_percentages", "n_traits") if key in found)
        computed = found["n_traits_scored"] if name == "structures" else found["n_computed"]
        languages = ", ".join(map(name_of_language, dict.fromkeys(row["language"] for row in found.get("overall", ()))))
        tested = f"{found['n_significant_holm']} of {found['n_tested']}" if found.get("n_tested") else "intervals only"
        rows.append(
            (
                html('<a href="#{}">{}</a>', "effects" if name == "ceat" else name, cards.NAMES[name]),
                str(len(found["models"])),
                prose("measured_over", found=found, languages=languages),
                f"{computed:,} of {n:,}",
                tested,
            )
        )
    heads = {"Method": "", "Models": "", "Over": "text", "Numbers computed": "", "Significant by Holm": ""}
    return tabulate("What was measured", heads, rows, look="measured")


_OF_MODELS = {
    **{name.capitalize(): name for name in ("name", "source", "revision", "commit")},
    **{"SHA-256": "sha256", "Pinned": "pinned", "Kind": "kind", "Dimensions": "dimensions"},
    **{"Parameters": "parameters", "Precision": "dtype"},
}
"""What is said of a model, by its heads."""


def methods(config: Mapping[str, Any], results: Results) -> Section:
    """Return the section on methods: every choice by its name in the config, and the models."""
    models = [
        tuple("–" if model[key] is None else str(model[key]) for key in _OF_MODELS.values())
        for model in describe_models(config, results.embeddings)
    ]
    listed = [(html("<code>{}</code>", key), value, meaning) for key, value, meaning in cards.choices(config)]
    choices = tabulate("Choices of this study", dict.fromkeys(("Key", "Value", "Meaning"), "text"), listed)
    settings = [{"name": name, **model} for name, model in config.get("models", {}).items()]
    items = {
        "Vectors": cards.vector_conventions(settings),
        "The same in every study": cards.fixed_choices(_list_methods(results)),
    }
    return Section(
        "Models and choices",
        "methods",
        sheets=[tabulate("Models measured", dict.fromkeys(_OF_MODELS, "text"), models)] if models else [],
        parts=[
            Section("Every choice that changes a number, by its name in the config", sheets=[choices], folded=True),
            *(Section(title, items=said, folded=True) for title, said in items.items() if said),
        ],
    )


def making(config: Mapping[str, Any], made_from: Mapping[str, str]) -> Section:
    """Return the section on what the page was made from; `made_from` is its record (`prasanga.base.origin`)."""
    inputs, versions = (json.loads(made_from.get(key) or "{}") for key in ("inputs", "versions"))
    rows = [tuple(html("<code>{}</code>", text) for text in file) for file in inputs.items()]
    sheet = tabulate("SHA-256 of the files", {"File": "", "SHA-256": "text"}, rows, look="")
    title = f"Digests of the {len(inputs)} files that the page was made from"
    fingerprint = html("<code>{}</code>", made_from.get("fingerprint", "not stated"))
    record = {"Study": str(config["study"]), "Seed": str(config["seed"]), "Fingerprint": fingerprint, **versions}
    return Section(
        "How it was made",
        "making",
        definitions=list(record.items()),
        parts=[Section(title, sheets=[sheet], folded=True)] if inputs else [],
        look="record",
    )


def references(results: Results) -> Section:
    """Return the section of the publications that are to be cited."""
    text = "Whoever publishes numbers made this way should cite the papers whose methods they are."
    items = [prose("reference", each=each) for each in cards.references_of(_list_methods(results), with_papers=True)]
    return Section("References", "references", text=[text], items=items)


def _list_methods(results: Results) -> list[str]:
    """Return the methods that the study has numbers of."""
    tables = {**results.estimates, "structures": results.structures, "pairs": results.bias_percentages}
    return [name for name, table in tables.items() if table is not None and not table.is_empty()]
