"""Sentences of many lines at once must be those of `split_sentences`, line by line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

from prasanga.text import normalize_batch, split_sentences
from prasanga.text.lines import Lines, split_lines

PIECES = [
    *"কখািয়্ही।॥?!.|  \"')]}»”’›‘“([aAbz19=/&_ঃ\u200c\u3000\x1c\t\xa0é😀",
    *("ডা", "no", "পৃ", "।।", "...", "?!", '"ক', '? "a', "! (অ"),
]
texts = st.one_of(
    st.lists(st.sampled_from(PIECES), max_size=25).map("".join),
    st.text(st.characters(exclude_characters="\n", exclude_categories=("Cs",))),
)
NO_LIMIT = 1 << 40


def sentences_of(texts: list[str], longest: int = NO_LIMIT) -> tuple[list[list[str]], int]:
    encoded = [text.encode() for text in texts]
    ends = np.cumsum([0, *map(len, encoded)], dtype=np.int64)
    spans, cut = split_lines(Lines(np.frombuffer(b"".join(encoded), dtype=np.uint8), ends[:-1], ends[1:]), longest)
    joined = b"".join(encoded)
    found: list[list[str]] = [[] for _ in texts]
    assert (np.diff(spans.lines) >= 0).all()
    for line, start, end in zip(spans.lines.tolist(), spans.starts.tolist(), spans.ends.tolist(), strict=True):
        found[line].append(joined[start:end].decode())
    return found, cut


@settings(max_examples=200)
@given(st.lists(texts, max_size=6))
@example(
    ["।", " ।", "ক ।", "ক। ।", 'ক।"', 'ক।"খ', "ক? a", "ক?) a", "ক?)\x1ca", "১.৫ ক. খ", "ক\U00100964 খ\U00080021 গ"]
)
def test_many_lines_equal_one_by_one(lines: list[str]) -> None:
    assert sentences_of(lines)[0] == [[line[start:end] for start, end in split_sentences(line)] for line in lines]


def test_a_sentence_that_is_too_long_is_cut_between_words() -> None:
    line = "এক দুই তিন চার। পাঁচ ছয়, সাত"
    assert sentences_of([line], longest=8) == ([["এক দুই", "তিন চার।", "পাঁচ ছয়,", "সাত"]], 2)
    assert sentences_of(["ক" * 20 + " খ"], longest=8) == ([["ক" * 20, "খ"]], 1)


def test_marks_that_go_on_and_on_do_not_make_a_sentence_longer() -> None:
    (found,), cut = sentences_of(["ক" * 5 + "।" + " ।" * 50], longest=8)
    assert cut == 1
    assert "".join(found).replace(" ", "") == "ককককক" + "।" * 51
    assert max(map(len, found)) <= 16


def test_a_stretch_without_words_is_cut_as_well() -> None:
    (found,), cut = sentences_of(["ক " + "-" * 100 + " খ"], longest=8)
    assert cut == 1
    assert "".join(found).replace(" ", "") == "ক" + "-" * 100 + "খ"
    assert max(map(len, found)) <= 16


def test_more_sentences_than_room_was_made_for() -> None:
    assert sentences_of(["ক।" * 5_000])[0] == [["ক।"] * 5_000]


def test_real_text(shared: Path) -> None:
    for path in sorted((shared / "corpora").glob("*.txt")):
        lines = normalize_batch(path.read_text("utf-8").split("\n"))
        assert sentences_of(lines)[0] == [[line[a:b] for a, b in split_sentences(line)] for line in lines], path.name
