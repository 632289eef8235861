"""Whether a table has the columns that a reader of it needs."""

from __future__ import annotations

from collections.abc import Iterable

import polars as pl

from prasanga.errors import InputError


def require_columns(what: str, table: pl.DataFrame, needed: Iterable[str], remedy: str) -> None:
    """Refuse a table without them, such as one that an older version made.

    Args:
        what: the table, for the message.
        table: any.
        needed: names of columns.
        remedy: what to do, in a sentence, such as `remade_by(stage)`.

    Raises:
        InputError: a column is missing.
    """
    missing = [name for name in needed if name not in table.columns]
    if missing:
        there = ", ".join(table.columns) or "none"
        raise InputError(f"{what}: the table has no column {', '.join(missing)}; it has {there}. {remedy}")


def remade_by(stage: str) -> str:
    """What to do with a table that a stage of the workflow makes."""
    return f"Make it again with the {stage} stage."
