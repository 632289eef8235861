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

from markupsafe import Markup

from prasanga.report import cards
from prasanga.report.grid import (
    LABELS,
    Estimate,
    Grid,
    anchor_of,
    name_of_language,
    names_of_sets,
    natural_order,
)
from prasanga.report.section import Section, View, hides_texts, language_of, page_to_html, prose
from prasanga.report.sections import (
    ceat,
    estimates,
    likelihoods,
    overview,
    papers,
    texts,
    words,
)
from prasanga.report.sheet import Sheet, html, numbers, row_of
from prasanga.report.study import Results, without_places
from prasanga.report.summary import describe_models, summarize_methods
from prasanga.report.words import glosses_of, title_of_set


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
    views = page_views(config=config, results=results, made_from=made_from)
    of_pairs = {language for table in results.pair_scores for language in table["language"]}
    return page_to_html(
        config["title"],
        views,
        language=language_of(config),
        scripts={str(config["language"]), *of_pairs},
        panel=words.panel(config, results, ceat.ceat_grid(results)),
    )


def page_views(*, config: Mapping[str, Any], results: Results, made_from: Mapping[str, str]) -> list[View]:
    """Return the views of the page in their order; one without a section is of what the study has not measured.

    Raises:
        InputError: as `render_page`.
    """
    method, paper, how = "By method", "For a paper", "How it was measured"
    of_ceat = [ceat.reading(results), ceat.all_numbers(results), ceat.settling_of(config, results)]
    return [
        View("overview", "Overview", "Overview", [overview.overview(config, results), measured(results)]),
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
            [estimates.methods_agree(results)],
            [estimates.raw_numbers(results), estimates.other_choices(results)],
        ),
        *category_views(config, results),
        View(
            "data",
            "Words and texts",
            "Words and texts",
            [texts.left_out(results)],
            [
                texts.coverage(results),
                words.lexicon(results),
                texts.audit(config, results),
                texts.embeddings(results),
            ],
        ),
        View("how", how, how, [methods(config, results)], [references(results), making(config, made_from)]),
        View(
            "paper",
            paper,
            paper,
            [papers.paper_tables(config, results)],
            [papers.beside_paper(config, results), papers.figures(config, results), downloads(results)],
        ),
    ]


# --------------------
# Sections on the study as a whole: what was measured, by which choices, from what, and what lies beside the page.


def measured(results: Results) -> Section | None:
    """Return the section on what was measured by which method."""
    sheet = overview_sheet(results)
    return Section("What was measured", "measured", sheets=[sheet]) if sheet.rows else None


def overview_sheet(results: Results) -> Sheet:
    """Return a row for each method measured: over what, how many numbers came out, how many are significant."""
    rows = []
    for name, found in summarize_methods(results).items():
        if found is None:
            continue
        address = {"ceat": "effects"}.get(name, name)
        of = next(found[key] for key in ("n_estimates", "n_percentages", "n_traits") if key in found)
        computed = found["n_traits_scored"] if name == "structures" else found["n_computed"]
        significant = f"{found['n_significant_holm']} of {found['n_tested']}" if found.get("n_tested") else ""
        link = html('<a href="#{}">{}</a>', address, cards.NAMES[name])
        languages = ", ".join(map(name_of_language, dict.fromkeys(row["language"] for row in found.get("overall", ()))))
        over = prose("measured_over", found=found, languages=languages)
        cells = (over, f"{computed:,} of {of:,}", significant or "intervals only")
        rows.append(row_of(link, str(len(found["models"])), *cells))
    columns = numbers("Models", "Over", "Numbers computed", "Significant by Holm")
    return Sheet(("Method",), columns, tuple(rows), "What was measured", "measured", {"Over": "text"})


def methods(config: Mapping[str, Any], results: Results) -> Section:
    """Return the section on methods: every choice by its name in the config, and the models."""
    models = describe_models(config, results.embeddings)
    names = {
        **{name.capitalize(): name for name in ("name", "source", "revision", "commit")},
        **{"SHA-256": "sha256", "Pinned": "pinned", "Kind": "kind", "Dimensions": "dimensions"},
        **{"Parameters": "parameters", "Precision": "dtype"},
    }
    heads = dict.fromkeys(names, "text")
    described = [tuple("–" if model[key] is None else str(model[key]) for key in names.values()) for model in models]
    listed = [(html("<code>{}</code>", key), value, meaning) for key, value, meaning in cards.choices(config)]
    of_choices = texts.tabulate("Choices of this study", dict.fromkeys(("Key", "Value", "Meaning"), "text"), listed)
    settings = [{"name": name, **model} for name, model in config.get("models", {}).items()]
    vectors, fixed = cards.vector_conventions(settings), cards.fixed_choices(_measured(results))
    return Section(
        "Models and choices",
        "methods",
        sheets=[texts.tabulate("Models measured", heads, described)] if described else [],
        parts=[
            Section("Every choice that changes a number, by its name in the config", sheets=[of_choices], folded=True),
            *([Section("Vectors", items=vectors, folded=True)] if vectors else []),
            *([Section("The same in every study", items=fixed, folded=True)] if fixed else []),
        ],
    )


