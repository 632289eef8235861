"""JSON under the name of a text: read by its content, or refused; and text that begins like JSON, which stays text."""

from __future__ import annotations

import gzip
import json
import lzma
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import zstandard

from prasanga.base.errors import InputError
from prasanga.sentences import find_shards
from prasanga.sentences.records import read_records

TEXTS = ["ফুল ফুটেছে।", 'সে বলল, "এসো {এখানে}"।', "মশা [ছোট]।"]
RECORDS = [{"text": text, "url": f"https://example.org/{n}", "n": n} for n, text in enumerate(TEXTS)]
PACKED: dict[str, Callable[[bytes], bytes]] = {
    "": bytes,
    ".gz": gzip.compress,
    ".zst": zstandard.ZstdCompressor().compress,
    ".xz": lzma.compress,
}


def lines(records: list[Any] = RECORDS, **options: Any) -> str:
    return "\n".join(json.dumps(record, **options) for record in records)


def write(folder: Path, name: str, text: str) -> None:
    (folder / name).write_bytes(PACKED.get(Path(name).suffix, bytes)(text.encode()))


def format_of(folder: Path, name: str, **keys: Any) -> str:
    (shard,) = find_shards(folder, [{"files": name, **keys}], 10**9).values()
    return shard.format


@pytest.mark.parametrize("name", ["c4.json.gz", "c4.json", "c4.json.zst", "c4.json.xz", "c4.txt", "c4.dat", "c4.gz"])
@pytest.mark.parametrize(
    "text",
    [
        lines(),
        lines(ensure_ascii=False) + "\n",
        "\ufeff" + lines(),
        lines().replace("\n", "\r\n\r\n"),
        lines([{"n": 0, "text": TEXTS[0]}, {"url": "x" * 100_000, "text": TEXTS[1]}, {"text": TEXTS[2], "nested": {}}]),
        lines(
            [{"url": "x" * 100_000, "text": TEXTS[0]}, *RECORDS[1:]]
        ),  # the first line is longer than what is looked at
    ],
)
def test_json_lines_are_read_by_their_content(tmp_path: Path, name: str, text: str) -> None:
    write(tmp_path, name, text)
    (shard,) = find_shards(tmp_path, [{"files": "c4*"}], 10**9).values()
    assert [record.text for record in read_records(shard)] == TEXTS


def test_a_damaged_line_is_an_error_and_does_not_make_a_text_of_the_file(tmp_path: Path) -> None:
    write(tmp_path, "a.json", lines([*RECORDS, *RECORDS]).replace('{"text"', '{"text', 1))
    (shard,) = find_shards(tmp_path, [{"files": "a.json"}], 10**9).values()
    with pytest.raises(InputError, match=r"a\.json: line 1 is not JSON"):
        list(read_records(shard))
    assert len(list(read_records(shard, "skip-line"))) == 5


def test_a_field_of_another_name_is_told_with_the_fields_there_are(tmp_path: Path) -> None:
    write(tmp_path, "a.json.gz", lines([{"body": text} for text in TEXTS]))
    (shard,) = find_shards(tmp_path, [{"files": "*.json.gz"}], 10**9).values()
    with pytest.raises(InputError, match=r"no field 'text' .* Fields found: 'body'"):
        list(read_records(shard))
    (shard,) = find_shards(tmp_path, [{"files": "*.json.gz", "field": "body"}], 10**9).values()
    assert [record.text for record in read_records(shard)] == TEXTS


