"""The engine against the plain computation: one text at a time, every layer kept, pieces found by brute force."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transformers import AutoModel, AutoTokenizer

from prasanga.embeddings import load_encoder
from prasanga.errors import InputError

Targets = tuple[list[str], list[tuple[int, int]]]
KINDS = ("bert", "electra", "albert", "xlm-roberta", "mbart", "t5", "gpt2")


class Oracle:
    """The simple way."""

    def __init__(self, folder: Path) -> None:
        self.tokenizer: Any = AutoTokenizer.from_pretrained(folder)
        model = AutoModel.from_pretrained(folder).eval()
        self.model: Any = model.get_encoder() if model.config.is_encoder_decoder else model

    def pieces(self, text: str, span: tuple[int, int]) -> list[int]:
        encoded = self.tokenizer(text, return_offsets_mapping=True, return_special_tokens_mask=True)
        marks = zip(encoded["offset_mapping"], encoded["special_tokens_mask"], strict=True)
        return [
            i for i, (offset, special) in enumerate(marks) if set(range(*offset)) & set(range(*span)) and not special
        ]

    @torch.inference_mode()
    def states(self, text: str, layer: int) -> np.ndarray:
        encoded = self.tokenizer(text, return_tensors="pt", return_token_type_ids=False)
        return np.asarray(self.model(**encoded, output_hidden_states=True).hidden_states[layer][0])

    def embed(self, texts: list[str], spans: list[tuple[int, int]], layer: int = -1) -> np.ndarray:
        rows = [self.states(text, layer)[self.pieces(text, span)] for text, span in zip(texts, spans, strict=True)]
        return np.stack([row.mean(axis=0) for row in rows])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("layer", [-1, 1])
def test_vectors_are_those_of_the_plain_computation(
    tiny_model: Callable[..., Path], targets: Targets, kind: str, layer: int
) -> None:
    folder, (texts, spans) = tiny_model(kind), targets
    expected = Oracle(folder).embed(texts, spans, layer)
    shuffled = list(range(len(texts)))
    random.Random(5).shuffle(shuffled)
    encoder = load_encoder(folder, device="cpu", layer=layer, pieces_per_batch=150)
    vectors = encoder.embed([texts[i] for i in shuffled], [spans[i] for i in shuffled])
    assert vectors.dtype == np.float32
    assert vectors.shape == (len(texts), 32) == (len(texts), encoder.dimension)
    assert expected.std(axis=0).min() > 0.01  # vectors differ, so that a mix-up would show
    np.testing.assert_allclose(vectors, expected[shuffled], atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("kind", ["bert", "xlm-roberta", "gpt2"])
def test_the_targets_above_are_hard_ones(tiny_model: Callable[..., Path], targets: Targets, kind: str) -> None:
    texts, spans = targets
    oracle = Oracle(tiny_model(kind))
    pieces = [oracle.pieces(text, span) for text, span in zip(texts, spans, strict=True)]
    assert np.mean([len(positions) >= 2 for positions in pieces]) >= 0.4
    assert any(start == 0 for start, _ in spans)
    assert any(end == len(text) for text, (_, end) in zip(texts, spans, strict=True))
    _, n_pieces = load_encoder(tiny_model(kind), device="cpu").embed_with_pieces(texts, spans)
    assert n_pieces.tolist() == [len(positions) for positions in pieces]
    if kind == "xlm-roberta":  # some piece is the last of one word and the first of the next
        shared = [
            texts[i] == texts[i + 1] and pieces[i][-1] == pieces[i + 1][0] and spans[i][1] < spans[i + 1][0]
            for i in range(len(texts) - 1)
        ]
        assert any(shared)


@pytest.mark.parametrize("kind", ["bert", "gpt2"])
def test_a_vector_does_not_depend_on_its_company(tiny_model: Callable[..., Path], targets: Targets, kind: str) -> None:
    texts, spans = targets
    encoder = load_encoder(tiny_model(kind), device="cpu")
    together = encoder.embed(texts, spans)
    alone = np.concatenate([encoder.embed([text], [span]) for text, span in zip(texts, spans, strict=True)])
    np.testing.assert_allclose(together, alone, atol=1e-5, rtol=1e-5)


def test_equal_texts_share_a_pass(tiny_model: Callable[..., Path], targets: Targets) -> None:
    texts, spans = targets
    encoder = load_encoder(tiny_model("bert"), device="cpu")
    encoder.embed(texts, spans)
    assert encoder.report.items == len(texts)
    assert encoder.report.passes == len(set(texts)) == 7


def test_every_layer_can_be_named_from_both_ends(tiny_model: Callable[..., Path], targets: Targets) -> None:
    texts, spans = targets[0][:3], targets[1][:3]
    for kind in ("bert", "gpt2"):
        by_layer = {k: load_encoder(tiny_model(kind), device="cpu", layer=k).embed(texts, spans) for k in range(-4, 4)}
        for layer in range(4):
            np.testing.assert_array_equal(by_layer[layer], by_layer[layer - 4])
    with pytest.raises(InputError, match=r"layer is 4, but the model has 3 blocks"):
        load_encoder(tiny_model("bert"), device="cpu", layer=4)


def test_blocks_above_the_layer_do_not_run(tiny_model: Callable[..., Path], targets: Targets) -> None:
    encoder = load_encoder(tiny_model("bert"), device="cpu", layer=1)
    for block in encoder.loaded.encoder.encoder.layer[1:]:
        block.forward = lambda *_, **__: pytest.fail("a block above the layer ran")
    encoder.embed(targets[0][:2], targets[1][:2])


@pytest.mark.parametrize(("kind", "room"), [("bert", 40), ("xlm-roberta", 38), ("gpt2", 40)])
@pytest.mark.parametrize("word", [0, 30, 59])
def test_a_long_text_is_cut_around_its_target(tiny_model: Callable[..., Path], kind: str, room: int, word: int) -> None:
    """XLM-R's positions begin at padding_idx + 1 = 2, so it reads two pieces less than its table has rows."""
    words = [["গোলাপ", "চাঁদের", "আলোয়"][i % 3] for i in range(60)]
    text = " ".join(words)
    start = len(" ".join(words[:word])) + (word > 0)
    span = (start, start + len(words[word]))
    folder = tiny_model(kind, positions=40)
    encoder = load_encoder(folder, device="cpu")
    assert encoder.max_pieces == room
    result = encoder.embed_targets([text, "চাঁদের আলোয়"], [span, (0, 6)])
    assert result.cut.tolist() == [True, False]
    assert encoder.report.cut == 1

    # Every stretch of the size that fits and holds the target, run by itself: ours is the most balanced of them.
    oracle = Oracle(folder)
    target = oracle.pieces(text, span)
    encoded = oracle.tokenizer(text, return_special_tokens_mask=True)
    ids, special = encoded["input_ids"], encoded["special_tokens_mask"]
    ordinary = [i for i, mark in enumerate(special) if not mark]
    size = room - sum(special)
    by_imbalance: dict[int, list[np.ndarray]] = {}
    for begin in range(len(ordinary) - size + 1):
        stretch = ordinary[begin : begin + size]
        if not set(target) <= set(stretch):
            continue
        kept = [i for i, mark in enumerate(special) if mark or i in stretch]
        with torch.inference_mode():
            states = oracle.model(input_ids=torch.tensor([[ids[i] for i in kept]])).last_hidden_state[0].numpy()
        imbalance = abs((target[0] - stretch[0]) - (stretch[-1] - target[-1]))
        by_imbalance.setdefault(imbalance, []).append(states[[kept.index(i) for i in target]].mean(axis=0))
    best = by_imbalance[min(by_imbalance)]
    assert min(np.abs(result.vectors[0] - vector).max() for vector in best) < 1e-5


