"""What can be loaded is; what cannot is refused with a sentence that says what to do."""

from __future__ import annotations

import gc
import json
import pickle
import shutil
import subprocess
import sys
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import torch
from safetensors.torch import load_file, save_file
from tiny_models import build, byte_fallback, save_tokenizer
from transformers import AutoTokenizer

from prasanga.base.errors import InputError
from prasanga.models import load_model, model_identity, resolve_dtype
from prasanga.models.checking import audit_tokenizer
from prasanga.models.hub import open_source
from prasanga.models.loading import load_tokenizer
from prasanga.models.options import ModelOptions
from prasanga.models.pieces import read_pieces
from prasanga.models.shape import use_onednn
from prasanga_calibration import train_model


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models") / "tiny"
    train_model(
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


def _backend(tokenizer: Any) -> dict[str, Any]:
    return dict(json.loads(tokenizer.backend_tokenizer.to_str()))


def test_a_tokenizer_normalizes_as_its_file_says(copied: Path) -> None:
    """transformers builds a BERT tokenizer that strips vowel signs wherever nothing in its settings forbids it."""
    (copied / "tokenizer_config.json").unlink()
    built, tokenizer = AutoTokenizer.from_pretrained(copied), load_tokenizer(copied)
    assert built.backend_tokenizer.normalizer.normalize_str("ফুল") == "ফল"
    assert tokenizer.backend_tokenizer.normalizer is None
    assert "ফুল" in tokenizer.decode(tokenizer("মা ঘরে ফুল দেখে")["input_ids"]).replace(" ", "")
    assert _backend(tokenizer) == {**_backend(built), "normalizer": None}  # and nothing else is changed


@pytest.mark.parametrize("said", [{"do_lower_case": True}, {"add_prefix_space": True}])
def test_what_the_settings_say_of_the_normalizer_counts(copied: Path, said: dict[str, bool]) -> None:
    (copied / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "BertTokenizer", **said}))
    normalizer = load_tokenizer(copied).backend_tokenizer.normalizer
    if "do_lower_case" in said:
        assert normalizer.normalize_str("ফুল") == "ফল"
    else:
        assert normalizer is None


def test_an_option_that_only_transformers_obeys_is_not_undone(tiny_copy: Callable[[str], Path]) -> None:
    folder = tiny_copy("bert")
    (folder / "tokenizer_config.json").unlink()
    apart = load_tokenizer(folder)
    together = load_tokenizer(folder, options=ModelOptions(tokenizer={"tokenize_chinese_chars": False}))
    assert apart.backend_tokenizer.normalizer.normalize_str("中文") == " 中  文 "
    assert together.backend_tokenizer.normalizer.normalize_str("中文") == "中文"


def test_an_mbart_keeps_its_compatibility_map(tiny_copy: Callable[[str], Path]) -> None:
    folder = tiny_copy("mbart")
    state = json.loads((folder / "tokenizer.json").read_text())
    (folder / "tokenizer.json").write_text(json.dumps({**state, "normalizer": {"type": "NFKC"}}))
    (folder / "tokenizer_config.json").write_text('{"tokenizer_class": "MBartTokenizer", "add_prefix_space": true}')
    built, kept = AutoTokenizer.from_pretrained(folder), load_tokenizer(folder)
    assert type(kept).__name__ == type(built).__name__ == "MBartTokenizer"
    assert built.backend_tokenizer.normalizer is None
    assert kept.backend_tokenizer.normalizer.normalize_str("ﬁ①") == "fi1"


def test_a_llama_is_left_as_transformers_builds_it(tmp_path: Path) -> None:
    """Its file puts ▁ before a text by the normalizer, its class by the pre-tokenizer; both would do it twice."""
    folder = build("llama", tmp_path / "llama")
    built, tokenizer = AutoTokenizer.from_pretrained(folder), load_tokenizer(folder)
    assert type(tokenizer).__name__ == "LlamaTokenizer"
    assert json.loads((folder / "tokenizer.json").read_text())["normalizer"]["normalizers"][0]["type"] == "Prepend"
    assert _backend(built)["normalizer"] is None
    assert _backend(built)["pre_tokenizer"]["type"] == "Metaspace"
    assert _backend(tokenizer) == _backend(built)


