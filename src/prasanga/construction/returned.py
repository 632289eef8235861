"""Sheets of pairs that came back: each row set against the pair that it was given out for."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from typing import Any

import polars as pl

from prasanga.construction.tables import Row
from prasanga.errors import InputError


def rows_of_pairs(
    rows: Sequence[Row], given: pl.DataFrame, columns: Sequence[str], *, partly: bool = False
) -> Iterator[tuple[Row, dict[str, Any]]]:
    """The row of each pair with what was given out for it, in the order of `given`; rows may come back in another one.

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
    """Whether a cell holds what was given out, but for what a spreadsheet may change in saving (blanks, NFC)."""
    return _plain(found) == _plain(given or "")


def _plain(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).split())
