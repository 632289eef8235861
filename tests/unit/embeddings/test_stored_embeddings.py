"""Vectors are read back by occurrence, word by word if they are many, and never a mixture of two runs."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from prasanga.base.errors import InputError
from prasanga.base.io import read_document, write_row_groups
from prasanga.embeddings import StoredEmbeddings, list_shards, read_embeddings
from prasanga.embeddings.shards import read_common_occurrences, vectors_to_arrow

WIDTH = 4
MADE = {
    "stage": "embeddings",
    "settings": '{"dtype": "float32", "layer": -1, "model": "tiny"}',
    "sampling": '{"seed": 4}',
    "key": "k1",
}
Rows = Sequence[tuple[str, str, float]]
"""Stimulus, occurrence id, and the first number of its vector; the others are the next ones by quarters."""

FIRST: Rows = [("ফুল", "a1", 0.5), ("ফুল", "a2", 1.5), ("মা", "b1", 2.5)]
SECOND: Rows = [("ফুল", "a3", 3.5), ("চাঁদ", "c1", 4.5)]


def vector(first: float) -> list[float]:
    return [first, first + 0.25, first + 0.5, first + 0.75]


def write_shard(path: Path, rows: Rows, made: Mapping[str, str] = MADE, **other: Any) -> Path:
    """A shard with a row group for each stimulus; all segments have the same text, and so the same segment id."""
    width, length = other.get("width", WIDTH), other.get("length", "9")
    n = len(rows)
    table = pa.table(
        {
            "segment_id": ["0" * 32] * n,
            "occurrence_id": pa.array([row[1] for row in rows], pa.string()),
            "stimulus": pa.array([row[0] for row in rows], pa.string()),
            "segment_length": pa.array([length] * n, pa.string()),
            "embedding": vectors_to_arrow(
                np.array([vector(row[2])[:width] for row in rows], other.get("dtype", "float32")).reshape(n, width)
            ),
        }
    )
    stimuli = list(dict.fromkeys(row[0] for row in rows))
    groups = [table.filter(pa.compute.equal(table.column("stimulus"), stimulus)) for stimulus in stimuli]
    write_row_groups(path, table.schema, groups, made)
    return path


def write_list(folder: Path, *shards: Rows, name: str = "9", **other: Any) -> Path:
    paths = [write_shard(folder / name / f"{i:02}.parquet", rows, **other) for i, rows in enumerate(shards)]
    list_shards(paths, folder / f"{name}.json")
    return folder / f"{name}.json"


@pytest.fixture
def listed(tmp_path: Path) -> Path:
    return write_list(tmp_path, FIRST, SECOND)


def test_rows_go_by_occurrence_in_the_order_of_the_shards(listed: Path) -> None:
    for found in (read_embeddings(listed), StoredEmbeddings(listed)):
        assert list(found) == ["চাঁদ", "ফুল", "মা"]
        assert len(found) == 3
        ids, vectors = found["ফুল"]
        assert ids == ["a1", "a2", "a3"]
        assert vectors.dtype == np.float32
        assert vectors.tolist() == [vector(0.5), vector(1.5), vector(3.5)]
        assert found["মা"][1].tolist() == [vector(2.5)]
        with pytest.raises(KeyError):
            found["ঘর"]


def test_some_stimuli_only(listed: Path) -> None:
    stored = StoredEmbeddings(listed, stimuli=["মা", "ঘর"])
    assert list(stored) == ["মা"]
    assert "মা" in stored
    assert "ফুল" not in stored
    assert stored.keys() & {"ফুল", "মা"} == {"মা"}
    with pytest.raises(KeyError):
        stored["ফুল"]


def test_half_precision_is_widened(tmp_path: Path) -> None:
    rows = [("ফুল", "a1", 0.1)]
    for found in (read_embeddings(write_list(tmp_path, rows, dtype="float16")), StoredEmbeddings(tmp_path / "9.json")):
        vectors = found["ফুল"][1]
        assert vectors.dtype == np.float32
        assert vectors.tolist() == np.array([vector(0.1)], np.float16).astype(np.float32).tolist()


def test_names_and_ids_cost_no_vectors(listed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stored = StoredEmbeddings(listed)
    monkeypatch.setattr("prasanga.embeddings.shards.read_where", None)
    assert (list(stored), len(stored), "মা" in stored) == (["চাঁদ", "ফুল", "মা"], 3, True)
    assert stored.ids("ফুল") == ["a1", "a2", "a3"]


def test_a_stimulus_is_read_alone_and_once(listed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import prasanga.embeddings.shards as module

    read: list[tuple[str, list[str]]] = []
    original = module.read_where

    def counting(path: Path, columns: Sequence[str], column: str, values: Sequence[str]) -> pa.Table:
        read.append((path.name, list(values)))
        return original(path, columns, column, values)

    monkeypatch.setattr(module, "read_where", counting)
    stored = StoredEmbeddings(listed, cache_bytes=64)
    assert stored["মা"][1] is stored["মা"][1]
    assert read == [("00.parquet", ["মা"])]
    assert len(stored["ফুল"][0]) == 3
    assert read[1:] == [("00.parquet", ["ফুল"]), ("01.parquet", ["ফুল"])]
    read.clear()
    small = StoredEmbeddings(listed, stimuli=["মা", "ফুল"])  # takes less than the bound, and is read at once
    assert [small[stimulus][1].tolist() for stimulus in small] == [stored[each][1].tolist() for each in ("ফুল", "মা")]
    assert read == [("00.parquet", ["ফুল", "মা"]), ("01.parquet", ["ফুল", "মা"])]


def test_no_more_is_kept_than_asked_for(listed: Path) -> None:
    """One vector takes 16 bytes; ফুল has three, চাঁদ and মা one each."""
    stored = StoredEmbeddings(listed, cache_bytes=64)
    flowers, mother = stored["ফুল"][1], stored["মা"][1]
    assert stored["ফুল"][1] is flowers  # used last, so that মা goes when চাঁদ comes
    moon = stored["চাঁদ"][1]
    assert stored["ফুল"][1] is flowers
    assert stored["চাঁদ"][1] is moon
    assert stored["মা"][1] is not mother
    nothing = StoredEmbeddings(listed, cache_bytes=0)
    assert nothing["মা"][1].tolist() == [vector(2.5)]


def test_what_is_kept_cannot_be_changed(listed: Path) -> None:
    stored = StoredEmbeddings(listed)
    ids, vectors = stored["ফুল"]
    ids.append("x")
    assert stored.ids("ফুল") == stored["ফুল"][0] == ["a1", "a2", "a3"]
    with pytest.raises(ValueError, match="read-only"):
        vectors[0] = 0


def test_occurrences_that_all_models_have(tmp_path: Path) -> None:
    one = write_list(tmp_path / "one", FIRST, SECOND)
    other = write_list(tmp_path / "other", [("ফুল", "a3", 9.0), ("ফুল", "a1", 9.0), ("মা", "b2", 9.0)])
    assert read_common_occurrences([one]) == {"ফুল": {"a1", "a2", "a3"}, "মা": {"b1"}, "চাঁদ": {"c1"}}
    assert read_common_occurrences([one, other]) == {"ফুল": {"a1", "a3"}, "মা": set(), "চাঁদ": set()}


def forge(listed: Path, rows: Rows, made: Mapping[str, str] = MADE, **other: Any) -> Path:
    """Put another shard in the place of the second one, and let the list name it as its own."""
    return write_shard(listed.parent / "9" / "01.parquet", rows, made, **other)


def settings(**changed: Any) -> dict[str, str]:
    return {**MADE, "settings": json.dumps({**json.loads(MADE["settings"]), **changed}), "key": "k2"}


@pytest.mark.parametrize(
    ("made", "other", "message"),
    [
        (settings(model="large"), {}, r"was made with model 'large', not 'tiny', but .*9\.json lists it"),
        (settings(options={"random_weights": 5}), {}, r"was made with options \{'random_weights': 5\}, not None"),
        ({**MADE, "sampling": '{"seed": 5}'}, {}, r"was made with seed 5, not 4"),
        ({**MADE, "key": "k2"}, {}, r"was made with key 'k2', not 'k1'"),
    ],
)
def test_a_shard_of_another_run_is_refused_by_every_reader(
    listed: Path, made: dict[str, str], other: dict[str, Any], message: str
) -> None:
    forge(listed, SECOND, made, **other)
    for read in (
        lambda: read_embeddings(listed),
        lambda: StoredEmbeddings(listed),
        lambda: read_common_occurrences([listed]),
    ):
        with pytest.raises(InputError, match=rf"01\.parquet: {message}"):
            read()


def test_a_list_says_the_length_of_its_segments(tmp_path: Path) -> None:
    listed = write_list(tmp_path, FIRST, [], length=">75", name="over75")
    assert json.loads(listed.read_text())["segment_length"] == ">75"
    assert list(StoredEmbeddings(listed)) == ["ফুল", "মা"]
    assert json.loads(write_list(tmp_path, []).read_text())["segment_length"] is None
    assert dict(StoredEmbeddings(tmp_path / "9.json")) == {}
    paths = [
        write_shard(tmp_path / "a.parquet", FIRST, length="9"),
        write_shard(tmp_path / "b.parquet", SECOND, length="25"),
    ]
    with pytest.raises(InputError, match=r"a\.parquet: its vectors are .* of segments of length 25 and 9"):
        list_shards(paths, tmp_path / "list.json")
    narrow = write_shard(tmp_path / "c.parquet", FIRST, width=3)
    with pytest.raises(InputError, match=r"c\.parquet: its vectors are fixed_size_list.*\[3\]"):
        list_shards([paths[0], narrow], tmp_path / "list.json")
    other = write_shard(tmp_path / "d.parquet", FIRST, settings(model="large"))
    with pytest.raises(InputError, match=r"d\.parquet: settings is .*large.*, but .*a\.parquet has .*tiny"):
        list_shards([paths[0], other], tmp_path / "list.json")


def test_a_list_says_what_its_shards_say_together(tmp_path: Path) -> None:
    losses = [{"left_out": '{"ফুল": {"unknown": 2}}', "cut": '{"মা": 1}'}, {"left_out": '{"ফুল": {"unknown": 1}}'}]
    paths = [
        write_shard(tmp_path / f"9/{n}.parquet", rows, {**MADE, **lost, "inputs": str(n)})
        for n, (rows, lost) in enumerate(zip((FIRST, SECOND), losses, strict=True))
    ]
    list_shards(paths, tmp_path / "9.json")
    assert read_document(tmp_path / "9.json") == {
        "shards": {f"9/{path.name}": hashlib.sha256(path.read_bytes()).hexdigest() for path in paths},
        "n_segments": 5,
        "segment_length": "9",
        "dimension": WIDTH,
        "stored_dtype": "float32",
        "left_out": {"ফুল": {"unknown": 3}},
        "cut": {"মা": 1},
        "unknown": {},
        "made_from": MADE,
    }


def test_what_is_missing_is_named(listed: Path) -> None:
    (listed.parent / "9/01.parquet").unlink()
    with pytest.raises(InputError, match=r"01\.parquet: .*9\.json lists this shard, and it is missing"):
        read_embeddings(listed)
    listed.write_text("[]")
    with pytest.raises(InputError, match=r"9\.json: damaged .*Delete it and run"):
        read_embeddings(listed)
    for other in ("{}", '{"shards": []}'):
        listed.write_text(other)
        with pytest.raises(InputError, match=r"9\.json: not a list of shards"):
            read_embeddings(listed)
    listed.unlink()
    with pytest.raises(InputError, match=r"9\.json: no such list of shards"):
        read_embeddings(listed)
