"""What is no regular file, in the place of one: pipes, which are waited for, and devices, which have no end."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hostile_inputs import BYTES, TEXTS, fuzzing, try_input
from hypothesis import given
from hypothesis import strategies as st

from prasanga.base.documents import sha256_of_file
from prasanga.base.errors import InputError, open_regular
from prasanga.likelihoods.traits import load_traits
from prasanga.models.hub import open_source
from prasanga.pairs import read_pair_file
from prasanga.plan.study import digest_of_set
from prasanga.sentences import Shard, find_shards
from prasanga.sentences.corpus import read_lines
from prasanga.sentences.manifest import update_manifest
from prasanga.sentences.records import read_records
from prasanga.static.files import read_vectors
from prasanga_construction.sheets import read_rows

ROOT = Path(__file__).parents[2]
READERS: dict[str, Callable[[Path], Any]] = {
    "traits (CSV)": lambda path: load_traits(path.with_suffix(".csv"), None),
    "pairs": read_pair_file,
    "StereoSet": lambda path: read_pair_file(path.with_suffix(".json")),
    "digest of pairs": lambda path: digest_of_set("p", path),
    "corpus": lambda path: list(read_lines(path)),
    "corpus, named": lambda path: find_shards(path.parent, [{"files": path.name}], 10**6),
    "corpus, pattern": lambda path: find_shards(path.parent, [{"files": "*"}], 10**6),
    "manifest": lambda path: update_manifest(path.with_name("corpus.json"), [str(path)]),
    "JSON lines": lambda path: list(read_records(Shard(str(path), "a", "line", "jsonl"))),
    "Parquet": lambda path: list(read_records(Shard(str(path), "a", "line", "parquet"))),
    "Arrow": lambda path: list(read_records(Shard(str(path), "a", "line", "dataset"))),
    "vectors": lambda path: read_vectors(path, ["a"]),
    "sheet": lambda path: read_rows(path, what="votes"),
    "model": lambda path: open_source(path),
}


def make(kind: str, path: Path) -> None:
    match kind:
        case "pipe":
            os.mkfifo(path)
        case "folder":
            path.mkdir()
        case "dangling link":
            path.symlink_to("nowhere")
        case "circle":
            path.symlink_to(path.name)
        case _:
            path.symlink_to(kind)


@pytest.mark.parametrize("kind", ["pipe", "/dev/zero", "/dev/tty", "/dev/null", "folder", "dangling link", "circle"])
@pytest.mark.parametrize("reader", READERS)
def test_only_regular_files_are_read(tmp_path: Path, reader: str, kind: str) -> None:
    path = tmp_path / "x.yaml"
    for name in ("x.yaml", "x.csv", "x.json"):
        make(kind, tmp_path / name)
    assert try_input("file kinds", lambda: READERS[reader](path), str(tmp_path)) is not None


def test_digests_are_taken_of_regular_files(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "p")
    for path in (tmp_path / "p", Path("/dev/zero")):
        with pytest.raises(OSError, match="a pipe or a device"):
            sha256_of_file(path)
        with pytest.raises(OSError, match="a pipe or a device"):
            open_regular(path)
    with pytest.raises(IsADirectoryError):
        open_regular(tmp_path)
    with pytest.raises(InputError, match=r"`pairs\.sets\.p\.path` is .* it is a pipe or a device"):
        digest_of_set("p", tmp_path / "p")


NAMES = (
    *(
        "x",
        "-rf",
        "--help",
        "{set}",
        "}",
        "a\nb",
        "a\rb",
        "\x1b[2J",
        "\u202ex",
        "*",
        "[a",
        "?",
        "~",
        "$HOME",
        "`id`",
        "a b",
    ),
    *(
        " ",
        ".x",
        "..x",
        "x.",
        "'",
        '"',
        "\\",
        "ফুল",
        "e\u0301",
        "\udcff",
        "\udc80x",
        "n" * 240,
        "CON",
        "a:b",
        "#%",
        "=1",
    ),
)
KINDS = (
    "pipe",
    "/dev/zero",
    "/dev/null",
    "folder",
    "dangling link",
    "circle",
    "socket",
    "sparse",
    "file",
    "file",
    "file",
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("kinds")


@fuzzing(2)
@given(
    st.sampled_from(sorted(READERS)),
    st.sampled_from(KINDS),
    st.sampled_from(NAMES) | st.text(st.characters(blacklist_characters="/\0"), min_size=1, max_size=20),
    st.sampled_from(["", "", ".gz", ".yaml", ".csv", ".jsonl"]),
    st.lists(st.sampled_from([*BYTES, *(text.encode() for text in TEXTS)]), max_size=6),
)
def test_fuzz_kinds_and_names(
    folder: Path, reader: str, kind: str, name: str, ending: str, content: list[bytes]
) -> None:
    """Anything in the place of a file, by any name that a disk can hold."""
    home = folder / "home"
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir()
    try:
        path = home / f"{name}{ending or '.txt'}"
        os.fsencode(path)
        if path.parent != home:
            return
    except (UnicodeEncodeError, ValueError):
        return
    for each in {path, path.with_suffix(".csv"), path.with_suffix(".json")}:
        try:
            make_any(kind, each, b"".join(content))
        except OSError:
            return  # a name that no file can have
    try_input("kinds and names", lambda: READERS[reader](path))


def make_any(kind: str, path: Path, content: bytes) -> None:
    match kind:
        case "file":
            path.write_bytes(content)
        case "sparse":  # of any size on the disk, and a few kilobytes in an archive
            path.write_bytes(content)
            os.truncate(path, 300 << 20)
        case "socket":
            os.mknod(path, 0o140600)
        case "folder":
            path.mkdir()
            (path / "a.txt").write_bytes(content)
            (path / "config.json").write_bytes(content)
        case _:
            make(kind, path)


def test_a_table_of_100000_columns_takes_no_time(tmp_path: Path) -> None:
    """Columns that stand twice were looked for one by one in all of them."""
    header = ",".join(f"c{n}" for n in range(100_000))
    (tmp_path / "p.csv").write_text(f"{header},c7\n{',' * 100_000}\n", encoding="utf-8")
    for read, said in ((read_pair_file, "column 'c7' is there more than once"), (READERS["sheet"], "c7")):
        began = time.process_time()
        with pytest.raises(InputError, match=said):
            read(tmp_path / "p.csv")
        assert time.process_time() - began < 2
