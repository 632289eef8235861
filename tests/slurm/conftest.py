"""A real Slurm of one node, and the small study half done.

    pytest tests/slurm            # needs root and Debian's slurmctld, slurmd, slurm-client and munge; not with -n

Nothing of Slurm is imitated but the card: a character device that Slurm hands out. What the node cannot show: several
nodes, accounts, memory limits by cgroups.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from slurm_node import SlurmNode, why_not
from small_study import Study


@pytest.fixture(scope="session")
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SlurmNode]:
    """A node that claims eight cores, memory for two of the study's largest jobs, and a card."""
    if reason := why_not():
        # where all tests are to run, a skipped one would be taken for one that passed
        give_up = pytest.fail if os.environ.get("CI") else pytest.skip
        give_up(f"needs a Slurm of its own: {reason}")
    one = SlurmNode(tmp_path_factory.mktemp("node"), cpus=8)
    try:
        yield one.start()
    finally:
        one.stop()


@pytest.fixture
def half_done(finished: Study, tmp_path: Path) -> Iterator[Callable[[], Study]]:
    """Makes copies of the study in which models, sentences and samples are there, and nothing after them.

    Slurm jobs are left for the vectors of two models in two lengths, and for their statistics; reports are drawn here.
    """
    copies: list[Study] = []

    def copy() -> Study:
        study = finished.copy(tmp_path / f"study{len(copies)}")
        copies.append(study)
        for name in ("embeddings", "store", "associations", "report"):
            shutil.rmtree(study.root / "results" / name)
        (study.root / "results" / "summary.json").unlink()
        return study

    yield copy
    for study in copies:
        shutil.rmtree(study.root, ignore_errors=True)
