"""What the tables of sentence structures say, in sentences and counts, for page, cards and summary."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from prasanga.base.parquet import remade_by, require_columns
from prasanga.report.sheet import plain

QUANTITIES = ("prior", "corrected", "fill")
"""What is measured of traits, in this order: language's own bias, what the trait adds, and both together."""

ALL = "all"
"""Name of the rows over both polarities."""

SPREAD_COLUMNS = (
    *("model", "polarity", "structure", "quantity", "n", "n_left_out", "mean_words", "mean", "mean_low", "mean_high"),
    *("sd", "min", "q25", "median", "q75", "max", "mean_size", "twin_mean", "twin_sd", "pieces", "terms"),
)
"""The columns without which a table of spreads says nothing."""

DIFFERENCE_COLUMNS = (
    *("model", "polarity", "quantity", "structure_1", "structure_2", "n", "sd_1", "sd_2"),
    *("ratio", "ratio_low", "ratio_high", "difference", "difference_low", "difference_high", "note"),
)
"""The same of a table of structures compared."""


def findings_of_structures(spread: pl.DataFrame, differences: pl.DataFrame) -> Iterator[str]:
    """Yield for each model where associations spread most and least, and how many differences are no chance.

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
            known = of_model.filter(pl.col("sd") > 0, polarity=polarity, quantity=quantity).sort("sd")
            if len(known) > 1:
                least, most = known.row(0, named=True), known.row(-1, named=True)
                said.append(
                    f"{quantity} associations spread least in {least['structure']} (standard deviation"
                    f" {plain(least['sd'], 2)}) and most in {most['structure']} ({plain(most['sd'], 2)})"
                )
        if not said:
            continue
        compared, apart = comparisons_of_model(of_model, differences)
        more = (
            f" Of {compared} comparisons of two structures, the spreads differ by more than chance in {apart} (paired"
            " 95 % intervals)."
        )
        yield f"Log-probability bias of traits, {model}: {'; '.join(said)}.{more if compared else ''}"


def comparisons_of_model(of_model: pl.DataFrame, differences: pl.DataFrame) -> tuple[int, int]:
    """Return how many pairs of structures of a model have an interval, and in how many the spreads differ.

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
    """Return how many traits have a score, and how many were asked for, each counted for every model and structure."""
    # every polarity has its traits; a row over all of them counts them again
    of_one = spread.filter((pl.col("quantity") == "fill") & (pl.col("polarity") != ALL))
    scored = int(of_one["n"].sum())
    return scored, scored + int(of_one["n_left_out"].sum())


def _polarity_of(of_model: pl.DataFrame) -> str:
    """Return the polarity that findings are of: all traits where there is more than one."""
    return ALL if ALL in set(of_model["polarity"]) else str(of_model["polarity"][0])
