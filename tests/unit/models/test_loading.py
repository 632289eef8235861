"""What can be loaded is; what cannot is refused with a sentence that says what to do; a hub is played by a cache."""

from __future__ import annotations

import gc
import hashlib
import json
import pickle
import shutil
import subprocess
import sys
import weakref
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
import transformers
from huggingface_hub import errors
from safetensors.torch import load_file, save_file
from scoring_models import KINDS as KIND_OF
from tables import read_cases
from tiny_models import byte_fallback, save_tokenizer
from transformers import AutoTokenizer

from prasanga.base.errors import InputError
from prasanga.embeddings import load_encoder
from prasanga.models import ModelOptions, check_files, check_model, load_model, load_tokenizer, model_identity
from prasanga.models.heads import load_with_head
from prasanga.models.hub import open_source, require_unchanged
from prasanga.models.loading import use_onednn
from prasanga.models.packaged import read_kind
from prasanga.models.pieces import read_pieces

Folder = Callable[[str], Path]
Hub = Callable[..., str]
BOTH = ["embeddings", "likelihoods"]
HIDING = ["encoder", "encoder-decoder"]


# ---- what a model is


@pytest.mark.parametrize(("kind", "expected"), read_cases(__file__, "checkpoints"))
def test_what_a_model_is(tiny: Folder, kind: str, expected: list[Any]) -> None:
    keys = ("kind", "parameters", "parameters_with_head", "max_pieces", "vocabulary", "begins_with_special", "mask")
    found = check_model(tiny(kind), stages=BOTH, masked=HIDING)
    assert json.loads(json.dumps(found)) == found
    assert [found[key] for key in keys] == expected
    assert (found["weights_bytes"], found["weights_bytes_with_head"]) == (4 * expected[1], 4 * expected[2])
    assert (found["hidden_size"], found["blocks"], found["head"], found["pinned"]) == (32, 3, True, True)
    assert found["identity"] == model_identity(tiny(kind))
    loaded = load_model(tiny(kind), device="cpu")
    assert sum(each.numel() for each in loaded.encoder.parameters()) == expected[1]
    vectors = check_model(tiny(kind), dtype="bfloat16")
    assert (vectors["head"], vectors["weights_bytes_with_head"]) == (None, None)
    assert vectors["weights_bytes"] == 2 * expected[1]
    eight = check_model(tiny(kind), dtype="bfloat16", options=ModelOptions(quantization="int8"))
    assert expected[1] < eight["weights_bytes"] <= 2 * expected[1]


def test_tokenizer_and_base_model_without_head(tiny: Folder) -> None:
    loaded = load_model(tiny("bert"), device="cpu")
    assert loaded.tokenizer.is_fast
    assert type(loaded.encoder).__name__ == "BertModel"
    assert not loaded.encoder.training
    assert not any(parameter.requires_grad for parameter in loaded.encoder.parameters())
    assert (loaded.device.type, loaded.dtype) == ("cpu", "float32")
    weights = load_file(tiny("bert") / "model.safetensors")
    read = loaded.encoder.get_input_embeddings().weight
    torch.testing.assert_close(read, weights["bert.embeddings.word_embeddings.weight"])
    assert load_model(tiny("bert"), device="cpu", dtype="bfloat16").encoder.dtype == torch.bfloat16


@pytest.mark.parametrize("kind", ["mbart", "mt5"])
def test_only_the_encoder_of_an_encoder_decoder_is_kept(
    tiny: Folder, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    from transformers.models import mbart, mt5

    layers = {"mbart": mbart.modeling_mbart.MBartDecoderLayer, "mt5": mt5.modeling_mt5.MT5LayerCrossAttention}
    layer = layers[kind]
    in_memory = weakref.WeakSet[torch.nn.Module]()
    begin = layer.__init__

    def noted(self: torch.nn.Module, *args: Any, **options: Any) -> None:
        begin(self, *args, **options)
        in_memory.add(self)

    monkeypatch.setattr(layer, "__init__", noted)
    loaded = load_model(tiny(kind), device="cpu")
    gc.collect()
    assert not in_memory
    whole = transformers.AutoModel.from_pretrained(tiny(kind))
    assert len(in_memory) == 2
    ids = torch.tensor([loaded.tokenizer("মায়ের হাতে গোলাপ")["input_ids"]])
    with torch.no_grad():
        got = loaded.encoder(input_ids=ids).last_hidden_state
        torch.testing.assert_close(got, whole.get_encoder()(input_ids=ids).last_hidden_state)


# ---- folders that cannot be used


def rewrite(path: Path, **changes: object) -> None:
    content = {**json.loads(path.read_text()), **changes}
    path.write_text(json.dumps({key: value for key, value in content.items() if value is not None}))


def drop(prefix: str) -> Callable[[Path], None]:
    """Leave the weights out whose name begins so."""

    def spoil(folder: Path) -> None:
        path = folder / "model.safetensors"
        kept = {name: tensor for name, tensor in load_file(path).items() if not name.startswith(prefix)}
        save_file(kept, path, metadata={"format": "pt"})

    return spoil


def pickle_weights(folder: Path, shards: int = 1) -> dict[str, str]:
    """Turn the weights of `folder` into pickles; their sha256 by name."""
    weights = load_file(folder / "model.safetensors")
    (folder / "model.safetensors").unlink()
    names = ["pytorch_model.bin"]
    if shards > 1:
        names = [f"pytorch_model-{i + 1:05}-of-{shards:05}.bin" for i in range(shards)]
        place = {key: names[i % shards] for i, key in enumerate(weights)}
        (folder / "pytorch_model.bin.index.json").write_text(json.dumps({"metadata": {}, "weight_map": place}))
    for number, name in enumerate(names):
        torch.save({key: weights[key] for i, key in enumerate(weights) if i % shards == number}, folder / name)
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.glob("*.bin")}


