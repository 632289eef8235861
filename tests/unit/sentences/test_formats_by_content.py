"""Corpora in every format are read by their content, or refused in a sentence that says what to write."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard
from tables import read_data

from prasanga.base.errors import InputError
from prasanga.sentences import Shard, find_faults, find_shards, read_records

TEXTS = ["ফুল ফুটেছে।", 'সে বলল, "এসো {এখানে}"।', "মশা [ছোট]।"]
RECORDS = [{"text": text, "url": f"https://example.org/{n}", "n": n} for n, text in enumerate(TEXTS)]
LONG = {"url": "x" * 100_000, "text": TEXTS[0]}  # longer than what is looked at
PACKED: list[Callable[[bytes], bytes]] = [bytes, gzip.compress, zstandard.compress, lzma.compress, bz2.compress]


def lines(records: list[Any] = RECORDS, **options: Any) -> str:
    return "\n".join(json.dumps(record, **options) for record in records)


def parquet(*columns: tuple[str, list[Any]]) -> bytes:
    file = io.BytesIO()
    arrays = [pa.array(values) for _, values in columns]
    pq.write_table(pa.Table.from_arrays(arrays, names=[name for name, _ in columns]), file)
    return file.getvalue()


def table(delimiter: str, head: str = "", *names: str) -> str:
    rows = [["id", *(names or ["text"])], *([str(n), *[text] * len(names or "x")] for n, text in enumerate(TEXTS))]
    quoted = [[cell.replace('"', '""').join('""') if n else cell for cell in row] for n, row in enumerate(rows)]
    return head + "\n".join(map(delimiter.join, quoted)) + "\n"


def conllu(*comments: str, text: str = "text") -> str:
    blocks = [f"# {text} = {each}\n1\tক\tক\tX\t_\t_\t0\troot\t_\t_\n" for each in TEXTS]
    return "\n".join(f"{comment}{block}" for comment, block in zip(comments or ("", "", ""), blocks, strict=True))


def shards_of(folder: Path, name: str, content: str | bytes, **keys: Any) -> list[Shard]:
    (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)
    return list(find_shards(folder, [{"files": name, **keys}], 10**9).values())


TRANSLATION = [{"bn": text, "en": "a", "n": 1} for text in TEXTS]
READ: dict[str, tuple[str, str, str | bytes, dict[str, Any]]] = {
    "JSON lines": ("a.json", "jsonl", lines(), {}),
    "with letters as they are": ("a.txt", "jsonl", lines(ensure_ascii=False) + "\n", {}),
    "with a mark": ("a.dat", "jsonl", "\ufeff" + lines(), {}),
    "with blank lines": ("a.jsonl", "jsonl", lines().replace("\n", "\r\n\r\n"), {}),
    "with a long line": ("a", "jsonl", lines([LONG, *RECORDS[1:]]), {}),
    "in objects": ("a.jsonl", "jsonl", lines([{"a": record} for record in RECORDS]), {"field": "a.text"}),
    "array": ("a.json", "json", lines([RECORDS]), {}),
    "array over lines": ("a.jsonl", "json", "\ufeff" + lines([RECORDS], indent=4, ensure_ascii=False), {}),
    "array of long records": ("a.txt", "json", lines([[LONG, {**LONG, "text": TEXTS[1]}, RECORDS[2]]]), {}),
    "array of texts": ("a.json", "json", lines([TEXTS], ensure_ascii=False), {}),
    "objects over lines": ("a.json", "json", lines(RECORDS, indent=2), {}),
    "objects in one line": ("a.json", "json", lines().replace("\n", ""), {}),
    "JSON lines stated as JSON": ("a.json", "json", lines(), {"format": "json"}),
    "CSV": ("a.csv", "table", table(","), {}),
    "semicolons": ("a.csv", "table", table(";"), {}),
    "tabs": ("a.tsv", "table", table("\t"), {}),
    "of Excel": ("a.csv", "table", table(";", "\ufeffsep=;\n").replace("\n", "\r\n"), {}),
    "tabs without quotes": ("a.tsv", "table", "text\tid\n" + "".join(f"{text}\t1\n" for text in TEXTS), {}),
    "with blanks": ("a.csv", "table", table(", ", "", "Text "), {}),
    "without a name": ("a.txt", "table", table("\t"), {}),
    "another column in a text": ("a.txt", "table", table("\t", "", "লেখা"), {"field": "লেখা"}),
    "another column": ("a.csv", "table", table(",", "", "body"), {"field": "body"}),
    "words and sentences": ("a.csv", "extracted", table(",", "", "word", "sentence"), {}),
    "stated as a table": ("a.csv", "table", table(",", "", "word", "sentence"), {"format": "table", "field": "word"}),
    "CoNLL-U": ("a.conllu", "conllu", conllu(), {}),
    "CoNLL-U without its name": ("a.txt", "conllu", "# newpar\n" + conllu("", "\n\n", ""), {}),
    "documents of one sentence": ("a.conllu", "conllu", conllu(*["# newdoc id = x\n"] * 3), {}),
    "Parquet": ("a.parquet", "parquet", parquet(("id", [1, 2, 3]), ("text", TEXTS)), {}),
    "Parquet without its name": ("a.dat", "parquet", parquet(("text", TEXTS)), {}),
    "the only column": ("a.parquet", "parquet", parquet(("id", [1, 2, 3]), ("content", TEXTS)), {}),
    "a column in another": ("a.parquet", "parquet", parquet(("t", TRANSLATION)), {"field": "t.bn"}),
    "a column with a dot": ("a.parquet", "parquet", parquet(("t", TRANSLATION), ("t.en", TEXTS)), {"field": "t.en"}),
}


@pytest.mark.parametrize(("name", "format", "content", "keys"), READ.values(), ids=READ)
def test_corpora_are_read_by_their_content(
    tmp_path: Path, name: str, format: str, content: str | bytes, keys: dict[str, Any]
) -> None:
    data = content.encode() if isinstance(content, str) else content
    for pack in PACKED if format != "parquet" else [bytes]:
        (shard,) = shards_of(tmp_path, name, pack(data), **keys)
        assert shard.format == format
        records = list(read_records(shard))
        assert [record.text for record in records] == TEXTS
        assert [record.number for record in records] == [0, 1, 2]
        assert find_faults([shard]) == []


def test_documents_of_conllu_join_their_sentences(tmp_path: Path) -> None:
    (shard,) = shards_of(tmp_path, "a.conllu", conllu("# newdoc\n", "", "# newdoc id = 2\n"))
    assert [record.text for record in read_records(shard)] == ["\n".join(TEXTS[:2]), TEXTS[2]]


REFUSED: dict[str, tuple[str, str | bytes, dict[str, Any], str]] = {
    **read_data(__file__, "refused_files"),
    "empty": ("a.txt", b"", {}, r"the file 'a\.txt' is empty\. Remove it from the config, or restore it"),
    "UTF-16 stated as text": (
        "a.txt",
        TEXTS[0].encode("utf-16"),
        {"format": "text"},
        r"is UTF-16 or UTF-32, not UTF-8\. .*iconv",
    ),
    "PDF stated as text": (
        "a.txt",
        b"%PDF-1.7",
        {"format": "text"},
        r"is PDF\. Extract its text \(`pdftotext`\)",
    ),
    "a pickle": ("a.txt", b"\x80\x04}.", {}, r"is a pickle\. Write its texts as JSON lines\.$"),
    "an array as lines": (
        "a.json",
        lines([RECORDS], indent=1),
        {"format": "jsonl"},
        r"line 1 is not JSON .* write `format: json` for an array",
    ),
    "an array in one line": (
        "a.json",
        lines([RECORDS]),
        {"format": "jsonl"},
        r"Found: \[.*; an array is `format: json`",
    ),
    "packed Parquet": ("a.parquet.gz", gzip.compress(parquet(("text", TEXTS))), {}, "is compressed as a whole"),
    "cut": ("a.txt.gz", gzip.compress(TEXTS[0].encode())[:-4], {}, r"reading stopped at byte .*truncated"),
    "fields": (
        "a.json",
        lines([{"a": {"b": "x"}, "c": "y"}]),
        {},
        r"no field 'text' .* Fields found: 'a\.b', 'c'\. Write",
    ),
    "an object around": (
        "a.json",
        lines([{"train": RECORDS[:1], "it's": {"তথ্য": RECORDS[1:]}}], indent=1),
        {},
        r"Fields found: 'train\[\]', .*তথ্য\[\].* take the records of its lists \(`\[\]`\) out \(`jq -c`\)",
    ),
    "columns": (
        "a.csv",
        table(",", "", "body"),
        {},
        r"'text' is not in .*Columns found: 'id', 'body'\. .*`field: \.\.\.`",
    ),
    "columns of one name": ("a.csv", table(",", "", "text", "text"), {}, r"the column 'text' is twice in"),
    "columns of Parquet": (
        "a.parquet",
        parquet(("translation", TRANSLATION), ("n", [1, 2, 3])),
        {},
        r"not one column 'text'.*: 'translation\.bn \(string\)', .*'translation\.n \(int64\)', 'n \(int64\)'\. Write",
    ),
    "mistyped": ("a.parquet", parquet(("text", TEXTS)), {"field": "txt"}, r"not one column 'txt'.*: 'text \(string\)'"),
    "twice": (
        "a.parquet",
        parquet(("text", TEXTS), ("text", TEXTS)),
        {},
        r"not one column 'text' .*Give each column a name",
    ),
    "CoNLL-U without texts": (
        "a.conllu",
        conllu(text="t"),
        {},
        r"is columns without names\. .*CoNLL-U needs `# text =`",
    ),
    "columns without names": ("a.txt", "1\tক খ\n3\tগ ঘ\n" * 3, {}, r"is columns .*name the columns.*`format: text`"),
    "not UTF-8": ("a.txt", b"caf\xe9\n", {}, r"not UTF-8 at byte 3 "),
}


@pytest.mark.parametrize(("name", "content", "keys", "message"), REFUSED.values(), ids=REFUSED)
def test_a_plan_says_what_cannot_be_read_and_what_to_write(
    tmp_path: Path, name: str, content: str | bytes, keys: dict[str, Any], message: str
) -> None:
    def look() -> None:
        for fault in find_faults(shards_of(tmp_path, name, content, **keys)):
            raise InputError(fault)

    with pytest.raises(InputError, match=message):
        look()
    if "`format: text`" in message:
        (shard,) = shards_of(tmp_path, name, content, format="text")
        assert shard.format == "text"


def test_all_files_that_cannot_be_read_are_named_at_once(tmp_path: Path) -> None:
    for number in range(12):
        (tmp_path / f"{number:02d}.txt").write_bytes(b"%PDF-" if number else b"text")
    with pytest.raises(InputError, match=r"^corpus\.supplement: the file '01\.txt' is PDF") as error:
        find_shards(tmp_path, [{"files": "*.txt"}], 10**9, "corpus.supplement")
    assert str(error.value).count("is PDF") == 10
    assert str(error.value).endswith("and 1 more.")


def test_a_damaged_line_is_an_error_and_does_not_make_a_text_of_the_file(tmp_path: Path) -> None:
    content = lines([*RECORDS, *RECORDS]).replace('{"text"', '{"text', 1)
    (shard,) = shards_of(tmp_path, "a.json", content)
    with pytest.raises(InputError, match=r"a\.json: line 1 is not JSON"):
        list(read_records(shard))
    assert len(list(read_records(shard, "skip-line"))) == 5


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (lines([RECORDS])[:-3].encode(), r"record 2 \(from 0\) is not JSON .*truncated"),
        (lines([RECORDS])[:-1].encode(), r"record 3 \(from 0\) is not JSON \(Expecting value"),
        (b'[{"text": "a"},\n{"text": "\xff"}]', r"not UTF-8 at byte 26 .*\(line 2\)"),
    ],
)
def test_damaged_json_never_ends_silently(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "a.json").write_bytes(content)
    for errors in ("stop", "skip-line"):
        with pytest.raises(InputError, match=message):
            list(read_records(Shard(str(tmp_path / "a.json"), "a.json", "line", "json"), errors))  # type: ignore[arg-type]


def test_the_cases_that_people_reported(shared: Path) -> None:
    folder = shared / "cases/01-json-as-text"
    for shard in find_shards(folder, [{"files": "*.json*"}], 10**9).values():
        texts = [record.text for record in read_records(shard)]
        assert len(texts) == 5
        assert not any("http" in text or "{" in text for text in texts)
    (shard,) = find_shards(shared / "cases/03-markup-as-text", [{"files": "*.conllu"}], 10**9).values()
    assert [record.text for record in read_records(shard)] == ["लड़का स्कूल गया।", "फूल सुंदर है।"]
