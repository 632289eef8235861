"""The page of a study: one HTML file that opens from disk and needs nothing from outside; and the files next to it.

It shows one view at a time: an overview, one per method, one per category, and their sources. Without a script
the address says which; printed, all views follow each other.

Everything that comes from a study is escaped. The page has no date, no host and only paths that the config
names, so that the same config and results give the same bytes. What a study has not, or not yet, is left out, and said.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any

import polars as pl
from markupsafe import Markup

from prasanga import __version__
from prasanga.base.io import digests_of_files, read_document, read_frame, write_text
from prasanga.base.io import made_from as read_making
from prasanga.methods import PAIRS, method_named
from prasanga.report import comparison, findings, grid, method_views, paper_tables, section, summary, word_views
from prasanga.report.figures import COLUMN, figure_named, shown_in
from prasanga.report.first_screen import Part, Screen, fill_first_screen
from prasanga.report.section import Section, View, fill_section, fold, fold_table, prose
from prasanga.report.sheet import html, list_template, show_table, show_value, write_notes
from prasanga.report.study import Results, describe_categories, without_places


def render_page(*, config: Mapping[str, Any], results: Results, made_from: Mapping[str, str]) -> str:
    """Render the page.

    Args:
        config: the study's config, defaults filled in.
        results: what the study has to show.
        made_from: what `prasanga.base.results.describe` says of the page's making.

    Raises:
        InputError: a label of a pair is unknown.
    """
    config, results = without_places(config, results)
    if section.hides_texts(config):
        results = results.replace(measured_sentences=pl.DataFrame())
    named = f"{config['title']}: {grid.name_of_language(config['language'])}"
    return section.page_to_html(
        named if config.get("is_part") else config["title"],
        page_views(config=config, results=results, made_from=made_from),
        language=section.language_of(config),
        scripts={str(config["language"]), *results["pair_scores"]["language"]},
        panel=word_views.panel(config, results, section.language_of(config)),
        home="../../report/index.html" if config.get("is_part") else "",
    )


def page_views(*, config: Mapping[str, Any], results: Results, made_from: Mapping[str, str]) -> list[View]:
    """Return the views of the page in their order; one without a section is of what the study has not measured.

    Raises:
        InputError: as `render_page`.
    """
    made = [references(results), making(config, made_from)]
    of_paper = [beside_paper(results), list_figures(config, results), downloads(results)]
    return [
        View("overview", "Findings", "Overview", [overview(config, results)]),
        *method_views.method_views(config, results),
        *word_views.category_views(config, results),
        word_views.text_view(config, results),
        View("how", "Method", "Method", [methods_and_models(config, results)], made),
        View("paper", "Paper", "Paper", [fill_layouts(config, results)], of_paper),
    ]


# --------------------
# Sections on the study as a whole: what was measured, by which choices, from what.


def overview(config: Mapping[str, Any], results: Results) -> Section:
    """Return the section of the first screen."""
    part = Part(str(config["language"]), results, describe_categories(results.categories))
    made = {**config.get("models", {}), **((config.get("static") or {}).get("vectors") or {})}
    trained = findings.tell("trained", names=[str(name) for name, each in made.items() if each.get("train")])
    screen = Screen([part], section.language_of(config), bool(config.get("is_part")))
    return fill_first_screen(screen, str(config["study"]), [config.get("note") or "", trained])


def methods_and_models(config: Mapping[str, Any], results: Results) -> Section:
    """Return the section on methods: every choice by its name in the config, and the models."""
    keys = ["name", "kind", "dimensions", "parameters", "max_pieces", "dtype", "stored_dtype", "least_cosine"]
    keys += ["source", "revision", "pinned", "commit", "sha256"]
    described = summary.describe_models(config, results.embeddings)
    models = [[show_value(key, model[key]) for key in keys] for model in described]
    listed = [(html("<code>{}</code>", key), value, meaning) for key, value, meaning in summary.choices(config)]
    parts = fold_table("Every choice that changes a number, by its name in the config", "choices", listed)
    fixed = [each["text"] for each in summary.find_wording("fixed", results.measured)]
    parts += [Section("The same in every study", items=fixed, folded=True)] if fixed else []
    sheets = [show_table("models_measured", models)] if models else []
    return Section("Models and choices", "methods", sheets=sheets, parts=parts)


def making(config: Mapping[str, Any], made_from: Mapping[str, str]) -> Section:
    """Return the section on what the page was made from; `made_from` is its record (`prasanga.base.results`)."""
    inputs, versions = (json.loads(made_from.get(key) or "{}") for key in ("inputs", "versions"))
    rows = [tuple(html("<code>{}</code>", text) for text in file) for file in inputs.items()]
    title = f"Digests of the {len(inputs)} input files of this page"
    fingerprint = html("<code>{}</code>", made_from.get("fingerprint", "not stated"))
    record = {"Study": str(config["study"]), "Seed": str(config["seed"]), "Fingerprint": fingerprint, **versions}
    parts = fold_table(title, "digests", rows)
    return Section("How it was made", "making", definitions=list(record.items()), parts=parts, look="record")


def references(results: Results) -> Section:
    """Return the section of the publications that are to be cited."""
    text = "If you publish numbers from this page, cite the papers of their methods."
    found = summary.find_wording("publications", results.measured)
    return Section("References", "references", text=[text], items=[prose("reference", each=each) for each in found])


# --------------------
# Sections for a paper: the study in the layouts of the papers' tables, compared with their numbers, and its figures.


OPEN = "sadhu_table4"
"""The table that is open when the page opens: the comparison of methods."""

_FORMATS = {
    **{"pdf": "PDF", "svg": "SVG", "png": "PNG"},
    **{"csv": "CSV", "md": "Markdown", "tex": "LaTeX", "tsv": "TSV", "parquet": "Parquet"},
}
"""Names of the endings, in the order in which they are offered."""


def fill_layouts(config: Mapping[str, Any], results: Results) -> Section | None:
    """Return the section with the study in the layouts of the papers' tables, folded."""
    tables = {label: table for name, table in results.estimates.items() if (label := method_named(name).published_as)}
    if "ceat" in tables:
        n_samples = config.get("associations", {}).get("n_samples", 0)
        tables["ceat"] = paper_tables.with_fewer_draws(tables["ceat"], results["convergence"], n_samples)
    pairs = {PAIRS.name: results["bias_percentages"]} if "bias_percentages" in results else {}
    asked = {"preset": str(config.get("preset", "recommended")), "language": str(config["language"])}
    parts = []
    for name, title, about in map(dict.values, list_template("layouts.tsv").values()):
        if f"tables/{name}.csv" in results.files:
            table = paper_tables.paper_table(name, pairs if name == paper_tables.PAIR_TABLE else tables, **asked)
            parts.append(_paper_table(table, title, about, results))
    values = {"is_compared": "comparison" in results, "preset": asked["preset"]}
    return fill_section("paper_tables", values, parts=parts) if parts else None


