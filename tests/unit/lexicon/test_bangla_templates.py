"""The project's own Bangla templates; what holds for all languages is in test_intersectional_resources.py."""

from __future__ import annotations

from pathlib import Path

import pytest
import regex
from shipped import lexicon_of
from tables import read_table

from prasanga.lexicon import FilledTemplate, Lexicon, Templates, filled_templates, forms_table, load_templates
from prasanga.text import normalize, normalize_batch

RESOURCES = Path(__file__).parents[3] / "resources"
TEMPLATES = RESOURCES / "templates" / "bn" / "seat.yaml"


@pytest.fixture(scope="module")
def lexicon() -> Lexicon:
    return lexicon_of("bn")


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
    cases = {
        name: {template.forms["word"].case for template in found} - {""} for name, found in templates.classes.items()
    }
    assert cases.pop("adjective") == set()
    assert all("genitive" in found for found in cases.values())
    assert all("objective" in cases[name] for name in ("person_name", "person", "kin", "child", "couple"))


def test_every_template_has_a_gloss(templates: Templates) -> None:
    assert all(template.gloss.count("{word}") == 1 for found in templates.classes.values() for template in found)


def test_sentences_are_bangla_and_normalized(sentences: list[FilledTemplate]) -> None:
    texts = [sentence.text for sentence in sentences]
    assert [text for text in texts if not regex.fullmatch(r"[\p{Bengali} ]+।", text)] == []
    assert [text for text in texts if "  " in text or text != text.strip()] == []


@pytest.mark.parametrize(("word", "template", "sentence", "form"), read_table(__file__, "sentences"))
def test_sentences(sentences: list[FilledTemplate], word: str, template: str, sentence: str, form: str) -> None:
    """Those that a native reader has read."""
    found = [filled for filled in sentences if (filled.stimulus, filled.template) == (normalize(word), template)]
    assert [filled.text for filled in found] == [normalize(sentence)]
    assert found[0].text[found[0].start : found[0].end] == normalize(form)
