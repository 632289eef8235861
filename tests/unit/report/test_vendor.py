"""What is shipped of others is what they published, or made from it as it says, and says whose it is."""

from __future__ import annotations

import hashlib
from importlib.resources.abc import Traversable

import pytest
from fontTools.ttLib import TTFont

from prasanga.report.vendor import place_of, text_of, vendored


def files_below(folder: Traversable, before: str = "") -> list[str]:
    found = []
    for entry in folder.iterdir():
        name = f"{before}{entry.name}"
        found += files_below(entry, f"{name}/") if entry.is_dir() else [name]
    return found


DERIVED = [name for name, entry in vendored().items() if entry.derived_from]


@pytest.mark.parametrize("name", vendored())
def test_a_file_is_unchanged_and_its_licence_lies_beside_it(name: str) -> None:
    entry = vendored()[name]
    assert hashlib.sha256(place_of(name).read_bytes()).hexdigest() == entry.sha256
    assert place_of(entry.licence_file).read_text(encoding="utf-8").strip()


def test_every_file_is_listed() -> None:
    listed = {*vendored(), *(entry.licence_file for entry in vendored().values()), "vendor.json", "__init__.py"}
    assert {name for name in files_below(place_of("")) if "__pycache__" not in name} == listed


@pytest.mark.parametrize("name", DERIVED)
def test_a_derived_file_says_how_and_has_all_that_the_published_one_has(name: str) -> None:
    entry = vendored()[name]
    published = vendored()[entry.derived_from]
    assert entry.derived_by
    assert not published.derived_from
    assert entry[:5] == published[:5]  # package, version, path, licence and its file
    made, unpacked = TTFont(str(place_of(name))), TTFont(str(place_of(entry.derived_from)))
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
    assert {vendored()[name].derived_from for name in DERIVED} == {f"{font}.woff2" for font in fonts}
    assert all(vendored()[name].licence == "OFL-1.1" for name in DERIVED)
    assert all("SIL Open Font License" in text_of(vendored()[name].licence_file) for name in DERIVED)


@pytest.mark.parametrize("name", [name for name in vendored() if name.endswith((".js", ".css"))])
def test_a_script_or_a_style_can_stand_in_a_page_and_loads_nothing(name: str) -> None:
    text = text_of(name).lower()
    assert "</script" not in text
    assert "</style" not in text
    assert "@import" not in text
