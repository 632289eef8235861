"""What the page says of a tokenizer: how many forms it damages, with examples, and what it makes of every stimulus."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import polars as pl

_SHARES = {
    "unknown": "Pieces that it does not know",
    "marks_lost": "Marks lost",
    "identical": "The same pieces for two stimuli",
}


class StimulusPieces(NamedTuple):
    """What a tokenizer makes of the forms of a stimulus; `damage` are examples, empty where nothing is wrong."""

    stimulus: str
    gloss: str
    forms: int
    pieces: float
    most: int
    unknown: int
    marks_lost: int
    identical_to: str
    damage: str


class Tokenizer(NamedTuple):
    """The audit of a model's tokenizer: shares as text, examples by what they show, and all stimuli if known.

    The `damaged` ones of the stimuli stand before the others.
    """

    model: str
    forms: int
    stimuli: int
    pieces: float
    shares: list[str]
    examples: list[tuple[str, list[str]]]
    rows: list[StimulusPieces]
    damaged: int


def describe_tokenizer(
    model: str, summary: Mapping[str, Any], table: pl.DataFrame | None, glosses: Mapping[str, str]
) -> Tokenizer:
    """Arrange the audit of a tokenizer for the page.

    Args:
        model: its name in the config.
        summary: n_forms, n_stimuli, pieces_per_form, the shares unknown and marks_lost (of forms) and identical (of
            stimuli), and `examples` of each.
        table: the same by stimulus (`results/models/<model>.tokenizer.parquet`); None if it is not there.
        glosses: of stimuli.
    """
    rows = [] if table is None else [_row(row, glosses) for row in table.iter_rows(named=True)]
    examples = summary.get("examples", {})
    return Tokenizer(
        model,
        summary["n_forms"],
        summary["n_stimuli"],
        summary["pieces_per_form"],
        [f"{100 * summary[name]:.3g} %" for name in _SHARES],
        [(title, list(examples[name])) for name, title in _SHARES.items() if examples.get(name)],
        sorted(rows, key=lambda row: not row.damage),
        sum(bool(row.damage) for row in rows),
    )


def _row(row: Mapping[str, Any], glosses: Mapping[str, str]) -> StimulusPieces:
    return StimulusPieces(
        row["stimulus"],
        glosses.get(row["stimulus"], ""),
        row["forms"],
        row["pieces_per_form"],
        row["most_pieces"],
        row["unknown_forms"],
        row["marks_lost_forms"],
        ", ".join(row["identical_to"]),
        "; ".join(row[f"{name}_example"] for name in _SHARES if row[f"{name}_example"]),
    )
