"""Word sets for templates (classes, sets that are not looked for, joined sets), and words put into sentences."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import shipped
from tables import read_table, read_text

from prasanga.base.errors import InputError
from prasanga.lexicon import Lexicon, Stimulus, WordSet, categories_of, filled_templates, forms_table, load_templates
from prasanga.lexicon.model import spelling_of
from prasanga.lexicon.templates import require_classes, texts_of, with_article
from prasanga.plan import plan_lexicon
from prasanga.sentences import Matcher

NAMES = read_text(__file__, "hindu_names.yaml")
OTHER_NAMES = read_text(__file__, "muslim_names.yaml")
JOINED = "{set: names, sets: [hindu_names, muslim_names], gloss: all names}"
RESOURCES = Path(__file__).parents[3] / "resources"


@pytest.fixture
def named(files: Any) -> Any:
    """The small lexicon with two sets that stand in templates only, joined in a second category."""
    files.path("a_hindu_names").write_text(NAMES, encoding="utf-8")  # read before all other sets
    files.path("muslim_names").write_text(OTHER_NAMES, encoding="utf-8")
    return files.append(
        "categories", f"  S1: {{title: Names, targets: [{JOINED}, insects], attributes: [good, bad]}}\n"
    )


def message(files: Any) -> str:
    with pytest.raises(InputError) as error:
        files.load()
    return str(error.value)


def test_words_have_the_class_of_their_set_or_their_own(files: Any) -> None:
    files.change("flowers", "words:", "class: thing\nwords:")
    files.change("flowers", "group: thing}", "group: thing, class: flower}")
    classes = {stimulus.name: stimulus.word_class for stimulus in files.load().stimuli}
    assert classes == {"পচা": "", "গোলাপ": "flower", "রং": "thing", "সৎ": "", "মাছি": "", "মা": ""}


def test_a_class_is_said_once_for_all_sets(named: Any) -> None:
    colour = next(stimulus for stimulus in named.load().stimuli if stimulus.name == "রং")
    assert colour == Stimulus("রং", "colour", ("thing",), ("রঙ",), "person_name")
    named.change("flowers", "words:", "class: thing\nwords:")
    expected = r"flowers\.yaml, line 6: 1 word\(s\) of this study differ from another set .* class"
    assert re.search(expected, message(named))


def test_what_is_not_searched_is_not_looked_for(named: Any) -> None:
    lexicon = named.load()
    forms = {form.stimulus for form in lexicon.forms}
    assert forms == {"পচা", "গোলাপ", "রং", "সৎ", "মাছি", "মা"}  # রং is looked for as a flower
    assert "অনিমার" not in lexicon.claims()
    found = [match.form for match in Matcher(lexicon).find("অনিমার গোলাপের রং")]
    assert found == ["গোলাপের", "রং"]
    assert lexicon.inflect("অনিমা", case="genitive") == "অনিমার"
    assert [stimulus.name for stimulus in lexicon.stimuli][-2:] == ["অনিমা", "রহিমা"]


def test_sets_for_templates_leave_the_table_of_forms_as_it_is(files: Any) -> None:
    before = forms_table(files.load())
    files.path("a_hindu_names").write_text(NAMES, encoding="utf-8")
    files.path("muslim_names").write_text(OTHER_NAMES, encoding="utf-8")
    assert forms_table(files.load()).equals(before)


def test_what_is_not_searched_needs_no_decision(files: Any) -> None:
    """A form that another stimulus claims, and a spelling that is another's variant, harm nothing in templates."""
    words = "  - {stimulus: রঙ, group: thing}\n  - {stimulus: গোলাপের, group: fixed}\n"
    files.append("insects", words)
    assert "has the spelling রঙ, and so has" in message(files)
    files.change("insects", words, "")
    text = f"set: more\nsearched: false\nclass: x\nwords:\n{words}"
    files.path("more").write_text(text, encoding="utf-8")
    lexicon = files.load()
    assert lexicon.claims()["গোলাপের"] == ("গোলাপ",)
    assert lexicon.inflect("রঙ", case="genitive") == "রঙের"


def test_joined_sets_have_each_word_once_in_order(named: Any) -> None:
    names = named.load().categories["S1"].targets[0]
    assert names == WordSet("names", "all names", ("অনিমা", "রং", "রহিমা"), searched=False)
    plain = categories_of(named.load())["S1"]["targets"]
    assert plain[0] == {"name": "names", "gloss": "all names", "stimuli": ["অনিমা", "রং", "রহিমা"], "searched": False}
    assert plain[1] == {"name": "insects", "gloss": "insects", "stimuli": ["মাছি", "মা"]}


