"""A run that is killed again and again ends with the tables of a run that nobody disturbed."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest
import yaml
from small_study import SMALL, Study, copy_code


def read_tables(study: Study) -> dict[str, pl.DataFrame]:
    """The tables of results, without the stores."""
    results = study.root / "results"
    paths = [path for path in results.rglob("*.parquet") if not {"store", "kept"} & set(path.parts)]
    return {str(path.relative_to(results)): pl.read_parquet(path) for path in sorted(paths)}


@pytest.mark.long
def test_a_study_that_is_killed_ends_as_one_that_is_not(finished: Study, project_root: Path, tmp_path: Path) -> None:
    study = copy_code(project_root, tmp_path / "study", link_source=True)
    config = yaml.safe_dump({**study.config, **SMALL}, allow_unicode=True)
    (study.root / "config.yaml").write_text(config, encoding="utf-8")
    rng, lost = random.Random(5), 0
    for _ in range(8):
        command = [sys.executable, "-m", "snakemake", "--cores", "2"]
        with (study.root / "run.log").open("w", encoding="utf-8") as log:
            run = subprocess.Popen(command, cwd=study.root, stdout=log, stderr=log, start_new_session=True)
            time.sleep(rng.uniform(4, 9))
            if run.poll() is None:
                lost += 1
                os.killpg(run.pid, signal.SIGKILL)
            run.wait()
        study.run("--unlock")
    assert lost >= 3
    study.run()
    wanted, found = read_tables(finished), read_tables(study)
    assert found.keys() == wanted.keys()
    assert [name for name, table in wanted.items() if not found[name].equals(table)] == []
    assert not list((study.root / "results").rglob(".*.tmp"))
