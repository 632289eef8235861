"""What is wrong with a model is found before anything depends on it; a hub is played by a local cache."""

from __future__ import annotations

import hashlib
import json
import logging
import shutil
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from huggingface_hub import errors
from safetensors.torch import load_file, save_file
from scoring_models import FAMILIES as SCORING
from scoring_models import KINDS as KIND_OF
from scoring_models import build as build_for_scores
from tiny_models import build
from transformers import AutoModelForCausalLM, AutoModelForMaskedLM, AutoModelForSeq2SeqLM

from prasanga.base.errors import InputError
from prasanga.models import load_model, model_identity
from prasanga.models.checking import check_model
from prasanga.models.heads import load_with_head
from prasanga.models.hub import open_source
from prasanga.models.options import ModelOptions
from prasanga.models.shape import model_kind

Folder = Callable[[str], Path]
Hub = Callable[..., str]


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("bert", {"kind": "encoder", "parameters": 6624, "hidden_size": 16, "blocks": 2, "max_pieces": 64}),
        ("albert", {"kind": "encoder", "parameters": 7040, "hidden_size": 16, "blocks": 2, "max_pieces": 512}),
        ("gpt2", {"kind": "decoder", "parameters": 11728, "hidden_size": 16, "blocks": 2, "max_pieces": 64}),
        ("mbart", {"kind": "encoder-decoder", "parameters": 6112, "hidden_size": 16, "blocks": 2, "max_pieces": 64}),
        ("t5", {"kind": "encoder-decoder", "parameters": 4784, "hidden_size": 16, "blocks": 2, "max_pieces": None}),
    ],
)
def test_what_a_model_is(tiny: Folder, kind: str, expected: dict[str, Any]) -> None:
    found = check_model(tiny(kind))
    assert json.loads(json.dumps(found)) == found
    assert {key: found[key] for key in expected} == expected
    assert found["weights_bytes"] == 4 * expected["parameters"]
    assert found["identity"] == model_identity(tiny(kind))
    assert found["pinned"] is True
    loaded = load_model(tiny(kind), device="cpu")
    assert found["vocabulary"] == len(loaded.tokenizer)
    assert found["begins_with_special"] is False  # these tokenizers put nothing before a text
    assert found["parameters"] == sum(parameter.numel() for parameter in loaded.encoder.parameters())


def test_bytes_are_those_of_the_precision(tiny: Folder) -> None:
    assert check_model(tiny("bert"), dtype="bfloat16")["weights_bytes"] == 2 * 6624
    small = check_model(tiny("bert"), dtype="bfloat16", options=ModelOptions(quantization="int8"))
    assert 6624 < small["weights_bytes"] < 2 * 6624


