"""Sections for a paper: the study in the layouts of the papers' tables and beside their numbers, and its figures."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any

import polars as pl
from markupsafe import Markup

from prasanga.methods import method_named
from prasanga.pairs.preferences import OVERALL
from prasanga.report.cards import choices
from prasanga.report.ceat_table import with_fewer_draws
from prasanga.report.comparison import (
    HOW_TO_READ,
    HOW_TO_READ_PAIRS,
    PAIRS,
    agreement_texts,
    comparison_rows,
    groups_in,
    summarize,
    summarize_pairs,
)
from prasanga.report.figures import COLUMN, figure_named, shown_in
from prasanga.report.grid import interval, is_number, name_of_type, natural_order, yes_no
from prasanga.report.paper_tables import ENDINGS, N_OF_TABLE_6, PAIR_TABLE, SADHU, SAHOO, PaperTable, paper_table
from prasanga.report.published import PAPERS, PUBLISHED_AS, printed_at
from prasanga.report.section import Section, count, figure_of, fold, preset_of, prose, with_code
from prasanga.report.sections.estimates import sorted_by
from prasanga.report.sheet import MISSING, Cell, Row, Sheet, escape_latex, html, numbers, row_of, with_sign
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
_AGREEMENT = (
    *("rows", "categories", "same sign", "95 % interval of that", "rank correlation", "median difference"),
    "in our interval",
)
_NUMBERS = ("published", "measured", "difference", "our interval")


def paper_tables(config: Mapping[str, Any], results: Results) -> Section | None:
    """Return the section with the study in the layouts of the papers' tables, a folded part for each.

    Raises:
        InputError: a table lacks a column, or has two rows for a cell.
    """
    tables = {
        published: table
        for name, table in results.estimates.items()
        if not (name == "ceat" and table.is_empty())
        if (published := method_named(name).published_as)
    }
    n_samples = config.get("associations", {}).get("n_samples", 0)
    if "ceat" in tables:
        tables["ceat"] = with_fewer_draws(tables["ceat"], results.convergence, n_samples)
    preset, language, pairs = preset_of(config), str(config["language"]), results.bias_percentages
    made = [
        paper_table(name, chosen, preset=preset, language=language)
        for name in (OPEN, *_names_of_ceat(tables.get("ceat")), *SAHOO)
        if (chosen := {method: table for method, table in tables.items() if _has(method, table, name)})
        # CEAT alone is no comparison of methods
        and not (name == OPEN and chosen.keys() == {"ceat"})
    ]
    if pairs is not None and len(pairs):
        made.append(paper_table(PAIR_TABLE, {PAIRS: pairs}, preset=preset))
    if not made:
        return None
    parts = [_paper_table(table, results.files) for table in made]
    text = prose("paper_tables", is_compared=_is_compared(config, results), preset=preset)
    return Section("The papers' tables", "paper-tables", text=[text], parts=parts)


def beside_paper(config: Mapping[str, Any], results: Results) -> Section | None:
    """Return the section with the study beside a paper's numbers: agreement, every row, and what is doubtful.

    Raises:
        InputError: the comparison lacks a column.
    """
    if not _is_compared(config, results):
        return None
    paper = config.get("comparison", {}).get("paper", "none")
    rows = None if results.comparison is None else comparison_rows(results.comparison)
    files = [(f"comparison.{ending}", _FORMATS[ending]) for ending in ("csv", "md")]
    section = Section(
        f"Beside {PAPERS.get(paper, 'the papers' if paper == 'none' else paper)}",
        "beside-paper",
        files=[file for file in files if file[0] in results.files],
        files_text="The comparison as",
    )
    if rows is None or rows.is_empty():
        nothing = results.why_no_comparison or "No row of the two is the same."
        return replace(section, text=[with_code("The comparison was not made yet." if rows is None else nothing)])
    pairs, effects = rows.filter(pl.col("method") == PAIRS), rows.filter(pl.col("method") != PAIRS)
    of_models = rows["published_model"] + ": " + rows["model_doubt"]
    doubts, notes = _counted([rows["doubt"], rows["mark_doubt"], of_models]), _counted([rows["note"]])
    every = _every_row(rows, {(group.set, group.language): group.title for group in groups_in(pairs)}, doubts, notes)
    name, all_rows = rows["paper"][0], html("{:,} numbers of the paper beside this study's", len(rows))
    about_all = ["The numbers of doubts and notes are those of the lists below."]
    how_to_read = [*(HOW_TO_READ if len(effects) else ()), *(HOW_TO_READ_PAIRS if len(pairs) else ())]
    return replace(
        section,
        title=f"Beside {PAPERS.get(name, name)}",
        text=[prose("beside_paper")],
        findings=_findings(effects, pairs),
        sheets=[_agreement(effects, pairs)],
        figures=figure_of(results, "published", label=prose("published_label")),
        parts=[
            fold("All rows", all_rows, text=about_all, sheets=[every]),
            Section("How to read this", items=how_to_read, folded=True),
            *_listed("Doubts about the paper's numbers", doubts, ""),
            *_listed("Notes on this study's numbers", notes, "n"),
        ],
    )


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


def _is_compared(config: Mapping[str, Any], results: Results) -> bool:
    return results.comparison is not None or config.get("comparison", {}).get("paper", "none") != "none"


def _paper_table(table: PaperTable, files: Collection[str]) -> Section:
    """Return a table as a part of the page: cells and labels of its CSV, with heads and types in words.

    Columns of which the study has no number are not there, so that a narrow screen shows those that it has.
    """
    paper, _, number = table.name.partition("_table")
    rows, columns = table.plain.rows, table.plain.columns
    there = [n for n in range(len(columns)) if any(row.cells[n].text not in ("", MISSING) for row in rows)]
    rows = [replace(row, cells=tuple(row.cells[n] for n in there)) for row in rows]
    n_empty = len(columns) - len(there)
    empty = f"{count(n_empty, 'column')} without a number in this study {'is' if n_empty == 1 else 'are'} in the files."
    if table.name == PAIR_TABLE:
        rows = [replace(row, labels=tuple(map(name_of_type, row.labels))) for row in rows]
    title = f"Table {number} of {PAPERS[_NAMES[paper]]}"
    paths = ((f"tables/{table.name}.{ending}", _FORMATS[ending]) for ending in ENDINGS)
    return fold(
        title,
        _ABOUT[table.name],
        id=table.name,
        sheets=[Sheet(table.heads, tuple(columns[n] for n in there), rows, table.caption, "paper-table")],
        notes=[*table.notes, *([empty] if n_empty else [])],
        files=[(path, what) for path, what in paths if path in files],
        files_text=f"{title} as",
        is_open=table.name == OPEN,
    )


def _names_of_ceat(ceat: pl.DataFrame | None) -> list[str]:
    """Return which of Tables 5 and 6 show CEAT: they differ in the number of draws."""
    sizes = set() if ceat is None else set(ceat["n_samples"].drop_nulls())
    names = ["sadhu_table6"] if N_OF_TABLE_6 in sizes else []
    return names if sizes == {N_OF_TABLE_6} else ["sadhu_table5", *names]


def _has(method: str, table: pl.DataFrame, name: str) -> bool:
    """Return whether a method's estimates stand in a table. A table without the column is refused where it is read."""
    if (name in SAHOO and method != "seat") or (name not in (OPEN, *SAHOO) and method != "ceat"):
        return False
    return "category" not in table.columns or bool(table["category"].is_in(list(SAHOO.get(name, SADHU))).any())