def _paper_table(table: paper_tables.PaperTable, title: str, about: str, results: Results) -> Section:
    """Return a table as a part of the page."""
    return fold(
        title,
        about,
        id=table.name,
        sheets=[replace(table.sheet, caption=table.caption, look="paper-table")],
        notes=table.notes,
        files=_list_files(f"tables/{table.name}", paper_tables.ENDINGS, results),
        files_text=f"{title} as",
        is_open=table.name == OPEN,
    )


def _list_files(path: str, endings: Iterable[str], results: Results) -> list[tuple[str, str]]:
    """Return the existing files with these endings, each with its format."""
    return [(f"{path}.{end}", _FORMATS[end]) for end in endings if f"{path}.{end}" in results.files]


def beside_paper(results: Results) -> Section | None:
    """Return the section that compares the study with a paper's numbers: agreement, every row, and doubts."""
    rows = comparison.comparison_rows(results["comparison"])
    if rows.is_empty():
        return None
    doubts, about = comparison.list_doubts(rows), f"{len(rows):,} numbers of the paper and of this study"
    parts = [fold("All rows", about, sheets=[comparison.rows_sheet(rows)])]
    for name in (each for *_, each in comparison.DESCRIBED.values() if each in results):
        (title, *notes), table = write_notes(name), results[name]
        parts.append(fold(title, f"{len(table)} rows", sheets=[show_table(name, table.rows(named=True))], notes=notes))
    parts.append(Section("How to read this", items=comparison.describe_reading(rows), folded=True))
    parts += [fold("Doubts about the paper's numbers", str(len(doubts)), items=doubts)] if doubts else []
    return fill_section(
        "beside_paper",
        {"paper": comparison.PAPERS.get(rows["paper"][0], rows["paper"][0])},
        files=_list_files("comparison", ("csv", "md"), results),
        files_text="The comparison as",
        sheets=[comparison.agreement_sheet(rows)],
        figures=section.figure_of(results, "published"),
        parts=parts,
    )


