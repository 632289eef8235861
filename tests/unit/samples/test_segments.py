"""The second pass: what segments look like, where they stand, and what of the files is read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sentence_tables import Row, context, write_sentences

from prasanga.base.errors import InputError
from prasanga.samples import (
    SEGMENT_SCHEMA,
    Draw,
    buckets_for,
    coverage_table,
    cut_segments,
    draw,
    drawn_forms,
    parse_length,
    priority,
)
from prasanga.samples.drawing import COVERAGE_SCHEMA, FORMS_SCHEMA, bucket_of

CONTEXTS = [context(f"{i}", i + 3, "ফুল", "মা", "নদী") for i in range(6)]


def draw_from(path: Path, *labels: str | int, k: int = 100, **options: Any) -> Draw:
    lengths = [parse_length(label) for label in labels]
    given = {"pool": "shared", "seed": 47, **options}
    return draw([path], lengths=lengths, contexts_per_stimulus=k, **given)


def table(drawn: Draw, label: str | int) -> pa.Table:
    with cut_segments(drawn) as segments:
        return pa.Table.from_batches(segments.batches(parse_length(label)), SEGMENT_SCHEMA)


def test_rows_are_sorted_by_stimulus_and_priority_and_fit_the_schema(tmp_path: Path) -> None:
    path = write_sentences(tmp_path / "s.parquet", CONTEXTS)
    rows = [row for rows in CONTEXTS for row in rows if row["n_words"] > 4]
    rows.sort(key=lambda row: (row["stimulus"], priority(47, row["stimulus"], row["text"])))
    drawn = draw_from(path, 3, 5, ">4", k=2)
    found = table(drawn, 3)
    assert found.schema == SEGMENT_SCHEMA
    assert found["stimulus"].to_pylist() == ["নদী", "নদী", "ফুল", "ফুল", "মা", "মা"]
    assert found["occurrence_id"].to_pylist() == [rows[i]["occurrence_id"] for i in (0, 1, 4, 5, 8, 9)]
    assert found["occurrence_id"] == table(drawn, 5)["occurrence_id"] == table(drawn, ">4")["occurrence_id"]
    assert set(found["n_words"].to_pylist()) == {3}
    assert set(table(drawn, ">4")["segment_length"].to_pylist()) == {">4"}
    assert coverage_table(drawn).schema == COVERAGE_SCHEMA
    assert drawn_forms(drawn).schema == FORMS_SCHEMA


def test_segments_of_the_same_text_and_span_have_one_name(tmp_path: Path) -> None:
    text = "এক দুই ফুল তিন চার"
    contexts = [context(name, 0, "ফুল", text=f"{name} {text} {name}") for name in ("a", "b")]
    found = table(draw_from(write_sentences(tmp_path / "s.parquet", contexts), 5), 5)
    assert found["text"].to_pylist() == [text, text]
    assert len(set(found["segment_id"].to_pylist())) == 1
    assert len(set(found["occurrence_id"].to_pylist())) == 2


def test_buckets_hold_their_stimuli_in_the_same_order(tmp_path: Path) -> None:
    drawn = draw_from(write_sentences(tmp_path / "s.parquet", CONTEXTS), 3)
    (length,) = drawn.lengths
    everything = table(drawn, 3).to_pylist()
    assert [bucket_of(stimulus, 3) for stimulus in ("ফুল", "মা", "নদী")] == ["01", "02", "00"]
    with cut_segments(drawn) as segments:
        for bucket in ("00", "01", "02"):
            stimuli = {stimulus for stimulus in drawn.stimuli if bucket_of(stimulus, 3) == bucket}
            rows = [row for batch in segments.batches(length, stimuli) for row in batch.to_pylist()]
            assert rows == [row for row in everything if row["stimulus"] in stimuli]
        assert list(segments.batches(length, [])) == []


def test_row_groups_without_anything_drawn_are_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    contexts = [context(f"{i}", 5, "ফুল" if i == 7 else "মা") for i in range(20)]
    drawn = draw_from(write_sentences(tmp_path / "s.parquet", contexts, rows_per_group=5), 5, stimuli=["ফুল"])
    read = []
    iter_batches = pq.ParquetFile.iter_batches

    def watched(self: pq.ParquetFile, *given: Any, **options: Any) -> Any:
        read.append(options["row_groups"])
        return iter_batches(self, *given, **options)

    monkeypatch.setattr(pq.ParquetFile, "iter_batches", watched)
    assert len(table(drawn, 5)) == 1
    assert read == [[1]]


def test_nothing_is_left_in_the_scratch_folder(tmp_path: Path) -> None:
    path = write_sentences(tmp_path / "s.parquet", CONTEXTS)
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    drawn = draw_from(path, 3, scratch=scratch)
    with cut_segments(drawn, scratch):
        assert list(scratch.iterdir()) == []  # what lies there has no name, so that it goes with the process
    assert list(scratch.iterdir()) == []


def test_a_table_that_is_damaged_between_the_passes_is_told(tmp_path: Path) -> None:
    rows: list[Row] = [row for rows in CONTEXTS for row in rows]
    path = write_sentences(tmp_path / "s.parquet", [rows])
    drawn = draw_from(path, 3)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(InputError, match=r"s\.parquet: damaged"):
        table(drawn, 3)
    path.unlink()
    with pytest.raises(InputError, match=r"s\.parquet: no such file"):
        table(drawn, 3)


@pytest.mark.parametrize(("segments", "buckets"), [(0, 1), (1, 1), (200, 1), (201, 2), (700, 4), (10**9, 100)])
def test_a_bucket_has_at_most_as_many_segments_as_a_job_may_have(segments: int, buckets: int) -> None:
    assert buckets_for(segments, 200) == buckets
