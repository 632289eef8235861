"""The runner that all scripts share: where a job logs, and how it writes tables with what they were made from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import polars as pl
import pyarrow as pa

from prasanga.base.io import guarded, replacing, require_equal, to_tsv, write_table, write_text
from prasanga.base.logs import log_to
from prasanga.base.origin import describe

Table: TypeAlias = pa.Table | pl.DataFrame
Record = dict[str, str]


class Task:
    """A job of the workflow as its script sees it.

    Attributes:
        input, output, params, wildcards: what Snakemake gives to a script.
        threads: the cores of the job.
        cards: the GPUs of the job.
    """

    def __init__(self, snakemake: Any, stage: str) -> None:
        """Begin a job: all messages go to its log.

        Args:
            snakemake: what Snakemake gives to a script.
            stage: name of the stage for the record.
        """
        log_to(snakemake.log[0])
        self.input, self.output = snakemake.input, snakemake.output
        self.params, self.wildcards = snakemake.params, snakemake.wildcards
        self.threads, self.cards = snakemake.threads, snakemake.resources.get("cards", 0)
        self._stage = stage

    def describe(
        self,
        settings: Mapping[str, Any] | None = None,
        inputs: Iterable[str | Path] | Mapping[str, str] | None = None,
        libraries: Sequence[str] = (),
        stage: str = "",
    ) -> Record:
        """Return what an output is made from; by default from all inputs (`prasanga.base.origin.describe`)."""
        return describe(
            stage or self._stage,
            inputs=self.input if inputs is None else inputs,
            settings=settings,
            libraries=libraries,
            version=self.params.get("version"),
        )

    @staticmethod
    def require_one_version(*paths: Iterable[str]) -> None:
        """Refuse inputs of one kind that were made by different versions."""
        require_equal([path for each in paths for path in each], ["stage", "version"])

    @staticmethod
    def write(path: str, table: Table, made_from: Record) -> None:
        """Write a table as Parquet."""
        write_table(path, table.to_arrow() if isinstance(table, pl.DataFrame) else table, made_from)

    @staticmethod
    def write_csv(path: str, table: Table) -> None:
        """Write a table for spreadsheets, with commas."""
        frame = table if isinstance(table, pl.DataFrame) else pl.DataFrame(table)
        with replacing(path) as temporary:
            guarded(frame).write_csv(temporary)

    @staticmethod
    def write_tsv(path: str, table: pa.Table, for_reader: Sequence[str] = ()) -> None:
        """Write a table for spreadsheets, with tabs; `for_reader` names empty columns that a person fills in."""
        write_text(path, to_tsv(table, for_reader=list(for_reader)))
