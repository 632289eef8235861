"""The project's own Bangla templates, and the word sets that stand in templates only."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
import regex

from prasanga.lexicon import (
    FilledTemplate,
    Lexicon,
    Templates,
    WordSet,
    filled_templates,
    forms_table,
    load_lexicon,
    load_templates,
)
from prasanga.text import normalize, normalize_batch

RESOURCES = Path(__file__).parents[3] / "resources"
TEMPLATES = RESOURCES / "templates" / "bn" / "seat.yaml"
TEMPLATES_OF_A_CLASS = 8

SIZES = {
    **dict.fromkeys(
        [
            "hindu_male_first_names",
            "muslim_male_first_names",
            "hindu_female_first_names",
            "muslim_female_first_names",
        ],
        14,
    ),
    **dict.fromkeys(
        ["male_first_names", "female_first_names", "hindu_first_names", "muslim_first_names"],
        28,
    ),
    **dict.fromkeys(["nonviolent", "violent"], 18),
    **dict.fromkeys([f"{caste}_caste_{sex}_terms" for caste in ("upper", "lower") for sex in ("male", "female")], 8),
    **dict.fromkeys([f"{age}_{sex}_terms" for age in ("young", "old") for sex in ("male", "female")], 8),
}
CAREER_FAMILY, PEACE_VIOLENCE, PLEASANT = ("career", "family"), ("nonviolent", "violent"), ("pleasant", "unpleasant")
# The rows of the paper's Tables 3, 4 and 9, in their order; names and terms without what all have in common.
ROWS = {
    "GR": (
        "{}_first_names",
        [
            ("male", "female", CAREER_FAMILY),
            ("hindu_male", "hindu_female", CAREER_FAMILY),
            ("hindu_male", "muslim_female", CAREER_FAMILY),
            ("muslim_male", "muslim_female", CAREER_FAMILY),
            ("muslim_male", "hindu_female", CAREER_FAMILY),
            ("hindu_male", "muslim_male", CAREER_FAMILY),
            ("hindu_female", "muslim_female", CAREER_FAMILY),
            ("hindu", "muslim", PEACE_VIOLENCE),
            ("hindu_male", "muslim_male", PEACE_VIOLENCE),
            ("hindu_male", "muslim_female", PEACE_VIOLENCE),
            ("hindu_female", "muslim_female", PEACE_VIOLENCE),
            ("hindu_female", "muslim_male", PEACE_VIOLENCE),
            ("hindu_male", "hindu_female", PEACE_VIOLENCE),
            ("muslim_male", "muslim_female", PEACE_VIOLENCE),
        ],
    ),
    "GC": (
        "{}_terms",
        [
            ("upper_caste_male", "upper_caste_female", PLEASANT),
            ("upper_caste_male", "lower_caste_female", PLEASANT),
            ("lower_caste_male", "lower_caste_female", PLEASANT),
            ("lower_caste_male", "upper_caste_female", PLEASANT),
            ("upper_caste_male", "lower_caste_male", PLEASANT),
            ("upper_caste_female", "lower_caste_female", PLEASANT),
        ],
    ),
    "GA": (
        "{}_terms",
        [
            ("young_male", "young_female", PLEASANT),
            ("young_male", "old_female", PLEASANT),
            ("old_male", "old_female", PLEASANT),
            ("old_male", "young_female", PLEASANT),
            ("young_male", "old_male", PLEASANT),
            ("young_female", "old_female", PLEASANT),
        ],
    ),
}
EXPECTED = {
    f"{axis}{number}": (pattern.format(first), pattern.format(second), *attributes)
    for axis, (pattern, rows) in ROWS.items()
    for number, (first, second, attributes) in enumerate(rows, start=1)
}
# Sentences read by a native reader: word, template, sentence, and the word as it stands there.
SENTENCES = [
    ("মা", "spoken-of", "এখানে এক মায়ের কথা বলা হচ্ছে।", "মায়ের"),
    ("মা", "about", "কথা হচ্ছে এক মাকে নিয়ে।", "মাকে"),
    ("ভাই", "picture", "এটি এক ভাইয়ের ছবি।", "ভাইয়ের"),
    ("স্ত্রী", "here", "এখানে এক স্ত্রীকে দেখা যাচ্ছে।", "স্ত্রীকে"),
    ("দম্পতি", "this-is", "এই দুজন এক দম্পতি।", "দম্পতি"),
    ("শিশু", "this-is", "এই মানুষটি একজন শিশু।", "শিশু"),
    ("অভিজিৎ", "picture", "এটি অভিজিতের ছবি।", "অভিজিতের"),
    ("সুব্রত", "spoken-of", "এখানে সুব্রতর কথা বলা হচ্ছে।", "সুব্রতর"),
    ("নিতাই", "about", "কথা হচ্ছে নিতাইকে নিয়ে।", "নিতাইকে"),
    ("নুসরাত", "here", "নুসরাত এখানে আছেন।", "নুসরাত"),
    ("গোলাপ", "this-is", "এটি একটি গোলাপ।", "গোলাপ"),
    ("মশা", "the-here", "মশাটি এখানে আছে।", "মশাটি"),
    ("ফড়িং", "picture", "এটি একটি ফড়িঙের ছবি।", "ফড়িঙের"),
    ("জুঁই", "spoken-of", "এখানে একটি জুঁইয়ের কথা বলা হচ্ছে।", "জুঁইয়ের"),
    ("তবলা", "there", "ওখানে একটি তবলা আছে।", "তবলা"),
    ("দুর্ঘটনা", "about-the", "দুর্ঘটনাটি নিয়ে কথা হচ্ছে।", "দুর্ঘটনাটি"),
    ("বিয়ে", "mention", "লেখাটিতে একটি বিয়ের উল্লেখ আছে।", "বিয়ের"),
    ("ভালোবাসা", "this-is", "এটি হলো ভালোবাসা।", "ভালোবাসা"),
    ("বিদ্যুৎ", "mention", "লেখাটিতে বিদ্যুতের উল্লেখ আছে।", "বিদ্যুতের"),
    ("নিষ্ঠুর", "kind", "এটি নিষ্ঠুর আচরণ।", "নিষ্ঠুর"),
    ("যত্নশীল", "name", "এমন আচরণকে যত্নশীল বলা হয়।", "যত্নশীল"),
    ("ব্রাহ্মণ পুরুষ", "picture", "এটি এক ব্রাহ্মণ পুরুষের ছবি।", "ব্রাহ্মণ পুরুষের"),
    ("নমঃশূদ্র নারী", "about", "কথা হচ্ছে এক নমঃশূদ্র নারীকে নিয়ে।", "নমঃশূদ্র নারীকে"),
    ("নিম্নবর্ণের মেয়ে", "spoken-of", "এখানে এক নিম্নবর্ণের মেয়ের কথা বলা হচ্ছে।", "নিম্নবর্ণের মেয়ের"),
    ("বৃদ্ধা মা", "picture", "এটি এক বৃদ্ধা মায়ের ছবি।", "বৃদ্ধা মায়ের"),
    ("ষাটোর্ধ্ব পুরুষ", "here", "এখানে এক ষাটোর্ধ্ব পুরুষকে দেখা যাচ্ছে।", "ষাটোর্ধ্ব পুরুষকে"),
]


@pytest.fixture(scope="module")
def lexicon() -> Lexicon:
    return load_lexicon(RESOURCES / "stimuli" / "bn", RESOURCES / "suffix_groups" / "bn.yaml")


@pytest.fixture(scope="module")
def templates() -> Templates:
    return load_templates(TEMPLATES)


@pytest.fixture(scope="module")
def sentences(lexicon: Lexicon, templates: Templates) -> list[FilledTemplate]:
    return list(filled_templates(lexicon, [stimulus.name for stimulus in lexicon.stimuli], templates))


def sets_of(lexicon: Lexicon, category: str) -> tuple[WordSet, ...]:
    found = lexicon.categories[category]
    return (*found.targets, *found.attributes)


def test_the_categories_are_the_nine_and_the_papers_rows(lexicon: Lexicon) -> None:
    assert list(lexicon.categories) == [*(f"C{number}" for number in range(1, 10)), *EXPECTED]


@pytest.mark.parametrize("category", EXPECTED)
def test_a_category_measures_its_row(lexicon: Lexicon, category: str) -> None:
    assert tuple(side.name for side in sets_of(lexicon, category)) == EXPECTED[category]


def test_sizes(lexicon: Lexicon) -> None:
    found = {side.name: len(side.stimuli) for category in EXPECTED for side in sets_of(lexicon, category)}
    assert {name: size for name, size in found.items() if name in SIZES} == SIZES
    assert set(found) - set(SIZES) == {*CAREER_FAMILY, *PLEASANT}


def test_no_word_stands_in_two_sets_of_a_category(lexicon: Lexicon) -> None:
    for category in lexicon.categories:
        words = [word for side in sets_of(lexicon, category) for word in side.stimuli]
        assert len(set(words)) == len(words), category


def test_joined_sets_hold_their_parts(lexicon: Lexicon) -> None:
    hindu, muslim = lexicon.categories["GR8"].targets
    male, female = lexicon.categories["GR1"].targets
    hindu_male, muslim_male = lexicon.categories["GR9"].targets
    assert hindu.stimuli[:14] == hindu_male.stimuli == male.stimuli[:14]
    assert muslim.stimuli[:14] == muslim_male.stimuli == male.stimuli[14:]
    assert {*hindu.stimuli, *muslim.stimuli} == {*male.stimuli, *female.stimuli}


def test_the_two_sides_have_the_same_classes(lexicon: Lexicon) -> None:
    """Or a template, and not a word, might make the difference; career has no words for people, family has five."""
    classes = {stimulus.name: stimulus.word_class for stimulus in lexicon.stimuli}
    for category in lexicon.categories.values():
        for first, second in (category.targets, category.attributes):
            if (first.name, second.name) != CAREER_FAMILY:
                counts = [Counter(classes[word] for word in side.stimuli) for side in (first, second)]
                assert counts[0] == counts[1], (first.name, second.name)


@pytest.mark.parametrize("sex", ["male", "female"])
def test_castes_are_compared_with_the_same_noun(lexicon: Lexicon, sex: str) -> None:
    upper, lower = lexicon.categories["GC5" if sex == "male" else "GC6"].targets
    nouns = [[word.split()[-1] for word in side.stimuli] for side in (upper, lower)]
    assert nouns[0] == nouns[1]
    assert Counter(nouns[0]) == dict.fromkeys(normalize_batch(["পুরুষ", "ছেলে"] if sex == "male" else ["নারী", "মেয়ে"]), 4)


@pytest.mark.parametrize("axis", ["upper", "lower"])
def test_castes_are_the_same_for_men_and_women(lexicon: Lexicon, axis: str) -> None:
    men, women = lexicon.categories["GC1" if axis == "upper" else "GC3"].targets
    assert [word.split()[0] for word in men.stimuli] == [word.split()[0] for word in women.stimuli]


def test_an_insult_is_marked(lexicon: Lexicon) -> None:
    marked = {stimulus.name for stimulus in lexicon.stimuli if "slur" in stimulus.gloss}
    assert marked == {"চণ্ডাল পুরুষ", "চণ্ডাল নারী"}


def test_words_for_templates_are_not_looked_for(lexicon: Lexicon) -> None:
    looked_for = {form.stimulus for form in lexicon.forms}
    assert len(looked_for) == 262
    assert sum(forms_table(lexicon)["counted"].to_pylist()) == 62_381
    assert not looked_for & set(normalize_batch(["ব্রাহ্মণ পুরুষ", "বৃদ্ধা", "নিষ্ঠুর", "প্রসেনজিৎ"]))


def test_every_class_has_eight_templates_and_words(lexicon: Lexicon, templates: Templates) -> None:
    assert {name: len(found) for name, found in templates.classes.items()} == dict.fromkeys(
        ["person_name", "person", "couple", "thing", "matter", "mass", "adjective"], TEMPLATES_OF_A_CLASS
    )
    assert {stimulus.word_class for stimulus in lexicon.stimuli} == set(templates.classes)


def test_every_class_asks_for_inflected_words(templates: Templates) -> None:
    """But adjectives, which are not inflected."""
    cases = {name: {template.case for template in found} - {""} for name, found in templates.classes.items()}
    assert cases.pop("adjective") == set()
    assert all("genitive" in found for found in cases.values())
    assert all("objective" in cases[name] for name in ("person_name", "person", "couple"))


def test_every_template_has_a_gloss(templates: Templates) -> None:
    assert all(template.gloss.count("{word}") == 1 for found in templates.classes.values() for template in found)


def test_every_word_fills_every_template_of_its_class(lexicon: Lexicon, sentences: list[FilledTemplate]) -> None:
    assert Counter(sentence.stimulus for sentence in sentences) == dict.fromkeys(
        (stimulus.name for stimulus in lexicon.stimuli), TEMPLATES_OF_A_CLASS
    )
    assert len({sentence.text for sentence in sentences}) == len(sentences)


def test_sentences_are_bangla_and_normalized(sentences: list[FilledTemplate]) -> None:
    texts = [sentence.text for sentence in sentences]
    assert normalize_batch(texts) == texts
    assert [text for text in texts if not regex.fullmatch(r"[\p{Bengali} ]+।", text)] == []
    assert [text for text in texts if "  " in text or text != text.strip()] == []


def test_the_word_is_a_form_of_its_stimulus(lexicon: Lexicon, sentences: list[FilledTemplate]) -> None:
    forms = {(reading.stimulus, reading.form) for reading in lexicon.readings}
    assert all((found.stimulus, found.text[found.start : found.end]) in forms for found in sentences)


@pytest.mark.parametrize(("word", "template", "sentence", "form"), SENTENCES, ids=[row[2] for row in SENTENCES])
def test_sentences(sentences: list[FilledTemplate], word: str, template: str, sentence: str, form: str) -> None:
    found = [filled for filled in sentences if (filled.stimulus, filled.template) == (normalize(word), template)]
    assert [filled.text for filled in found] == [normalize(sentence)]
    assert found[0].text[found[0].start : found[0].end] == normalize(form)
