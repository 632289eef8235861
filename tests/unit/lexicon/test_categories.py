"""The categories that later stages read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from prasanga.base.errors import InputError
from prasanga.lexicon.model import (
    chosen_categories,
    read_categories,
    require_language,
    require_other_words,
    require_words,
    stimuli_of,
)

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


def test_word_lists_of_another_language_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    require_language("bn", "bn")
    monkeypatch.chdir(tmp_path)
    said = r"`language` is 'hi', but .* are for 'bn'\. Write `language: bn`, or"
    with pytest.raises(InputError, match=rf"{said} the path of word lists for 'hi' there\."):
        require_language("bn", "hi")
    (tmp_path / "resources/stimuli/hi").mkdir(parents=True)
    (tmp_path / "resources/suffix_groups").mkdir()
    (tmp_path / "resources/suffix_groups/hi.yaml").touch()
    ours = r"`lexicon: \{stimuli: resources/stimuli/hi, suffix_groups: resources/suffix_groups/hi\.yaml\}`\."
    with pytest.raises(InputError, match=rf"{said} {ours}"):
        require_language("bn", "hi")


def test_lists_too_short_for_an_effect_are_refused() -> None:
    with pytest.raises(InputError) as error:
        require_words(CATEGORIES, ["C2", "C1"], key="seat.categories", files={"C1": {"y": "stimuli/y.yaml"}})
    assert str(error.value).splitlines() == [
        "the set 'y' of the category C2 has 1 word, but a target set needs 2 for an effect size. Add words to it, or"
        " take C2 out of `seat.categories`.",
        "stimuli/y.yaml: the set 'y' of the category C1 has 1 word, but a target set needs 2 for an effect size. Add"
        " words to it, or take C1 out of `seat.categories`.",
    ]
    good = {"name": "z", "stimuli": ["ক", "খ"]}
    enough = {"C1": {**CATEGORIES["C1"], "targets": [good, good]}}
    require_words(enough, ["C1"])  # an attribute set needs one
    enough["C1"]["attributes"] = [good, {"name": "none", "stimuli": []}]
    with pytest.raises(InputError, match=r"'none' of the category C1 has 0 words, but an attribute set needs 1 for"):
        require_words(enough, ["C1"])


def test_a_word_that_is_target_and_attribute_is_refused() -> None:
    flowers, insects, good, bad = (
        {"name": name, "stimuli": words}
        for name, words in (("flowers", ["a", "b"]), ("insects", ["c", "d"]), ("good", ["e", "b"]), ("bad", ["d", "c"]))
    )
    category = {"targets": [flowers, insects], "attributes": [good, bad]}
    with pytest.raises(InputError) as error:
        require_other_words({"C1": category, "C2": category}, ["C1"], key="seat.categories")
    first, second = str(error.value).splitlines()
    assert first.startswith("the category C1 has b among its targets (the set 'flowers') and its attributes ('good')")
    assert first.endswith("take C1 out of `seat.categories`.")
    assert "has c, d among its targets (the set 'insects') and its attributes ('bad')" in second
    require_other_words({"C1": {**category, "attributes": [{"name": "x", "stimuli": ["e"]}] * 2}}, ["C1"])
