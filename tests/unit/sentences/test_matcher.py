"""Whole words only, every occurrence, positions kept."""

from __future__ import annotations

import re
import unicodedata
from itertools import product

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tables import read_data

from prasanga.base.errors import InputError
from prasanga.sentences import Match, Matcher, longest
from prasanga.sentences.matcher import Forms

ZWNJ, ZWJ, CANDRABINDU = "\u200c", "\u200d", "\u0981"


LEXICON = Forms({form: tuple(words) for form, words in read_data(__file__, "forms").items()})


def spans(text: str, lexicon: Forms = LEXICON) -> list[tuple[str, int, int]]:
    return [(m.stimulus, m.start, m.end) for m in Matcher(lexicon).find(text)]


def is_word_character(character: str) -> bool:
    category = unicodedata.category(character)
    return category[0] in "LMN" or character in (ZWNJ, ZWJ)


def oracle(text: str, lexicon: Forms) -> list[Match]:
    """The slow and obvious way: every stretch of the text that is bounded like words, compared with every form."""
    inside = [is_word_character(c) for c in text]
    starts = [i for i in range(len(text)) if inside[i] and (i == 0 or not inside[i - 1])]
    ends = [i + 1 for i in range(len(text)) if inside[i] and (i + 1 == len(text) or not inside[i + 1])]
    found = []
    for start in starts:
        for end in ends:
            for form, stimuli in lexicon.claims().items():
                if text[start:end].replace(ZWNJ, "") == form:
                    found += [Match(stimulus, text[start:end], start, end) for stimulus in stimuli]
    return sorted(found, key=lambda m: (m.start, m.end, m.stimulus))


def test_a_match_says_where_and_as_what() -> None:
    assert Matcher(LEXICON).find("তার গানের সুর, গান।") == [Match("গান", "গানের", 4, 9), Match("গান", "গান", 15, 18)]


@pytest.mark.parametrize("text", ["বাগান", "পদ্মা", "মাে", "গান" + CANDRABINDU, "গান৩", "xমা", "গানে", "মা" + ZWJ])
def test_a_part_of_a_word_is_no_match(text: str) -> None:
    assert spans(text) == []


@pytest.mark.parametrize("text", ["মা.", "«মা»", "মা_", "মা/বোন", "\nমা\t", "মা।গাছ", "মা’র"])
def test_everything_that_is_no_word_character_is_a_boundary(text: str) -> None:
    at = text.index("মা")
    assert spans(text) == [("মা", at, at + 2)]


def test_overlaps_are_all_found() -> None:
    assert spans("বাবা মা গান") == [
        ("বাবা", 0, 4),
        ("পিতামাতা", 0, 7),
        ("ঘর", 0, 11),
        ("মা", 5, 7),
        ("গান", 8, 11),
    ]
    assert spans("মা মা মা") == [("মা", 0, 2), ("দুবার", 0, 5), ("মা", 3, 5), ("দুবার", 3, 8), ("মা", 6, 8)]


def test_a_lexicon_without_forms_finds_nothing() -> None:
    assert spans("মা গান", Forms({})) == []


@pytest.mark.parametrize("text", ["", "\0", "মা\0মা", "\ud83dমা", "😀", "মা\ud83d"])
def test_any_text_is_searched(text: str) -> None:
    assert [match.form for match in Matcher(LEXICON).find(text)] == ["মা"] * text.count("মা")


def test_each_of_many_forms_is_found_whichever_comes_first() -> None:
    """Some share a place of the hash table, the first one too with one form or another."""
    letters = [chr(code) for code in range(0x0995, 0x09A9)]
    words = ["".join(letters_of) for letters_of in product(letters, repeat=3)]
    text = " ".join(words)
    for first in range(0, len(words), 1600):
        matcher = Matcher(Forms({word: (word,) for word in words[first:] + words[:first]}))
        assert [match.form for match in matcher.find(text)] == words


def test_the_hyphen_that_normalization_leaves_is_a_hyphen() -> None:
    """A non-breaking hyphen (U+2011) becomes U+2010 under NFKC."""
    assert [(m.stimulus, m.form) for m in longest(Matcher(LEXICON).find("মা\u2010কে"))] == [("মা", "মা\u2010কে")]