def test_no_weight_is_read(tiny: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("transformers.modeling_utils.load_state_dict", None)
    monkeypatch.setattr("transformers.AutoModel.from_pretrained", None)
    assert check_model(tiny("bert"))["kind"] == "encoder"


def test_kinds() -> None:
    def config(model_type: str, **more: Any) -> Any:
        found = SimpleNamespace(model_type=model_type, **more)
        found.get_text_config = lambda: found
        return found

    decoders = ("gpt2", "bloom", "llama", "mistral")
    assert {model_kind(config(name, is_decoder=False, is_encoder_decoder=False)) for name in decoders} == {"decoder"}
    encoders = ("bert", "electra", "roberta", "xlm-roberta", "albert", "deberta-v2")
    assert {model_kind(config(name, is_decoder=False, is_encoder_decoder=False)) for name in encoders} == {"encoder"}
    assert {model_kind(config(name, is_encoder_decoder=True)) for name in ("t5", "mt5", "mbart")} == {"encoder-decoder"}
    assert model_kind(config("bert", is_decoder=True)) == "decoder"
    assert model_kind(config("mine", architectures=["MineForCausalLM"])) == "decoder"
    assert model_kind(config("mine", architectures=["MineModel"])) == "encoder"


def _rewrite(path: Path, **changes: object) -> None:
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


def _pickle(folder: Path) -> None:
    torch.save(load_file(folder / "model.safetensors"), folder / "pytorch_model.bin")
    (folder / "model.safetensors").unlink()


def _truncated(folder: Path) -> None:
    whole = (folder / "model.safetensors").read_bytes()
    (folder / "model.safetensors").write_bytes(whole[: len(whole) // 2])


def _fewer_rows_in_the_file(folder: Path) -> None:
    weights = load_file(folder / "model.safetensors")
    name = "bert.embeddings.word_embeddings.weight"
    save_file({**weights, name: weights[name][:40].clone()}, folder / "model.safetensors", metadata={"format": "pt"})


def _remote_code(folder: Path) -> None:
    (folder / "modeling_mine.py").write_text("raise SystemExit('this code must never run')\n")
    names = {"AutoConfig": "modeling_mine.Config", "AutoModel": "modeling_mine.Model"}
    _rewrite(folder / "config.json", model_type="mine", auto_map=names)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda folder: (folder / "config.json").unlink(), r"the folder has no config\.json"),
        (lambda folder: (folder / "model.safetensors").unlink(), r"the folder has no weights"),
        (lambda folder: _rewrite(folder / "config.json", vocab_size=20), r"tokenizer has 51 pieces, the model only 20"),
        (_fewer_rows_in_the_file, r"tokenizer has 51 pieces, the model only 40"),
        (_pickle, r"only pickled ones: pytorch_model\.bin, sha256 [0-9a-f]{64}"),
        (_truncated, r"its weights in model\.safetensors cannot be loaded"),
        (_remote_code, r"needs Python code of its own.*not run here.*remote_code: true"),
        (lambda folder: (folder / "tokenizer.json").write_text("{}"), r"its tokenizer cannot be loaded"),
    ],
)
def test_a_folder_that_cannot_be_used(tiny_copy: Folder, spoil: Callable[[Path], object], message: str) -> None:
    folder = tiny_copy("bert")
    spoil(folder)
    with pytest.raises(InputError, match=message) as caught:
        check_model(folder)
    assert str(folder) in str(caught.value)


def test_a_model_of_another_kind(tiny: Folder) -> None:
    assert check_model(tiny("gpt2"), options=ModelOptions(kind="decoder"))["kind"] == "decoder"
    with pytest.raises(InputError, match=r"kind is encoder, but this is a decoder \(gpt2\)\. Write kind: decoder"):
        check_model(tiny("gpt2"), options=ModelOptions(kind="encoder"))
    with pytest.raises(InputError, match=r"kind is decoder, but this is an encoder-decoder \(mbart\)"):
        load_model(tiny("mbart"), device="cpu", options=ModelOptions(kind="decoder"))


def test_a_model_of_the_hub_by_branch_and_by_commit(tiny: Folder, hub: Hub, caplog: pytest.LogCaptureFixture) -> None:
    commit = hub(tiny("bert"), "someone/bert")
    with caplog.at_level(logging.WARNING):
        found = check_model("someone/bert")
    assert found["identity"] == {"id": "someone/bert", "commit": commit}
    assert found["pinned"] is False
    assert f"write revision: {commit}" in caplog.text
    caplog.clear()
    pinned = check_model("someone/bert", revision=commit)
    assert pinned == {**found, "pinned": True}
    assert not caplog.records
    assert model_identity("someone/bert") == found["identity"]
    loaded = load_model("someone/bert", revision=commit, device="cpu")
    expected = load_model(tiny("bert"), device="cpu").encoder.get_input_embeddings().weight
    assert torch.equal(loaded.encoder.get_input_embeddings().weight, expected)


def test_a_revision_is_the_one_asked_for(tiny: Folder, tiny_copy: Folder, hub: Hub) -> None:
    older = tiny_copy("bert")
    weights = load_file(older / "model.safetensors")
    name = "bert.embeddings.word_embeddings.weight"
    save_file({**weights, name: weights[name] + 1}, older / "model.safetensors", metadata={"format": "pt"})
    hub(older, "someone/bert", commit="a" * 40, branch="v1")
    hub(tiny("bert"), "someone/bert", commit="b" * 40)
    rows = load_model("someone/bert", revision="v1", device="cpu").encoder.get_input_embeddings().weight
    torch.testing.assert_close(rows, weights[name] + 1)
    assert model_identity("someone/bert", "v1")["commit"] == "a" * 40


