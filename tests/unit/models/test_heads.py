"""A model in two halves gives what the whole model of transformers gives, of every family."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import tiny_models
import torch
import transformers as t
from safetensors.torch import load_file, save_file
from scoring_models import FAMILIES, KINDS
from tiny_models import SENTENCES

from prasanga.base.errors import InputError
from prasanga.likelihoods import load_scorer, score_pairs
from prasanga.models import ModelOptions
from prasanga.models.heads import ModelWithHead, load_with_head, mask_piece

Folder = Callable[[str], Path]
CLASSES = {
    "encoder": "AutoModelForMaskedLM",
    "decoder": "AutoModelForCausalLM",
    "encoder-decoder": "AutoModelForSeq2SeqLM",
}


def rows(model: ModelWithHead) -> tuple[list[list[int]], list[list[int]] | None]:
    """Texts of different lengths, so that all but one are padded; of an encoder-decoder, what the decoder reads too."""
    read = [model.tokenizer(text)["input_ids"][:40] for text in (SENTENCES[0], SENTENCES[1][:9], SENTENCES[4])]
    return read, [[2, *row[1:7:2]] for row in read] if model.kind == "encoder-decoder" else None


def whole(folder: Path, kind: str, read: list[int], written: list[int] | None, **more: Any) -> Any:
    """The plain forward pass of transformers' own class on one row, without padding."""
    model = getattr(t, CLASSES[kind]).from_pretrained(folder, **more).eval()
    given = {} if written is None else {"decoder_input_ids": torch.tensor([written])}
    with torch.no_grad():
        return model(input_ids=torch.tensor([read]), **given, output_attentions=bool(more))


@torch.no_grad()
def require_equal_to_whole(model: ModelWithHead, folder: Path) -> None:
    read, written = rows(model)
    states = model.states(read, written)
    lengths = [len(row) for row in (written or read)]
    for place, length in enumerate(lengths):
        logits = model.logits(states[place, :length])
        expected = whole(folder, model.kind, read[place], None if written is None else written[place]).logits[0]
        assert logits.shape == (length, model.vocabulary)
        torch.testing.assert_close(logits, expected, atol=1e-5, rtol=1e-5)
        some = model.logits(states[place, [length - 1, 0]])  # any rows may be asked for, in any order
        torch.testing.assert_close(some, expected[[-1, 0]], atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("family", FAMILIES)
def test_head_and_body_give_what_the_whole_gives(tiny: Folder, family: str) -> None:
    model = load_with_head(tiny(family), device="cpu")
    assert (model.kind, model.whole, model.alone) == (KINDS[family], False, False)
    require_equal_to_whole(model, tiny(family))


@torch.no_grad()
def test_a_head_of_its_own_beside_the_table_of_embeddings(copied: Folder) -> None:
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


def build_deberta(folder: Path) -> str:
    """It adds distances to its attention scores."""
    sizes = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32}
    config = t.DebertaV2Config(vocab_size=400, relative_attention=True, pos_att_type=["c2p"], **sizes)
    t.DebertaV2ForMaskedLM(config).save_pretrained(folder)
    return "bert"


def with_tokenizer(tiny: Folder, folder: Path, build: Callable[[Path], str]) -> Path:
    """A model that `build` writes, with the tokenizer of another family, which it names."""
    torch.manual_seed(3)
    like = build(folder)
    for name in ("tokenizer.json", "tokenizer_config.json"):
        shutil.copy(tiny(like) / name, folder / name)
    return folder


@pytest.mark.parametrize("family", [*(family for family, kind in KINDS.items() if kind == "encoder"), "deberta"])
@torch.no_grad()
def test_attention_that_each_piece_gets(tiny: Folder, tmp_path: Path, family: str) -> None:
    folder = with_tokenizer(tiny, tmp_path / family, build_deberta) if family == "deberta" else tiny(family)
    model = load_with_head(folder, device="cpu")
    read, _ = rows(model)
    before = model.states(read)
    received = model.attention(read)
    for place, row in enumerate(read):
        layers = whole(folder, "encoder", row, None, attn_implementation="eager").attentions
        shares = torch.stack([layer[0] for layer in layers])  # (layers, heads, readers, read)
        torch.testing.assert_close(received[place, : len(row)], shares.mean(dim=(0, 1, 2)), atol=1e-5, rtol=1e-5)
        assert not received[place, len(row) :].any()
    torch.testing.assert_close(received.sum(dim=1), torch.ones(3))
    assert model.weights_kept == layers[0].shape[1] * len(layers)
    assert torch.equal(model.states(read), before)  # asking for attention changes no state
    coarse = load_with_head(folder, device="cpu", dtype="bfloat16").attention(read)
    torch.testing.assert_close(coarse, received, atol=1e-2, rtol=0)


