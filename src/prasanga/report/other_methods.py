"""What stands on the page beside CEAT: WEAT on static vectors, SEAT on templates, and how CEAT changes with length."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import polars as pl

from prasanga.report.findings import ALPHA
from prasanga.report.grid import is_number, names_of_sets, natural_order
from prasanga.report.heat import shade_of
from prasanga.report.numbers import MINUS, MISSING, plain, probability, signed

ESTIMATE_COLUMNS = (
    "effect size",
    "95 % interval over words",
    "p_stimuli",
    "Holm",
    "random twin",
    "attributes dealt anew",
    "without one word",
    "smallest effect to be found",
    "words used",
)


SEAT_TITLE = "SEAT: words in bleached sentences"
SEAT_TEXT = (
    "Vectors of sentences such as \u201cThis is a flower\u201d, which say little but the word (May et al. 2019)."
    " p_stimuli moves a word with all its sentences."
)
WEAT_TITLE = "WEAT: static vectors"
WEAT_TEXT = "One vector for each word, whatever stands around it (Caliskan et al. 2017)."
SETTLING_LABEL = "Distance of each effect from the one at the longest segment length, one panel for each category."


@dataclass(frozen=True)
class BesideCeat:
    """Tables of a study besides that of CEAT's estimates, None where a study has none.

    Attributes:
        differences: paired differences between lengths and between models.
        settling: where effects settle.
        settling_svg: the figure of it; empty for none.
        seat: estimates of SEAT.
        weat: estimates of WEAT.
    """

    differences: pl.DataFrame | None = None
    settling: pl.DataFrame | None = None
    settling_svg: str = ""
    seat: pl.DataFrame | None = None
    weat: pl.DataFrame | None = None


class EstimateRow(NamedTuple):
    """An estimate of WEAT or SEAT: where it belongs, a text for each of `ESTIMATE_COLUMNS`, and what was left out."""

    category: str
    sets: str
    model: str
    shade: str
    marked: bool
    cells: list[str]
    note: str


class SettlingRow(NamedTuple):
    """Where the effect of a category in one model stays: from which length on, how far others are, how sure that is."""

    category: str
    model: str
    mode: str
    settled: str
    distance: str
    sure: str


def estimate_rows(table: pl.DataFrame) -> list[EstimateRow]:
    """The rows of a table of WEAT or SEAT, by category and model."""
    rows = sorted(table.iter_rows(named=True), key=lambda row: natural_order(row["category"]))
    return [_estimate_row(row) for row in rows]


def settling_rows(table: pl.DataFrame) -> list[SettlingRow]:
    """The rows of the table of settling, by category and model."""
    rows = sorted(table.iter_rows(named=True), key=lambda row: natural_order(row["category"]))
    return [
        SettlingRow(
            row["category"],
            row["model"],
            row["sample_mode"],
            f"{row['settled_length']} words" if row["settled_length"] else "not before the longest",
            plain(row["largest_distance"], 2) if is_number(row["largest_distance"]) else MISSING,
            "yes" if row["sure"] else "no",
        )
        for row in rows
    ]


def findings_of_differences(differences: pl.DataFrame, settling: pl.DataFrame) -> Iterator[str]:
    """How many differences between lengths and between models are larger than chance, and where effects settle."""
    for kind, what in (("length", "between two lengths of a model"), ("model", "between two models at a length")):
        known = differences.filter((pl.col("kind") == kind) & pl.col("ci_low").is_not_null())
        if len(known):
            apart = known.filter((pl.col("ci_low") > 0) | (pl.col("ci_high") < 0))
            yield (
                f"Of {len(known)} differences {what}, {len(apart)} have a paired 95 % interval that leaves out zero;"
                f" about {0.05 * len(known):.0f} would without any difference."
            )
    if len(settling):
        settled = settling.filter(pl.col("settled_length").is_not_null())
        sure = settled.filter(pl.col("sure"))
        yield (
            f"In {len(settled)} of {len(settling)} rows of category, model and draws the effect settles before the"
            f" longest length: from there on it stays within {settling['band'][0]:g} of the last one. In {len(sure)} of"
            " them the intervals of the differences lie within that band as well, so that it is more than luck."
        )


def _estimate_row(row: dict[str, Any]) -> EstimateRow:
    sets = names_of_sets(row)
    where = (row["category"], f"{sets[0]}/{sets[1]}, {sets[2]}/{sets[3]}", row["model"])
    note = str(row["dropped"] or "")
    if not is_number(row["effect_size"]):
        return EstimateRow(*where, "missing", marked=False, cells=[MISSING] * len(ESTIMATE_COLUMNS), note=note)
    cells = [
        signed(row["effect_size"], minus=MINUS),
        _range(row, "ci_low", "ci_high"),
        probability(row["p_stimuli"]),
        probability(row["p_stimuli_holm"]),
        signed(row["twin_effect_size"], minus=MINUS) if is_number(row["twin_effect_size"]) else MISSING,
        _range(row, "shuffled_low", "shuffled_high"),
        _range(row, "leave_out_low", "leave_out_high"),
        plain(row["smallest_effect"], 2) if is_number(row["smallest_effect"]) else MISSING,
        " + ".join(str(row[f"n_{side}"]) for side in "xyab"),
    ]
    corrected = row["p_stimuli_holm"]
    marked = is_number(corrected) and corrected < ALPHA
    return EstimateRow(*where, shade_of(row["effect_size"]), marked=marked, cells=cells, note=note)


def _range(row: dict[str, Any], low: str, high: str) -> str:
    if not is_number(row[low]) or not is_number(row[high]):
        return MISSING
    return f"{signed(row[low], minus=MINUS)} to {signed(row[high], minus=MINUS)}"
