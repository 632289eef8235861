"""Corpora, pairs and files of vectors with something wrong in them."""

from __future__ import annotations

import gzip
import io
import json
import lzma
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.ipc as ipc
import pyarrow.parquet as pq
import pytest
import zstandard
from hostile_inputs import TEXTS, Edit, edited_bytes, edited_rows, edited_tree, edits, fuzzing, try_input
from hypothesis import given
from hypothesis import strategies as st

from prasanga.lexicon.model import Lexicon, Stimulus, SurfaceForm
from prasanga.pairs import read_pair_file
from prasanga.sentences import ExtractionReport, Shard
from prasanga.sentences.passages import extract_shard
from prasanga.sentences.records import read_texts
from prasanga.static.files import read_vectors

WORDS = ("ফুল", "মা", "rose")
LEXICON = Lexicon(
    "bn",
    tuple(Stimulus(word) for word in WORDS),
    {},
    tuple(SurfaceForm(word, word) for word in WORDS),
    (),
)
LINES = [
    "ফুলের বাগানে একটি ফুল ফুটেছে। মা সেই ফুল দেখে হাসেন!",
    'The rose is red; মা said so: "yes".',
    "",
    "দ্বিতীয় অনুচ্ছেদে ফুল নেই, মা আছেন। তিনি ভাল আছেন?",
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where files are made; by then what is compiled has been, which takes its time."""
    made = tmp_path_factory.mktemp("corpora")
    (made / "a.txt").write_text("\n".join(LINES), encoding="utf-8")
    use(made / "a.txt", "text", "blank-line", "stop")
    return made


def use(path: Path, format: Any, documents: str, errors: Any) -> None:
    """Everything that is done with a corpus file: extraction, and its texts for training."""
    shard = Shard(str(path), path.name, documents, format)
    report = ExtractionReport()
    options = {"lexicon": LEXICON, "normalization": "bangla", "language": "bn", "errors": errors, "report": report}
    rows = sum(batch.num_rows for batch in extract_shard(shard, **options))
    assert rows == report.occurrences
    for text in read_texts(shard, errors):
        text.encode()


def _edited_lines(changes: list[Edit]) -> list[str]:
    cells = edited_rows([[line] for line in LINES], [(0 if what % 2 else 2, at, which) for what, at, which in changes])
    return [line for (line,) in cells]


DOCUMENTS = st.sampled_from(["blank-line", "line", "file"])
ERRORS = st.sampled_from(["stop", "skip-line"])
COMPRESS: dict[str, Callable[[bytes], bytes]] = {
    ".txt": lambda data: data,
    ".txt.gz": lambda data: gzip.compress(data, 1),
    ".txt.zst": zstandard.ZstdCompressor(level=1).compress,
    ".txt.xz": lambda data: lzma.compress(data, preset=0),
}


@fuzzing()
@given(edits(), DOCUMENTS, ERRORS)
def test_texts_with_odd_lines(folder: Path, changes: list[Edit], documents: str, errors: str) -> None:
    path = folder / "a.txt"
    path.write_bytes("\n".join(_edited_lines(changes)).encode("utf-8", "surrogatepass"))
    try_input("corpus: text", lambda: use(path, "text", documents, errors), str(path))


TEXT = "\n".join(LINES).encode()


@fuzzing()
@given(edits(), st.sampled_from(sorted(COMPRESS)), DOCUMENTS, ERRORS, st.booleans())
def test_texts_with_odd_bytes(
    folder: Path, changes: list[Edit], ending: str, documents: str, errors: str, inside: bool
) -> None:
    path = folder / f"a{ending}"
    write = COMPRESS[ending]
    path.write_bytes(write(edited_bytes(TEXT, changes)) if inside else edited_bytes(write(TEXT), changes))
    try_input("corpus: bytes", lambda: use(path, "text", documents, errors), str(path))


RECORDS = [{"text": line, "id": n, "meta": {"lang": "bn"}} for n, line in enumerate(LINES)]


@fuzzing()
@given(edits(), edits(2), st.booleans(), ERRORS)
def test_json_lines(folder: Path, changes: list[Edit], others: list[Edit], as_bytes: bool, errors: str) -> None:
    path = folder / "a.jsonl"
    records = edited_tree(RECORDS, changes)
    lines = [json.dumps(each) for each in (records if isinstance(records, list) else [records])]
    data = "\n".join(lines).encode()
    path.write_bytes(edited_bytes(data, others) if as_bytes else data)
    try_input("corpus: JSON lines", lambda: use(path, "jsonl", "line", errors), str(path))


TABLE = [["word", "sentence", "start"], ["ফুল", LINES[0], "0"], ["মা", LINES[3], ""], ["rose", LINES[1], "4"]]


def _csv(rows: list[list[str]], comma: str = ",") -> bytes:
    def cell(text: str) -> str:
        return '"' + text.replace('"', '""') + '"' if any(mark in text for mark in (comma, '"', "\n", "\r")) else text

    return ("\n".join(comma.join(map(cell, row)) for row in rows) + "\n").encode("utf-8", "surrogatepass")


@fuzzing()
@given(edits(), edits(2), st.booleans(), st.sampled_from([".csv", ".tsv"]), ERRORS)
def test_extracted_tables(
    folder: Path, changes: list[Edit], others: list[Edit], as_bytes: bool, ending: str, errors: str
) -> None:
    path = folder / f"a{ending}"
    data = _csv(edited_rows(TABLE, changes), "\t" if ending == ".tsv" else ",")
    path.write_bytes(edited_bytes(data, others) if as_bytes else data)
    try_input("corpus: tables", lambda: use(path, "extracted", "line", errors), str(path))


def _parquet(texts: list[Any], **options: Any) -> bytes:
    out = io.BytesIO()
    pq.write_table(pa.table({"text": pa.array(texts)}), out, **options)
    return out.getvalue()


def _arrow(texts: list[Any]) -> bytes:
    out = io.BytesIO()
    table = pa.table({"text": pa.array(texts)})
    with ipc.new_stream(out, table.schema) as writer:
        writer.write_table(table)
    return out.getvalue()


COLUMNAR = {
    ("parquet", ".parquet"): (_parquet(LINES), _parquet(LINES * 20, compression="zstd", use_dictionary=False)),
    ("dataset", ".arrow"): (_arrow(LINES), _arrow([*LINES, None])),
}


@fuzzing()
@given(edits(3), st.sampled_from(sorted(COLUMNAR)), st.integers(0, 1), ERRORS)
def test_columns_with_odd_bytes(
    folder: Path, changes: list[Edit], kind: tuple[str, str], which: int, errors: str
) -> None:
    path = folder / f"a{kind[1]}"
    path.write_bytes(edited_bytes(COLUMNAR[kind][which], changes))
    try_input("corpus: columns", lambda: use(path, kind[0], "line", errors), str(path))


# ---- pairs

PAIRS = [
    ["pair_id", "language", "bias_type", "label", "first", "second", "modified", "agreeing"],
    ["1", "bn", "gender", "stereo", "মেয়েরা দুর্বল।", "ছেলেরা দুর্বল।", "", ""],
    ["2", "hi", "caste", "antistereo", "वह नेता है।", "वह नौकर है।", "", ""],
    ["3", "en", "age", "stereo", "Old people, he said, are slow.", "Young people, he said, are slow.", "", ""],
]
CROWS = [
    ["", "sent_more", "sent_less", "stereo_antistereo", "bias_type"],
    ["0", "Women are weak.", "Men are weak.", "stereo", "gender"],
    ["1", "He is old.", "He is young.", "antistereo", "age"],
]
INDIBIAS = [
    [
        *("index", "modified_eng_sent_more", "modified_eng_sent_less", "sent_more_hindi", "sent_less_hindi"),
        *("bias_type", "stereo_antistereo"),
    ],
    ["0", "He is rich.", "She is rich.", "वह अमीर है।", "वह गरीब है।", "gender", "stereo"],
]
LAYOUTS = (PAIRS, CROWS, INDIBIAS)
STEREOSET = {
    "data": {
        part: [
            {
                "id": f"{part}1",
                "bias_type": "gender",
                "context": "He BLANK.",
                "sentences": [
                    {"sentence": f"He is {word}.", "gold_label": label}
                    for word, label in (("a", "stereotype"), ("b", "anti-stereotype"), ("c", "unrelated"))
                ],
            }
        ]
        for part in ("intrasentence", "intersentence")
    }
}


def test_the_pairs_that_are_edited_are_good_ones(folder: Path) -> None:
    for number, layout in enumerate(LAYOUTS):
        path = folder / f"pairs{number}.csv"
        path.write_bytes(_csv(layout))
        assert read_pair_file(path).pairs.height == (3, 2, 2)[number]
    (folder / "set.json").write_text(json.dumps(STEREOSET))
    assert read_pair_file(folder / "set.json").pairs.height == 2


@fuzzing(2)
@given(edits(), st.sampled_from(range(len(LAYOUTS))))
def test_pairs_with_odd_cells(folder: Path, changes: list[Edit], layout: int) -> None:
    path = folder / "pairs.csv"
    path.write_bytes(_csv(edited_rows(LAYOUTS[layout], changes)))
    try_input("pairs: cells", lambda: read_pair_file(path), str(path))


@fuzzing(2)
@given(edits(6), st.sampled_from(range(len(LAYOUTS))))
def test_pairs_with_odd_bytes(folder: Path, changes: list[Edit], layout: int) -> None:
    path = folder / "pairs.csv"
    path.write_bytes(edited_bytes(_csv(LAYOUTS[layout]), changes))
    try_input("pairs: bytes", lambda: read_pair_file(path), str(path))


COLUMNS = sorted({name for layout in LAYOUTS for name in layout[0]} | {"sent_more_bengali", "", "label ", "ID", "x"})
CELLS = (*TEXTS, *("stereo", "antistereo", "gender", "age", "bn", "hi", "en", "1"), *(c for r in PAIRS for c in r))
WRITINGS: tuple[Callable[[str], bytes], ...] = (
    *[lambda text: text.encode("utf-8", "surrogatepass")] * 4,
    lambda text: text.encode("utf-8-sig", "surrogatepass"),
    lambda text: text.encode("utf-16", "surrogatepass"),
    lambda text: text.encode("cp1252", "replace"),
    lambda text: text.replace("\n", "\r\n").encode("utf-8", "surrogatepass"),
    lambda text: text.replace("\n", "\r").encode("utf-8", "surrogatepass"),
)


@fuzzing(2)
@given(
    st.lists(st.tuples(*[st.integers(0, 2**20)] * 3), max_size=8),
    st.sampled_from([*map(tuple, (layout[0] for layout in LAYOUTS)), ()]),
    st.lists(st.sampled_from(COLUMNS), max_size=6),
    st.sampled_from(WRITINGS),
    st.sampled_from([",", ",", ",", ";", "\t", "|"]),
    st.sampled_from(["csv", "tsv", "json", "txt"]),
)
def test_pairs_of_any_columns(
    folder: Path,
    rows: list[tuple[int, int, int]],
    known: tuple[str, ...],
    others: list[str],
    write: Callable[[str], bytes],
    comma: str,
    ending: str,
) -> None:
    header = [*known, *others]
    table = [header]
    for first, second, changed in rows:
        row = [CELLS[(first + second * place) % len(CELLS)] for place in range(len(header))]
        good = {name: cell for layout in LAYOUTS for name, cell in zip(layout[0], layout[1], strict=True)}
        row = [
            good.get(name, cell) if (changed >> place) & 1 else cell
            for place, (name, cell) in enumerate(zip(header, row, strict=True))
        ]
        table.append(row[: len(row) - (changed % 7 == 0)])
    path = folder / f"any.{ending}"
    path.write_bytes(write(_csv(table, comma).decode("utf-8", "surrogatepass")))
    try_input("pairs: any columns", lambda: read_pair_file(path), str(path))


@fuzzing()
@given(edits(), st.booleans())
def test_stereoset(folder: Path, changes: list[Edit], as_bytes: bool) -> None:
    path = folder / "set.json"
    if as_bytes:
        path.write_bytes(edited_bytes(json.dumps(STEREOSET).encode(), changes))
    else:
        path.write_text(json.dumps(edited_tree(STEREOSET, changes)), encoding="utf-8")
    try_input("pairs: StereoSet", lambda: read_pair_file(path), str(path))


# ---- vectors

VECTORS = {"ফুল": [1.0, 2.0, 3.0], "মা": [0.5, -1.0, 2.5], "rose": [3.0, 1.0, 0.0]}
_GLOVE = "".join(f"{word} {' '.join(map(str, vector))}\n" for word, vector in VECTORS.items()).encode()
_BINARY = b"3 3\n" + b"".join(word.encode() + b" " + struct.pack("<3f", *vector) for word, vector in VECTORS.items())
FILES = {
    "glove.txt": _GLOVE,
    "word2vec.txt": b"3 3\n" + _GLOVE,
    "word2vec.bin": _BINARY,
    "packed.bin": gzip.compress(b"3 3\n" + _GLOVE, 1),
    "packed.txt.zst": zstandard.ZstdCompressor().compress(_GLOVE),
}


@fuzzing(2)
@given(edits(), st.sampled_from(sorted(FILES)), st.sampled_from(["auto", "auto", "glove", "word2vec", "fasttext"]))
def test_vectors(folder: Path, changes: list[Edit], name: str, format: str) -> None:
    path = folder / name
    path.write_bytes(edited_bytes(FILES[name], changes))
    try_input("vectors", lambda: read_vectors(path, VECTORS, format=format), str(path))
