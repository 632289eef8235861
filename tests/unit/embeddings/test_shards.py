"""A shard holds the rows of its input in their order, and nothing is embedded twice."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from prasanga.embeddings import embed_shard, list_shards, load_encoder, read_embeddings, shard_paths
from prasanga.embeddings.encoder import TargetVectors
from prasanga.embeddings.vectors import require_shards
from prasanga.errors import InputError
from prasanga.parquet import made_from, write_table

WIDTH = 4
MADE = {"stage": "embeddings", "settings": '{"model": "tiny"}', "sampling": '{"seed": 4}'}


class Killed(BaseException):
    """Stands for SIGKILL."""


@dataclass
class FakeEncoder:
    """Vectors from a digest of text and span; counts what it is asked for, and can die on the way."""

    dimension: int = WIDTH
    asked: list[tuple[str, tuple[int, int]]] = field(default_factory=list)
    loads: int = 0
    dies_after: int = 10**9

    def embed_targets(self, texts: Sequence[str], spans: Sequence[tuple[int, int]]) -> TargetVectors:
        if len(self.asked) + len(texts) > self.dies_after:
            raise Killed
        self.asked += zip(texts, spans, strict=True)
        n = len(texts)
        unknown = np.array(["?" in text[slice(*span)] for text, span in zip(texts, spans, strict=True)])
        return TargetVectors(
            vectors=np.stack([vector_of(text, span) for text, span in zip(texts, spans, strict=True)]),
            n_pieces=np.array([end - start for start, end in spans], dtype=np.int32),
            n_unknown=unknown.astype(np.int32),
            cut=np.array([len(text) > 30 for text in texts], dtype=np.bool_).reshape(n),
        )

    def load(self) -> Any:
        self.loads += 1
        return self


def vector_of(text: str, span: tuple[int, int]) -> np.ndarray:
    digest = hashlib.sha256(f"{text}{span}".encode()).digest()
    return np.frombuffer(digest[:WIDTH], dtype=np.uint8).astype(np.float32) / 7


def write_segments(path: Path, items: Sequence[tuple[str, str, tuple[int, int]]]) -> Path:
    """Items are (stimulus, text, span)."""
    n = len(items)
    columns = {
        "segment_id": pa.array([hashlib.md5(repr(item[1:]).encode()).hexdigest() for item in items], pa.string()),
        "occurrence_id": pa.array([f"o{i}" for i in range(n)], pa.string()),
        "stimulus": pa.array([item[0] for item in items], pa.string()),
        "segment_length": pa.array(["9"] * n, pa.string()),
        "text": pa.array([item[1] for item in items], pa.string()),
        "start": pa.array([item[2][0] for item in items], pa.int32()),
        "end": pa.array([item[2][1] for item in items], pa.int32()),
        "n_words": pa.array([9] * n, pa.int32()),
        "context_id": pa.array([f"c{i}" for i in range(n)], pa.string()),
    }
    write_table(path, pa.table(columns), {"stage": "samples"})
    return path


def many(n: int) -> list[tuple[str, str, tuple[int, int]]]:
    return [(f"word{i % 3}", f"word{i % 3} in context {i} {'x' * (i % 5)}", (0, 5)) for i in range(n)]


def embed(tmp_path: Path, items: Sequence[tuple[str, str, tuple[int, int]]], fake: FakeEncoder, **more: Any) -> Any:
    segments = write_segments(tmp_path / "segments.parquet", items)
    return embed_shard(
        segments, tmp_path / "out.parquet", store=tmp_path / "store", load=fake.load, made_from=MADE, **more
    )


def test_rows_of_the_input_in_its_order(tmp_path: Path) -> None:
    items = [
        ("ফুল", "লাল ফুল ফোটে", (4, 7)),
        ("লাল", "লাল ফুল ফোটে", (0, 3)),
        ("ফুল", "ফুল ভালো", (0, 3)),
        ("কলি", "লাল ফুল ফোটে", (4, 7)),  # the same text and span for another stimulus
        ("?", "a ? b", (2, 3)),
        ("ফল", "ফল " + "খুব " * 10, (0, 2)),
    ]
    fake = FakeEncoder()
    report = embed(tmp_path, items, fake)
    assert (report.reused, report.embedded, report.cut, report.unknown, report.dropped) == (0, 5, 1, 1, 0)
    assert sorted(fake.asked) == sorted({(text, span) for _, text, span in items})
    table = pq.read_table(tmp_path / "out.parquet")
    assert table.schema.names == ["segment_id", "occurrence_id", "stimulus", "segment_length", "n_pieces", "embedding"]
    assert table.schema.field("n_pieces").type == pa.int32()
    assert table.schema.field("embedding").type == pa.list_(pa.float32(), WIDTH)
    assert table.column("stimulus").to_pylist() == [item[0] for item in items]
    assert table.column("occurrence_id").to_pylist() == [f"o{i}" for i in range(6)]
    assert table.column("n_pieces").to_pylist() == [3, 3, 3, 3, 1, 2]
    for row, (_, text, span) in zip(table.column("embedding").to_pylist(), items, strict=True):
        np.testing.assert_array_equal(np.array(row, dtype=np.float32), vector_of(text, span))
    assert made_from(tmp_path / "out.parquet") == MADE


def test_a_second_run_loads_no_model_and_writes_the_same_bytes(tmp_path: Path) -> None:
    first = embed(tmp_path, many(40), FakeEncoder(), part_size=7)
    before = (tmp_path / "out.parquet").read_bytes()
    (tmp_path / "out.parquet").unlink()  # as Snakemake does before a rerun
    fake = FakeEncoder()
    second = embed(tmp_path, many(40), fake, part_size=7)
    assert fake.loads == 0
    assert (first.reused, first.embedded) == (0, 40)
    assert (second.reused, second.embedded) == (40, 0)
    assert (second.cut, second.unknown) == (first.cut, first.unknown)
    assert (tmp_path / "out.parquet").read_bytes() == before


def test_a_larger_sample_embeds_the_new_rows_only_and_a_smaller_one_none(tmp_path: Path) -> None:
    embed(tmp_path, many(30), FakeEncoder())
    grown = FakeEncoder()
    assert embed(tmp_path, many(50), grown).embedded == len(grown.asked) == 20
    small = FakeEncoder()
    assert embed(tmp_path, many(10), small).embedded == small.loads == 0
    assert pq.read_table(tmp_path / "out.parquet").num_rows == 10
    again = FakeEncoder()
    assert embed(tmp_path, many(50), again).embedded == again.loads == 0
    assert len(list((tmp_path / "store").glob("*.parquet"))) == 1


def test_a_kill_loses_at_most_one_part(tmp_path: Path) -> None:
    items = many(100)
    undisturbed = tmp_path / "undisturbed"
    embed(undisturbed, items, FakeEncoder(), part_size=10)
    done = 0
    for budget in (35, 25):
        fake = FakeEncoder(dies_after=budget)
        with pytest.raises(Killed):
            embed(tmp_path, items, fake, part_size=10)
        assert not (tmp_path / "out.parquet").exists()
        done += len(fake.asked)
        assert len(fake.asked) >= budget - 10
    last = FakeEncoder()
    report = embed(tmp_path, items, last, part_size=10)
    assert report.reused == done
    assert len(last.asked) == 100 - done
    assert (tmp_path / "out.parquet").read_bytes() == (undisturbed / "out.parquet").read_bytes()


def test_several_runs_of_one_job_at_once(tmp_path: Path) -> None:
    items = many(120)
    segments = write_segments(tmp_path / "segments.parquet", items)

    def run(number: int) -> bytes:
        output = tmp_path / f"out{number}.parquet"
        load = FakeEncoder().load
        embed_shard(segments, output, store=tmp_path / "store", load=load, made_from=MADE, part_size=3)
        return output.read_bytes()

    with ThreadPoolExecutor(6) as pool:
        assert len(set(pool.map(run, range(12)))) == 1
    last = FakeEncoder()
    assert embed(tmp_path, items, last).embedded == last.loads == 0


def test_all_targets_of_a_text_are_embedded_together(tmp_path: Path) -> None:
    text = "ক খ গ ঘ ঙ চ"
    items = [("x", text, (i, i + 1)) for i in range(0, 11, 2)] + many(3)
    calls: list[list[str]] = []

    class Recording(FakeEncoder):
        def embed_targets(self, texts: Sequence[str], spans: Sequence[tuple[int, int]]) -> TargetVectors:
            calls.append(list(texts))
            return super().embed_targets(texts, spans)

    embed(tmp_path, items, Recording(), part_size=2)
    assert sum(text in call for call in calls) == 1


def test_no_segments_make_an_empty_shard_of_the_right_width(tmp_path: Path) -> None:
    fake = FakeEncoder()
    report = embed(tmp_path, [], fake, dimension=lambda: 24)
    assert (report.reused, report.embedded) == (0, 0)
    assert fake.loads == 0
    table = pq.read_table(tmp_path / "out.parquet")
    assert table.num_rows == 0
    assert table.schema.field("embedding").type == pa.list_(pa.float32(), 24)
    assert made_from(tmp_path / "out.parquet") == MADE


def test_half_precision_on_disk(tmp_path: Path) -> None:
    embed(tmp_path, many(5), FakeEncoder(), stored_dtype="float16")
    assert pq.read_schema(tmp_path / "out.parquet").field("embedding").type == pa.list_(pa.float16(), WIDTH)
    list_shards([tmp_path / "out.parquet"], tmp_path / "9.json")
    _, vectors = read_embeddings(tmp_path / "9.json")["word0"]
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(vectors[0], vector_of(many(1)[0][1], (0, 5)), rtol=1e-3)


def test_a_file_without_the_columns_is_refused(tmp_path: Path) -> None:
    write_table(tmp_path / "s.parquet", pa.table({"segment_id": ["a"]}), {})
    with pytest.raises(InputError, match=r"s\.parquet: no column 'occurrence_id' \(found: segment_id\)"):
        embed_shard(
            tmp_path / "s.parquet",
            tmp_path / "out.parquet",
            store=tmp_path / "store",
            load=FakeEncoder().load,
            made_from=MADE,
        )


def test_with_a_real_encoder(tmp_path: Path, tiny_model: Callable[..., Path]) -> None:
    items = [("গোলাপ", "একটি লাল গোলাপ ছিল", (9, 14)), ("চাঁদ", "চাঁদের আলোয়", (0, 6)), ("লাল", "একটি লাল গোলাপ ছিল", (5, 8))]
    segments = write_segments(tmp_path / "segments.parquet", items)
    folder = tiny_model("bert")
    embed_shard(
        segments,
        tmp_path / "00.parquet",
        store=tmp_path / "store",
        load=lambda: load_encoder(folder, device="cpu"),
        made_from=MADE,
    )
    table = pq.read_table(tmp_path / "00.parquet")
    expected, n_pieces = load_encoder(folder, device="cpu").embed_with_pieces(
        [item[1] for item in items], [item[2] for item in items]
    )
    np.testing.assert_allclose(np.array(table.column("embedding").to_pylist()), expected, atol=1e-5)
    assert table.column("n_pieces").to_pylist() == n_pieces.tolist()


@pytest.fixture
def listed(tmp_path: Path) -> Path:
    """A list over two shards in a folder beside it."""
    for bucket, items in (("00", many(4)), ("01", [("চাঁদ", "চাঁদ ওঠে", (0, 4))])):
        fake = FakeEncoder()
        embed_shard(
            write_segments(tmp_path / f"s{bucket}.parquet", items),
            tmp_path / "9" / f"{bucket}.parquet",
            store=tmp_path / "store" / bucket,
            load=fake.load,
            made_from={**MADE, "inputs": bucket},
        )
    list_shards([tmp_path / "9" / "00.parquet", tmp_path / "9" / "01.parquet"], tmp_path / "9.json")
    return tmp_path / "9.json"


def test_the_list_names_each_shard_with_size_and_digest(listed: Path) -> None:
    content = json.loads(listed.read_text())
    shards = {
        f"9/{bucket}.parquet": (listed.parent / "9" / f"{bucket}.parquet").read_bytes() for bucket in ("00", "01")
    }
    assert content == {
        "shards": {name: hashlib.sha256(data).hexdigest() for name, data in shards.items()},
        "sizes": {name: len(data) for name, data in shards.items()},
        "n_segments": 5,
        "dimension": WIDTH,
        "made_from": MADE,
    }


def test_vectors_by_stimulus(listed: Path) -> None:
    vectors = read_embeddings(listed)
    assert list(vectors) == ["word0", "word1", "word2", "চাঁদ"]
    ids, rows = vectors["word0"]
    assert len(ids) == 2
    np.testing.assert_array_equal(rows, np.stack([vector_of(many(4)[i][1], (0, 5)) for i in (0, 3)]))
    assert read_embeddings(listed, stimuli=["চাঁদ", "absent"]).keys() == {"চাঁদ"}


@pytest.mark.usefixtures("listed")
def test_lists_and_shards_may_move_together(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    for name in ("9", "9.json"):
        (tmp_path / name).rename(tmp_path / "elsewhere" / name)
    assert len(read_embeddings(tmp_path / "elsewhere" / "9.json", verify=True)) == 4


def test_a_shard_that_is_gone_or_changed_is_noticed(listed: Path) -> None:
    shard = listed.parent / "9" / "01.parquet"
    data = shard.read_bytes()
    shard.write_bytes(data[:50] + bytes([data[50] ^ 1]) + data[51:])
    assert len(shard_paths(listed)) == 2
    with pytest.raises(InputError, match=r"01\.parquet: its content is not what .*9\.json lists"):
        shard_paths(listed, verify=True)
    shard.write_bytes(data[:-1])
    with pytest.raises(InputError, match=rf"01\.parquet: has {len(data) - 1} bytes, but .*9\.json lists it with"):
        read_embeddings(listed)
    shard.unlink()
    with pytest.raises(InputError, match=r"01\.parquet: no such file, but .*9\.json lists it\. Restore the shard"):
        read_embeddings(listed)
    listed.write_text("[]")
    with pytest.raises(InputError, match=r"9\.json: not a list of shards"):
        read_embeddings(listed)
    listed.unlink()
    with pytest.raises(InputError, match=r"9\.json: no such list of shards"):
        read_embeddings(listed)


@pytest.mark.usefixtures("listed")
def test_a_mixture_is_refused(tmp_path: Path) -> None:
    first = tmp_path / "9" / "00.parquet"
    table = pq.read_table(first).replace_schema_metadata()
    write_table(tmp_path / "9" / "02.parquet", table, {**MADE, "settings": '{"model": "other"}'})
    with pytest.raises(InputError, match=r"02\.parquet: settings is .*other.*, but .*00\.parquet has .*tiny"):
        list_shards([first, tmp_path / "9" / "02.parquet"], tmp_path / "9.json")
    narrow = pa.FixedSizeListArray.from_arrays(pa.array(np.zeros(8, dtype=np.float32)), 2)
    write_table(tmp_path / "9" / "03.parquet", table.set_column(5, "embedding", narrow), MADE)
    with pytest.raises(InputError, match=r"03\.parquet: its vectors are fixed_size_list.*\[2\]"):
        list_shards([first, tmp_path / "9" / "03.parquet"], tmp_path / "9.json")
    with pytest.raises(InputError, match="no shard to list"):
        list_shards([], tmp_path / "9.json")


def test_vectors_that_the_config_does_not_ask_for_are_refused(tmp_path: Path) -> None:
    embed(tmp_path, many(3), FakeEncoder())
    listed = tmp_path / "list.json"
    list_shards([tmp_path / "out.parquet"], listed)
    require_shards({str(listed): {"model": "tiny", "seed": 4, "dtype": "auto", "layer": -1}})
    with pytest.raises(InputError, match=r"list\.json: its vectors were made with seed 4, but the config says 5"):
        require_shards({str(listed): {"model": "tiny", "seed": 5}})
    with pytest.raises(InputError, match=r"missing or do not fit \(and 1 more like this\): .*no such list of shards"):
        require_shards({"nowhere.json": {}, "elsewhere.json": {}})