def test_zwnj_does_not_count_but_keeps_its_place() -> None:
    text = f"এ গা{ZWNJ}নের {ZWNJ}মা{ZWNJ}-কে"
    assert Matcher(LEXICON).find(text) == [
        Match("গান", f"গা{ZWNJ}নের", 2, 8),
        Match("মা", f"{ZWNJ}মা{ZWNJ}", 9, 13),
        Match("মা", f"{ZWNJ}মা{ZWNJ}-কে", 9, 16),
    ]
    assert spans(text.replace(ZWNJ, ""), Forms({f"গান{ZWNJ}ের": ("গান",)})) == [("গান", 2, 7)]


def test_sentence_initial_looks_at_the_first_word_alone() -> None:
    matcher = Matcher(LEXICON, position="sentence-initial")
    assert [m.form for m in matcher.find("«মা-কে মা বলে।")] == ["মা", "মা-কে"]
    assert matcher.find("আমার মা") == []


@pytest.mark.parametrize("form", ["গান ", "", "(গান)", "-গান"])
def test_a_form_that_can_never_be_found_is_an_error(form: str) -> None:
    with pytest.raises(InputError, match=re.escape(f"The form {form!r} of the stimulus 'গান' does not begin and end")):
        Matcher(Forms({"মা": ("মা",), form: ("গান",), "চাঁদ": ("চাঁদ",)}))


pieces = st.sampled_from(
    [*LEXICON.stimuli_of, "বা", "কে", "ের", "ে", ZWNJ, ZWJ, CANDRABINDU, "-", " ", "  ", "।", ", ", "৩", "a", "’"]
)


@given(st.lists(pieces, max_size=14).map("".join))
def test_find_equals_the_slow_way(text: str) -> None:
    assert Matcher(LEXICON).find(text) == oracle(text, LEXICON)


@given(st.lists(pieces, max_size=14).map("".join))
def test_longest_leaves_one_match_per_stimulus_and_start(text: str) -> None:
    matches = Matcher(LEXICON).find(text)
    kept = longest(matches)
    expected = {}
    for match in matches:
        key = match.stimulus, match.start
        expected[key] = max(expected.get(key, match), match, key=lambda m: m.end)
    assert sorted(kept) == sorted(expected.values())


NEIGHBOURS = {
    "মা": (frozenset({"না", '"'}), frozenset({"!", "গো"})),
    "গান": (frozenset(), frozenset({"গান", "মা"})),
    "মা-কে": (frozenset({"গো"}), frozenset()),
    "বাবা মা": (frozenset(), frozenset({"না"})),
}


def neighbours_of(text: str, match: Match) -> tuple[str, str]:
    """The obvious way: what is next on either side, white space and joiners left out: a word or one mark."""
    sides = (side.replace(ZWNJ, "").split() for side in (text[: match.start], text[match.end :]))
    left, right = ("".join(side[at:][:1]) for side, at in zip(sides, (-1, 0), strict=True))
    words = re.split(r"([^ঀ-৿])", left), re.split(r"([^ঀ-৿])", right)
    return next(filter(None, reversed(words[0])), ""), next(filter(None, words[1]), "")


@given(st.lists(st.sampled_from(["মা", "না", "গান", "গো", "বাবা", "মা-কে", '"', "!", ",", " ", "  ", ZWNJ]), max_size=30))
@example(["মা", " ", ZWNJ, " ", "গো"])
@example(["না", " ", ZWNJ, " ", "মা"])
def test_a_form_beside_what_excludes_it_is_no_hit(pieces: list[str]) -> None:
    text = "".join(pieces)
    found = Matcher(LEXICON).find(text)
    kept = []
    for match in found:
        left, right = neighbours_of(text, match)
        not_after, not_before = NEIGHBOURS.get(match.form.replace(ZWNJ, ""), ((), ()))
        if left not in not_after and right not in not_before:
            kept.append(match)
    assert Matcher(Forms(LEXICON.stimuli_of, NEIGHBOURS)).find(text) == kept


def test_neighbours_are_those_of_the_sentence() -> None:
    """The last word of a sentence is no neighbour of the first of the next."""
    texts = ["মা না।", "মা গান।", "না মা।", "মা গান গান।"]
    data = np.frombuffer("".join(texts).encode(), dtype=np.uint8)
    ends = np.cumsum([len(text.encode()) for text in texts])
    starts = ends - [len(text.encode()) for text in texts]
    _, hits = Matcher(Forms({"মা": ("মা",), "গান": ("গান",)}, NEIGHBOURS)).scan(data, starts, ends)
    assert list(zip(hits.sentence.tolist(), hits.start.tolist(), hits.word.tolist(), strict=True)) == [
        (0, 0, 0),
        (1, 0, 0),
        (1, 3, 1),
        (3, 0, 0),
        (3, 7, 2),
    ]
