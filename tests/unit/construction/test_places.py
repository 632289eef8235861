"""Where two sentences differ, and how many things were changed."""

from __future__ import annotations

import pytest

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


CASES = [
    ("en", "He loves his dog.", "She loves her dog.", 0),
    ("en", "Poor people are honest.", "Rich people are honest.", 1),
    ("en", "Poor people help poor people.", "Rich people help rich people.", 1),
    ("en", "The mother says mothers cook.", "The father says fathers cook.", 1),
    ("en", "Women can't do politics.", "Men can do politics.", 2),
    ("hi", "लड़का डॉक्टर बनना चाहता है।", "लड़की डॉक्टर बनना चाहती है।", 0),
    ("hi", "पुरुष डॉक्टर बनना चाहता है।", "महिला डॉक्टर बनना चाहती है।", 1),
    ("hi", "पुरुष ने पुरुषों को देखा।", "महिला ने महिलाओं को देखा।", 1),
    ("hi", "गरीब लोग ईमानदार होते हैं।", "अमीर लोग बेईमान होते हैं।", 2),
    ("hi", "पुरुष करता है।", "महिला करती है।", 1),
    ("hi", "शहर में लोग रहते हैं।", "ग्रामीण इलाकों में लोग रहते हैं।", 1),
    ("en", "Senior citizens read.", "Young people read.", 1),
    ("bn", "ধনী মানুষ বই পড়ে।", "গরিব মানুষ বই পড়ে।", 1),
]


@pytest.mark.parametrize(("language", "first", "second", "expected"), CASES)
def test_changes(language: str, first: str, second: str, expected: int) -> None:
    assert len(changes(find_places(first, second, language), language)) == expected
    assert len(changes(find_places(second, first, language), language)) == expected


@pytest.mark.parametrize(
    ("language", "first", "second", "expected"),
    [
        ("en", "Men don't cry.", "Men cry.", True),
        ("en", "Men don't cry.", "Women don't cry.", False),
        ("hi", "पुरुष नहीं रोते।", "पुरुष रोते हैं।", True),
        ("bn", "পুরুষ কাঁদে না।", "পুরুষ কাঁদে।", True),
    ],
)
def test_negations(language: str, first: str, second: str, expected: bool) -> None:
    assert any(place.negates(language) for place in find_places(first, second, language)) is expected


def test_words_that_begin_alike() -> None:
    assert begin_alike("चाहता", "चाहती")
    assert begin_alike("Mother", "mothers")
    assert not begin_alike("he", "her's") or begin_alike("he", "he")
    assert not begin_alike("करवाऊँ", "लड़कों")
    assert not begin_alike("a", "an")
