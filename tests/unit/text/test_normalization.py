"""`normalize`: small cases of our own, and equality with the reference outputs where they are at hand."""

from __future__ import annotations

import csv
import json
import time
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tables import read_data

from prasanga.text import normalize
from prasanga.text.normalization import normalizer
from prasanga.text.words import unicode_form


def from_hex(codes: str) -> str:
    return "".join(chr(int(code, 16)) for code in codes.split())


def read_table(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))


NORMALIZED: dict[str, list[str]] = {
    **read_data(__file__, "normalized"),
    "mojibake": ["বই".encode().decode("latin-1"), "বই"],
}


@pytest.mark.parametrize(("text", "expected"), NORMALIZED.values(), ids=NORMALIZED)
def test_cases(text: str, expected: str) -> None:
    assert normalize(text) == expected


def test_form() -> None:
    assert normalize("½ \u09cb", form="NFC") == "½ \u09cb"
    assert normalize("½", form="NFKC") == "1⁄2"
    assert normalize("\u09cb", form="NFD") == "\u09c7\u09be"


@given(
    st.lists(
        st.sampled_from([*"e&;#ক\u09bc\u0301\u0323\u0345\u0f73\u0f81\u1100\u1161\u11a8\u093c\u0344é"]), max_size=300
    )
)
def test_a_unicode_form_is_that_of_unicodedata(letters: list[str]) -> None:
    text = "".join(letters)
    marks = "".join(letter for letter in letters if unicodedata.combining(letter) or letter in "\u0f73\u0f81")
    for each in (text, f"e{marks * 3}a{marks}"):
        for form in ("NFC", "NFD", "NFKC", "NFKD"):
            assert unicode_form(form, each) == unicodedata.normalize(form, each)


@pytest.mark.parametrize("name", ["bangla", "nukta", "nfc", "nfkc"])
@pytest.mark.parametrize(
    "text",
    [
        "e" + "\u0301\u0323" * 100_000,
        "ক" + "\u09bc\u0981\u0301" * 50_000,
        "क" + "\u093c" * 100_000,
        "ङ" + "\u093c" * 100_000,
        "\u0f71\u0f73\u0f81" * 50_000,
        "\u1100\u1161\u11a8\u0301" * 50_000,
        "\u200d\u200c" * 100_000,
        "Ã" * 100_000,
        "\x1b[" * 50_000 + "0m" * 50_000,
        "\u09c7\u0981" * 50_000 + "\u09be",
        "&" * 100_000 + ";",
        ";" * 100_000,
    ],
    ids=range(12),
)
def test_every_text_takes_linear_time(name: str, text: str) -> None:
    began = time.process_time()
    one = normalizer(name).one(text)
    assert time.process_time() - began < 5
    assert normalizer(name)([text, "ফুল"])[0] == one


def test_replacements() -> None:
    text = "দেখো, www.example.com/a?b=1। 😀👨🏻‍🎨 ভালো! © ❤"
    assert normalize(text) == text
    assert normalize(text, urls="<url>") == "দেখো, <url>। 😀👨🏻‍🎨 ভালো! © ❤"
    assert normalize(text, emoji="E") == "দেখো, www.example.com/a?b=1। EE ভালো! © E"
    assert normalize(text, punctuation=" ") == "দেখো www example com a b 1 😀👨🏻‍🎨 ভালো © ❤"
    # The angle brackets of a replacement are not punctuation of the text.
    assert normalize(text, urls="<url>", punctuation="", emoji="") == "দেখো <url> ভালো © "


def test_replacement_by_a_call_and_without_escapes() -> None:
    assert normalize("ক, খ", punctuation=lambda match: f"[{match[0]}]") == "ক[,] খ"
    assert normalize("ক, খ", punctuation=r"\1") == r"ক\1 খ"


def test_urls_end_before_punctuation() -> None:
    assert normalize("(https://bn.example.org/wiki/ফুল).", urls="U") == "(U)."
    assert normalize("http://a.b/c/ ও ftp://x.y", urls="U") == "U ও U"


def test_reference_cases(shared: Path) -> None:
    cases = json.loads((shared / "reference/golden/normalize_cases.json").read_text("utf-8"))
    assert len(cases) > 30
    assert [normalize(case["in"]) for case in cases] == [case["out"] for case in cases]


def test_reference_text(shared: Path) -> None:
    folder = shared / "reference/banglacontextualbias/CeatDataCollection/sample_data"
    lines = (folder / "porjotonlipi.bn").read_text("utf-8").split("\n")
    expected = (shared / "reference/golden/normalize_porjotonlipi.txt").read_text("utf-8").split("\n")
    assert [normalize(line) for line in lines] == expected


def test_reference_code_points(shared: Path) -> None:
    rows = read_table(shared / "reference/golden/normalize_single_code_points.tsv")
    differing = {from_hex(row["code_point"][2:]): from_hex(row["output_code_points"]) for row in rows}
    wrong = {}
    # U+0000 is left out: the reference table begins after it, and ftfy deletes it as it does its neighbours.
    for character in map(chr, range(1, 0x20000)):
        if unicodedata.category(character) in ("Cn", "Cs"):
            continue
        text = f"ক{character}ক"
        expected = f"ক{differing[character]}ক" if character in differing else unicodedata.normalize("NFKC", text)
        if (found := normalize(text)) != expected:
            wrong[f"U+{ord(character):04X}"] = (found, expected)
    assert wrong == {}


def test_reference_bengali_sequences(shared: Path) -> None:
    rows = read_table(shared / "reference/golden/normalize_bengali_sequences.tsv")
    differing = {from_hex(row["input"]): from_hex(row["output"]) for row in rows}
    block = [chr(code) for code in range(0x0980, 0x0A00) if unicodedata.category(chr(code)) != "Cn"]
    sequences = [first + second for first in block for second in block]
    sequences += [f"\u09c7{middle}\u09d7" for middle in block]
    assert set(differing) <= set(sequences)
    expected = {text: differing.get(text, unicodedata.normalize("NFKC", text)) for text in sequences}
    assert {text: normalize(text) for text in sequences} == expected
