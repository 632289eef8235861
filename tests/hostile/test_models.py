"""Folders of models that would run code, lead elsewhere, or ask for more than any machine has; built on the spot.

Whatever is opened that should not be would write a canary: a file whose absence is the proof that nothing ran.
"""

from __future__ import annotations

import hashlib
import json
import os
import pickle
import re
import shutil
import struct
import sys
import zipfile
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
from prasanga.models.pieces import read_pieces
from prasanga.plan.models import kind_at_hand


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
    kind_at_hand({"path": str(folder)})
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


def test_the_model_that_is_spoiled_is_a_good_one(model: Path) -> None:
    use(model)


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


def test_code_in_the_archive_of_a_pickle_is_not_run(model: Path, canary: Path) -> None:
    path = pickled(model, canary)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("archive/code/__torch__.py", f"open({str(canary)!r}, 'w').write('sprung')")
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


@pytest.mark.parametrize("index", ["{", "[]", "7", '{"weight_map": []}', '{"weight_map": {}}', "[" * 5000, "\xff"])
def test_an_index_that_is_none(model: Path, index: str) -> None:
    (model / "model.safetensors").unlink()
    (model / "model.safetensors.index.json").write_text(index, encoding="latin-1")
    refused(model)


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
        assert "Python code of its own" in refused(model)
    assert not canary.exists()


def test_code_of_another_repository_is_not_run_even_where_code_may(model: Path, canary: Path) -> None:
    with_code(model, canary)
    rewrite(model / "config.json", auto_map={"AutoModel": "somebody/evil--evil.M"})
    assert "code of another repository" in refused(model, remote_code=True)
    assert not canary.exists()


KEYS = ["attn_implementation", "_attn_implementation", "_attn_implementation_internal", "experts_implementation"]


@pytest.mark.parametrize("key", [*KEYS, "kernel_config"])
@pytest.mark.parametrize("nested", [False, True])
@pytest.mark.parametrize(
    "value",
    [
        "evil/kernel",
        {"": "evil/kernel"},
        {"text_config": {"a": "evil/kernel"}},
        ["sdpa", ["evil/kernel"]],
        {"evil/kernel": 1},
    ],
    ids=str,
)
def test_compiled_code_of_the_hub_is_not_fetched(model: Path, key: str, nested: bool, value: object) -> None:
    rewrite(model / "config.json", **({"text_config": {key: value}} if nested else {key: value}))
    message = refused(model)
    assert "compiled code" in message
    assert "'evil/kernel'" in message


def test_an_adapter_does_not_lead_to_another_model(model: Path) -> None:
    (model / "adapter_config.json").write_text(json.dumps({"base_model_name_or_path": "evil/base"}))
    assert "adapter to another model" in refused(model)


def test_nothing_of_a_refused_model_is_imported(model: Path, canary: Path) -> None:
    before = set(sys.modules)
    test_code_of_a_model_is_not_run(model, canary, "config.json", known=False)
    assert not [name for name in set(sys.modules) - before if "evil" in name]


# ---- models of other things than text

OTHERS = ["whisper", "clip", "wav2vec2", "pixtral", "bark", "perceiver", "vit", "siglip", "llava", "blip"]
OTHERS += ["speecht5", "encodec", "decision_transformer", "clap", "hubert", "musicgen", "rag", "encoder-decoder"]


@pytest.mark.parametrize("kind", OTHERS)
def test_models_of_other_things_than_text_are_refused(model: Path, kind: str) -> None:
    try:
        written = AutoConfig.for_model(kind).to_dict()
    except Exception:  # one that asks for parts of its own
        written = {}
    (model / "config.json").write_text(json.dumps({**written, "model_type": kind}, default=str), encoding="utf-8")
    message = refused(model)
    assert "no model of text alone" in message or "config.json cannot be loaded" in message or "tokenizer" in message


# ---- links


@pytest.mark.parametrize("name", ["config.json", "model.safetensors", "tokenizer.json", "notes.txt"])
def test_links_to_files_elsewhere_are_refused(model: Path, tmp_path: Path, name: str) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (model / "notes.txt").write_text("x")
    (model / name).rename(elsewhere / name)
    (model / name).symlink_to(elsewhere / name)
    message = refused(model)
    assert f"{name} is a link" in message
    assert str(elsewhere) in message


def test_links_within_the_folder_and_in_the_cache_of_the_hub_are_its_own(good: Path, tmp_path: Path) -> None:
    root = tmp_path / "models--a--b"
    snapshot, blobs = root / "snapshots" / ("c" * 40), root / "blobs"
    snapshot.mkdir(parents=True)
    blobs.mkdir()
    for number, path in enumerate(sorted(good.iterdir())):
        shutil.copy(path, blobs / str(number))
        (snapshot / path.name).symlink_to(f"../../blobs/{number}")
    use(snapshot)