def test_pickles_of_the_hub(tiny_copy: Folder, hub: Hub) -> None:
    folder = tiny_copy("bert")
    _pickle(folder)
    hub(folder, "someone/pickled")
    found = hashlib.sha256((folder / "pytorch_model.bin").read_bytes()).hexdigest()
    with pytest.raises(InputError, match=f"someone/pickled: .* pytorch_model.bin, sha256 {found}"):
        check_model("someone/pickled")
    options = ModelOptions(weights_sha256={"pytorch_model.bin": found})
    assert check_model("someone/pickled", options=options)["parameters"] == 6624
    assert load_model("someone/pickled", device="cpu", options=options).dtype == "float32"


def test_a_cache_without_the_weights(tiny_copy: Folder, hub: Hub) -> None:
    folder = tiny_copy("bert")
    (folder / "model.safetensors").unlink()
    commit = hub(folder, "someone/half")
    with pytest.raises(
        InputError, match=f"neither model.safetensors nor .*hf download someone/half --revision {commit}"
    ):
        check_model("someone/half")


def test_offline_and_not_in_the_cache(tiny: Folder, hub: Hub, tmp_path: Path) -> None:
    with pytest.raises(
        InputError, match=r"nobody/nothing: not found\. .*HF_HUB_OFFLINE is set.*`hf download nobody/nothing`"
    ):
        check_model("nobody/nothing")
    hub(tiny("bert"), "someone/bert")
    with pytest.raises(InputError, match=r"the model at revision v9 is not in the cache .*--revision v9"):
        check_model("someone/bert", revision="v9")
    with pytest.raises(InputError, match=r"\./models/mine: not found\. .*it cannot be the id"):
        check_model("./models/mine")
    with pytest.raises(InputError, match="not found"):
        check_model(tmp_path / "mine")
    with pytest.raises(InputError, match=r"bad name!: not found\. .*it cannot be the id"):
        check_model("bad name!")


def _answer(kind: type[Exception], status: int) -> Callable[..., str]:
    def download(*_: object, **__: object) -> str:
        response = SimpleNamespace(status_code=status, headers={}, request=None)
        raise kind("refused\nby the hub", response=response)  # type: ignore[call-arg]

    return download


@pytest.mark.parametrize(
    ("kind", "status", "message"),
    [
        (
            errors.GatedRepoError,
            403,
            r"it is gated\. Ask for access on https://huggingface\.co/someone/model.*hf auth login",
        ),
        (errors.RepositoryNotFoundError, 401, r"not found\. .*no model of this name that you may see"),
        (errors.RevisionNotFoundError, 404, r"it has no revision 'v2'\. Write one of the commits"),
        (errors.RemoteEntryNotFoundError, 404, r"its repository on the hub has no config\.json"),
        (errors.HfHubHTTPError, 500, r"cannot be fetched to .* \(refused\).*hf download someone/model --revision v2"),
    ],
)
def test_what_the_hub_refuses(
    monkeypatch: pytest.MonkeyPatch, kind: type[Exception], status: int, message: str
) -> None:
    monkeypatch.setattr("huggingface_hub.hf_hub_download", _answer(kind, status))
    with pytest.raises(InputError, match=message) as caught:
        check_model("someone/model", revision="v2")
    assert "model someone/model: " in str(caught.value)


def test_a_hub_that_cannot_be_reached(monkeypatch: pytest.MonkeyPatch) -> None:
    def download(*_: object, **__: object) -> str:
        raise errors.LocalEntryNotFoundError("no connection")

    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    monkeypatch.setattr("huggingface_hub.hf_hub_download", download)
    with pytest.raises(InputError, match=r"is not in the cache .*, while the hub cannot be reached"):
        open_source("someone/model")


