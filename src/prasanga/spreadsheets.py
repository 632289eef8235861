"""Tables as text for who has a spreadsheet and no Parquet reader."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl
import pyarrow as pa


def to_tsv(table: pa.Table, *, for_reader: Sequence[str] = ()) -> str:
    """A table as tab-separated text that a spreadsheet opens, with empty columns `for_reader` to write in.

    A cell that a spreadsheet would take for a formula (it begins with =, +, - or @) has an apostrophe before it.
    """
    texts = pl.selectors.string()
    guarded = pl.when(texts.str.contains("^[=+@-]")).then(pl.lit("'") + texts).otherwise(texts)
    columns = {name: pl.lit(None, pl.String) for name in for_reader}
    return pl.DataFrame(table).with_columns(guarded.name.keep()).with_columns(**columns).write_csv(separator="\t")
