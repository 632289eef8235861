"""The whole workflow under faults: from nothing to the page, disturbed all the way, and equal to an undisturbed run.

    pytest tests/faults/test_workflow_faults.py                     # ten faults
    FAULTS=50 FAULTS_SEED=3 pytest tests/faults/test_workflow_faults.py

These are long tests. Each study is disturbed up to ten times on its way. A seed gives the same faults again; at which
moment of a job a process dies is drawn as well, but how far the job is by then depends on the machine.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from fault_plans import Chain, Run, draw, orphans_ended, why_skipped
from faults import Surroundings, why_not
from shared_studies import shared_study
from small_study import SMALL, Study, copy_code

FAULTS = int(os.environ.get("FAULTS", "10"))
SEED = int(os.environ.get("FAULTS_SEED", "8"))
A_STUDY = 10
"""Faults that one study goes through."""

# Every stage has a job or more, and none of them takes long.
STUDY = {
    **SMALL,
    "models": {"tiny": {"train": {"hidden_size": 16, "heads": 2, "layers": 1, "steps": 4, "seed": 1}}},
    "static": {
        "vectors": {"word2vec": {"train": {"method": "word2vec", "dimensions": 8, "epochs": 1, "minimum_count": 2}}}
    },
    "seat": {"categories": ["C1"]},
    "pairs": {"sets": {"demo": {"path": "resources/demo/pairs.csv"}}},
}


def new_study(project_root: Path, destination: Path) -> Study:
    study = copy_code(project_root, destination, link_source=True)
    (study.root / "config.yaml").write_text(yaml.safe_dump({**study.config, **STUDY}, allow_unicode=True), "utf-8")
    return study


@pytest.fixture(scope="session")
def undisturbed(project_root: Path, tmp_path_factory: pytest.TempPathFactory) -> Study:
    def finish(destination: Path) -> Study:
        study = new_study(project_root, destination)
        (study.root / "run.log").write_text(study.run(), encoding="utf-8")
        return study

    return shared_study(tmp_path_factory, "undisturbed", finish)


def test_a_folder_that_cannot_be_written_to_is_said_before_any_job(finished: Study, tmp_path: Path) -> None:
    """Snakemake removes what a job is to make, and would end with a traceback of its own."""
    if why := why_not("ordinary user"):
        pytest.skip(why)
    study = finished.copy(tmp_path / "study")
    folder = study.root / "results/report/tables"
    (study.root / "results/report/index.html").unlink()
    next(folder.glob("ceat.md")).unlink()
    folder.chmod(0o500)
    with Surroundings("ordinary user", SEED, "").around(study.root) as around:
        run = Run(study, around=around)
        printed = run.wait()
    folder.chmod(0o755)
    assert run.code != 0
    assert "results/report/tables: you may not write there, and jobs write results there" in printed
    assert "Traceback" not in printed
    assert "rule " not in printed


@pytest.mark.long
@pytest.mark.parametrize("first", range(0, FAULTS, A_STUDY))
def test_a_disturbed_study_ends_as_an_undisturbed_one(
    first: int,
    undisturbed: Study,
    project_root: Path,
    tmp_path: Path,
    record_property: Callable[[str, object], None],
) -> None:
    faults = list(draw(SEED, FAULTS))[first : first + A_STUDY]
    jobs = (undisturbed.root / "run.log").read_text(encoding="utf-8").count("Finished jobid")
    chain = Chain(new_study(project_root, tmp_path / "study"), undisturbed.root, jobs / len(faults))
    with orphans_ended(chain.study):
        for fault in faults:
            if why := why_skipped(fault.kind):
                record_property("fault skipped", f"{fault.kind}: {why}")
                continue
            came_about = chain.disturb(fault)
            record_property("fault survived" if came_about else "fault missed", chain.told[-1])
        chain.finish()
