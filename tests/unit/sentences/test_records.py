"""Reading corpora of records, and every way in which such a file can be bad."""

from __future__ import annotations

import csv
import gzip
import io
import json
import pickle
import tracemalloc
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.ipc as ipc
import pyarrow.parquet as pq
import pytest

from prasanga.base.errors import InputError
from prasanga.sentences.corpus import Format, Shard
from prasanga.sentences.corpus import ReadingReport as Counts
from prasanga.sentences.records import Record, read_records, word_of

FORMATS: tuple[Format, ...] = ("jsonl", "parquet", "dataset", "extracted")


def shard_of(path: Path, format: Format, **options: Any) -> Shard:
    return Shard(str(path), path.name, "line", format, **options)


def records(
    path: Path, format: Format = "jsonl", errors: Any = "stop", counts: Any = None, **options: Any
) -> list[Record]:
    return list(read_records(shard_of(path, format, **options), errors, counts))


def json_lines(path: Path, *values: object) -> Path:
    path.write_text("".join(f"{json.dumps(value, ensure_ascii=False)}\n" for value in values), encoding="utf-8")
    return path


def arrow(path: Path, table: pa.Table, *, stream: bool = True, rows: int = 1_000) -> Path:
    writer = (ipc.new_stream if stream else ipc.new_file)(path, table.schema)
    with writer:
        writer.write_table(table, max_chunksize=rows)
    return path


def write(folder: Path, format: Format, texts: list[str]) -> Path:
    """The same texts in each format, with the default names of fields and columns."""
    if format == "jsonl":
        return json_lines(folder / "a.jsonl", *({"text": text} for text in texts))
    if format == "extracted":
        with (folder / "a.csv").open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([["word", "sentence"], *(["ফুল", text] for text in texts)])
        return folder / "a.csv"
    table = pa.table({"text": pa.array(texts, pa.string())})
    if format == "parquet":
        pq.write_table(table, folder / "a.parquet")
        return folder / "a.parquet"
    return arrow(folder / "a.arrow", table)


@pytest.mark.parametrize("format", FORMATS)
def test_each_record_has_its_text_and_its_number(tmp_path: Path, format: Format) -> None:
    texts = ['এক।\nদুই, "তিন"।', "  ", "a\0b", "চার\u2028পাঁচ\r\nছয়"]
    path = write(tmp_path, format, texts)
    counts = Counts()
    stimulus = "ফুল" if format == "extracted" else None
    expected = [Record(texts[i], i, stimulus) for i in (0, 2, 3)]
    assert records(path, format, counts=counts) == expected
    assert counts.documents == 3
    assert counts.skipped_lines == 0
    if format in ("jsonl", "extracted"):
        assert counts.bytes == path.stat().st_size
        assert counts.lines == path.read_bytes().count(b"\n")
    else:
        assert (counts.bytes, counts.lines) == (sum(len(text.encode()) for text in texts), 4)


@pytest.mark.parametrize("format", FORMATS)
def test_a_record_of_ten_megabytes(tmp_path: Path, format: Format) -> None:
    path = write(tmp_path, format, ["ছোট", "ফুল " * 1_000_000])
    tracemalloc.start()
    try:
        found = [(len(record.text), record.number) for record in read_records(shard_of(path, format))]
        assert tracemalloc.get_traced_memory()[1] < 80 << 20
    finally:
        tracemalloc.stop()
    assert found == [(3, 0), (4_000_000, 1)]


@pytest.mark.parametrize("format", FORMATS)
def test_a_file_without_text(tmp_path: Path, format: Format) -> None:
    with pytest.raises(InputError, match=r"a\.\w+: its text is empty"):
        records(write(tmp_path, format, ["", " \n"]), format)


@pytest.mark.parametrize("format", FORMATS)
def test_a_file_of_no_bytes_or_of_something_else_or_none(tmp_path: Path, format: Format) -> None:
    path = tmp_path / "a.file"
    with pytest.raises(InputError, match="no such file"):
        records(path, format)
    for content in (b"", b"something else, that is not what it should be\n" * 10):
        path.write_bytes(content)
        with pytest.raises(InputError, match=r"a\.file"):
            records(path, format)


