"""A model in two halves gives what the whole model of transformers gives, of every family."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file
from scoring_models import FAMILIES, KINDS, build
from tiny_models import SENTENCES
from tiny_models import build as build_for_vectors

from prasanga.base.errors import InputError
from prasanga.models import heads
from prasanga.models.heads import SUMMING, ModelWithHead, load_with_head, mask_of, require_mask
from prasanga.models.options import ModelOptions

CLASSES = {
    "encoder": "AutoModelForMaskedLM",
    "decoder": "AutoModelForCausalLM",
    "encoder-decoder": "AutoModelForSeq2SeqLM",
}
ATTENDING = [family for family, kind in KINDS.items() if kind == "encoder"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """`folder("bert")`: a tiny model, to be read only."""
    built: dict[str, Path] = {}

    def get(family: str) -> Path:
        if family not in built:
            built[family] = build(family, tmp_path_factory.mktemp(family))
        return built[family]

    return get


@pytest.fixture
def copied(folder: Callable[[str], Path], tmp_path: Path) -> Callable[[str], Path]:
    """`copied("bert")`: one to be spoiled."""
    return lambda family: shutil.copytree(folder(family), tmp_path / family)


def rows(model: ModelWithHead) -> tuple[list[list[int]], list[list[int]] | None]:
    """Texts of different lengths, so that all but one are padded; of an encoder-decoder, what the decoder reads too."""
    read = [model.tokenizer(text)["input_ids"][:40] for text in (SENTENCES[0], SENTENCES[1][:9], SENTENCES[4])]
    return read, [[2, *row[1:7:2]] for row in read] if model.kind == "encoder-decoder" else None


def whole(folder: Path, kind: str, read: list[int], written: list[int] | None, **more: Any) -> Any:
    """The plain forward pass of transformers' own class on one row, without padding."""
    model = getattr(transformers, CLASSES[kind]).from_pretrained(folder, **more).eval()
    given = {} if written is None else {"decoder_input_ids": torch.tensor([written])}
    with torch.no_grad():
        return model(input_ids=torch.tensor([read]), **given, output_attentions=bool(more))


@pytest.mark.parametrize("family", FAMILIES)
@torch.no_grad()
def test_head_and_body_give_what_the_whole_gives(folder: Callable[[str], Path], family: str) -> None:
    model = load_with_head(folder(family), device="cpu")
    assert model.kind == KINDS[family]
    read, written = rows(model)
    states = model.states(read, written)
    lengths = [len(row) for row in (written or read)]
    assert states.shape[:2] == (3, max(lengths))
    assert len(set(map(len, read))) == 3
    for place, length in enumerate(lengths):
        logits = model.logits(states[place, :length])
        expected = whole(folder(family), model.kind, read[place], None if written is None else written[place]).logits[0]
        assert logits.shape == (length, model.vocabulary)
        torch.testing.assert_close(logits, expected, atol=1e-5, rtol=1e-5)
        # Any rows may be asked for, in any order.
        torch.testing.assert_close(
            model.logits(states[place, [length - 1, 0]]), expected[[-1, 0]], atol=1e-5, rtol=1e-5
        )


