"""The whole draw against a slow, obvious one, and the rules that it follows."""

from __future__ import annotations

import errno
import json
import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sentence_tables import Row, context, occurrence, write_sentences

from prasanga.base.errors import InputError
from prasanga.base.io import write_table
from prasanga.samples import (
    Context,
    Draw,
    SegmentLength,
    counts_of,
    coverage_table,
    cut_segments,
    draw,
    drawn_forms,
    parse_length,
    priority,
    short_stimuli,
    tell_of_missing,
)
from prasanga.samples.pool import Tally

LENGTHS = [parse_length(label) for label in (3, 5, ">5")]
STIMULI = ["ক", "খ গ", "ঘ", "ঙ"]


class Way(NamedTuple):
    """How to draw."""

    lengths: Sequence[SegmentLength]
    pool: Any
    k: int
    window: Any
    longest: int = 7
    minimum: int = 0


def allows(row: Row, length: SegmentLength, way: Way) -> bool:
    cut = Context(row["text"], row["start"], row["end"]).segment(length, window=way.window, longest=way.longest)
    return cut is not None


def serves(row: Row, length: SegmentLength, way: Way) -> bool:
    if way.pool == "per_length" or length.over:
        return allows(row, length, way)
    return all(allows(row, other, way) for other in way.lengths if not other.over)


def slow_draw(rows: list[Row], way: Way) -> dict[tuple[str, str], list[Row]]:
    """For each stimulus and length: what serves, one occurrence of each text, in the order of priority, the first k."""
    drawn = {}
    for length in way.lengths:
        for stimulus in STIMULI:
            texts = defaultdict(list)
            for row in rows:
                if row["stimulus"] == stimulus and serves(row, length, way):
                    texts[row["text"]].append(row)
            order = sorted(texts, key=lambda text: priority(47, stimulus, text))[: way.k]
            drawn[stimulus, length.label] = [
                min(texts[text], key=lambda r: (r["supplement"], r["start"], r["occurrence_id"])) for text in order
            ]
    return drawn


def slow_short(rows: list[Row], way: Way) -> list[str]:
    def texts(stimulus: str, length: SegmentLength) -> set[str]:
        return {r["text"] for r in rows if r["stimulus"] == stimulus and serves(r, length, way)}

    return [s for s in STIMULI if any(len(texts(s, length)) < way.minimum for length in way.lengths)]


def rows_of(drawn: Draw) -> Iterator[Row]:
    with cut_segments(drawn) as segments:
        for length in drawn.lengths:
            for batch in segments.batches(length):
                yield from batch.to_pylist()


tokens = st.lists(st.sampled_from(["ক", "খ গ", "ঘ", "অ", "আ"]), min_size=1, max_size=10)


def contexts_from(texts: list[list[str]]) -> list[list[Row]]:
    """The occurrences of each context; a text that comes twice is a copy, with an identifier of its own."""
    contexts = []
    for number, words in enumerate(texts):
        starts = [len(" ".join([*words[:i], ""])) for i in range(len(words))]
        found = [
            occurrence(f"{number}", " ".join(words), word, start, source=f"{number % 2}.txt")
            for word, start in zip(words, starts, strict=True)
            if word in STIMULI
        ]
        contexts.append(found)
    return contexts


ways = st.builds(
    Way,
    st.lists(st.sampled_from([1, 2, 4, 5, 6, ">3", ">5"]), min_size=1, max_size=5, unique=True).map(
        lambda labels: [parse_length(label) for label in labels]
    ),
    st.sampled_from(["shared", "per_length"]),
    st.integers(1, 5),
    st.sampled_from(["exact", "paper"]),
    longest=st.just(7),
    minimum=st.integers(0, 4),
)


