"""The papers' tables on the page, from the sheets that their CSV, Markdown and LaTeX files are written from."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

import polars as pl

from prasanga.report.grid import name_of_type
from prasanga.report.pair_table import NAME as PAIR_TABLE
from prasanga.report.pair_table import pair_table
from prasanga.report.paper_tables import (
    ENDINGS,
    N_OF_TABLE_6,
    SADHU,
    SAHOO,
    PaperTable,
    Tables,
    paper_table,
)
from prasanga.report.published import PAPERS
from prasanga.report.sheet import MINUS, Cell, group_heads, marked_text

OPEN = "sadhu_table4"
"""The table that is open when the page opens: the comparison of methods."""

_PAPERS = {"sadhu": "sadhu2024", "sahoo": "sahoo2024"}
_FORMATS = {"csv": "CSV", "md": "Markdown", "tex": "LaTeX"}
_ABOUT = {
    "sadhu_table4": "methods side by side",
    "sadhu_table5": "CEAT by length",
    "sadhu_table6": "CEAT by length",
    "sahoo_table2": "bias percentages of sentence pairs",
    "sahoo_table3": "SEAT, gender and religion",
    "sahoo_table4": "SEAT, gender and caste",
    "sahoo_table9": "SEAT, gender and age",
}


class ShownCell(NamedTuple):
    """A number as text with its mark, and how it is set off. What is underlined has a mark for those who cannot see."""

    text: str
    mark: str
    bold: bool
    underlined: bool


class ShownTable(NamedTuple):
    """A table of the page.

    Attributes:
        name: of its files, and of its place on the page.
        title: which table of which paper.
        about: what it is about, in a few words.
        caption: what it shows.
        heads: heads of the labels.
        groups: heads over the columns, each with how many columns stand below it; empty if no column has one.
        columns: names of the columns.
        rows: labels and cells.
        notes: what the marks mean, the conventions, and why cells have no number.
        files: paths from the page, and what they are.
        is_open: whether it is to be seen at once.
    """

    name: str
    title: str
    about: str
    caption: str
    heads: Sequence[str]
    groups: Sequence[tuple[str, int]]
    columns: Sequence[str]
    rows: Sequence[tuple[Sequence[str], Sequence[ShownCell]]]
    notes: Sequence[str]
    files: Sequence[tuple[str, str]]
    is_open: bool


def paper_tables(
    config: Mapping[str, Any], tables: Tables, pairs: pl.DataFrame | None, files: Collection[str] = ()
) -> list[ShownTable] | None:
    """The tables of a study's page, as far as what they are made of is there.

    Args:
        config: the study's config; its `preset` and `language` count.
        tables: the tables of estimates that are there, by method: ceat, seat, weat, log_probability_bias.
        pairs: bias percentages of sentence pairs; None for none.
        files: what lies beside the page, as paths from it; of each table those that are among them are linked.

    Returns:
        None where no table of the papers has anything of the study.

    Raises:
        InputError: a table lacks a column, or has two rows for a cell.
    """
    preset, language = str(config.get("preset", "recommended")), str(config["language"])
    made = [
        paper_table(name, chosen, preset=preset, language=language)
        for name in (OPEN, _name_of_ceat(tables.get("ceat")), *SAHOO)
        if (chosen := {method: table for method, table in tables.items() if _has(method, table, name)})
        # CEAT alone is no comparison of methods
        and not (name == OPEN and chosen.keys() == {"ceat"})
    ]
    if pairs is not None and len(pairs):
        made.append(pair_table(pairs, preset=preset))
    return [shown_table(table, files) for table in made] or None


def shown_table(table: PaperTable, files: Collection[str] = ()) -> ShownTable:
    """A table as the page shows it: cells, columns and labels of its CSV, with heads and types in words."""
    groups = group_heads(table.plain)
    paths = ((f"tables/{table.name}.{ending}", _FORMATS[ending]) for ending in ENDINGS)
    return ShownTable(
        table.name,
        _title(table.name),
        _ABOUT[table.name],
        table.caption,
        table.heads,
        groups if any(group for group, _ in groups) else [],
        [name for _, name in table.plain.columns],
        [(_labels(table.name, row.labels), [_cell(cell) for cell in row.cells]) for row in table.plain.rows],
        table.notes,
        [(path, what) for path, what in paths if path in files],
        table.name == OPEN,
    )


def _name_of_ceat(ceat: pl.DataFrame | None) -> str:
    """Tables 5 and 6 differ in the number of draws."""
    is_table_6 = ceat is not None and set(ceat["n_samples"].drop_nulls()) == {N_OF_TABLE_6}
    return "sadhu_table6" if is_table_6 else "sadhu_table5"


def _has(method: str, table: pl.DataFrame, name: str) -> bool:
    """Whether a method's estimates stand in a table. A table without the column is refused where it is read."""
    if (name in SAHOO and method != "seat") or (name not in (OPEN, *SAHOO) and method != "ceat"):
        return False
    return "category" not in table.columns or bool(table["category"].is_in(list(SAHOO.get(name, SADHU))).any())


def _title(name: str) -> str:
    paper, _, number = name.partition("_table")
    return f"Table {number} of {PAPERS[_PAPERS[paper]]}"


def _labels(name: str, labels: Sequence[str]) -> list[str]:
    if name != PAIR_TABLE:
        return list(labels)
    return [name_of_type(label) for label in labels]


def _cell(cell: Cell) -> ShownCell:
    """The number with the minus of the page; the mark is what the CSV has."""
    text = cell.text
    mark = marked_text(cell).removeprefix(text)
    minus = f"{MINUS}{text[1:]}" if text.startswith("-") else text
    return ShownCell(minus, mark, cell.bold, cell.underlined)
