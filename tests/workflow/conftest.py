"""A finished small study in a copy of the tree.

The study is the demo with everything made small: two categories and lengths, few contexts, models that are hardly
trained. It runs once, also where several processes (pytest-xdist) share the tests. Every process has a copy of its own
to plan in, and every test that changes the study another.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from shared_studies import shared_study
from small_study import SMALL, Study, copy_code


@pytest.fixture(scope="session")
def finished(project_root: Path, tmp_path_factory: pytest.TempPathFactory) -> Study:
    """The small study, run to its end. Tests must not change it; they take a copy (`study`)."""

    def finish(destination: Path) -> Study:
        study = copy_code(project_root, destination)
        config = {**study.config, **SMALL}
        (study.root / "config.yaml").write_text(yaml.safe_dump(config, allow_unicode=True), encoding="utf-8")
        study.run()
        return study

    return shared_study(tmp_path_factory, "finished", finish)


@pytest.fixture
def study(finished: Study, tmp_path: Path) -> Iterator[Study]:
    """A copy of the finished study, for a test to change."""
    copy = finished.copy(tmp_path / "study")
    yield copy
    shutil.rmtree(copy.root, ignore_errors=True)


@pytest.fixture
def no_torch(tmp_path: Path) -> dict[str, str]:
    """An environment in which importing torch or transformers fails."""
    for name in ("torch", "transformers"):
        (tmp_path / "none" / name).mkdir(parents=True)
        (tmp_path / "none" / name / "__init__.py").write_text(f"raise ImportError('{name} was imported')\n")
    return {"PYTHONPATH": str(tmp_path / "none")}
