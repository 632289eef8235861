"""What the page says of coverage: how many contexts each length has, which stimuli are thin, and which are missing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import polars as pl

from prasanga.report.grid import sort_lengths

_REASONS = {
    "no-occurrence": "does not occur in the corpus",
    "no-context-long-enough": "occurs, but in no context long enough",
}
THINNEST = 12
"""So many stimuli with the fewest contexts are listed."""


class LengthCoverage(NamedTuple):
    """One segment length: stimuli, those with contexts, contexts drawn in all, and least and median per stimulus."""

    length: str
    stimuli: int
    sampled_stimuli: int
    contexts: int
    least: int
    median: float


class StimulusCoverage(NamedTuple):
    """A stimulus with its gloss, its occurrences, and the contexts drawn at each length."""

    stimulus: str
    gloss: str
    occurrences: int
    sampled: list[int]


class Missing(NamedTuple):
    """A stimulus without contexts at some lengths."""

    stimulus: str
    gloss: str
    lengths: str
    reason: str


class Coverage(NamedTuple):
    """What the page shows of coverage."""

    lengths: list[LengthCoverage]
    thinnest: list[StimulusCoverage]
    missing: list[Missing]


def summarize(coverage: pl.DataFrame, glosses: Mapping[str, str]) -> Coverage:
    """Summarize the coverage table (one row per stimulus and segment length).

    `thinnest` are the stimuli with the fewest contexts at their worst length, the thinnest first; those that have none
    at any length stand in `missing` alone.
    """
    lengths = sort_lengths(coverage["segment_length"].to_list())
    sampled: dict[str, dict[str, int]] = {}
    occurrences: dict[str, int] = {}
    missing: dict[tuple[str, str], list[str]] = {}
    for row in coverage.sort("stimulus").iter_rows(named=True):
        sampled.setdefault(row["stimulus"], {})[row["segment_length"]] = row["sampled"]
        occurrences[row["stimulus"]] = row["occurrences"]
        if row["sampled"] == 0:
            missing.setdefault((row["stimulus"], row["reason"]), []).append(row["segment_length"])
    found = [stimulus for stimulus, counts in sampled.items() if any(counts.values())]
    order = sorted(found, key=lambda stimulus: (min(sampled[stimulus].values()), stimulus))
    return Coverage(
        [_of_length(coverage.filter(pl.col("segment_length") == length), length) for length in lengths],
        [
            StimulusCoverage(s, glosses.get(s, ""), occurrences[s], [sampled[s].get(length, 0) for length in lengths])
            for s in order[:THINNEST]
        ],
        [
            Missing(
                stimulus,
                glosses.get(stimulus, ""),
                "all lengths" if len(where) == len(lengths) else ", ".join(sort_lengths(where)),
                _REASONS.get(reason, reason),
            )
            for (stimulus, reason), where in missing.items()
        ],
    )


def _of_length(rows: pl.DataFrame, length: str) -> LengthCoverage:
    counts = sorted(count for count in rows["sampled"].to_list() if count)
    median = counts[(len(counts) - 1) // 2] / 2 + counts[len(counts) // 2] / 2 if counts else 0.0
    return LengthCoverage(length, rows.height, len(counts), sum(counts), counts[0] if counts else 0, median)


def totals(counts: Sequence[Mapping[str, int]]) -> dict[str, int]:
    """The sums over all corpus files of what was read and left out, and their number as `files`; empty for no file."""
    if not counts:
        return {}
    return {"files": len(counts), **{key: sum(count.get(key, 0) for count in counts) for key in counts[0]}}
