"""Tables of other stages as data frames, read as carefully as everything else.

Polars has a Parquet reader of its own. It compares no checksums: a byte that has flipped on the disk becomes another
value, or ends the process.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from prasanga.parquet import read_table


def read_frame(path: str | Path, columns: Sequence[str] | None = None) -> pl.DataFrame:
    """A Parquet file, or some of its columns, as a data frame; one that is absent or damaged is an `InputError`."""
    return pl.DataFrame(read_table(path, columns).replace_schema_metadata())
