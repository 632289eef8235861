"""Every picture that the docs show is drawn by `make pictures`, is there, and is small."""

from __future__ import annotations

import re
from pathlib import Path

import yaml


def test_every_picture_is_listed_there_and_small(project_root: Path) -> None:
    docs = project_root / "docs"
    listed = set(yaml.safe_load((docs / "pictures.yaml").read_text(encoding="utf-8")))
    pages = [project_root / "README.md", *docs.rglob("*.md")]
    shown = {name for page in pages for name in re.findall(r"images/(\w+)\.png", page.read_text(encoding="utf-8"))}
    assert shown == listed
    files = {path.stem: path.stat().st_size for path in (docs / "images").iterdir()}
    assert files.keys() == listed
    assert {name: size for name, size in files.items() if size > 200_000} == {}
