"""Copies of the finished study, for tests to change, and an environment without torch."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from small_study import Study


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
