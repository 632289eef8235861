"""Segments of exactly the length asked for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prasanga.base.errors import InputError
from prasanga.samples import Context, Segment, SegmentLength, cut, parse_length, require_longest
from prasanga.text import count_words, words

TEXT = "এক দুই তিন চার পাঁচ ছয় সাত আট নয় দশ।"


def cut_at(word: str, length: int, text: str = TEXT) -> str | None:
    start = text.index(word)
    part = cut(text, start, start + len(word), length)
    if part is None:
        return None
    assert part.text[part.start : part.end] == word
    assert part.n_words == length
    return part.text


def test_a_target_of_several_words_counts_as_several() -> None:
    assert cut_at("চার পাঁচ", 4) == "তিন চার পাঁচ ছয়"
    assert cut_at("মা-কে", 4, "সে তার মা-কে আজ দেখল") == "তার মা-কে আজ"
    assert cut_at("চার পাঁচ", 1) is None


def test_attached_punctuation_comes_along_and_what_joins_words_does_not() -> None:
    assert cut_at("খ", 3, "ক «ক খ ক!»") == "«ক খ ক!»"
    assert cut_at("খ", 1, "ক ‘খ’, ক") == "‘খ’,"
    assert cut_at("খ", 1, "ক - খ — ক") == "খ"
    assert cut_at("খ", 1, "ক-খ-ক") == "খ"
    assert cut_at("খ", 1, "ক।খ (ক)") == "খ"
    assert cut_at("খ", 3, "(ক)খ ক") == "(ক)খ ক"


def test_a_span_without_a_word_is_a_programming_error() -> None:
    with pytest.raises(ValueError, match="no word between characters 1 and 2"):
        cut("ক খ", 1, 2, 1)


def test_contexts_above_a_number_of_words_are_whole_or_cut_to_the_longest() -> None:
    start = TEXT.index("পাঁচ")
    span = (start, start + len("পাঁচ"))
    assert Context(TEXT, *span).segment(parse_length(">9")) == Segment(TEXT, *span, 10)
    assert Context(TEXT, *span).segment(parse_length(">9"), longest=10) == Segment(TEXT, *span, 10)
    assert Context(TEXT, *span).segment(parse_length(">5"), longest=9) == cut(TEXT, *span, 9)
    assert Context(TEXT, *span).segment(parse_length(">10")) is None
    # of the program's ">75" every text is one, whole
    for length in (">9", ">10", ">75"):
        assert Context(TEXT, *span).segment(parse_length(length), window="paper") == Segment(TEXT, *span, 10)
    assert Context(TEXT, *span).segment(parse_length(">5"), window="paper", longest=9) == cut(TEXT, *span, 9)


def paper(word: str, length: int, text: str = TEXT) -> str | None:
    start = text.index(word)
    part = Context(text, start, start + len(word)).segment(parse_length(length), window="paper")
    if part is None:
        return None
    assert part.text[part.start : part.end] == word
    assert count_words(part.text) == part.n_words
    return part.text


def test_the_papers_window_keeps_a_target_of_several_words_whole() -> None:
    assert paper("তিন চার পাঁচ", 5) == "এক দুই তিন চার পাঁচ"
    assert paper("দুই তিন চার পাঁচ ছয়", 5) == "দুই তিন চার পাঁচ ছয়"
    assert paper("পাঁচ ছয় সাত", 3) == "পাঁচ ছয় সাত"
    assert paper("পাঁচ ছয় সাত", 2) is None
    assert paper("মা-কে", 1, "মা-কে") is None


def test_lengths_are_read_from_numbers_and_text() -> None:
    assert parse_length(9) == parse_length("9") == SegmentLength("9", "9", 9, over=False)
    assert parse_length(">75") == SegmentLength(">75", "over75", 75, over=True)


@pytest.mark.parametrize("label", ["", ">", "<75", "0", "-3", "9.5", ">=75", "৯", "nine"])
def test_other_lengths_are_refused_with_what_is_allowed(label: str) -> None:
    with pytest.raises(InputError, match=r"samples\.lengths: .*Write e\.g\."):
        parse_length(label)


def test_a_longest_segment_no_longer_than_the_contexts_it_is_for_is_refused() -> None:
    lengths = [parse_length(label) for label in (9, 300, ">75")]
    require_longest(lengths, 76)
    with pytest.raises(InputError, match=r"samples\.longest: 75, but .*'>75'.*from 76\. Write e\.g\. `longest: 250`"):
        require_longest(lengths, 75)


tokens = st.lists(st.sampled_from(["ক", "খা", "গি", "-", " ", " ", "।", "(", "\u200c", "৩"]), min_size=1, max_size=40)


@given(tokens.map("".join).filter(lambda text: words(text)), st.integers(1, 12), st.data())
def test_a_segment_holds_the_right_words_of_the_text_and_no_other(text: str, length: int, data: st.DataObject) -> None:
    found = words(text)
    i = data.draw(st.integers(0, len(found) - 1))
    _, start, end = found[i]
    part = cut(text, start, end, length)
    if len(found) < length:
        assert part is None
        return
    assert part is not None
    first = max(0, min(i - (length - 1) // 2, len(found) - length))
    assert [word for word, _, _ in words(part.text)] == [word for word, _, _ in found[first : first + length]]
    assert count_words(part.text) == part.n_words == length
    at = start - part.start
    assert text[at : at + len(part.text)] == part.text
    assert part.text == part.text.strip()


@given(tokens.map("".join).filter(lambda text: words(text)), st.integers(1, 12), st.integers(1, 12), st.data())
def test_a_shorter_segment_is_the_same_cut_from_the_text_or_from_a_longer_segment(
    text: str, one: int, other: int, data: st.DataObject
) -> None:
    _, start, end = data.draw(st.sampled_from(words(text)))
    longer = cut(text, start, end, max(one, other))
    if longer is not None:
        assert cut(longer.text, longer.start, longer.end, min(one, other)) == cut(text, start, end, min(one, other))


@pytest.mark.parametrize(("start", "end"), [(-1, 2), (0, 99), (3, 3), (4, 3)])
def test_a_span_outside_the_text_is_an_error(start: int, end: int) -> None:
    with pytest.raises(ValueError, match="does not lie in a text of 5 characters"):
        cut("ক খ গ", start, end, 3)


def test_white_space_at_the_ends_of_a_span_is_not_part_of_the_target() -> None:
    part = cut("ক মা খ", 1, 5, 1)
    assert part == Segment("মা", 0, 2, 1)


@given(tokens.map("".join).filter(lambda text: words(text)), st.integers(1, 12), st.data())
def test_the_papers_window_as_lists_of_words(text: str, length: int, data: st.DataObject) -> None:
    found = [word for word, _, _ in words(text)]
    i = data.draw(st.integers(0, len(found) - 1))
    _, start, end = words(text)[i]
    part = Context(text, start, end).paper(length)
    assert part is not None
    before, after = found[:i], found[i:]
    if len(found) < length:
        expected = found
    elif len(before) < length // 2:
        expected = found[:length]
    elif len(after) <= length // 2:
        expected = found[-length:]
    else:
        expected = before[len(before) - length // 2 :] + after[: max(length // 2, 1)]
    assert [word for word, _, _ in words(part.text)] == expected
    assert part.n_words == len(expected)
    assert part.text[part.start : part.end] == text[start:end]