def test_a_joined_set_is_searched_if_all_of_its_sets_are(named: Any) -> None:
    named.change("categories", "[hindu_names, muslim_names]", "[flowers, muslim_names]")
    assert not named.load().categories["S1"].targets[0].searched
    named.change("muslim_names", "searched: false\n", "").change("a_hindu_names", "searched: false\n", "")
    assert named.load().categories["S1"].targets[0] == WordSet("names", "all names", ("গোলাপ", "রং", "রহিমা", "অনিমা"))


@pytest.mark.parametrize(("old", "new", "expected"), read_table(__file__, "joined_sets"))
def test_wrong_joined_sets(named: Any, old: str, new: str, expected: str) -> None:
    assert re.search(expected, message(named.change("categories", old, new)))


def test_a_plan_notices_classes_and_what_is_searched(named: Any) -> None:
    def plan() -> Any:
        words = {"stimuli": str(named.stimuli), "suffix_groups": str(named.groups), "normalization": None}
        return plan_lexicon(words)

    first = plan()
    named.change("muslim_names", "person_name", "name")
    with pytest.raises(InputError, match=r"`- \{stimulus: অনিমা\}` at the first place, or the same entry"):
        plan()
    named.change("a_hindu_names", "person_name", "name")
    classes = plan()
    assert (classes.forms, classes.categories) == (first.forms, first.categories)
    assert classes.words != first.words
    named.change("muslim_names", "searched: false\n", "").change("a_hindu_names", "searched: false\n", "")
    searched = plan()
    assert searched.forms != first.forms
    assert "searched" not in searched.categories["S1"]["targets"][0]


# Sentences.


def templates(tmp_path: Path, text: str, *, language: str = "bn", word_class: str = "x") -> Any:
    path = tmp_path / "seat.yaml"
    entries = f"  {word_class}:\n    - {{id: t, text: '{text}'}}\n"
    path.write_text(f"language: {language}\ntemplates:\n{entries}", encoding="utf-8")
    return load_templates(path)


@cache
def lexicon_of(language: str) -> Lexicon:
    """The lexicon that comes with the project, all of its words in the class `x`."""
    lexicon = shipped.lexicon_of(language)
    return replace(lexicon, stimuli=tuple(replace(stimulus, word_class="x") for stimulus in lexicon.stimuli))


@pytest.fixture(scope="module")
def bangla() -> Lexicon:
    return lexicon_of("bn")


def fill(lexicon: Lexicon, tmp_path: Path, stimulus: str, text: str) -> tuple[str, str]:
    """The sentence, and the word in it."""
    (found,) = filled_templates(lexicon, [stimulus], templates(tmp_path, text, language=lexicon.language))
    return found.text, found.text[found.start : found.end]


@pytest.mark.parametrize(("language", "stimulus", "text", "sentence", "word"), read_table(__file__, "filled"))
def test_a_slot_takes_the_form_that_it_asks_for(
    tmp_path: Path, language: str, stimulus: str, text: str, sentence: str, word: str
) -> None:
    clean = spelling_of(language)
    assert fill(lexicon_of(language), tmp_path, clean(stimulus), text) == (clean(sentence), clean(word))


@pytest.mark.parametrize(
    ("article", "words"),
    [
        ("a", "tulip university European New Salman one once user unit house unique utensil Eulogy"),
        ("an", "apple hour honest Honour heir onerous usher umbrella uninvited unimportant urn uncle utter"),
        # Read letter by letter.
        ("a", "US UK UFO BBC DVD PhD CEO US-born U-turn T-shirt b-flat DVDs Usain"),
        ("an", "MBA FBI SMS HIV RSS EU-wide X-ray x-ray e-mail A-level L-plate MPs NGO's NGO’s Emily Amy"),
    ],
)
def test_articles(article: str, words: str) -> None:
    assert [with_article(word) for word in words.split()] == [f"{article} {word}" for word in words.split()]


def test_letters_at_the_seam_that_combine_are_refused(bangla: Lexicon, tmp_path: Path) -> None:
    """ে of the word and া of the template are one vowel sign, so that the word is not there any more."""
    word = Stimulus("ছেলে", word_class="x")
    lexicon = replace(bangla, stimuli=(word,))
    with pytest.raises(
        InputError, match=r"line 4: normalization changes letters of the sentence `t` with ছেলে .*\{word:genitive\}"
    ):
        list(filled_templates(lexicon, ["ছেলে"], templates(tmp_path, "{word}\u09beর")))


