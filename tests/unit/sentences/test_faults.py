"""A job that is killed leaves nothing that the next one takes for whole."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

from prasanga.base.io import read_table, write_batches
from prasanga.sentences import REPEATED, SENTENCE_SCHEMA, Forms, Shard, extract_shard


def write_table(corpus: Path, output: Path, *, is_killed: bool) -> None:
    def batches() -> Iterator[pa.RecordBatch]:
        options = {"lexicon": Forms({"ফুল": ("ফুল",)}), "normalization": "bangla", "language": "bn"}
        for batch in extract_shard(Shard(str(corpus), "a.txt", "blank-line"), **options):  # type: ignore[arg-type]
            yield batch
            if is_killed:
                os.kill(os.getpid(), signal.SIGKILL)

    write_batches(output, SENTENCE_SCHEMA, batches(), {}, dictionary=REPEATED)


def test_a_killed_job_leaves_no_file_of_that_name(tmp_path: Path) -> None:
    corpus, output = tmp_path / "a.txt", tmp_path / "results" / "a.parquet"
    corpus.write_text("".join(f"{number} নম্বর লাল ফুল ফুটেছে।\n" for number in range(20_000)), encoding="utf-8")
    job = multiprocessing.get_context("fork").Process(
        target=write_table, args=(corpus, output), kwargs={"is_killed": True}
    )
    job.start()
    job.join()
    assert job.exitcode == -signal.SIGKILL
    assert [path.suffix for path in output.parent.iterdir()] == [".tmp"]
    write_table(corpus, output, is_killed=False)
    assert [path.name for path in output.parent.iterdir()] == ["a.parquet"]  # what the dead left is gone
    assert read_table(output).num_rows == 20_000
