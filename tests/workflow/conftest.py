"""A finished small study in a copy of the tree.

The study is the demo with everything made small: two categories and lengths, few contexts, models that are hardly
trained. It runs once, also where several processes (pytest-xdist) share the tests: the first that needs it runs it, the
others wait. Every process has a copy of its own to plan in, and every test that changes the study another.
"""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import yaml
from small_study import SMALL, Study, copy_code


@pytest.fixture(scope="session")
def finished(project_root: Path, tmp_path_factory: pytest.TempPathFactory) -> Study:
    """The small study, run to its end. Tests must not change it; they take a copy (`study`)."""
    own = tmp_path_factory.mktemp("finished") / "tree"
    if "PYTEST_XDIST_WORKER" not in os.environ:
        return _finish(project_root, own)
    shared = tmp_path_factory.getbasetemp().parent / "finished"
    with _locked(shared.with_suffix(".lock")):
        if not (shared / "tree").exists():
            shutil.rmtree(shared, ignore_errors=True)  # of a process that failed
            _finish(project_root, shared / "running").root.rename(shared / "tree")
    return Study(shared / "tree").copy(own)


def _finish(project_root: Path, destination: Path) -> Study:
    study = copy_code(project_root, destination)
    config = {**study.config, **SMALL}
    (study.root / "config.yaml").write_text(yaml.safe_dump(config, allow_unicode=True), encoding="utf-8")
    study.run()
    return study


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold a lock that ends with the process, however it ends."""
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


@pytest.fixture
def study(finished: Study, tmp_path: Path) -> Iterator[Study]:
    """A copy of the finished study, for a test to change."""
    copy = finished.copy(tmp_path / "study")
    yield copy
    shutil.rmtree(copy.root, ignore_errors=True)