@pytest.mark.parametrize("written", [None, {"type": "NFKC"}])
def test_a_class_whose_normalizer_marks_spaces_keeps_it(tmp_path: Path, written: dict[str, str] | None) -> None:
    folder = tmp_path / "gemma"
    save_tokenizer(byte_fallback(), folder, "GemmaTokenizer", {})
    state = json.loads((folder / "tokenizer.json").read_text())
    (folder / "tokenizer.json").write_text(json.dumps({**state, "normalizer": written}))
    (folder / "config.json").write_text('{"model_type": "gemma"}')
    tokenizer = load_tokenizer(folder)
    assert type(tokenizer).__name__ == "GemmaTokenizer"
    assert tokenizer.backend_tokenizer.normalizer.normalize_str("ফুল ফল") == "ফুল▁ফল"


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
        (_pickle_only, r"only pickled ones: pytorch_model\.bin, sha256 [0-9a-f]{64}"),
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
    with pytest.raises(InputError, match=r"There is no folder .*/nobody/nothing, and the model is not in the cache"):
        load_model("nobody/nothing")


def test_a_commit_in_short_is_refused_before_the_hub_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.hf_hub_download", lambda *_, **__: pytest.fail("the hub was asked"))
    with pytest.raises(InputError) as caught:
        open_source("google/mt5-base", "78f6d82")
    assert str(caught.value) == (
        "model google/mt5-base: revision 78f6d82 is a commit in short, and the hub knows commits by 40 digits. Open"
        " https://huggingface.co/google/mt5-base/commits/main, click on the one that begins so, and write all of its"
        " digits."
    )


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


WORDS = "ফুল মাঁ Rose"


@pytest.mark.parametrize("kind", ["bert", "albert"])
@pytest.mark.parametrize("option", [{"keep_accents": True}, {"strip_accents": False}])
@pytest.mark.parametrize("by_class", [False, True])
def test_marks_are_kept_if_told_to(
    tiny_copy: Callable[[str], Path], kind: str, option: dict[str, bool], by_class: bool
) -> None:
    """Where the tokenizer is rebuilt by its own class as well as where tokenizer.json is taken as it is."""
    folder = tiny_copy(kind)
    if by_class:
        (folder / "tokenizer_config.json").unlink()
    plain, kept = load_tokenizer(folder), load_tokenizer(folder, options=ModelOptions(tokenizer=option))
    expected = {"bert": "BertTokenizer", "albert": "AlbertTokenizer"}[kind] if by_class else "TokenizersBackend"
    assert (type(plain).__name__, type(kept).__name__) == (expected, expected)
    space = {"bert": "", "albert": "▁"}[kind]
    assert f"{space}ফল" in plain.tokenize(WORDS)
    assert kept.tokenize(WORDS) == [space + word for word in ("ফুল", "মাঁ", "rose")]
    encoded = kept(WORDS, return_offsets_mapping=True, add_special_tokens=False)
    assert [WORDS[start:end].strip() for start, end in encoded["offset_mapping"]] == ["ফুল", "মাঁ", "Rose"]


def test_case_is_kept_if_told_to(tiny: Callable[[str], Path]) -> None:
    def pieces(kind: str, **options: bool) -> list[str]:
        return list(load_tokenizer(tiny(kind), options=ModelOptions(tokenizer=options)).tokenize("Rose মাঁ"))

    assert pieces("albert", do_lower_case=False, keep_accents=True) == ["▁Rose", "▁মাঁ"]
    assert pieces("bert", do_lower_case=False) == ["Rose", "মাঁ"]  # BERT strips marks with the case
    assert pieces("bert", do_lower_case=False, strip_accents=True) == ["Rose", "মা"]


def test_the_first_word_as_after_a_space(tiny: Callable[[str], Path]) -> None:
    plain = load_tokenizer(tiny("gpt2")).tokenize("Rose")
    assert plain == ["R", "o", "s", "e"]
    options = ModelOptions(tokenizer={"add_prefix_space": True, "model_max_length": 12})
    tokenizer = load_tokenizer(tiny("gpt2"), options=options)
    assert tokenizer.tokenize("Rose") == ["Ġ", *plain]
    assert tokenizer.model_max_length == 12


