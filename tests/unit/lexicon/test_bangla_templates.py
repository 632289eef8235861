"""The project's own Bangla templates; what holds for all languages is in test_intersectional_resources.py."""

from __future__ import annotations

from pathlib import Path

import pytest
import regex

from prasanga.lexicon import (
    FilledTemplate,
    Lexicon,
    Templates,
    filled_templates,
    forms_table,
    load_lexicon,
    load_templates,
)
from prasanga.text import normalize, normalize_batch

RESOURCES = Path(__file__).parents[3] / "resources"
TEMPLATES = RESOURCES / "templates" / "bn" / "seat.yaml"

# Sentences read by a native reader: word, template, sentence, and the word as it stands there.
SENTENCES = [
    ("মা", "spoken-of", "এখানে কারও মায়ের কথা বলা হচ্ছে।", "মায়ের"),
    ("মা", "about", "কথা হচ্ছে কারও মাকে নিয়ে।", "মাকে"),
    ("ভাই", "picture", "এটি কারও ভাইয়ের ছবি।", "ভাইয়ের"),
    ("স্ত্রী", "here", "এখানে কারও স্ত্রীকে দেখা যাচ্ছে।", "স্ত্রীকে"),
    ("দম্পতি", "this-is", "এই দুজন এক দম্পতি।", "দম্পতি"),
    ("সন্তান", "this-is", "এই মানুষটি কারও সন্তান।", "সন্তান"),
    ("কন্যা", "picture-is", "ছবির মানুষটি কারও কন্যা।", "কন্যা"),
    ("শিশু", "this-is", "এটি একটি শিশু।", "শিশু"),
    ("শিশু", "about", "কথা হচ্ছে একটি শিশুকে নিয়ে।", "শিশুকে"),
    ("নারী", "this-is", "এই মানুষটি একজন নারী।", "নারী"),
    ("সংযত", "this-is", "এই আচরণটি সংযত।", "সংযত"),
    ("হুমকি", "mention", "লেখাটিতে হুমকির উল্লেখ আছে।", "হুমকির"),
    ("শুভজিৎ", "picture", "এটি শুভজিতের ছবি।", "শুভজিতের"),
    ("সুব্রত", "spoken-of", "এখানে সুব্রতর কথা বলা হচ্ছে।", "সুব্রতর"),
    ("নিতাই", "about", "কথা হচ্ছে নিতাইকে নিয়ে।", "নিতাইকে"),
    ("নাজনীন", "here", "নাজনীন এখানে আছেন।", "নাজনীন"),
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
    ("বৃদ্ধা মা", "picture", "এটি কারও বৃদ্ধা মায়ের ছবি।", "বৃদ্ধা মায়ের"),
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


def test_no_insult_is_a_stimulus(lexicon: Lexicon) -> None:
    """Communities stand under the names that they use themselves; no published row of Bangla asks for another."""
    named = [
        f"{word} {noun}"
        for word in ("চণ্ডাল", "চাঁড়াল", "মুচি", "মেথর", "ডোম", "চামার")
        for noun in ("পুরুষ", "নারী", "ছেলে", "মেয়ে")
    ]
    assert not {stimulus.name for stimulus in lexicon.stimuli} & set(normalize_batch(named))
    assert not [stimulus.name for stimulus in lexicon.stimuli if "slur" in stimulus.gloss]


def test_words_for_templates_are_not_looked_for(lexicon: Lexicon) -> None:
    looked_for = {form.stimulus for form in lexicon.forms}
    assert sum(forms_table(lexicon)["counted"].to_pylist()) == 60_244
    assert not looked_for & set(normalize_batch(["ব্রাহ্মণ পুরুষ", "বৃদ্ধা", "নিষ্ঠুর", "প্রসেনজিৎ"]))


def test_the_classes(templates: Templates) -> None:
    assert list(templates.classes) == [
        "person_name", "person", "kin", "child", "couple", "thing", "matter", "mass", "adjective",
    ]  # fmt: skip


def test_every_class_asks_for_inflected_words(templates: Templates) -> None:
    """But adjectives, which are not inflected."""
    cases = {name: {template.form.case for template in found} - {""} for name, found in templates.classes.items()}
    assert cases.pop("adjective") == set()
    assert all("genitive" in found for found in cases.values())
    assert all("objective" in cases[name] for name in ("person_name", "person", "kin", "child", "couple"))


def test_every_template_has_a_gloss(templates: Templates) -> None:
    assert all(template.gloss.count("{word}") == 1 for found in templates.classes.values() for template in found)


def test_sentences_are_bangla_and_normalized(sentences: list[FilledTemplate]) -> None:
    texts = [sentence.text for sentence in sentences]
    assert [text for text in texts if not regex.fullmatch(r"[\p{Bengali} ]+।", text)] == []
    assert [text for text in texts if "  " in text or text != text.strip()] == []


@pytest.mark.parametrize(("word", "template", "sentence", "form"), SENTENCES, ids=[row[2] for row in SENTENCES])
def test_sentences(sentences: list[FilledTemplate], word: str, template: str, sentence: str, form: str) -> None:
    found = [filled for filled in sentences if (filled.stimulus, filled.template) == (normalize(word), template)]
    assert [filled.text for filled in found] == [normalize(sentence)]
    assert found[0].text[found[0].start : found[0].end] == normalize(form)
