"""Sentence structures on the page: how log-probability bias spreads over the traits in each, and what context does."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import polars as pl

from prasanga.columns import remade_by, require_columns
from prasanga.report.grid import Estimate, is_number
from prasanga.report.sheet import MINUS, MISSING, plain, signed

QUANTITIES = ("prior", "corrected", "fill")
"""What the tables show, in this order: language's own bias, what the trait adds, and both together."""

ALL = "all"
"""Name of the rows over both polarities."""

LABEL = (
    "Boxes of associations by sentence structure, one panel for each model: prior and corrected, positive and negative"
    " traits. The same numbers stand in the table below."
)

_POLARITIES = ("positive", "negative", ALL)
SPREAD_COLUMNS = (
    *("model", "polarity", "structure", "quantity", "n", "n_left_out", "mean_words", "mean", "mean_low", "mean_high"),
    *("sd", "min", "q25", "median", "q75", "max", "mean_size", "twin_mean", "twin_sd", "pieces", "terms"),
)
"""The columns of the table of spreads without which there is no section."""
DIFFERENCE_COLUMNS = (
    *("model", "polarity", "quantity", "structure_1", "structure_2", "n", "sd_1", "sd_2"),
    *("ratio", "ratio_low", "ratio_high", "difference", "difference_low", "difference_high", "note"),
)
"""The same of the table of structures compared."""


class SpreadRow(NamedTuple):
    """A structure: a text for each number of `Section.columns`."""

    structure: str
    cells: list[str]


class SpreadBlock(NamedTuple):
    """One model, polarity and quantity: its structures."""

    model: str
    polarity: str
    quantity: str
    rows: list[SpreadRow]


class StructureDifference(NamedTuple):
    """Two structures of a model compared."""

    model: str
    polarity: str
    quantity: str
    structures: str
    n: str
    ratio: str
    difference: str
    apart: bool
    note: str


class StructureSection(NamedTuple):
    """The section of the page."""

    models: list[str]
    structures: list[str]
    n_traits: int
    blocks: list[SpreadBlock]
    differences: list[StructureDifference]
    left_out: list[str]
    conventions: list[str]
    has_twins: bool


COLUMNS = (
    "traits",
    "words",
    "mean",
    "95 % interval",
    "standard deviation",
    "quartiles",
    "smallest",
    "largest",
    "distance from 0",
    "random twin, deviation",
)
"""Heads of the numbers of a structure."""


def structure_section(spread: pl.DataFrame, differences: pl.DataFrame) -> StructureSection:
    """The section for the tables of spreads and of structures compared.

    Raises:
        InputError: a column is missing.
    """
    require_columns("spread by structure", spread, SPREAD_COLUMNS, remade_by("likelihoods"))
    require_columns("structures compared", differences, DIFFERENCE_COLUMNS, remade_by("likelihoods"))
    models = spread["model"].unique(maintain_order=True).to_list()
    polarities = [name for name in _POLARITIES if name in set(spread["polarity"])]
    rows = list(spread.iter_rows(named=True))
    blocks = [
        SpreadBlock(model, polarity, quantity, found)
        for model in models
        for polarity in polarities
        for quantity in QUANTITIES
        if (found := [_spread_row(row) for row in rows if _is(row, model, polarity, quantity)])
    ]
    whole = [row for row in rows if row["quantity"] == "fill" and row["polarity"] != ALL]
    return StructureSection(
        models,
        sorted(set(spread["structure"])),
        max((row["n"] + row["n_left_out"] for row in rows), default=0),
        blocks,
        [_difference(row) for row in differences.iter_rows(named=True) if row["quantity"] in QUANTITIES[:2]],
        [
            f"{row['model']}, {row['structure']}, {row['polarity']}: {row['n_left_out']} of"
            f" {row['n'] + row['n_left_out']} traits without a score"
            for row in whole
            if row["n_left_out"]
        ],
        list(dict.fromkeys(f"pieces {row['pieces']}, terms {row['terms']}" for row in rows)),
        any(is_number(row["twin_sd"]) for row in rows),
    )


