"""The surface forms that the lexicon stage wrote, as the matcher needs them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from prasanga.parquet import read_table
from prasanga.text import fold


@dataclass(frozen=True)
class Forms:
    """Surface forms with the stimuli that get a hit for each: what `Matcher` takes beside a lexicon."""

    stimuli_of: Mapping[str, tuple[str, ...]]

    def claims(self) -> Mapping[str, tuple[str, ...]]:
        """Every normalized surface form with the stimuli that get a hit for it."""
        return self.stimuli_of


def read_forms(path: str | Path, only: Collection[str] | None = None) -> Forms:
    """Read the table of surface forms (`results/lexicon/forms.parquet`), without the rows that do not count.

    Args:
        path: the table.
        only: the stimuli whose forms are wanted; None for all.
    """
    columns = read_table(path, ["form", "stimulus", "counted"]).to_pydict()
    stimuli_of: defaultdict[str, list[str]] = defaultdict(list)
    for form, stimulus, counted in zip(columns["form"], columns["stimulus"], columns["counted"], strict=True):
        if counted and (only is None or stimulus in only) and stimulus not in stimuli_of[fold(form)]:
            stimuli_of[fold(form)].append(stimulus)
    return Forms({form: tuple(stimuli) for form, stimuli in stimuli_of.items() if stimuli})
