"""The demo's pairs and tuples hold what their README says of them."""

from __future__ import annotations

import csv
import string
import unicodedata
from collections import Counter, defaultdict
from pathlib import Path

import pytest
import regex

from prasanga.pairs import align_words, read_pairs

DEMO = Path(__file__).resolve().parents[3] / "resources/demo"
COLUMNS = ["pair_id", "language", "bias_type", "label", "first", "second", "modified", "agreeing", "origin", "note"]
TYPES = ["gender", "religion", "caste", "age", "disability", "physical-appearance", "socioeconomic"]
LANGUAGES = ("en", "hi", "bn")
SCRIPT = {
    "en": regex.compile(r"[A-Za-z ,.'-]+\."),
    "hi": regex.compile(r"[\p{Devanagari} ,-]+।"),
    "bn": regex.compile(r"[\p{Bengali} ,-]+।"),
}
ONE_LANGUAGE = {"gender-09": {"en"}, "gender-10": {"hi"}, "gender-11": {"bn"}, "religion-09": {"bn"}}


def read(name: str) -> tuple[list[str], list[dict[str, str]]]:
    with (DEMO / name).open(encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file, strict=True)
        rows = list(reader)
    return list(reader.fieldnames or []), rows


COLUMNS_FOUND, PAIRS = read("pairs.csv")
ROWS = pytest.mark.parametrize("row", PAIRS, ids=[row["pair_id"] for row in PAIRS])


def sides(mark: str) -> list[list[str]]:
    return [side.split(" | ") for side in mark.split(" / ")] if mark else [[], []]


def bare_words(sentence: str) -> list[str]:
    return [word.strip(string.punctuation + "।") for word in sentence.split()]


def longest_common(first: list[str], second: list[str]) -> int:
    """Length of the longest common subsequence, by the textbook."""
    lengths = [[0] * (len(second) + 1) for _ in range(len(first) + 1)]
    for i, one in enumerate(first):
        for j, other in enumerate(second):
            lengths[i + 1][j + 1] = lengths[i][j] + 1 if one == other else max(lengths[i][j + 1], lengths[i + 1][j])
    return lengths[-1][-1]


def test_columns_and_ids() -> None:
    assert COLUMNS_FOUND == COLUMNS
    assert len({row["pair_id"] for row in PAIRS}) == len(PAIRS)
    for row in PAIRS:
        assert None not in row
        assert regex.fullmatch(rf"{row['language']}-{row['bias_type']}-\d\d", row["pair_id"])
        assert row["origin"] == "written"
        assert row["note"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_pairs_enough_of_every_type_and_label(language: str) -> None:
    rows = [row for row in PAIRS if row["language"] == language]
    types = Counter(row["bias_type"] for row in rows)
    reversed_types = Counter(row["bias_type"] for row in rows if row["label"] == "antistereo")
    assert len(rows) >= 42
    assert set(types) == set(TYPES)
    assert min(types.values()) >= 6
    assert {row["label"] for row in rows} == {"stereo", "antistereo"}
    assert min(reversed_types[name] for name in TYPES) >= 2
    assert 0.3 <= sum(reversed_types.values()) / len(rows) <= 0.36


def test_parallel_pairs_agree_in_type_label_and_note() -> None:
    by_suffix: dict[str, dict[str, dict[str, str]]] = defaultdict(dict)
    for row in PAIRS:
        by_suffix[row["pair_id"].split("-", 1)[1]][row["language"]] = row
    for suffix, versions in by_suffix.items():
        assert set(versions) == ONE_LANGUAGE.get(suffix, set(LANGUAGES)), suffix
        assert len({(row["bias_type"], row["label"], row["note"]) for row in versions.values()}) == 1, suffix


def test_no_sentence_stands_twice() -> None:
    sentences = Counter(row[column] for row in PAIRS for column in ("first", "second"))
    assert [sentence for sentence, count in sentences.items() if count > 1] == []


@ROWS
def test_spelling(row: dict[str, str]) -> None:
    for cell in row.values():
        assert cell == unicodedata.normalize("NFC", cell)
        assert cell == " ".join(cell.split())
    for column in ("first", "second"):
        assert SCRIPT[row["language"]].fullmatch(row[column]), row[column]


@ROWS
def test_modified_words_are_those_that_differ(row: dict[str, str]) -> None:
    marked_first, marked_second = sides(row["modified"])
    assert 1 <= len(marked_first) <= 3
    assert 1 <= len(marked_second) <= 3
    first, second = bare_words(row["first"]), bare_words(row["second"])
    common = longest_common(first, second)
    assert len(first) - len(marked_first) == len(second) - len(marked_second) == common
    assert Counter(first) - Counter(marked_first) == Counter(second) - Counter(marked_second)
    alignment = align_words(row["first"], row["second"])
    assert (alignment.modified_first, alignment.modified_second) == (marked_first, marked_second)


@ROWS
def test_agreeing_words_are_modified_words(row: dict[str, str]) -> None:
    for agreeing, modified in zip(sides(row["agreeing"]), sides(row["modified"]), strict=True):
        assert Counter(agreeing) <= Counter(modified)
        # A word besides carries the group; in one Hindi pair the verb alone shows it.
        assert len(agreeing) < len(modified) or row["pair_id"] == "hi-gender-10"


def test_the_library_reads_them_as_they_are() -> None:
    table = read_pairs(DEMO / "pairs.csv")
    columns = ["pair_id", "language", "bias_type", "label", "first", "second", "origin"]
    expected = sorted(tuple(row[column] for column in columns) for row in PAIRS)
    assert sorted(table.select(columns).rows()) == expected


def test_tuples() -> None:
    annotators = ["annotator-1", "annotator-2", "annotator-3"]
    columns, rows = read("tuples.csv")
    assert columns == ["axis", "identity", "attribute", "polarity", *annotators]
    assert len(rows) == 44
    assert Counter(row["polarity"] for row in rows) == {"positive": 22, "negative": 22}
    assert {row["axis"] for row in rows} == {"caste", "religion", "gender", "age", "region", "occupation"}
    assert len({(row["identity"], row["attribute"]) for row in rows}) == len(rows)
    assert {row[name] for row in rows for name in annotators} == {"0", "1"}
    # Some are kept at two votes of three and some are not, unanimous or not: each case of the construction occurs.
    assert Counter(sum(int(row[name]) for name in annotators) for row in rows) == {3: 21, 2: 13, 1: 2, 0: 8}
