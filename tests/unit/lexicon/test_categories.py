"""The categories that later stages read."""

from __future__ import annotations

import pytest
from tables import read_data

from prasanga.base.errors import InputError
from prasanga.lexicon.model import chosen_categories, require_language, require_measurable, stimuli_of

CATEGORIES = read_data(__file__, "categories")


def test_what_is_chosen_holds_no_gloss() -> None:
    assert chosen_categories(CATEGORIES, ["C2"]) == {
        "C2": {
            "title": "title of C2",
            "targets": [{"name": "x", "stimuli": ["ক", "খ"]}, {"name": "y", "stimuli": ["গ"]}],
            "attributes": [{"name": "a", "stimuli": ["C2"]}, {"name": "b", "stimuli": ["ক"]}],
        }
    }


def test_stimuli_stand_once_in_the_order_of_mention() -> None:
    assert stimuli_of(CATEGORIES) == ["ক", "খ", "গ", "C1", "C2"]
    assert stimuli_of(CATEGORIES, ["C2"]) == ["ক", "খ", "গ", "C2"]


def test_a_category_that_is_not_there_is_named() -> None:
    with pytest.raises(InputError, match=r"names 'C3', which the lexicon does not have\. Allowed: C1, C2\."):
        chosen_categories(CATEGORIES, ["C1", "C3"])


def test_word_lists_of_another_language_are_refused() -> None:
    require_language("bn", "bn")
    for key, files in (
        ("lexicon.stimuli", r"\{stimuli: resources/stimuli/hi, suffix_groups: resources/suffix_groups/hi\.yaml\}"),
        ("seat.templates", r"\{templates: resources/templates/hi/seat\.yaml\}"),
    ):
        with pytest.raises(InputError, match=rf"`language` is 'hi', but `{key}` is for 'bn'\. Write .*{files}"):
            require_language("bn", "hi", key=key)


def test_categories_without_an_effect_size_are_refused() -> None:
    sets = [("x", "ab"), ("y", "cd"), ("one", "e"), ("none", ""), ("b", "bf"), ("far", "gh")]
    x, y, one, none, b, far = (
        {"name": name, "stimuli": list(words), "searched": name != "far"} for name, words in sets
    )
    files = {"C2": {"one": "stimuli/one.yaml"}}
    categories = {
        "C1": {"targets": [x, y], "attributes": [far, one]},
        "C2": {"targets": [x, one], "attributes": [none, b]},
    }
    require_measurable(categories, ["C1"])
    with pytest.raises(InputError) as error:
        require_measurable(categories, ["C2", "C1"], key="seat.categories", files=files, in_texts=True)
    assert str(error.value).splitlines() == [
        "stimuli/one.yaml: the set 'one' of the category C2 has 1 word, but an effect size needs 2. Add words to it,"
        " or take C2 out of `seat.categories`.",
        "the set 'none' of the category C2 has 0 words, but an effect size needs 1. Add words to it, or take C2 out of"
        " `seat.categories`.",
        "the category C2 has b in the sets 'x' and 'b'. Take it out of one of them, or take C2 out of"
        " `seat.categories`.",
        "the set 'far' of the category C1 is for templates only (`searched: false`). Name C1 under `seat.categories`"
        " instead of `seat.categories`.",
    ]