def making(config: Mapping[str, Any], made_from: Mapping[str, str]) -> Section:
    """Return the section on what the page was made from; `made_from` is its record (`prasanga.base.origin`)."""
    inputs = _json_of(made_from, "inputs")
    rows = [row_of(*(html("<code>{}</code>", text) for text in file)) for file in inputs.items()]
    sheet = Sheet(("File",), numbers("SHA-256"), rows, "SHA-256 of the files", kinds={"SHA-256": "text"})
    title = f"Digests of the {len(inputs)} files that the page was made from"
    record = {
        "Study": str(config["study"]),
        "Seed": str(config["seed"]),
        "Fingerprint": html("<code>{}</code>", made_from.get("fingerprint", "not stated")),
        **_json_of(made_from, "versions"),
    }
    return Section(
        "How it was made",
        "making",
        definitions=list(record.items()),
        parts=[Section(title, sheets=[sheet], folded=True)] if inputs else [],
        look="record",
    )


def downloads(results: Results) -> Section:
    """Return the section on the files beside the page."""
    groups = [
        Section(
            title,
            items=[prose("download", name=name, files=files) for name, files in found],
        )
        for title, found in papers.downloads_of(results.files).items()
    ]
    text = "All of it lies in the folder of this page, which can be packed and sent as it is."
    return Section("Downloads", "downloads", text=[text if groups else "Nothing lies beside this page."], parts=groups)


def references(results: Results) -> Section:
    """Return the section of the publications that are to be cited."""
    text = "Whoever publishes numbers made this way should cite the papers whose methods they are."
    items = [prose("reference", each=each) for each in cards.references_of(_measured(results), with_papers=True)]
    return Section("References", "references", text=[text], items=items)


def _measured(results: Results) -> list[str]:
    """Return the methods that the study has numbers of."""
    tables = {**results.estimates, "structures": results.structures, "pairs": results.bias_percentages}
    return [name for name, table in tables.items() if table is not None and not table.is_empty()]


def _json_of(made_from: Mapping[str, str], key: str) -> dict[str, str]:
    """Return a part of the record that is kept as JSON; empty if there is none."""
    return {str(name): str(value) for name, value in json.loads(made_from.get(key) or "{}").items()}


# --------------------
# A view for each category: the same words through all methods, which of them carry an effect, and their sentences.


def category_views(config: Mapping[str, Any], results: Results) -> list[View]:
    """Return a view for each category that any method measured, in natural order."""
    grid = ceat.ceat_grid(results)
    said = {} if grid is None else ceat.texts_of(grid)
    rows: dict[str, list[tuple[str, Estimate]]] = {}
    for method, row in words.estimates_of(results, grid):
        rows.setdefault(row["category"], []).append((method, row))
    with_hits = {} if hides_texts(config) else texts.words_with_hits(results)
    hits = {word["stimulus"]: anchor_of(name, "hits") for name, found in with_hits.items() for word in found}
    made = []
    for name in sorted(rows, key=natural_order):
        anchor, first = anchor_of(name), rows[name][0][1]
        shown = [each for each in grid.categories if each.name == name] if grid else []
        about = Section(
            f"{name}: {first['category_title']}",
            f"{anchor}-methods",
            widget=ceat.chart(grid, shown, said, choose=False) if grid and shown else "",
            sheets=[_by_method(name, rows[name], grid)],
            notes=_links(name, grid),
        )
        its_words = Section("Its words", f"{anchor}-words", definitions=_words(results, name, first, hits))
        made.append(
            View(
                anchor,
                "By category",
                name,
                [about, its_words],
                [words.carrying_words(results, name, anchor), words.index(name, anchor, rows[name], results)],
                hover=first["category_title"],
            )
        )
    return made


def _by_method(category: str, rows: list[tuple[str, Estimate]], grid: Grid | None) -> Sheet:
    """Return the estimates of a category; of CEAT those of the first sample mode."""
    first = grid.modes[0] if grid else ""
    shown = [(method, row) for method, row in rows if row.get("sample_mode", first) == first]
    names = "method model segment_length effect_size ci_low ci_high p_association_holm twin_difference n_x n_y n_a n_b"
    return estimates.list_estimates(shown, names, caption=f"{category} by every method and model", look="by-methods")


def _links(name: str, grid: Grid | None) -> list[Markup]:
    names = [each.name for each in grid.categories] if grid else []
    link = (
        "An effect size opens its words and sentences. All that is known of each estimate:"
        ' <a href="#numbers" data-row="numbers-{}">all numbers of {}</a>.'
    )
    return [html(link, names.index(name) + 1, name)] if name in names else []


def _words(results: Results, name: str, row: Estimate, hits: Mapping[str, str]) -> list[tuple[str, Markup]]:
    """Return each set with its words and their glosses, each a link to its sentences if there are any."""
    about, glosses = results.categories.get(name), glosses_of(results.categories)
    if about is None:
        return [(each, Markup("The words of this set are with its templates.")) for each in names_of_sets(row)]

    def written(stimulus: str) -> Markup:
        if stimulus not in hits:
            return html("{}{}", stimulus, words.gloss_after(stimulus, glosses))
        places = map(Markup.escape, (hits[stimulus], anchor_of(stimulus, "word")))
        return html('<a href="#{}" data-then="{}">{}</a>{}', *places, stimulus, words.gloss_after(stimulus, glosses))

    return [
        (title_of_set(each), Markup(", ").join(map(written, dict.fromkeys(each["stimuli"]))))
        for each in (*about["targets"], *about["attributes"])
    ]
