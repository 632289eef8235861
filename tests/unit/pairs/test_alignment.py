"""Words of a pair and their alignment, against the paper's examples and against trying everything."""

from __future__ import annotations

import csv
import time
from itertools import combinations, pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tables import read_cases, read_table

from prasanga.base.errors import InputError
from prasanga.pairs import Alignment, align_spans, align_words
from prasanga.pairs.alignment import Word, match_words, words_of


def texts(sentence: str, punctuation: str = "apart") -> list[str]:
    return [word.text for word in words_of(sentence, punctuation)]  # type: ignore[arg-type]


@pytest.mark.parametrize(("sentence", "expected"), read_cases(__file__, "words"))
def test_words(sentence: str, expected: list[str]) -> None:
    assert texts(sentence) == expected
    assert [sentence[word.start : word.end] for word in words_of(sentence)] == expected


def test_words_with_their_punctuation_are_what_stands_between_blanks() -> None:
    sentence = '"Yes ma\'am!"  वह गया ।'
    assert texts(sentence, "with-word") == sentence.split()
    assert words_of(sentence, "with-word")[1] == Word("ma'am!\"", 5, 12)


def test_unknown_punctuation() -> None:
    with pytest.raises(InputError, match=r"`punctuation` is 'off'\. Write `punctuation: apart`"):
        align_words("a", "b", punctuation="off")  # type: ignore[arg-type]


