"""Folders of models with something wrong in them, up to where weights would be loaded."""

from __future__ import annotations

import json
import shutil
import struct
from pathlib import Path
from typing import Any

import pytest
from hostile_inputs import Edit, edited_bytes, edited_tree, edits, fuzzing, try_input
from hypothesis import given
from hypothesis import strategies as st
from tiny_models import build

from prasanga.models import ModelOptions
from prasanga.models.hub import find_weights, identity_of, open_source, stored_shapes
from prasanga.models.loading import open_config, open_tokenizer
from prasanga.models.pieces import read_pieces
from prasanga.models.shape import model_kind
from prasanga.plan.models import kind_at_hand

OPTIONS = ModelOptions()


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = build("bert", tmp_path_factory.mktemp("good") / "model")
    look(folder)
    open_tokenizer(open_source(folder), OPTIONS)
    return folder


@pytest.fixture(scope="module")
def folder(good: Path) -> Path:
    return Path(shutil.copytree(good, good.parent / "edited"))


def look(folder: Path) -> None:
    """What a plan and the check of a model do before they load anything."""
    kind_at_hand({"path": str(folder)})
    source = open_source(folder)
    model_kind(open_config(source, OPTIONS))
    identity_of(source, OPTIONS)
    stored_shapes(source, find_weights(source, OPTIONS))


CONFIGS: tuple[dict[str, Any], ...] = (
    {"model_type": "bert", "hidden_size": 32, "num_hidden_layers": 2, "vocab_size": 190, "id2label": {"0": "a"}},
    {"model_type": "gpt2", "n_layer": 2, "n_embd": 32, "architectures": ["GPT2LMHeadModel"]},
    {"model_type": "t5", "d_model": 32, "num_layers": 2, "is_encoder_decoder": True, "dtype": "bfloat16"},
    {"model_type": "llama", "rope_scaling": {"type": "linear", "factor": 2.0}, "quantization_config": {"bits": 4}},
    {"model_type": "gemma3", "text_config": {"model_type": "gemma3_text", "num_hidden_layers": 2}, "auto_map": {}},
)


@fuzzing()
@given(edits(), st.sampled_from(range(len(CONFIGS))), edits(2) | st.just([]))
def test_configs_of_models(folder: Path, good: Path, changes: list[Edit], which: int, others: list[Edit]) -> None:
    text = json.dumps(edited_tree(CONFIGS[which], changes)).encode()
    (folder / "config.json").write_bytes(edited_bytes(text, others) if len(others) > 1 else text)
    try_input("models: config.json", lambda: look(folder), str(folder))
    shutil.copy(good / "config.json", folder / "config.json")


@fuzzing()
@given(edits(), edits(2) | st.just([]), st.booleans())
def test_headers_of_weights(folder: Path, good: Path, changes: list[Edit], others: list[Edit], index: bool) -> None:
    data = (good / "model.safetensors").read_bytes()
    size = struct.unpack("<Q", data[:8])[0]
    path = folder / ("model.safetensors.index.json" if index else "model.safetensors")
    if index:
        (folder / "model.safetensors").unlink(missing_ok=True)
        listed = {"metadata": {"total_size": 9}, "weight_map": {"a": "m1.safetensors", "b": "m2.safetensors"}}
        path.write_bytes(edited_bytes(json.dumps(edited_tree(listed, changes)).encode(), others))
    else:
        header = json.dumps(edited_tree(json.loads(data[8 : 8 + size]), changes)).encode()
        path.write_bytes(edited_bytes(struct.pack("<Q", len(header)) + header + data[8 + size :], others))
    try_input("models: weights", lambda: look(folder), str(folder))
    path.unlink()
    shutil.copy(good / "model.safetensors", folder / "model.safetensors")


@fuzzing(0.25)
@given(edits(), st.sampled_from(["tokenizer.json", "tokenizer_config.json"]), st.booleans())
def test_tokenizers(folder: Path, good: Path, changes: list[Edit], name: str, as_bytes: bool) -> None:
    data = (good / name).read_bytes()
    changed = edited_bytes(data, changes) if as_bytes else json.dumps(edited_tree(json.loads(data), changes)).encode()
    (folder / name).write_bytes(changed)

    def use() -> None:
        tokenizer = open_tokenizer(open_source(folder), OPTIONS)
        read_pieces(tokenizer, ["ফুলের বাগান", "a rose"])

    try_input("models: tokenizers", use, str(folder))
    shutil.copy(good / name, folder / name)
