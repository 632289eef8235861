"""What is shipped of others is what they published, or made from it as it says, and says whose it is."""

from __future__ import annotations

import hashlib
import json
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

import pytest
from fontTools.ttLib import TTFont

VENDOR = files("prasanga.report.templates") / "vendor"
LISTED: dict[str, dict[str, Any]] = json.loads((VENDOR / "vendor.json").read_text(encoding="utf-8"))


def files_below(folder: Traversable, before: str = "") -> list[str]:
    found = []
    for entry in folder.iterdir():
        name = f"{before}{entry.name}"
        found += files_below(entry, f"{name}/") if entry.is_dir() else [name]
    return found


DERIVED = [name for name, entry in LISTED.items() if "derived_from" in entry]


@pytest.mark.parametrize("name", LISTED)
def test_a_file_is_unchanged_and_its_licence_lies_beside_it(name: str) -> None:
    entry = LISTED[name]
    assert hashlib.sha256((VENDOR / name).read_bytes()).hexdigest() == entry["sha256"]
    assert (VENDOR / entry["licence_file"]).read_text(encoding="utf-8").strip()


def test_every_file_is_listed() -> None:
    listed = {*LISTED, *(entry["licence_file"] for entry in LISTED.values()), "vendor.json"}
    assert set(files_below(VENDOR)) == listed


@pytest.mark.parametrize("name", DERIVED)
def test_a_derived_file_says_how_and_has_all_that_the_published_one_has(name: str) -> None:
    entry = LISTED[name]
    published = LISTED[entry["derived_from"]]
    assert entry["derived_by"]
    assert "derived_from" not in published
    assert {**published, **entry, "sha256": published["sha256"]} == {**entry, "sha256": published["sha256"]}
    made, unpacked = TTFont(str(VENDOR / name)), TTFont(str(VENDOR / entry["derived_from"]))
    assert made.flavor is None
    assert unpacked.flavor == "woff2"
    assert set(made.keys()) == set(unpacked.keys())
    for table in set(made.keys()) - {"GlyphOrder", "head"}:
        assert made.getTableData(table) == unpacked.getTableData(table), table
    before, after = vars(unpacked["head"]), vars(made["head"])
    assert {key for key in after if after[key] != before.get(key)} <= {"checkSumAdjustment", "flags"}


def test_the_fonts_are_there_in_both_forms_and_both_weights() -> None:
    fonts = {f"fonts/noto-sans-{script}-{weight}" for script in ("bengali", "devanagari") for weight in (400, 700)}
    assert set(DERIVED) == {f"{font}.ttf" for font in fonts}
    assert {LISTED[name]["derived_from"] for name in DERIVED} == {f"{font}.woff2" for font in fonts}
    assert all(LISTED[name]["licence"] == "OFL-1.1" for name in DERIVED)
    assert all(
        "SIL Open Font License" in (VENDOR / LISTED[name]["licence_file"]).read_text("utf-8") for name in DERIVED
    )


@pytest.mark.parametrize("name", [name for name in LISTED if name.endswith((".js", ".css"))])
def test_a_script_or_a_style_can_stand_in_a_page_and_loads_nothing(name: str) -> None:
    text = (VENDOR / name).read_text("utf-8").lower()
    assert "</script" not in text
    assert "</style" not in text
    assert "@import" not in text