def build_opt(folder: Path) -> str:
    sizes = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "ffn_dim": 32}
    config = t.OPTConfig(vocab_size=400, max_position_embeddings=64, word_embed_proj_dim=16, **sizes)
    t.OPTForCausalLM(config).save_pretrained(folder)
    return "gpt2"


def build_switch(folder: Path) -> str:
    sizes = {"d_model": 16, "d_kv": 8, "d_ff": 32, "num_layers": 2, "num_decoder_layers": 2, "num_heads": 2}
    experts = {"num_experts": 2, "num_sparse_encoder_layers": 1, "num_sparse_decoder_layers": 1, "expert_capacity": 64}
    config = t.SwitchTransformersConfig(vocab_size=400, decoder_start_token_id=1, **sizes, **experts)
    t.SwitchTransformersForConditionalGeneration(config).save_pretrained(folder)
    return "mt5"


def build_two_berts(folder: Path) -> str:
    sizes = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32}
    berts = [t.BertConfig(vocab_size=400, max_position_embeddings=64, **sizes) for _ in range(2)]
    config = t.EncoderDecoderConfig.from_encoder_decoder_configs(*berts, decoder_start_token_id=2)
    t.EncoderDecoderModel(config).save_pretrained(folder)
    return "bert"


@pytest.mark.parametrize("build", [build_opt, build_switch, build_two_berts])
def test_a_family_that_goes_round_the_stand_in_runs_whole(
    tiny: Folder, tmp_path: Path, build: Callable[[Path], str]
) -> None:
    folder = with_tokenizer(tiny, tmp_path / "model", build)
    model = load_with_head(folder, device="cpu")
    assert model.whole
    require_equal_to_whole(model, folder)


@pytest.mark.long
@pytest.mark.parametrize("family", ["bert", "llama", "mt5"])
@torch.no_grad()
def test_8_bits_leave_the_head_alone(tiny: Folder, family: str) -> None:
    pytest.importorskip("torchao", reason="quantization needs torchao, which is optional")
    exact = load_with_head(tiny(family), device="cpu")
    coarse = load_with_head(tiny(family), device="cpu", options=ModelOptions(quantization="int8"))
    read, written = rows(exact)
    states = exact.states(read, written)
    assert not torch.equal(states, coarse.states(read, written))
    weights = [model.encoder.get_output_embeddings().weight for model in (exact, coarse)]
    assert torch.equal(*weights)
    if family != "bert":  # of which the head has a layer before its last one
        assert torch.equal(coarse.logits(states[0]), exact.logits(states[0]))


@torch.no_grad()
def test_a_twin_has_a_head_of_random_weights(tiny: Folder) -> None:
    twins = [load_with_head(tiny("bert"), device="cpu", options=ModelOptions(random_weights=7)) for _ in range(2)]
    read, _ = rows(twins[0])
    one, other = (twin.logits(twin.states(read)[0]) for twin in twins)
    assert twins[0].name.endswith("(random weights)")
    assert torch.equal(one, other)
    model = load_with_head(tiny("bert"), device="cpu")
    assert not torch.allclose(one, model.logits(model.states(read)[0]))


def test_the_piece_that_hides_a_word(tiny: Folder) -> None:
    found = {}
    for family in ("bert", "albert", "mbart", "mt5", "gpt2"):
        tokenizer = t.AutoTokenizer.from_pretrained(tiny(family))
        piece = mask_piece(tokenizer, KINDS[family])
        found[family] = None if piece is None else tokenizer.convert_ids_to_tokens(piece)
    assert found == {"bert": "[MASK]", "albert": "<mask>", "mbart": "<mask>", "mt5": "<extra_id_0>", "gpt2": None}


