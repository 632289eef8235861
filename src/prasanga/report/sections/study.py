"""Sections on the study as a whole: what was measured, by which choices, from what, and what lies beside the page."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

import polars as pl
from markupsafe import Markup

from prasanga.pairs.preferences import OVERALL
from prasanga.report.downloads import downloads_of
from prasanga.report.figures.registry import COLUMN, figure_named
from prasanga.report.grid import ALPHA, LABELS, is_number, name_of_language, sort_lengths
from prasanga.report.methods_text import (
    PAPERS,
    REFERENCES,
    Reference,
    choices,
    describe_models,
    fixed_choices,
    references_of,
    vector_conventions,
)
from prasanga.report.section import Section
from prasanga.report.sections.ceat import ceat_grid
from prasanga.report.sheet import Row, Sheet, escape_latex, html, numbers, row_of
from prasanga.report.structures import scored_traits
from prasanga.report.study import Results


def measured(results: Results) -> Section | None:
    """Return the section on what was measured by which method."""
    sheet = overview_sheet(results)
    return Section("What was measured", "measured", sheets=[sheet]) if sheet.rows else None


def overview_sheet(results: Results) -> Sheet:
    """Return a row for each method measured: over what, how many numbers came out, how many are significant."""
    rows = []
    if results.ceat is not None and not results.ceat.is_empty():
        lengths, modes = sort_lengths(results.ceat["segment_length"]), sorted(set(results.ceat["sample_mode"]))
        over = f"{_categories(results.ceat)} at {', '.join(lengths)} words, {' and '.join(modes)} draws"
        rows.append(_of_effects("effects", "CEAT", results.ceat, over))
    rows += [_of_effects(name, LABELS[name], table, _categories(table)) for name, table in results.methods]
    if results.structures is not None:
        rows.append(_of_structures(results.structures))
    if results.bias_percentages is not None:
        rows.append(_of_pairs(results.bias_percentages))
    columns = numbers("Models", "Over", "Numbers computed", "Significant by Holm")
    return Sheet(("Method",), columns, tuple(rows), "What was measured", "measured", {"Over": "text"})


def methods(config: Mapping[str, Any], results: Results) -> Section:
    """Return the section on methods: every choice by its name in the config, and the models."""
    models = [{"name": name, **settings} for name, settings in config.get("models", {}).items()]
    rows = tuple(
        row_of(html("<code>{}</code>", choice.key), choice.value, choice.meaning) for choice in choices(config)
    )
    texts = dict.fromkeys(("Value", "Meaning", "Source", "Settings"), "text")
    of_choices = Sheet(("Key",), numbers("Value", "Meaning"), rows, "Choices of this study", "choices", texts)
    described = [row_of(model.name, model.source, model.dimensions, model.details) for model in describe_models(models)]
    columns = numbers("Source", "Dimensions", "Settings")
    of_models = Sheet(("Name",), columns, tuple(described), "Models measured", "models", texts)
    grid = ceat_grid(results)
    nothing = [] if grid is None else [f"Nothing is known of the models but their names: {', '.join(grid.models)}."]
    vectors, fixed = vector_conventions(models), fixed_choices(_measured(results))
    return Section(
        "Models and choices",
        "methods",
        text=[] if described else nothing,
        sheets=[of_models] if described else [],
        parts=[
            Section("Every choice that changes a number, by its name in the config", sheets=[of_choices], folded=True),
            *([Section("Vectors", items=vectors, folded=True)] if vectors else []),
            *([Section("The same in every study", items=fixed, folded=True)] if fixed else []),
        ],
    )


def making(config: Mapping[str, Any], made_from: Mapping[str, str]) -> Section:
    """Return the section on what the page was made from; `made_from` is what provenance says of its making."""
    inputs = _json_of(made_from, "inputs")
    rows = tuple(
        row_of(html("<code>{}</code>", path), html("<code>{}</code>", digest)) for path, digest in inputs.items()
    )
    sheet = Sheet(("File",), numbers("SHA-256"), rows, "SHA-256 of the files", kinds={"SHA-256": "text"})
    title = f"Digests of the {len(inputs)} files that the page was made from"
    record = {
        "Study": str(config["study"]),
        "Seed": str(config["seed"]),
        "Code of this page": html("<code>{}</code>", made_from.get("code", "not stated")),
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


def figures_for_paper(config: Mapping[str, Any], results: Results) -> Section | None:
    """Return the section of the figures with what a paper says of each: caption, methods, LaTeX."""
    values = {choice.key: choice.value for choice in choices(config)}
    for name, table, number, keys in (
        ("n_pairs", results.pair_differences, "difference", ("set", "language", "pair_id")),
        ("n_traits", results.traits, "corrected", ("polarity", "trait")),
    ):
        if table is not None:
            values[name] = f"{table.drop_nulls(number).select(keys).n_unique():,}"
    parts = []
    for download in next((group.downloads for group in downloads_of(results.files) if group.title == "Figures"), []):
        files = [(path, what) for what, path in download.files]
        name = PurePosixPath(files[0][0]).stem
        if figure := figure_named(name):
            method = re.sub(r"\{([\w.]+)\}", lambda key: values.get(key[1], "not stated"), figure.method)
            about = [html("<strong>Caption.</strong> {}", figure.caption), html("<strong>Methods.</strong> {}", method)]
            latex = _latex(name, [path for path, _ in files if path.endswith((".pdf", ".png"))], figure.caption)
            parts.append(Section(figure.label, text=about, widget=latex, files=files, files_text="Files:", folded=True))
    text = "A click on the LaTeX selects it. The sentences on methods name the choices of this study."
    return Section("Figures to paste", "figures", text=[text], parts=parts) if parts else None


def _latex(name: str, paths: Sequence[str], caption: str) -> Markup:
    """Return what includes a figure, the first of these files; nothing where LaTeX can read none of them."""
    if not paths:
        return Markup("")
    column = next((path for path in paths if COLUMN in PurePosixPath(path).parts), "")
    environment = "figure" if column == paths[0] else "figure*"
    lines = [
        r"% Needs \usepackage{graphicx}." + (f" In one column: figure, and {column}." if column else ""),
        rf"\begin{{{environment}}}\centering",
        rf"\includegraphics{{{paths[0]}}}",
        rf"\caption{{{escape_latex(caption)}}}\label{{fig:{name}}}",
        rf"\end{{{environment}}}",
    ]
    return html('<pre class="to-copy">{}</pre>', "\n".join(lines))


def downloads(results: Results) -> Section:
    """Return the section on the files beside the page."""
    groups = [
        Section(
            group.title,
            items=[
                html("{}: {}", download.name, Markup(", ").join(_link(path, what) for what, path in download.files))
                for download in group.downloads
            ],
        )
        for group in downloads_of(results.files)
    ]
    text = "Nothing lies beside this page."
    if groups:
        text = "All of it lies in the folder of this page, which can be packed and sent as it is."
    return Section("Downloads", "downloads", text=[text], parts=groups)


def references(results: Results) -> Section:
    """Return the section of the publications that are to be cited."""
    cited = references_of(_measured(results))
    text = "Whoever publishes numbers made this way should cite the papers whose methods they are."
    items = [_reference(each) for each in REFERENCES if each in cited or each in PAPERS]
    return Section("References", "references", text=[text], items=items)


def _link(path: str, what: str) -> Markup:
    return html('<a href="{}">{}</a>', Markup.escape(path), what)


def _reference(each: Reference) -> Markup:
    link = html("{}. ", _link(each.url, each.link)) if each.url else ""
    where = html("{} ({}). <cite>{}.</cite> {}. ", each.authors, each.year, each.title, each.venue)
    return html("{}{}{}", where, link, each.used)


def _measured(results: Results) -> list[str]:
    """Return the methods that the study has numbers of."""
    ceat = None if results.ceat is None or results.ceat.is_empty() else results.ceat
    found = {
        "ceat": ceat,
        **dict(results.methods),
        "structures": results.structures,
        "pairs": results.bias_percentages,
    }
    return [name for name, table in found.items() if table is not None]


def _row(section: str, label: str, table: pl.DataFrame, over: str, computed: str, significant: str = "") -> Row:
    cells = (str(table["model"].n_unique()), over, computed, significant or "intervals only")
    return row_of(html('<a href="#{}">{}</a>', section, label), *cells)


def _of_effects(section: str, label: str, table: pl.DataFrame, over: str) -> Row:
    effects = [is_number(value) for value in table["effect_size"]]
    corrected = table["p_association_holm"].to_list() if "p_association_holm" in table.columns else []
    tested = [p for p, computed in zip(corrected, effects, strict=False) if computed and is_number(p)]
    significant = f"{sum(p < ALPHA for p in tested)} of {len(tested)}" if tested else ""
    return _row(section, label, table, over, f"{sum(effects)} of {len(effects)}", significant)


def _of_structures(spread: pl.DataFrame) -> Row:
    structures = sorted(set(spread["structure"]))
    scored, asked = scored_traits(spread)
    over = f"traits in {structures[0]} to {structures[-1]}" if len(structures) > 1 else f"traits in {structures[0]}"
    return _row("structures", "Sentence structures", spread, over, f"{scored:,} of {asked:,}")


def _of_pairs(bias: pl.DataFrame) -> Row:
    overall = bias.filter(pl.col("bias_type") == OVERALL)
    languages = [name_of_language(code) for code in bias["language"].unique(maintain_order=True)]
    rows = list(bias.iter_rows(named=True))
    computed = [row for row in rows if is_number(row["bias_percentage"])]
    tested = [row for row in computed if is_number(row["p_binomial_holm"])]
    significant = f"{sum(row['p_binomial_holm'] < ALPHA for row in tested)} of {len(tested)}" if tested else ""
    most = max((n for n in overall["n_pairs"] if n), default=0)
    over = f"{most:,} pairs at most in a language; {', '.join(languages)}"
    return _row("pairs", "Sentence pairs", bias, over, f"{len(computed)} of {len(rows)}", significant)


def _categories(table: pl.DataFrame) -> str:
    number = table["category"].n_unique()
    return f"{number} categor{'y' if number == 1 else 'ies'}"


def _json_of(made_from: Mapping[str, str], key: str) -> dict[str, str]:
    """Return a part of the record that is kept as JSON; empty where there is none."""
    found = json.loads(made_from.get(key) or "{}")
    return {str(name): str(value) for name, value in found.items()} if isinstance(found, dict) else {}
