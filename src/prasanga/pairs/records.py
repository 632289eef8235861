"""Opening a file of pairs: CSV records and JSON, with errors that say where."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from prasanga.errors import InputError, reason


@dataclass(frozen=True)
class Records:
    """A CSV file: its columns, and the cells of each record after the header; record 1 is the first."""

    columns: tuple[str, ...]
    cells: tuple[Mapping[str, str], ...]


def read_csv(path: Path) -> Records:
    """All records of a CSV file (UTF-8, with or without byte-order mark); cells may hold line breaks.

    Raises:
        InputError: for a file that is missing, empty, not UTF-8 or no CSV, a column named twice, or a record with more
            or fewer cells than columns.
    """
    reader = csv.reader(io.StringIO(_text(path), newline=""), strict=True)
    try:
        rows = [row for row in reader if row]
    except csv.Error as error:
        raise InputError(
            f"{path}, line {reader.line_num}: no CSV ({error}). Put a cell that holds a comma or a line break between"
            ' double quotes, and write a double quote inside it twice: "".'
        ) from error
    columns, *rest = rows or [[]]
    _check_header(path, columns)
    for number, row in enumerate(rest, start=1):
        if len(row) != len(columns):
            raise InputError(
                f"{path}, record {number}: {len(row)} cells, but the header names {len(columns)} columns"
                f" ({', '.join(columns)}). A sentence with a comma stands between double quotes."
            )
    return Records(tuple(columns), tuple(dict(zip(columns, row, strict=True)) for row in rest))


def read_json(path: Path) -> Any:
    """A JSON file; one that is missing, not UTF-8, no JSON, or has half of a character in it is an `InputError`."""
    text = _text(path)
    try:
        content = json.loads(text)
        if "\\u" in text:
            json.dumps(content, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        around = error.object[max(0, error.start - 40) : error.start + 1]
        raise InputError(
            f"{path}: half of a character (an escape from \\ud800 to \\udfff without its partner) at the end of"
            f" {around!r}. Write the character itself."
        ) from None
    except json.JSONDecodeError as error:
        raise InputError(f"{path}, line {error.lineno}, column {error.colno}: no JSON ({error.msg}).") from error
    except (RecursionError, ValueError) as error:  # brackets without end, a number of thousands of digits
        raise InputError(
            f"{path}: JSON that cannot be read ({reason(error)}), and no file of pairs. A mapping or a list is"
            " expected."
        ) from None
    return content


def _text(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        raise InputError(f"{path}: no such file. Give the path of a file of pairs (docs/pairs.md).") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}). Give the path of a file of pairs.") from error
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise InputError(
            f"{path}, line {line}: not UTF-8 (byte {error.object[error.start]:#04x}). Save the file as UTF-8."
        ) from error


def _check_header(path: Path, columns: list[str]) -> None:
    if not columns:
        raise InputError(f"{path}: the file is empty. Write a header and at least one pair (docs/pairs.md).")
    twice = sorted({column for column in columns if columns.count(column) > 1})
    if twice:
        raise InputError(f"{path}: column {twice[0]!r} is there more than once. Give each column a name of its own.")
