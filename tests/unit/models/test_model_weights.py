"""Safetensors are read; a pickle only if its digest is written down, and then only as tensors."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from prasanga.base.errors import InputError
from prasanga.models import load_model
from prasanga.models.hub import find_weights, model_identity, open_source, stored_shapes
from prasanga.models.options import ModelOptions

Copy = Callable[[str], Path]


def _pickled(folder: Path, shards: int = 1) -> dict[str, str]:
    """Turn the weights of `folder` into pickles; their sha256 by name."""
    weights = load_file(folder / "model.safetensors")
    (folder / "model.safetensors").unlink()
    if shards == 1:
        torch.save(weights, folder / "pytorch_model.bin")
    else:
        names = [f"pytorch_model-{i + 1:05}-of-{shards:05}.bin" for i in range(shards)]
        place = {key: names[i % shards] for i, key in enumerate(weights)}
        for name in names:
            torch.save({key: weights[key] for key in weights if place[key] == name}, folder / name)
        (folder / "pytorch_model.bin.index.json").write_text(json.dumps({"metadata": {}, "weight_map": place}))
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.glob("*.bin")}


@pytest.mark.parametrize("shards", [1, 2])
def test_pickles_with_their_digests_are_the_same_model(tiny: Copy, tiny_copy: Copy, shards: int) -> None:
    folder = tiny_copy("bert")
    digests = _pickled(folder, shards)
    assert len(digests) == shards
    loaded = load_model(folder, device="cpu", options=ModelOptions(weights_sha256=digests))
    expected = load_model(tiny("bert"), device="cpu").encoder.state_dict()
    got = loaded.encoder.state_dict()
    assert got.keys() == expected.keys()
    # The pooler, which is not used, is in no file of a masked model.
    assert [name for name in expected if not torch.equal(got[name], expected[name])] == ["pooler.dense.weight"]


def test_without_a_digest_the_refusal_has_it(tiny_copy: Copy) -> None:
    folder = tiny_copy("bert")
    digests = _pickled(folder, 2)
    with pytest.raises(InputError, match="no safetensors weights, only pickled ones") as caught:
        load_model(folder, device="cpu")
    for name, found in digests.items():
        assert f"\n    {name}: {found}" in str(caught.value)
    first = min(digests)
    with pytest.raises(InputError, match="only pickled ones: pytorch_model-00002"):
        load_model(folder, device="cpu", options=ModelOptions(weights_sha256={first: digests[first]}))


def test_with_the_wrong_digest(tiny_copy: Copy) -> None:
    folder = tiny_copy("bert")
    digests = _pickled(folder)
    found = digests["pytorch_model.bin"]
    options = ModelOptions(weights_sha256={"pytorch_model.bin": "0" * 64})
    with pytest.raises(InputError, match=f"sha256 of pytorch_model.bin is {found}, but weights_sha256 has 0000"):
        load_model(folder, device="cpu", options=options)


def test_a_pickle_with_code_in_it_never_runs_it(tiny_copy: Copy, tmp_path: Path) -> None:
    class Trap:
        def __reduce__(self) -> tuple[Callable[[str], int], tuple[str]]:
            return os.system, (f"touch {tmp_path / 'sprung'}",)

    folder = tiny_copy("bert")
    weights: dict[str, object] = dict(load_file(folder / "model.safetensors"))
    (folder / "model.safetensors").unlink()
    torch.save({**weights, "trap": Trap()}, folder / "pytorch_model.bin")
    found = hashlib.sha256((folder / "pytorch_model.bin").read_bytes()).hexdigest()
    with pytest.raises(InputError, match="its weights cannot be loaded"):
        load_model(folder, device="cpu", options=ModelOptions(weights_sha256={"pytorch_model.bin": found}))
    assert not (tmp_path / "sprung").exists()


def test_safetensors_go_before_pickles(tiny_copy: Copy) -> None:
    folder = tiny_copy("bert")
    (folder / "pytorch_model.bin").write_bytes(b"not even a pickle")
    weights = find_weights(open_source(folder), ModelOptions())
    assert weights.safetensors
    assert [path.name for path in weights.files] == ["model.safetensors"]
    assert load_model(folder, device="cpu").dtype == "float32"


def test_the_identity_counts_the_weights_that_are_used(tiny: Copy, tiny_copy: Copy) -> None:
    folder = tiny_copy("bert")
    (folder / "pytorch_model.bin").write_bytes(b"beside safetensors")
    assert model_identity(folder) == model_identity(tiny("bert"))
    (folder / "pytorch_model.bin").unlink()
    _pickled(folder)
    before = model_identity(folder)
    with (folder / "pytorch_model.bin").open("ab") as file:
        file.write(b"\0")
    assert model_identity(folder) != before
    (folder / "modeling.py").write_text("")
    remote = ModelOptions(remote_code=True)
    with_code = model_identity(folder, options=remote)
    (folder / "modeling.py").write_text("changed = True")
    assert model_identity(folder, options=remote) != with_code


def _index(folder: Path, weight_map: dict[str, str]) -> None:
    (folder / "model.safetensors").rename(folder / "model-00001-of-00002.safetensors")
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": weight_map}))


@pytest.mark.parametrize(
    ("listed", "message"),
    [
        (
            "model-00002-of-00002.safetensors",
            r"lists 2 files of weights, but 1 of them are missing, for example 'model-00002",
        ),
        ("pytorch_model.bin", "1 of them are missing, for example 'pytorch_model"),
        ("../other.safetensors", r"1 of them are missing, for example '\.\./other"),
    ],
)
def test_an_index_that_lists_what_is_not_there(tiny_copy: Copy, listed: str, message: str) -> None:
    folder = tiny_copy("bert")
    _index(folder, {"a": "model-00001-of-00002.safetensors", "b": listed})
    shutil.copy(folder / "model-00001-of-00002.safetensors", folder.parent / "other.safetensors")
    with pytest.raises(InputError, match=message):
        find_weights(open_source(folder), ModelOptions())


def test_no_weights_and_weights_of_another_name(tiny_copy: Copy) -> None:
    folder = tiny_copy("bert")
    (folder / "model.safetensors").rename(folder / "adapter.safetensors")
    with pytest.raises(InputError, match=r"no weights \(adapter\.safetensors is not a name or format that is read\)"):
        find_weights(open_source(folder), ModelOptions())
    (folder / "adapter.safetensors").unlink()
    with pytest.raises(InputError, match=r"the folder has no weights\. Put its model\.safetensors there"):
        find_weights(open_source(folder), ModelOptions())


def test_shapes_come_from_the_head_of_the_file(tiny_copy: Copy) -> None:
    folder = tiny_copy("bert")
    source = open_source(folder)
    shapes = stored_shapes(source, find_weights(source, ModelOptions()))
    expected = load_file(folder / "model.safetensors")
    assert shapes == {name: tuple(tensor.shape) for name, tensor in expected.items()}
    whole = (folder / "model.safetensors").read_bytes()
    (folder / "model.safetensors").write_bytes(whole[:-1])
    with pytest.raises(InputError, match=r"its weights in model\.safetensors cannot be loaded"):
        stored_shapes(source, find_weights(source, ModelOptions()))


def test_a_config_that_names_another_weight_file_is_not_followed(tiny: Copy, tiny_copy: Copy) -> None:
    folder = tiny_copy("bert")
    shutil.copy(folder / "model.safetensors", folder / "other.safetensors")
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "transformers_weights": "other.safetensors"}))
    (folder / "other.safetensors").write_bytes(b"broken")
    got = load_model(folder, device="cpu").encoder.get_input_embeddings().weight
    assert torch.equal(got, load_model(tiny("bert"), device="cpu").encoder.get_input_embeddings().weight)
