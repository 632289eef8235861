"""Styles and scripts of the page: their order, their policy, and what may not stand in them."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from importlib.resources import files

import pytest

from prasanga.report.section import LIBRARIES, page_assets, policy_of


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
    ("languages", "families"),
    [([], {"Bengali"}), (["hi"], {"Bengali", "Devanagari"}), (["en"], {"Bengali"})],
)
def test_a_page_brings_the_fonts_of_its_languages(languages: list[str], families: set[str]) -> None:
    style = page_assets(languages)["style"]
    found = re.findall(r'@font-face \{ font-family: "Noto Sans (\w+)"; font-style: normal; font-weight: (\d+)', style)
    assert set(found) == {(family, weight) for family in families for weight in ("400", "700")}
    assert re.findall(r"url\((?![\"']?data:)", style) == []


def test_licences_go_with_the_libraries() -> None:
    assets = page_assets()
    whole = "\n".join([assets["style"], *assets["scripts"]])
    vendor = files("prasanga.report.templates") / "vendor"
    listed = json.loads((vendor / "vendor.json").read_text("utf-8"))
    for about in (listed[name] for name in LIBRARIES):
        assert (vendor / about["licence_file"]).read_text("utf-8").strip() in whole
        assert f"{about['package']} {about['version']}, MIT" in whole


def test_no_script_and_no_style_ends_its_own_element() -> None:
    assets = page_assets()
    for element, texts in (("script", [assets["first"], *assets["scripts"]]), ("style", [assets["style"]])):
        assert not any(re.search(f"</{element}|<!--|\r", text, re.IGNORECASE) for text in texts)
