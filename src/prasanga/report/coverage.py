"""What the page says of coverage: how many contexts each length has, which stimuli are thin, and which are missing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import polars as pl

from prasanga.report.grid import sort_lengths

REASONS = {
    "no-occurrence": "does not occur in the corpus",
    "no-context-long-enough": "occurs, but in no context long enough",
    "no-context-for-all-lengths": "occurs, but in no context long enough for all lengths of the pool",
    "target-too-long": "occurs, but its forms have more words than the segment",
}
"""Why a stimulus has no contexts, by the words of the table."""
THINNEST = 12
"""So many stimuli with the fewest contexts are listed."""


class LengthCoverage(NamedTuple):
    """One segment length: stimuli, those with contexts, contexts drawn in all, and least and median per stimulus.

    `short` are the stimuli with fewer contexts than the study's minimum, `from_supplement` the contexts drawn that
    stand in the supplement alone; None where the table does not say.
    """

    length: str
    stimuli: int
    sampled_stimuli: int
    contexts: int
    least: int
    median: float
    short: int | None
    from_supplement: int | None


class Cell(NamedTuple):
    """One stimulus at one length: contexts kept of those possible, how many are the supplement's, whether too few.

    `left_out` are the models that have no vector for some of the contexts kept, each with their number.
    """

    sampled: int
    eligible: int
    from_supplement: int
    short: bool
    left_out: Mapping[str, int]


class StimulusCoverage(NamedTuple):
    """A stimulus with its gloss, its occurrences and contexts, and what it has at each length.

    `copies` are contexts with the text of another one; None where the table does not say.
    """

    stimulus: str
    gloss: str
    occurrences: int
    contexts: int
    copies: int | None
    cells: list[Cell]


class Missing(NamedTuple):
    """A stimulus without contexts at some lengths."""

    stimulus: str
    gloss: str
    lengths: str
    reason: str


class Coverage(NamedTuple):
    """What the page shows of coverage."""

    lengths: list[LengthCoverage]
    stimuli: list[StimulusCoverage]
    thinnest: list[StimulusCoverage]
    missing: list[Missing]


def summarize(
    coverage: pl.DataFrame,
    glosses: Mapping[str, str],
    left_out: Mapping[tuple[str, str], Mapping[str, int]] | None = None,
) -> Coverage:
    """Summarize the coverage table (one row per stimulus and segment length).

    `left_out` are the contexts without a vector by (stimulus, segment length) and model, if any is known.
    `thinnest` are the stimuli with the fewest contexts at their worst length, the thinnest first; those that have none
    at any length stand in `missing` alone.
    """
    lengths = sort_lengths(coverage["segment_length"].to_list())
    rows_of: dict[str, dict[str, dict[str, Any]]] = {}
    missing: dict[tuple[str, str], list[str]] = {}
    for row in coverage.sort("stimulus").iter_rows(named=True):
        rows_of.setdefault(row["stimulus"], {})[row["segment_length"]] = row
        if row["sampled"] == 0:
            missing.setdefault((row["stimulus"], row["reason"]), []).append(row["segment_length"])
    stimuli = [_of_stimulus(rows, lengths, glosses, left_out or {}) for rows in rows_of.values()]
    found = [stimulus for stimulus in stimuli if any(cell.sampled for cell in stimulus.cells)]
    thinnest = sorted(found, key=lambda each: (min(cell.sampled for cell in each.cells), each.stimulus))
    return Coverage(
        [_of_length(coverage.filter(pl.col("segment_length") == length), length) for length in lengths],
        stimuli,
        thinnest[:THINNEST],
        [
            Missing(
                stimulus,
                glosses.get(stimulus, ""),
                "all lengths" if len(where) == len(lengths) else ", ".join(sort_lengths(where)),
                REASONS.get(reason, reason),
            )
            for (stimulus, reason), where in missing.items()
        ],
    )


def _of_stimulus(
    rows: Mapping[str, Mapping[str, Any]],
    lengths: Sequence[str],
    glosses: Mapping[str, str],
    left_out: Mapping[tuple[str, str], Mapping[str, int]],
) -> StimulusCoverage:
    any_row = next(iter(rows.values()))
    name = any_row["stimulus"]
    return StimulusCoverage(
        name,
        glosses.get(name, ""),
        any_row["occurrences"],
        any_row["contexts"],
        any_row.get("copies"),
        [_cell(rows.get(length, {}), left_out.get((name, length), {})) for length in lengths],
    )


def _cell(row: Mapping[str, Any], left_out: Mapping[str, int]) -> Cell:
    sampled, eligible, supplement = (row.get(name, 0) for name in ("sampled", "eligible", "from_supplement"))
    return Cell(sampled, eligible, supplement, row.get("short", False), left_out)


def _of_length(rows: pl.DataFrame, length: str) -> LengthCoverage:
    counts = sorted(count for count in rows["sampled"].to_list() if count)
    median = counts[(len(counts) - 1) // 2] / 2 + counts[len(counts) // 2] / 2 if counts else 0.0
    short, from_supplement = (
        int(rows[name].sum()) if name in rows.columns else None for name in ("short", "from_supplement")
    )
    least = counts[0] if counts else 0
    return LengthCoverage(length, rows.height, len(counts), sum(counts), least, median, short, from_supplement)


def totals(counts: Sequence[Mapping[str, int]]) -> dict[str, int]:
    """The sums over all corpus files of what was read and left out, and their number as `files`; empty for no file."""
    if not counts:
        return {}
    return {"files": len(counts), **{key: sum(count.get(key, 0) for count in counts) for key in counts[0]}}
