"""CSV sheets that people fill in: written for spreadsheets, and read back with file and line of every mistake."""

from __future__ import annotations

import csv
import io
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
from jinja2 import Environment, PackageLoader, StrictUndefined

from prasanga.base.errors import InputError
from prasanga.base.io import guarded, unguarded_text
from prasanga.base.yaml import read_text
from prasanga.text.words import unicode_form


def fill_instructions(sheet: str, **values: Any) -> str:
    """Return the page that goes with a sheet: `instructions/<sheet>.md.j2` with these values."""
    loader = PackageLoader("prasanga_construction", "instructions")
    pages = Environment(loader=loader, trim_blocks=True, keep_trailing_newline=True, undefined=StrictUndefined)
    return pages.get_template(f"{sheet}.md.j2").render(values)


@dataclass(frozen=True)
class SheetRow:
    """A row of a CSV file: its cells by column, without white space at the ends, and its file and line."""

    cells: Mapping[str, str]
    place: str

    def text(self, column: str) -> str:
        """Return the cell of a column that must not be empty."""
        if not self.cells.get(column):
            raise InputError(f"{self.place}: {column!r} is empty. Write a value.")
        return self.cells[column]

    def one_of(self, column: str, allowed: Collection[str], value: str | None = None) -> str:
        """Return the cell of a column (or `value`, read from it) if it is allowed."""
        found = self.cells.get(column, "") if value is None else value
        if found not in allowed:
            shown = repr(found) if found else "empty"
            raise InputError(f"{self.place}: {column!r} is {shown}. Allowed: {', '.join(filter(None, allowed))}.")
        return found

    def count(self, column: str) -> int:
        """Return the whole number in a column."""
        found = self.text(column)
        if not found.isascii() or not found.isdigit():
            raise InputError(f"{self.place}: {column!r} is {found!r}. Write a whole number, 0 or more.")
        return int(found)


def read_rows(path: str | Path, columns: Collection[str] = ()) -> list[SheetRow]:
    """Read the rows of a CSV file with a header; skip empty lines, and bring texts into NFC.

    The apostrophe that our sheets put before what looks like a formula (`prasanga.base.io`) is removed.

    Args:
        path: the file, UTF-8.
        columns: those that the file must have.

    Raises:
        InputError: no such file, not UTF-8, no header, a column that is missing or there twice, a row with more or
            fewer cells than the header.
    """
    lines = csv.reader(io.StringIO(read_text(Path(path), newline=""), newline=""))
    header: list[str] = []
    rows: list[SheetRow] = []
    begin = 1
    try:
        for raw in lines:
            place, begin = f"{path}, line {begin}", lines.line_num + 1
            cells = [unguarded_text(unicode_form("NFC", cell).strip()) for cell in raw]
            if not header and any(cells):
                header = cells
            elif any(cells) and len(cells) != len(header):
                raise InputError(
                    f"{place}: {len(cells)} cells, but the header has {len(header)} ({', '.join(header)}). Put a cell"
                    ' that has a comma in quotation marks: "...".'
                )
            elif any(cells):
                rows.append(SheetRow(dict(zip(header, cells, strict=True)), place))
    except csv.Error as error:
        raise InputError(f"{path}, line {lines.line_num}: not CSV ({error}). Save the file as CSV in UTF-8.") from None
    wrong = [name for name in columns if name not in header] or [name for name in header if header.count(name) > 1]
    if wrong or not header:
        raise InputError(
            f"{path}, line 1: the columns are {', '.join(header) or 'missing'}. Write"
            f" {', '.join(columns) or 'a header'}, each once, with commas between them."
        )
    return rows


def read_filled(
    path: str | Path, given: pl.DataFrame, fixed: Sequence[str], filled_in: Sequence[str], *, partly: bool = False
) -> Iterator[tuple[SheetRow, dict[str, Any]]]:
    """Yield each row of a sheet that was given out with the row that came back, in the order of `given`.

    Args:
        path: the sheet that came back, its rows in any order.
        given: the sheet as it was given out; its first column is the id of a row.
        fixed: the columns that annotators must leave as they are, but for blanks and NFC.
        filled_in: the columns that they write in.
        partly: whether rows may be missing.

    Raises:
        InputError: as `read_rows`; a row that is missing, unknown or there twice; a fixed cell that was changed.
    """
    key = given.columns[0]
    originals = {row[key]: row for row in given.iter_rows(named=True)}
    found: dict[str, SheetRow] = {}
    for row in read_rows(path, [key, *fixed, *filled_in]):
        name = row.cells[key]
        if name not in originals:
            raise InputError(f"{row.place}: {key!r} is {name!r}, which was not on the sheet. Restore or delete it.")
        if name in found:
            raise InputError(f"{row.place}: {key} {name!r} is there twice (first: {found[name].place}). Delete one.")
        for column in fixed:
            if not same_text(row.cells[column], originals[name][column]):
                raise InputError(
                    f"{row.place}: {column!r} is {row.cells[column]!r}, but the sheet was given out with"
                    f" {originals[name][column] or ''!r}. Restore it; changes belong in {', '.join(filled_in)}."
                )
        found[name] = row
    missing = [name for name in originals if name not in found]
    if missing and not partly:
        raise InputError(
            f"{path}: {len(missing)} of {len(originals)} rows are missing, for example {missing[0]!r}. Restore them."
        )
    return ((found[name], original) for name, original in originals.items() if name in found)


def same_text(found: str, given: str | None) -> bool:
    """Return whether a cell is as it was given out, but for what a spreadsheet may change in saving (blanks, NFC)."""
    one, other = (" ".join(unicode_form("NFC", text).split()) for text in (found, given or ""))
    return one == other


def require_once(named: Iterable[tuple[object, str]]) -> None:
    """Refuse a name that is there twice; `named` has each name with its place."""
    first: dict[object, str] = {}
    for name, place in named:
        if name in first:
            raise InputError(f"{place}: {name!r} is at {first[name]} already. Delete one of them, or rename it.")
        first[name] = place


def sheet_text(sheet: pl.DataFrame) -> str:
    """Return a sheet as CSV with the byte order mark by which spreadsheets recognize UTF-8."""
    return "\ufeff" + guarded(sheet).write_csv()


def csv_text(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a header and rows as CSV."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([header, *rows])
    return text.getvalue()