def list_figures(config: Mapping[str, Any], results: Results) -> Section | None:
    """Return the section of the figures with what a paper says of each: caption, methods, LaTeX."""
    values = {key: value for key, value, _ in summary.choices(config)}
    pairs, traits = results["pair_differences"].drop_nulls("difference"), results["traits"].drop_nulls("corrected")
    values["n_pairs"] = f"{pairs.n_unique(['set', 'language', 'pair_id']):,}"
    values["aggregation"] = ", ".join(traits["aggregation"].unique())
    values["n_traits"] = f"{traits.n_unique(['polarity', 'trait']):,}"
    parts = []
    for _, listed in downloads_of(results.files).get("Figures", ()):
        name = PurePosixPath(listed[0][0]).stem
        if figure := figure_named(name):
            method = re.sub(r"\{([\w.]+)\}", lambda key: values.get(key[1], "not stated"), figure.method)
            about = [html("<strong>Caption.</strong> {}", figure.caption), html("<strong>Methods.</strong> {}", method)]
            latex = _include_figure(name, [path for path, _ in listed], figure.caption)
            parts.append(
                Section(figure.label, text=about, widget=latex, files=listed, files_text="Files:", folded=True)
            )
    text = "Click the LaTeX to select it. The methods sentences name the choices of this study."
    return Section("Figures to paste", "figures", text=[text], parts=parts) if parts else None


def _include_figure(name: str, paths: Sequence[str], caption: str) -> Markup:
    """Return what includes a figure in LaTeX, the first of these files; nothing if LaTeX can read none of them."""
    first, *others = [path for path in paths if path.endswith((".pdf", ".png"))] or [""]
    column = next((path for path in (first, *others) if COLUMN in PurePosixPath(path).parts), "")
    return section.render("figure", name=name, path=first, column=column, caption=caption) if first else Markup("")


# --------------------
# Files next to the page: one entry for all formats of a figure or table.


_FOLDERS = {"figures": "Figures", "tables": "Tables", "data": "Data", "": "About the study"}


def downloads(results: Results) -> Section:
    """Return the section on the files next to the page."""
    parts = [
        Section(title, items=[prose("download", name=name, files=files) for name, files in found])
        for title, found in downloads_of(results.files).items()
    ]
    text = "All files are in the folder of this page. You can pack and send it as it is."
    return Section("Downloads", "downloads", text=[text if parts else "This page has no other files."], parts=parts)


def downloads_of(files: Iterable[str]) -> dict[str, list[tuple[str, list[tuple[str, str]]]]]:
    """Return the files next to the page by title of their folder: the content, and (path, format) of each of its files.

    Args:
        files: paths from the page, as `figures/settling.pdf`; those in `figures/column` are the same figures at the
            width of one column.
    """
    found: dict[str, dict[str, list[tuple[str, str]]]] = {}
    order = {ending: n for n, ending in enumerate(_FORMATS)}
    placed = [(path.parent.name == COLUMN, order.get(path.suffix[1:], 99), path) for path in map(PurePosixPath, files)]
    for column, _, path in sorted(placed):
        ending = path.suffix[1:]
        label = f"{_FORMATS.get(ending, ending.upper())}{', one column wide' * column}"
        top = path.parts[0] if len(path.parts) > 1 else ""
        found.setdefault(top, {}).setdefault(path.stem, []).append((str(path), label))
    return {
        title: [(shown_in(stem), found[top][stem]) for stem in sorted(found[top], key=grid.natural_order)]
        for top, title in _FOLDERS.items()
        if top in found
    }


