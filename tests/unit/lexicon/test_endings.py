from __future__ import annotations

import pytest

from prasanga.lexicon.inflection import (
    after_hyphen,
    after_vowel,
    begins_with_vowel,
    begins_with_vowel_sign,
    ending_class,
    ends_as,
    ends_in_vowel,
)
from prasanga.text import normalize


@pytest.mark.parametrize(
    ("stem", "expected"),
    [
        ("গোলাপ", "consonant"),
        ("গল্প", "consonant"),
        ("রং", "consonant"),
        ("বিদ্যুৎ", "consonant"),
        ("দুঃখ", "consonant"),
        ("পাহাড়", "consonant"),
        ("বিপর্যয়", "consonant"),
        ("বাবা", "vowel"),
        ("জবা", "vowel"),  # one vowel sign, but the inherent vowel of জ before it
        ("ময়লা", "vowel"),
        ("স্বাধীনতা", "vowel"),
        ("মেয়ে", "vowel"),
        ("নাট্যকলা", "vowel"),
        ("মৌমাছি", "vowel"),
        ("ঝিঁঝিঁ", "vowel"),
        ("রেডিও", "vowel"),
        ("মা", "monosyllable"),
        ("স্ত্রী", "monosyllable"),
        ("গাঁ", "monosyllable"),
        ("মৌ", "monosyllable"),
        ("ভাই", "diphthong"),
        ("বউ", "diphthong"),
        ("জুঁই", "diphthong"),
        ("নাও", "diphthong"),
        ("সানাই", "diphthong"),
        ("ঘরের কাজ", "consonant"),
        ("সৎ মা", "monosyllable"),
        ("ফুল", "consonant"),
        ("फूल", "consonant"),
        ("लड़का", "vowel"),
        ("माँ", "monosyllable"),
        ("भाई", "diphthong"),
        ("घर", "consonant"),
        ("किताब", "consonant"),
        ("चाकू", "vowel"),
        ("गाढ़", "consonant"),
        ("rose", "plain"),
        ("day", "plain"),
        ("wolf", "plain"),
        ("piano", "plain"),
        ("café", "plain"),
        ("city", "consonant_y"),
        ("Soliloquy", "consonant_y"),
        ("lotus", "sibilant"),
        ("Alex", "sibilant"),
        ("wish", "sibilant"),
        ("church", "sibilant"),
        ("bed bug", "plain"),
        ("роза", "other"),
        ("গোলাপ২", "other"),
    ],
)
def test_ending_class(stem: str, expected: str) -> None:
    assert ending_class(normalize(stem)) == expected


def test_joiners_do_not_count() -> None:
    assert ending_class("মা\u200c") == "monosyllable"


@pytest.mark.parametrize(("ending", "expected"), [("ের", True), ("ে", True), ("র", False), ("ই", False), ("", False)])
def test_vowel_sign_at_the_beginning(ending: str, expected: bool) -> None:
    assert begins_with_vowel_sign(ending) is expected


@pytest.mark.parametrize(
    ("ending", "expected"),
    [
        ("ের", True),
        ("ों", True),
        ("ओं", True),
        ("es", True),
        ("यों", False),
        ("ँ", False),
        ("কে", False),
        ("s", False),
        ("'s", False),
        ("", False),
    ],
)
def test_vowel_at_the_beginning(ending: str, expected: bool) -> None:
    assert begins_with_vowel(ending) is expected


@pytest.mark.parametrize(
    ("stem", "endings", "expected"),
    [
        ("लड़की", ("-ी",), True),
        ("लड़का", ("-ी",), False),
        ("भाई", ("-ी", "-ई"), True),
        ("wolf", ("-fe", "-f"), True),
        ("wolf", ("sibilant", "plain"), True),
        ("wolf", ("sibilant", "-fe"), False),
        ("роза", ("any",), True),
        ("роза", ("consonant", "vowel"), False),
    ],
)
def test_classes_and_endings_written_out(stem: str, endings: tuple[str, ...], expected: bool) -> None:
    assert ends_as(stem, endings) is expected


def test_after_a_vowel_a_vowel_sign_becomes_its_letter() -> None:
    assert [ends_in_vowel(stem) for stem in ("भा", "कुआ", "लड़क", "শিং", "")] == [True, True, False, False, False]
    assert after_vowel("ियों") == "इयों"
    assert after_vowel("ओं") == "ओं"
    assert after_vowel("") == ""


def test_after_a_hyphen_a_vowel_sign_becomes_its_letter() -> None:
    assert after_hyphen("ের") == ("এর",)
    assert after_hyphen("ো") == ("ও",)
    assert after_hyphen("কে") == ("কে",)


def test_after_a_hyphen_the_glide_may_go() -> None:
    ending = normalize("য়ের")
    assert after_hyphen(ending) == (ending,)
    assert after_hyphen(ending, glide_may_go=True) == (ending, "এর")
