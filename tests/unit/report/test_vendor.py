"""What is shipped of others is what they published, and says whose it is."""

from __future__ import annotations

import hashlib
from importlib.resources.abc import Traversable

import pytest

from prasanga.report.vendor import place_of, text_of, vendored


def files_below(folder: Traversable, before: str = "") -> list[str]:
    found = []
    for entry in folder.iterdir():
        name = f"{before}{entry.name}"
        found += files_below(entry, f"{name}/") if entry.is_dir() else [name]
    return found


@pytest.mark.parametrize("name", vendored())
def test_a_file_is_unchanged_and_its_licence_lies_beside_it(name: str) -> None:
    entry = vendored()[name]
    assert hashlib.sha256(place_of(name).read_bytes()).hexdigest() == entry.sha256
    assert place_of(entry.licence_file).read_text(encoding="utf-8").strip()


def test_every_file_is_listed() -> None:
    listed = {*vendored(), *(entry.licence_file for entry in vendored().values()), "vendor.json", "__init__.py"}
    assert {name for name in files_below(place_of("")) if "__pycache__" not in name} == listed


@pytest.mark.parametrize("name", [name for name in vendored() if name.endswith((".js", ".css"))])
def test_a_script_or_a_style_can_stand_in_a_page_and_loads_nothing(name: str) -> None:
    text = text_of(name).lower()
    assert "</script" not in text
    assert "</style" not in text
    assert "@import" not in text
