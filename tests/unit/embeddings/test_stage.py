"""A shard holds the rows of its input in their order, and nothing is embedded twice."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from segment_files import Item, write_segments
from tables import read_data

from prasanga.base.errors import InputError
from prasanga.base.io import Store, made_from, write_table
from prasanga.embeddings import Pooling, VectorSettings, embed_shards, load_encoder
from prasanga.embeddings.pooling import Inputs
from prasanga.embeddings.settings import COLUMNS as KEPT
from prasanga.embeddings.stage import ShardFiles, VectorSource
from prasanga.models import ModelOptions
from prasanga.samples.segments import segment_id

WIDTH = 4
KEY = "0123456789abcdef0123456789abcdef"
SETTINGS = VectorSettings("tiny", None, -1, (-1,), "float32", "float32", "all", "leave-out", ModelOptions())
MADE = {"stage": "embeddings", "settings": '{"model": "tiny"}', "sampling": '{"seed": 4}'}
COLUMNS = read_data(__file__, "columns")


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
    passes: int = 0

    def read(
        self, texts: Sequence[str], spans: Sequence[tuple[int, int]], pooling: Pooling, roots: Sequence[int] | None
    ) -> Any:
        assert pooling.unit == "target"
        unknown = ["?" in text[slice(*span)] for text, span in zip(texts, spans, strict=True)]
        inputs = Inputs(
            ids=[np.ones(1, np.int64)] * len(set(texts)),
            row=np.zeros(len(texts), np.int64),
            positions=np.zeros(len(texts), np.int64),
            counts=np.ones(len(texts), np.int64),
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
        self.passes += len(inputs.ids)
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


def many(n: int) -> list[Item]:
    return [(f"word{i % 3}", f"word{i % 3} in context {i} {'x' * (i % 5)}", (0, 5)) for i in range(n)]


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """`small_parts(220)`: parts of so many characters are kept together."""
    return lambda size: monkeypatch.setattr("prasanga.embeddings.stage.ON_A_CPU", size)


def store_in(folder: Path) -> Store:
    return Store(folder, KEY, KEPT)


def embed(tmp_path: Path, items: Sequence[Item], fake: FakeEncoder, **more: Any) -> Counter[str]:
    segments = write_segments(tmp_path / "segments.parquet", items)
    stores = more.pop("stores", None) or [store_in(tmp_path / "store")]
    shard = ShardFiles(segments, more.pop("output", tmp_path / "out.parquet"), tmp_path / "left_out.tsv", MADE)
    return embed_shards([shard], [VectorSource(stores, fake.load)], replace(SETTINGS, **more), width=WIDTH)[0]


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
    done = embed(tmp_path, ITEMS, fake, unknown="keep")
    assert (done["reused"], done["embedded"], done["passes"]) == (0, 5, 4)
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
    embed(tmp_path, ITEMS, FakeEncoder())
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
        assert embed(tmp_path, ITEMS, again, unknown=unknown)["embedded"] == again.loads == 0
    assert pq.read_table(tmp_path / "out.parquet").num_rows == len(ITEMS)


def test_each_stimulus_has_a_row_group_of_its_own(tmp_path: Path) -> None:
    items = sorted(many(30))
    embed(tmp_path, items, FakeEncoder())
    file = pq.ParquetFile(tmp_path / "out.parquet")
    groups = [file.read_row_group(i, columns=["stimulus"]).column(0).to_pylist() for i in range(file.num_row_groups)]
    assert [sorted(set(group)) for group in groups] == [["word0"], ["word1"], ["word2"]]


def test_a_second_run_loads_no_model_and_writes_the_same_bytes(
    tmp_path: Path, small_parts: Callable[[int], None]
) -> None:
    small_parts(150)
    first = embed(tmp_path, many(40), FakeEncoder())
    before = (tmp_path / "out.parquet").read_bytes()
    (tmp_path / "out.parquet").unlink()  # as Snakemake does before a rerun
    fake = FakeEncoder()
    second = embed(tmp_path, many(40), fake)
    assert fake.loads == 0
    assert (first["reused"], first["embedded"]) == (0, 40)
    assert (second["reused"], second["embedded"]) == (40, 0)
    assert (tmp_path / "out.parquet").read_bytes() == before


def test_a_larger_sample_embeds_the_new_rows_only_and_a_smaller_one_none(tmp_path: Path) -> None:
    embed(tmp_path, many(30), FakeEncoder())
    grown = FakeEncoder()
    assert embed(tmp_path, many(50), grown)["embedded"] == len(grown.asked) == 20
    small = FakeEncoder()
    assert embed(tmp_path, many(10), small)["embedded"] == small.loads == 0
    assert pq.read_table(tmp_path / "out.parquet").num_rows == 10
    again = FakeEncoder()
    assert embed(tmp_path, many(50), again)["embedded"] == again.loads == 0
    np.testing.assert_array_equal(read_vectors(tmp_path / "out.parquet"), expected(many(50)))


def test_a_kill_loses_at_most_the_part_at_work_and_the_one_being_written(
    tmp_path: Path, small_parts: Callable[[int], None]
) -> None:
    small_parts(220)
    items = many(100)
    undisturbed = tmp_path / "undisturbed"
    undisturbed.mkdir()
    embed(undisturbed, items, FakeEncoder())
    for budget in (35, 25):
        fake, before = FakeEncoder(dies_after=budget), kept(tmp_path, items)
        with pytest.raises(Killed):
            embed(tmp_path, items, fake)
        assert not (tmp_path / "out.parquet").exists()
        assert kept(tmp_path, items) >= before + len(fake.asked) - 15 > before
    known, last = kept(tmp_path, items), FakeEncoder()
    done = embed(tmp_path, items, last)
    assert (done["reused"], len(last.asked)) == (known, 100 - known)
    assert (tmp_path / "out.parquet").read_bytes() == (undisturbed / "out.parquet").read_bytes()


def kept(tmp_path: Path, items: Sequence[Item]) -> int:
    """How many of the items the store has."""
    return int(store_in(tmp_path / "store").find([segment_id(text, *span) for _, text, span in items]).sum())


def test_the_root_has_as_many_characters_as_the_stimulus(tmp_path: Path) -> None:
    """The same form of two stimuli has two vectors then, though text and span are the same."""
    items = [("ab", "x abcd y", (2, 6)), ("abc", "x abcd y", (2, 6))]
    assert embed(tmp_path, items, FakeEncoder(), pieces="root")["embedded"] == 2
    assert (
        pq.read_table(tmp_path / "out.parquet").column("segment_id").to_pylist() == [segment_id("x abcd y", 2, 6)] * 2
    )
    want = np.stack([vector_of("x abcd y", (2, 6), root) for root in (4, 5)]) * np.float32(1 / 7)
    np.testing.assert_array_equal(read_vectors(tmp_path / "out.parquet"), want)
    again = FakeEncoder()
    assert embed(tmp_path, items, again, pieces="root")["embedded"] == again.loads == 0


def test_no_segments_make_an_empty_shard_of_the_right_width(tmp_path: Path) -> None:
    fake = FakeEncoder()
    assert embed(tmp_path, [], fake)["embedded"] == fake.loads == 0
    table = pq.read_table(tmp_path / "out.parquet")
    assert (table.num_rows, table.schema.field("embedding").type.list_size) == (0, WIDTH)


def test_a_number_too_large_for_half_precision_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"but float16 allows at most 65504\. Write embeddings: \{stored_dtype"):
        embed(tmp_path, many(5), FakeEncoder(scale=1e6), stored_dtype="float16")
    embed(tmp_path, many(5), FakeEncoder(scale=1e6))


def test_a_file_without_the_columns_is_refused(tmp_path: Path) -> None:
    write_table(tmp_path / "s.parquet", pa.table({"segment_id": ["a"]}), {})
    with pytest.raises(InputError, match=r"s\.parquet: the table lacks the column occurrence_id, .*it has segment_id"):
        embed_shards(
            [ShardFiles(tmp_path / "s.parquet", "out.parquet", "left_out.tsv", MADE)], [], SETTINGS, width=WIDTH
        )


def test_with_a_real_encoder(tmp_path: Path, tiny_model: Callable[..., Path]) -> None:
    items = [("গোলাপ", "একটি লাল গোলাপ ছিল", (9, 14)), ("চাঁদ", "চাঁদের আলোয়", (0, 6)), ("লাল", "একটি লাল গোলাপ ছিল", (5, 8))]
    folder = tiny_model("bert")
    fake = FakeEncoder()
    fake.load = lambda: load_encoder(folder, device="cpu", layer=[-1, 1])  # type: ignore[method-assign]
    stores = [store_in(tmp_path / name) for name in ("aa", "bb")]
    assert embed(tmp_path, items, fake, stores=stores)["passes"] == 2  # two different texts
    asked = [item[1] for item in items], [item[2] for item in items]
    encoder = load_encoder(folder, device="cpu")
    np.testing.assert_allclose(read_vectors(tmp_path / "out.parquet"), encoder.embed(*asked), atol=1e-5)
    n_pieces = pq.read_table(tmp_path / "out.parquet").column("n_pieces").to_pylist()
    assert n_pieces == encoder.read(*asked, Pooling()).n_pieces.tolist()
    assert stores[1].find([segment_id(text, *span) for _, text, span in items]).all()
