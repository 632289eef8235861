"""From sentence tables to segments and coverage."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prasanga.errors import InputError
from prasanga.samples import (
    COVERAGE_SCHEMA,
    SEGMENT_SCHEMA,
    Draw,
    bucket_of,
    coverage_table,
    draw,
    parse_length,
    segment_table,
    split_into_buckets,
)
from prasanga.samples.drawing import PoolKind
from prasanga.sentences import SENTENCE_SCHEMA
from prasanga.text import count_words

LENGTHS = [parse_length(label) for label in (3, 5, ">5")]


def context(name: str, n_words: int, *stimuli: str, text: str | None = None) -> list[dict[str, Any]]:
    """The rows of one context: the stimuli, in the middle of words that stand in no other context."""
    if text is None:
        around = [f"{name}{i}" for i in range(n_words - len(stimuli))]
        half = len(around) // 2
        text = " ".join([*around[:half], *stimuli, *around[half:]])
    rows = []
    for i, stimulus in enumerate(stimuli):
        start = text.index(stimulus)
        for _ in range(stimuli[:i].count(stimulus)):
            start = text.index(stimulus, start + 1)
        rows.append(
            {
                "occurrence_id": f"{name}-{stimulus}-{start}",
                "context_id": name,
                "stimulus": stimulus,
                "form": stimulus,
                "language": "bn",
                "text": text,
                "start": start,
                "end": start + len(stimulus),
                "word_index": count_words(text[:start]),
                "n_words": count_words(text),
                "before": 0,
                "after": 0,
                "source": "a.txt",
                "offset": 0,
            }
        )
    return rows


def write(path: Path, contexts: list[list[dict[str, Any]]]) -> Path:
    rows = [row for rows in contexts for row in rows]
    pq.write_table(pa.Table.from_pylist(rows, SENTENCE_SCHEMA), path)
    return path


def draw_from(*paths: Path, pool: PoolKind = "shared", k: int = 100, **options: Any) -> Draw:
    return draw(paths, lengths=LENGTHS, pool=pool, contexts_per_stimulus=k, seed=47, **options)


CONTEXTS = [
    context("a", 2, "ফুল"),
    context("b", 4, "ফুল"),
    context("c", 5, "ফুল"),
    context("d", 8, "ফুল", "মা"),
    context("e", 7, "ফুল", "ফুল"),
    context("f", 4, "মা"),
    context("g", 3, "নদী"),
]


def contexts_of(drawn: Draw, stimulus: str) -> list[set[str]]:
    tables = [segment_table(drawn, length).to_pylist() for length in LENGTHS]
    return [{row["context_id"] for row in rows if row["stimulus"] == stimulus} for rows in tables]


def test_a_shared_pool_serves_all_fixed_lengths_from_the_same_occurrences(tmp_path: Path) -> None:
    drawn = draw_from(write(tmp_path / "s.parquet", CONTEXTS))
    assert contexts_of(drawn, "ফুল") == [{"c", "d", "e"}, {"c", "d", "e"}, {"d", "e"}]
    assert contexts_of(drawn, "মা") == [{"d"}, {"d"}, {"d"}]
    three, five = segment_table(drawn, LENGTHS[0]), segment_table(drawn, LENGTHS[1])
    assert three["occurrence_id"].to_pylist() == five["occurrence_id"].to_pylist()
    assert set(three["n_words"].to_pylist()) == {3}
    assert set(five["n_words"].to_pylist()) == {5}


def test_per_length_takes_what_each_length_can_get(tmp_path: Path) -> None:
    drawn = draw_from(write(tmp_path / "s.parquet", CONTEXTS), pool="per_length")
    assert contexts_of(drawn, "ফুল") == [{"b", "c", "d", "e"}, {"c", "d", "e"}, {"d", "e"}]
    assert contexts_of(drawn, "মা") == [{"d", "f"}, {"d"}, {"d"}]


def test_the_first_occurrence_of_a_context_is_the_one(tmp_path: Path) -> None:
    drawn = draw_from(write(tmp_path / "s.parquet", [context("e", 7, "ফুল", "ফুল")]))
    (row,) = segment_table(drawn, LENGTHS[1]).to_pylist()
    assert row["occurrence_id"] == "e-ফুল-6"
    assert (row["text"], row["start"], row["end"]) == ("e0 e1 ফুল ফুল e2", 6, 9)


def test_copies_of_one_text_are_one_context(tmp_path: Path) -> None:
    text = "এক দুই ফুল তিন চার পাঁচ"
    copies = [context(name, 6, "ফুল", text=text) for name in ("y", "x", "z")]
    drawn = draw_from(write(tmp_path / "s.parquet", copies))
    assert contexts_of(drawn, "ফুল") == [{"x"}, {"x"}, {"x"}]


def test_rows_are_sorted_by_stimulus_and_priority_and_fit_the_schema(tmp_path: Path) -> None:
    drawn = draw_from(write(tmp_path / "s.parquet", CONTEXTS), k=2)
    table = segment_table(drawn, LENGTHS[1])
    assert table.schema == SEGMENT_SCHEMA
    assert table["stimulus"].to_pylist() == ["ফুল", "ফুল", "মা"]
    assert table["context_id"].to_pylist() == [occurrence.context_id for _, occurrence in drawn.drawn(LENGTHS[1])]
    assert set(segment_table(drawn, LENGTHS[2])["segment_length"].to_pylist()) == {">5"}


def test_segments_of_the_same_text_and_span_have_one_name(tmp_path: Path) -> None:
    text = "এক দুই ফুল তিন চার"
    contexts = [context(name, 0, "ফুল", text=f"{name} {text} {name}") for name in ("a", "b")]
    table = segment_table(draw_from(write(tmp_path / "s.parquet", contexts)), LENGTHS[1])
    assert table["text"].to_pylist() == [text, text]
    assert len(set(table["segment_id"].to_pylist())) == 1
    assert len(set(table["occurrence_id"].to_pylist())) == 2


def test_coverage_says_what_there_is_and_why_there_is_nothing(tmp_path: Path) -> None:
    drawn = draw_from(write(tmp_path / "s.parquet", CONTEXTS), k=2)
    table = coverage_table(drawn, ["মা", "ফুল", "নদী", "পাখি"])
    assert table.schema == COVERAGE_SCHEMA
    assert [tuple(row.values()) for row in table.to_pylist()] == [
        ("নদী", "3", 1, 1, 1, 0, 0, "no-context-long-enough"),
        ("নদী", "5", 1, 1, 0, 0, 0, "no-context-long-enough"),
        ("নদী", ">5", 1, 1, 0, 0, 0, "no-context-long-enough"),
        ("পাখি", "3", 0, 0, 0, 0, 0, "no-occurrence"),
        ("পাখি", "5", 0, 0, 0, 0, 0, "no-occurrence"),
        ("পাখি", ">5", 0, 0, 0, 0, 0, "no-occurrence"),
        ("ফুল", "3", 6, 5, 4, 3, 2, ""),
        ("ফুল", "5", 6, 5, 3, 3, 2, ""),
        ("ফুল", ">5", 6, 5, 2, 2, 2, ""),
        ("মা", "3", 2, 2, 2, 1, 1, ""),
        ("মা", "5", 2, 2, 1, 1, 1, ""),
        ("মা", ">5", 2, 2, 1, 1, 1, ""),
    ]


many = [context(f"ক{i}", i % 9 + 2, "ফুল") for i in range(12)] + [
    context(f"খ{i}", i % 9 + 2, "মা", "ফুল") for i in range(12)
]


@settings(max_examples=20, deadline=None)
@given(st.randoms(), st.integers(1, 4), st.sampled_from(["shared", "per_length"]), st.integers(1, 6))
def test_the_order_and_number_of_files_change_nothing(
    tmp_path_factory: pytest.TempPathFactory, chance: random.Random, n_files: int, pool: PoolKind, k: int
) -> None:
    folder = tmp_path_factory.mktemp("sentences")
    whole = draw_from(write(folder / "whole.parquet", many), pool=pool, k=k)
    files: list[list[list[dict[str, Any]]]] = [[] for _ in range(n_files)]
    for rows in chance.sample(many, len(many)):
        chance.choice(files).append(rows)
    parts = draw_from(*(write(folder / f"{i}.parquet", file) for i, file in enumerate(files)), pool=pool, k=k)
    for length in LENGTHS:
        assert segment_table(parts, length).equals(segment_table(whole, length))
    assert coverage_table(parts, ["ফুল", "মা"]).equals(coverage_table(whole, ["ফুল", "মা"]))


def test_a_context_that_two_batches_share_is_counted_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path / "s.parquet", CONTEXTS)
    expected = coverage_table(draw_from(path), ["ফুল", "মা"])
    monkeypatch.setattr("prasanga.samples.drawing._ROWS_AT_A_TIME", 1)
    assert coverage_table(draw_from(path), ["ফুল", "মা"]).equals(expected)


def test_only_the_stimuli_asked_for_are_drawn(tmp_path: Path) -> None:
    drawn = draw_from(write(tmp_path / "s.parquet", CONTEXTS), stimuli=["মা"])
    assert set(segment_table(drawn, LENGTHS[0])["stimulus"].to_pylist()) == {"মা"}


def test_no_sentences_give_empty_tables(tmp_path: Path) -> None:
    drawn = draw_from(write(tmp_path / "s.parquet", []))
    assert segment_table(drawn, LENGTHS[0]).equals(SEGMENT_SCHEMA.empty_table())


def test_a_file_that_is_no_table_of_sentences_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "other.parquet"
    pq.write_table(pa.table({"text": ["a"]}), path)
    with pytest.raises(InputError, match=r"other\.parquet: lacks the columns context_id, end, form"):
        draw_from(path)


def test_buckets_keep_the_order_and_a_stimulus_in_one_place(tmp_path: Path) -> None:
    table = segment_table(draw_from(write(tmp_path / "s.parquet", CONTEXTS)), LENGTHS[0])
    buckets = split_into_buckets(table, 3)
    assert list(buckets) == ["00", "01", "02"]
    for name, rows in buckets.items():
        mine = [row for row in table.to_pylist() if bucket_of(row["stimulus"], 3) == name]
        assert rows.to_pylist() == mine
        assert rows.schema == SEGMENT_SCHEMA
    assert [bucket_of(stimulus, 3) for stimulus in ("ফুল", "মা", "নদী")] == ["01", "02", "00"]
