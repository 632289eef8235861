"""Every family of encoder against the plain computation: one text at a time, the whole model, nothing padded."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from plain_embedding import PlainEmbedder, Span
from tiny_models import BLOCKS, FAMILIES, WIDTH

from prasanga.base.errors import InputError
from prasanga.embeddings import Encoder, Pooling, load_encoder

Plain = Callable[..., PlainEmbedder]
TinyModel = Callable[..., Path]
Targets = tuple[list[str], list[Span]]
KINDS = list(FAMILIES)


def close(found: np.ndarray, expected: Any) -> None:
    """To 1e-5; states inside a model, before its last norm, are large, and float32 has 1e-7 of them."""
    np.testing.assert_allclose(found, np.asarray(expected), atol=1e-5, rtol=1e-6)


@pytest.fixture(scope="module")
def mixed(targets: Targets) -> Targets:
    """The targets shuffled with texts of other lengths, one text many times, one target twice."""
    texts, spans = (list(part) for part in targets)
    texts += ["ফুল", "গোলাপ ছিল", " ".join(texts[:20:7]), texts[0], texts[0], texts[5], texts[5]]
    spans += [(0, 3), (0, 5), (8, 20), (0, 7), (0, len(texts[0])), spans[5], spans[5]]
    order = random.Random(5).sample(range(len(texts)), len(texts))
    return [texts[i] for i in order], [spans[i] for i in order]


@pytest.fixture(scope="module")
def encoder_of(tiny_model: TinyModel) -> Callable[[str], Encoder]:
    """`encoder_of(kind)`: the encoder of that tiny model, as it is loaded without any wishes."""
    return cache(lambda kind: load_encoder(tiny_model(kind), device="cpu"))


@pytest.mark.parametrize("kind", KINDS)
def test_the_plain_computation_can_tell(plain: Plain, tiny_model: TinyModel, kind: str) -> None:
    """Its last layer is the model's output; position, context and layer all change a vector."""
    text, ids = "গোলাপ লাল গোলাপ", plain(kind).tokenize("গোলাপ লাল গোলাপ")[0]
    base = transformers.AutoModel.from_pretrained(tiny_model(kind)).eval()
    base = base.get_encoder() if base.config.is_encoder_decoder else base
    states = plain(kind).states(ids)
    with torch.inference_mode():
        close(states[-1], base(input_ids=torch.tensor([ids])).last_hidden_state[0])
    assert len(states) == BLOCKS + 1
    assert all(np.abs(one - other).max() > 0.1 for one, other in itertools.pairwise(states))
    first, second = plain(kind).embed(text, (0, 5)), plain(kind).embed(text, (10, 15))
    assert np.abs(first - second).max() > 0.01
    longer = plain(kind).embed(text + " ছিল", (0, 5))
    assert (np.abs(first - longer).max() < 1e-5) == FAMILIES[kind].causal


@pytest.mark.parametrize("pieces_per_batch", [1, 90])
@pytest.mark.parametrize("kind", KINDS)
def test_several_layers_in_one_pass(
    plain: Plain, tiny_model: TinyModel, mixed: Targets, kind: str, pieces_per_batch: int
) -> None:
    layers = [0, 1, -1, 2, BLOCKS]
    encoder = load_encoder(tiny_model(kind), device="cpu", layer=layers, pieces_per_batch=pieces_per_batch)
    inputs = encoder.read(*mixed, Pooling())
    assert inputs.n_pieces.tolist() == [len(plain(kind).positions(*one)) for one in zip(*mixed, strict=True)]
    found = dict(zip(layers, encoder.run(inputs), strict=True))
    assert encoder.passes == len(set(mixed[0]))
    for layer, vectors in found.items():
        expected = plain(kind).embed_all(*mixed, layer)
        assert (vectors.dtype, vectors.shape) == (np.float32, (len(mixed[0]), WIDTH))
        assert expected.std(axis=0).min() > 1e-3  # vectors differ, so that a mix-up would show
        close(vectors, expected)
    np.testing.assert_array_equal(encoder.embed(*mixed), found[0])


@pytest.mark.parametrize("kind", KINDS)
def test_a_vector_does_not_depend_on_its_company(tiny_model: TinyModel, mixed: Targets, kind: str) -> None:
    encoder = load_encoder(tiny_model(kind), device="cpu", pieces_per_batch=90)
    together = encoder.embed(*mixed)
    alone = np.concatenate([encoder.embed([text], [span]) for text, span in zip(*mixed, strict=True)])
    close(together, alone)
    np.testing.assert_array_equal(encoder.embed(mixed[0][::-1], mixed[1][::-1]), together[::-1])  # bit by bit


