"""Formats are recognized by what the first bytes say; text that merely begins like one of them stays text."""

from __future__ import annotations

import csv
import gzip
from pathlib import Path

import pytest
from tables import read_data

from prasanga.base.formats import HEAD, find_compression, recognize, recognize_file, refuse

SRT = "1\r\n00:00:01,000 --> 00:00:03,000\r\nমশা।\r\n\r\n2\r\n00:00:04,000 --> 00:00:06,000\r\n১৯৭১ সালে।\r\n"
CONLLU = "# text = ফুল ফোটে।\n" + "".join(f"{n}\tফুল\t_\tNOUN\t_\t_\t0\troot\t_\t_\n" for n in (1, 2, 3))
ASS = (
    f"[Script Info]\nTitle: x\n\n[V4+ Styles]\n{'Style: x' * 20}\n\n[Events]\nFormat: Layer, Start, Text\n"
    "Dialogue: 0,0:00:01.00,0:00:02.00,Default,,0,0,0,,{\\i1}hi,{\\i0} \\Nho\n"
)
PROSE = "হ্যাঁ, আমি আসব।\nনা, সে যাবে না।\nতবে, কেন?\n"
KINDS: dict[str, tuple[str, str | bytes]] = {
    **read_data(__file__, "kinds_of_files"),
    "prose with a comma per line": ("text", PROSE * 5),
    "chat log with tabs": ("columns", "12:03\tali\thello there\n12:04\tbob\thi, all\n12:05\tali\tbye now\n" * 3),
    "brackets": ("text", "[" * 100_000 + "গোলাপ"),
    "quotes that never close": ("text", '["Never closed.\n\n' + "এক লাইন।\n" * 20_000),
    "one long JSON line": ("jsonl", '{"text": "' + "শব্দ " * HEAD),
    "a long JSON line after a blank one": ("jsonl", '\n{"text": "' + "শব্দ " * HEAD),
    "JSON array in one line": ("json", '[{"text": "' + "শব্দ " * HEAD),
    "JSON array of long texts": ("json", '["' + "শব্দ " * HEAD),
    "JSON array of texts over lines": ("json", '[\n "শব্দ",\n' * 1 + ' "শব্দ শব্দ",\n' * HEAD),
    "CoNLL-U without its texts": ("columns", CONLLU.partition("\n")[2]),
    "tokens with tags": ("columns", "ঢাকা\tB-LOC\nশহর\tO\n\n" * 5),
    "tokens with blanks": ("columns", "-DOCSTART- -X- O\n\n" + "ঢাকা NNP B-LOC\nশহর NN O\n\n" * 3),
    "tokens with slashes": ("columns", "ঢাকা/NNP শহর/NN\n" * 6),
    "tokens in long lines": ("columns", ("ঢাকা/NNP/B-LOC " * 99 + "শহর/NN\n") * 6),
    "slashes": ("text", ("ঢাকা/NNP/B-LOC " * 99 + "শহর/।\n" + "ক/খ\n") * 6),
    "paragraphs after a tab": ("text", "\tফুল ফোটে।\n" * 6),
    "quoted paths": ("text", '"C:\\docs"\n' * 6),
    "Leipzig sentences": ("columns", "".join(f"{n}\tবাক্য নম্বর {n}।\n" for n in range(1, 9))),
    "numbered lines with tabs": ("columns", "1\tএক ফুল।\n2\tদুই\tফুল।\n3\tক\n4\tখ\n5\tগ\n"),
    "times with lengths": ("subtitles", "[00:00.000 --> 00:05.000]hi\n[00:05.000 --> 00:09.000]ho\n"),
    "frames": ("subtitles", "{0}{25}hi\n{26}{50}ho\n"),
    "XML": ("markup", '<corpus lang="bn">\n<s>' + "ফুল\n" * HEAD),
    "SRT": ("subtitles", "\ufeff" + SRT),
    "ASS": ("subtitles", ASS),
    "UTF-16 of Excel": ("utf-16", "id\ttext\r\n1\tমশা\r\n".encode("utf-16")),
    "UTF-16 without a mark": ("utf-16", "মশার কামড়ে রাতে ঘুম হয় না।".encode("utf-16-be")),
    "UTF-32": ("utf-16", "hello".encode("utf-32")),
    "nothing": ("empty", b""),
    "zip": ("archive", b"PK\x03\x04 a.txt"),
    "tar": ("archive", b"a.txt" + bytes(252) + b"ustar"),
    "compressed twice": ("archive", gzip.compress(gzip.compress(b"text"))),
    "workbook": ("excel", b"PK\x03\x04 [Content_Types].xml xl/workbook.xml"),
    "docx": ("document", b"PK\x03\x04 [Content_Types].xml word/document.xml"),
    "RTF": ("document", rb"{\rtf1 x}"),
    "PDF": ("pdf", b"%PDF-1.7"),
    "web archive": ("warc", b"WARC/1.0\r\nWARC-Type: conversion"),
    "pointer": ("git-lfs", b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n"),
    "pickle": ("pickle", b"\x80\x04}."),
    "image": ("binary", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(range(32)) * 9),
    "Arrow": ("dataset", b"\xff\xff\xff\xff\xb8\0\0\0"),
}


@pytest.mark.parametrize(("kind", "content"), KINDS.values(), ids=KINDS)
def test_kinds_of_files(tmp_path: Path, kind: str, content: str | bytes) -> None:
    data = content.encode() if isinstance(content, str) else content
    path = tmp_path / "a.txt"
    path.write_bytes(data)
    found = recognize_file(path, "text")
    assert found.kind == kind
    is_read = kind in ("text", "jsonl", "json", "table", "conllu", "parquet", "dataset")
    assert bool(refuse(found)) is not is_read
    if data and not found.compression:
        path.write_bytes(gzip.compress(data))
        assert recognize_file(path, "text") == found._replace(compression=".gz")
        assert find_compression(path) == ".gz"


@pytest.mark.parametrize(
    ("text", "columns", "delimiter"),
    [
        ("id;text\n1;a, b\n2;c\n", ("id", "text"), ";"),
        ("id;text\n1;a; b\n", ("id", "text"), ";"),  # an error of the row, and not of the table
        ("id\ttext, in full\n1\ta, b\n", ("id", "text, in full"), "\t"),
        ('id\ttext\n1\t"a b.\n2\tc d."\n3\te\n', ("id", "text"), "\t"),  # quotes of speech
        (', ID, "My Text"\n0, 1, "a, b"\n', ("", "ID", "My Text"), ","),
        ('"sep=|"\r\nid|text\r\n1|a\r\n', ("id", "text"), "|"),
        ('id\ttext\n1\t"a", he said\n2\tb\n', ("id", "text"), "\t"),  # without quotes around cells
        ('text\n"a, b"\nc\n', ("text",), ","),
        ('"text"\n"a b"\n"c"\n', ("text",), ","),
        ('id,text\n1,"cut in a ' + "cell " * HEAD, ("id", "text"), ","),
        ('\n\ufefftext,id\n"a\nb",1\n', ("\ufefftext", "id"), ","),
    ],
)
def test_delimiters_of_tables(text: str, columns: tuple[str, ...], delimiter: str) -> None:
    found = recognize(text.encode(), "a.csv")
    assert (found.kind, found.columns, found.dialect["delimiter"]) == ("table", columns, delimiter)
    assert found.skipped == text.count("sep=")
    assert found.dialect["quoting"] == (csv.QUOTE_NONE if " he said" in text or " d." in text else csv.QUOTE_MINIMAL)


@pytest.mark.parametrize(("content", "at"), [(b"caf\xe9", 3), (b"\xef\xbb\xbfab\xff", 5), ("ফ".encode() * HEAD, None)])
def test_bytes_that_are_not_utf8(content: bytes, at: int | None) -> None:
    assert recognize(content).bad_byte == at
