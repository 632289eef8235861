"""The page of a small study. Pictures of it are kept in `tests/screenshots/`."""

from __future__ import annotations

from pathlib import Path

import pytest
from report_pages import write_page


@pytest.fixture(scope="session")
def page_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of the small study of `report_pages`; tests must not change it."""
    return write_page(tmp_path_factory.mktemp("page") / "index.html")