def findings_of_structures(spread: pl.DataFrame, differences: pl.DataFrame) -> Iterator[str]:
    """For each model where associations spread most and least, and how many differences are more than chance.

    Raises:
        InputError: a column is missing.
    """
    require_columns("spread by structure", spread, SPREAD_COLUMNS, remade_by("likelihoods"))
    require_columns("structures compared", differences, DIFFERENCE_COLUMNS, remade_by("likelihoods"))
    for model in spread["model"].unique(maintain_order=True):
        of_model = spread.filter(pl.col("model") == model)
        polarity = _polarity_of(of_model)
        said = []
        for quantity in QUANTITIES[:2]:
            known = of_model.filter(
                (pl.col("polarity") == polarity) & (pl.col("quantity") == quantity) & (pl.col("sd") > 0)
            ).sort("sd")
            if len(known) > 1:
                least, most = known.row(0, named=True), known.row(-1, named=True)
                said.append(
                    f"{quantity} associations spread least in {least['structure']} (standard deviation"
                    f" {plain(least['sd'], 2)}) and most in {most['structure']} ({plain(most['sd'], 2)})"
                )
        if not said:
            continue
        compared, apart = comparisons_of_model(of_model, differences)
        more = ""
        if compared:
            more = (
                f" Of {compared} comparisons of two structures, the spreads differ by more than chance in"
                f" {apart} (paired 95 % intervals)."
            )
        yield f"Log-probability bias of traits, {model}: {'; '.join(said)}.{more}"


def comparisons_of_model(of_model: pl.DataFrame, differences: pl.DataFrame) -> tuple[int, int]:
    """How many comparisons of two structures of a model have an interval, and in how many of them the spreads differ.

    Those of prior and corrected associations over all traits: the same traits by polarity would count twice.

    Args:
        of_model: the rows of one model in the table of spreads; at least one.
        differences: structures compared, of any models.
    """
    compared = differences.filter(
        (pl.col("model") == of_model["model"][0])
        & (pl.col("polarity") == _polarity_of(of_model))
        & pl.col("quantity").is_in(QUANTITIES[:2])
        & pl.col("ratio_low").is_finite()
        & pl.col("ratio_high").is_finite()
    )
    return len(compared), len(compared.filter((pl.col("ratio_low") > 1) | (pl.col("ratio_high") < 1)))


def scored_traits(spread: pl.DataFrame) -> tuple[int, int]:
    """How many traits have a score, and how many were asked for, each counted for every model and structure."""
    # every polarity has its traits; a row over all of them counts them again
    of_one = spread.filter((pl.col("quantity") == "fill") & (pl.col("polarity") != ALL))
    scored = int(of_one["n"].sum())
    return scored, scored + int(of_one["n_left_out"].sum())


def _polarity_of(of_model: pl.DataFrame) -> str:
    """The polarity that findings are of: all traits where there is more than one."""
    return ALL if ALL in set(of_model["polarity"]) else str(of_model["polarity"][0])


def _is(row: Estimate, model: str, polarity: str, quantity: str) -> bool:
    return (row["model"], row["polarity"], row["quantity"]) == (model, polarity, quantity)


def _spread_row(row: Estimate) -> SpreadRow:
    return SpreadRow(
        row["structure"],
        [
            str(row["n"]),
            plain(row["mean_words"], 1),
            signed(row["mean"], 2, minus=MINUS),
            _interval(row, "mean_low", "mean_high", signs=True),
            plain(row["sd"], 2),
            _interval(row, "q25", "q75", signs=True),
            signed(row["min"], 2, minus=MINUS),
            signed(row["max"], 2, minus=MINUS),
            plain(row["mean_size"], 2),
            plain(row["twin_sd"], 2),
        ],
    )


def _difference(row: dict[str, Any]) -> StructureDifference:
    ratio, difference = plain(row["ratio"], 2), signed(row["difference"], 2, minus=MINUS)
    low, high = row["ratio_low"], row["ratio_high"]
    known = is_number(low) and is_number(high)
    return StructureDifference(
        row["model"],
        row["polarity"],
        row["quantity"],
        f"{row['structure_2']} / {row['structure_1']}",
        str(row["n"]),
        f"{ratio} ({_interval(row, 'ratio_low', 'ratio_high')})" if known else ratio,
        f"{difference} ({_interval(row, 'difference_low', 'difference_high', signs=True)})" if known else difference,
        known and (low > 1 or high < 1),
        row["note"] or "",
    )


def _interval(row: Estimate, low: str, high: str, *, signs: bool = False) -> str:
    ends = row[low], row[high]
    if not all(map(is_number, ends)):
        return MISSING
    texts = [signed(end, 2, minus=MINUS) if signs else plain(end, 2) for end in ends]
    return f"{texts[0]} to {texts[1]}"
