"""Counting what there is of each stimulus, in memory that does not grow with the corpus.

How many different texts a stimulus has cannot be counted in passing: each would have to be remembered. So the texts
are set aside on disk, 28 bytes each, in slices of the range of their hash, and counted a slice at a time. Copies of one
text fall into one slice, so the counts are exact.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import IO, Self

import numpy as np
import polars as pl

from prasanga.samples.lengths import Requirement

_TEXT = ["stimulus", "text_high", "text_low"]
_CONTEXT = ["stimulus", "file", "context"]
_FORM = ["stimulus", "form", "source"]
_RECORD = np.dtype(
    [("stimulus", "u4"), ("text_high", "u8"), ("text_low", "u8"), ("n_words", "i4"), ("form_words", "i4")]
)
_RECORDS_PER_SLICE = 1 << 18
_MOST_SLICES = 256  # files that are open at once; of a thousand million rows, a slice is then some 110 MB
_BYTES_IN_MEMORY = 1 << 26
_ROWS_WAITING = 1 << 18


@dataclass(frozen=True)
class Counts:
    """Of one stimulus: occurrences, contexts that hold them, and different texts of these.

    `enough_words` and `eligible` are texts, by requirement: those with the words, and those that meet all of it.
    """

    occurrences: int = 0
    contexts: int = 0
    texts: int = 0
    enough_words: dict[Requirement, int] = field(default_factory=dict)
    eligible: dict[Requirement, int] = field(default_factory=dict)


class Tally:
    """Counts of stimuli and forms; a context manager, which removes what it has set aside.

    Args:
        requirements: what texts are counted by.
        n_rows: about how many rows will be counted; says how finely the texts are sliced.
        scratch: folder for what is set aside; None for the system's folder for temporary files.
    """

    def __init__(self, requirements: Sequence[Requirement], n_rows: int, scratch: str | Path | None = None) -> None:
        self._requirements = list(requirements)
        n_slices = min(_MOST_SLICES, max(1, -(-n_rows // _RECORDS_PER_SLICE)))
        self._stack = ExitStack()
        self._slices = [self._new_slice(_BYTES_IN_MEMORY // n_slices, scratch) for _ in range(n_slices)]
        self._contexts = np.zeros(0, np.int64)
        self._open: pl.DataFrame | None = None  # stimuli of the last context, which may go on in the next batch
        self._forms: list[pl.DataFrame] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._stack.close()

    def add(self, rows: pl.DataFrame) -> None:
        """Count rows of `ROWS_SCHEMA`; the batches of a file in their order, files in any."""
        if rows.is_empty():
            return
        self._count_contexts(rows)
        self._set_aside(rows.group_by(_TEXT).agg(pl.col("n_words").max(), pl.col("form_words").min()))
        self._forms.append(rows.group_by(_FORM).agg(pl.len().cast(pl.Int64).alias("occurrences")))
        if sum(part.height for part in self._forms[1:]) > max(_ROWS_WAITING, self._forms[0].height):
            self._forms = [self.forms()]

    def forms(self) -> pl.DataFrame:
        """The occurrences by form and file: stimulus, form, source (numbers), occurrences."""
        if not self._forms:
            return pl.DataFrame(schema={**dict.fromkeys(_FORM, pl.UInt32), "occurrences": pl.Int64})
        return pl.concat(self._forms).group_by(_FORM).agg(pl.col("occurrences").sum())

    def counts(self) -> dict[int, Counts]:
        """What has been counted so far, by the number of the stimulus; more may be added afterwards."""
        occurrences = dict(self.forms().group_by("stimulus").agg(pl.col("occurrences").sum()).iter_rows())
        numbers = np.zeros((len(self._contexts), 1 + 2 * len(self._requirements)), np.int64)
        for file in self._slices:
            file.seek(0)
            records = np.frombuffer(file.read(), _RECORD)
            texts = pl.DataFrame({name: records[name] for name in _RECORD.names or ()})
            texts = texts.group_by(_TEXT).agg(pl.col("n_words").max(), pl.col("form_words").min())
            kinds = [kind.cast(pl.Int64).sum() for r in self._requirements for kind in (r.enough_words, r.met)]
            found = texts.group_by("stimulus").agg(
                pl.len().cast(pl.Int64), *(kind.alias(f"{i}") for i, kind in enumerate(kinds))
            )
            numbers[found["stimulus"].to_numpy()] += found.drop("stimulus").to_numpy()
        return {
            stimulus: Counts(
                number,
                int(self._contexts[stimulus]),
                int(numbers[stimulus, 0]),
                dict(zip(self._requirements, numbers[stimulus, 1::2].tolist(), strict=True)),
                dict(zip(self._requirements, numbers[stimulus, 2::2].tolist(), strict=True)),
            )
            for stimulus, number in occurrences.items()
        }

    def _new_slice(self, in_memory: int, scratch: str | Path | None) -> IO[bytes]:
        folder = None if scratch is None else str(scratch)
        return self._stack.enter_context(tempfile.SpooledTemporaryFile(in_memory, dir=folder))

    def _count_contexts(self, rows: pl.DataFrame) -> None:
        new = rows.select(_CONTEXT).unique()
        if self._open is not None:
            new = new.join(self._open, on=_CONTEXT, how="anti")
            seen = pl.concat([self._open, new])
        else:
            seen = new
        self._open = seen.filter((pl.col("file") == rows["file"][-1]) & (pl.col("context") == rows["context"][-1]))
        counts = np.bincount(new["stimulus"].to_numpy(), minlength=len(self._contexts))
        counts[: len(self._contexts)] += self._contexts
        self._contexts = counts

    def _set_aside(self, texts: pl.DataFrame) -> None:
        """Write texts to their slices: the upper bits of the hash, scaled to the number of slices."""
        records = np.empty(texts.height, _RECORD)
        for name in _RECORD.names or ():
            records[name] = texts[name].to_numpy()
        scaled = (records["text_high"] >> np.uint64(32)) * np.uint64(len(self._slices)) >> np.uint64(32)
        order = np.argsort(scaled, kind="stable")
        bounds = np.searchsorted(scaled[order], np.arange(len(self._slices) + 1, dtype=np.uint64))
        for file, start, stop in zip(self._slices, bounds, bounds[1:], strict=False):
            file.seek(0, 2)
            file.write(records[order[start:stop]].tobytes())
