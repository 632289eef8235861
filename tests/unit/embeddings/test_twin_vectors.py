"""Vectors of a twin: the same in every run, others than the model's, and in a store of their own."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from segment_files import write_segments
from tables import read_data
from tiny_models import FAMILIES

from prasanga.embeddings import (
    StoredEmbeddings,
    VectorSettings,
    list_shards,
    load_encoder,
    open_stores,
    settle_dtype,
    settle_sentence_vector,
    start_encoder,
)
from prasanga.embeddings.shards import read_embeddings
from prasanga.embeddings.stage import ShardFiles, VectorSource, deal, embed_shards
from prasanga.models import ModelOptions, check_model

TinyModel = Callable[..., Path]
TEXTS = ["একটি লাল গোলাপ ছিল", "চাঁদের আলোয়", "একটি লাল গোলাপ ছিল"]
SPANS = [(9, 14), (0, 6), (5, 8)]
STIMULI = ["গোলাপ", "চাঁদ", "লাল"]
PARAMS: dict[str, Any] = read_data(__file__, "params_of_twins")


def vectors(folder: Path, seed: int | None, **more: Any) -> np.ndarray:
    options = ModelOptions(random_weights=seed)
    return load_encoder(folder, device="cpu", options=options, **more).embed(TEXTS, SPANS)


@pytest.mark.parametrize("kind", FAMILIES)
def test_a_twin_is_the_same_every_time_and_no_other(tiny_model: TinyModel, tmp_path: Path, kind: str) -> None:
    folder = tmp_path / "bare"
    shutil.copytree(tiny_model(kind), folder, ignore=shutil.ignore_patterns("*.safetensors"))
    drawn = vectors(folder, 5)
    np.testing.assert_array_equal(drawn, vectors(tiny_model(kind), 5, pieces_per_batch=2048))
    others = [vectors(tiny_model(kind), None), vectors(folder, 6)]
    for other in others:
        cosines = (drawn * other).sum(axis=1) / np.linalg.norm(drawn, axis=1) / np.linalg.norm(other, axis=1)
        assert np.abs(cosines).max() < 0.9
    assert np.abs(drawn[0] - drawn[2]).max() > 1e-3  # words have vectors of their own in it as well


def run(
    root: Path,
    params: dict[str, Any],
    name: str,
    texts: list[str] = TEXTS,
    spans: list[tuple[int, int]] = SPANS,
    stimuli: list[str] = STIMULI,
) -> tuple[VectorSettings, np.ndarray, int]:
    """What the adapters do; the settings, the vectors in the order of the stimuli, and how many were embedded."""
    report = json.loads(json.dumps(check_model(params["model"], layers=params["layers"])))
    settings = settle_dtype(VectorSettings.of(json.loads(json.dumps(params)), cards=1), report, root)
    settings = settle_sentence_vector(settings, report)
    store = root / "store"
    made_from = {"stage": "embeddings", "settings": json.dumps({**settings.as_plain(), **report["identity"]})}
    segments = write_segments(root / "segments.parquet", list(zip(stimuli, texts, spans, strict=True)))
    sources = [
        VectorSource(open_stores(each, report, store), partial(start_encoder, each, report, store, threads=1))
        for each in settings.each_twin()
    ]
    (done,) = embed_shards(
        [ShardFiles(segments, root / f"{name}.parquet", root / f"{name}.tsv", made_from)],
        sources,
        settings,
        width=report["hidden_size"],
    )
    list_shards([root / f"{name}.parquet"], root / f"{name}.json")
    found = StoredEmbeddings(root / f"{name}.json")
    return settings, np.concatenate([found[stimulus][1] for stimulus in dict.fromkeys(stimuli)]), done["embedded"]


@pytest.mark.parametrize("sentence_vector", [None, "auto", "mean", "last", "word", "position"])
def test_the_whole_way_for_a_model_and_its_twin(
    tmp_path: Path, tiny_model: TinyModel, sentence_vector: str | None
) -> None:
    folder = tiny_model("bert")
    params = {**PARAMS, "model": str(folder)}
    if sentence_vector is not None:
        params["sentence_vector"] = sentence_vector
    random = {**params, "options": {**params["options"], "random_weights": 5}}
    for chosen, name in ((params, "model"), (random, "model-random")):
        settings, found, embedded = run(tmp_path, chosen, name)
        encoder = load_encoder(folder, device="cpu", options=settings.options)
        if settings.pooling.unit == "sentence":
            expected = encoder.encode(TEXTS, settings.pooling.positions)
        else:
            expected = encoder.embed(TEXTS, SPANS, pieces=settings.pooling.positions)
        np.testing.assert_allclose(found, expected, atol=1e-5)
        assert embedded == 3
        assert run(tmp_path, chosen, f"{name}-again")[2] == 0  # another job finds them in the store
        said = settings.as_plain()
        assert ("sentence_vector" in said) == (sentence_vector is not None)
        assert said["options"].get("random_weights") == chosen["options"].get("random_weights")
    assert len(list((tmp_path / "store").glob("*/key.json"))) == 2


def test_each_segment_is_read_by_one_of_several_twins(tmp_path: Path, tiny_model: TinyModel) -> None:
    folder = tiny_model("bert")
    params = {**PARAMS, "model": str(folder), "twins": [5, 6]}
    texts = [f"একটি লাল গোলাপ {word} ছিল" for word in ("ফুল", "পাতা", "গাছ", "মাঠ", "নদী")] + TEXTS[1:2]
    spans, stimuli = [(9, 14)] * 5 + SPANS[1:2], ["গোলাপ"] * 5 + ["চাঁদ"]
    settings, _, embedded = run(tmp_path, params, "m-random", texts, spans, stimuli)
    assert embedded == 6  # as many as a model would have embedded
    said = settings.as_plain()
    assert (said["twins"], "random_weights" in said["options"]) == ((5, 6), False)
    shares = {0: [0, 2, 4], 1: [1, 3]}
    for twin, seed in enumerate((5, 6)):
        options = ModelOptions(random_weights=seed)
        encoder = load_encoder(folder, device="cpu", options=options)
        stored = StoredEmbeddings(tmp_path / "m-random.json", twin=twin)
        ids, found = stored["গোলাপ"]
        assert ids == [f"o{place}" for place in shares[twin]]
        expected = encoder.embed([texts[place] for place in shares[twin]], [spans[place] for place in shares[twin]])
        np.testing.assert_allclose(found, expected, atol=1e-5)
        # a word with fewer contexts than twins is read by the first of them alone
        assert ("চাঁদ" in stored) == (twin == 0)
        again = read_embeddings(tmp_path / "m-random.json", twin=twin)["গোলাপ"]
        assert again[0] == ids
        np.testing.assert_array_equal(again[1], found)
    # fewer twins are the first of them: what they read is there already, but for what fell to others
    assert run(tmp_path, {**params, "twins": [5]}, "fewer", texts, spans, stimuli)[2] == 2


def test_segments_are_dealt_evenly_and_no_more_than_is_needed() -> None:
    rng = np.random.default_rng(3)
    for _ in range(30):
        counts = {f"w{i}": int(rng.integers(1, 200)) for i in range(5)}
        stimuli = rng.permutation([word for word, count in counts.items() for _ in range(count)]).tolist()
        n_twins = int(rng.integers(1, 10))
        twins = deal(stimuli, n_twins, most := int(rng.integers(1, 100)))
        for word, count in counts.items():
            mine = [twin for twin, stimulus in zip(twins, stimuli, strict=True) if stimulus == word]
            shares = [mine.count(twin) for twin in range(n_twins)]
            assert sum(shares) == min(count, n_twins * most)
            assert max(shares) - min(shares) <= 1
            assert mine.count(-1) == count - sum(shares)
            assert mine[: min(n_twins, count)] == list(range(min(n_twins, count)))


def test_files_that_come_together_load_each_twin_once_and_give_the_same_bits(
    tmp_path: Path, tiny_model: TinyModel
) -> None:
    """Two files of several lengths, in one job and in one each: batches are of one file, whichever others come."""
    params = {**PARAMS, "model": str(tiny_model("bert")), "twins": [3, 4]}
    report = json.loads(json.dumps(check_model(params["model"], layers=params["layers"])))
    settings = settle_dtype(VectorSettings.of(params, cards=0), report, tmp_path)
    files = []
    for number, repeated in enumerate((1, 4)):
        items = [("one", " ".join([text] * repeated), span) for text, span in zip(TEXTS, SPANS, strict=True)]
        files.append(write_segments(tmp_path / str(number) / "segments.parquet", items))

    def embed(folder: Path, of: list[Path]) -> tuple[list[Any], int]:
        loads: list[int] = []

        def load(one: VectorSettings) -> Any:
            loads.append(int(one.options.random_weights or 0))
            return start_encoder(one, report, folder, threads=1)

        shards = [
            ShardFiles(path, folder / path.parent.name / "out.parquet", folder / "left_out.tsv", {}) for path in of
        ]
        for shard in shards:
            Path(shard.output).parent.mkdir(parents=True, exist_ok=True)
        sources = [VectorSource(open_stores(one, report, folder), partial(load, one)) for one in settings.each_twin()]
        reports = embed_shards(shards, sources, settings, width=0)
        return [(each, pq.read_table(one.output)) for each, one in zip(reports, shards, strict=True)], len(loads)

    together, loads = embed(tmp_path / "together", files)
    assert loads == 2
    alone = [embed(tmp_path / f"alone-{number}", [path]) for number, path in enumerate(files)]
    assert [count for _, count in alone] == [2, 2]
    assert together == [found[0] for found, _ in alone]  # passes of each file, and every bit of its vectors
    assert [each["passes"] > 0 for each, _ in together] == [True, True]