@torch.no_grad()
def test_a_head_of_its_own_beside_the_table_of_embeddings(copied: Callable[[str], Path]) -> None:
    """As that of mT5's published files, which say that the two are one."""
    changed = copied("mt5")
    weights = load_file(changed / "model.safetensors")
    torch.manual_seed(5)
    weights["lm_head.weight"] = torch.randn_like(weights["shared.weight"])
    save_file(weights, changed / "model.safetensors", metadata={"format": "pt"})
    model = load_with_head(changed, device="cpu")
    read, written = rows(model)
    states = model.states(read[:1], (written or [])[:1])[0]
    torch.testing.assert_close(model.logits(states), states @ weights["lm_head.weight"].T, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("family", ATTENDING)
@torch.no_grad()
def test_attention_that_each_piece_gets(folder: Callable[[str], Path], family: str) -> None:
    model = load_with_head(folder(family), device="cpu", attentions=True)
    read, _ = rows(model)
    states, received = model.states_and_attention(read)
    assert received.shape == states.shape[:2]
    for place, row in enumerate(read):
        layers = whole(folder(family), "encoder", row, None, attn_implementation="eager").attentions
        shares = torch.stack([layer[0] for layer in layers])  # (layers, heads, readers, read)
        torch.testing.assert_close(received[place, : len(row)], shares.mean(dim=(0, 1, 2)), atol=1e-5, rtol=1e-5)
        assert received[place, len(row) :].abs().max().item() == 0 if len(row) < received.shape[1] else True
    torch.testing.assert_close(received.sum(dim=1), torch.ones(3))
    torch.testing.assert_close(states, load_with_head(folder(family), device="cpu").states(read), atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("at_once", [1, pytest.param(50, marks=pytest.mark.long), 1 << 22])
@pytest.mark.parametrize("family", ATTENDING)
@torch.no_grad()
def test_attention_is_summed_in_parts_of_any_size(
    folder: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch, family: str, at_once: int
) -> None:
    model = load_with_head(folder(family), device="cpu", attentions=True)
    assert (model._attention, model.weights_kept) == (SUMMING, 1)
    read, _ = rows(model)
    states, received = model.states_and_attention(read)
    ran: list[int] = []
    real = torch.Tensor.softmax
    monkeypatch.setattr(torch.Tensor, "softmax", lambda self, dim: ran.append(self.numel()) or real(self, dim=dim))
    monkeypatch.setitem(heads._AT_ONCE, "cpu", at_once)
    in_parts = model.states_and_attention(read)
    assert max(ran) <= max(at_once, max(map(len, read)))  # never less than one reader's
    torch.testing.assert_close(in_parts[0], states, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(in_parts[1], received, atol=1e-6, rtol=1e-5)


@pytest.mark.parametrize("family", ATTENDING)
@torch.no_grad()
def test_attention_in_half_precision(folder: Callable[[str], Path], family: str) -> None:
    exact = load_with_head(folder(family), device="cpu", attentions=True)
    coarse = load_with_head(folder(family), device="cpu", dtype="bfloat16", attentions=True)
    assert coarse._attention == SUMMING
    read, _ = rows(exact)
    wanted, found = (model.states_and_attention(read)[1] for model in (exact, coarse))
    torch.testing.assert_close(found, wanted, atol=1e-2, rtol=0)


@torch.no_grad()
def test_attention_of_a_family_with_a_way_of_its_own(folder: Callable[[str], Path], tmp_path: Path) -> None:
    """DeBERTa adds distances to its scores; the weights of all layers are asked for."""
    torch.manual_seed(3)
    sizes = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32}
    config = transformers.DebertaV2Config(vocab_size=400, relative_attention=True, pos_att_type=["c2p"], **sizes)
    transformers.DebertaV2ForMaskedLM(config).save_pretrained(tmp_path / "deberta")
    _tokenizer_of(folder("bert"), tmp_path / "deberta")
    model = load_with_head(tmp_path / "deberta", device="cpu", attentions=True)
    assert (model._attention, model.weights_kept) == ("eager", 4)
    _, received = model.states_and_attention([[5, 6, 7, 8], [9, 10]])
    layers = whole(tmp_path / "deberta", "encoder", [9, 10], None, attn_implementation="eager").attentions
    torch.testing.assert_close(received[1, :2], torch.stack([one[0] for one in layers]).mean(dim=(0, 1, 2)))


def test_attention_that_was_not_asked_for_is_refused(folder: Callable[[str], Path]) -> None:
    with pytest.raises(InputError, match=r"Load it with load_scorer\(\.\.\., attentions=True\)"):
        load_with_head(folder("bert"), device="cpu").states_and_attention([[5, 6]])


def _tokenizer_of(model: Path, folder: Path) -> None:
    for name in ("tokenizer.json", "tokenizer_config.json"):
        shutil.copy(model / name, folder / name)


def _opt(folder: Path) -> str:
    sizes = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "ffn_dim": 32}
    config = transformers.OPTConfig(vocab_size=400, max_position_embeddings=64, word_embed_proj_dim=16, **sizes)
    transformers.OPTForCausalLM(config).save_pretrained(folder)
    return "gpt2"


def _switch(folder: Path) -> str:
    sizes = {"d_model": 16, "d_kv": 8, "d_ff": 32, "num_layers": 2, "num_decoder_layers": 2, "num_heads": 2}
    experts = {"num_experts": 2, "num_sparse_encoder_layers": 1, "num_sparse_decoder_layers": 1, "expert_capacity": 64}
    config = transformers.SwitchTransformersConfig(vocab_size=400, decoder_start_token_id=1, **sizes, **experts)
    transformers.SwitchTransformersForConditionalGeneration(config).save_pretrained(folder)
    return "mt5"


def _two_berts(folder: Path) -> str:
    sizes = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32}
    berts = [transformers.BertConfig(vocab_size=400, max_position_embeddings=64, **sizes) for _ in range(2)]
    config = transformers.EncoderDecoderConfig.from_encoder_decoder_configs(*berts, decoder_start_token_id=2)
    transformers.EncoderDecoderModel(config).save_pretrained(folder)
    return "bert"


@pytest.mark.parametrize("build_model", [_opt, _switch, _two_berts])
@torch.no_grad()
def test_a_family_that_goes_round_the_stand_in_runs_whole(
    folder: Callable[[str], Path], tmp_path: Path, build_model: Callable[[Path], str]
) -> None:
    torch.manual_seed(3)
    _tokenizer_of(folder(build_model(tmp_path / "model")), tmp_path / "model")
    model = load_with_head(tmp_path / "model", device="cpu")
    read, written = rows(model)
    states = model.states(read, written)
    for place, row in enumerate(written or read):
        expected = whole(tmp_path / "model", model.kind, read[place], None if written is None else row).logits[0]
        torch.testing.assert_close(model.logits(states[place, : len(row)]), expected, atol=1e-5, rtol=1e-5)
    assert model.whole


