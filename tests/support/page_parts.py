"""Sections of the page and their tables as plain text, for tests that look at what a section says."""

from __future__ import annotations

import re
from collections.abc import Iterator

from markupsafe import Markup

from prasanga.report.section import Section
from prasanga.report.sheet import Sheet


def plain(text: str) -> str:
    """Return a text as a reader sees it: of HTML without its tags."""
    return " ".join((text.striptags() if isinstance(text, Markup) else text).split())


def said_in(section: Section) -> str:
    """Return every sentence of a section and its parts, without tables."""
    texts = [section.title, *section.text, *section.findings, section.widget, *section.key]
    texts += [*section.items, *section.notes]
    texts += [text for definition in section.definitions for text in definition]
    return " ".join([*map(plain, texts), *map(said_in, section.parts)])


def sheets_of(section: Section) -> Iterator[Sheet]:
    """Yield the tables of a section and of its parts."""
    yield from section.sheets
    for part in section.parts:
        yield from sheets_of(part)


def lines_of(sheet: Sheet) -> list[list[str]]:
    """Return the texts of each row, labels first, marks behind their numbers."""
    return [[*map(plain, row.labels), *(plain(cell.text) + cell.mark for cell in row.cells)] for row in sheet.rows]


def cells_of(html: str) -> list[list[str]]:
    """Return the text of each cell of each row of the tables in HTML, tags taken away."""
    rows = re.findall(r"<tr\b.*?</tr>", html, flags=re.DOTALL)
    return [
        [Markup(cell).striptags() for cell in re.findall(r"<t[hd]\b[^>]*>(.*?)</t[hd]>", row, flags=re.DOTALL)]
        for row in rows
    ]
