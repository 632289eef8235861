"""Read the registry of columns and tables from `columns.tsv` and `tables.tsv`, one row per column or table.

A row of `columns.tsv` with a table redefines that column for that table. A name with @ in `tables.tsv` is a group of
columns.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl
import pyarrow as pa

from prasanga.base.errors import InputError
from prasanga.base.io import read_frame, read_rows

_LOSS = ("set", "word", "reason", "detail")
_TYPES: dict[str, tuple[Any, pa.DataType | None]] = {
    "text": (pl.String, pa.string()),
    "whole": (pl.Int64, pa.int64()),
    "small": (pl.Int32, pa.int32()),
    "real": (pl.Float64, pa.float64()),
    "flag": (pl.Boolean, pa.bool_()),
    "texts": (pl.List(pl.String), pa.list_(pa.string())),
    "wholes": (pl.List(pl.Int64), pa.list_(pa.int64())),
    "reals": (pl.List(pl.Float64), pa.list_(pa.float64())),
    "losses": (
        pl.List(pl.Struct(dict.fromkeys(_LOSS, pl.String))),
        pa.list_(pa.struct([(name, pa.string()) for name in _LOSS])),
    ),
    "vector": (pl.Array, None),  # its length depends on the model
}

CONVENTIONS = (
    *("std", "alternative", "statistic", "interval", "n_resamples", "resample_attributes", "n_shuffles"),
    *("n_permutations", "variance", "tau2_method", "sample_mode", "draws", "repeated_words", "pool", "n_samples"),
    *("band", "sentence_vector", "unit", "average", "vectors", "method", "forms", "pieces", "aggregation"),
    *("prior_mask", "seed"),
)
"""Columns of the choices behind an estimate, in the order in which they are shown."""

BOTH_POLARITIES = "all"
"""Polarity of the rows over positive and negative traits together."""

CHOICES = ("std", "layer", "pieces", "segment_length", "window", "pool", "sentence_vector", "average", "templates")
"""Columns of the choices that the multiverse crosses; null if a method does not have the choice."""


@dataclass(frozen=True)
class Column:
    """A column.

    Attributes:
        name: its name.
        type: of its values, a key of the types above.
        meaning: of its values, a phrase.
        unit: of its numbers: d (an effect size), cosine, nats, p, % or the counted things.
    """

    name: str
    type: str
    meaning: str
    unit: str = ""

    @property
    def dtype(self) -> Any:
        """Return the Polars type."""
        return _TYPES[self.type][0]


class Heading(NamedTuple):
    """A heading in English, Bangla and Hindi, and the number format below it."""

    en: str
    bn: str
    hi: str
    format: str = ""


@dataclass(frozen=True)
class TableSchema:
    """A table of a study.

    Attributes:
        name: its name in `TABLES`.
        row: the meaning of a row, a phrase.
        columns: in order.
        paths: its files below `results/`, the main one first; parts in angle brackets vary.
    """

    name: str
    row: str
    columns: tuple[Column, ...]
    paths: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of the columns, in order."""
        return tuple(column.name for column in self.columns)

    @property
    def polars(self) -> pl.Schema:
        """Return names and types for Polars."""
        return pl.Schema({column.name: column.dtype for column in self.columns})

    def arrow(self, nullable: Collection[str] | None = None) -> pa.Schema:
        """Return the Arrow schema; only the columns `nullable` may have nulls, by default all of them."""
        may = self.names if nullable is None else nullable
        return pa.schema(pa.field(each.name, _TYPES[each.type][1], each.name in may) for each in self.columns)

    def check(self, frame: pl.DataFrame, source: object) -> pl.DataFrame:
        """Return the table's columns of a frame, in order.

        Raises:
            InputError: a column is missing or has another type; the message begins with `source`.
        """
        remedy = f"An older version made it: make it again with the {self.paths[0].partition('/')[0]} stage."
        for column in self.columns:
            if column.name not in frame.columns:
                there = ", ".join(frame.columns) or "none"
                raise InputError(f"{source}: the column `{column.name}` is missing; it has {there}. {remedy}")
            found = frame.schema[column.name]
            if found not in (column.dtype, pl.Null):
                raise InputError(f"{source}: `{column.name}` is {found}, not {column.dtype}. {remedy}")
        return frame.select(self.names).cast({c.name: c.dtype for c in self.columns if frame.schema[c.name] == pl.Null})


_ROWS = read_rows(Path(__file__).with_name("columns.tsv"))
_EVERYWHERE, _IN_TABLE = (
    {
        (row["table"], row["name"]): Column(row["name"], row["type"], row["meaning"], row["unit"])
        for row in _ROWS
        if row["type"] and bool(row["table"]) == in_table
    }
    for in_table in (False, True)
)

COLUMNS = {name: column for (_, name), column in _EVERYWHERE.items()}
"""All columns by name."""

HEADINGS = {row["name"]: Heading(row["en"], row["bn"], row["hi"], row["format"]) for row in _ROWS if row["en"]}
"""Headings of the columns that readers see. Probabilities, counts and texts do not need a format."""