def add_code(folder: Path) -> None:
    (folder / "modeling_mine.py").write_text("raise SystemExit('this code must never run')\n")
    names = {"AutoConfig": "modeling_mine.Config", "AutoModel": "modeling_mine.Model"}
    rewrite(folder / "config.json", model_type="mine", auto_map=names)


def split(*listed: str) -> Callable[[Path], None]:
    """Put the weights into the first file that an index without metadata lists."""

    def spoil(folder: Path) -> None:
        path = folder / "model.safetensors"
        names = dict(zip(load_file(path), listed, strict=False)) | {"x": listed[0]}
        (folder / "model.safetensors.index.json").write_text(json.dumps({"metadata": None, "weight_map": names}))
        path.rename(folder / listed[0])

    return spoil


def remove(*patterns: str) -> Callable[[Path], None]:
    return lambda folder: [path.unlink() for pattern in patterns for path in folder.glob(pattern)] and None


def rename(old: str, new: str) -> Callable[[Path], None]:
    """Put one file of `folder` in another place."""

    def spoil(folder: Path) -> None:
        (folder / new).parent.mkdir(exist_ok=True)
        (folder / old).rename(folder / new)

    return spoil


def rename_weights(change: Callable[[str], str]) -> Callable[[Path], None]:
    """Give every weight another name."""

    def spoil(folder: Path) -> None:
        path = folder / "model.safetensors"
        save_file({change(name): each for name, each in load_file(path).items()}, path, metadata={"format": "pt"})

    return spoil


def settings(**changes: object) -> Callable[[Path], None]:
    return lambda folder: rewrite(folder / "config.json", **changes)


def write(name: str, content: str) -> Callable[[Path], None]:
    return lambda folder: (folder / name).write_text(content) and None


def make_old(folder: Path) -> None:
    rename("config.json", "0_BERT/config.json")(folder)
    write("config.json", '{"__version__": "0.2"}')(folder)


def leave_encoder(folder: Path) -> None:
    drop("decoder.")(folder)
    settings(is_encoder_decoder=False, architectures=["MT5EncoderModel"])(folder)


