"""Words: what is one, and where it stands."""

from __future__ import annotations

import pytest

from prasanga.text import WORD, count_words, fold, words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("।, - !", []),
        ("বাগানে গান হয়।", ["বাগানে", "গান", "হয়"]),
        ("মা পদ্মা দেখেন", ["মা", "পদ্মা", "দেখেন"]),
        ("চাঁদ, দুঃখ; সং", ["চাঁদ", "দুঃখ", "সং"]),
        ("সম\u09af\u09bc বা\u09a1\u09bcি", ["সম\u09af\u09bc", "বা\u09a1\u09bcি"]),
        ("র\u200d্যাব উদ্\u200cযোগ", ["র\u200d্যাব", "উদ্\u200cযোগ"]),
        ("মা-কে ৩.৫ ১২টি", ["মা", "কে", "৩", "৫", "১২টি"]),
        ("हिन्दी का शब्द।", ["हिन्दी", "का", "शब्द"]),
        ("don't naïve_x2", ["don", "t", "naïve", "x2"]),
    ],
)
def test_words(text: str, expected: list[str]) -> None:
    found = words(text)
    assert [word for word, _, _ in found] == expected
    assert all(text[start:end] == word for word, start, end in found)
    assert count_words(text) == len(expected)


@pytest.mark.parametrize(("stimulus", "text"), [("গান", "বাগান"), ("মা", "পদ্মা"), ("কল", "কলম"), ("ফল", "ফলা")])
def test_a_word_is_not_found_inside_another(stimulus: str, text: str) -> None:
    assert stimulus in text
    assert [word for word, _, _ in words(text)] == [text]


def test_positions() -> None:
    assert words(" পদ্মা, মা।") == [("পদ্মা", 1, 6), ("মা", 8, 10)]


def test_pattern_matches_one_word() -> None:
    assert WORD.fullmatch("স্ত্রীকে")
    assert not WORD.fullmatch("মা কে")


def test_fold_removes_the_non_joiner_alone() -> None:
    assert fold("উদ্\u200cযোগ") == "উদ্যোগ"
    assert fold("র\u200d্যাব") == "র\u200d্যাব"
