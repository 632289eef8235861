"""Sentences: what ends one, what does not, and that time grows in a straight line."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tables import read_cases, read_data

from prasanga.text import normalize_batch, split_sentences


def sentences(text: str) -> list[str]:
    return [text[start:end] for start, end in split_sentences(text)]


SENTENCES = read_data(__file__, "sentences")


@pytest.mark.parametrize("expected", SENTENCES.values(), ids=SENTENCES)
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
