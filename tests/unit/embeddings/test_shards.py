"""A shard holds the rows of its input in their order, and nothing is embedded twice."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from prasanga.base.documents import read_document
from prasanga.base.errors import InputError
from prasanga.base.parquet import made_from, write_table
from prasanga.embeddings import (
    EncoderReport,
    Pooling,
    ShardReport,
    Source,
    VectorStore,
    embed_shard,
    list_shards,
    load_encoder,
    read_embeddings,
    shard_paths,
)
from prasanga.embeddings.pooling import Inputs
from prasanga.embeddings.shards import require_shards
from prasanga.samples.segments import segment_id

WIDTH = 4
KEY = "0123456789abcdef0123456789abcdef"
MADE = {"stage": "embeddings", "settings": '{"model": "tiny"}', "sampling": '{"seed": 4}'}
COLUMNS = [
    "segment_id",
    "occurrence_id",
    "stimulus",
    "segment_length",
    "n_pieces",
    "n_unknown",
    "cut",
    "embedding",
]

Item = tuple[str, str, tuple[int, int]]


class Killed(BaseException):
    """Stands for SIGKILL."""


@dataclass
class FakeEncoder:
    """Vectors from a digest of text, span and layer; counts what it runs, and can die on the way."""

    layers: tuple[int, ...] = (-1,)
    asked: list[tuple[str, tuple[int, int]]] = field(default_factory=list)
    loads: int = 0
    dies_after: int = 10**9
    scale: float = 1 / 7
    dimension: int = WIDTH
    on_a_gpu: bool = False
    device_name: str = "cpu"
    loaded: Any = field(default_factory=lambda: SimpleNamespace(name="tiny", dtype="float32"))
    report: EncoderReport = field(default_factory=EncoderReport)

    def read(
        self, texts: Sequence[str], spans: Sequence[tuple[int, int]], pooling: Pooling, roots: Sequence[int] | None
    ) -> Any:
        assert pooling.unit == "target"
        unknown = ["?" in text[slice(*span)] for text, span in zip(texts, spans, strict=True)]
        inputs = Inputs(
            ids=[(1,)] * len(set(texts)),
            row=[0] * len(texts),
            positions=[[0]] * len(texts),
            n_pieces=np.array([end - start for start, end in spans], dtype=np.int32),
            n_unknown=np.array(unknown, dtype=np.int32),
            cut=np.array([len(text) > 40 for text in texts], dtype=np.bool_),
        )
        ends = roots or [None] * len(texts)
        return SimpleNamespace(**vars(inputs), items=list(zip(texts, spans, ends, strict=True)))

    def run(self, inputs: Any, done: Any = None) -> list[np.ndarray]:
        if len(self.asked) + len(inputs.items) > self.dies_after:
            raise Killed
        self.asked += [(text, span) for text, span, _ in inputs.items]
        self.report = replace(self.report, passes=self.report.passes + len(inputs.ids), pieces=len(self.asked))
        if done is not None:
            done(len(inputs.items))
        return [np.stack([vector_of(*item, layer) for item in inputs.items]) * self.scale for layer in self.layers]

    def load(self) -> Any:
        self.loads += 1
        return self


def vector_of(text: str, span: tuple[int, int], root: int | None = None, layer: int = -1) -> np.ndarray:
    digest = hashlib.sha256(f"{text}{span}{root}{layer}".encode()).digest()
    return np.frombuffer(digest[:WIDTH], dtype=np.uint8).astype(np.float32)


def expected(items: Sequence[Item], dtype: str = "float32") -> np.ndarray:
    vectors = np.stack([vector_of(text, span) for _, text, span in items]) * np.float32(1 / 7)
    return vectors.astype(dtype).astype(np.float32)


def write_segments(path: Path, items: Sequence[Item]) -> Path:
    """Items are (stimulus, text, span)."""
    n = len(items)
    columns = {
        "segment_id": pa.array([segment_id(text, *span) for _, text, span in items], pa.string()),
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


def many(n: int) -> list[Item]:
    return [(f"word{i % 3}", f"word{i % 3} in context {i} {'x' * (i % 5)}", (0, 5)) for i in range(n)]


def embed(tmp_path: Path, items: Sequence[Item], fake: FakeEncoder, **more: Any) -> ShardReport:
    segments = write_segments(tmp_path / "segments.parquet", items)
    stores = more.pop("stores", None) or [VectorStore(tmp_path / "store", more.pop("stored_dtype", "float32"), KEY)]
    return embed_shard(
        segments,
        more.pop("output", tmp_path / "out.parquet"),
        left_out=tmp_path / "left_out.tsv",
        sources=[Source(stores, fake.load)],
        dimension=lambda: WIDTH,
        made_from=MADE,
        **more,
    )


def read_vectors(path: Path) -> np.ndarray:
    return np.array(pq.read_table(path).column("embedding").to_pylist(), dtype=np.float32)


ITEMS: list[Item] = [
    ("ফুল", "লাল ফুল ফোটে", (4, 7)),
    ("লাল", "লাল ফুল ফোটে", (0, 3)),
    ("ফুল", "ফুল ভালো", (0, 3)),
    ("কলি", "লাল ফুল ফোটে", (4, 7)),  # the same text and span for another stimulus
    ("?", "a ? b", (2, 3)),
    ("ফল", "ফল " + "খুব " * 10, (0, 2)),
]


def test_rows_of_the_input_in_its_order(tmp_path: Path) -> None:
    fake = FakeEncoder()
    report = embed(tmp_path, ITEMS, fake, unknown="keep")
    assert (report.reused, report.embedded, report.cut, report.unknown, report.dropped) == (0, 5, 1, 1, 0)
    assert sorted(fake.asked) == sorted({(text, span) for _, text, span in ITEMS})
    table = pq.read_table(tmp_path / "out.parquet")
    assert table.schema.names == COLUMNS
    assert table.schema.field("n_pieces").type == pa.int32()
    kind = table.schema.field("embedding").type
    assert (kind.value_type, kind.list_size) == (pa.float32(), WIDTH)
    assert table.column("stimulus").to_pylist() == [item[0] for item in ITEMS]
    assert table.column("occurrence_id").to_pylist() == [f"o{i}" for i in range(6)]
    assert table.column("n_pieces").to_pylist() == [3, 3, 3, 3, 1, 2]
    np.testing.assert_array_equal(read_vectors(tmp_path / "out.parquet"), expected(ITEMS))
    assert made_from(tmp_path / "out.parquet") == {
        **MADE,
        "key": KEY,
        "left_out": "{}",
        "cut": '{"ফল": 1}',
        "unknown": '{"?": 1}',
    }


def test_targets_with_unknown_pieces_are_left_out_listed_and_counted(tmp_path: Path) -> None:
    report = embed(tmp_path, ITEMS, FakeEncoder())
    assert (report.unknown, report.dropped) == (1, 1)
    table = pq.read_table(tmp_path / "out.parquet")
    assert table.column("stimulus").to_pylist() == [item[0] for item in ITEMS if item[0] != "?"]
    np.testing.assert_array_equal(
        read_vectors(tmp_path / "out.parquet"), expected([item for item in ITEMS if item[0] != "?"])
    )
    assert made_from(tmp_path / "out.parquet")["left_out"] == '{"?": {"unknown": 1}}'
    assert (tmp_path / "left_out.tsv").read_text(encoding="utf-8").splitlines() == [
        "segment_id\toccurrence_id\tstimulus\tform\treason",
        f"{segment_id('a ? b', 2, 3)}\to4\t?\t?\t1 of 1 pieces unknown to the tokenizer",
    ]
    # they are remembered: neither a second run nor the wish to keep them runs the model again
    for unknown in ("leave-out", "keep"):
        again = FakeEncoder()
        assert embed(tmp_path, ITEMS, again, unknown=unknown).embedded == again.loads == 0
    assert pq.read_table(tmp_path / "out.parquet").num_rows == len(ITEMS)


def test_each_stimulus_has_a_row_group_of_its_own(tmp_path: Path) -> None:
    items = sorted(many(30))
    embed(tmp_path, items, FakeEncoder())
    file = pq.ParquetFile(tmp_path / "out.parquet")
    groups = [file.read_row_group(i, columns=["stimulus"]).column(0).to_pylist() for i in range(file.num_row_groups)]
    assert [sorted(set(group)) for group in groups] == [["word0"], ["word1"], ["word2"]]


def test_a_second_run_loads_no_model_and_writes_the_same_bytes(tmp_path: Path) -> None:
    first = embed(tmp_path, many(40), FakeEncoder(), part=150)
    before = (tmp_path / "out.parquet").read_bytes()
    (tmp_path / "out.parquet").unlink()  # as Snakemake does before a rerun
    fake = FakeEncoder()
    second = embed(tmp_path, many(40), fake, part=150)
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
    np.testing.assert_array_equal(read_vectors(tmp_path / "out.parquet"), expected(many(50)))


def test_other_buckets_embed_nothing_again(tmp_path: Path) -> None:
    items = many(60)
    for bucket in range(2):
        embed(tmp_path, items[bucket::2], FakeEncoder(), output=tmp_path / f"of-two-{bucket}.parquet")
    for bucket in range(3):
        fake, output = FakeEncoder(), tmp_path / f"of-three-{bucket}.parquet"
        assert embed(tmp_path, items[bucket::3], fake, output=output).embedded == fake.loads == 0
        np.testing.assert_array_equal(read_vectors(output), expected(items[bucket::3]))


def test_vectors_lie_on_the_disk_once(tmp_path: Path) -> None:
    embed(tmp_path, many(200), FakeEncoder(), part=500)
    output = (tmp_path / "out.parquet").stat()
    (kept,) = (tmp_path / "store").glob("*.parquet")
    assert kept.stat().st_ino == output.st_ino
    (tmp_path / "out.parquet").unlink()
    fake = FakeEncoder()
    embed(tmp_path, many(200), fake)
    assert fake.loads == 0


def test_a_kill_loses_at_most_one_part(tmp_path: Path) -> None:
    items = many(100)
    undisturbed = tmp_path / "undisturbed"
    undisturbed.mkdir()
    embed(undisturbed, items, FakeEncoder(), part=220)
    done = 0
    for budget in (35, 25):
        fake = FakeEncoder(dies_after=budget)
        with pytest.raises(Killed):
            embed(tmp_path, items, fake, part=220)
        assert not (tmp_path / "out.parquet").exists()
        done += len(fake.asked)
        assert len(fake.asked) >= budget - 15
    last = FakeEncoder()
    report = embed(tmp_path, items, last, part=220)
    assert report.reused == done
    assert len(last.asked) == 100 - done
    assert (tmp_path / "out.parquet").read_bytes() == (undisturbed / "out.parquet").read_bytes()


def test_damage_in_the_store_is_mended(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """The output shares its bytes with the store, so that damage to the one is damage to the other."""
    embed(tmp_path, many(50), FakeEncoder())
    before = (tmp_path / "out.parquet").read_bytes()
    (kept,) = (tmp_path / "store").glob("*.parquet")
    (tmp_path / "out.parquet").unlink()
    place = len(before) // 3
    kept.write_bytes(before[:place] + bytes([before[place] ^ 255]) + before[place + 1 :])
    fake = FakeEncoder()
    report = embed(tmp_path, many(50), fake)
    assert kept.name in caplog.text
    assert report.embedded == len(fake.asked) == 50
    assert report.reused == 0
    assert (tmp_path / "out.parquet").read_bytes() == before


def test_several_runs_of_one_job_at_once(tmp_path: Path) -> None:
    items = many(120)
    segments = write_segments(tmp_path / "segments.parquet", items)

    def run(number: int) -> bytes:
        output = tmp_path / f"out{number}.parquet"
        embed_shard(
            segments,
            output,
            left_out=tmp_path / f"left{number}.tsv",
            sources=[Source([VectorStore(tmp_path / "store", "float32", KEY)], FakeEncoder().load)],
            dimension=lambda: WIDTH,
            made_from=MADE,
            part=70,
        )
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
        def run(self, inputs: Any, done: Any = None) -> list[np.ndarray]:
            calls.append([text for text, _, _ in inputs.items])
            return super().run(inputs, done)

    embed(tmp_path, items, Recording(), part=2)
    assert sum(text in call for call in calls) == 1


def test_layers_of_one_pass_go_to_their_stores(tmp_path: Path) -> None:
    stores = [VectorStore(tmp_path / name, "float32", name * 16) for name in ("aa", "bb")]
    embed(tmp_path, many(20), FakeEncoder(layers=(3, 1)), stores=stores)
    other = FakeEncoder(layers=(1, 3))
    report = embed(tmp_path, many(20), other, stores=stores[::-1], output=tmp_path / "other.parquet")
    assert report.embedded == other.loads == 0
    want = np.stack([vector_of(text, span, layer=1) for _, text, span in many(20)]) * np.float32(1 / 7)
    np.testing.assert_array_equal(read_vectors(tmp_path / "other.parquet"), want)


def test_the_root_has_as_many_characters_as_the_stimulus(tmp_path: Path) -> None:
    """The same form of two stimuli has two vectors then, though text and span are the same."""
    items = [("ab", "x abcd y", (2, 6)), ("abc", "x abcd y", (2, 6))]
    report = embed(tmp_path, items, FakeEncoder(), pooling=Pooling("target", "root"))
    assert report.embedded == 2
    want = np.stack([vector_of("x abcd y", (2, 6), root) for root in (4, 5)]) * np.float32(1 / 7)
    np.testing.assert_array_equal(read_vectors(tmp_path / "out.parquet"), want)
    again = FakeEncoder()
    assert embed(tmp_path, items, again, pooling=Pooling("target", "root")).embedded == again.loads == 0


def test_no_segments_make_an_empty_shard_of_the_right_width(tmp_path: Path) -> None:
    fake = FakeEncoder()
    report = embed(tmp_path, [], fake)
    assert (report.reused, report.embedded) == (0, 0)
    assert fake.loads == 0
    table = pq.read_table(tmp_path / "out.parquet")
    assert table.num_rows == 0
    assert table.schema.field("embedding").type.list_size == WIDTH


def test_half_precision_on_disk(tmp_path: Path) -> None:
    embed(tmp_path, many(5), FakeEncoder(), stored_dtype="float16")
    assert pq.read_schema(tmp_path / "out.parquet").field("embedding").type.value_type == pa.float16()
    list_shards([tmp_path / "out.parquet"], tmp_path / "9.json")
    assert json.loads((tmp_path / "9.json").read_text())["stored_dtype"] == "float16"
    _, vectors = read_embeddings(tmp_path / "9.json")["word0"]
    assert vectors.dtype == np.float32
    np.testing.assert_array_equal(vectors, expected(many(5), "float16")[[0, 3]])


def test_a_number_too_large_for_half_precision_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"too large for float16 \(at most 65504\)\. Write embeddings: \{stored_dtype"):
        embed(tmp_path, many(5), FakeEncoder(scale=1e6), stored_dtype="float16")
    embed(tmp_path, many(5), FakeEncoder(scale=1e6), stores=[VectorStore(tmp_path / "other", "float32", KEY)])


def test_a_file_without_the_columns_is_refused(tmp_path: Path) -> None:
    write_table(tmp_path / "s.parquet", pa.table({"segment_id": ["a"]}), {})
    with pytest.raises(InputError, match=r"s\.parquet: no column 'occurrence_id' \(found: segment_id\)"):
        embed_shard(
            tmp_path / "s.parquet",
            tmp_path / "out.parquet",
            left_out=tmp_path / "left_out.tsv",
            sources=[Source([VectorStore(tmp_path / "store", "float32", KEY)], FakeEncoder().load)],
            dimension=lambda: WIDTH,
            made_from=MADE,
        )


def test_with_a_real_encoder(tmp_path: Path, tiny_model: Callable[..., Path]) -> None:
    items = [("গোলাপ", "একটি লাল গোলাপ ছিল", (9, 14)), ("চাঁদ", "চাঁদের আলোয়", (0, 6)), ("লাল", "একটি লাল গোলাপ ছিল", (5, 8))]
    folder = tiny_model("bert")
    fake = FakeEncoder()
    fake.load = lambda: load_encoder(folder, device="cpu", layer=[-1, 1])  # type: ignore[method-assign]
    stores = [VectorStore(tmp_path / name, "float32", name * 16) for name in ("aa", "bb")]
    report = embed(tmp_path, items, fake, stores=stores)
    assert report.passes == 2  # two different texts
    targets = load_encoder(folder, device="cpu").embed_targets([item[1] for item in items], [item[2] for item in items])
    table = pq.read_table(tmp_path / "out.parquet")
    np.testing.assert_allclose(read_vectors(tmp_path / "out.parquet"), targets.vectors, atol=1e-5)
    assert table.column("n_pieces").to_pylist() == targets.n_pieces.tolist()
    assert stores[1].find([segment_id(text, *span) for _, text, span in items]).all()


@pytest.mark.parametrize("pooling", ["cls", "mean", "last"])
def test_sentences_in_the_same_format(tmp_path: Path, tiny_model: Callable[..., Path], pooling: str) -> None:
    texts = ["একটি লাল গোলাপ ছিল", "চাঁদের আলোয়", "একটি লাল গোলাপ ছিল"]
    folder = tiny_model("bert")
    fake = FakeEncoder()
    fake.load = lambda: load_encoder(folder, device="cpu")  # type: ignore[method-assign]
    items = [("template", text, (0, len(text))) for text in texts]
    report = embed(tmp_path, items, fake, pooling=Pooling("sentence", pooling))
    assert (report.embedded, report.passes) == (2, 2)
    want = load_encoder(folder, device="cpu").encode(texts, pooling)
    np.testing.assert_allclose(read_vectors(tmp_path / "out.parquet"), want, atol=1e-5)


@pytest.fixture
def listed(tmp_path: Path) -> Path:
    """A list over two shards in a folder beside it."""
    for bucket, items in (("00", many(4)), ("01", [("চাঁদ", "চাঁদ ওঠে", (0, 4)), ("?", "a ?", (2, 3))])):
        fake = FakeEncoder()
        embed_shard(
            write_segments(tmp_path / f"s{bucket}.parquet", items),
            tmp_path / "9" / f"{bucket}.parquet",
            left_out=tmp_path / "9" / f"{bucket}.left_out.tsv",
            sources=[Source([VectorStore(tmp_path / "store", "float32", KEY)], fake.load)],
            dimension=lambda: WIDTH,
            made_from={**MADE, "inputs": bucket},
        )
    list_shards([tmp_path / "9" / "00.parquet", tmp_path / "9" / "01.parquet"], tmp_path / "9.json")
    return tmp_path / "9.json"


def test_the_list_names_each_shard_with_size_and_digest(listed: Path) -> None:
    content = read_document(listed)
    shards = {
        f"9/{bucket}.parquet": (listed.parent / "9" / f"{bucket}.parquet").read_bytes() for bucket in ("00", "01")
    }
    assert content == {
        "shards": {name: hashlib.sha256(data).hexdigest() for name, data in shards.items()},
        "sizes": {name: len(data) for name, data in shards.items()},
        "bytes": sum(map(len, shards.values())),
        "n_segments": 5,
        "segment_length": "9",
        "dimension": WIDTH,
        "stored_dtype": "float32",
        "left_out": {"?": {"unknown": 1}},
        "cut": {},
        "unknown": {},
        "made_from": {**MADE, "key": KEY},
    }


def test_vectors_by_stimulus(listed: Path) -> None:
    vectors = read_embeddings(listed)
    assert list(vectors) == ["word0", "word1", "word2", "চাঁদ"]
    ids, rows = vectors["word0"]
    assert ids == ["o0", "o3"]
    np.testing.assert_array_equal(rows, expected(many(4))[[0, 3]])
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
    write_table(tmp_path / "9" / "02.parquet", table, {**MADE, "key": KEY, "settings": '{"model": "other"}'})
    with pytest.raises(InputError, match=r"02\.parquet: settings is .*other.*, but .*00\.parquet has .*tiny"):
        list_shards([first, tmp_path / "9" / "02.parquet"], tmp_path / "9.json")
    narrow = pa.FixedSizeListArray.from_arrays(pa.array(np.zeros(8, dtype=np.float32)), 2)
    write_table(tmp_path / "9" / "03.parquet", table.set_column(7, "embedding", narrow), {**MADE, "key": KEY})
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


def test_what_a_study_can_go_without_is_said(tmp_path: Path) -> None:
    embed(tmp_path, many(3), FakeEncoder())
    list_shards([tmp_path / "out.parquet"], tmp_path / "there.json")
    lists: dict[str, dict[str, Any]] = {str(tmp_path / f"{name}.json"): {} for name in ("a", "b", "c", "there")}
    a, b, _, there = lists
    without = {"twins: {t: false}.": [a, b, there], "SEAT: {s: []}.": [b], "other: {}.": [there]}
    with pytest.raises(InputError) as error:
        require_shards(lists, without)
    assert str(error.value) == (
        f"embeddings.source is 'cached', but vectors are missing or do not fit (and 2 more like this): {a}: no such"
        " list of shards. Copy the right ones under results/embeddings, or let the models compute them: write"
        " `embeddings: {source: computed}`. 2 of these 3 are twins: {t: false}. 1 of these 3 is SEAT: {s: []}."
    )
    with pytest.raises(InputError, match=r"All of these 2 are twins: \{t: false\}\. 1 of these 2 is SEAT"):
        require_shards({a: {}, b: {}}, without)
    (tmp_path / "out.parquet").unlink()
    with pytest.raises(InputError) as error:
        require_shards({there: {}}, {"twins.": [there]})
    assert str(error.value).endswith("write `embeddings: {source: computed}`. This one is twins.")
    assert str(error.value).count("computed") == 1