# ---- families that do not do what others of their kind do

PAIRS = pl.DataFrame(
    {
        "language": ["bn"] * 3,
        "first": ["মায়ের হাতে গোলাপ", "বাবার হাতে একটি লাল গোলাপ ছিল আজ সকালে", "লাল ফুল"],
        "second": ["বাবার হাতে গোলাপ", "মায়ের হাতে একটি লাল গোলাপ ছিল আজ সকালে", "লাল জবা"],
    }
)


def build_odd(like: str, folder: Path, make: Any) -> Path:
    """A tiny model that `make` builds from the size of the vocabulary, with the tokenizer of another family."""
    return tiny_models.build_family(replace(tiny_models.FAMILIES[like], model=make), folder)


def make_convbert(vocabulary: int, positions: int) -> Any:
    shape = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64}
    limits = {"vocab_size": vocabulary, "embedding_size": 16, "max_position_embeddings": positions}
    return t.ConvBertForMaskedLM(t.ConvBertConfig(**shape, **limits, initializer_range=0.3))


def make_xlnet(vocabulary: int, _positions: int) -> Any:
    shape = {"d_model": 32, "n_layer": 2, "n_head": 4, "d_inner": 64, "initializer_range": 0.3}
    return t.XLNetLMHeadModel(t.XLNetConfig(vocab_size=vocabulary, **shape))


def make_bart(vocabulary: int, positions: int) -> Any:
    shape = {"encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 4, "decoder_attention_heads": 4}
    sizes = {"d_model": 32, "encoder_ffn_dim": 64, "decoder_ffn_dim": 64, "init_std": 0.3}
    limits = {"vocab_size": vocabulary, "max_position_embeddings": positions, "pad_token_id": 1}
    return t.BartForConditionalGeneration(t.BartConfig(**shape, **sizes, **limits, decoder_start_token_id=2))


def test_a_family_that_takes_padding_into_account_runs_one_copy_at_a_time(tmp_path: Path) -> None:
    folder = build_odd("bert", tmp_path / "convbert", make_convbert)
    assert load_scorer(folder).model.alone
    together = score_pairs(folder, PAIRS, unknown="keep", pieces_per_batch=4096)
    for place in range(len(PAIRS)):
        alone = score_pairs(folder, PAIRS[place : place + 1], unknown="keep")
        for column in ("score_first", "score_second"):
            assert together[column][place] == pytest.approx(alone[column][0], abs=1e-6)


def test_a_decoder_that_sees_what_comes_after_is_refused(tmp_path: Path) -> None:
    folder = build_odd("gpt2", tmp_path / "xlnet", make_xlnet)
    message = r"its family \(xlnet\) is loaded as a decoder, but its pieces see later ones"
    with pytest.raises(InputError, match=message):
        load_scorer(folder)


def test_a_decoder_reads_first_what_the_tokenizer_puts_before_a_text(tmp_path: Path) -> None:
    """BART was trained to write `</s> <s> text`: its start, and what its tokenizer begins a text with."""
    folder = build_odd("xlm-roberta", tmp_path / "bart", make_bart)
    found = score_pairs(folder, PAIRS[:1], measure="causal", unknown="keep", reduction="sum")
    tokenizer = t.AutoTokenizer.from_pretrained(folder)
    model = t.AutoModelForSeq2SeqLM.from_pretrained(folder, dtype=torch.float32).eval()
    start, begin, *text, end = [2, *tokenizer(PAIRS["first"][0]).input_ids]
    assert (begin, end) == (tokenizer.bos_token_id, tokenizer.eos_token_id)
    read = torch.tensor([tokenizer("").input_ids])
    with torch.no_grad():
        logits = model(input_ids=read, decoder_input_ids=torch.tensor([[start, begin, *text]])).logits[0]
    table = torch.log_softmax(logits.double(), dim=-1)
    wanted = sum(table[1 + place, piece].item() for place, piece in enumerate(text))
    assert found["score_first"][0] == pytest.approx(wanted, abs=1e-4)
    assert found["n_first"][0] == len(text)
