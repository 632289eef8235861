"""Odd structure from outside, and not only odd bytes: trees of files and links, columns of Arrow, marks in texts."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.ipc as ipc
import pyarrow.parquet as pq
import pytest
from hostile_inputs import TEXTS, Edit, edited_bytes, edits, fuzzing, try_input
from hypothesis import given
from hypothesis import strategies as st

from prasanga.pairs.alignment import align_words
from prasanga.sentences import find_shards
from prasanga.sentences.columns import arrow_texts, parquet_texts
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


@fuzzing()
@given(st.lists(st.tuples(st.sampled_from([*SHORT, "a", "b "]), st.integers(1, 400)), max_size=6), st.integers(0, 5))
def test_long_pairs(runs: list[tuple[str, int]], turn: int) -> None:
    pieces = [f"{piece} " * count for piece, count in runs]
    try_input("long pairs", lambda: align_words("".join(pieces), "".join(pieces[turn:] + pieces[:turn])))
