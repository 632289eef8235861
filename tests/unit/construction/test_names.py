"""Names that may be foreign, and names to put in their place."""

from __future__ import annotations

from pathlib import Path

import pytest

from prasanga.base.errors import InputError
from prasanga_construction.adaptation import has_name, possible_names, read_names, suggest_names

CANDIDATES = Path(__file__).parents[3] / "resources/candidates"


@pytest.mark.parametrize(("language", "name"), [("en", "Rahul"), ("hi", "राहुल")])
def test_the_sets_of_the_project(language: str, name: str) -> None:
    names = read_names(CANDIDATES / language)
    assert list(names) == ["hindu_female_names", "hindu_male_names", "muslim_female_names", "muslim_male_names"]
    assert names["hindu_male_names"][name] == name
    if language == "en":
        assert names["hindu_male_names"]["Rajeev"] == "Rajiv"


def test_no_such_folder(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        read_names(tmp_path / "xx")


def test_words_that_are_never_written_small_may_be_names() -> None:
    sentences = [
        "Women like Camille read on Monday.",
        "When women read, Tom's IQ rises.",
        "Camille and Rahul met McDonald.",
    ]
    assert possible_names(sentences, known=["Rahul"]) == {"Camille": 2, "When": 1, "Tom": 1}


def test_scripts_without_capitals_have_none() -> None:
    assert possible_names(["राहुल गरीब है।", "রাহুল গরিব।"]) == {}


def test_the_same_name_gets_the_same_suggestion() -> None:
    names = read_names(CANDIDATES / "en")
    alone, together = suggest_names(["Tom"], names, seed=5), suggest_names(["Camille", "Tom"], names, seed=5)
    assert alone["Tom"] == together["Tom"]
    drawn = dict(part.split(": ") for part in alone["Tom"].split("; "))
    assert all(name in names[of_set].values() for of_set, name in drawn.items())
    assert list(drawn) == list(names)


def test_names_stand_as_whole_words() -> None:
    assert has_name("Tom's shoes are old.", "Tom")
    assert has_name("She met Mary Ann.", "Mary Ann")
    assert not has_name("Tomorrow he reads.", "Tom")
    assert not has_name("Ann met Mary.", "Mary Ann")
    assert has_name("राहुल, गरीब है।", "राहुल")
