"""A finished small study in a copy of the tree, for tests to plan in and to change."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from shared_studies import finished_study
from small_study import Study


@pytest.fixture(scope="session")
def finished(project_root: Path, tmp_path_factory: pytest.TempPathFactory) -> Study:
    """The small study, run to its end. Tests must not change it; they take a copy (`study`)."""
    return finished_study(project_root, tmp_path_factory)


@pytest.fixture
def study(finished: Study, tmp_path: Path) -> Iterator[Study]:
    """A copy of the finished study, for a test to change."""
    copy = finished.copy(tmp_path / "study")
    yield copy
    shutil.rmtree(copy.root, ignore_errors=True)


@pytest.fixture(scope="session")
def no_torch(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """An environment in which importing torch, transformers or gensim fails."""
    folder = tmp_path_factory.mktemp("none")
    for name in ("torch", "transformers", "gensim"):
        (folder / f"{name}.py").write_text(f"raise ImportError('{name} was imported')\n", encoding="utf-8")
    return {"PYTHONPATH": str(folder)}