ADAPTER = {"peft_type": "LORA", "task_type": "CAUSAL_LM", "base_model_name_or_path": "someone/gpt"}
POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 9\n"


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (remove("config.json"), r"the folder has no config\.json of a model\. Give"),
        (rename("config.json", "0_BERT/config.json"), r"but 0_BERT, .* Write path: .*/0_BERT for .*mean"),
        (make_old, r"but 0_BERT, .* Write path: .*/0_BERT for .*mean"),
        (rename("config.json", "checkpoint-5/config.json"), r"Write path: .*/checkpoint-5 for this checkpoint"),
        (
            write("adapter_config.json", json.dumps(ADAPTER)),
            r"to the model someone/gpt\. .*merge_and_unload",
        ),
        (settings(quantization_config={"quant_method": "gptq"}), r"quantization_config \(gptq\).*quantization: int8"),
        (write("model.safetensors", POINTER), r"model\.safetensors is not the file itself .*`git lfs pull`"),
        (remove("tokenizer*"), r"no tokenizer\. Put the model's tokenizer\.json there .*`AutoTokenizer"),
        (remove("model.safetensors"), r"no model\.safetensors\. Give the folder"),
        (rename("model.safetensors", "tf_model.h5"), r"another library \(tf_model\.h5\).*<5.* from_tf=True"),
        (rename("model.safetensors", "flax_model.msgpack"), r"\(flax_model\.msgpack\).* from_flax=True"),
        (rename("model.safetensors", "mine-Q4.gguf"), r"but mine-Q4\.gguf, .* gguf_file='mine-Q4\.gguf'"),
        (rename("model.safetensors", "gptq.safetensors"), r"but gptq\.safetensors\. .* call it model\.safetensors"),
        (rename("model.safetensors", "zero_to_fp32.py"), r"`python zero_to_fp32\.py \. \. --safe_serialization`"),
        (rename_weights(lambda name: f"{name}.lora_A.x"), r"is a weight of an adapter that was not merged\. Merge"),
        (rename_weights(lambda name: f"{name}.SCB"), r"SCB' is a weight of packed numbers .* Use the model that"),
        (pickle_weights, r"only pickled ones: pytorch_model\.bin, sha256 [0-9a-f]{64}.*\n  weights_sha256:"),
        (split("1.safetensors", "2.safetensors"), r"lists 2 files .* 1 of them are missing, .*'2\.safetensors'"),
        (write("config.json", "{"), r"its config\.json cannot be loaded"),
        (settings(model_type="no"), r"its config\.json cannot be loaded"),
        (write("tokenizer.json", "{}"), r"its tokenizer cannot be loaded"),
        (settings(vocab_size=188), r"has 188 rows .* 2 pieces .*: '.+' \(188\), '.+' \(189\).*resize\w+\(190\)"),
        (drop("bert.encoder.layer.1"), r"16 weights are missing .*fetch the model again"),
        (rename_weights(lambda name: f"inner.{name}"), r"fetch the model again\. The file has 'inner\.bert"),
        (settings(num_hidden_layers=2), r"has 2 blocks, .* have 'bert\.encoder\.layer\.2\."),
        (settings(intermediate_size=72), r"\d+ weights .* another shape"),
        (add_code, r"needs its own Python code.*not run here.*remote_code: true"),
    ],
)
def test_a_folder_that_cannot_be_used(
    copied: Folder, spoil: Callable[[Path], object], message: str, request: pytest.FixtureRequest
) -> None:
    folder = copied("bert")
    spoil(folder)
    number = request.node.callspec.indices["spoil"]
    for use in [check_model, lambda path: load_model(path, device="cpu")] + [check_files] * (number < LISTED):
        with pytest.raises(InputError, match=f"(?s){message}") as caught:
            use(folder)
        assert str(caught.value).startswith(f"model {folder}: ")


LISTED = 18
"""So many of the folders above are refused by their list of files alone, before a job runs."""


@pytest.mark.parametrize(
    "change",
    [
        rename_weights(lambda name: f"_orig_mod.{name}"),
        rename_weights(lambda name: f"module._orig_mod.{name}"),
        rename_weights(lambda name: f"base_model.model.{name}"),
        split("model-00001-of-00001.safetensors"),
        settings(chunk_size_feed_forward=7),
        settings(id2label={str(number): "x" for number in range(300)}),
    ],
)
def test_a_folder_written_in_another_way_is_the_same_model(
    tiny: Folder, copied: Folder, change: Callable[[Path], object]
) -> None:
    folder = copied("bert")
    change(folder)
    check_files(folder, stages=BOTH)
    assert check_model(folder, stages=BOTH)["parameters_with_head"] == 37_246
    read, expected = (load_with_head(path, device="cpu") for path in (folder, tiny("bert")))
    ids = [(2, 9, 14, 3)]
    torch.testing.assert_close(read.states(ids), expected.states(ids))
    torch.testing.assert_close(read.logits(read.states(ids)[0]), expected.logits(expected.states(ids)[0]))


def test_weights_that_are_all_zero_are_refused(copied: Folder) -> None:
    folder = copied("bert")
    path = folder / "model.safetensors"
    save_file({name: torch.zeros_like(each) for name, each in load_file(path).items()}, path, metadata={"format": "pt"})
    for load in (load_model, load_with_head):
        with pytest.raises(InputError, match="all embeddings in its weights are 0"):
            load(folder, device="cpu")


