"""Sentences: what ends one, what does not, and that time grows in a straight line."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tables import read_cases

from prasanga.text import normalize_batch, split_sentences


def sentences(text: str) -> list[str]:
    return [text[start:end] for start, end in split_sentences(text)]


@pytest.mark.parametrize(
    "expected",
    [
        pytest.param(["আমি যাই।", "তুমি কি আসবে?", "না!", "শ্লোকের শেষ॥", "বাকি"], id="ends"),
        pytest.param(["কী?!", "সত্যি??", "হ্যাঁ।।", "Well!"], id="several marks end once"),
        pytest.param(["দাম ৩.৫ টাকা।", "It costs 3.5 dollars.", "Pi is 3.14."], id="numbers"),
        pytest.param(["ডা. মো. রহমান এলেন।", "ড. শহীদুল্লাহ গেলেন।", "য. সরকার।"], id="Bangla titles"),
        pytest.param(["এ. কে. ফজলুল হক।", "১০ কি.মি. দূরে।", "পৃ. ৫ দেখুন।"], id="Bangla initials and units"),
        pytest.param(["A.B. Chatterjee met Dr. Smith.", "He left at 5 p.m. with J. K. Roy."], id="English initials"),
        pytest.param(["It was no. 5 in the list.", "He said no.", "Then he left."], id="abbreviation before a number"),
        pytest.param(["See www.example.com?x=1 now.", "Yes."], id="addresses"),
        pytest.param(["সে ভাবল... তারপর গেল।", "Then... he ran.", "He waited...", "Nobody came."], id="ellipsis"),
        pytest.param(["আমি যাই না.", "সে যায়.", "শেষ."], id="full stop after short words"),
        pytest.param(['সে বলল "যাও।"', "তারপর গেল।", "(আমিও।)", "'না!'", '"এসো" বলল।'], id="closing marks stay"),
        pytest.param(["1. প্রথম।", "২. দ্বিতীয়।", "(3. third.)"], id="item numbers"),
        pytest.param(["কাজ শেষ|", "সে গেল | ক|খ।", '"যাও"|', "শেষ|"], id="bar as danda"),
        pytest.param(["डॉ. शर्मा आए।", "क्या हुआ?", "श्री. राम ठीक हैं।", "दाम ३.५ रुपये है।"], id="Hindi"),
        pytest.param(['"Go!" he said.', 'She chose "A."', "She stayed.", "What is 2.5?", "A number."], id="English"),
        pytest.param(["শেষ ।", "শুরু ।"], id="space before the danda"),
    ],
)
def test_sentences(expected: list[str]) -> None:
    assert sentences(" ".join(expected)) == expected


def test_line_ends_and_white_space() -> None:
    assert sentences("\n শিরোনাম \n\n  প্রথম বাক্য।  \n দ্বিতীয়\n") == ["শিরোনাম", "প্রথম বাক্য।", "দ্বিতীয়"]
    assert split_sentences(" \n\t ") == []
    assert split_sentences("  ক।  খ  ") == [(2, 4), (6, 7)]


def test_an_opening_quote_belongs_to_the_next_sentence() -> None:
    assert sentences('সে গেল।"এসো" বলল।') == ["সে গেল।", '"এসো" বলল।']
    assert sentences("“যাও।” “না।”") == ["“যাও।”", "“না।”"]


def test_stray_marks_join_the_sentence_before() -> None:
    assert sentences("শেষ। । ! আবার") == ["শেষ। । !", "আবার"]
    assert sentences("শেষ।\n। আবার") == ["শেষ।", "।", "আবার"]


@given(st.text(st.sampled_from("কখা্A.b1 ।?!|\"')( \n…॥ড")))
def test_spans_are_ordered_stripped_and_lose_nothing(text: str) -> None:
    spans = split_sentences(text)
    assert all(start < end and text[start:end] == text[start:end].strip() for start, end in spans)
    assert all(first[1] <= second[0] for first, second in itertools.pairwise(spans))
    kept = "".join(text[start:end] for start, end in spans)
    assert "".join(kept.split()) == "".join(text.split())
    assert all("\n" not in text[start:end] for start, end in spans)


@pytest.mark.parametrize(("unit", "expected"), read_cases(__file__, "long_lines"))
def test_a_line_of_a_million_characters(unit: str, expected: int) -> None:
    """A second each; with time that grows as the square of the length, hours."""
    text = (unit * (1_000_000 // len(unit) + 1))[:1_000_000]
    assert len(split_sentences(text)) == expected


def test_real_text(shared: Path) -> None:
    lines = (shared / "corpora/bn_wiki_sipc_ccbysa.txt").read_text("utf-8").split("\n")
    for line in normalize_batch(lines):
        spans = split_sentences(line)
        assert "".join("".join(line[start:end] for start, end in spans).split()) == "".join(line.split())