@settings(max_examples=25, deadline=None)
@given(st.lists(tokens, max_size=30), ways, st.integers(1, 4), st.integers(0, 2), st.randoms())
def test_the_draw_is_that_of_the_slow_way_whatever_the_files(
    tmp_path_factory: pytest.TempPathFactory,
    texts: list[list[str]],
    way: Way,
    n_files: int,
    n_more: int,
    chance: random.Random,
) -> None:
    folder = tmp_path_factory.mktemp("sentences")
    contexts = contexts_from(texts)
    files: list[list[list[Row]]] = [[] for _ in range(n_files + n_more)]
    for rows in chance.sample(contexts, len(contexts)):
        chance.choice(files).append(rows)
    paths = [write_sentences(folder / f"{i}.parquet", its, rows_per_group=7) for i, its in enumerate(files)]
    primary, supplement = paths[:n_files], paths[n_files:]

    def with_supplement(its: list[list[list[Row]]], supplement: bool) -> list[Row]:
        return [{**row, "supplement": supplement} for file in its for rows in file for row in rows]

    rows = with_supplement(files[:n_files], supplement=False)
    short = slow_short(rows, way)
    rows += [row for row in with_supplement(files[n_files:], supplement=True) if row["stimulus"] in short]
    expected = slow_draw(rows, way)
    choices: dict[str, Any] = {"stimuli": STIMULI, "lengths": way.lengths, "pool": way.pool, "minimum": way.minimum}
    choices |= {"window": way.window, "longest": way.longest}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("prasanga.samples.pool._ROWS_AT_A_TIME", chance.randint(1, 20))
        patch.setattr("prasanga.samples.pool._ROWS_WAITING", 6)
        patch.setattr("prasanga.samples.pool._RECORDS_PER_SLICE", 8)
        patch.setattr("prasanga.samples.pool._ROWS_WAITING", 2)
        patch.setattr("prasanga.base.io._TAKEN_FROM", 3)
        patch.setattr("prasanga.samples.segments._BYTES_WAITING", 5_000)
        drawn = draw(primary, contexts_per_stimulus=way.k, seed=47, supplement=supplement, **choices)
        assert short_stimuli(primary, **choices) == short
        found = list(rows_of(drawn))
    assert drawn.supplemented == (set(short) if n_more else set())
    assert [(row["segment_length"], row["stimulus"], row["occurrence_id"]) for row in found] == [
        (length.label, stimulus, row["occurrence_id"])
        for length in way.lengths
        for stimulus in STIMULI
        for row in expected[stimulus, length.label]
    ]
    by_name = {row["occurrence_id"]: row for row in rows}
    by_label = {length.label: length for length in way.lengths}
    for row in found:
        origin = by_name[row["occurrence_id"]]
        whole, length = Context(origin["text"], origin["start"], origin["end"]), by_label[row["segment_length"]]
        part = whole.segment(length, window=way.window, longest=way.longest)
        assert part == (row["text"], row["start"], row["end"], row["n_words"])
        assert row["context_id"] == origin["context_id"]
    check_coverage(drawn, rows, way, expected)
    check_forms(drawn, rows, expected)


def check_coverage(drawn: Draw, rows: list[Row], way: Way, expected: dict[tuple[str, str], list[Row]]) -> None:
    """Every context is accounted for, and every count is what one gets by counting."""
    table = coverage_table(drawn).to_pylist()
    assert [(row["stimulus"], row["segment_length"]) for row in table] == [
        (stimulus, length.label) for stimulus in STIMULI for length in way.lengths
    ]
    by_label = {length.label: length for length in way.lengths}
    for found in table:
        length = by_label[found["segment_length"]]
        mine = [row for row in rows if row["stimulus"] == found["stimulus"]]
        its = expected[found["stimulus"], length.label]
        eligible = {row["text"] for row in mine if serves(row, length, way)}
        assert found["occurrences"] == len(mine)
        assert found["contexts"] == len({row["context_id"] for row in mine})
        assert found["contexts"] - found["copies"] == len({row["text"] for row in mine})
        assert found["long_enough"] == len({row["text"] for row in mine if allows(row, length, way)})
        assert found["eligible"] == len(eligible)
        assert found["sampled"] == len(its)
        assert found["from_supplement"] == sum(row["supplement"] for row in its)
        assert found["short"] == (len(eligible) < way.minimum)
        assert bool(found["reason"]) == (not its)
        parts = ("copies", "too_short", "target_too_long", "outside_pool", "over_cap", "sampled")
        assert found["contexts"] == sum(found[part] for part in parts)
        assert found["long_enough"] == found["outside_pool"] + found["eligible"]
        assert found["eligible"] == found["over_cap"] + found["sampled"]
        assert min(found[part] for part in parts) >= 0


def check_forms(drawn: Draw, rows: list[Row], expected: dict[tuple[str, str], list[Row]]) -> None:
    sampled = {row["occurrence_id"] for its in expected.values() for row in its}
    counts: defaultdict[tuple[str, str, str], list[int]] = defaultdict(lambda: [0, 0])
    for row in rows:
        count = counts[row["stimulus"], row["form"], row["source"]]
        count[0] += 1
        count[1] += row["occurrence_id"] in sampled
    assert [tuple(row.values()) for row in drawn_forms(drawn).to_pylist()] == [
        (*key, *count) for key, count in sorted(counts.items())
    ]


