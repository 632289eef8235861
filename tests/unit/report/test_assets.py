"""What the page brings along: styles and scripts under a policy, files of others as they published them, and fonts."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

import pytest
from fontTools.ttLib import TTFont

from prasanga.report.section import LIBRARIES, font_faces, page_assets, policy_of

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


def test_the_policy_names_each_script_and_nothing_else() -> None:
    assets = page_assets()
    texts = [assets["first"], *assets["scripts"]]
    digests = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in texts]
    policy = dict(part.strip().split(" ", 1) for part in assets["policy"].split(";"))
    assert policy["script-src"].split() == [f"'sha256-{digest}'" for digest in digests]
    assert policy["default-src"] == "'none'"
    assert policy["img-src"] == policy["font-src"] == "data:"
    assert '"' not in assets["policy"]
    assert "script-src 'none';" in policy_of([])


@pytest.mark.parametrize(
    ("languages", "families"), [([], {"Bengali"}), (["hi"], {"Bengali", "Devanagari"}), (["en"], {"Bengali"})]
)
def test_a_page_brings_the_fonts_of_its_languages(languages: list[str], families: set[str]) -> None:
    style = page_assets(languages)["style"]
    found = re.findall(r'@font-face \{ font-family: "Noto Sans (\w+)"; font-style: normal; font-weight: (\d+)', style)
    assert set(found) == {(family, weight) for family in families for weight in ("400", "700")}
    assert re.findall(r"url\((?![\"']?data:)", style) == []


def test_licences_go_with_the_libraries() -> None:
    assets = page_assets()
    whole = "\n".join([assets["style"], *assets["scripts"]])
    for about in (LISTED[name] for name in LIBRARIES):
        assert (VENDOR / about["licence_file"]).read_text("utf-8").strip() in whole
        assert f"{about['package']} {about['version']}, MIT" in whole


def test_no_script_and_no_style_ends_its_own_element() -> None:
    assets = page_assets()
    for element, texts in (("script", [assets["first"], *assets["scripts"]]), ("style", [assets["style"]])):
        assert not any(re.search(f"</{element}|<!--|\r", text, re.IGNORECASE) for text in texts)


def test_a_font_is_the_one_in_the_rule_on_every_machine() -> None:
    rules = font_faces(["hi", "bn", "en", "bn"]).splitlines()
    assert len(rules) == 4
    for rule in rules:
        assert 'src: url("data:font/woff2;base64,' in rule
        assert "local(" not in rule
        assert "http" not in rule
        assert "</" not in rule


def test_the_data_are_the_shipped_files() -> None:
    (regular, bold) = re.findall(r"base64,([A-Za-z0-9+/=]+)", font_faces(["bn"]))
    for weight, data in ((400, regular), (700, bold)):
        assert base64.b64decode(data) == (VENDOR / f"fonts/noto-sans-bengali-{weight}.woff2").read_bytes()


def test_the_range_has_all_letters_signs_and_joiners_but_no_latin() -> None:
    for language, block in (("bn", range(0x980, 0x9FF)), ("hi", range(0x900, 0x980))):
        (listed,) = set(re.findall(r"unicode-range: ([^;]+);", font_faces([language])))
        spans = [part[2:].split("-") for part in listed.split(",")]
        covered = {code for span in spans for code in range(int(span[0], 16), int(span[-1], 16) + 1)}
        assert covered >= {*block, 0x964, 0x965, 0x200C, 0x200D}
        assert not covered & set(range(0x250))