def test_sentence_vectors(tiny_model: Callable[..., Path], targets: Targets) -> None:
    texts = list(dict.fromkeys(targets[0]))
    oracle = Oracle(tiny_model("xlm-roberta"))
    states = [oracle.states(text, -1) for text in texts]
    encoder = load_encoder(tiny_model("xlm-roberta"), device="cpu", pieces_per_batch=90)
    for pooling, expected in {
        "cls": [one[0] for one in states],
        "last": [one[-1] for one in states],
        "mean": [one.mean(axis=0) for one in states],
    }.items():
        np.testing.assert_allclose(encoder.encode(texts, pooling), np.stack(expected), atol=1e-5, rtol=1e-5)
    with pytest.raises(InputError, match="pooling is 'max'; write one of cls, mean, last"):
        encoder.encode(texts, "max")
    with pytest.raises(InputError, match="text 2 of 2, ' ', has no piece"):
        load_encoder(tiny_model("bert"), device="cpu").encode(["ফুল", " "])


def test_unknown_pieces_are_counted(tiny_model: Callable[..., Path]) -> None:
    encoder = load_encoder(tiny_model("bert"), device="cpu")
    result = encoder.embed_targets(["গোলাপ ছিল", "漢字 ছিল"], [(0, 5), (0, 2)])
    assert result.n_unknown.tolist() == [0, 1]
    assert encoder.report.unknown == 1


