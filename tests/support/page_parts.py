"""Sections of the page and their tables as plain text, for tests that look at what a section says."""

from __future__ import annotations

import re
from collections.abc import Iterator

from markupsafe import Markup

from prasanga.report.section import Section
from prasanga.report.sheet import MISSING, Row, Sheet


def plain(text: str) -> str:
    """Return a text as a reader sees it: of HTML without its tags."""
    return " ".join((text.striptags() if isinstance(text, Markup) else text).split())


def said_in(section: Section) -> str:
    """Return every sentence of a section and its parts, without tables."""
    texts = [section.title, *section.text, *section.findings, section.widget, *section.items, *section.notes]
    texts += [text for definition in section.definitions for text in definition]
    return " ".join([*map(plain, texts), *map(said_in, section.parts)])


def sheets_of(section: Section) -> Iterator[Sheet]:
    """Yield the tables of a section and of its parts."""
    yield from section.sheets
    for part in section.parts:
        yield from sheets_of(part)


def sheet_of(section: Section | None, caption: str) -> Sheet:
    """Return the table of a section whose caption begins so; there must be one alone."""
    assert section is not None
    (sheet,) = [sheet for sheet in sheets_of(section) if plain(sheet.caption).startswith(caption)]
    return sheet


def part_of(section: Section | None, title: str) -> Section:
    """Return the part of a section whose title begins so; there must be one alone."""
    assert section is not None
    (part,) = [part for part in section.parts if plain(part.title).startswith(title)]
    return part


def names_of(sheet: Sheet) -> list[str]:
    """Return the heads of a table's columns."""
    return [plain(name) for _, name in sheet.columns]


def lines_of(sheet: Sheet) -> list[list[str]]:
    """Return the texts of each row, labels first, marks behind their numbers."""
    return [[*map(plain, row.labels), *(plain(cell.text) + cell.mark for cell in row.cells)] for row in sheet.rows]


def numbers_of(sheet: Sheet, row: Row | None = None) -> dict[str, str]:
    """Return the cells of a row, by default of the only one, by the heads of their columns."""
    if row is None:
        (row,) = sheet.rows
    return dict(zip(names_of(sheet), (plain(cell.text) for cell in row.cells), strict=True))


def missing_in(numbers: dict[str, str]) -> set[str]:
    """Return the heads of the cells without a number."""
    return {name for name, text in numbers.items() if text == MISSING}


def cells_of(html: str) -> list[list[str]]:
    """Return the text of each cell of each row of the tables in HTML, tags taken away."""
    rows = re.findall(r"<tr\b.*?</tr>", html, flags=re.DOTALL)
    return [
        [Markup(cell).striptags() for cell in re.findall(r"<t[hd]\b[^>]*>(.*?)</t[hd]>", row, flags=re.DOTALL)]
        for row in rows
    ]