@pytest.mark.parametrize("pieces", ["first", "last", "root"])
@pytest.mark.parametrize("kind", KINDS)
def test_some_pieces_only(
    plain: Plain, encoder_of: Callable[[str], Encoder], targets: Targets, kind: str, pieces: str
) -> None:
    texts, spans = targets
    roots = [start + max(1, (end - start) // 2) for start, end in spans]
    expected = []
    for text, span, root in zip(texts, spans, roots, strict=True):
        ids, offsets = plain(kind).tokenize(text)
        chosen = plain(kind).positions(text, span)
        if pieces == "root":  # a piece that begins before the word, with the space, begins in its root for our purpose
            chosen = [i for i in chosen if max(offsets[i][0], span[0]) < root]
        else:
            chosen = chosen[:1] if pieces == "first" else chosen[-1:]
        expected.append(plain(kind).states(ids)[-1][chosen].mean(axis=0))
    encoder = encoder_of(kind)
    found = encoder.embed(texts, spans, pieces=pieces, roots=roots if pieces == "root" else None)
    close(found, np.stack(expected))
    assert np.abs(found - encoder.embed(texts, spans)).max() > 0.1


@pytest.mark.parametrize("pooling", ["cls", "mean", "last"])
@pytest.mark.parametrize("kind", KINDS)
def test_sentence_vectors(
    plain: Plain, encoder_of: Callable[[str], Encoder], mixed: Targets, kind: str, pooling: str
) -> None:
    """The last position is the last piece of each text, not the padding behind it."""
    texts, encoder = mixed[0], encoder_of(kind)
    before = encoder.passes
    close(encoder.encode(texts, pooling), [plain(kind).encode(text, pooling) for text in texts])
    assert encoder.passes - before == len(set(texts))
    n_pieces = encoder.read(texts, None, Pooling("sentence", pooling)).n_pieces
    assert n_pieces.tolist() == [len(plain(kind).tokenize(text)[0]) for text in texts]


@pytest.mark.parametrize("kind", KINDS)
def test_weights_that_are_not_numbers_are_refused(tiny_model: TinyModel, tmp_path: Path, kind: str) -> None:
    """The weights in the file, as after a training that went wrong."""
    from safetensors.torch import load_file, save_file

    folder = tiny_model(kind)
    weights = load_file(folder / "model.safetensors")
    norms = sorted(name for name, one in weights.items() if one.ndim == 1 and not name.startswith(("decoder", "lm_")))
    for name in norms:
        weights[name][0] = float("nan")
    for path in folder.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    save_file(weights, tmp_path / "model.safetensors", metadata={"format": "pt"})
    encoder = load_encoder(tmp_path, device="cpu")
    for ask in (lambda: encoder.embed(["গোলাপ ছিল"], [(0, 5)]), lambda: encoder.encode(["গোলাপ ছিল"], "mean")):
        with pytest.raises(InputError, match=rf"model {tmp_path}: .*not finite in float32.*they are damaged"):
            ask()


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in ("mt5", "bloom")])  # these have no limit
def test_a_text_too_long_is_cut_around_its_target(plain: Plain, tiny_model: TinyModel, kind: str) -> None:
    """Every stretch that fits and holds the target, by itself: ours is the one with its target in the middle."""
    words = [["গোলাপ", "চাঁদের", "আলোয়"][i % 3] for i in range(48)]
    text = " ".join(words)
    spans = [(len(" ".join(words[:i])) + (i > 0), len(" ".join(words[: i + 1]))) for i in (0, 5, 24, 47)]
    encoder = load_encoder(tiny_model(kind, 40), device="cpu")
    room = encoder.max_pieces
    assert room == (38 if kind == "xlm-roberta" else 40)  # whose positions begin at padding_idx + 1 = 2
    found = encoder.embed([text] * 4, spans)
    assert encoder.read([text] * 4, spans, Pooling()).cut.all()

    oracle = plain(kind, 40)
    ids, offsets = oracle.tokenize(text)
    special = [i for i, (start, end) in enumerate(offsets) if start == end]
    ordinary = [i for i, (start, end) in enumerate(offsets) if start < end]
    stretches = [ordinary[i : i + room - len(special)] for i in range(len(ids) - room + 1)]
    for vector, span in zip(found, spans, strict=True):
        target = oracle.positions(text, span)
        fitting = [stretch for stretch in stretches if set(target) <= set(stretch)]
        tilts = [abs((target[0] - stretch[0]) - (stretch[-1] - target[-1])) for stretch in fitting]
        distances = []
        for stretch, tilt in zip(fitting, tilts, strict=True):
            if tilt == min(tilts):
                kept = sorted([*special, *stretch])
                states = oracle.states([ids[i] for i in kept])[-1]
                distances.append(np.abs(vector - states[[kept.index(i) for i in target]].mean(axis=0)).max())
        assert min(distances) < 1e-5


@pytest.mark.parametrize("kind", KINDS)
def test_words_that_the_text_does_not_have_cannot_matter(encoder_of: Callable[[str], Encoder], kind: str) -> None:
    """A vector for length l is made of its l words: the longer text may run in the same batch, and does nothing."""
    segment, context = "লাল গোলাপ ছিল", "মায়ের হাতে একটি লাল গোলাপ ছিল, বাবার হাতে কাঁঠাল"
    encoder = encoder_of(kind)
    start = context.index("গোলাপ")
    alone = encoder.embed([segment], [(4, 9)])[0]
    beside, whole = encoder.embed([segment, context], [(4, 9), (start, start + 5)])
    close(beside, alone)
    assert np.abs(whole - alone).max() > 0.01