@pytest.mark.parametrize("proxies", [{}, {"https": "http://proxy:3128"}])
def test_where_the_hub_has_no_address_the_cache_alone_is_asked(
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


def _with_code(folder: Path, log: Path) -> None:
    """A model whose class is not part of transformers."""
    (folder / "modeling_mine.py").write_text(
        "from pathlib import Path\n"
        "from transformers import BertConfig, BertModel\n"
        f"Path({str(log)!r}).write_text('ran')\n"
        "class Config(BertConfig):\n    model_type = 'mine'\n"
        "class Model(BertModel):\n    config_class = Config\n"
    )
    names = {"AutoConfig": "modeling_mine.Config", "AutoModel": "modeling_mine.Model"}
    _rewrite(folder / "config.json", model_type="mine", auto_map=names)


def test_code_of_a_model_runs_only_if_told_to(
    tiny_copy: Folder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("transformers.dynamic_module_utils.HF_MODULES_CACHE", str(tmp_path / "modules"))
    folder = shutil.move(tiny_copy("bert"), tmp_path / "with_code")
    _with_code(folder, tmp_path / "log")
    with pytest.raises(InputError, match="needs Python code of its own"):
        load_model(folder, device="cpu")
    assert not (tmp_path / "log").exists()
    allowed = ModelOptions(remote_code=True)
    loaded = load_model(folder, device="cpu", options=allowed)
    assert type(loaded.encoder).__name__ == "Model"
    assert (tmp_path / "log").read_text() == "ran"
    assert f"model {folder}: remote_code is true" in caplog.text
    assert check_model(folder, options=allowed)["parameters"] == 6624
    options = ModelOptions(remote_code=True, random_weights=3)
    twin = load_model(folder, device="cpu", dtype="bfloat16", options=options).encoder
    assert (type(twin).__name__, str(twin.dtype)) == ("Model", "torch.bfloat16")


def _naming(key: str, value: object) -> Callable[[Path], None]:
    """Change config.json, or for a tokenizer tokenizer_config.json, so that code is looked for at `value`."""

    def change(folder: Path) -> None:
        name = "tokenizer_config.json" if key == "AutoTokenizer" else "config.json"
        settings = json.loads((folder / name).read_text())
        _rewrite(folder / name, auto_map={**settings.get("auto_map", {}), key: value})

    return change


def test_code_of_the_models_own_repository(
    tiny_copy: Folder, hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("transformers.dynamic_module_utils.HF_MODULES_CACHE", str(tmp_path / "modules"))
    folder = shutil.move(tiny_copy("bert"), tmp_path / "own_code")
    _with_code(folder, tmp_path / "log")
    for key, name in (("AutoConfig", "Config"), ("AutoModel", "Model")):
        _naming(key, f"someone/own--modeling_mine.{name}")(folder)
    hub(folder, "someone/own")
    assert check_model("someone/own", options=ModelOptions(remote_code=True))["parameters"] == 6624
    assert (tmp_path / "log").read_text() == "ran"
    with pytest.raises(InputError, match="needs Python code of its own"):
        check_model("someone/own")


def test_code_is_that_of_the_revision(
    tiny_copy: Folder, hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where transformers is asked for a model without weights, which it would build with main's code."""
    monkeypatch.setattr("transformers.dynamic_module_utils.HF_MODULES_CACHE", str(tmp_path / "modules"))
    folder = shutil.move(tiny_copy("bert"), tmp_path / "moving")
    for log, commit, branch in (("read", "a" * 40, "v1"), ("newer", "b" * 40, "main")):
        _with_code(folder, tmp_path / log)
        hub(folder, "someone/moving", commit=commit, branch=branch)
    allowed = ModelOptions(remote_code=True)
    assert check_model("someone/moving", revision="a" * 40, options=allowed)["parameters"] == 6624
    loaded = load_model("someone/moving", revision="v1", device="cpu", options=allowed)
    assert "a" * 40 in type(loaded.encoder).__module__
    assert (tmp_path / "read").exists()
    assert not (tmp_path / "newer").exists()


@pytest.mark.parametrize(
    ("family", "begins"),
    [("bert", True), ("xlm-roberta", True), ("mbart", False), ("mt5", False), ("gpt2", False), ("llama3", True)],
)
def test_whether_a_special_piece_comes_first(tmp_path: Path, family: str, begins: bool) -> None:
    assert check_model(build(family, tmp_path / family))["begins_with_special"] is begins


BOTH = ["embeddings", "likelihoods"]
HIDING = ["encoder", "encoder-decoder"]


def test_codes_of_languages_are_pieces_of_the_tokenizer(tmp_path: Path) -> None:
    folder = build_for_scores("mbart", tmp_path / "mbart")
    assert check_model(folder, language_codes={"bn": "bn_IN"}) == check_model(folder)
    with pytest.raises(InputError, match=r"has bn: bn_BD, which is no piece of the tokenizer\. It has .*bn_IN"):
        check_model(folder, language_codes={"bn": "bn_BD"})
    with pytest.raises(
        InputError,
        match=r"no piece of the tokenizer\. No pieces for languages are known in it\. Or leave hi out",
    ):
        check_model(build("bert", tmp_path / "bert"), language_codes={"hi": "hi_IN"})


@pytest.mark.parametrize("family", SCORING)
def test_what_a_model_with_its_head_is(tmp_path: Path, family: str) -> None:
    folder = build_for_scores(family, tmp_path / family)
    found = check_model(folder, stages=BOTH, masked=HIDING)
    assert json.loads(json.dumps(found)) == found
    assert (found["kind"], found["head"]) == (KIND_OF[family], True)
    masks = {"bert": "[MASK]", "electra-generator": "[MASK]", "mt5": "<extra_id_0>"}
    assert found["mask"] == (None if KIND_OF[family] == "decoder" else masks.get(family, "<mask>"))
    classes = {
        "encoder": AutoModelForMaskedLM,
        "decoder": AutoModelForCausalLM,
        "encoder-decoder": AutoModelForSeq2SeqLM,
    }
    whole = classes[KIND_OF[family]].from_pretrained(folder)
    counted = sum(parameter.numel() for parameter in whole.parameters())
    assert found["parameters_with_head"] == counted
    assert found["weights_bytes_with_head"] == 4 * counted
    alone = check_model(folder)
    assert (alone["head"], alone["parameters_with_head"], alone["weights_bytes_with_head"]) == (None, None, None)
    assert {**alone, "head": True} == {**found, "parameters_with_head": None, "weights_bytes_with_head": None}


def _drop(prefix: str) -> Callable[[Path], None]:
    def drop(folder: Path) -> None:
        path = folder / "model.safetensors"
        kept = {name: tensor for name, tensor in load_file(path).items() if not name.startswith(prefix)}
        save_file(kept, path, metadata={"format": "pt"})

    return drop


def _without_mask(folder: Path) -> None:
    path = folder / "tokenizer_config.json"
    settings = json.loads(path.read_text())
    path.write_text(json.dumps({key: value for key, value in settings.items() if key != "mask_token"}))


def _without_sentinels(folder: Path) -> None:
    path = folder / "tokenizer.json"
    path.write_text(path.read_text().replace("<extra_id_", "<other_id_"))


@pytest.mark.parametrize(
    ("family", "spoil", "message"),
    [
        ("bert", _drop("cls."), r"no vocabulary head \(5 weights of it are missing, for example 'cls\.predictions"),
        ("albert", _drop("predictions."), r"no vocabulary head \(5 weights"),
        (
            "llama",
            _drop("lm_head."),
            r"no vocabulary head \(one weight of it is missing, for example 'lm_head\.",
        ),
        ("mbart", _drop("model.decoder."), r"no decoder \(\d+ weights .* 'model\.decoder\.embed_positions\.weight'"),
        ("mt5", _drop("decoder."), r"no decoder \(\d+ weights of it are missing, for example 'decoder\.block"),
        ("bert", _without_mask, r"its tokenizer has no mask piece, so no word can be masked\. Use a model"),
        (
            "mt5",
            _without_sentinels,
            r"no mask piece, so no word can be masked\. Ask for encoder_decoder: causal, or u",
        ),
    ],
)
def test_what_probabilities_lack_is_told_from_the_headers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, family: str, spoil: Callable[[Path], object], message: str
) -> None:
    folder = build_for_scores(family, tmp_path / family)
    spoil(folder)
    monkeypatch.setattr("transformers.modeling_utils.load_state_dict", None)
    assert check_model(folder)["kind"] == KIND_OF[family]  # for vectors it has all that is needed
    for stages in (BOTH, ["likelihoods"]):
        with pytest.raises(InputError, match=message) as caught:
            check_model(folder, stages=stages, masked=HIDING)
        assert str(caught.value).startswith(f"model {folder}: ")


def test_what_is_not_asked_is_not_needed(tmp_path: Path) -> None:
    folder = build_for_scores("bert", tmp_path / "bert")
    _without_mask(folder)
    assert check_model(folder, stages=BOTH, masked=["encoder-decoder"])["mask"] is None
    assert check_model(build_for_scores("gpt2", tmp_path / "gpt2"), stages=BOTH, masked=HIDING)["mask"] is None


def test_a_discriminator_gives_vectors_alone(tmp_path: Path) -> None:
    folder = build("electra", tmp_path / "electra")
    assert check_model(folder)["head"] is None
    with pytest.raises(InputError, match=r"no vocabulary head .* ELECTRA's discriminator: use its generator, or write"):
        check_model(folder, stages=BOTH)


@pytest.mark.parametrize("family", ["bert", "gpt2", "mt5"])
def test_other_names_of_the_same_weights(tmp_path: Path, family: str) -> None:
    """Old files have gamma and beta for norms, those of a base model no prefix; a head that is tied may be stored."""
    folder = build_for_scores(family, tmp_path / family)
    path = folder / "model.safetensors"
    weights = load_file(path)
    table = {"bert": "bert.embeddings.word_embeddings.weight", "gpt2": "transformer.wte.weight", "mt5": "shared.weight"}
    tied = {"bert": "cls.predictions.decoder.weight", "gpt2": "lm_head.weight", "mt5": "lm_head.weight"}
    renamed = {
        name.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta"): tensor
        for name, tensor in weights.items()
    }
    save_file(renamed, path, metadata={"format": "pt"})
    assert check_model(folder, stages=BOTH)["head"] is True
    save_file({**weights, tied[family]: weights[table[family]].clone()}, path, metadata={"format": "pt"})
    assert check_model(folder, stages=BOTH)["head"] is True
    if family == "gpt2":  # as its first files are, which are those of the base model
        bare = {name.removeprefix("transformer."): tensor for name, tensor in weights.items()}
        save_file(bare, path, metadata={"format": "pt"})
        assert check_model(folder, stages=BOTH)["head"] is True
        assert load_with_head(folder, device="cpu").kind == "decoder"


def test_of_a_pickle_nothing_is_known(tmp_path: Path) -> None:
    folder = build_for_scores("bert", tmp_path / "bert")
    _pickle(folder)
    digest = hashlib.sha256((folder / "pytorch_model.bin").read_bytes()).hexdigest()
    options = ModelOptions(weights_sha256={"pytorch_model.bin": digest})
    found = check_model(folder, stages=BOTH, options=options)
    assert (found["head"], found["mask"]) == (None, "[MASK]")
    assert found["parameters_with_head"] > found["parameters"]


def test_a_kind_that_cannot_give_what_is_asked(tiny: Folder) -> None:
    assert check_model(tiny("gpt2"), stages=["embeddings"], kinds=["encoder"])["kind"] == "decoder"
    with pytest.raises(InputError) as caught:
        check_model(tiny("gpt2"), stages=BOTH, kinds=["encoder", "encoder-decoder"])
    assert str(caught.value) == (
        f"model {tiny('gpt2')} is of the kind decoder, and the probabilities that are asked of it can be had from the"
        " kind encoder or encoder-decoder. Write kind: decoder under it, so that only what such a model can give is"
        " asked; or write stages: [embeddings] under it, or leave it out."
    )
    with pytest.raises(InputError, match=r"from the kind encoder\. Write stages: \[embeddings\] under it"):
        check_model(tiny("gpt2"), stages=BOTH, kinds=["encoder"], options=ModelOptions(kind="decoder"))
