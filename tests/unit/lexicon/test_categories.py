"""The categories that later stages read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from prasanga.errors import InputError
from prasanga.lexicon.categories import chosen_categories, read_categories, require_language, stimuli_of

CATEGORIES = {
    name: {
        "title": f"title of {name}",
        "targets": [
            {"name": "x", "gloss": "an x", "stimuli": ["ক", "খ"]},
            {"name": "y", "gloss": "a y", "stimuli": ["গ"]},
        ],
        "attributes": [
            {"name": "a", "gloss": "an a", "stimuli": [name]},
            {"name": "b", "gloss": "a b", "stimuli": ["ক"]},
        ],
    }
    for name in ("C1", "C2")
} | {"glosses": {"ক": "k"}}


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


def test_categories_of_earlier_results(tmp_path: Path) -> None:
    path = tmp_path / "categories.json"
    with pytest.raises(InputError, match=r"categories\.json: no such file, and the word lists"):
        read_categories(path)
    path.write_text(json.dumps(CATEGORIES)[:-1])
    with pytest.raises(InputError, match=r"categories\.json: damaged"):
        read_categories(path)
    path.write_text(json.dumps(CATEGORIES))
    assert read_categories(path) == CATEGORIES


def test_word_lists_of_another_language_are_refused() -> None:
    require_language("bn", "bn")
    with pytest.raises(InputError, match=r"`language` is 'hi', but .* are for 'bn'\. Write `language: bn`"):
        require_language("bn", "hi")
