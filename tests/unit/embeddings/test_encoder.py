"""What the engine runs, counts and refuses; its numbers are compared family by family in test_encoder_families.py."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from plain_embedding import Span
from tables import read_cases

from prasanga.base.errors import InputError
from prasanga.embeddings import Pooling, load_encoder
from prasanga.embeddings.encoder import compute_vectors

TinyModel = Callable[..., Path]
Targets = tuple[list[str], list[Span]]
FLOWER, LONG = "গোলাপ ছিল", "গোলাপগুলোতে" * 40


def test_equal_texts_share_a_pass(tiny_model: TinyModel, targets: Targets) -> None:
    texts, spans = targets
    encoder = load_encoder(tiny_model("bert"), device="cpu")
    encoder.embed(texts, spans)
    assert encoder.passes == len(set(texts)) == 7
    assert encoder.pieces == sum(len(encoder.loaded.tokenizer(text)["input_ids"]) for text in set(texts))


def test_every_layer_can_be_named_from_both_ends(tiny_model: TinyModel, targets: Targets) -> None:
    texts, spans = targets[0][:3], targets[1][:3]
    for kind in ("bert", "gpt2", "albert"):
        by_layer = {k: load_encoder(tiny_model(kind), device="cpu", layer=k).embed(texts, spans) for k in range(-4, 4)}
        for layer in range(4):
            np.testing.assert_array_equal(by_layer[layer], by_layer[layer - 4])
    with pytest.raises(InputError, match=r"layer is 4, but the model has 3 blocks"):
        load_encoder(tiny_model("bert"), device="cpu", layer=[1, 4])
    with pytest.raises(InputError, match="layer is an empty list"):
        load_encoder(tiny_model("bert"), device="cpu", layer=[])


@pytest.mark.parametrize("layers", [1, [0, 1], [1, 0]])
def test_blocks_above_the_layers_do_not_run(tiny_model: TinyModel, targets: Targets, layers: Any) -> None:
    encoder = load_encoder(tiny_model("bert"), device="cpu", layer=layers)
    for block in encoder.loaded.encoder.encoder.layer[1:]:
        block.forward = lambda *_, **__: pytest.fail("a block above the layer ran")
    assert len(encoder.run(encoder.read(targets[0][:2], targets[1][:2], Pooling()))) == len(encoder.layers)


def test_layers_share_a_pass(tiny_model: TinyModel, targets: Targets) -> None:
    encoder = load_encoder(tiny_model("gpt2"), device="cpu", layer=[0, 2, -1])
    runs = []
    encoder.loaded.encoder.h[0].register_forward_hook(lambda *_: runs.append(1))
    encoder.run(encoder.read(targets[0][:3], targets[1][:3], Pooling()))
    assert len(runs) == encoder.passes == 1


def test_no_vocabulary_head_is_loaded(tiny_model: TinyModel) -> None:
    for kind in ("bert", "electra-generator", "gpt2", "mbart"):
        encoder = load_encoder(tiny_model(kind), device="cpu")
        assert encoder.loaded.encoder.get_output_embeddings() is None


@pytest.mark.parametrize(
    ("kind", "n_unknown"),
    [("bert", [0, 1, 0, 1]), ("xlm-roberta", [0, 1, 0, 1]), ("gpt2", [0] * 4), ("llama", [0] * 4)],
)
def test_unknown_pieces_are_counted(tiny_model: TinyModel, kind: str, n_unknown: list[int]) -> None:
    """Byte-level tokenizers know every letter."""
    encoder = load_encoder(tiny_model(kind), device="cpu")
    texts, spans = [FLOWER, "漢字 ছিল", "গোলাপ 漢", "গোলাপ漢"], [(0, 5), (0, 2), (0, 5), (0, 6)]
    assert encoder.read(texts, spans, Pooling()).n_unknown.tolist() == n_unknown


@pytest.mark.parametrize(("kind", "asked", "message"), read_cases(__file__, "targets"))
def test_targets_that_are_refused(tiny_model: TinyModel, kind: str, asked: tuple[Any, ...], message: str) -> None:
    encoder = load_encoder(tiny_model(kind), device="cpu")
    more = dict(zip(("pieces", "roots"), asked[2:], strict=False))
    with pytest.raises(InputError, match=message):
        encoder.embed(*asked[:2], **more)
    assert encoder.passes == 0


@pytest.mark.parametrize(
    ("texts", "pooling", "message"),
    [
        ([FLOWER], "max", "pooling is 'max'; write one of cls, mean, last"),
        ([FLOWER, " "], "cls", "text ' ' does not have any piece"),
    ],
)
def test_sentences_that_are_refused(tiny_model: TinyModel, texts: list[str], pooling: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        load_encoder(tiny_model("bert"), device="cpu").encode(texts, pooling)


def test_a_sentence_too_long_loses_its_end(tiny_model: TinyModel) -> None:
    """What is left begins with [CLS] and ends with [SEP], as any sentence does."""
    encoder = load_encoder(tiny_model("bert", positions=40), device="cpu")
    ids = encoder.loaded.tokenizer(" ".join(["গোলাপ"] * 50))["input_ids"]
    with torch.inference_mode():
        states = encoder.loaded.encoder(input_ids=torch.tensor([[*ids[:39], ids[-1]]])).last_hidden_state[0]
    for pooling, expected in (("cls", states[0]), ("last", states[-1]), ("mean", states.mean(0))):
        vector = encoder.encode([" ".join(["গোলাপ"] * 50)], pooling)[0]
        np.testing.assert_allclose(vector, expected.numpy(), atol=1e-5)


def test_too_little_memory_halves_the_batch(
    tiny_model: TinyModel, targets: Targets, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoder = load_encoder(tiny_model("bert"), device="cpu")
    expected = encoder.embed(*targets)
    sizes: list[int] = []

    def small(loaded: Any, depths: Any, ids: Sequence[Any], *places: Any) -> list[torch.Tensor]:
        sizes.append(len(ids))
        if len(ids) > 2:
            raise torch.OutOfMemoryError
        return compute_vectors(loaded, depths, ids, *places)

    monkeypatch.setattr("prasanga.embeddings.encoder.compute_vectors", small)
    np.testing.assert_allclose(encoder.embed(*targets), expected, atol=1e-5, rtol=1e-5)
    assert sizes == [7, 3, 1, 2, 2, 2]  # four are not tried where three did not fit


def test_no_texts_give_no_vectors(tiny_model: TinyModel) -> None:
    encoder = load_encoder(tiny_model("bert"), device="cpu", layer=[0, -1])
    assert encoder.embed([], []).shape == (0, 32)
    assert [found.shape for found in encoder.run(encoder.read([], [], Pooling()))] == [(0, 32), (0, 32)]
    assert encoder.encode([]).shape == (0, 32)
