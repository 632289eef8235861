"""Odd structure from outside, and not only odd bytes: trees of files and links, columns of Arrow, marks in texts."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.ipc as ipc
import pyarrow.parquet as pq
import pytest
from hostile_inputs import TEXTS, Edit, edited_bytes, edited_tree, edits, fuzzing, try_input
from hypothesis import given
from hypothesis import strategies as st

from prasanga.pairs.alignment import align_words
from prasanga.sentences import Shard, find_shards
from prasanga.sentences.columns import arrow_texts, parquet_texts
from prasanga.sentences.records import read_records
from prasanga.text.normalization import normalizer

NAMES = (
    *("a", "a", "c", "c", "g.txt", "g.txt", "h.txt", "b.txt", "d.txt", "e.jsonl", "i.txt"),
    *("{shard}.txt", "d}", "-rf", ".hidden", "e\nf.txt", "*", "[a", "ফুল.txt", "n" * 250),
)
KINDS = (*["file", "folder"] * 6, "pipe", "device", "not UTF-8")
PARTS = ("**", "*", "**", "*.txt", "a", "c", "[!a]*", "?", "{shard}.txt", ".hidden")
TREES = st.lists(
    st.tuples(
        st.integers(0, 50),
        st.sampled_from(NAMES),
        st.sampled_from((*KINDS, *["link"] * 6)),
        st.integers(0, 50),
    ),
    max_size=25,
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("structure")


def make(root: Path, tree: list[tuple[int, str, str, int]]) -> None:
    """Make files, pipes and links in folders that are there by then; links lead anywhere in the tree, or above it."""
    folders, all_of_it = [root], [root, root.parent, Path("/dev/zero"), Path("nowhere")]
    for place, name, kind, target in tree:
        parent = folders[place % len(folders)]
        path = Path(os.fsdecode(os.fsencode(parent / name) + b"\xff")) if kind == "not UTF-8" else parent / name
        if os.path.lexists(path):
            continue
        match kind:
            case "folder":
                path.mkdir()
                folders.append(path)
            case "pipe":
                os.mkfifo(path)
            case "device":
                path.symlink_to("/dev/zero")
            case "link":
                path.symlink_to(all_of_it[target % len(all_of_it)])
            case _:
                path.write_text("ফুল\n", encoding="utf-8")
        all_of_it.append(path)


@fuzzing(2)
@given(TREES, st.lists(st.sampled_from(PARTS), max_size=9), st.sampled_from(["auto", "text"]))
def test_trees_of_files(folder: Path, tree: list[tuple[int, str, str, int]], parts: list[str], format: str) -> None:
    root = folder / "tree"
    shutil.rmtree(root, ignore_errors=True)
    root.mkdir()
    make(root, tree)

    def use() -> None:
        entries = [{"files": "/".join(parts) or ".", "format": format}]
        shards = find_shards(root, entries, 10**6, tell=str.encode)  # type: ignore[arg-type]
        real = [Path(shard.path).resolve() for shard in shards.values()]
        assert len(set(real)) == len(real)
        for path, shard in zip(real, shards.values(), strict=True):
            assert path.is_file()
            assert path.is_relative_to(root)
            assert not set("{}") & set(shard.source)
            shard.source.encode()

    try_input("trees of files", use)


SHORT = [text for text in TEXTS if 0 < len(text) < 100]
LONG = "ফ" * 200_000
KINDS_OF_COLUMNS = (pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int32(), pa.string()))


@fuzzing(2)
@given(
    st.lists(st.sampled_from([*SHORT, LONG, None]), max_size=20),
    st.sampled_from(KINDS_OF_COLUMNS),
    st.integers(0, 1000),
    st.sampled_from([None, "zstd", "lz4"]),
    st.sampled_from(["stream", "file", "parquet"]),
    st.lists(st.integers(0, 30_000_000), max_size=2),
    edits(3) | st.just([]),
)
def test_columns(
    folder: Path,
    texts: list[str | None],
    kind: pa.DataType,
    repeated: int,
    compression: str | None,
    layout: str,
    others: list[int],
    changes: list[Edit],
) -> None:
    """Good files of odd content give it back; edited ones give something or are refused, in little memory."""
    column = pa.array(texts, pa.string())
    if pa.types.is_dictionary(kind):
        texts = texts * (1 + repeated % 40)
        column = pa.array(texts, pa.string()).dictionary_encode()
    else:
        column = column.cast(kind)
    fillers = [[b"\0" * size, *[None] * (len(texts) - 1)][: len(texts)] for size in others]
    columns = {f"other{n}": pa.array(filler, pa.large_binary()) for n, filler in enumerate(fillers)}
    table = pa.table({**columns, "text": column})
    path = folder / f"a.{layout}"
    if layout == "parquet":
        pq.write_table(table, path, compression=compression or "none")
    else:
        opened = ipc.new_stream if layout == "stream" else ipc.new_file
        with opened(path, table.schema, options=ipc.IpcWriteOptions(compression=compression)) as writer:
            writer.write_table(table)
    if changes:
        path.write_bytes(edited_bytes(path.read_bytes(), changes))
    found: list[str | bytes | None] = []
    read = parquet_texts if layout == "parquet" else arrow_texts
    refused = try_input("columns", lambda: found.extend(read(path, "text")), str(path))
    assert changes or refused is None or "archive bomb" in refused
    if not changes and refused is None:
        assert found == texts


NAMES_OF_COLUMNS = (
    "text",
    "text",
    "text.x",
    "",
    "a",
    "{text}",
    "x\n",
    "n" * 3000,
    "ফুল",
    "\x1b[2J",
    "__index_level_0__",
)
TYPES = (
    *[pa.string()] * 4,
    *(pa.large_string(), pa.string_view(), pa.binary(), pa.large_binary(), pa.binary_view(), pa.binary(3), pa.null()),
    *(
        pa.int64(),
        pa.float16(),
        pa.bool_(),
        pa.timestamp("ns"),
        pa.decimal128(5),
        pa.duration("s"),
        pa.month_day_nano_interval(),
    ),
    *(pa.list_(pa.string()), pa.large_list(pa.string()), pa.list_(pa.string(), 2), pa.list_view(pa.string())),
    *(
        pa.struct([("text", pa.string())]),
        pa.struct([]),
        pa.map_(pa.string(), pa.string()),
        pa.list_(pa.list_(pa.null())),
    ),
    *(
        pa.dictionary(pa.int8(), pa.string()),
        pa.dictionary(pa.int32(), pa.int64()),
        pa.run_end_encoded(pa.int32(), pa.string()),
    ),
    *(pa.uuid(), pa.json_(), pa.bool8(), pa.opaque(pa.string(), "x", "y")),
)
SAID = (
    *(text.encode("utf-8", "surrogatepass") for text in TEXTS if len(text) < 5000),
    *(b"\xff\xfe", b"{" * 3000, b'{"info": {"features": {"text": {"_type": "Value", "dtype": "int64"}}}}', b"9" * 5000),
    *(
        b'{"index_columns": ["x"], "columns": [], "pandas_version": 1}',
        b'{"index_columns": 5}',
        b"datasets.features.Audio",
    ),
)
KEYS = (
    b"huggingface",
    b"pandas",
    b"ARROW:schema",
    b"ARROW:extension:name",
    b"ARROW:extension:metadata",
    b"prasanga.stage",
    b"",
)


@fuzzing(2)
@given(
    st.lists(st.tuples(st.sampled_from(NAMES_OF_COLUMNS), st.sampled_from(TYPES)), max_size=5),
    st.dictionaries(st.sampled_from(KEYS), st.sampled_from(SAID), max_size=4),
    st.integers(0, 5),
    st.sampled_from(["stream", "file", "parquet"]),
    st.sampled_from(["2.6", "1.0", "2.4"]),
    st.booleans(),
    st.sampled_from(["text", "text", "text", "text.x", "", "a", "absent"]),
    st.booleans(),
)
def test_metadata_of_columns(
    folder: Path,
    columns: list[tuple[str, pa.DataType]],
    said: dict[bytes, bytes],
    n_rows: int,
    layout: str,
    version: str,
    plain: bool,
    wanted: str,
    has_text: bool,
) -> None:
    """Columns of every type and name, with anything in the metadata of file and fields."""
    if has_text:
        columns = [("text", pa.string()), *((name, kind) for name, kind in columns if name != "text")]
    schema = pa.schema([pa.field(name, kind, metadata=said) for name, kind in columns], metadata=said)
    arrays = [pa.array([text if kind == pa.string() else None for text in SHORT[:n_rows]], kind) for _, kind in columns]
    table = pa.Table.from_arrays(arrays, schema=schema)
    path = folder / f"m.{'parquet' if layout == 'parquet' else 'arrow'}"
    try:
        if layout == "parquet":
            pq.write_table(table, path, version=version, use_dictionary=plain, store_schema=plain)
        else:
            opened = ipc.new_stream if layout == "stream" else ipc.new_file
            with opened(path, schema) as writer:
                writer.write_table(table)
    except (pa.ArrowException, OSError, ValueError):
        return  # of which no file can be
    shard = Shard(str(path), path.name, "line", "parquet" if layout == "parquet" else "dataset", wanted)
    try_input("columns: metadata", lambda: list(read_records(shard)), str(path))


STATE = {
    "_data_files": [{"filename": "data-00000-of-00001.arrow"}],
    "_fingerprint": "0",
    "_format_columns": None,
    "_indices_data_files": None,
    "_split": "train",
}
DATASET = {"a": {"splits": ["train", "test"]}, "train": STATE, "test": {**STATE, "_split": "test"}}


@fuzzing(2)
@given(edits(), st.booleans(), edits(2) | st.just([]), st.sampled_from([".", "*", "d", "train", "**/*"]))
def test_data_sets(folder: Path, changes: list[Edit], whole: bool, others: list[Edit], files: str) -> None:
    """What `datasets` saves, with odd values and bytes in its JSON."""
    root = folder / "dataset"
    shutil.rmtree(root, ignore_errors=True)
    tree = edited_tree(DATASET, changes)
    for name in ("train", "test"):
        (root / name).mkdir(parents=True)
        (root / name / "data-00000-of-00001.arrow").write_bytes(b"x")
        value = tree.get(name, STATE) if isinstance(tree, dict) else tree
        (root / name / "state.json").write_bytes(edited_bytes(json.dumps(value).encode(), others))
    if whole:
        value = tree.get("a") if isinstance(tree, dict) else tree
        (root / "dataset_dict.json").write_bytes(edited_bytes(json.dumps(value).encode(), others[::-1]))
    entries = [{"files": files, "format": "dataset"}]
    try_input("data sets", lambda: find_shards(root, entries, 10**6), "corpus.texts", str(root))


MARKS = (
    "\u0301",
    "\u0323",
    "\u09bc",
    "\u0981",
    "\u093c",
    "\u0f73",
    "\u200d",
    "&amp;",
    "amp;",
    "&#38;",
    "#x26;",
    "Ã",
    "&",
    ";",
)


@fuzzing(2)
@given(
    st.lists(st.tuples(st.sampled_from([*MARKS, *SHORT]), st.integers(1, 3_000)), max_size=6),
    st.sampled_from(["bangla", "nukta", "nfc", "nfkc", "none"]),
)
def test_long_runs_in_texts(runs: list[tuple[str, int]], name: str) -> None:
    text = "".join(piece * count for piece, count in runs)
    try_input("long runs", lambda: normalizer(name).one(text))


@fuzzing(0.25)
@given(st.lists(st.tuples(st.sampled_from([*SHORT, "a", "b "]), st.integers(1, 400)), max_size=6), st.integers(0, 5))
def test_long_pairs(runs: list[tuple[str, int]], turn: int) -> None:
    pieces = [f"{piece} " * count for piece, count in runs]
    try_input("long pairs", lambda: align_words("".join(pieces), "".join(pieces[turn:] + pieces[:turn])))
