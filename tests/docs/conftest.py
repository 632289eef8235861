"""Tiny models for the examples, and the site; both built once."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from shared_studies import made_once


@pytest.fixture(scope="session")
def models(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Path]:
    """A tiny encoder and a tiny decoder, by family; the decoder reads every script."""
    import torch  # seconds, which a process without this fixture does not need
    from scoring_models import build

    torch.set_num_threads(1)
    folder = tmp_path_factory.mktemp("models")
    return {family: build(family, folder / family, positions=512) for family in ("bert", "gpt2")}


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory, project_root: Path) -> Path:
    """The site, built as `make site` does it, elsewhere."""

    def build_site(folder: Path) -> None:
        done = subprocess.run(
            [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder / "site")],
            cwd=project_root,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr

    return made_once(tmp_path_factory, "site", build_site) / "site"
