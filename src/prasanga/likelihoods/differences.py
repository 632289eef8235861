"""The differences of scores of a study's sentence pairs in one table (`prasanga.pairs.preferences`)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import polars as pl

from prasanga.pairs.preferences import add_differences
from prasanga.parquet import read_table

DIFFERENCES_SCHEMA: Mapping[str, type[pl.DataType]] = {
    **dict.fromkeys(("set", "model", "language", "bias_type", "pair_id", "label"), pl.String),
    "random_twin": pl.Boolean,
    "difference": pl.Float64,
    **dict.fromkeys(("preference", "left_out"), pl.String),
}
"""Columns of the table of differences, a row for each pair, model and twin."""


def read_scores(paths: Iterable[str | Path]) -> pl.DataFrame:
    """Tables of scores as one; the set of pairs is the folder that a file lies in.

    Raises:
        InputError: a file is not there, or is damaged.
    """
    tables = []
    for path in paths:
        table = pl.from_arrow(read_table(path))
        assert isinstance(table, pl.DataFrame)
        tables.append(table.with_columns(set=pl.lit(Path(path).parent.name)))
    # a column that is null throughout has no type of its own
    return pl.concat(tables, how="diagonal_relaxed")


def pair_differences(scores: pl.DataFrame, twins: Mapping[str, pl.DataFrame] | None = None) -> pl.DataFrame:
    """The differences of a study in one table, for its figures.

    Args:
        scores: as for `add_differences`, with the columns set and model where there are several.
        twins: scores of the twin with random weights of a model, by the model's name.

    Returns:
        Columns `DIFFERENCES_SCHEMA`, the models' rows before those of twins, which have the name of their model.

    Raises:
        InputError: as `add_differences`.
    """
    tables = [(scores, False), *((table.with_columns(model=pl.lit(model)), True) for model, table in _named(twins))]
    parts = []
    for table, is_twin in tables:
        added = add_differences(table)
        nothing = [pl.lit(None, pl.String).alias(name) for name in ("set", "model") if name not in added.columns]
        parts.append(added.with_columns(*nothing, random_twin=pl.lit(is_twin)).select(*DIFFERENCES_SCHEMA))
    return pl.concat([part.cast(pl.Schema(DIFFERENCES_SCHEMA)) for part in parts])


def _named(twins: Mapping[str, pl.DataFrame] | None) -> Iterable[tuple[str, pl.DataFrame]]:
    return (twins or {}).items()