def _findings(effects: pl.DataFrame, pairs: pl.DataFrame) -> list[str]:
    """Return for each method how many signs agree, and how many published numbers lie in our intervals."""
    said = []
    for method in effects["method"].unique(maintain_order=True):
        of_method = effects.filter((pl.col("method") == method) & pl.col("measured").is_not_null())
        said.append(f"{PUBLISHED_AS[method]}: {_counts(of_method, 'has the same sign', 'have the same sign')}")
    if len(pairs):
        measured = pairs.filter(pl.col("measured").is_not_null() & (pl.col("category") != OVERALL))
        said.append(f"Sentence pairs: {_counts(measured, 'is on the same side of 50', 'are on the same side of 50')}")
    return said


def _counts(rows: pl.DataFrame, one: str, many: str) -> str:
    signs, inside = rows["same_sign"].drop_nulls(), rows["published_inside"].drop_nulls()
    if rows.is_empty():
        return "no row has a number of both."
    n_same, n_inside = int(signs.sum()), int(inside.sum())
    sign = f"{n_same} of {len(signs)} numbers {one if n_same == 1 else many}" if len(signs) else "no sign is known"
    if not len(inside):
        return f"{sign} as in the paper; there are no intervals."
    lie = "published number lies" if len(inside) == 1 else "published numbers lie"
    return f"{sign} as in the paper, and {n_inside} of {len(inside)} {lie} in our interval."