SHAPE = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4}
SHAPE |= {"num_key_value_heads": 2, "vocab_size": 360, "max_position_embeddings": 128}
ROPE = {"rope_type": "default", "mrope_section": [1, 1, 2], "rope_theta": 1e6}
PICTURES = {"hidden_size": 32, "intermediate_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2}
PICTURES |= {"image_size": 28, "patch_size": 14}
QWEN = {"depth": 1, "embed_dim": 32, "hidden_size": 32, "num_heads": 2}


@pytest.mark.parametrize(
    ("family", "text", "pictures"),
    [
        ("Gemma3", SHAPE | {"head_dim": 8}, PICTURES),
        ("Llava", SHAPE | {"model_type": "llama"}, PICTURES | {"model_type": "clip_vision_model"}),
        ("Qwen2VL", SHAPE | {"rope_parameters": ROPE}, QWEN),
    ],
)
def test_a_decoder_beside_pictures_is_a_decoder_everywhere(
    copied: Folder, family: str, text: dict[str, Any], pictures: dict[str, Any]
) -> None:
    folder = copied("llama")
    config = getattr(transformers, f"{family}Config")(text_config=text, vision_config=pictures, image_token_index=5)
    torch.manual_seed(3)
    model = transformers.AutoModelForImageTextToText.from_config(config).eval()
    model.save_pretrained(folder)
    ids = load_tokenizer(folder)("মায়ের হাতে লাল গোলাপ")["input_ids"]
    with torch.no_grad():
        expected = model(input_ids=torch.tensor([ids]), output_hidden_states=True)
    check_files(folder, stages=BOTH)
    assert read_kind(json.loads((folder / "config.json").read_text())) == "decoder"
    report = check_model(folder, stages=BOTH)
    assert (report["kind"], report["blocks"], report["hidden_size"]) == ("decoder", 2, 32)
    vectors = load_encoder(folder, device="cpu").encode(["মায়ের হাতে লাল গোলাপ"], "last")
    torch.testing.assert_close(torch.tensor(vectors), expected.hidden_states[-1][:, -1])
    scorer = load_with_head(folder, device="cpu")
    torch.testing.assert_close(scorer.logits(scorer.states([ids])[0]), expected.logits[0])


@pytest.mark.parametrize(
    ("family", "spoil", "message"),
    [
        ("bert", drop("cls."), r"5 weights are missing .*, for example 'cls\.predictions.* without vocabulary head"),
        ("llama", drop("lm_head."), r"1 weights are missing .*, for example 'lm_head\.weight'"),
        ("mbart", drop("model.decoder."), r"weights .* 'model\.decoder\.embed_positions\.weight'"),
        ("mt5", drop("decoder."), r"for example 'decoder\.block.* write stages: \[embeddings\]"),
        ("mt5", leave_encoder, r"for example 'decoder\.block"),
        ("electra", lambda _: None, r"an ELECTRA's discriminator"),
    ],
)
def test_files_without_what_probabilities_need(
    copied: Folder, family: str, spoil: Callable[[Path], object], message: str
) -> None:
    folder = copied(family)
    spoil(folder)
    check_files(folder)  # for vectors it has all that is needed
    assert check_model(folder)["head"] is None
    for use in (lambda: check_model(folder, stages=BOTH), lambda: load_with_head(folder, device="cpu")):
        with pytest.raises(InputError, match=message):
            use()
    with pytest.raises(InputError, match=r": it was saved without vocabulary head .* write stages: \[embeddings\]"):
        check_files(folder, stages=BOTH)


@pytest.mark.parametrize(
    ("family", "asked", "message"),
    [
        ("bert", {"masked": HIDING}, r"its tokenizer lacks a mask piece, so no word can be masked\. Use a model"),
        (
            "mt5",
            {"masked": HIDING},
            r"lacks a mask piece, so no word can be masked\. Ask for encoder_decoder: causal, or u",
        ),
        ("gpt2", {"kinds": HIDING}, r"kind decoder, .* need the kind encoder or encoder-decoder\. Write kind: decoder"),
        ("gpt2", {"options": ModelOptions(kind="encoder")}, r"kind is encoder, but this is a decoder \(gpt2\)\. Write"),
        ("bert", {"layers": [-1, 3]}, r"layer is \[-1, 3\], which repeats one"),
        ("bert", {"layers": [4]}, r"layer is 4, but the model has 3 blocks"),
        ("mbart", {"language_codes": {"bn": "bn_XX"}}, r"has bn: bn_XX, which is no piece .* It has bn_IN, en_XX"),
        ("gpt2", {"language_codes": {"bn": "bn_IN"}}, r"which is no piece of the tokenizer\. No pieces for languages"),
        ("bert", {"revision": "v2"}, r"a folder has no revision, but revision is 'v2'"),
    ],
)
def test_what_a_model_cannot_give(copied: Folder, family: str, asked: dict[str, Any], message: str) -> None:
    folder = copied(family)
    rewrite(folder / "tokenizer_config.json", mask_token=None)
    (folder / "tokenizer.json").write_text((folder / "tokenizer.json").read_text().replace("<extra_id_", "<other_id_"))
    assert check_model(folder, stages=BOTH, masked=["none"])["kind"] == KIND_OF[family]
    with pytest.raises(InputError, match=message):
        check_model(folder, stages=BOTH, **asked)


def test_a_slow_tokenizer_is_refused(tiny: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "prasanga.models.loading.AutoTokenizer.from_pretrained", lambda *_, **__: SimpleNamespace(is_fast=False)
    )
    with pytest.raises(InputError, match=r"SimpleNamespace is not a fast tokenizer.*Save it as tokenizer"):
        load_model(tiny("bert"), device="cpu")


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"quantization": "int4"}, r"quantization is 'int4'.* Write quantization: none or int8"),
        ({"kind": "causal"}, r"kind 'causal'.* kind: auto, encoder, decoder, encoder-decoder"),
        ({"cards": -1}, r"cards -1.* cards: 0, 1, or more without int8"),
        ({"cards": 2, "quantization": "int8"}, r"more without int8"),
    ],
)
def test_options_are_checked_when_they_are_made(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        ModelOptions(**wrong)


# ---- weights


@pytest.mark.parametrize("shards", [1, 2])
def test_pickles_with_their_digests_are_the_same_model(tiny: Folder, copied: Folder, shards: int) -> None:
    folder = copied("bert")
    digests = pickle_weights(folder, shards)
    loaded = load_model(folder, device="cpu", options=ModelOptions(weights_sha256=digests))
    expected = load_model(tiny("bert"), device="cpu").encoder.state_dict()
    got = loaded.encoder.state_dict()
    assert got.keys() == expected.keys()
    # The pooler, which is not used, is in no file of a masked model.
    assert [name for name in expected if not torch.equal(got[name], expected[name])] == ["pooler.dense.weight"]
    assert check_model(folder, stages=BOTH, options=ModelOptions(weights_sha256=digests))["head"] is True
    with pytest.raises(InputError, match="no safetensors weights, only pickled ones") as caught:
        load_model(folder, device="cpu")
    assert all(f"\n    {name}: {found}" in str(caught.value) for name, found in digests.items())
    last = max(digests)
    wrong = ModelOptions(weights_sha256={**digests, last: "0" * 64})
    with pytest.raises(InputError, match=f"sha256 of {last} is {digests[last]}, but weights_sha256 has 0000"):
        load_model(folder, device="cpu", options=wrong)


def test_identity_is_the_content_that_counts(tiny: Folder, copied: Folder) -> None:
    folder, identity = copied("bert"), model_identity(tiny("bert"))
    for beside in ("README.md", "training.json", "pytorch_model.bin", "modeling.py"):
        (folder / beside).write_text("{}")
    assert model_identity(folder) == identity
    remote = ModelOptions(remote_code=True)
    with_code = model_identity(folder, options=remote)
    (folder / "modeling.py").write_text("changed = True")
    assert identity != with_code != model_identity(folder, options=remote)
    rewrite(folder / "tokenizer_config.json", model_max_length=100)
    assert model_identity(folder) != identity
    pickle_weights(folder)
    before = model_identity(folder)
    with (folder / "pytorch_model.bin").open("ab") as file:
        file.write(b"\0")
    assert model_identity(folder) != before


@pytest.mark.parametrize("name", ["model.safetensors", "tokenizer.json", "config.json"])
def test_a_model_that_changed_since_it_was_checked_is_refused(
    copied: Folder, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, hub = copied("bert"), {"id": "owner/name", "commit": "ab"}
    identity = model_identity(folder)
    require_unchanged("owner/name", hub, ModelOptions(), tmp_path)  # of the hub nothing is asked
    require_unchanged(folder, identity, ModelOptions(), tmp_path)
    (folder / "README.md").write_text("a note beside the model is no change")
    with monkeypatch.context() as patched:
        patched.setattr("prasanga.models.hub.sha256_of_file", lambda _: pytest.fail("files are read again"))
        require_unchanged(folder, identity, ModelOptions(), tmp_path)
    data = bytearray((folder / name).read_bytes())
    data[len(data) // 2] ^= 4
    (folder / name).write_bytes(data)
    with pytest.raises(InputError, match=r"its files were replaced, damaged or removed.* delete the report"):
        require_unchanged(folder, identity, ModelOptions(), tmp_path)
    (folder / name).unlink()
    with pytest.raises(InputError, match="its files were replaced, damaged or removed after"):
        require_unchanged(folder, identity, ModelOptions(), tmp_path)


# ---- random weights


def load_twin(folder: Path, seed: int = 5, **more: Any) -> Any:
    return load_model(folder, device="cpu", options=ModelOptions(random_weights=seed), **more)


@pytest.mark.parametrize("kind", ["bert", "albert", "mbart", "mt5", "gpt2"])
def test_random_weights_are_those_that_the_family_begins_with(tiny: Folder, kind: str) -> None:
    folder = tiny(kind)  # made when it is first asked for, which draws numbers
    before = torch.get_rng_state()
    drawn = load_twin(folder).encoder.state_dict()
    assert torch.equal(torch.get_rng_state(), before)  # the process draws as if there had been no twin
    config = transformers.AutoConfig.from_pretrained(folder)
    if config.is_encoder_decoder:
        config.decoder_layers = config.num_decoder_layers = 0
    torch.manual_seed(5)
    plain = transformers.AutoModel.from_config(config, dtype=torch.float32)
    expected = (plain.get_encoder() if config.is_encoder_decoder else plain).state_dict()
    again, other = load_twin(folder).encoder.state_dict(), load_twin(folder, 6).encoder.state_dict()
    assert drawn.keys() == expected.keys()
    assert all(torch.equal(drawn[name], weights) for name, weights in expected.items())
    assert all(torch.equal(drawn[name], again[name]) for name in drawn)
    assert sum(not torch.equal(drawn[name], other[name]) for name in drawn) >= 5


def test_a_twin_needs_nothing_but_configuration_and_tokenizer(copied: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = copied("bert")
    whole = load_twin(folder)
    assert whole.name == f"{folder} (random weights)"
    (folder / "model.safetensors").unlink()
    monkeypatch.setattr("transformers.AutoModel.from_pretrained", None)
    without = load_twin(folder, (1 << 64) - 1), load_twin(folder)
    weights = [each.encoder.get_input_embeddings().weight for each in (whole, *without)]
    assert torch.equal(weights[0], weights[2])
    assert not torch.equal(weights[0], weights[1])
    assert without[0].tokenizer is without[1].tokenizer  # twins share it


# ---- the hub


def test_a_model_of_the_hub_by_branch_and_by_commit(tiny: Folder, hub: Hub, caplog: pytest.LogCaptureFixture) -> None:
    commit = hub(tiny("bert"), "someone/bert")
    found = check_model("someone/bert")
    assert found["identity"] == model_identity("someone/bert") == {"id": "someone/bert", "commit": commit}
    assert found["pinned"] is False
    assert f"write revision: {commit}" in caplog.text
    caplog.clear()
    assert check_model("someone/bert", revision=commit) == {**found, "pinned": True}
    assert not caplog.records
    loaded = load_model("someone/bert", revision=commit, device="cpu")
    expected = load_model(tiny("bert"), device="cpu").encoder.get_input_embeddings().weight
    assert torch.equal(loaded.encoder.get_input_embeddings().weight, expected)


def test_a_revision_is_the_one_asked_for(tiny: Folder, copied: Folder, hub: Hub) -> None:
    older = copied("bert")
    weights = load_file(older / "model.safetensors")
    name = "bert.embeddings.word_embeddings.weight"
    save_file({**weights, name: weights[name] + 1}, older / "model.safetensors", metadata={"format": "pt"})
    hub(older, "someone/bert", commit="a" * 40, branch="v1")
    hub(tiny("bert"), "someone/bert", commit="b" * 40)
    rows = load_model("someone/bert", revision="v1", device="cpu").encoder.get_input_embeddings().weight
    torch.testing.assert_close(rows, weights[name] + 1)
    assert model_identity("someone/bert", "v1")["commit"] == "a" * 40


@pytest.mark.parametrize(
    ("model", "revision", "message"),
    [
        ("nobody/nothing", None, r"not found\. .*HF_HUB_OFFLINE is set.*`hf download nobody/nothing`"),
        ("someone/bert", "v9", r"the model at revision v9 is not in the cache .*--revision v9"),
        ("./models/mine", None, r"not found\. There is no folder .*/models/mine, and it cannot be the id"),
        (Path("/nowhere/mine"), None, "not found"),
        ("bad name!", None, r"not found\. .*the hub has no model of this id \(owner/name\)"),
    ],
)
def test_a_model_that_is_nowhere(tiny: Folder, hub: Hub, model: str | Path, revision: str, message: str) -> None:
    hub(tiny("bert"), "someone/bert")
    with pytest.raises(InputError, match=message):
        load_model(model, revision=revision)


@pytest.mark.parametrize(
    ("error", "status", "message"),
    [
        (errors.GatedRepoError, 403, r"it is gated\. Ask for access on https://huggingface\.co/someone/model.*hf auth"),
        (errors.RepositoryNotFoundError, 401, r"not found\. .*no model of this id .* that you may see"),
        (errors.RevisionNotFoundError, 404, r"revision v2 cannot be fetched to"),
        (errors.RemoteEntryNotFoundError, 404, r"the repository has no config\.json, so it is an adapter, a GGUF file"),
        (errors.HfHubHTTPError, 500, r"cannot be fetched to .* \(refused by the hub\).*hf download someone/model --"),
        (errors.LocalEntryNotFoundError, 0, r"is not in the cache .*, while the hub cannot be reached"),
    ],
)
def test_what_the_hub_refuses(
    monkeypatch: pytest.MonkeyPatch, error: type[Exception], status: int, message: str
) -> None:
    def download(*_: object, **__: object) -> str:
        if not status:
            raise error("no connection")
        raise error("refused\nby the hub", response=SimpleNamespace(status_code=status, headers={}, request=None))  # type: ignore[call-arg]

    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    monkeypatch.setattr("huggingface_hub.hf_hub_download", download)
    with pytest.raises(InputError, match=f"^model someone/model: .*{message}"):
        check_model("someone/model", revision="v2")


@pytest.mark.parametrize("proxies", [{}, {"https": "http://proxy:3128"}])
def test_where_the_hub_has_no_address_only_the_cache_is_asked(
    monkeypatch: pytest.MonkeyPatch, proxies: dict[str, str]
) -> None:
    """The library would try for half a minute; a proxy may know the address all the same."""
    asked: list[bool] = []

    def download(*_: object, local_files_only: bool, **__: object) -> str:
        asked.append(local_files_only)
        raise errors.LocalEntryNotFoundError("not in the cache")

    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", "https://hub.invalid")
    monkeypatch.setattr("prasanga.models.hub.getproxies", lambda: proxies)
    monkeypatch.setattr("huggingface_hub.hf_hub_download", download)
    with pytest.raises(InputError, match="is not in the cache"):
        open_source("someone/model")
    assert asked == [not proxies]


# ---- code that comes with a model


def write_code(folder: Path, log: Path, prefix: str = "") -> None:
    """A model whose class is not part of transformers."""
    (folder / "modeling_mine.py").write_text(
        "from pathlib import Path\n"
        "from transformers import BertConfig, BertModel\n"
        f"Path({str(log)!r}).write_text('ran')\n"
        "class Config(BertConfig):\n    model_type = 'mine'\n"
        "class Model(BertModel):\n    config_class = Config\n"
    )
    names = {"AutoConfig": f"{prefix}modeling_mine.Config", "AutoModel": f"{prefix}modeling_mine.Model"}
    rewrite(folder / "config.json", model_type="mine", auto_map=names)


@pytest.fixture
def modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that transformers copies such code to."""
    monkeypatch.setattr("transformers.dynamic_module_utils.HF_MODULES_CACHE", str(tmp_path / "modules"))
    return tmp_path / "modules"


@pytest.mark.usefixtures("modules")
def test_code_of_a_model_runs_only_if_told_to(copied: Folder, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    folder = shutil.move(copied("bert"), tmp_path / "with_code")
    write_code(folder, tmp_path / "log")
    with pytest.raises(InputError, match="needs its own Python code"):
        load_model(folder, device="cpu")
    assert not (tmp_path / "log").exists()
    allowed = ModelOptions(remote_code=True)
    loaded = load_model(folder, device="cpu", options=allowed)
    assert type(loaded.encoder).__name__ == "Model"
    assert (tmp_path / "log").read_text() == "ran"
    assert f"model {folder}: remote_code is true" in caplog.text
    assert check_model(folder, options=allowed)["parameters"] == 36_992
    options = ModelOptions(remote_code=True, random_weights=3)
    twin = load_model(folder, device="cpu", dtype="bfloat16", options=options).encoder
    assert (type(twin).__name__, str(twin.dtype)) == ("Model", "torch.bfloat16")


@pytest.mark.usefixtures("modules")
def test_code_is_that_of_the_revision_and_of_no_other_repository(copied: Folder, hub: Hub, tmp_path: Path) -> None:
    """Also where transformers is asked for a model without weights, which it would build with main's code."""
    folder = shutil.move(copied("bert"), tmp_path / "moving")
    for log, commit, branch in (("read", "a" * 40, "v1"), ("newer", "b" * 40, "main")):
        write_code(folder, tmp_path / log, "someone/moving--")
        hub(folder, "someone/moving", commit=commit, branch=branch)
    allowed = ModelOptions(remote_code=True)
    assert check_model("someone/moving", revision="a" * 40, options=allowed)["parameters"] == 36_992
    loaded = load_model("someone/moving", revision="v1", device="cpu", options=allowed)
    assert "a" * 40 in type(loaded.encoder).__module__
    assert (tmp_path / "read").exists()
    assert not (tmp_path / "newer").exists()
    hub(folder, "someone/else")
    for elsewhere in ("someone/else", folder):
        with pytest.raises(InputError, match="names code of another repository, someone/moving"):
            check_model(elsewhere, options=allowed)


# ---- tokenizers


def get_backend(tokenizer: Any) -> dict[str, Any]:
    return dict(json.loads(tokenizer.backend_tokenizer.to_str()))


@pytest.mark.parametrize(
    ("said", "normalized"),
    [
        (None, "ফুল 中文"),  # transformers builds a BERT tokenizer that strips vowel signs where nothing forbids it
        ({"add_prefix_space": True}, "ফুল 中文"),
        ({"do_lower_case": True}, "ফল  中  文 "),
    ],
)
def test_a_tokenizer_normalizes_as_its_file_and_settings_say(
    copied: Folder, said: dict[str, bool] | None, normalized: str
) -> None:
    folder = copied("bert")
    (folder / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "BertTokenizer", **(said or {})}))
    built, tokenizer = AutoTokenizer.from_pretrained(folder), load_tokenizer(folder)
    assert built.backend_tokenizer.normalizer.normalize_str("ফুল") == "ফল"
    found = tokenizer.backend_tokenizer.normalizer
    assert ("ফুল 中文" if found is None else found.normalize_str("ফুল 中文")) == normalized
    assert {**get_backend(tokenizer), "normalizer": 0} == {**get_backend(built), "normalizer": 0}
    options = ModelOptions(tokenizer={"tokenize_chinese_chars": False})  # which only transformers obeys
    apart = load_tokenizer(folder, options=options).backend_tokenizer.normalizer
    assert apart.normalize_str("中文") == "中文"


def test_an_mbart_keeps_its_compatibility_map(copied: Folder) -> None:
    folder = copied("mbart")
    rewrite(folder / "tokenizer_config.json", tokenizer_class="MBartTokenizer")
    built, kept = AutoTokenizer.from_pretrained(folder), load_tokenizer(folder)
    assert type(kept).__name__ == type(built).__name__ == "MBartTokenizer"
    assert built.backend_tokenizer.normalizer is None
    assert kept.backend_tokenizer.normalizer.normalize_str("ﬁ①") == "fi1"


@pytest.mark.parametrize("written", [None, {"type": "NFKC"}])
def test_a_class_whose_normalizer_marks_spaces_keeps_it(tmp_path: Path, written: dict[str, str] | None) -> None:
    folder = tmp_path / "gemma"
    save_tokenizer(byte_fallback(), folder, "GemmaTokenizer", {})
    rewrite(folder / "tokenizer.json", normalizer=written)
    (folder / "config.json").write_text('{"model_type": "gemma"}')
    tokenizer = load_tokenizer(folder)
    assert type(tokenizer).__name__ == "GemmaTokenizer"
    assert tokenizer.backend_tokenizer.normalizer.normalize_str("ফুল ফল") == "ফুল▁ফল"


WORDS = "ফুল মাঁ Rose"


@pytest.mark.parametrize("by_class", [False, True])
@pytest.mark.parametrize("kind", ["bert-without-marks", "albert"])
@pytest.mark.parametrize(("options", "pieces"), read_cases(__file__, "marks_and_case"))
def test_marks_and_case_are_as_told(
    copied: Folder, kind: str, options: dict[str, bool], pieces: dict[str, str], by_class: bool
) -> None:
    """Where the tokenizer is rebuilt by its own class as well as where tokenizer.json is taken as it is."""
    folder = copied(kind)
    name = (
        {"bert-without-marks": "BertTokenizer", "albert": "AlbertTokenizer"}[kind] if by_class else "TokenizersBackend"
    )
    rewrite(
        folder / "tokenizer_config.json",
        tokenizer_class=name if by_class else "PreTrainedTokenizerFast",
        cls_token="<s>",
        sep_token="</s>",
    )
    tokenizer = load_tokenizer(folder, options=ModelOptions(tokenizer=options))
    assert type(tokenizer).__name__ == name
    assert tokenizer.backend_tokenizer.normalizer.normalize_str(WORDS) == pieces[kind]
    if options:
        covered = read_pieces(tokenizer, [WORDS])[WORDS]
        assert {place for span in covered.spans for place in range(*span)} >= {0, 1, 2, 4, 5, 6, 8, 9, 10, 11}


def test_the_first_word_as_after_a_space(tiny: Folder) -> None:
    plain = load_tokenizer(tiny("gpt2")).tokenize("Rose")
    options = ModelOptions(tokenizer={"add_prefix_space": True, "model_max_length": 12})
    tokenizer = load_tokenizer(tiny("gpt2"), options=options)
    assert tokenizer.tokenize("Rose") == ["Ġ", *plain]
    assert tokenizer.model_max_length == 12


@pytest.mark.parametrize(("kind", "options", "message"), read_cases(__file__, "tokenizer_options"))
def test_options_of_a_tokenizer_that_are_refused(
    tiny: Folder, kind: str, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        load_model(tiny(kind), device="cpu", options=ModelOptions(tokenizer=options))


# ---- what runs


def test_onednn_multiplies_in_float32() -> None:
    """torch would leave it to MKL; the layers stay linear layers, and give the same but for rounding."""
    layers = torch.nn.Sequential(torch.nn.Linear(24, 40), torch.nn.Tanh(), torch.nn.Linear(40, 8, bias=False))
    given = torch.randn(5, 3, 24)
    expected = layers(given)
    use_onednn(layers)
    copy = pickle.loads(pickle.dumps(layers))
    with torch.inference_mode(), torch.profiler.profile() as profile:
        found = layers(given)
        transposed = layers(given.transpose(0, 1))
    torch.testing.assert_close(found, expected.detach())
    torch.testing.assert_close(transposed.transpose(0, 1), expected.detach())
    names = [each.name for each in profile.events()]
    has_avx = torch.backends.cpu.get_cpu_capability().startswith("AVX")
    assert names.count("mkldnn::_linear_pointwise") == (4 if has_avx else 0)
    with torch.inference_mode():
        torch.testing.assert_close(copy(given), found, rtol=0, atol=0)
    layers(given).sum().backward()  # with gradients torch multiplies
    assert layers[0].weight.grad is not None


def test_planning_imports_nothing_heavy() -> None:
    program = (
        "import sys, prasanga.models, prasanga.embeddings, prasanga.models.hub, prasanga.models.packaged;"
        "prasanga.models.model_identity; prasanga.embeddings.StoredEmbeddings;"
        "sys.exit(bool({'torch', 'transformers'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
