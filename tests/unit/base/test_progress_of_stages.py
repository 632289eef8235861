"""Every stage whose jobs can be long says how far it is, and its results are those of a job that says nothing."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from fake_clock import long_job, progress_lines
from scoring_models import build

from prasanga.associations import CeatSettings, TestSettings, differences, measure_ceat
from prasanga.associations.study import measure_weat
from prasanga.base.io import write_table
from prasanga.embeddings.pooling import Pooling
from prasanga.embeddings.stage import Item, fill
from prasanga.likelihoods import engine, load_scorer, score_log_probability, score_pairs
from prasanga.sentences import SENTENCE_SCHEMA, Shard, corpus, extract_shard, find_shards, passages, records

Log = pytest.LogCaptureFixture
TEXT = "লাল ফুলের মালা গাঁথি। মা ফুল ভালোবাসে।\n\n" * 6_000


@pytest.fixture(autouse=True)
def _small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files are read a tenth of a megabyte at a time, so that small ones have many."""
    for module, name in ((corpus, "_BUFFER"), (records, "_BUFFER"), (passages, "BLOCK")):
        monkeypatch.setattr(module, name, 100_000)


class Forms:
    def claims(self) -> dict[str, tuple[str, ...]]:
        return {"ফুল": ("ফুল",), "ফুলের": ("ফুল",)}


def corpus_file(folder: Path, kind: str) -> Shard:
    lines = [f"{TEXT[:38]} {i}" for i in range(6_000)]
    path = folder / f"corpus.{kind}"
    if kind == "parquet":
        write_table(path, pa.table({"text": lines}), {})
    elif kind == "jsonl":
        path.write_text("".join(json.dumps({"text": line}) + "\n" for line in lines), encoding="utf-8")
    else:
        path.write_text(TEXT, encoding="utf-8")
    (shard,) = find_shards(folder, [{"files": path.name}], 10**9).values()
    return shard


@pytest.mark.parametrize("kind", ["txt", "jsonl", "parquet"])
def test_extraction(tmp_path: Path, caplog: Log, kind: str) -> None:
    shard = corpus_file(tmp_path, kind)

    def rows() -> pa.Table:
        batches = extract_shard(shard, lexicon=Forms(), normalization="none", language="bn")
        return pa.Table.from_batches(list(batches), SENTENCE_SCHEMA)

    expected = rows()
    with long_job(caplog, "searching corpus."):
        assert rows().equals(expected)
    assert "MB (" in progress_lines(caplog, "searching")[1]


def test_a_part_of_a_file_has_the_size_of_the_part(tmp_path: Path, caplog: Log) -> None:
    shard = corpus_file(tmp_path, "txt")
    size = Path(shard.path).stat().st_size
    start, end = size // 8, size - size // 8
    part = shard._replace(start=start, end=end, share=end - start)
    with long_job(caplog, f"searching corpus.txt from byte {start:,} on"):
        list(extract_shard(part, lexicon=Forms(), normalization="none", language="bn"))
    assert f"of {(end - start) / 1e6:.1f} MB (" in caplog.text


def test_embeddings(caplog: Log) -> None:
    class Store:
        columns = ("segment_id", "n_pieces", "n_unknown", "cut", "embedding")
        added: list[str]

        def __init__(self) -> None:
            self.added = []

        def find(self, ids: list[str]) -> np.ndarray:
            return np.zeros(len(ids), dtype=np.bool_)

        def add_rows(self, rows: pa.Table) -> None:
            self.added += rows.column("segment_id").to_pylist()

    class Encoder:
        on_a_gpu, device_name = False, "cpu"
        loaded = SimpleNamespace(name="tiny", dtype="float32")
        report = SimpleNamespace(passes=1, pieces=1)

        def read(self, texts: list[str], *_: Any) -> Any:
            numbers = np.ones(len(texts), dtype=np.int32)
            return SimpleNamespace(ids=texts, n_pieces=numbers, n_unknown=0 * numbers, cut=numbers > 1)

        def run(self, inputs: Any, done: Callable[[int], object]) -> list[np.ndarray]:
            for _ in inputs.ids:
                done(1)
            return [np.zeros((len(inputs.ids), 2), dtype=np.float32)]

    items = {str(i): Item(f"text {i}", 0, 4, 4) for i in range(30)}
    for pooling, unit in ((Pooling(), "segments"), (Pooling("sentence", "mean"), "sentences")):
        caplog.clear()
        store = Store()
        settings = SimpleNamespace(pooling=pooling, stored_dtype="float16")
        with long_job(caplog, "embedding 00.parquet by tiny"):
            fill([store], items, Encoder, settings, "00.parquet")  # type: ignore[list-item, arg-type]
        assert sorted(store.added) == sorted(items)
        assert f"30 {unit} in" in progress_lines(caplog, "embedding")[-1]