# --------------------
# The files of a report: the page, cards and summary.


def write_study(
    config: Mapping[str, Any],
    results: Results,
    describe: Callable[[Sequence[str]], Mapping[str, str]],
    *,
    shown: Mapping[str, Sequence[str]],
    outputs: Mapping[str, str],
) -> None:
    """Write the summary, the cards and the page.

    Args:
        config: the study's config, complete.
        results: everything that the study has to show.
        describe: says what an output is made from, by the files that went in.
        shown: paths by what they are for: the tables of `numbers` for summary and cards, the `records` of which only
            the origin is read, and all files of the `page`.
        outputs: paths of `summary`, `methods`, `data` and `page`.
    """
    tables = [*shown["numbers"], *(path for path in shown["records"] if path.endswith(".parquet"))]
    found = summary.study_summary(
        config=config, results=results, made_from=describe([]), records=[read_making(path) for path in tables]
    )
    corpus = [file for read in results.corpus for file in read.get("digest", {}).items()]
    inputs = digests_of_files(sorted(set(shown["numbers"]) - set(shown["records"])))
    write_text(outputs["summary"], summary.to_json(found))
    write_text(outputs["methods"], summary.methods_card(config=config, summary=found, inputs=inputs))
    write_text(outputs["data"], summary.data_card(config=config, summary=found, results=results, corpus=corpus))
    write_text(outputs["page"], render_page(config=config, results=results, made_from=describe(shown["page"])))


def write_front_page(
    config: Mapping[str, Any],
    languages: Sequence[str],
    tables: Mapping[str, str],
    files: Sequence[str],
    output: Mapping[str, str],
) -> None:
    """Write the page over the pages of the languages, and the summary that names theirs.

    Args:
        config: the study's config, complete.
        languages: those of the study; each has a folder of its name in that of the results.
        tables: the tables over all languages, by their names.
        files: what goes with the page, from the folder of the study's results.
        output: paths of `summary` and `page`.
    """
    results, parts = PurePosixPath(output["summary"]).parent, []
    joined = {name: read_frame(path) for name, path in tables.items()}
    for language in languages:
        of_language = read_document(f"{results}/{language}/summary.json")
        own: dict[str, Any] = {name: table.filter(language=language) for name, table in joined.items()}
        found = Results(**own, missing=of_language["missing"])
        parts.append(Part(language, found, of_language["categories"], f"../{language}/{summary.PAGE}"))
    screen = Screen(parts, section.language_of(config))
    about = {key: str(config.get(key) or "") for key in ("study", "title", "note")}
    pointer: dict[str, Any] = {
        **{"schema": summary.SCHEMA, "program": {"name": "prasanga", "version": __version__}, **about},
        "languages": {language: f"{language}/summary.json" for language in languages},
        "findings": Screen(parts).sentences,
        **{"page": summary.PAGE, "files": sorted(files)},
    }
    write_text(output["summary"], summary.to_json(pointer))
    listed = [html('<a href="../{}">{}</a>', path, path) for path in pointer["files"] if not path.endswith(".parquet")]
    paper = [Section("Tables over all languages", "tables", items=listed)] if listed else []
    views = [
        View("overview", "Findings", "Overview", [fill_first_screen(screen, about["study"], [about["note"]])]),
        View("paper", "Paper", "Paper", paper),
    ]
    page = section.page_to_html(config["title"], views, language=section.language_of(config), scripts=languages)
    write_text(output["page"], page)