@pytest.mark.parametrize(
    ("kind", "options", "message"),
    [
        ("bert", {"nonsense": 1}, r"tokenizer: nonsense has no effect: .* nothing that nonsense: 1 would change"),
        ("gpt2", {"keep_accents": True}, r"tokenizer: keep_accents has no effect"),
        ("mbart", {"strip_accents": False}, r"tokenizer: strip_accents has no effect"),
        ("bert", {"keep_accents": "yes"}, r"tokenizer: keep_accents is 'yes'; write true or false"),
        ("bert", {"trust_remote_code": True}, r"tokenizer has 'trust_remote_code'.*write remote_code: true"),
        ("bert", {"revision": "v2"}, r"tokenizer has 'revision', which is no option of a tokenizer"),
    ],
)
def test_options_of_a_tokenizer_that_are_refused(
    tiny: Callable[[str], Path], kind: str, options: dict[str, bool | int | str], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        load_model(tiny(kind), device="cpu", options=ModelOptions(tokenizer=options))


@pytest.mark.parametrize("kind", ["mbart", "t5"])
def test_of_an_encoder_decoder_the_encoder_alone_is_kept(
    tiny: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    import transformers
    from transformers.models import mbart, t5

    layers = {"mbart": mbart.modeling_mbart.MBartDecoderLayer, "t5": t5.modeling_t5.T5LayerCrossAttention}
    folder, layer = tiny(kind), layers[kind]
    in_memory = weakref.WeakSet[torch.nn.Module]()
    begin = layer.__init__

    def noted(self: torch.nn.Module, *args: Any, **options: Any) -> None:
        begin(self, *args, **options)
        in_memory.add(self)

    monkeypatch.setattr(layer, "__init__", noted)
    loaded = load_model(folder, device="cpu")
    gc.collect()
    assert not in_memory
    whole = transformers.AutoModel.from_pretrained(folder)
    assert len(in_memory) == sum(isinstance(module, layer) for module in whole.modules()) > 0
    ids = torch.tensor([loaded.tokenizer(WORDS)["input_ids"]])
    with torch.no_grad():
        got = loaded.encoder(input_ids=ids).last_hidden_state
        expected = whole.get_encoder()(input_ids=ids).last_hidden_state
    torch.testing.assert_close(got, expected)
    assert loaded.config.num_hidden_layers == 2


def test_options_are_checked_when_they_are_made() -> None:
    for wrong, message in [
        ({"quantization": "int4"}, r"quantization is 'int4'; write none or int8"),
        ({"kind": "causal"}, r"kind is 'causal'; write auto, encoder, decoder, encoder-decoder"),
        ({"cards": -1}, r"cards is -1; write 1 or more, or 0 for the processor"),
        ({"cards": 2, "quantization": "int8"}, r"do not go together"),
    ]:
        with pytest.raises(InputError, match=message):
            ModelOptions(**wrong)  # type: ignore[arg-type]


def _audit(tokenizer: Any, forms: list[str]) -> object:
    return audit_tokenizer(tokenizer, pl.DataFrame({"form": forms, "stimulus": forms}))


@pytest.mark.parametrize("read", [read_pieces, _audit])
def test_a_vocabulary_without_the_piece_for_the_unknown(
    tiny_copy: Callable[[str], Path], read: Callable[[Any, list[str]], Any]
) -> None:
    """Texts of which all is known are read; the first other one is told in a sentence, with the model and the piece."""
    folder = tiny_copy("bert")
    file = folder / "tokenizer.json"
    content = json.loads(file.read_text(encoding="utf-8"))
    content["model"]["unk_token"] = "[NONE]"
    file.write_text(json.dumps(content), encoding="utf-8")
    tokenizer = load_tokenizer(folder)
    assert len(read_pieces(tokenizer, ["ফুল"])["ফুল"].ids) == 1
    with pytest.raises(InputError, match=r"its vocabulary lacks the piece '\[NONE\]' that stands") as error:
        read(tokenizer, ["ফুল", "@ ফুল"])
    assert str(error.value).startswith(f"model {folder}: its tokenizer")


def test_onednn_multiplies_in_float32() -> None:
    """torch would leave it to MKL; the layers stay linear layers, and give the same but for rounding."""
    layers = torch.nn.Sequential(torch.nn.Linear(24, 40), torch.nn.Tanh(), torch.nn.Linear(40, 8, bias=False))
    given = torch.randn(5, 3, 24)
    expected = layers(given)
    use_onednn(layers)
    copied = pickle.loads(pickle.dumps(layers))
    with torch.inference_mode(), torch.profiler.profile() as profile:
        found = layers(given)
        transposed = layers(given.transpose(0, 1))
    torch.testing.assert_close(found, expected.detach())
    torch.testing.assert_close(transposed.transpose(0, 1), expected.detach())
    names = [each.name for each in profile.events()]
    has_avx = torch.backends.cpu.get_cpu_capability().startswith("AVX")
    assert names.count("mkldnn::_linear_pointwise") == (4 if has_avx else 0)
    with torch.inference_mode():
        torch.testing.assert_close(copied(given), found, rtol=0, atol=0)
    layers(given).sum().backward()  # with gradients torch multiplies
    assert layers[0].weight.grad is not None


def test_layers_by_onednn_go_with_their_model() -> None:
    """Jobs collect garbage seldom: weights that only the collector frees would pile up, a twin's on another's."""
    layers = torch.nn.Sequential(torch.nn.Linear(24, 40))
    use_onednn(layers)
    weight = weakref.ref(layers[0].weight)
    gc.disable()
    try:
        del layers
        assert weight() is None
    finally:
        gc.enable()
