"""What tests of several folders share: the project, data that may not be copied into it, a browser, a study."""

from __future__ import annotations

import os
from pathlib import Path

# Read when a library is imported. Several threads in each of several processes wait for each other, at twice the cost.
os.environ["OMP_NUM_THREADS"] = "1"
os.environ["OPENBLAS_NUM_THREADS"] = "1"
os.environ["MKL_NUM_THREADS"] = "1"

import pytest
from browser_fixtures import browser, open_page
from hypothesis import settings
from shared_studies import finished_study
from small_study import Study

__all__ = ["browser", "finished", "open_page", "project_root", "shared"]

# What is tested is values, and the first call of compiled code takes its time.
settings.register_profile("values", deadline=None)
settings.load_profile("values")


@pytest.fixture(scope="session")
def project_root() -> Path:
    """The folder of the checkout."""
    return Path(__file__).parents[1]


@pytest.fixture(scope="session")
def shared(project_root: Path) -> Path:
    """Reference data and real text: the folder `shared` beside the checkout, or the one that PRASANGA_SHARED names."""
    folder = Path(os.environ.get("PRASANGA_SHARED") or project_root.parent / "shared")
    if not folder.is_dir():
        pytest.skip(f"needs reference data that may not be shipped: no folder {folder} (PRASANGA_SHARED names another)")
    return folder


@pytest.fixture(scope="session")
def finished(project_root: Path, tmp_path_factory: pytest.TempPathFactory) -> Study:
    """The small study, run to its end; tests must not change it, but take a copy."""
    return finished_study(project_root, tmp_path_factory)


@pytest.fixture(autouse=True)
def _no_environment_of_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands that a test runs in this process change its environment; the next test is to see no such change."""
    for name in ("PRASANGA_STORE", "PYTHONSAFEPATH"):
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)
