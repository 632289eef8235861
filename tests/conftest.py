"""Where the tests find the project, and the data beside it that may not be copied into it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from browser_fixtures import browser, open_page
from hypothesis import settings

__all__ = ["browser", "open_page", "project_root", "shared"]

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
