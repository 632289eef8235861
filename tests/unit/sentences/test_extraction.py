"""From a corpus file to rows: contexts, positions, identifiers, counts."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prasanga.base.errors import InputError
from prasanga.base.seeds import context_id, occurrence_id, text_id
from prasanga.sentences import SENTENCE_SCHEMA, ExtractionReport, Matcher, Shard, extract_shard, passages, windows
from prasanga.sentences.records import Record
from prasanga.text import count_words, normalizer


@dataclass
class Forms:
    """A lexicon that is nothing but its forms."""

    of: Mapping[str, tuple[str, ...]]

    def claims(self) -> Mapping[str, tuple[str, ...]]:
        return self.of


LEXICON = Forms({"ফুল": ("ফুল",), "ফুলের": ("ফুল",), "মা": ("মা",), "মা-কে": ("মা",)})
OPTIONS: dict[str, Any] = {"lexicon": LEXICON, "normalization": "none", "language": "bn"}


def rows_of(path: Path, report: ExtractionReport | None = None, **options: Any) -> list[dict[str, Any]]:
    of_shard = {key: options.pop(key) for key in ("start", "end") if key in options}
    shard = Shard(str(path), options.pop("source", "texts/a.txt"), options.pop("documents", "blank-line"), **of_shard)
    batches = list(extract_shard(shard, report=report, **OPTIONS | options))
    return pa.Table.from_batches(batches, SENTENCE_SCHEMA).to_pylist()


def write(folder: Path, text: str) -> Path:
    path = folder / "a.txt"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_row_has_everything_that_the_later_stages_need(tmp_path: Path) -> None:
    path = write(tmp_path, "আগের কথা।\nপ্রথম বাক্য। লাল ফুলের মালা। শেষ বাক্য।\n\nঅন্য লেখা।\n")
    offset = len("আগের কথা।\n".encode())
    text = "আগের কথা। প্রথম বাক্য। লাল ফুলের মালা। শেষ বাক্য।"
    context = context_id("texts/a.txt", offset, 1)
    start = text.index("ফুলের")
    assert rows_of(path) == [
        {
            "occurrence_id": occurrence_id(context, "ফুল", start),
            "context_id": context,
            "text_id": text_id(text.encode()),
            "stimulus": "ফুল",
            "form": "ফুলের",
            "language": "bn",
            "text": text,
            "start": start,
            "end": start + 5,
            "word_index": 5,
            "n_words": 9,
            "before": 2,
            "after": 1,
            "source": "texts/a.txt",
            "offset": offset,
        }
    ]


@pytest.mark.parametrize(
    ("before", "after", "text"),
    [
        (0, 0, "ফুল ৩।"),
        (1, 0, "খ ২। ফুল ৩।"),
        (0, 2, "ফুল ৩। ঘ ৪। ঙ ৫।"),
        (9, 9, "ক ১। খ ২। ফুল ৩। ঘ ৪। ঙ ৫।"),
    ],
)
def test_the_window_is_as_wide_as_asked_and_stays_in_its_document(
    tmp_path: Path, before: int, after: int, text: str
) -> None:
    path = write(tmp_path, "অন্য।\n\nক ১। খ ২।\nফুল ৩।\nঘ ৪।\nঙ ৫।\n\nঅন্য।\n")
    assert [row["text"] for row in rows_of(path, before=before, after=after)] == [text]
    assert [row["text"] for row in rows_of(path, documents="line")] == ["ফুল ৩।"]


def test_the_longest_form_of_a_stimulus_at_a_place_is_one_occurrence(tmp_path: Path) -> None:
    path = write(tmp_path, "মা-কে মা বলে।")
    report = ExtractionReport()
    assert [(row["form"], row["start"]) for row in rows_of(path, report)] == [("মা-কে", 0), ("মা", 6)]
    assert (report.shorter_matches, report.occurrences) == (1, 2)


def test_the_report_counts_what_was_read_found_and_left_out(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes("ফুল ও ফুল। মালা। মা।\n\n".encode() + b"\xff\n" + "শেষ।\n".encode())
    report = ExtractionReport()
    rows_of(path, report, errors="skip-line")
    assert report == ExtractionReport(
        bytes=path.stat().st_size,
        lines=4,
        skipped_lines=1,
        documents=2,
        sentences=4,
        matched_sentences=2,
        occurrences=3,
    )


def test_a_text_without_punctuation_is_cut_between_words_and_no_hit_is_lost(tmp_path: Path) -> None:
    path = write(tmp_path, "ফুল মালা, " * 5_000)
    report = ExtractionReport()
    rows = rows_of(path, report, before=0, after=0)
    assert len(rows) == 5_000
    assert {row["text"][row["start"] : row["end"]] for row in rows} == {"ফুল"}
    assert max(len(row["text"]) for row in rows) <= passages.LONGEST_SENTENCE
    assert (report.cut_sentences, report.sentences) == (1, 25)


sentences = st.lists(st.sampled_from(["ফুল", "ফুলের", "মা-কে", "লাল", "ও", "নদী"]), min_size=1, max_size=5).map(
    lambda parts: " ".join(parts) + "।"
)
lines = st.lists(sentences, min_size=1, max_size=4)
corpora = st.lists(st.lists(lines, min_size=1, max_size=4), min_size=1, max_size=4)


@given(corpora, st.integers(0, 3), st.integers(0, 3))
def test_rows_equal_the_slow_way(
    tmp_path_factory: pytest.TempPathFactory, corpus: list[list[list[str]]], before: int, after: int
) -> None:
    text = "\n\n".join("\n".join(" ".join(line) for line in document) for document in corpus)
    rows = rows_of(write(tmp_path_factory.mktemp("corpus"), text), before=before, after=after)
    expected = []
    for document in corpus:
        all_sentences = [sentence for line in document for sentence in line]
        for i, sentence in enumerate(all_sentences):
            left, right = all_sentences[max(0, i - before) : i], all_sentences[i + 1 : i + 1 + after]
            context = " ".join([*left, sentence, *right])
            shift = len(context) - len(" ".join([sentence, *right]))
            kept = {(m.stimulus, m.start): m for m in Matcher(LEXICON).find(sentence)}
            expected += [(m.stimulus, m.form, context, shift + m.start, len(left)) for m in kept.values()]
    assert [(r["stimulus"], r["form"], r["text"], r["start"], r["before"]) for r in rows] == expected
    assert len({row["occurrence_id"] for row in rows}) == len(rows)
    for row in rows:
        assert row["text"][row["start"] : row["end"]] == row["form"]
        assert row["n_words"] == count_words(row["text"])
        assert row["word_index"] == count_words(row["text"][: row["start"]])


def test_identifiers_are_fixed_for_good() -> None:
    context = context_id("texts/a.txt", 7, 0)
    assert context == "59196881147d1108915eddb26af59e68"
    assert occurrence_id(context, "ফুল", 3) == "9ed08c0f9a57cc5bd9a48407a1bddad3"
    assert text_id("ফুল ফোটে।".encode()) == "7d86e0164b945779398bbe785c460750"
    assert len({context_id("a", 1, 11), context_id("a", 11, 1), context_id("a1", 1, 1), context}) == 4


raw_lines = st.lists(
    st.one_of(
        sentences,
        st.lists(sentences, min_size=2, max_size=3).map(" ".join),
        st.sampled_from(["", " ", "\u200b", "\r", "নদী", "***"]),
    ),
    min_size=1,
    max_size=30,
)


@given(
    raw_lines,
    st.lists(st.integers(0, 2_000), max_size=4),
    st.integers(0, 3),
    st.sampled_from(["blank-line", "line", "file"]),
)
def test_parts_give_together_the_rows_of_the_whole(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str], cuts: list[int], width: int, documents: str
) -> None:
    path = write(tmp_path_factory.mktemp("corpus"), "\n".join(["ফুল।", *lines]))
    options: dict[str, Any] = {"before": width, "after": width, "documents": documents, "normalization": "bangla"}
    whole, parts = ExtractionReport(), ExtractionReport()
    expected = rows_of(path, whole, **options)
    edges = [0, *sorted(cuts), None]
    rows = []
    for start, end in itertools.pairwise(edges):
        rows += rows_of(path, parts, start=start, end=end, **options)
    assert rows == expected
    assert parts == whole


def test_a_part_reads_as_far_around_itself_as_its_contexts_reach(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(passages, "_MARGIN", 8)
    path = write(tmp_path, "নদী বয়ে যায় অনেক দূরে।\n" * 4 + "ফুল।\n" + "নদী বয়ে যায় অনেক দূরে।\n" * 4)
    start = path.read_bytes().index("ফুল".encode())
    (row,) = rows_of(path, start=start, end=start + 1)
    assert [row] == rows_of(path)
    assert (row["before"], row["after"]) == (3, 3)


@given(raw_lines)
def test_the_size_of_blocks_changes_nothing(tmp_path_factory: pytest.TempPathFactory, lines: list[str]) -> None:
    path = write(tmp_path_factory.mktemp("corpus"), "\n".join(["ফুল।", *lines]))
    whole, blocks = ExtractionReport(), ExtractionReport()
    expected = rows_of(path, whole)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(passages, "BLOCK", 16)
        assert rows_of(path, blocks) == expected
    assert blocks == whole


def records_of(records: list[Record], report: ExtractionReport | None = None, **options: Any) -> list[dict[str, Any]]:
    shard = Shard(__file__, "a.jsonl", "line", "jsonl")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(passages, "read_records", lambda *_: iter(records))
        batches = list(extract_shard(shard, report=report, **OPTIONS | options))
    return pa.Table.from_batches(batches, SENTENCE_SCHEMA).to_pylist()


def test_a_record_is_a_document_whatever_lines_it_has() -> None:
    report = ExtractionReport()
    rows = records_of([Record("নদী।\n\nলাল ফুল। মা।", 0), Record("ঘাস।", 1), Record("ফুল।\nনদী।", 4)], report)
    assert [(row["stimulus"], row["text"], row["offset"]) for row in rows] == [
        ("ফুল", "নদী। লাল ফুল। মা।", 0),
        ("মা", "নদী। লাল ফুল। মা।", 0),
        ("ফুল", "ফুল। নদী।", 4),
    ]
    assert rows[0]["context_id"] == context_id("a.jsonl", 0, 1)
    assert (report.sentences, report.matched_sentences, report.occurrences) == (6, 3, 3)


def test_a_record_that_names_its_stimulus_is_one_context_with_one_occurrence() -> None:
    text = "ফুল ও মা।\nফুলের মালা। নদী।"
    words = [("মা", None), ("ফুলের", None), ("ফুল", 10), ("নদী", None)]
    records = [Record(text, number, word, start) for number, (word, start) in enumerate(words)]
    report = ExtractionReport()
    rows = records_of(records, report)
    assert [(row["stimulus"], row["form"], row["start"], row["offset"]) for row in rows] == [
        ("মা", "মা", 6, 0),
        ("ফুল", "ফুল", 0, 1),
        ("ফুল", "ফুলের", 10, 2),
    ]
    assert {(row["text"], row["before"], row["after"]) for row in rows} == {(text.replace("\n", " "), 0, 0)}
    assert report.unknown_stimuli == 1


def test_a_table_with_the_wrong_columns_is_refused() -> None:
    with pytest.raises(InputError, match=r"none of its 2 rows has a stimulus of the lexicon; found 'ফুল ও মা।'"):
        records_of([Record("মা", 0, "ফুল ও মা।"), Record("মা", 1, "আর কিছু")])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "its text is empty"),
        (b" \n\n", "its text is empty"),
        (b"\0" * 1_000, "its text is empty"),
        ("ফুল।\nক".encode() + b"\xff\xfe", r"not UTF-8 at byte 16 .*\(line 2\): found the bytes ff fe"),
        (b"\xef\xbb\xbf" + b"\xff", r"not UTF-8 at byte 3 .*\(line 1\)"),
        ("ক".encode() + b"\xff", r"not UTF-8 at byte 3 .*\(line 1\)"),
    ],
)
def test_bad_files_are_refused(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(content)
    with pytest.raises(InputError, match=message):
        rows_of(path, normalization="bangla")


def test_a_file_that_changes_while_it_is_read_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path, "ফুল।\n" * 10)
    batches = extract_shard(Shard(str(path), "a", "blank-line"), **OPTIONS)
    next(batches)
    with path.open("a", encoding="utf-8") as file:
        file.write("মা।\n")
    with pytest.raises(InputError, match="changed while it was read"):
        list(batches)


def test_a_stretch_without_words_is_not_written_with_every_hit(tmp_path: Path) -> None:
    path = write(tmp_path, "মা " * 600 + "-" * 1_000_000)
    assert max(len(row["text"]) for row in rows_of(path)) <= 7 * 2 * passages.LONGEST_SENTENCE


def test_a_word_without_end_is_nobodys_neighbour(tmp_path: Path) -> None:
    path = write(tmp_path, "ফুল ফোটে।\n" + "ক" * 300_000 + "\nফুল।\n")
    assert [row["text"] for row in rows_of(path)] == ["ফুল ফোটে।", "ফুল।"]


def test_the_report_does_not_depend_on_batches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path, "মা-কে মা ফুল।\n" * 30)
    whole, parts = ExtractionReport(), ExtractionReport()
    rows = rows_of(path, whole)
    monkeypatch.setattr(windows, "_BYTES_PER_BATCH", 1)
    assert rows_of(path, parts) == rows
    assert parts == whole
    assert (whole.matched_sentences, whole.shorter_matches, whole.occurrences) == (30, 30, 90)


def test_a_blank_line_is_no_sentence_whatever_it_is_made_of(tmp_path: Path) -> None:
    spaces = [chr(code) for code in range(0x3001) if chr(code).isspace() and chr(code) != "\n"]
    for normalization in ("bangla", "nukta", "nfkc", "none"):
        path = write(tmp_path, "ফুল।\n" + "\n".join(spaces) + "\nফুল।\n")
        rows = rows_of(path, documents="file", normalization=normalization)
        assert [row["text"] for row in rows] == ["ফুল। ফুল।"] * 2


def test_one_line_of_five_megabytes(tmp_path: Path) -> None:
    path = write(tmp_path, "নদী বয়ে যায়, " * 140_000 + "ফুল")
    report = ExtractionReport()
    (row,) = rows_of(path, report, normalization="bangla")
    assert (row["form"], report.lines, report.cut_sentences) == ("ফুল", 1, 1)
    assert row["before"] == 3


def test_the_hits_of_the_authors_list_in_the_authors_sample(shared: Path) -> None:
    """492 distinct (line, stimulus) hits and 512 occurrences, where each line of the file is one text.

    An occurrence is a (line, stimulus, position): a form that two stimuli share counts for both. In this file no such
    form occurs, so that positions alone are 512 as well. Of one stimulus no two matches begin at one place either.
    """
    from prasanga.lexicon import load_lexicon

    folder = shared / "reference" / "banglacontextualbias" / "CeatDataCollection"
    matcher = Matcher(load_lexicon(folder / "weatWordsWithSuffix.jsonl"))
    texts = (folder / "sample_data" / "porjotonlipi.bn").read_text(encoding="utf-8").split("\n")
    hits = [
        (number, match.stimulus, match.start)
        for number, text in enumerate(normalizer("bangla")(texts))
        for match in matcher.find(text)
    ]
    assert len({(number, stimulus) for number, stimulus, _ in hits}) == 492
    assert len(hits) == 512


LISTED = pl.DataFrame(
    {
        "form": ["ফুল", "ফুলের", "মা", "মা-কে", "উদ্‌যোগ", "উদ্যোগ", "পাতা"],
        "stimulus": ["ফুল", "ফুল", "মা", "মা", "উদ্যোগ", "উদ্যোগ", "পাতা"],
        "counted": [True, True, True, True, True, True, False],
    }
)


def sampled(shards: list[Shard], templates: pl.DataFrame | None = None) -> dict[str, int]:
    """The occurrences of the forms that have any."""
    lexicon = Forms({**LEXICON.of, "উদ্যোগ": ("উদ্যোগ",)})
    normalization = normalizer("none")
    options: dict[str, Any] = {"lexicon": lexicon, "normalization": normalization, "match": "anywhere"}
    table = passages.count_in_sample(LISTED, shards, templates, **options)
    assert table.schema == passages.OCCURRENCE_SCHEMA
    assert table.select(["form", "stimulus", "counted"]).to_pydict() == LISTED.to_dict(as_series=False)
    rows = zip(table["form"].to_pylist(), table["occurrences"].to_pylist(), strict=True)
    return {form: number for form, number in rows if number}


def test_forms_are_counted_in_the_first_megabyte_of_each_file(tmp_path: Path) -> None:
    text = write(tmp_path, "মা ফুলের কাছে। মা-কে ফুল দাও, ফুল! পাতা।\n")
    records = tmp_path / "b.jsonl"
    records.write_text('{"text": "ফুল ও উদ্যোগ"}\n{"text": "উদ্‌যোগ"}\n', encoding="utf-8")
    shards = [Shard(str(text), "a.txt", "blank-line"), Shard(str(records), "b.jsonl", "blank-line", "jsonl")]
    found = {"মা": 1, "ফুলের": 1, "মা-কে": 1, "ফুল": 3, "উদ্‌যোগ": 2}
    assert sampled(shards) == found, "of two spellings of one word the first listed"
    assert sampled(shards[::-1]) == found, "in whatever order"
    long = tmp_path / "long.txt"
    line = "মা আসে।\n"
    n = (1 << 20) // len(line.encode())
    long.write_text(line * (n + 1) + "\n" + "ফুল\n" * 1000, encoding="utf-8")
    assert sampled([Shard(str(long), "long.txt", "blank-line")]) == {"মা": n}


def test_a_filled_template_counts_its_word_and_a_file_that_cannot_be_read_counts_nothing(tmp_path: Path) -> None:
    templates = pl.DataFrame(
        [("ফুল", "এটা ফুলের গাছ।", 4, 9), ("ফুল", "ফুল আছে।", 0, 3), ("নদী", "নদী।", 0, 3), ("পাতা", "পাতা।", 0, 4)],
        schema=["stimulus", "text", "start", "end"],
        orient="row",
    )
    assert sampled([], templates) == {"ফুলের": 1, "ফুল": 1, "পাতা": 1}
    damaged, latin, gone = tmp_path / "a.txt.gz", tmp_path / "b.txt", tmp_path / "gone.txt"
    damaged.write_bytes(b"no gzip")
    latin.write_bytes("ফুল\n".encode() + b"\xe9t\xe9 \xff\n" + "মা\n".encode())
    shards = [Shard(str(path), path.name, "blank-line") for path in (damaged, latin, gone)]
    assert sampled(shards, templates) == {"ফুলের": 1, "ফুল": 2, "মা": 1, "পাতা": 1}
    assert sampled([]) == {}