def test_a_target_without_a_piece_is_refused(tiny_model: Callable[..., Path]) -> None:
    encoder = load_encoder(tiny_model("bert"), device="cpu")
    with pytest.raises(InputError, match=r"no piece of the target ' ' at 5-6 of 'গোলাপ ছিল'"):
        encoder.embed(["গোলাপ ছিল"], [(5, 6)])
    with pytest.raises(InputError, match="span 3-99 does not lie in its text of 9 characters"):
        encoder.embed(["গোলাপ ছিল"], [(3, 99)])
    with pytest.raises(InputError, match="2 texts, but 1 spans"):
        encoder.embed(["ক", "খ"], [(0, 1)])


def test_a_target_longer_than_the_model_is_refused(tiny_model: Callable[..., Path]) -> None:
    word = "গোলাপগুলোতে" * 8
    with pytest.raises(InputError, match=r"reads 40 pieces, but the target alone has \d+"):
        load_encoder(tiny_model("gpt2", positions=40), device="cpu").embed([word], [(0, len(word))])


def test_too_little_memory_halves_the_batch(
    tiny_model: Callable[..., Path], targets: Targets, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts, spans = targets
    encoder = load_encoder(tiny_model("bert"), device="cpu")
    expected = encoder.embed(texts, spans)
    forward, sizes = encoder._forward, []

    def small(ids: list[tuple[int, ...]]) -> torch.Tensor:
        sizes.append(len(ids))
        if len(ids) > 2:
            raise torch.OutOfMemoryError
        return forward(ids)

    monkeypatch.setattr(encoder, "_forward", small)
    np.testing.assert_allclose(encoder.embed(texts, spans), expected, atol=1e-5, rtol=1e-5)
    assert max(sizes) == 7


def test_vectors_that_are_not_finite_are_refused(tiny_model: Callable[..., Path]) -> None:
    encoder = load_encoder(tiny_model("bert"), device="cpu")
    with torch.inference_mode():
        encoder.loaded.encoder.encoder.layer[-1].output.LayerNorm.weight[0] = float("nan")
    with pytest.raises(InputError, match="not finite in float32"):
        encoder.embed(["গোলাপ ছিল"], [(0, 5)])


def test_no_texts_give_no_vectors(tiny_model: Callable[..., Path]) -> None:
    encoder = load_encoder(tiny_model("bert"), device="cpu")
    assert encoder.embed([], []).shape == (0, 32)
    assert encoder.encode([]).shape == (0, 32)


def test_half_precision_stays_close(tiny_model: Callable[..., Path], targets: Targets) -> None:
    texts, spans = targets
    full = load_encoder(tiny_model("bert"), device="cpu").embed(texts, spans)
    half = load_encoder(tiny_model("bert"), device="cpu", dtype="bfloat16").embed(texts, spans)
    assert half.dtype == np.float32
    cosine = (full * half).sum(axis=1) / np.linalg.norm(full, axis=1) / np.linalg.norm(half, axis=1)
    assert cosine.min() > 0.99
    assert np.abs(full - half).max() > 1e-4