def test_every_word_in_every_template_of_its_class(files: Any, tmp_path: Path) -> None:
    files.change("flowers", "words:", "class: thing\nwords:")
    files.change("good", "words:", "class: adjective\nwords:")
    path = tmp_path / "seat.yaml"
    path.write_text(
        "language: bn\ntemplates:\n"
        "  thing:\n    - {id: this-is, text: 'এটি {word}।', gloss: This is it.}\n"
        "    - {id: of, text: '{word:genitive} কথা'}\n"
        "  adjective:\n    - {id: this-is, text: 'এটি {word}।'}\n",
        encoding="utf-8",
    )
    found = list(filled_templates(files.load(), ["রং", "সৎ", "গোলাপ", "রং"], load_templates(path)))
    assert [(each.template, each.word_class, each.text) for each in found] == [
        ("this-is", "thing", "এটি রং।"),
        ("of", "thing", "রঙের কথা"),
        ("this-is", "adjective", "এটি সৎ।"),
        ("this-is", "thing", "এটি গোলাপ।"),
        ("of", "thing", "গোলাপের কথা"),
    ]


@pytest.mark.parametrize(("content", "expected"), read_table(__file__, "templates"))
def test_wrong_files(tmp_path: Path, content: str, expected: str) -> None:
    path = tmp_path / "seat.yaml"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=expected):
        load_templates(path)


def test_a_class_without_templates(files: Any, tmp_path: Path) -> None:
    files.change("flowers", "words:", "class: thing\nwords:")
    lexicon, found = files.load(), templates(tmp_path, "এটি {word}।", word_class="name")
    expected = (
        r"flowers\.yaml, line 5: the stimulus গোলাপ has the class `thing`, for which .*seat\.yaml has no templates"
    )
    with pytest.raises(
        InputError, match=rf"{expected}\. Write another `class:` .*, or templates for it there\. Allowed: name\."
    ):
        list(filled_templates(lexicon, ["গোলাপ"], found))
    expected = r"good\.yaml, line 3: the stimulus সৎ has no class of word, .* `class:` in the word set.*Allowed: name\."
    with pytest.raises(InputError, match=expected):
        list(filled_templates(lexicon, ["সৎ"], found))


def test_words_that_no_template_takes_are_told_all_at_once(tmp_path: Path) -> None:
    classes = {"a": ("thng", "f.yaml, line 3"), "b": ("x", "f.yaml, line 4"), "c": ("", "g.yaml, line 9")}
    classes |= {"d": ("thng", "f.yaml, line 5"), "e": ("unused", "")}
    found = templates(tmp_path, "এটি {word}।", word_class="thing")
    with pytest.raises(InputError) as error:
        require_classes(classes, ["a", "c", "d", "a"], found)
    first, second = str(error.value).splitlines()
    assert first.startswith(
        "f.yaml, line 3: the stimulus a (and 1 more of `seat.categories`) has the class `thng`, for"
    )
    assert first.endswith("Did you mean `thing`? Allowed: thing.")
    assert second.startswith("g.yaml, line 9: the stimulus c has no class of word")
    require_classes({"a": ("thing", "")}, ["a"], found)


def test_the_place_of_a_word_is_where_its_class_stands(named: Any) -> None:
    colour = next(stimulus for stimulus in named.load().stimuli if stimulus.name == "রং")
    assert colour.place == f"{named.path('a_hindu_names')}, line 7"
    named.change("a_hindu_names", "class: person_name\n", "").change("muslim_names", "class: person_name\n", "")
    named.change("flowers", "words:", "class: thing\nwords:")
    colour = next(stimulus for stimulus in named.load().stimuli if stimulus.name == "রং")
    assert (colour.word_class, colour.place) == ("thing", f"{named.path('flowers')}, line 6")


def test_glosses_and_other_classes_are_in_no_sentence(tmp_path: Path) -> None:
    def texts(content: str) -> Any:
        path = tmp_path / "seat.yaml"
        path.write_text(f"language: bn\ntemplates:\n{content}", encoding="utf-8")
        return texts_of(load_templates(path), ["x", "x"])

    first = "  x:\n    - {id: a, text: '{word}', gloss: It}\n    - {id: b, text: '{word:plural}।'}\n"
    before = texts(first)
    assert before == {
        "language": "bn",
        "classes": {"x": [["a", "", "", "", "", False, False], ["b", "", "।", "plural", "nominative", False, False]]},
    }
    assert texts(f"  y:\n    - {{id: a, text: '{{word}}'}}\n{first}".replace("It", "This")) == before
    assert texts(first.replace("plural", "definite")) != before


def test_a_form_that_a_word_lacks(bangla: Lexicon, tmp_path: Path) -> None:
    found = templates(tmp_path, "{word:vocative plural}")
    expected = (
        r"line 4: the sentence `t` cannot be filled in\. The stimulus 'গোলাপ' has no form with number"
        r" 'plural', case 'vocative'\. It has singular nominative, .*list the form under `forms:`"
    )
    with pytest.raises(InputError, match=expected):
        list(filled_templates(bangla, ["গোলাপ"], found))
