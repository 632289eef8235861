"""Where the plugins for Kubernetes and buckets lie: apart, since Snakemake imports every plugin that it finds."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

FOLDER = ".venv/kubernetes"


def kubernetes_plugins() -> str:
    """The folder to put on Python's path; a test that needs it is skipped where `make test` has not made it."""
    folder = Path(__file__).parents[2] / FOLDER
    if not (folder / ".installed").exists():
        pytest.skip(f"needs the plugins for Kubernetes: make {FOLDER}/.installed")
    return str(folder)


def python_path() -> dict[str, str]:
    """The environment of a process that is to find them."""
    return {"PYTHONPATH": os.pathsep.join(filter(None, [kubernetes_plugins(), os.environ.get("PYTHONPATH")]))}