def draw_from(*paths: Path, pool: Any = "shared", k: int = 100, **options: Any) -> Draw:
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


def test_only_the_stimuli_asked_for_are_drawn_and_counted(tmp_path: Path) -> None:
    path = write_sentences(tmp_path / "s.parquet", CONTEXTS)
    drawn = draw_from(path, stimuli=["মা", "পাখি"])
    assert {row["stimulus"] for row in rows_of(drawn)} == {"মা"}
    assert coverage_table(drawn)["stimulus"].unique().to_pylist() == ["পাখি", "মা"]
    assert drawn_forms(drawn)["stimulus"].to_pylist() == ["মা"]
    assert draw_from(path).stimuli == ("নদী", "ফুল", "মা")


@pytest.mark.parametrize(
    ("contexts", "reasons"),
    [
        ([], ["no-occurrence"] * 3),
        ([context("g", 2, "ফুল")], ["no-context-long-enough"] * 3),
        ([context("g", 4, "ফুল")], ["no-context-for-all-lengths", *["no-context-long-enough"] * 2]),
        ([context("g", 5, "ফুল")], ["", "", "no-context-long-enough"]),
        ([context("g", 9, "ফুল")], ["", "", ""]),
    ],
    ids=["nowhere", "short", "between", "long", "longer"],
)
def test_a_reason_for_every_length_without_samples(
    tmp_path: Path, contexts: list[list[Row]], reasons: list[str]
) -> None:
    drawn = draw_from(write_sentences(tmp_path / "s.parquet", contexts), stimuli=["ফুল"])
    assert coverage_table(drawn)["reason"].to_pylist() == reasons


def test_a_target_longer_than_the_segment_is_a_reason(tmp_path: Path) -> None:
    drawn = draw_from(write_sentences(tmp_path / "s.parquet", [context("g", 9, "এক দুই তিন চার")]), pool="per_length")
    coverage = coverage_table(drawn).to_pylist()
    assert [row["reason"] for row in coverage] == ["target-too-long", "", ""]
    assert [row["target_too_long"] for row in coverage] == [1, 0, 0]


def test_a_file_that_is_no_table_of_sentences_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "other.parquet"
    pq.write_table(pa.table({"text": ["a"]}), path)
    with pytest.raises(InputError, match=r"other\.parquet: lacks the columns context_id, form, n_words"):
        draw_from(path)


def test_a_text_that_does_not_fit_its_number_of_words_is_an_error(tmp_path: Path) -> None:
    row = {**context("a", 2, "ফুল")[0], "n_words": 9}
    drawn = draw_from(write_sentences(tmp_path / "s.parquet", [[row]]))
    with pytest.raises(AssertionError, match="does not fit its text"):
        list(rows_of(drawn))


def test_a_full_disk_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    path = write_sentences(tmp_path / "a.parquet", [context("one", 9, "ক")])
    monkeypatch.setattr(Tally, "add", full)
    with pytest.raises(InputError, match=r"could not be written \(No space left on device\)"):
        draw([path], lengths=[parse_length(9)], pool="shared", contexts_per_stimulus=3, seed=1, scratch=tmp_path)


def test_stimuli_without_samples_are_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = write_sentences(tmp_path / "a.parquet", [context("one", 9, "ক")])
    options: dict[str, Any] = {"lengths": [parse_length(3)], "pool": "shared", "contexts_per_stimulus": 3, "seed": 1}
    tell_of_missing(coverage_table(draw([path], stimuli=["ক", "খ"], **options)))
    assert "1 of 2 stimuli have no sample at any length (খ)" in caplog.text
    assert "Check that `language`" not in caplog.text
    tell_of_missing(coverage_table(draw([path], stimuli=["খ"], **options)))
    assert "Check that `language` and `lexicon` fit the corpus." in caplog.text


def test_counts_are_those_of_the_tables_behind_a_coverage(tmp_path: Path) -> None:
    coverage, tables = tmp_path / "coverage.parquet", [tmp_path / f"{name}.parquet" for name in "abc"]
    assert counts_of(coverage) == []
    inputs = {str(path): "digest" for path in [*tables, tmp_path / "supplement/d.parquet"]}
    write_table(coverage, pa.table({"n": [1]}), {"inputs": json.dumps(inputs)})
    for name in ("b", "a", "d"):  # c is gone
        (tmp_path / f"{name}.json").touch()
    assert counts_of(coverage) == [f"{tmp_path}/a.json", f"{tmp_path}/b.json"]
