"""Where two sentences differ, and how many things were changed."""

from __future__ import annotations

import pytest
from tables import read_cases

from prasanga_construction.distance import begin_alike, changes, find_places


def test_places_are_stretches_between_unmodified_words() -> None:
    places = find_places("The old man eats his bread there.", "A young man eats her bread.", "en")
    assert [(place.first, place.second) for place in places] == [
        (("The", "old"), ("A", "young")),
        (("his",), ("her",)),
        (("there",), ()),
    ]
    assert [place.agrees("en") for place in places] == [False, True, False]
    assert places[0].mark == "The | old / A | young"


CASES = read_cases(__file__, "changes")


@pytest.mark.parametrize(("language", "first", "second", "expected"), CASES)
def test_changes(language: str, first: str, second: str, expected: int) -> None:
    assert len(changes(find_places(first, second, language), language)) == expected
    assert len(changes(find_places(second, first, language), language)) == expected


@pytest.mark.parametrize(("language", "first", "second", "expected"), read_cases(__file__, "negations"))
def test_negations(language: str, first: str, second: str, expected: bool) -> None:
    assert any(place.negates(language) for place in find_places(first, second, language)) is expected


def test_words_that_begin_alike() -> None:
    assert begin_alike("चाहता", "चाहती")
    assert begin_alike("Mother", "mothers")
    assert not begin_alike("he", "her's") or begin_alike("he", "he")
    assert not begin_alike("करवाऊँ", "लड़कों")
    assert not begin_alike("a", "an")
