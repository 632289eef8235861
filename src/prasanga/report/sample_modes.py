"""Fixed against random draws on the page: how much an estimate of CEAT depends on which contexts were drawn."""

from __future__ import annotations

from statistics import median
from typing import NamedTuple

import polars as pl

from prasanga.report.grid import Estimate, grid_of, is_number
from prasanga.report.sheet import MINUS, MISSING, plain, probability, signed

MODES = ("fixed", "random")

LABEL = (
    "Effect sizes by random against fixed draws, one panel for each segment length, a point for each category and"
    " model, with the line on which both are the same. The same numbers stand in the table below."
)


class SampleModeRow(NamedTuple):
    """A category, model and length with its estimates by both modes, as texts; a dash where there is none."""

    category: str
    model: str
    length: str
    fixed: str
    random: str
    difference: str
    p_fixed: str
    p_random: str


class SampleModeSection(NamedTuple):
    """The section of the page. `median` and `largest` are of the distances; a dash where no estimate has both modes."""

    rows: list[SampleModeRow]
    n_compared: int
    median: str
    largest: str
    where: str
    n_samples: str


def sample_mode_section(ceat: pl.DataFrame) -> SampleModeSection | None:
    """The section for the table of estimates; None where one of the modes was not measured.

    Raises:
        InputError: as `grid_of`.
    """
    grid = grid_of(ceat)
    if not set(MODES) <= set(grid.modes):
        return None
    rows: list[SampleModeRow] = []
    apart: list[tuple[float, str]] = []
    for category in grid.categories:
        for model in grid.models:
            for length in grid.lengths:
                fixed, random = (grid.at(category.name, model, length, mode) for mode in MODES)
                if fixed is None and random is None:
                    continue
                first, second = _number(fixed, "effect_size"), _number(random, "effect_size")
                difference = None
                if first is not None and second is not None:
                    difference = second - first
                    apart.append((abs(difference), f"{category.name}, {model}, {length} words"))
                rows.append(
                    SampleModeRow(
                        category=category.name,
                        model=model,
                        length=length,
                        fixed=signed(first, 3, minus=MINUS),
                        random=signed(second, 3, minus=MINUS),
                        difference=signed(difference, 3, minus=MINUS),
                        p_fixed=probability(_number(fixed, "p_stimuli")),
                        p_random=probability(_number(random, "p_stimuli")),
                    )
                )
    largest, where = max(apart, default=(None, ""))
    counts = sorted({n for n in ceat["n_samples"] if n is not None}) if "n_samples" in ceat.columns else []
    return SampleModeSection(
        rows=rows,
        n_compared=len(apart),
        median=plain(median(distance for distance, _ in apart), 3) if apart else MISSING,
        largest=plain(largest, 3),
        where=where,
        n_samples=" or ".join(map(str, counts)),
    )


def _number(row: Estimate | None, name: str) -> float | None:
    """A number of an estimate, None where it has none that can be shown."""
    value = None if row is None else row.get(name)
    return float(value) if value is not None and is_number(value) else None
