"""Folders of models that would run code, lead elsewhere, or ask for more than any machine has; built on the spot.

Whatever is opened that should not be would write a canary: a file whose absence is the proof that nothing ran.
"""

from __future__ import annotations

import hashlib
import json
import pickle
import shutil
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file
from tiny_models import build
from transformers import AutoConfig

from prasanga.base.errors import InputError
from prasanga.models import ModelOptions, check_model, load_model, load_tokenizer
from prasanga.plan.models import find_kind


class Trap:
    """Writes the canary when it is unpickled."""

    def __init__(self, canary: Path) -> None:
        self.canary = canary

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return Path.write_text, (self.canary, "sprung")


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build("bert", tmp_path_factory.mktemp("good") / "model")


@pytest.fixture
def model(good: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(good, tmp_path / "model"))


@pytest.fixture
def canary(tmp_path: Path) -> Path:
    return tmp_path / "canary"


def use(folder: Path, **options: Any) -> None:
    """All that a study does with a model, from the plan on."""
    chosen = ModelOptions(**options)
    find_kind({"path": str(folder), "kind": "auto"})
    check_model(folder, options=chosen, stages=("embeddings", "likelihoods"))
    load_tokenizer(folder, options=chosen)
    load_model(folder, device="cpu", options=chosen)


def refused(folder: Path, **options: Any) -> str:
    with pytest.raises(InputError) as caught:
        use(folder, **options)
    message = str(caught.value)
    assert str(folder) in message
    assert "Traceback" not in message
    return message


def rewrite(path: Path, **changes: Any) -> None:
    path.write_text(json.dumps({**json.loads(path.read_text(encoding="utf-8")), **changes}), encoding="utf-8")


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_the_trap_works(canary: Path) -> None:
    pickle.loads(pickle.dumps(Trap(canary)))
    assert canary.read_text() == "sprung"


# ---- pickles


def pickled(folder: Path, canary: Path, name: str = "pytorch_model.bin") -> Path:
    weights: dict[str, Any] = dict(load_file(folder / "model.safetensors"))
    (folder / "model.safetensors").unlink()
    torch.save({**weights, "trap": Trap(canary)}, folder / name)
    return folder / name


def test_a_pickle_without_its_digest_is_not_opened(model: Path, canary: Path) -> None:
    path = pickled(model, canary)
    message = refused(model)
    assert "only pickled ones" in message
    assert sha256(path) in message
    assert not canary.exists()


def test_a_pickle_with_its_digest_is_read_as_tensors_alone(model: Path, canary: Path) -> None:
    path = pickled(model, canary)
    assert "its weights cannot be loaded" in refused(model, weights_sha256={path.name: sha256(path)})
    assert not canary.exists()


def test_an_old_pickle_that_is_no_archive_is_read_as_tensors_alone(model: Path, canary: Path) -> None:
    (model / "model.safetensors").unlink()
    path = model / "pytorch_model.bin"
    path.write_bytes(pickle.dumps(Trap(canary)))
    refused(model, weights_sha256={path.name: sha256(path)})
    assert not canary.exists()


@pytest.mark.parametrize("name", ["optimizer.pt", "training_args.bin", "scheduler.pt", "rng_state.pth", "data.pkl"])
def test_pickles_beside_the_weights_are_not_opened(model: Path, canary: Path, name: str) -> None:
    (model / name).write_bytes(pickle.dumps(Trap(canary)))
    use(model)
    assert not canary.exists()


def test_a_pickle_that_calls_itself_safetensors_is_not_unpickled(model: Path, canary: Path) -> None:
    (model / "model.safetensors").write_bytes(pickle.dumps(Trap(canary)))
    assert "weights" in refused(model)
    assert not canary.exists()


def test_a_config_does_not_choose_the_file_of_weights(model: Path, canary: Path) -> None:
    torch.save({"trap": Trap(canary)}, model / "evil.bin")
    rewrite(model / "config.json", transformers_weights="evil.bin")
    use(model)
    assert not canary.exists()