def _read_tables() -> dict[str, TableSchema]:
    groups: dict[str, list[str]] = {}
    tables = {}
    for row in read_rows(Path(__file__).with_name("tables.tsv")):
        name = row["name"]
        names = [each for listed in row["columns"].split() for each in groups.get(listed, [listed])]
        if name.startswith("@"):
            groups[name] = names
            continue
        columns = tuple(_IN_TABLE.get((name, each)) or COLUMNS[each] for each in names)
        tables[name] = TableSchema(name, row["row"], columns, tuple(row["files"].split()))
    return tables


TABLES = _read_tables()
"""All tables by name."""


def find_table(path: str | Path) -> TableSchema | None:
    """Return the table of a file below results/ by its path; None if the registry does not know it."""
    found = [
        (len(re.sub("<[^>]+>", "", known)), table)
        for table in TABLES.values()
        for known in table.paths
        if _fits(known, Path(path).as_posix())
    ]
    return max(found, key=lambda pair: pair[0])[1] if found else None


def _fits(known: str, path: str) -> bool:
    pattern = re.sub("<[^>]+>", "[^/]+", known.replace(".", r"\."))
    return (
        re.search(f"(^|results/)([a-z]{{2,3}}(-\\w+)*/)?{pattern}$", path) is not None
    )  # or of one of several languages


def read_table(path: str | Path) -> pl.DataFrame:
    """Read a Parquet table, and check its columns if the registry knows the file.

    Raises:
        InputError: the file is missing or damaged, or lacks a column.
    """
    frame, table = read_frame(path), find_table(path)
    return frame if table is None else table.check(frame, path)


# --------------------
# Why numbers are missing: words that an estimate lacks, sets that are too small, undefined effects.


class Reason(StrEnum):
    """Why a word, a set or an effect size is missing."""

    NO_CONTEXTS = "no_contexts"
    NO_COMMON_CONTEXTS = "no_common_contexts"
    NO_VECTOR = "no_vector"
    NO_SCORE = "no_score"
    PARTNER_LOST = "partner_lost"
    """The word's partner in a matched pair is lost."""
    IN_PART = "in_part"
    """The word counts, with a part of its sentences."""
    REPEATED = "repeated"
    """The word counts once, although a set lists it more often."""
    TOO_FEW_WORDS = "too_few_words"
    EQUAL_SCORES = "equal_scores"


COUNTED = {Reason.IN_PART, Reason.REPEATED}
"""Reasons of words that count nevertheless."""


class Loss(NamedTuple):
    """Something that an estimate lost.

    Attributes:
        set: name of the set; None of an effect size that does not exist.
        word: None where it is not about one word, but about why there is no effect size.
        reason: the code.
        detail: the reason in words, with its numbers.
    """

    set: str | None
    word: str | None
    reason: Reason
    detail: str

    def columns(self) -> dict[str, str | None]:
        """Return the loss as the tables have it."""
        return {"set": self.set, "word": self.word, "reason": self.reason.value, "detail": self.detail}


def loss_columns(losses: Iterable[Loss]) -> dict[str, Any]:
    """Return the columns `reason` and `lost`."""
    listed = list(losses)
    reason = next((loss.reason.value for loss in listed if loss.word is None), None)
    return {"reason": reason, "lost": [loss.columns() for loss in listed]}


def group_lost_words(
    lost: Iterable[Mapping[str, Any]] | None, *, without: Iterable[Reason] = ()
) -> dict[str, list[str]]:
    """Return the lost words by the detail of their reason; `without` has reasons that do not matter."""
    words: dict[str, list[str]] = {}
    for loss in lost or ():
        if loss["word"] is not None and loss["reason"] not in set(without):
            words.setdefault(loss["detail"], []).append(loss["word"])
    return words


def describe_missing_effect(lost: Iterable[Mapping[str, Any]] | None) -> str:
    """Return why there is no effect size; empty if nothing says it."""
    needed = [loss for loss in lost or () if loss["word"] is None]
    return "; ".join(" ".join(filter(None, (loss["set"], loss["detail"]))) for loss in needed)


def describe_losses(lost: Iterable[Mapping[str, Any]] | None) -> str:
    """Return all losses of an estimate in one line."""
    listed = list(lost or ())
    words = [f"{loss['word']}: {loss['detail']}" for loss in listed if loss["word"] is not None]
    missing = describe_missing_effect(listed)
    return "; ".join([*words, *([f"not computed: {missing}"] if missing else [])])


def join_losses(table: pl.DataFrame) -> pl.DataFrame:
    """Return a table of estimates with `lost` as one text, for CSV."""
    texts = [describe_losses(lost) for lost in table["lost"].to_list()]
    return table.with_columns(lost=pl.Series(texts, dtype=pl.String))


def join_curves(table: pl.DataFrame | pa.Table) -> pl.DataFrame:
    """Return a table of strength with its lists as texts, for CSV."""
    texts = pl.col("shifts", "shares_found").list.eval(pl.element().round(3).cast(pl.String)).list.join(" ")
    return pl.DataFrame(table).with_columns(texts)
