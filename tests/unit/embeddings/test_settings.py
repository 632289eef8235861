"""What a study says of its vectors decides their store, and nothing else does."""

from __future__ import annotations

import itertools
import json
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from segment_files import FULL_PRECISION, write_segments

from prasanga.base.errors import InputError
from prasanga.embeddings import compare_with_full_precision, open_stores, settle_dtype, start_encoder
from prasanga.embeddings.settings import decide_once
from prasanga.models import ModelOptions, check_model

REPORT: dict[str, Any] = {"identity": {"id": "someone/mine", "commit": "c0ffee"}, "blocks": 12}
SETTINGS = replace(FULL_PRECISION, model="someone/mine", stored_dtype="float16")


def key(tmp_path: Path, report: dict[str, Any] = REPORT, **changed: Any) -> str:
    return open_stores(replace(SETTINGS, **changed), report, tmp_path)[0].key


@pytest.mark.parametrize(
    "changed",
    [
        {"layer": 3},
        {"dtype": "bfloat16"},
        {"stored_dtype": "float32"},
        {"pieces": "root"},
        {"options": ModelOptions(tokenizer={"strip_accents": False})},
        {"options": ModelOptions(quantization="int8")},
        {"options": ModelOptions(remote_code=True)},
        *({"options": ModelOptions(random_weights=seed)} for seed in (0, 1)),
        *({"sentence_vector": name} for name in ("cls", "mean", "last", "position")),
        {"report": {**REPORT, "identity": {"id": "someone/mine", "commit": "decade"}}},
    ],
    ids=str,
)
def test_what_changes_vectors_changes_their_key(tmp_path: Path, changed: dict[str, Any]) -> None:
    assert key(tmp_path, **changed) != key(tmp_path)


@pytest.mark.parametrize(
    "changed",
    [
        {"layer": 12},  # the last of twelve
        {"layers": (3, -1)},
        {"unknown": "keep"},
        {"sentence_vector": "word"},  # the same vector of a word, wherever its text is from
        {"model": "elsewhere/mine"},
        {"options": ModelOptions(kind="encoder", cards=2, weights_sha256={"a.bin": "0" * 64})},
    ],
    ids=str,
)
def test_what_does_not_change_vectors_does_not(tmp_path: Path, changed: dict[str, Any]) -> None:
    assert key(tmp_path, **changed) == key(tmp_path)


def test_layers_of_one_pass_have_stores_of_their_own(tmp_path: Path) -> None:
    settings = replace(SETTINGS, layer=-1, layers=(3, -1, 0))
    stores = open_stores(settings, REPORT, tmp_path)
    assert [store.key for store in stores] == [key(tmp_path, layer=layer) for layer in (-1, 3, 0)]
    with pytest.raises(InputError, match=r"layer is 13, but the model has 12 blocks"):
        key(tmp_path, layer=13)


def test_auto_is_settled_once(tmp_path: Path) -> None:
    auto = replace(SETTINGS, dtype="auto")
    assert settle_dtype(auto, REPORT, tmp_path).dtype == "float32"
    (kept,) = (tmp_path / "precision").iterdir()
    kept.write_text('{"decision": "bfloat16"}')  # as a card decided
    assert settle_dtype(auto, REPORT, tmp_path).dtype == "bfloat16"
    assert settle_dtype(SETTINGS, REPORT, tmp_path).dtype == "float32"


def test_vectors_are_kept_under_the_precision_that_they_were_computed_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    half = replace(SETTINGS, dtype="bfloat16", options=replace(SETTINGS.options, cards=0))
    for root, has_it, dtype in (("a", False, "float32"), ("b", True, "bfloat16")):
        monkeypatch.setattr("prasanga.models.devices.cpu_has_bfloat16", lambda has_it=has_it: has_it)
        assert settle_dtype(half, REPORT, tmp_path / root).dtype == dtype
    # begun where the processor has it, finished where it has not
    monkeypatch.setattr("prasanga.models.devices.cpu_has_bfloat16", lambda: False)
    assert settle_dtype(half, REPORT, tmp_path / "b").dtype == "bfloat16"