def _agreement(effects: pl.DataFrame, pairs: pl.DataFrame) -> Sheet:
    rows = [
        row_of(name.format(PUBLISHED_AS.get(row["method"], row["method"])), *agreement_texts(row, decimals, with_sign))
        for name, summary, decimals in (
            ("{}", summarize(effects), 3),
            ("Sentence pairs, {}", summarize_pairs(pairs), 1),
        )
        for row in _without_repeats(summary)
    ]
    texts = dict.fromkeys(("Model", "Model of the paper", "Cells"), "text")
    columns = numbers(*texts, *_AGREEMENT)
    return Sheet(("Method",), columns, rows, "Agreement by method and model", "agreement", texts)


def _without_repeats(summary: pl.DataFrame) -> list[dict[str, Any]]:
    """Return the rows without the second one of a model of which no cell is in doubt, since it repeats the first."""
    model = ["method", "model", "published_model"]
    kept = (pl.col("cells") == "all") | (pl.col("n_rows") != pl.col("n_rows").max().over(model))
    return summary.filter(kept).rows(named=True)


def _every_row(
    rows: pl.DataFrame, titles: Mapping[tuple[str, str], str], doubts: Mapping[str, int], notes: Mapping[str, int]
) -> Sheet:
    """Return every number beside the paper's; doubts and notes stand as numbers of what the section lists."""
    lists = ("Method", "Test", "Model", "Model of the paper", "Where")
    after = ("same sign", "inside", "Doubts", "Note")
    return Sheet(
        ("Printed in",),
        numbers(*lists, *_NUMBERS, *after),
        [_line(row, titles, list(doubts), list(notes)) for row in rows.iter_rows(named=True)],
        "Every number beside the paper's",
        "explorable beside-rows",
        {
            **dict.fromkeys(("Printed in", *lists, "same sign", "inside"), "list"),
            **dict.fromkeys(("Test", "Doubts", "Note"), "text"),
        },
    )


def _line(
    row: Mapping[str, Any], titles: Mapping[tuple[str, str], str], doubts: Sequence[str], notes: Sequence[str]
) -> Row:
    of_pairs = row["method"] == PAIRS
    if of_pairs:
        where = titles[row["set"] or "", row["language"]]
    else:
        length = row["segment_length"] and f"{row['segment_length']} words"
        where = ", ".join(filter(None, (row["sample_mode"], length)))
    of_model = row["model_doubt"] and f"{row['published_model']}: {row['model_doubt']}"
    found = sorted(doubts.index(text) + 1 for text in (row["doubt"], row["mark_doubt"], of_model) if text)
    method = "Sentence pairs" if of_pairs else PUBLISHED_AS[row["method"]]
    category = name_of_type(row["category"]) if of_pairs else row["category"]
    said = (method, category, row["model"], row["published_model"], where)
    note = f"n{notes.index(row['note']) + 1}" if row["note"] else ""
    after = (yes_no(row["same_sign"]), yes_no(row["published_inside"]), ", ".join(map(str, found)), note)
    return row_of(printed_at(row["table"]), *said, *_number_cells(row, of_pairs), *after)


def _number_cells(row: Mapping[str, Any], of_pairs: bool) -> list[Cell]:
    def text(value: float | None) -> str:
        if of_pairs:
            return f"{value:.2f}" if value is not None and is_number(value) else MISSING
        return with_sign(value)

    published = row["published"]
    texts = {
        "published": f"{row['bound']}{published:.3f}" if row["bound"] else text(published),
        "measured": text(row["measured"]),
        "difference": with_sign(row["difference"], 2 if of_pairs else 3),
        "ci_low": interval(row["ci_low"], row["ci_high"], text),
    }
    return [sorted_by(row[name], said) for name, said in texts.items()]


def _listed(title: str, texts: Mapping[str, int], letter: str) -> list[Section]:
    """Return the texts with their numbers and how many rows each concerns, folded; nothing where there are none."""
    if not texts:
        return []
    items = [f"{letter}{place}: {text} ({count(n, 'row')})." for place, (text, n) in enumerate(texts.items(), start=1)]
    return [fold(title, str(len(texts)), items=items)]


def _counted(columns: Sequence[pl.Series]) -> dict[str, int]:
    """Return each text of these columns once, with how many rows have it, in the order in which they come."""
    return Counter(text for column in columns for text in column.drop_nulls())


# --------------------
# Files that lie beside the page: one entry for all formats of a figure or table.


_FOLDERS = {"figures": "Figures", "tables": "Tables", "data": "Data", "": "About the study"}


def downloads_of(files: Iterable[str]) -> dict[str, list[tuple[str, list[tuple[str, str]]]]]:
    """Return what lies beside the page by title of its folder: what is shown, and (path, format) of each of its files.

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