# ---- JSON lines


def test_fields_may_lie_in_objects(tmp_path: Path) -> None:
    path = json_lines(tmp_path / "a.jsonl", {"meta": {"body": "এক"}, "a.b": "দুই", "a": {"b": "three"}})
    assert records(path, field="meta.body")[0].text == "এক"
    assert records(path, field="a.b")[0].text == "দুই"  # the name as it stands goes before the path


def test_blank_lines_are_lines_and_no_records(tmp_path: Path) -> None:
    path = tmp_path / "a.ndjson"
    path.write_bytes(b'\xef\xbb\xbf{"text": "a"}\r\n\r\n \n{"text": "b\tc\\u09ab"}')
    counts = Counts()
    assert records(path, counts=counts) == [Record("a", 0, None), Record("b\tcফ", 1, None)]
    assert counts == Counts(bytes=path.stat().st_size, lines=4, documents=2)


BAD_LINES = {
    "not JSON": (b'{"text": "a"', r"line 2 is not JSON \(.*\); it begins with '\{\"text\": \"a\"'"),
    "cut by zeros": (bytes(8), "line 2 is not JSON"),
    "deep": (b"[" * 100_000, "line 2 is not JSON"),
    "no object": (b'["a"]', r"line 2 has no field 'text' .*Found: \[\"a\"\]"),
    "no field": (b'{"body": "a", "id": 1}', r"line 2 has no field 'text' .*Fields found: 'body', 'id'\. Write"),
    "no text": (b'{"text": 7}', "line 2 has 7 in the field 'text'"),
    "null": (b'{"text": null}', "line 2 has null in the field 'text'"),
    "list": (b'{"text": ["a"]}', r"line 2 has \[\"a\"\] in the field 'text'"),
    "half a character": (
        b'{"text": "\\ud83d"}',
        r"line 2 has .* in the field 'text', not a text \(a string of whole characters",
    ),
    "not UTF-8": (b'{"text": "ab\xff\xfe"}', r"not UTF-8 at byte 28 .*\(line 2\): found the bytes ff fe 22 7d"),
}


@pytest.mark.parametrize(("line", "message"), BAD_LINES.values(), ids=BAD_LINES)
def test_a_line_that_cannot_be_used_stops_or_is_counted(tmp_path: Path, line: bytes, message: str) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"text": "one"}\n' + line + b'\n{"text": "three"}\n')
    with pytest.raises(InputError, match=rf"a\.jsonl: {message}") as error:
        records(path)
    assert "corpus.errors: skip-line" in str(error.value)
    counts = Counts()
    assert records(path, errors="skip-line", counts=counts) == [Record("one", 0, None), Record("three", 2, None)]
    assert (counts.skipped_lines, counts.documents, counts.lines) == (1, 2, 3)


# ---- columns


def both(folder: Path, table: pa.Table) -> list[tuple[Path, Format]]:
    pq.write_table(table, folder / "a.parquet", row_group_size=700)
    return [
        (folder / "a.parquet", "parquet"),
        (arrow(folder / "stream.arrow", table, rows=300), "dataset"),
        (arrow(folder / "file.arrow", table, rows=300, stream=False), "dataset"),
    ]


KINDS = [pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int32(), pa.string())]


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_columns_of_all_kinds_of_text_with_nulls_counted(tmp_path: Path, kind: pa.DataType) -> None:
    values = [None if i % 5 == 0 else f"লেখা {i}" for i in range(1_500)]
    table = pa.table({"id": range(1_500), "body": pa.array(values).cast(kind)})
    for path, format in both(tmp_path, table):
        counts = Counts()
        found = records(path, format, field="body", counts=counts)
        assert found == [Record(value, i, None) for i, value in enumerate(values) if value is not None]
        assert (counts.lines, counts.skipped_lines, counts.documents) == (1_500, 300, 1_200)


