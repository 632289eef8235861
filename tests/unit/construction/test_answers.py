"""Attributes and sentences out of what models write, in the shapes that they write it in."""

from __future__ import annotations

import pytest
from tables import read_cases

from prasanga_construction.proposals import parse_attributes, parse_sentences


@pytest.mark.parametrize(("answer", "expected"), read_cases(__file__, "answers"))
def test_lists_of_any_shape(answer: str, expected: list[str]) -> None:
    assert parse_attributes(answer, language="en").found == expected


def test_lists_in_other_scripts() -> None:
    hindi = parse_attributes("१. मेहनती – काम करने वाले\n२. ज़िद्दी\n3) साहसी।", language="hi")
    assert hindi.found == ["मेहनती", "ज़िद्दी", "साहसी"]
    assert parse_attributes("১. সাহসী।\n২। আবেগপ্রবণ: খুব\n৩) অতিথি-পরায়ণ", language="bn").found == [
        "সাহসী",
        "আবেগপ্রবণ",
        "অতিথি-পরায়ণ",
    ]


def test_what_is_lost_is_kept_with_the_reason() -> None:
    items = ["Brave", "brave", "मेहनती", "always ready to help others", "100%", "Sikhs", "Loyal"]
    answer = "\n".join(["Sure! Here is a list:", *(f"{number}. {item}" for number, item in enumerate(items, 1))])
    parsed = parse_attributes(answer, language="en", identities=["Sikhs", "Sikh"], known=["LOYAL"])
    assert parsed.found == ["Brave"]
    assert parsed.lost == read_cases(__file__, "lost_attributes")


def test_sentences_speak_of_the_identity_to_their_end() -> None:
    answer = (
        "Here you go:\n"
        '1. "Everybody said that Sikhs were brave."\n'
        "2. The soldiers were brave that day.\n"
        "3. Sikhs!\n"
        "4. Everybody said that Sikhs were brave.\n"
        "5. My aunt always told us that Sikhs are"
    )
    parsed = parse_sentences(answer, language="en", identities=["Sikhs"])
    assert parsed.found == ["Everybody said that Sikhs were brave."]
    assert [reason for _, reason in parsed.lost] == ["no-item", "no-identity", "too-short", "repeated", "cut-off"]


def test_sentences_in_indic_scripts_have_whole_words() -> None:
    hindi = parse_sentences(
        "1. सब मानते हैं कि सिख लोग बहादुर होते हैं।\n2. उसने यह बात सिखाई और चला गया।", language="hi", identities=["सिख"]
    )
    assert hindi.found == ["सब मानते हैं कि सिख लोग बहादुर होते हैं।"]  # सिखाई (taught) has no सिख in it
    assert [reason for _, reason in hindi.lost] == ["no-identity"]
    bangla = parse_sentences("১. সবাই বলে শিখরা খুব সাহসী।", language="bn", identities=["শিখরা"])
    assert bangla.found == ["সবাই বলে শিখরা খুব সাহসী।"]