# ---- sizes and lies


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"vocab_size": 10**12}, "memory are free|is believed|cannot be loaded|rows"),
        ({"vocab_size": 10**13}, "is believed"),
        ({"vocab_size": 10**30}, "is believed"),
        ({"num_hidden_layers": 10**9}, "`num_hidden_layers` in its config.json is 1000000000"),
        ({"hidden_size": 10**15}, "is believed"),
        ({"hidden_size": 2**38, "intermediate_size": 2**38}, "."),
        ({"num_labels": 10**9}, "`num_labels`"),
        ({"max_position_embeddings": 10**14}, "is believed"),
        ({"text_config": {"num_layers": 10**8}}, "`num_layers`"),
        ({"num_hidden_layers": 5000, "num_experts": 500_000}, "5000 layers of 500000 parts"),
        ({"vocab_size": -5}, "."),
        ({"vocab_size": "many"}, "."),
        ({"num_hidden_layers": None}, "."),
        ({"hidden_act": "evil"}, "."),
        ({"model_type": ["bert"]}, "."),
        ({"architectures": 7, "model_type": 7}, "."),
        ({"pad_token_id": 10**9}, "."),
    ],
)
def test_sizes_that_no_machine_has(model: Path, changes: dict[str, Any], words: str) -> None:
    rewrite(model / "config.json", **changes)
    message = refused(model)
    assert re.search(words, message), message


NO_JSON = ("", "{", "[]", "null", "7", '"x"', "[" * 100_000, '{"a":' * 100_000, "\0", "\xff\xfe{")


@pytest.mark.parametrize("text", NO_JSON)
@pytest.mark.parametrize("file", ["config.json", "tokenizer.json", "tokenizer_config.json"])
def test_files_that_are_not_json(model: Path, file: str, text: str) -> None:
    (model / file).write_text(text, encoding="latin-1")
    refused(model)


@pytest.mark.parametrize(
    "content",
    [
        {},
        {"version": "1.0"},
        {"version": "1.0", "model": {"type": "Evil"}},
        {"version": "1.0", "model": {"type": "BPE", "vocab": {"a": 10**12}, "merges": [["a", "b"]]}},
        {"version": "9.9", "model": 7},
    ],
)
def test_a_tokenizer_that_is_none(model: Path, content: Any) -> None:
    (model / "tokenizer.json").write_text(json.dumps(content))
    refused(model)


def header(content: Any, claimed: int | None = None) -> bytes:
    text = content if isinstance(content, bytes) else json.dumps(content).encode()
    return struct.pack("<Q", len(text) if claimed is None else claimed) + text


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\0" * 8,
        header(b"{", 2**62),
        header({"a": {"dtype": "F32", "shape": [10**9, 10**9], "data_offsets": [0, 4]}}) + bytes(4),
        header({"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 2**62]}}) + bytes(8),
        header({"a": {"dtype": "F32", "shape": [2], "data_offsets": [8, 0]}}) + bytes(8),
        header({"a": {"dtype": "EVIL", "shape": [2], "data_offsets": [0, 8]}}) + bytes(8),
        header({"a": {"dtype": "F32", "shape": [-2], "data_offsets": [0, 8]}}) + bytes(8),
        header(b"[" * 100_000),
        header({"__metadata__": {"format": "evil"}}),
    ],
)
def test_safetensors_that_lie(model: Path, data: bytes) -> None:
    (model / "model.safetensors").write_bytes(data)
    assert "weights" in refused(model)


def test_a_file_that_is_no_file(model: Path) -> None:
    (model / "config.json").unlink()
    os.mkfifo(model / "config.json")  # opening it would wait for ever
    assert kind_at_hand({"path": str(model)}) == "auto"
    assert "no config.json" in refused_without_plan(model)


def refused_without_plan(folder: Path) -> str:
    with pytest.raises(InputError) as caught:
        check_model(folder)
    return str(caught.value)


def test_a_config_of_a_gigabyte_is_not_read(model: Path) -> None:
    with (model / "config.json").open("r+b") as file:
        file.truncate(1 << 30)
    assert "config.json has 1073741824 bytes" in refused_without_plan(model)


def test_a_tokenizer_at_which_rust_gives_up_when_it_is_read(model: Path) -> None:
    """A panic is no `Exception`, and went through to the terminal."""
    rewrite(model / "tokenizer.json", normalizer={"type": "Precompiled", "precompiled_charsmap": "/////w=="})
    with pytest.raises(InputError, match="its tokenizer cannot be loaded"):
        load_tokenizer(model)


@pytest.mark.parametrize(
    "part",
    [
        # ten million steps, after which the library ends it
        {"pre_tokenizer": {"type": "Split", "pattern": {"Regex": "(x+x+)+y"}, "behavior": "Isolated", "invert": False}},
        {"normalizer": {"type": "Precompiled", "precompiled_charsmap": "AAAAAAAA"}},
    ],
)
def test_a_tokenizer_at_which_rust_gives_up_when_it_is_used(model: Path, part: dict[str, Any]) -> None:
    rewrite(model / "tokenizer.json", **part)
    tokenizer = load_tokenizer(model)
    given_up = r"its tokenizer cannot cut a text into pieces \(.*(retry-limit|index out of bounds)"
    with pytest.raises(InputError, match=given_up) as caught:
        read_pieces(tokenizer, ["x" * 60])
    assert str(model) in str(caught.value)
    assert "Fetch the tokenizer that the model was trained with" in str(caught.value)
