"""CSV files that people fill in: read so that every complaint can name file, line, value and what is allowed."""

from __future__ import annotations

import csv
import io
import unicodedata
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from prasanga.errors import InputError
from prasanga.spreadsheets import unguarded_text

_DIGITS = 18  # of a number that 64 bits hold in any case


@dataclass(frozen=True)
class Row:
    """A row of a CSV file: its cells by column, without white space at the ends, and where it stands."""

    cells: Mapping[str, str]
    place: str

    def text(self, column: str) -> str:
        """What stands in a column that must not be empty."""
        if not self.cells.get(column):
            raise InputError(f"{self.place}: {column!r} is empty. Write a value.")
        return self.cells[column]

    def one_of(self, column: str, allowed: Collection[str], value: str | None = None) -> str:
        """What stands in a column (or `value`, read from it) if it is allowed."""
        found = self.cells.get(column, "") if value is None else value
        if found not in allowed:
            shown = repr(found) if found else "empty"
            raise InputError(f"{self.place}: {column!r} is {shown}. Allowed: {', '.join(allowed)}. Write one of these.")
        return found

    def count(self, column: str) -> int:
        """A whole number from 0 on."""
        found = self.text(column)
        if not found.isascii() or not found.isdigit() or len(found) > _DIGITS:
            raise InputError(f"{self.place}: {column!r} is {found!r}. Write a whole number, 0 or more.")
        return int(found)


def read_rows(path: str | Path, *, what: str, may_be_empty: bool = False) -> list[Row]:
    """The rows of a CSV file with a header; empty lines are skipped, texts brought into NFC.

    An apostrophe that a sheet of ours had before what looks like a formula (`prasanga.spreadsheets`) is taken away.

    Args:
        path: the file, UTF-8; a byte order mark, which spreadsheets write, is no part of the first column's name.
        what: that the file should hold, for messages.
        may_be_empty: whether a header alone will do.

    Raises:
        InputError: no such file, not UTF-8, no rows, columns that are not separated by commas, a column that stands
            twice, a row with more or fewer cells than the header.
    """
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise InputError(f"{path}: no such file, but {what} should be read from it. Check the path.") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 at byte {error.start}. Save the file as CSV in UTF-8.") from None
    lines = csv.reader(io.StringIO(text, newline=""))
    header: list[str] = []
    rows = []
    begin = 1
    try:
        for cells in lines:
            place, begin = f"{path}, line {begin}", lines.line_num + 1
            cells = [unguarded_text(unicodedata.normalize("NFC", cell).strip()) for cell in cells]
            if not any(cells):
                continue
            if not header:
                header = _header(path, cells)
                continue
            if len(cells) != len(header):
                raise InputError(
                    f"{place}: {len(cells)} cells, but the header has {len(header)} ({', '.join(header)}). A cell"
                    ' with a comma in it must stand in quotation marks: "...".'
                )
            rows.append(Row(dict(zip(header, cells, strict=True)), place))
    except csv.Error as error:
        raise InputError(f"{path}, line {lines.line_num}: not CSV ({error}). Save the file as CSV in UTF-8.") from None
    if not rows and not (header and may_be_empty):
        raise InputError(f"{path}: holds no {what}. Write a header and at least one row.")
    return rows


def _header(path: Path, cells: list[str]) -> list[str]:
    for mark, name in ((";", "semicolons"), ("\t", "tabs")):
        if len(cells) == 1 and mark in cells[0]:
            raise InputError(f"{path}, line 1: the columns are separated by {name}. Save the file as CSV with commas.")
    repeated = sorted({name for name in cells if cells.count(name) > 1})
    if repeated:
        raise InputError(f"{path}, line 1: the column {repeated[0]!r} stands twice. Delete one of them, or name it.")
    return cells
