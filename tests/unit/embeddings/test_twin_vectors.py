"""Vectors of a twin: the same in every run, others than the model's, and in a store of their own."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from tiny_models import FAMILIES

from prasanga.base.parquet import write_table
from prasanga.embeddings import (
    StoredEmbeddings,
    VectorSettings,
    embed_shard,
    list_shards,
    load_encoder,
    open_stores,
    settle_dtype,
    settle_sentence_vector,
    start_encoder,
)
from prasanga.models import ModelOptions, check_model
from prasanga.samples.segments import segment_id

TinyModel = Callable[..., Path]
TEXTS = ["একটি লাল গোলাপ ছিল", "চাঁদের আলোয়", "একটি লাল গোলাপ ছিল"]
SPANS = [(9, 14), (0, 6), (5, 8)]
STIMULI = ["গোলাপ", "চাঁদ", "লাল"]
PARAMS: dict[str, Any] = {
    "revision": None,
    "layer": -1,
    "layers": [-1],
    "dtype": "auto",
    "pieces": "all",
    "stored_dtype": "float32",
    "unknown": "leave-out",
    "options": {"tokenizer": {}, "weights_sha256": {}, "remote_code": False, "quantization": "none"},
}


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


@pytest.mark.parametrize("kind", ["bert", "mt5", "llama"])
def test_layers_of_a_twin(tiny_model: TinyModel, kind: str) -> None:
    options = ModelOptions(random_weights=5)
    together = load_encoder(tiny_model(kind), device="cpu", layer=[0, 2, -1], options=options).embed_layers(
        TEXTS, SPANS
    )
    for layer, found in together.items():
        np.testing.assert_allclose(found, vectors(tiny_model(kind), 5, layer=layer), atol=1e-6)
    assert np.abs(together[0] - together[2]).max() > 1e-3


def write_segments(path: Path) -> Path:
    columns = {
        "segment_id": [segment_id(text, *span) for text, span in zip(TEXTS, SPANS, strict=True)],
        "occurrence_id": ["o0", "o1", "o2"],
        "stimulus": STIMULI,
        "segment_length": ["9"] * 3,
        "text": TEXTS,
        "start": [start for start, _ in SPANS],
        "end": [end for _, end in SPANS],
    }
    write_table(path, pa.table(columns), {"stage": "samples"})
    return path


def run(root: Path, params: dict[str, Any], name: str) -> tuple[VectorSettings, np.ndarray, int]:
    """What the adapters do; the settings, the vectors in the order of `STIMULI`, and how many were embedded."""
    report = json.loads(json.dumps(check_model(params["model"], layers=params["layers"])))
    settings = settle_dtype(VectorSettings.of(json.loads(json.dumps(params)), cards=1), report, root)
    settings = settle_sentence_vector(settings, report)
    done = embed_shard(
        write_segments(root / "segments.parquet"),
        root / f"{name}.parquet",
        left_out=root / f"{name}.tsv",
        stores=open_stores(settings, report, root / "store"),
        load=lambda: start_encoder(settings, report, root / "store", threads=1),
        dimension=lambda: report["hidden_size"],
        made_from={"stage": "embeddings", "settings": json.dumps({**settings.as_plain(), **report["identity"]})},
        pooling=settings.pooling,
        unknown=settings.unknown,
    )
    list_shards([root / f"{name}.parquet"], root / f"{name}.json")
    found = StoredEmbeddings(root / f"{name}.json")
    return settings, np.concatenate([found[stimulus][1] for stimulus in STIMULI]), done.embedded


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


def test_metadata_and_keys_of_models_are_as_if_there_were_no_twins(tmp_path: Path) -> None:
    settings = VectorSettings.of({**PARAMS, "model": "m", "dtype": "float32"})
    assert settings.as_plain()["options"] == PARAMS["options"]
    report = {"identity": {"sha256": "ab"}, "blocks": 2}
    (store,) = open_stores(settings, report, tmp_path)
    drawn = replace(settings, options=replace(settings.options, random_weights=7))
    (of_twin,) = open_stores(drawn, report, tmp_path)
    store._prepare(), of_twin._prepare()
    one, other = (json.loads((each.folder / "key.json").read_text()) for each in (store, of_twin))
    assert other.pop("random_weights") == 7
    assert {**one, "key": ""} == {**other, "key": ""}


def test_layers_of_a_twin_share_a_pass_and_have_their_stores(tmp_path: Path, tiny_model: TinyModel) -> None:
    folder = tiny_model("bert")
    params = {**PARAMS, "model": str(folder), "layers": [1, -1]}
    params["options"] = {**PARAMS["options"], "random_weights": 5}
    _, first, embedded = run(tmp_path, {**params, "layer": 1}, "m-layer1-random")
    _, last, from_store = run(tmp_path, {**params, "layer": -1}, "m-layer-last-random")
    assert (embedded, from_store) == (3, 0)
    np.testing.assert_allclose(first, vectors(folder, 5, layer=1), atol=1e-5)
    np.testing.assert_allclose(last, vectors(folder, 5, layer=-1), atol=1e-5)


def test_the_history_tells_a_twin(tmp_path: Path, tiny_model: TinyModel) -> None:
    folder = tiny_model("bert")
    params = {**PARAMS, "model": str(folder), "options": {**PARAMS["options"], "random_weights": 5}}
    settings, _, _ = run(tmp_path, params, "m-random")
    (store,) = open_stores(settings, check_model(folder), tmp_path / "store")
    assert store.history()["model"].to_list() == [f"{folder} (random weights)"]
