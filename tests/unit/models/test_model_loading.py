"""What can be loaded is; what cannot is refused with a sentence that says what to do."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from prasanga.errors import InputError
from prasanga.models import hidden_size, load_model, model_identity, resolve_dtype, train_masked_model


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models") / "tiny"
    train_masked_model(
        ["মা ঘরে ফুল দেখে।", "বাবা বাগানে চাঁদ দেখে।"],
        folder,
        hidden_size=16,
        layers=1,
        heads=2,
        vocabulary_size=90,
        steps=2,
        sequence_length=16,
    )
    return folder


@pytest.fixture
def copied(trained: Path, tmp_path: Path) -> Path:
    return shutil.copytree(trained, tmp_path / "model")


def test_tokenizer_and_base_model_without_head(trained: Path) -> None:
    loaded = load_model(trained, device="cpu")
    assert loaded.tokenizer.is_fast
    assert type(loaded.encoder).__name__ == "BertModel"
    assert not loaded.encoder.training
    assert not any(parameter.requires_grad for parameter in loaded.encoder.parameters())
    assert (loaded.device.type, loaded.dtype) == ("cpu", "float32")
    weights = load_file(trained / "model.safetensors")
    read = loaded.encoder.get_input_embeddings().weight
    torch.testing.assert_close(read, weights["bert.embeddings.word_embeddings.weight"])
    assert load_model(trained, device="cpu", dtype="bfloat16").encoder.dtype == torch.bfloat16
    assert hidden_size(trained) == 16
    assert (resolve_dtype("auto", "cpu"), resolve_dtype("float16")) == ("float32", "float16")


def _rewrite(path: Path, **changes: object) -> None:
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


def _pickle_only(folder: Path) -> None:
    torch.save(load_file(folder / "model.safetensors"), folder / "pytorch_model.bin")
    (folder / "model.safetensors").unlink()


def _without_a_weight(folder: Path) -> None:
    weights = load_file(folder / "model.safetensors")
    del weights["bert.encoder.layer.0.output.dense.weight"]
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})


def _truncated(folder: Path) -> None:
    whole = (folder / "model.safetensors").read_bytes()
    (folder / "model.safetensors").write_bytes(whole[: len(whole) // 2])


def _too_many_pieces(folder: Path) -> None:
    tokenizer = json.loads((folder / "tokenizer.json").read_text())
    tokenizer["model"]["vocab"] |= {f"নতুন{i}": 1000 + i for i in range(5)}
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer))


def _without_tokenizer(folder: Path) -> None:
    for path in folder.glob("tokenizer*"):
        path.unlink()


def _of_other_width(folder: Path) -> None:
    config = json.loads((folder / "config.json").read_text())
    _rewrite(folder / "config.json", intermediate_size=config["intermediate_size"] + 8)


def _remote_code(folder: Path) -> None:
    (folder / "modeling_mine.py").write_text("raise SystemExit('this code must never run')\n")
    names = {"AutoConfig": "modeling_mine.Config", "AutoModel": "modeling_mine.Model"}
    _rewrite(folder / "config.json", model_type="mine", auto_map=names)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda folder: (folder / "config.json").unlink(), r"the folder has no config\.json"),
        (lambda folder: (folder / "config.json").write_text("{"), r"its config\.json cannot be loaded"),
        (lambda folder: _rewrite(folder / "config.json", model_type="unheard"), r"its config\.json cannot be loaded"),
        (lambda folder: (folder / "model.safetensors").unlink(), r"no weights\. Put its model\.safetensors there"),
        (_pickle_only, r"only pickled ones \(pytorch_model\.bin\).*save_pretrained"),
        (_without_a_weight, r"1 weights are missing .*layer\.0\.output\.dense\.weight"),
        (_truncated, r"its weights cannot be loaded"),
        (_without_tokenizer, r"no tokenizer\. Put the model's tokenizer\.json there"),
        (_too_many_pieces, r"the tokenizer has \d+ pieces, the model only \d+ rows"),
        (_of_other_width, r"\d+ weights are missing or of another shape"),
        (_remote_code, r"needs Python code of its own.*not run here"),
    ],
)
def test_a_folder_that_cannot_be_used(copied: Path, spoil: Callable[[Path], object], message: str) -> None:
    spoil(copied)
    with pytest.raises(InputError, match=message) as caught:
        load_model(copied, device="cpu")
    assert str(copied) in str(caught.value)


def test_a_slow_tokenizer_is_refused(copied: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Slow:
        is_fast = False

    monkeypatch.setattr("prasanga.models.loading.AutoTokenizer.from_pretrained", lambda *_, **__: Slow())
    with pytest.raises(InputError, match=r"Slow is not a fast tokenizer.*Convert it once"):
        load_model(copied, device="cpu")


def test_a_model_that_is_nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match=r"There is no folder .*/models/mine, and it cannot be the id"):
        load_model("./models/mine")
    with pytest.raises(InputError, match="not found"):
        load_model(tmp_path / "mine")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(InputError, match=r"There is no folder .*/nobody/nothing, and the hub gave no config\.json"):
        load_model("nobody/nothing")


def test_device_dtype_and_revision_are_checked(trained: Path) -> None:
    with pytest.raises(InputError, match="device is 'gpu'; write auto, cpu, cuda"):
        load_model(trained, device="gpu")
    with pytest.raises(InputError, match="dtype is 'half'; write auto, float32, bfloat16, float16"):
        load_model(trained, device="cpu", dtype="half")
    with pytest.raises(InputError, match="a folder has no revision, but revision is 'v2'"):
        load_model(trained, revision="v2")


def test_identity_is_the_content_wherever_it_lies(copied: Path, trained: Path) -> None:
    identity = model_identity(trained)
    assert identity == model_identity(copied)
    assert len(identity["sha256"]) == 64
    (copied / "README.md").write_text("about")
    (copied / "training.json").write_text("{}")
    assert model_identity(copied) == identity
    _rewrite(copied / "tokenizer_config.json", model_max_length=100)
    assert model_identity(copied) != identity


def test_the_package_is_light_until_it_is_used() -> None:
    program = (
        "import sys, prasanga.models, prasanga.embeddings;"
        "assert not {'torch', 'transformers'} & set(sys.modules), 'heavy';"
        "prasanga.models.model_identity; assert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