def word_set(name: str, stimuli: list[str]) -> dict[str, Any]:
    return {"name": name, "gloss": name, "stimuli": stimuli}


def category(number: int) -> dict[str, Any]:
    sets = [word_set(f"{side}{number}", [f"{side}{i}" for i in range(12)]) for side in "xyab"]
    return {"title": f"C{number}", "targets": sets[:2], "attributes": sets[2:]}


CATEGORIES = {f"C{i}": category(i) for i in range(6)}


def test_associations(caplog: Log) -> None:
    rng = np.random.default_rng(1)
    words = [f"{side}{i}" for side in "xyab" for i in range(12)]
    contexts = {word: ([f"{word}-{i}" for i in range(6)], rng.standard_normal((6, 4))) for word in words}
    static = {word: rng.standard_normal(4) for word in words}
    test = TestSettings(n_resamples=50, n_shuffles=20, n_permutations=50)

    def ceat() -> Any:
        return measure_ceat(
            CATEGORIES, contexts, model="m", segment_length="9", settings=CeatSettings(n_samples=20, test=test)
        )

    def weat() -> Any:
        return measure_weat(CATEGORIES, static, {}, name="v", settings=test, seed=1)

    expected, of_words = ceat(), weat()
    with long_job(caplog, "CEAT of m, length 9"):
        assert all(one.equals(other) for one, other in zip(ceat(), expected, strict=True))
    assert progress_lines(caplog, "CEAT")[-1].startswith("CEAT of m, length 9: 12 estimates in")
    with long_job(caplog, "WEAT of v"):
        assert all(one.equals(other) for one, other in zip(weat(), of_words, strict=True))
    assert progress_lines(caplog, "WEAT")[-1].startswith("WEAT of v: 6 estimates in")
    compared = differences(expected.estimates, expected.resamples)
    with long_job(caplog, "comparing lengths and models"):
        assert differences(expected.estimates, expected.resamples).equals(compared)


@pytest.mark.parametrize("waiting", [20, 1 << 21])
def test_sentences_of_pairs(tmp_path: Path, caplog: Log, monkeypatch: pytest.MonkeyPatch, waiting: int) -> None:
    monkeypatch.setattr(engine, "WAITING", waiting)
    scorer = load_scorer(build("bert", tmp_path), pieces_per_batch=32)
    pairs = pl.DataFrame(
        {
            "language": ["bn"] * 6,
            "first": [f"মা লাল গোলাপ {'আর ' * i}দেখে।" for i in range(6)],
            "second": [f"বাবা লাল গোলাপ {'আর ' * i}দেখে।" for i in range(6)],
        }
    )
    expected = score_pairs(scorer, pairs, unknown="keep")
    assert expected["score_first"].null_count() == 0
    with long_job(caplog, "scoring sentences by"):
        assert score_pairs(scorer, pairs, unknown="keep").equals(expected)
    assert ": 12 sentences in" in progress_lines(caplog, "scoring sentences by")[-1]
    words = [(text, (0, 2), (7, 12)) for text in pairs["first"]]
    found = score_log_probability(scorer, words)
    with long_job(caplog, "scoring words in sentences by"):
        assert score_log_probability(scorer, words).equals(found)