@pytest.mark.parametrize(("cards", "dtype"), [(0, "float32"), (1, "bfloat16")])
def test_auto_is_settled_for_where_the_model_runs(
    cards: int, dtype: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("torch.cuda.is_available", lambda: True)
    monkeypatch.setattr("torch.cuda.device_count", lambda: 1)
    monkeypatch.setattr("torch.cuda.get_device_capability", lambda _: (9, 0))  # it has bfloat16
    auto = replace(SETTINGS, dtype="auto", options=replace(SETTINGS.options, cards=cards))
    assert settle_dtype(auto, REPORT, tmp_path).dtype == dtype


def test_of_the_hub_the_commit_is_loaded_that_was_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import prasanga.embeddings.encoder

    class Loaded:
        pieces_per_batch = 2048

    asked: list[Any] = []
    monkeypatch.setattr(
        prasanga.embeddings.encoder, "load_encoder", lambda *_, revision, **__: asked.append(revision) or Loaded()
    )
    start_encoder(SETTINGS, {"identity": {"id": "a/b", "commit": "c0ffee"}}, tmp_path, threads=1)
    assert asked == ["c0ffee"]


def test_the_size_of_batches_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import prasanga.embeddings.encoder

    class Loaded:
        device_name = "A Card/80GB"
        found = 0
        pieces_per_batch: int | None = None

        def find_budget(self) -> int:
            Loaded.found += 1
            return 8192 * Loaded.found

    monkeypatch.setattr(prasanga.embeddings.encoder, "load_encoder", lambda *_, **__: Loaded())
    sizes = [start_encoder(SETTINGS, REPORT, tmp_path, threads=1).pieces_per_batch for _ in range(2)]
    assert sizes == [8192, 8192]
    assert [path.name.partition("-")[2] for path in (tmp_path / "batches").iterdir()] == ["A-Card-80GB.json"]


@pytest.fixture
def segments(tmp_path: Path) -> Path:
    texts = ["মায়ের হাতে একটি লাল গোলাপ ছিল", "চাঁদের আলোয় বাঁশির সুর ভেসে আসে", "গোলাপ ফোটে"]
    words = ["গোলাপ", "চাঁদ", "গোলাপ"]
    starts = [text.index(word) for text, word in zip(texts, words, strict=True)]
    items = [(word, text, (start, start + len(word))) for word, text, start in zip(words, texts, starts, strict=True)]
    return write_segments(tmp_path / "s.parquet", items)


def compare(
    tmp_path: Path, tiny_model: Callable[..., Path], segments: Path, quantization: str = "none", **changed: Any
) -> dict[str, Any]:
    options = ModelOptions(quantization=quantization)
    settings = replace(SETTINGS, model=str(tiny_model("bert")), options=options, **{"dtype": "bfloat16", **changed})
    return compare_with_full_precision(settings, check_model(settings.model), segments, tmp_path, threads=1)


@pytest.mark.parametrize(
    ("dtype", "quantization", "pieces"),
    [
        ("bfloat16", "none", "all"),
        ("bfloat16", "none", "root"),
        pytest.param("float32", "int8", "all", marks=pytest.mark.long),
    ],
)
def test_half_precision_and_eight_bits_are_compared_with_float32(
    tmp_path: Path, tiny_model: Callable[..., Path], segments: Path, dtype: str, quantization: str, pieces: str
) -> None:
    if quantization == "int8":
        pytest.importorskip("torchao", reason="quantization needs torchao, which is optional")
    compared = compare(tmp_path, tiny_model, segments, quantization, dtype=dtype, pieces=pieces)
    assert (compared["dtype"], compared["quantization"], compared["compared"]) == (dtype, quantization, 3)
    assert 0.95 < compared["cosine_min"] < 1 - 1e-7
    assert compared["reason"] is None
    assert json.loads(json.dumps(compared, allow_nan=False)) == compared


def test_segments_are_compared_from_the_shortest_to_the_longest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts, asked = [letter * length for length in range(1, 101) for letter in "ba"], list[list[str]]()

    def embed(texts: list[str], *_: Any, **__: Any) -> np.ndarray:
        asked.append(texts)
        return np.eye(64, 4, dtype=np.float32) + 1 - 2 * (len(asked) == 2)

    monkeypatch.setattr("prasanga.embeddings.settings.start_encoder", lambda *_, **__: SimpleNamespace(embed=embed))
    monkeypatch.setattr("prasanga.embeddings.encoder.load_encoder", lambda *_, **__: SimpleNamespace(embed=embed))
    segments = write_segments(tmp_path / "s.parquet", [("a", text, (0, 1)) for text in texts])
    found = compare_with_full_precision(replace(SETTINGS, dtype="bfloat16"), REPORT, segments, tmp_path, threads=1)
    ordered = sorted(texts, key=lambda text: (len(text), text))
    assert asked == [[ordered[step * 199 // 63] for step in range(64)]] * 2
    assert (found["cosine_min"], found["compared"], found["reason"]) == (-1, 64, None)


def test_nothing_is_compared_without_a_need_or_a_way(
    tmp_path: Path, tiny_model: Callable[..., Path], segments: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    how = {"stored_dtype": "float16", "quantization": "none", "compared": 0, "cosine_min": None}
    full = {"dtype": "float32", **how, "reason": "the model runs in full precision"}
    assert compare(tmp_path, tiny_model, segments, dtype="float32") == full
    empty = write_segments(tmp_path / "empty.parquet", [])
    assert compare(tmp_path, tiny_model, empty)["reason"] == "there are no segments"
    import prasanga.embeddings.encoder

    load = prasanga.embeddings.encoder.load_encoder

    def refuse(model: str, *, dtype: str, **more: Any) -> Any:
        if dtype == "float32":
            raise InputError("it needs 28 GB")
        return load(model, dtype=dtype, **more)

    monkeypatch.setattr(prasanga.embeddings.encoder, "load_encoder", refuse)
    reason = "the model in float32 cannot be run here: it needs 28 GB"
    assert compare(tmp_path, tiny_model, segments) == {"dtype": "bfloat16", **how, "reason": reason}


def test_whoever_comes_first_decides(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "dtype.json"
    assert decide_once(path, lambda: "bfloat16") == "bfloat16"
    assert decide_once(path, lambda: "float32") == "bfloat16"
    assert [file.name for file in path.parent.iterdir()] == ["dtype.json"]
    path.write_text("[]")
    with pytest.raises(InputError, match=r"dtype\.json: damaged .* Delete it"):
        decide_once(path, lambda: "float32")


def test_of_many_at_once_one_is_heard(tmp_path: Path) -> None:
    """All have found no decision before anybody has made one."""
    numbers, together = itertools.count(), threading.Barrier(8, timeout=30)

    def decide() -> int:
        together.wait()
        return next(numbers)

    with ThreadPoolExecutor(8) as pool:
        answers = [pool.submit(decide_once, tmp_path / "a.json", decide) for _ in range(8)]
    assert {answer.result() for answer in answers} == {decide_once(tmp_path / "a.json", lambda: -1)}