@pytest.mark.parametrize(
    "name",
    [
        *("../evil.bin", "/tmp/evil.bin", "evil.pkl", "sub/evil.bin", "..", 7, None, "pytorch_model.bin\0"),
        *(f"{'9' * 300}.bin", f"{'9' * 300}.safetensors"),
    ],
)
@pytest.mark.parametrize("kind", ["pytorch_model.bin", "model.safetensors"])
def test_an_index_does_not_climb_out(model: Path, canary: Path, name: Any, kind: str) -> None:
    (model / "model.safetensors").unlink()
    torch.save({"trap": Trap(canary)}, model.parent / "evil.bin")
    (model / f"{kind}.index.json").write_text(json.dumps({"metadata": {}, "weight_map": {"a": name, "b": name}}))
    assert "index.json lists" in refused(model)
    assert not canary.exists()


# ---- code


def with_code(folder: Path, canary: Path) -> None:
    (folder / "evil.py").write_text(
        f"open({str(canary)!r}, 'w').write('sprung')\n"
        "from transformers import BertConfig as C, BertModel as M, PreTrainedTokenizerFast as T\n"
    )


@pytest.mark.parametrize("file", ["config.json", "tokenizer_config.json"])
@pytest.mark.parametrize("known", [True, False])
def test_code_of_a_model_is_not_run(model: Path, canary: Path, file: str, known: bool) -> None:
    with_code(model, canary)
    classes = {"AutoConfig": "evil.C", "AutoModel": "evil.M", "AutoModelForMaskedLM": "evil.M"}
    tokenizers = {"AutoTokenizer": ["evil.T", "evil.T"]}
    unknown = {"model_type": "evil"} if file == "config.json" else {"tokenizer_class": "EvilTokenizer"}
    rewrite(model / file, auto_map={**classes, **tokenizers}, **({} if known else unknown))
    if known or file == "tokenizer_config.json":  # tokenizer.json is read as it is, whoever's class it names
        use(model)
    else:
        assert "its own Python code" in refused(model)
    assert not canary.exists()


def test_code_of_another_repository_is_not_run_even_where_code_may(model: Path, canary: Path) -> None:
    with_code(model, canary)
    rewrite(model / "config.json", auto_map={"AutoModel": "somebody/evil--evil.M"})
    assert "code of another repository" in refused(model, remote_code=True)
    assert not canary.exists()


@pytest.mark.parametrize("key", ["attn_implementation", "_attn_implementation", "experts_implementation"])
@pytest.mark.parametrize("value", ["evil/kernel", {"": "evil/kernel"}], ids=str)
def test_compiled_code_of_the_hub_is_not_fetched(model: Path, key: str, value: object) -> None:
    """transformers refuses it, and fetches what a config names from organizations that it trusts alone."""
    rewrite(model / "config.json", **{key: value})
    assert "config.json cannot be loaded" in refused(model)


# ---- models of other things than text

OTHERS = ["whisper", "clip", "vit", "decision_transformer"]


@pytest.mark.parametrize("kind", OTHERS)
def test_models_of_other_things_than_text_are_refused(model: Path, kind: str) -> None:
    try:
        written = AutoConfig.for_model(kind).to_dict()
    except Exception:  # one that asks for parts of its own
        written = {}
    (model / "config.json").write_text(json.dumps({**written, "model_type": kind}, default=str), encoding="utf-8")
    message = refused(model)
    assert "not a text model" in message or "config.json cannot be loaded" in message or "tokenizer" in message


# ---- files that are broken


@pytest.mark.parametrize("data", [b"", b"\0" * 8, struct.pack("<Q", 2**40) + b"{"])
def test_weights_that_are_none(model: Path, data: bytes) -> None:
    (model / "model.safetensors").write_bytes(data)
    assert "weights" in refused(model)