def test_figure_8(shared: Path) -> None:
    """Figure 8 prints a final full stop with the last word in some rows and not in others."""
    with (shared / "published/indibias_uset_mset_examples.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 8
    for first, second in zip(rows[::2], rows[1::2], strict=True):
        alignment = align_words(first["sentence"], second["sentence"])
        printed = [
            [word.rstrip(".।") for word in row[column].split(" | ")]
            for row in (first, second)
            for column in ("u_set", "m_set")
        ]
        assert Alignment(*printed) == alignment


def test_words_stay_as_written() -> None:
    assert align_words("He don’t eat rice", "she eats RICE, he don't") == Alignment(
        ["He", "don’t"], ["eat", "rice"], ["he", "don't"], ["she", "eats", "RICE"]
    )


@pytest.mark.parametrize(("one", "other"), read_table(__file__, "one_word"))
def test_spelling_twins_are_one_word(one: str, other: str) -> None:
    alignment = align_words(f"x {one} y", f"x z {other}, y")
    assert alignment.unmodified_first == ["x", one, "y"]
    assert alignment.unmodified_second == ["x", other, "y"]
    assert alignment.modified_second == ["z"]


@pytest.mark.parametrize(("one", "other"), read_table(__file__, "two_words"))
def test_other_spellings_are_two_words(one: str, other: str) -> None:
    assert align_words(one, other) == Alignment([], [one], [], [other])


def test_order_counts() -> None:
    alignment = align_words("women are better than men", "men are better than women")
    assert alignment.unmodified_first == ["are", "better", "than"]
    assert alignment.modified_first == ["women", "men"]
    assert alignment.modified_second == ["men", "women"]


@pytest.mark.parametrize(
    ("first", "second", "modified"),
    [
        ("rather women than men", "rather men than women", ["women", "men"]),
        ("पुरुषों ने महिलाओं को देखा", "महिलाओं ने पुरुषों को देखा", ["पुरुषों", "महिलाओं"]),
    ],
)
def test_nouns_exchanged_around_a_word_are_both_modified(first: str, second: str, modified: list[str]) -> None:
    """One of the nouns might be matched instead of the word between them, at the price of an edit more."""
    alignment = align_words(first, second)
    assert alignment.modified_first == modified
    assert alignment.modified_second == modified[::-1]


def test_what_differs_lies_together() -> None:
    """The second `the` would do as well for the length; the first leaves one run of modified words instead of two."""
    first, second = "and the tall man saw the man", "and the man"
    assert align_spans(first, second).modified_first == [(8, 12), (13, 16), (17, 20), (21, 24)]


def test_spans_point_into_the_sentences() -> None:
    first, second = "“वह” डॉक्टर  बनना चाहता है ।", "वह डॉक्टर बनना चाहती है।"
    spans, words = align_spans(first, second), align_words(first, second)
    for name in ("unmodified_first", "modified_first", "unmodified_second", "modified_second"):
        sentence = first if name.endswith("first") else second
        assert [sentence[start:end] for start, end in getattr(spans, name)] == getattr(words, name)
    assert words.modified_first == ["चाहता"]
    assert spans.unmodified_first[0] == (1, 3)


@pytest.mark.parametrize("pair", [("", ""), ("a b", ""), ("।", "a"), ("a", "a")])
def test_nothing_to_align(pair: tuple[str, str]) -> None:
    alignment = align_words(*pair)
    assert alignment.modified_first == (["a", "b"] if pair[0] == "a b" else [])
    assert alignment.unmodified_first == (["a"] if pair == ("a", "a") else [])


def gaps(matches: list[tuple[int, int]], n: int, m: int) -> int:
    """Runs of words without a match, a run in both sentences at once counted as one."""
    framed = [(-1, -1), *matches, (n, m)]
    return sum((i - before_i, j - before_j) != (1, 1) for (before_i, before_j), (i, j) in pairwise(framed))


def edits(matches: list[tuple[int, int]], n: int, m: int) -> int:
    """Words left out, put in, or put in place of another."""
    framed = [(-1, -1), *matches, (n, m)]
    return sum(max(i - before_i, j - before_j) - 1 for (before_i, before_j), (i, j) in pairwise(framed))


def best_by_trial(first: str, second: str) -> tuple[int, int, int]:
    """The longest common subsequence, among those the fewest gaps, then the fewest edits; every choice is tried."""
    for length in range(min(len(first), len(second)), -1, -1):
        found = [
            (gaps(matches, len(first), len(second)), edits(matches, len(first), len(second)))
            for places in combinations(range(len(first)), length)
            for others in combinations(range(len(second)), length)
            for matches in [list(zip(places, others, strict=True))]
            if all(first[i] == second[j] for i, j in matches)
        ]
        if found:
            return length, *min(found)
    raise AssertionError("nothing has length 0")


@given(st.text("abc", max_size=7), st.text("abc", max_size=7))
def test_alignment_is_the_best_there_is(first: str, second: str) -> None:
    matches = match_words(list(first), list(second))
    assert all(first[i] == second[j] for i, j in matches)
    assert matches == sorted(set(matches))
    assert len({i for i, _ in matches}) == len({j for _, j in matches}) == len(matches)
    n, m = len(first), len(second)
    assert (len(matches), gaps(matches, n, m), edits(matches, n, m)) == best_by_trial(first, second)


@given(st.text("abcd ", max_size=30), st.text("abcd ", max_size=30))
def test_exchanged_sentences_exchange_the_sets(first: str, second: str) -> None:
    one, other = align_spans(first, second), align_spans(second, first)
    assert (one.unmodified_first, one.modified_first) == (other.unmodified_second, other.modified_second)
    assert (one.unmodified_second, one.modified_second) == (other.unmodified_first, other.modified_first)


@pytest.mark.parametrize("words", [600, 2_498])
def test_words_that_nobody_shares_take_no_time(words: int) -> None:
    first, second = ([f"{side}{number}" for number in range(words)] for side in "ab")
    began = time.process_time()
    assert align_words(" ".join(first), " ".join(second)).modified_second == second
    assert match_words(["x", *first, "y"], ["y", *second]) == [(words + 1, 0)]
    assert time.process_time() - began < 5


def test_long_sentences() -> None:
    first = [str(7 * place % 83) for place in range(2000)]
    second = [str(5 * place % 83) for place in range(2000)]
    matches = match_words(first, second)
    assert all(first[i] == second[j] for i, j in matches)
    assert len(match_words(first, [*first[1:], "x"])) == 1999
