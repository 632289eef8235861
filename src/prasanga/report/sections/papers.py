"""Views for a paper: the study in the layouts of the papers' tables and beside their numbers, and its figures."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any

import polars as pl
from markupsafe import Markup

from prasanga.methods import method_named
from prasanga.pairs.preferences import OVERALL
from prasanga.report.cards import choices
from prasanga.report.comparison import (
    PAIRS,
    agreement_sheet,
    comparison_rows,
    describe_reading,
    list_doubts,
    rows_sheet,
    why_nothing_compared,
)
from prasanga.report.figures import COLUMN, figure_named, shown_in
from prasanga.report.findings import plural
from prasanga.report.grid import natural_order
from prasanga.report.paper_tables import (
    ENDINGS,
    N_OF_TABLE_6,
    PAIR_TABLE,
    SADHU,
    SAHOO,
    PaperTable,
    paper_table,
    with_fewer_draws,
)
from prasanga.report.published import PAPERS, PUBLISHED_AS
from prasanga.report.section import Section, figure_of, fold, preset_of, prose, section
from prasanga.report.sheet import MISSING, escape_latex, html, select_columns
from prasanga.report.study import Results

OPEN = "sadhu_table4"
"""The table that is open when the page opens: the comparison of methods."""

_NAMES = {"sadhu": "sadhu2024", "sahoo": "sahoo2024"}
_FORMATS = {
    **{"pdf": "PDF", "svg": "SVG", "png": "PNG"},
    **{"csv": "CSV", "md": "Markdown", "tex": "LaTeX", "tsv": "TSV", "parquet": "Parquet"},
}
"""Names of the endings, in the order in which they are offered."""

_ABOUT = {
    "sadhu_table4": "methods side by side",
    "sadhu_table5": "CEAT by length",
    "sadhu_table6": "CEAT by length",
    "sahoo_table2": "bias percentages of sentence pairs",
    "sahoo_table3": "SEAT, gender and religion",
    "sahoo_table4": "SEAT, gender and caste",
    "sahoo_table9": "SEAT, gender and age",
}


def paper_tables(config: Mapping[str, Any], results: Results) -> Section | None:
    """Return the section with the study in the layouts of the papers' tables, a folded part for each."""
    tables = {
        published: table
        for name, table in results.estimates.items()
        if len(table) and (published := method_named(name).published_as)
    }
    if "ceat" in tables:
        n_samples = config.get("associations", {}).get("n_samples", 0)
        tables["ceat"] = with_fewer_draws(tables["ceat"], results.convergence, n_samples)
    preset, language = preset_of(config), str(config["language"])
    made = [
        paper_table(name, chosen, preset=preset, language=language)
        for name in (OPEN, *_names_of_ceat(tables.get("ceat")), *SAHOO)
        if (chosen := {method: table for method, table in tables.items() if _has(method, table, name)})
        # CEAT alone is no comparison of methods
        and not (name == OPEN and chosen.keys() == {"ceat"})
    ]
    pairs = results.bias_percentages
    if pairs is not None and len(pairs):
        made.append(paper_table(PAIR_TABLE, {PAIRS: pairs}, preset=preset))
    if not made:
        return None
    parts = [_paper_table(table, results.files) for table in made]
    return section("paper_tables", {"is_compared": _is_compared(config, results), "preset": preset}, parts=parts)


def _paper_table(table: PaperTable, files: Collection[str]) -> Section:
    """Return a table as a part of the page, without the columns of which the study has no number."""
    paper, _, number = table.name.partition("_table")
    sheet = table.sheet
    there = [n for n in range(len(sheet.columns)) if any(row.cells[n].text != MISSING for row in sheet.rows)]
    shown = select_columns(sheet, there)
    n_empty = len(sheet.columns) - len(there)
    title = f"Table {number} of {PAPERS[_NAMES[paper]]}"
    return fold(
        title,
        _ABOUT[table.name],
        id=table.name,
        sheets=[replace(shown, caption=table.caption, look="paper-table")],
        notes=[*table.notes, *([prose("empty_columns", n=n_empty)] if n_empty else [])],
        files=_list_files(f"tables/{table.name}", ENDINGS, files),
        files_text=f"{title} as",
        is_open=table.name == OPEN,
    )


def _list_files(path: str, endings: Iterable[str], files: Collection[str]) -> list[tuple[str, str]]:
    """Return those of the files with these endings that are there, each with its format."""
    return [(f"{path}.{end}", _FORMATS[end]) for end in endings if f"{path}.{end}" in files]


def _names_of_ceat(ceat: pl.DataFrame | None) -> list[str]:
    """Return which of Tables 5 and 6 show CEAT: they differ in the number of draws."""
    sizes = set() if ceat is None else set(ceat["n_samples"].drop_nulls())
    names = ["sadhu_table6"] if N_OF_TABLE_6 in sizes else []
    return names if sizes == {N_OF_TABLE_6} else ["sadhu_table5", *names]


def _has(method: str, table: pl.DataFrame, name: str) -> bool:
    """Return whether a table shows a method's estimates."""
    if (name in SAHOO and method != "seat") or (name not in (OPEN, *SAHOO) and method != "ceat"):
        return False
    return bool(table["category"].is_in(list(SAHOO.get(name, SADHU))).any())


