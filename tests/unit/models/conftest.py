"""Tiny models with random weights, built on the spot, and a local cache of the hub that they can be put into."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
import scoring_models
import tiny_models


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """`tiny("bert")`: the folder of a tiny model with its vocabulary head, to be read only."""

    @cache
    def get(kind: str) -> Path:
        build = scoring_models.build if kind in scoring_models.FAMILIES else tiny_models.build
        return build(kind, tmp_path_factory.mktemp(kind) / kind)

    return get


@pytest.fixture
def copied(tiny: Callable[[str], Path], tmp_path: Path) -> Callable[[str], Path]:
    """`copied("bert")`: a copy of the folder, to be spoiled."""
    return lambda kind: Path(shutil.copytree(tiny(kind), tmp_path / f"{kind}-copy"))


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """`hub(folder, name)`: put a folder into an empty cache of the hub, offline; the commit that it is stored under."""
    cache = tmp_path / "cache"
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(cache))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)

    def store(folder: Path, name: str, commit: str = "c" * 40, branch: str = "main") -> str:
        place = cache / f"models--{name.replace('/', '--')}"
        shutil.copytree(folder, place / "snapshots" / commit)
        (place / "refs").mkdir(exist_ok=True)
        (place / "refs" / branch).write_text(commit)
        return commit

    return store
