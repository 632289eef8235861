"""CSV sheets that people fill in: written for spreadsheets, and read back with every slip told by file and line."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
from jinja2 import Environment, PackageLoader, StrictUndefined

from prasanga.base.errors import InputError
from prasanga.base.io import guarded, unguarded_text
from prasanga.text.words import unicode_form

_DIGITS = 18  # of a number that 64 bits hold in any case


def fill_instructions(sheet: str, **values: Any) -> str:
    """Return the page that goes with a sheet, from `instructions/<sheet>.md.j2`, with these values in it."""
    loader = PackageLoader("prasanga_construction", "instructions")
    pages = Environment(loader=loader, trim_blocks=True, keep_trailing_newline=True, undefined=StrictUndefined)
    return pages.get_template(f"{sheet}.md.j2").render(values)


@dataclass(frozen=True)
class Row:
    """A row of a CSV file: its cells by column, without white space at the ends, and where it stands."""

    cells: Mapping[str, str]
    place: str

    def text(self, column: str) -> str:
        """Return what stands in a column that must not be empty."""
        if not self.cells.get(column):
            raise InputError(f"{self.place}: {column!r} is empty. Write a value.")
        return self.cells[column]

    def one_of(self, column: str, allowed: Collection[str], value: str | None = None) -> str:
        """Return what stands in a column (or `value`, read from it) if it is allowed."""
        found = self.cells.get(column, "") if value is None else value
        if found not in allowed:
            shown = repr(found) if found else "empty"
            raise InputError(f"{self.place}: {column!r} is {shown}. Allowed: {', '.join(allowed)}. Write one of these.")
        return found

    def count(self, column: str) -> int:
        """Return a whole number from 0 on."""
        found = self.text(column)
        if not found.isascii() or not found.isdigit() or len(found) > _DIGITS:
            raise InputError(f"{self.place}: {column!r} is {found!r}. Write a whole number, 0 or more.")
        return int(found)


def read_rows(path: str | Path, *, what: str, may_be_empty: bool = False) -> list[Row]:
    """Read the rows of a CSV file with a header; skip empty lines, and bring texts into NFC.

    An apostrophe that a sheet of ours had before what looks like a formula (`prasanga.base.io`) is taken away.

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
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}). Give a CSV file that you may read.") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 at byte {error.start}. Save the file as CSV in UTF-8.") from None
    lines = csv.reader(io.StringIO(text, newline=""))
    header: list[str] = []
    rows = []
    begin = 1
    try:
        for cells in lines:
            place, begin = f"{path}, line {begin}", lines.line_num + 1
            cells = [unguarded_text(unicode_form("NFC", cell).strip()) for cell in cells]
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


def require_columns(path: str | Path, rows: Sequence[Row], columns: Iterable[str], advice: str) -> None:
    """Refuse rows of a file without one of `columns`.

    Raises:
        InputError: with the file, the column, the columns that there are, and `advice`.
    """
    for row in rows[:1]:
        for column in columns:
            if column not in row.cells:
                raise InputError(f"{path}, line 1: no column {column!r}; there are {', '.join(row.cells)}. {advice}")


def rows_of_pairs(
    rows: Sequence[Row], given: pl.DataFrame, columns: Sequence[str], *, partly: bool = False
) -> Iterator[tuple[Row, dict[str, Any]]]:
    """Yield the row of each pair with what was given out for it, in the order of `given`, whatever that of the rows.

    Args:
        rows: of a sheet that was filled in.
        given: the sheet as it was given out, `pair_id` in each row.
        columns: that the sheet must have besides.
        partly: whether pairs may be missing.

    Raises:
        InputError: a column that is missing; a pair that is missing, was not on the sheet, or stands there twice.
    """
    found: dict[str, Row] = {}
    known = set(given["pair_id"])
    for row in rows:
        absent = [name for name in ("pair_id", *columns) if name not in row.cells]
        if absent:
            raise InputError(
                f"{row.place}: the sheet has no column {absent[0]!r}, only {', '.join(row.cells)}. Restore it as it was"
                " given out."
            )
        pair_id = row.cells["pair_id"]
        if pair_id not in known:
            raise InputError(
                f"{row.place}: 'pair_id' is {pair_id!r}, which was not on the sheet. Restore it, or delete the row."
            )
        if pair_id in found:
            raise InputError(f"{row.place}: pair {pair_id} stands twice (first: {found[pair_id].place}). Delete one.")
        found[pair_id] = row
    missing = [pair_id for pair_id in given["pair_id"] if pair_id not in found]
    if missing and not partly:
        raise InputError(
            f"{rows[0].place.rpartition(', line')[0]}: {len(missing)} of {given.height} pairs are missing, for example"
            f" {missing[0]}. Restore their rows; nothing is left out in silence."
        )
    for of_pair in given.iter_rows(named=True):
        if of_pair["pair_id"] in found:
            yield found[of_pair["pair_id"]], of_pair


def same_text(found: str, given: str | None) -> bool:
    """Tell whether a cell holds what was given out, but for what a spreadsheet may change in saving (blanks, NFC)."""
    return _plain(found) == _plain(given or "")


def require_unchanged(row: Row, given: Mapping[str, Any], column: str, advice: str) -> None:
    """Refuse a cell that was changed since the sheet was given out.

    Raises:
        InputError: with what stands there, what was given out, and `advice` on where changes belong.
    """
    if not same_text(row.cells[column], given[column]):
        raise InputError(
            f"{row.place}: {column!r} is {row.cells[column]!r}, but the sheet was given out with"
            f" {given[column] or ''!r}. Restore it; {advice}"
        )


def sheet_text(sheet: pl.DataFrame) -> str:
    """Return a sheet as CSV with the byte order mark by which spreadsheets know that it is UTF-8."""
    return "\ufeff" + guarded(sheet).write_csv()


def csv_text(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a header and rows as CSV."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([header, *rows])
    return text.getvalue()


def _header(path: Path, cells: list[str]) -> list[str]:
    for mark, name in ((";", "semicolons"), ("\t", "tabs")):
        if len(cells) == 1 and mark in cells[0]:
            raise InputError(f"{path}, line 1: the columns are separated by {name}. Save the file as CSV with commas.")
    repeated = sorted(name for name, count in Counter(cells).items() if count > 1)
    if repeated:
        raise InputError(f"{path}, line 1: the column {repeated[0]!r} stands twice. Delete one of them, or name it.")
    return cells


def _plain(text: str) -> str:
    return " ".join(unicode_form("NFC", text).split())
