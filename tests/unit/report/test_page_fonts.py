"""The fonts in the page: those of the languages it has, whole, under the names of the style sheet."""

from __future__ import annotations

import base64
import re
from importlib.resources import files

from prasanga.report.section import font_faces


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
    fonts = files("prasanga.report.templates") / "vendor/fonts"
    assert base64.b64decode(regular) == (fonts / "noto-sans-bengali-400.woff2").read_bytes()
    assert base64.b64decode(bold) == (fonts / "noto-sans-bengali-700.woff2").read_bytes()


def test_the_range_has_all_letters_signs_and_joiners_but_no_latin() -> None:
    for language, block in (("bn", range(0x980, 0x9FF)), ("hi", range(0x900, 0x980))):
        (listed,) = set(re.findall(r"unicode-range: ([^;]+);", font_faces([language])))
        spans = [part[2:].split("-") for part in listed.split(",")]
        covered = {code for span in spans for code in range(int(span[0], 16), int(span[-1], 16) + 1)}
        assert covered >= {*block, 0x964, 0x965, 0x200C, 0x200D}
        assert not covered & set(range(0x250))
