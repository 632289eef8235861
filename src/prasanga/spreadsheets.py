"""Tables as text for who has a spreadsheet and no Parquet reader.

Spreadsheets take a cell that begins like a formula for one, and a formula can fetch a page or start a program. Texts of
a corpus, of pairs or of word lists may begin so; such a cell has an apostrophe before it, which spreadsheets do not
show. Numbers in writing are left, and so is every column of numbers.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import polars as pl
import pyarrow as pa

# A sign that begins a formula, in its wide shape too, perhaps behind white space; but not a number with its sign.
_FORMULA = r"^\s*[=+\-@＝＋－＠]"
_NUMBER = r"^[+-]?[0-9][0-9.,eE+-]*%?$"
_GUARDED = re.compile(r"'\s*[=+\-@＝＋－＠]")


def to_tsv(table: pa.Table, *, for_reader: Sequence[str] = ()) -> str:
    """A table as tab-separated text that a spreadsheet opens, with empty columns `for_reader` to write in.

    A cell of text that a spreadsheet would take for a formula has an apostrophe before it.
    """
    columns = {name: pl.lit(None, pl.String) for name in for_reader}
    return guarded(pl.DataFrame(table)).with_columns(**columns).write_csv(separator="\t")


def guarded(table: pl.DataFrame) -> pl.DataFrame:
    """A table with an apostrophe before each text that a spreadsheet would take for a formula."""
    texts = pl.selectors.string()
    formula = texts.str.contains(_FORMULA) & ~texts.str.contains(_NUMBER)
    return table.with_columns(pl.when(formula).then(pl.lit("'") + texts).otherwise(texts).name.keep())


def guarded_text(text: str) -> str:
    """A text with an apostrophe before it, if a spreadsheet would take it for a formula."""
    return f"'{text}" if re.match(_FORMULA, text) and not re.match(_NUMBER, text) else text


def unguarded_text(text: str) -> str:
    """A cell as it was before `guarded_text`, for sheets that come back from people."""
    return text[1:] if _GUARDED.match(text) else text