def _without(prefix: str, path: Path) -> None:
    weights = {name: tensor for name, tensor in load_file(path).items() if not name.startswith(prefix)}
    save_file(weights, path, metadata={"format": "pt"})


@pytest.mark.parametrize(
    ("family", "prefix", "message"),
    [
        ("bert", "cls.", r"its files have no vocabulary head \(5 weights of it are missing, for example 'cls\.pred"),
        ("xlm-roberta", "lm_head.", r"no vocabulary head \(5 weights of it are missing, for example 'lm_head\."),
        ("llama", "lm_head.", r"no vocabulary head \(one weight of it is missing, for example 'lm_head\.weight'\)"),
        ("mt5", "decoder.", r"no decoder \(\d+ weights of it are missing, for example 'decoder\.block\.0"),
        ("bert", "bert.encoder.layer.1", r"16 weights are missing .*fetch the model again"),
        ("bert", "", r"\d+ weights are missing .*fetch the model again"),
    ],
)
def test_what_is_missing_is_said(copied: Callable[[str], Path], family: str, prefix: str, message: str) -> None:
    spoiled = copied(family)
    _without(prefix, spoiled / "model.safetensors")
    with pytest.raises(InputError, match=message) as caught:
        load_with_head(spoiled, device="cpu")
    assert str(caught.value).startswith(f"model {spoiled}: ")


def test_a_discriminator_has_no_head(tmp_path: Path) -> None:
    discriminator = build_for_vectors("electra", tmp_path / "electra")
    with pytest.raises(InputError) as caught:
        load_with_head(discriminator, device="cpu")
    assert str(caught.value) == (
        f"model {discriminator}: its files have no vocabulary head (5 weights of it are missing, for example"
        " 'generator_lm_head.bias'), so it gives vectors and no probabilities. They are those of an ELECTRA's"
        " discriminator: use its generator, or write stages: [embeddings] under the model."
    )


@pytest.mark.long
@pytest.mark.parametrize("family", ["bert", "llama", "mt5"])
@torch.no_grad()
def test_8_bits_leave_the_head_alone(folder: Callable[[str], Path], family: str) -> None:
    pytest.importorskip("torchao", reason="quantization needs torchao, which is optional")
    exact = load_with_head(folder(family), device="cpu")
    coarse = load_with_head(folder(family), device="cpu", options=ModelOptions(quantization="int8"))
    read, written = rows(exact)
    states = exact.states(read, written)
    assert not torch.equal(states, coarse.states(read, written))
    last = coarse._halves.model.get_output_embeddings()
    assert isinstance(last, torch.nn.Linear)
    assert torch.equal(last.weight, exact._halves.model.get_output_embeddings().weight)
    if family != "bert":  # of which the head has a layer before its last one
        assert torch.equal(coarse.logits(states[0]), exact.logits(states[0]))


@torch.no_grad()
def test_a_twin_has_a_head_of_random_weights(folder: Callable[[str], Path]) -> None:
    twins = [load_with_head(folder("bert"), device="cpu", options=ModelOptions(random_weights=7)) for _ in range(2)]
    read, _ = rows(twins[0])
    one, other = (twin.logits(twin.states(read)[0]) for twin in twins)
    assert twins[0].name.endswith("(random weights)")
    assert torch.equal(one, other)
    model = load_with_head(folder("bert"), device="cpu")
    assert not torch.allclose(one, model.logits(model.states(read)[0]))


def test_the_piece_that_hides_a_word(folder: Callable[[str], Path], copied: Callable[[str], Path]) -> None:
    masks = {
        family: model.tokenizer.convert_ids_to_tokens(mask_of(model))
        for family in ("bert", "albert", "mbart", "mt5")
        if (model := load_with_head(folder(family), device="cpu"))
    }
    assert masks == {"bert": "[MASK]", "albert": "<mask>", "mbart": "<mask>", "mt5": "<extra_id_0>"}
    assert mask_of(load_with_head(folder("gpt2"), device="cpu")) is None
    without = copied("bert")
    settings = json.loads((without / "tokenizer_config.json").read_text())
    del settings["mask_token"]
    (without / "tokenizer_config.json").write_text(json.dumps(settings))
    with pytest.raises(InputError, match=r"its tokenizer has no mask piece.*Use a model that was trained with one"):
        require_mask(load_with_head(without, device="cpu"))
    options = ModelOptions(tokenizer={"mask_token": "[MASK]"})
    assert require_mask(load_with_head(without, device="cpu", options=options)) == 4
