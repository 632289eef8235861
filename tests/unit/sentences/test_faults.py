"""A job that is killed leaves nothing that the next one takes for whole."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from prasanga.base.io import read_table

JOB = """
import os, signal, sys
from prasanga.base.io import write_batches
from prasanga.sentences import REPEATED, SENTENCE_SCHEMA, Forms, Shard, extract_shard

def batches(fault):
    forms = Forms({"ফুল": ("ফুল",)})
    options = {"lexicon": forms, "normalization": "bangla", "language": "bn"}
    for batch in extract_shard(Shard(sys.argv[1], "a.txt", "blank-line"), **options):
        yield batch
        if fault == "killed":
            os.kill(os.getpid(), signal.SIGKILL)

write_batches(sys.argv[2], SENTENCE_SCHEMA, batches(sys.argv[3]), {}, dictionary=REPEATED)
"""


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    path = tmp_path / "a.txt"
    path.write_text("".join(f"{number} নম্বর লাল ফুল ফুটেছে।\n" for number in range(20_000)), encoding="utf-8")
    return path


def run(corpus: Path, output: Path, fault: str) -> subprocess.CompletedProcess[str]:
    arguments = [sys.executable, "-c", JOB, str(corpus), str(output), fault]
    return subprocess.run(arguments, capture_output=True, text=True, check=False)


def test_a_killed_job_leaves_no_file_of_that_name(corpus: Path, tmp_path: Path) -> None:
    output = tmp_path / "results" / "a.parquet"
    assert run(corpus, output, "killed").returncode == -9
    assert [path.suffix for path in output.parent.iterdir()] == [".tmp"]
    assert run(corpus, output, "none").returncode == 0
    assert [path.name for path in output.parent.iterdir()] == ["a.parquet"]  # what the dead left is gone
    assert read_table(output).num_rows == 20_000