@pytest.mark.parametrize("name", ["a.json", "a.json.gz", "a.txt", "a.dat.xz"])
@pytest.mark.parametrize(
    "text",
    [
        lines([RECORDS]),
        lines([RECORDS], indent=1),
        "\ufeff" + lines([RECORDS], indent=4, ensure_ascii=False),
        lines([RECORDS[0]], indent=2),
        lines(RECORDS, indent=2),
        lines().replace("\n", ""),
        lines([TEXTS], ensure_ascii=False),
        lines([[text, 1.5e-3, None, True] for text in TEXTS]),
        lines([RECORDS * 2000], indent=1),
        lines([RECORDS * 2000]),
        lines([[{"text": "শব্দ " * 50_000}]], ensure_ascii=False),
    ],
)
def test_other_json_is_refused_with_what_to_write(tmp_path: Path, name: str, text: str) -> None:
    write(tmp_path, name, text)
    with pytest.raises(InputError) as error:
        find_shards(tmp_path, [{"files": "a.*"}], 10**9, "corpus.supplement")
    said = str(error.value)
    assert said.startswith(f"corpus.supplement: the file '{name}' holds JSON, but not one object per line. ")
    assert "`format: jsonl, field: text`" in said
    assert format_of(tmp_path, name, format="text") == "text"


@pytest.mark.parametrize("ending", ["", ".gz", ".zst", ".xz"])
@pytest.mark.parametrize(
    "text",
    [
        "",
        "[ঢাকা, ১ জানুয়ারি] আজ সকালে বৃষ্টি হয়েছে।",
        "[1] Smith 2020.\n[2] Jones 2021.",
        '["Come," he said. "Now."]\nAnd so they went.',
        '["Come," he said, and never closed the second: "Now.',
        '["Never closed.\n\n' + "এক লাইন।\n" * 20_000,
        '"এসো", সে বলল।\n"না", বলল অন্যজন।',
        '"এসো"\n"না"',
        "{{Infobox person}}\n{| class=wikitable",
        "{নোট} গোলাপ একটি ফুল।",
        "{}\nগোলাপ একটি ফুল।\nপদ্ম আরেকটি।",
        '{"title": "front matter"}\n\nগোলাপ একটি ফুল।\nপদ্ম আরেকটি।',
        '{\n "title": "front matter"\n}\n\nগোলাপ একটি ফুল।',
        "[" * 100_000 + "গোলাপ",
        "\ufeff [গোলাপ]",
        "গোলাপ\n" + lines(),
    ],
)
def test_text_that_begins_like_json_stays_text(tmp_path: Path, text: str, ending: str) -> None:
    for name in (f"a.txt{ending}", f"b{ending}"):
        write(tmp_path, name, text)
        assert format_of(tmp_path, name) == "text"


def test_files_that_cannot_be_read_are_left_to_the_job_that_reads_them(tmp_path: Path) -> None:
    for name in ("a.json.gz", "a.json.zst", "a.json.xz"):
        (tmp_path / name).write_bytes(b"{no archive")
        assert format_of(tmp_path, name) == "text"


OTHER_FORMATS = {
    "Parquet": b"PAR1\x15\x04",
    "Arrow": b"ARROW1\0\0",
    "a zip archive": b"PK\x03\x04",
    "PDF": b"%PDF-1.7",
    "UTF-16": "text".encode("utf-16"),
    "a pickle": pickle.dumps({}),
}


@pytest.mark.parametrize(("kind", "content"), OTHER_FORMATS.items(), ids=OTHER_FORMATS)
def test_another_format_under_the_name_of_a_text_is_refused(tmp_path: Path, kind: str, content: bytes) -> None:
    (tmp_path / "a.txt").write_bytes(content)
    with pytest.raises(InputError, match=rf"the file 'a\.txt' is {kind}, not text\. Convert it"):
        format_of(tmp_path, "a.txt")


def test_the_cases_that_people_reported(shared: Path) -> None:
    folder = shared / "cases/01-json-as-text"
    for shard in find_shards(folder, [{"files": "*.json.gz"}], 10**9).values():
        texts = [record.text for record in read_records(shard)]
        assert len(texts) == 5
        assert not any("http" in text or "{" in text for text in texts)
    with pytest.raises(InputError, match=r"'array\.json' holds JSON.*`format: jsonl, field: text`"):
        find_shards(folder, [{"files": "array.json"}], 10**9)
