"""A byte that has flipped on the disk: every reader of ours gives what was written, or refuses the file by name."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from prasanga.base.documents import read_document, write_document
from prasanga.base.errors import InputError
from prasanga.base.parquet import (
    made_from,
    read_batches,
    read_frame,
    read_table,
    read_where,
    write_row_groups,
    write_table,
)

SEED = 11
WORDS = ["গোলাপ", "চাঁদ", "নদী", "ফুল", "মা"]
RNG = random.Random(SEED)
TABLE = pa.table(
    {
        "stimulus": sorted(RNG.choices(WORDS, k=40)),
        "id": [f"{RNG.getrandbits(128):032x}" for _ in range(40)],
        "n": pa.array([None if i % 7 == 0 else i for i in range(40)], pa.int32()),
        "vector": pa.FixedSizeListArray.from_arrays(pa.array([RNG.random() for _ in range(80)], pa.float32()), 2),
    }
)
READERS: dict[str, Callable[[Path], object]] = {
    "read_table": lambda path: read_table(path).replace_schema_metadata().to_pylist(),
    "read_where": lambda path: read_where(path, ["id", "vector"], "stimulus", ["ফুল"]).to_pylist(),
    "read_batches": lambda path: [row for batch in read_batches(path, ["id", "n"]) for row in batch.to_pylist()],
    "read_frame": lambda path: read_frame(path, ["stimulus", "n"]).rows(),
    "made_from": made_from,
}


def write_plain(path: Path) -> None:
    write_table(path, TABLE, {"stage": "samples", "inputs": "{}"})


def write_grouped(path: Path) -> None:
    write_row_groups(path, TABLE.schema, [TABLE.slice(0, 20), TABLE.slice(20)], {"stage": "embeddings"})


@pytest.mark.parametrize("write", [write_plain, write_grouped])
def test_no_flipped_byte_becomes_another_value(tmp_path: Path, write: Callable[[Path], None]) -> None:
    path = tmp_path / "t.parquet"
    write(path)
    data = path.read_bytes()
    expected = {name: read(path) for name, read in READERS.items()}
    rng = random.Random(SEED)
    refused: list[str] = []
    for place in range(rng.randrange(5), len(data), 5):
        damaged = bytearray(data)
        damaged[place] ^= rng.randrange(1, 256)
        path.write_bytes(damaged)
        for name, read in READERS.items():
            try:
                assert read(path) == expected[name], f"byte {place} is {damaged[place]}: {name} gives another value"
            except InputError as error:
                refused.append(str(error))
    # half of the readers see half of the file, and of the pages' headers not all is used
    assert sum("t.parquet" in message for message in refused) > len(data) / 5
    # else what to do stands apart from the file's name
    assert [message for message in refused if len(message.splitlines()) != 1] == []


def test_a_file_without_a_digest_is_read_as_it_is(tmp_path: Path) -> None:
    pq.write_table(TABLE, tmp_path / "t.parquet")
    assert read_table(tmp_path / "t.parquet").equals(TABLE)


def test_the_digest_is_the_same_in_every_run(tmp_path: Path) -> None:
    write_plain(tmp_path / "a.parquet")
    write_plain(tmp_path / "b.parquet")
    assert (tmp_path / "a.parquet").read_bytes() == (tmp_path / "b.parquet").read_bytes()
    assert made_from(tmp_path / "a.parquet") == {"stage": "samples", "inputs": "{}"}


def test_a_folder_and_a_file_out_of_reach_are_told_apart(tmp_path: Path) -> None:
    (tmp_path / "folder.parquet").mkdir()
    with pytest.raises(InputError, match=r"folder\.parquet: a folder, where a Parquet file should be"):
        read_table(tmp_path / "folder.parquet")
    (tmp_path / "t.parquet").mkdir()
    with pytest.raises(InputError, match=r"t\.parquet: could not be written .* is in the way"):
        write_plain(tmp_path / "t.parquet")
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_a_document_says_what_was_written(tmp_path: Path) -> None:
    path = tmp_path / "categories.json"
    content = {"C1": {"words": ["ফুল", "মা"], 9: [1, 2.5]}, "n": 3}
    write_document(path, content)
    expected = {"C1": {"words": ["ফুল", "মা"], "9": [1, 2.5]}, "n": 3}
    assert read_document(path) == expected
    data = path.read_bytes()
    key = range(data.index(b'"digest"'), data.index(b'"digest"') + len(b'"digest"'))
    rng = random.Random(SEED)
    refused = 0
    for place in range(len(data)):
        damaged = bytearray(data)
        damaged[place] ^= rng.randrange(1, 256)
        path.write_bytes(damaged)
        try:
            found = read_document(path)
        except InputError:
            refused += 1
        else:  # white space, or the name of the digest: then nothing else is another
            assert {name: found[name] for name in expected} == expected
            assert found.keys() == expected.keys() or place in key
    assert refused > len(data) * 3 // 5


def test_a_document_of_an_older_version_is_read(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"files": {}}', encoding="utf-8")
    assert read_document(tmp_path / "a.json") == {"files": {}}
    for text in ("", "[1]", '{"files": '):
        (tmp_path / "a.json").write_text(text, encoding="utf-8")
        with pytest.raises(InputError, match=r"a\.json: damaged"):
            read_document(tmp_path / "a.json")
    with pytest.raises(InputError, match=r"b\.json: no such file"):
        read_document(tmp_path / "b.json")
    with pytest.raises(ValueError, match="no key 'digest' of its own"):
        write_document(tmp_path / "a.json", {"digest": "x"})