def beside_paper(config: Mapping[str, Any], results: Results) -> Section | None:
    """Return the section with the study beside a paper's numbers: agreement, every row, and what is doubtful."""
    if not _is_compared(config, results):
        return None
    paper = config.get("comparison", {}).get("paper", "none")
    rows = None if results.comparison is None else comparison_rows(results.comparison)
    files = {"files": _list_files("comparison", ("csv", "md"), results.files), "files_text": "The comparison as"}
    if results.comparison is None or rows is None or rows.is_empty():
        nothing = "The comparison was not made yet."
        if results.comparison is not None:
            nothing = why_nothing_compared(results.comparison) or "No row of the two is the same."
        named = PAPERS.get(paper, "the papers" if paper == "none" else paper)
        return section("beside_paper", {"paper": named, "why_nothing": nothing}, **files)
    doubts = [f"{text} ({plural(n, 'row')})." for text, n in list_doubts(rows).items()]
    all_rows = f"{len(rows):,} numbers of the paper beside this study's"
    return section(
        "beside_paper",
        {"paper": PAPERS.get(rows["paper"][0], rows["paper"][0]), "why_nothing": ""},
        **files,
        findings=_count_agreeing(rows),
        sheets=[agreement_sheet(rows)],
        figures=figure_of(results, "published"),
        parts=[
            fold("All rows", all_rows, sheets=[rows_sheet(rows)]),
            Section("How to read this", items=describe_reading(rows), folded=True),
            *([fold("Doubts about the paper's numbers", str(len(doubts)), items=doubts)] if doubts else []),
        ],
    )


def _is_compared(config: Mapping[str, Any], results: Results) -> bool:
    return results.comparison is not None or config.get("comparison", {}).get("paper", "none") != "none"


def _count_agreeing(rows: pl.DataFrame) -> list[str]:
    """Return for each method how many signs agree, and how many published numbers lie in our intervals."""
    said: list[str] = []
    for method in rows["method"].unique(maintain_order=True):
        found = rows.filter(pl.col("method") == method, pl.col("measured").is_not_null())
        of_pairs = method == PAIRS
        found = found.filter(pl.col("category") != OVERALL) if of_pairs else found
        signs, inside = found["same_sign"].drop_nulls(), found["published_inside"].drop_nulls()
        counts = {"n": len(signs), "k": signs.sum(), "n_intervals": len(inside), "n_inside": inside.sum()}
        name = "Sentence pairs" if of_pairs else PUBLISHED_AS[method]
        said.append(prose("agreeing", method=name, n_rows=len(found), of_pairs=of_pairs, **counts))
    return said


def figures(config: Mapping[str, Any], results: Results) -> Section | None:
    """Return the section of the figures with what a paper says of each: caption, methods, LaTeX."""
    values = {choice.key: choice.value for choice in choices(config)}
    for name, table, number, keys in (
        ("n_pairs", results.pair_differences, "difference", ("set", "language", "pair_id")),
        ("n_traits", results.traits, "corrected", ("polarity", "trait")),
    ):
        if table is not None:
            values[name] = f"{table.drop_nulls(number).select(keys).n_unique():,}"
    parts = []
    for _, files in downloads_of(results.files).get("Figures", ()):
        name = PurePosixPath(files[0][0]).stem
        if figure := figure_named(name):
            method = re.sub(r"\{([\w.]+)\}", lambda key: values.get(key[1], "not stated"), figure.method)
            about = [html("<strong>Caption.</strong> {}", figure.caption), html("<strong>Methods.</strong> {}", method)]
            latex = _include_figure(
                name, [path for path, _ in files if path.endswith((".pdf", ".png"))], figure.caption
            )
            parts.append(Section(figure.label, text=about, widget=latex, files=files, files_text="Files:", folded=True))
    text = "A click on the LaTeX selects it. The sentences on methods name the choices of this study."
    return Section("Figures to paste", "figures", text=[text], parts=parts) if parts else None


def _include_figure(name: str, paths: Sequence[str], caption: str) -> Markup:
    """Return what includes a figure in LaTeX, the first of these files; nothing if LaTeX can read none of them."""
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


# --------------------
# Files beside the page: one entry for all formats of a figure or table.


_FOLDERS = {"figures": "Figures", "tables": "Tables", "data": "Data", "": "About the study"}


def downloads(results: Results) -> Section:
    """Return the section on the files beside the page."""
    parts = [
        Section(title, items=[prose("download", name=name, files=files) for name, files in found])
        for title, found in downloads_of(results.files).items()
    ]
    text = "All of it lies in the folder of this page, which can be packed and sent as it is."
    return Section("Downloads", "downloads", text=[text if parts else "Nothing lies beside this page."], parts=parts)


def downloads_of(files: Iterable[str]) -> dict[str, list[tuple[str, list[tuple[str, str]]]]]:
    """Return the files beside the page by title of their folder: the content, and (path, format) of each of its files.

    Args:
        files: paths from the page, as `figures/settling.pdf`; those in `figures/column` are the same figures at the
            width of one column.
    """
    order = list(_FORMATS)

    def place(path: PurePosixPath) -> tuple[bool, int, str]:
        ending = path.suffix[1:]
        return path.parent.name == COLUMN, order.index(ending) if ending in order else len(order), str(path)

    found: dict[str, dict[str, list[tuple[str, str]]]] = {}
    for path in sorted(map(PurePosixPath, files), key=place):
        ending, column = path.suffix[1:], path.parent.name == COLUMN
        label = f"{_FORMATS.get(ending, ending.upper())}{', one column wide' * column}"
        top = path.parts[0] if len(path.parts) > 1 else ""
        found.setdefault(top, {}).setdefault(path.stem, []).append((str(path), label))
    return {
        title: [(shown_in(stem), found[top][stem]) for stem in sorted(found[top], key=natural_order)]
        for top, title in _FOLDERS.items()
        if top in found
    }
