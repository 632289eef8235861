"""Studies that run once for all tests, also where several processes share the tests."""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import yaml
from small_study import SMALL, Study, copy_code


def finished_study(project_root: Path, factory: pytest.TempPathFactory) -> Study:
    """Return the small study, run to its end: the demo with two categories and lengths and models hardly trained."""

    def finish(destination: Path) -> Study:
        study = copy_code(project_root, destination, keep_compiled=True)
        config = {**study.config, **SMALL}
        (study.root / "config.yaml").write_text(yaml.safe_dump(config, allow_unicode=True), encoding="utf-8")
        study.run()
        return study

    return shared_study(factory, "finished", finish)


def shared_study(factory: pytest.TempPathFactory, name: str, finish: Callable[[Path], Study]) -> Study:
    """Return the study that `finish` runs to its end in the folder that it is given.

    With pytest-xdist, the first process that needs it runs it, and the others wait; each has a copy of its own. (Marks
    that keep tests in one process, xdist_group, are without effect in some versions of pytest.)
    """
    own = factory.mktemp(name) / "tree"
    if "PYTEST_XDIST_WORKER" not in os.environ:
        return finish(own)
    shared = factory.getbasetemp().parent / name
    with _locked(shared.with_suffix(".lock")):
        if not (shared / "tree").exists():
            shutil.rmtree(shared, ignore_errors=True)  # of a process that failed
            finish(shared / "running").root.rename(shared / "tree")
    return Study(shared / "tree").copy(own)


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold a lock that ends with the process, however it ends."""
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
