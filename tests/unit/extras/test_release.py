"""The sampled contexts as a data set in the layout of the authors."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tables import read_data

from prasanga.base.errors import InputError
from prasanga.base.io import write_table
from prasanga.extras.corpora import (
    RELEASE_COLUMNS,
    Text,
    TextTally,
    datasheet,
    sampled_occurrences,
    sources_page,
    write_release,
)
from prasanga.sentences.corpus import Shard
from prasanga.sentences.records import read_records

OPEN = Text("open/*.txt", "Open letters", "CC BY 4.0")
CLOSED = Text("closed/*.txt", "closed/*.txt", None)
RARE = Text("rare.txt", "Rare words", "CC0 1.0", supplement=True)


def row(occurrence: str, context: str, stimulus: str, text: str, start: int, source: str = "a.txt") -> dict[str, Any]:
    return {
        "occurrence_id": occurrence,
        "context_id": context,
        "stimulus": stimulus,
        "form": text[start : start + len(stimulus)],
        "language": "bn",
        "text": text,
        "start": start,
        "end": start + len(stimulus),
        "source": source,
        "offset": 7,
    }


SCHEMA = pa.Table.from_pylist([row("o", "c", "s", "s", 0)]).schema


def table(path: Path, rows: Sequence[dict[str, Any]]) -> Path:
    write_table(path, pa.Table.from_pylist(list(rows), SCHEMA), {})
    return path


def read(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, strict=True))


@pytest.fixture
def tables(tmp_path: Path) -> list[tuple[str | Path, Text]]:
    letters = [
        row("o1", "c1", "ফুল", 'লাল ফুল, "ফুল" আর নদী।', 4),
        row("o2", "c1", "ফুল", 'লাল ফুল, "ফুল" আর নদী।', 10),
        row("o3", "c1", "নদী", 'লাল ফুল, "ফুল" আর নদী।', 18),
        row("o4", "c2", "ফুল", "সাদা ফুল।", 5),
    ]
    notes = [row("o5", "c3", "নদী", "নদী বয়ে যায়।", 0, "b.txt"), row("o6", "c4", "ফুল", "ফুল।", 0, "b.txt")]
    few = [row("o7", "c5", "কাশ", "কাশ ফোটে।", 0, "rare.txt")]
    return [
        (table(tmp_path / "letters.parquet", letters), OPEN),
        (table(tmp_path / "notes.parquet", notes), CLOSED),
        (table(tmp_path / "few.parquet", few), RARE),
    ]


def test_a_row_says_what_was_found_where_and_under_which_terms(
    tmp_path: Path, tables: list[tuple[str | Path, Text]]
) -> None:
    write_release(tmp_path / "out.csv", tables, {"o1"})
    (found,) = read(tmp_path / "out.csv")
    assert list(found) == list(RELEASE_COLUMNS)
    assert list(found)[:2] == ["word", "sentence"]
    assert found == read_data(__file__, "released_row")
    assert found["sentence"][int(found["start"]) : int(found["end"])] == found["form"]


def test_only_sampled_contexts_of_texts_with_a_licence_are_released_and_all_are_counted(
    tmp_path: Path, tables: list[tuple[str | Path, Text]], caplog: pytest.LogCaptureFixture
) -> None:
    tallies = write_release(tmp_path / "out.csv", tables, {"o1", "o3", "o5", "o6", "o7"})
    assert caplog.messages == ["closed/*.txt: no license in the config; 2 sentence(s) are left out."]
    assert [row["occurrence_id"] for row in read(tmp_path / "out.csv")] == ["o1", "o3", "o7"]
    assert tallies == {
        OPEN: TextTally(2, {"ফুল", "নদী"}),
        CLOSED: TextTally(2, {"ফুল", "নদী"}),
        RARE: TextTally(1, {"কাশ"}),
    }


def test_two_places_of_one_context_are_one_row_and_the_first_of_them(
    tmp_path: Path, tables: list[tuple[str | Path, Text]]
) -> None:
    tallies = write_release(tmp_path / "out.csv", tables, {"o2", "o1", "o4"})
    assert [row["occurrence_id"] for row in read(tmp_path / "out.csv")] == ["o1", "o4"]
    assert tallies == {OPEN: TextTally(2, {"ফুল"}), CLOSED: TextTally(0, set()), RARE: TextTally(0, set())}


@pytest.mark.parametrize(
    ("chosen", "occurrences", "said"),
    [
        (slice(1, 2), {"o5", "o6"}, r"'closed/\*\.txt' \(2 sentences\).*licence: CC BY-SA 4\.0"),
        (slice(None), set(), "nothing to release"),
    ],
)
def test_what_cannot_be_released_is_an_error_and_leaves_no_file(
    tmp_path: Path, tables: list[tuple[str | Path, Text]], chosen: slice, occurrences: set[str], said: str
) -> None:
    with pytest.raises(InputError, match=said):
        write_release(tmp_path / "out.csv", tables[chosen], occurrences)
    assert not [path for path in tmp_path.iterdir() if "out.csv" in path.name]


def test_the_occurrences_of_all_lengths_and_buckets_are_collected_once(tmp_path: Path) -> None:
    paths = []
    for name, occurrences in {"9": ["a", "b"], "25": ["b", "c"], "75": []}.items():
        paths.append(tmp_path / f"{name}.parquet")
        write_table(paths[-1], pa.table({"occurrence_id": pa.array(occurrences, pa.string())}), {})
    assert sampled_occurrences(paths) == {"a", "b", "c"}


# What a text can be after `normalization: none`: anything but surrogates, in at least one visible character.
ANY_TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(lambda text: not text.isspace())


@given(st.lists(st.tuples(st.sampled_from(["ফুল", "নদী", "মা বাবা"]), ANY_TEXT), min_size=1, max_size=8))
def test_what_is_released_can_be_read_back(
    tmp_path_factory: pytest.TempPathFactory, pairs: list[tuple[str, str]]
) -> None:
    folder = tmp_path_factory.mktemp("release")
    rows = [row(f"o{i}", f"c{i}", stimulus, text, 0) for i, (stimulus, text) in enumerate(pairs)]
    tables = [(table(folder / "a.parquet", rows), OPEN)]
    write_release(folder / "sentences.csv", tables, {found["occurrence_id"] for found in rows})
    assert [(found["word"], found["sentence"]) for found in read(folder / "sentences.csv")] == pairs
    records = read_records(Shard(str(folder / "sentences.csv"), "sentences.csv", "line", "extracted"))
    assert [(record.stimulus, record.text) for record in records] == pairs


TALLIES = {OPEN: TextTally(1200, {"ফুল", "নদী"}), CLOSED: TextTally(35, {"ফুল"}), RARE: TextTally(2, {"কাশ"})}


def test_the_page_of_sources_names_licences_counts_settings_and_what_was_left_out() -> None:
    page = sources_page(TALLIES, made={"config": "digest abc"}, settings={"seed": 47, "normalization": {"bn": "none"}})
    released, left_out = page.split("## Left out")
    assert "| Open letters | `open/*.txt` | CC BY 4.0 | 1,200 | 2 | all words |" in released.splitlines()
    assert "| Rare words | `rare.txt` | CC0 1.0 | 2 | 1 | rare words only |" in released.splitlines()
    assert "closed" not in released
    assert r"| closed/\*.txt | `closed/*.txt` | none named | 35 | 1 | all words |" in left_out.splitlines()
    assert "- config: digest abc" in left_out.splitlines()
    assert "seed: 47\nnormalization:\n  bn: none\n" in left_out
    page = sources_page({OPEN: TextTally(3, {"ফুল"})}, made={}, settings={})
    assert "Nothing: every text that was sampled has a license." in page


def test_the_datasheet_counts_what_is_in_it_and_says_what_the_words_are_for() -> None:
    page = datasheet("Flowers {and} rivers", TALLIES)
    assert page.startswith("# Flowers {and} rivers: the sentences\n")
    assert "1,202 sentences with 3 words" in page
    assert "from 2 text(s)" in page
    assert "35 more were measured but are not here" in page
    assert "to *measure* models" in page
    assert all(f"| `{name}` |" in page for name in RELEASE_COLUMNS)
    assert "{files: sentences.csv, format: extracted, columns: {stimulus: word, sentence: sentence}}" in page
    assert "more were measured" not in datasheet("t", {OPEN: TextTally(1, {"ফুল"})})
