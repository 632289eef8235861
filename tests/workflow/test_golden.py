"""Three whole studies give the reference tables again, and what differs is told (`golden.py`)."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from golden import HERE, compare, differences

FIRST = pl.DataFrame({"model": ["a", "b"], "effect_size": [0.5, None], "n": [1, 2]})


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (FIRST[::-1], []),
        (FIRST.with_columns(effect_size=pl.col("effect_size") + 1e-12), []),
        (FIRST.with_columns(effect_size=pl.col("effect_size") + 1e-6), ["effect_size: row 0 differs by 1.0e-06"]),
        (FIRST.with_columns(effect_size=pl.lit(0.5)), ["effect_size: row 1 is 0.5, not None"]),
        (FIRST.with_columns(n=3), ["n: row 0 is 3, not 1"]),
        (FIRST.drop("n"), ["no column n"]),
        (FIRST[:1], ["1 rows, not 2"]),
    ],
)
def test_what_differs_is_told(found: pl.DataFrame, said: list[str]) -> None:
    assert list(differences(FIRST, found, 1e-9)) == said


@pytest.mark.long
@pytest.mark.parametrize("study", ["words", "demo", "every"])
def test_a_study_gives_its_reference_tables(study: str, tmp_path: Path) -> None:
    """Other processors round otherwise, so whole studies agree to 2e-4; from the same vectors they agree to 1e-9."""
    shutil.copy(HERE / study / "study.yaml", tmp_path)
    command = [sys.executable, "-m", "prasanga", "run", str(tmp_path), "--cores", str(os.cpu_count())]
    subprocess.run(command, check=True)
    assert compare(study, tmp_path / "results", tolerance=2e-4) == []
