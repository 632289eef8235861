"""Text made to fit: shortened in the middle, wrapped, thinned out."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest

from prasanga.report.figures.canvas import house_style
from prasanga.report.figures.fonts import ELLIPSIS, shortened, shortened_apart, thinned, width_of, wrapped


@pytest.fixture(autouse=True)
def style() -> Iterator[None]:
    with house_style("column"):
        yield


def test_a_text_that_fits_is_as_it_was() -> None:
    assert shortened("muril-large", 6, 200) == "muril-large"
    assert shortened(" two \n lines ", 6, 200) == "two lines"


def test_a_long_text_loses_its_middle_and_no_more() -> None:
    text = "abcdefghij" * 8
    for room in (30.0, 60.0, 120.0):
        short = shortened(text, 6, room)
        start, ellipsis, end = short.partition(ELLIPSIS)
        assert ellipsis
        assert text.startswith(start)
        assert text.endswith(end)
        assert 0 <= len(start) - len(end) <= 1
        assert width_of(short, 6) <= room
        longer = text[: len(start) + 1] + ELLIPSIS + text[len(text) - len(end) - 1 :]
        assert width_of(longer, 6) > room
    assert width_of(shortened(text, 6, 60, bold=True), 6, bold=True) <= 60
    assert shortened(text, 6, 0.1) == ELLIPSIS


def test_letters_keep_their_marks_and_conjuncts() -> None:
    text = "ক্ষ্মী" * 30  # three consonants joined and a vowel sign: one letter to a reader
    start, _, end = shortened(text, 6, 60).partition(ELLIPSIS)
    assert start
    assert start.replace("ক্ষ্মী", "") == end.replace("ক্ষ্মী", "") == ""


def test_texts_that_would_look_the_same_are_numbered() -> None:
    one, other = f"model-{'x' * 60}-large", f"model-{'x' * 30}y{'x' * 29}-large"
    first, second, third = shortened_apart([one, other, "small"], 6, 80)
    assert first.endswith(" (1)")
    assert second.endswith(" (2)")
    assert third == "small"
    assert max(width_of(first, 6), width_of(second, 6)) <= 80


def test_lines_are_as_long_as_they_may_be() -> None:
    words = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
    lines = wrapped(" ".join(words), 6, 50)
    assert " ".join(lines).split() == words
    assert all(width_of(line, 6) <= 50 for line in lines)
    for line, after in itertools.pairwise(lines):
        assert width_of(f"{line} {after.split()[0]}", 6) > 50
    assert wrapped("a\N{NO-BREAK SPACE}b c", 6, width_of("a b", 6) + 0.5) == ["a\N{NO-BREAK SPACE}b", "c"]
    assert ELLIPSIS in wrapped("a " + "x" * 90, 6, 50)[1]
    assert wrapped("", 6, 50) == []


def test_labels_too_near_to_the_next_are_left_out() -> None:
    assert thinned(["9", "12", "25", "75"], [0, 10, 20, 30], 10) == ["9", "12", "25", "75"]
    assert thinned(["9", "12", "25", "75"], [0, 10, 20, 30], 11) == ["", "12", "", "75"]
    assert thinned(["a", "", "b"], [0, 1, 2], 1.5) == ["a", "", "b"]