def test_rows_that_are_not_utf8(tmp_path: Path) -> None:
    raw = pa.array([b"one", b"tw\xff", None, b"four"])
    column = pa.Array.from_buffers(pa.string(), len(raw), raw.buffers())
    for path, format in both(tmp_path, pa.table({"text": column})):
        with pytest.raises(InputError, match=r"row 1 \(from 0\) is not UTF-8"):
            records(path, format)
        counts = Counts()
        found = records(path, format, errors="skip-line", counts=counts)
        assert found == [Record("one", 0, None), Record("four", 3, None)]
        assert counts.skipped_lines == 2


def test_damaged_files_of_columns_are_refused_wherever_they_end(tmp_path: Path) -> None:
    table = pa.table({"text": [f"লেখা {i}" for i in range(1_500)]})
    for path, format in both(tmp_path, table):
        whole = path.read_bytes()
        for cut in (1, 4, 8, 9, 100, len(whole) // 2, len(whole) - 4, len(whole)):
            path.write_bytes(whole[:-cut])
            with pytest.raises(InputError, match=r"truncated"):
                records(path, format)


def test_a_stream_cut_off_between_two_batches_is_refused(tmp_path: Path) -> None:
    """Such a file reads like a shorter one."""
    path = arrow(tmp_path / "a.arrow", pa.table({"text": ["a", "b", "c"]}), rows=1)
    path.write_bytes(path.read_bytes()[:-8])
    with ipc.open_stream(io.BytesIO(path.read_bytes())) as reader:
        assert reader.read_all().num_rows == 3
    with pytest.raises(InputError, match="lacks an end mark"):
        records(path, "dataset")


# ---- tables of sentences


def test_cells_with_quotes_line_ends_and_a_byte_order_mark(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes('\ufeffid,word,sentence\r\n1, ফুল ,"সে বলল, ""ফুল""।\r\nতারপর।"\r\n\r\n2,মা,মা এলেন।'.encode())
    counts = Counts()
    found = records(path, "extracted", counts=counts)
    assert found == [Record('সে বলল, "ফুল"।\r\nতারপর।', 0, "ফুল"), Record("মা এলেন।", 1, "মা")]
    assert counts == Counts(bytes=path.stat().st_size, lines=5, documents=2)


def test_places_of_the_stimulus(tmp_path: Path) -> None:
    """Digits of any script are a number; what has more of them than any place says nothing."""
    (tmp_path / "a.csv").write_text(
        "word,sentence,start\nমা,ও মা,2\nমা,ও মা,২\nমা,ও মা,-2\nমা,ও মা,\n"
        f"মা,ও মা,{'9' * 18}\nমা,ও মা,{'9' * 19}\nমা,ও মা,{'9' * 5000}\n",
        encoding="utf-8",
    )
    found = [record.start for record in records(tmp_path / "a.csv", "extracted")]
    assert found == [2, 2, None, None, None, None, None]


BAD_ROWS = {
    "short": (b"x", r"row 1 \(from 0, ends at line 3\) has 1 cell\(s\), but the header has 2"),
    "long": (b"x,y,z", r"has 3 cell\(s\)"),
    "not UTF-8": (b"x,\xff", r"row 1 \(from 0, ends at line 3\) is not UTF-8"),
    "no stimulus": (b" ,y", r"row 1 .* has no stimulus \('word'\)"),
}


@pytest.mark.parametrize(("row", "message"), BAD_ROWS.values(), ids=BAD_ROWS)
def test_a_row_that_cannot_be_used_stops_or_is_counted(tmp_path: Path, row: bytes, message: str) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b"word,sentence\na,one\n" + row + b"\nc,three\n")
    with pytest.raises(InputError, match=message):
        records(path, "extracted")
    counts = Counts()
    found = records(path, "extracted", errors="skip-line", counts=counts)
    assert found == [Record("one", 0, "a"), Record("three", 2, "c")]
    assert counts.skipped_lines == 1


@pytest.mark.parametrize("errors", ["stop", "skip-line"])
@pytest.mark.parametrize("row", ['a,"one', 'a,"one"two'])
def test_quotes_that_do_not_close_always_stop(tmp_path: Path, row: str, errors: str) -> None:
    path = tmp_path / "a.csv"
    path.write_text(f"word,sentence\n{row}\nb,two\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"line \d cannot be read as a row \(.*double quotes"):
        records(path, "extracted", errors=errors)


# ---- sentences by word


SENTENCES = {"ফুল": ["আজ ফুল ফোটে।", " কাল। ফুলের দিন। পরশু।"], "মা": [], "বই": ["বই পড়ি।"]}
PROTOCOLS = range(pickle.HIGHEST_PROTOCOL + 1)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_pickle_of_sentences(tmp_path: Path, protocol: int) -> None:
    path = tmp_path / "results.pkl.gz"
    path.write_bytes(gzip.compress(pickle.dumps(SENTENCES, protocol)))
    expected = [Record(SENTENCES["ফুল"][0], 0, "ফুল"), Record(SENTENCES["ফুল"][1], 1, "ফুল"), Record("বই পড়ি।", 2, "বই")]
    assert records(path, "pickle") == expected


class Runs:
    """An object that would create a file if Python's own reader met it."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self.mark,)


def test_nothing_in_a_pickle_is_run(tmp_path: Path) -> None:
    mark, path = tmp_path / "called", tmp_path / "a.pkl"
    for protocol in PROTOCOLS:
        for content in (Runs(mark), {"ফুল": [Runs(mark)]}, {"ফুল": ["ফুল।"], "x": Runs(mark)}):
            path.write_bytes(pickle.dumps(content, protocol))
            with pytest.raises(InputError, match=r"it asks for .*nothing of it was run"):
                records(path, "pickle")
    assert not mark.exists()
    pickle.loads(pickle.dumps(Runs(mark)))  # Python's own reader runs it
    assert mark.exists()


BAD_PICKLES = {
    **{f"cut at {n}": pickle.dumps(SENTENCES)[:n] for n in range(0, 60, 7)},
    "a persistent id": b"Pmodel\n.",
    "an extension": b"\x82\x01.",
    "half of a character": b"\x80\x04}\x8c\x01a]\x8c\x03\xed\xa0\x80as.",
    "not UTF-8": b"\x80\x04}\x8c\x01a]\x8c\x01\xffas.",
    "no text": b"not a pickle",
    **{repr(value): pickle.dumps(value) for value in ([["a"]], 1, None, {"a": "b"}, {"a": [["b"]]}, {1: ["a"]})},
}


@pytest.mark.parametrize("content", BAD_PICKLES.values(), ids=BAD_PICKLES)
def test_pickles_that_are_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.pkl").write_bytes(content)
    with pytest.raises(InputError, match=r"a\.pkl: not a pickle of sentences"):
        records(tmp_path / "a.pkl", "pickle")


def test_a_line_of_text_is_a_record(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes("\ufeffএক।\r\n\nদুই\u2028।\n".encode() + b"\xff\n")
    assert [record.text for record in records(path, "text", "skip-line")] == ["এক।", "দুই\u2028।"]
    with pytest.raises(InputError, match=r"not UTF-8 at byte 31 .*\(line 4\): found the bytes ff 0a"):
        records(path, "text")


def test_a_file_of_a_word_has_one_sentence_per_line(tmp_path: Path) -> None:
    path = tmp_path / "ফুল.txt.gz"
    path.write_bytes(gzip.compress("\ufeffআজ ফুল ফোটে।\r\n\r\nফুলের দিন।\nশেষ ফুল".encode()))
    expected = [Record("আজ ফুল ফোটে।", 0, "ফুল"), Record("ফুলের দিন।", 2, "ফুল"), Record("শেষ ফুল", 3, "ফুল")]
    assert records(path, "word") == expected
    assert word_of("a/b/মা-বাবা.txt.xz") == "মা-বাবা"
    path.write_bytes(gzip.compress(b"\xff\n"))
    with pytest.raises(InputError, match="not UTF-8 at byte 0"):
        records(path, "word")
