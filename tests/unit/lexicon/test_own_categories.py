"""Categories that a study's config defines, and folders of words beside those that are shipped."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from shipped import lexicon_of as shipped_lexicon

from prasanga.base.errors import InputError
from prasanga.config import complete
from prasanga.lexicon import Lexicon, lexicon_of
from prasanga.plan import words_from

BN = {"stimuli": "resources/stimuli/bn", "suffix_groups": "resources/suffix_groups/bn.yaml", "normalization": None}
FRUITS = [{"stimulus": "কাঁঠাল", "group": "thing_consonant"}, {"stimulus": "পেয়ারা", "group": "thing_a"}]
VEGETABLES = [{"stimulus": "বেগুন", "group": "thing_consonant"}, {"stimulus": "পটোল", "group": "thing_consonant"}]


@pytest.fixture(autouse=True)
def _in_the_project(project_root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project_root)


def shipped() -> Lexicon:
    return shipped_lexicon("bn")


def own(targets: Any, attributes: Any, **more: Any) -> Any:
    return lexicon_of({**BN, "own": {"M1": {"targets": targets, "attributes": attributes, **more}}})


def message(targets: Any, attributes: Any) -> str:
    with pytest.raises(InputError) as refused:
        own(targets, attributes)
    return str(refused.value)


def test_words_of_a_config_are_found_with_their_endings() -> None:
    lexicon = own({"fruits": FRUITS, "vegetables": VEGETABLES}, ["pleasant", "unpleasant"])
    category = lexicon.categories["M1"]
    assert category.title == "Fruits and vegetables, pleasant and unpleasant"
    assert [side.stimuli for side in category.targets] == [("কাঁঠাল", "পেয়ারা"), ("বেগুন", "পটোল")]
    assert category.attributes == shipped().categories["C1"].attributes
    assert lexicon.inflect("পেয়ারা", number="plural", case="genitive") == "পেয়ারাগুলোর"
    assert lexicon.categories["C1"] == shipped().categories["C1"]
    assert set(shipped().claims()) < set(lexicon.claims())


def test_a_word_that_the_lexicon_knows_needs_nothing_else() -> None:
    lexicon = own({"two": ["গোলাপ", "মা"], "other": ["মশা", "বাবা"]}, ["pleasant", "unpleasant"], title="Mine")
    assert lexicon.categories["M1"].title == "Mine"
    assert lexicon.categories["M1"].targets[0].stimuli == ("গোলাপ", "মা")
    assert lexicon.claims() == shipped().claims()  # with all their endings and irregular forms
    assert {each.name: each.groups for each in lexicon.stimuli} == {
        each.name: each.groups for each in shipped().stimuli
    }


def test_only_sets_that_the_study_measures_clash_and_all_of_them_in_one_message() -> None:
    """C5 and C1 have these words with other groups; ঢোলক has a form that the included lists decide about."""
    groups = {"ব্যবসা": "thing_a", "রোগ": "abstract_consonant", "মৃত্যু": "abstract_vowel", "ঢোলক": "thing_consonant"}
    words = [{"stimulus": word, "group": group} for word, group in groups.items()]
    terms = {"attributes": ["male_terms", "female_terms"], "matched": "attributes"}
    mine = {"M1": {"targets": {"flowers": words, "rest": FRUITS}, **terms}}
    lexicon = lexicon_of(words_from(complete({"categories": mine})))
    found = {each.name: each.groups for each in lexicon.stimuli}
    assert [found[word] for word in groups] == [(group,) for group in groups.values()]
    assert lexicon.categories["M1"].targets[0].stimuli == tuple(groups)
    assert lexicon.categories["C1"].targets == shipped().categories["C1"].targets
    for asked in ({"categories": {**mine, "C2": None}}, {"categories": mine, "seat": {"categories": ["C2"]}}):
        with pytest.raises(
            InputError, match=r"M1.flowers` in the config: 2 word\(s\) .*`- রোগ` at the first place"
        ) as refused:
            lexicon_of(words_from(complete(asked)))
        disease, death = str(refused.value).splitlines()[1:]
        assert re.match(
            "- রোগ: abstract_consonant at `categories.M1.flowers` in .*; .*unpleasant.yaml, line 16", disease
        )
        assert death.startswith("- মৃত্যু: ")
    alone = {"a": ["ব্যবসা", "রোগ", {"stimulus": "মৃত্যু", "gloss": "death"}], "rest": FRUITS}
    assert own(alone, **terms).categories["M1"].targets[0].stimuli == ("ব্যবসা", "রোগ", "মৃত্যু")


def test_a_set_may_be_a_file_or_one_of_the_lexicon(tmp_path: Path) -> None:
    path = tmp_path / "fruits.yaml"
    path.write_text("set: fruits\nwords: [{stimulus: কাঁঠাল, group: thing_consonant}]\n", encoding="utf-8")
    lexicon = own({"fruits": str(path), "insects": None}, ["pleasant", "unpleasant"])
    assert [side.name for side in lexicon.categories["M1"].targets] == ["fruits", "insects"]
    assert lexicon.categories["M1"].targets[1] == lexicon.categories["C1"].targets[1]


@pytest.mark.parametrize(
    ("targets", "said"),
    [
        (
            {"a": ["কাঁঠাল", "পেয়ারা"], "b": ["গাজর"]},
            r"`categories.M1.a` in the config: the stimulus কাঁঠাল has no `group`\. .*"
            r" of resources/suffix_groups/bn.yaml for its ending: thing_consonant, .*"
            r"পেয়ারা has .*M1.b` in the config: the stimulus গাজর has no `group`",
        ),
        ({"a": "none.yaml", "insects": None}, r"`categories.M1` in the config: the set `a` is 'none.yaml', which"),
        ({"a": __file__, "insects": None}, r"which is no file with `set: a`\. Write a list of"),
        ({"flowers": FRUITS, "insects": None}, r"categories.M1.flowers: the word set `flowers` is in .* too"),
        (["flowers", "insekts"], r"names the word set `insekts` under `targets`, and there is no set of .*`insects`"),
        ({"a": [3], "insects": None}, r"`categories.M1.a` in the config: `words` has 3, but needs a mapping"),
        ({"a": [{"stimulus": "ক", "gruop": "x"}], "insects": None}, "unknown key `gruop` in a word.*`group`"),
        ({"a": [{"stimulus": "গোলাপ", "group": "thing_a"}], "insects": None}, "differ from another set"),
    ],
)  # fmt: skip
def test_mistakes_name_the_key(targets: Any, said: str) -> None:
    assert re.search(said, message(targets, ["pleasant", "unpleasant"]), re.DOTALL)


def test_a_category_of_the_lexicon_is_not_defined_again() -> None:
    again = {"C1": {"targets": ["flowers", "insects"], "attributes": ["pleasant", "unpleasant"]}}
    with pytest.raises(InputError, match=r"`categories.C1` in the config: .*`C1` is at resources/stimuli/bn/cat"):
        lexicon_of({**BN, "own": again})


def test_later_folders_add_words_and_categories(tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "fruits.yaml").write_text(
        "set: fruits\nwords: [{stimulus: কাঁঠাল, group: thing_consonant}]\n", encoding="utf-8"
    )
    both = {**BN, "stimuli": [BN["stimuli"], str(folder)]}
    assert "কাঁঠাল" in {each.name for each in lexicon_of(both).stimuli}  # without categories of its own
    head = folder / "categories.yaml"
    head.write_text("language: bn\ncategories:\n  M1: {targets: [fruits, insects], attributes: [career, family]}\n")
    lexicon = lexicon_of(both)
    assert list(lexicon.categories) == [*shipped().categories, "M1"]
    assert lexicon.categories["M1"].targets[0].stimuli == ("কাঁঠাল",)
    (folder / "fruits.yaml").write_text("set: fruits\nwords: [{stimulus: রোগ, group: thing_vowel}]\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"fruits.yaml, line 2: the stimulus রোগ has the suffix group `thing_vowel`"):
        lexicon_of({**both, "used": ["M1"]})  # no clash with C1, which is not measured
    head.write_text("language: hi\ncategories: {}\n")
    with pytest.raises(InputError, match=r"`language` is 'hi', but .*bn.yaml is for 'bn'"):
        lexicon_of(both)


def test_nothing_is_added_to_files_of_another_layout(tmp_path: Path) -> None:
    words = tmp_path / "allWeatWords.txt"
    words.write_text("ক, 1\n", encoding="utf-8")
    with pytest.raises(
        InputError, match=r"allWeatWords.txt: a folder of .* and words with .*Only to word sets can a study add"
    ):
        lexicon_of({**BN, "stimuli": [BN["stimuli"], str(words)]})
