"""What plans remember, for all tests of them."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What plans remember: the word lists are read once."""
    return tmp_path_factory.mktemp("cache")
