"""Studies and folders that are made once for all tests, also where several processes share the tests."""

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
    """Return the study that `finish` runs to its end in the folder that it is given; each process has a copy.

    (Marks that keep tests in one process, xdist_group, are without effect in some versions of pytest.)
    """
    made = made_once(factory, name, lambda folder: finish(folder / "tree"))
    return Study(made / "tree").copy(factory.mktemp(name) / "tree")


def made_once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], object]) -> Path:
    """Return the folder that `make` fills; no test may change it.

    With pytest-xdist, the first process that needs it makes it, and the others wait.
    """
    folder = factory.getbasetemp()
    made = (folder.parent if "PYTEST_XDIST_WORKER" in os.environ else folder) / name
    with _locked(made.with_suffix(".lock")):
        whole = made.with_suffix(".whole")
        if not whole.exists():
            shutil.rmtree(made, ignore_errors=True)  # of a process that failed
            made.mkdir()
            make(made)
            whole.touch()
    return made


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold a lock that ends with the process, however it ends."""
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
