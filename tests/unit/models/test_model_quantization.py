"""Linear layers in 8 bits: nearly the same output from a quarter of the memory, the same bits every time."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import nn
from transformers import BertConfig, BertModel, GPT2Config, GPT2Model
from transformers.pytorch_utils import Conv1D

from prasanga.models import load_model
from prasanga.models.devices import weights_bytes
from prasanga.models.options import ModelOptions
from prasanga.models.shape import Int8Linear, linear_layers, quantize_linear_layers, size_of


def _model(kind: str) -> nn.Module:
    torch.manual_seed(5)
    if kind == "bert":
        shape = {"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 128}
        return BertModel(BertConfig(vocab_size=50, initializer_range=0.2, **shape)).eval()
    return GPT2Model(GPT2Config(vocab_size=50, n_embd=64, n_layer=2, n_head=4, initializer_range=0.2)).eval()


@pytest.mark.parametrize("kind", ["bert", "gpt2"])
def test_the_output_hardly_moves(kind: str) -> None:
    model = _model(kind)
    ids = torch.arange(40).reshape(4, 10)
    with torch.no_grad():
        exact = model(input_ids=ids).last_hidden_state
        replaced = quantize_linear_layers(model)
        coarse = model(input_ids=ids).last_hidden_state
    assert replaced == {"bert": 13, "gpt2": 8}[kind]
    assert not list(linear_layers(model))
    cosines = nn.functional.cosine_similarity(exact, coarse, dim=-1)
    assert cosines.min() > 0.999
    assert not torch.equal(exact, coarse)


def test_one_layer_by_hand() -> None:
    weight = torch.tensor([[1.27, -0.634], [0.0, 0.0], [-2.54, 0.02]])
    layer = Int8Linear(weight, torch.tensor([0.5, 0.25, 0.0]))
    assert layer.weight.tolist() == [[127, -63], [0, 0], [-127, 1]]
    torch.testing.assert_close(layer.scale[:, 0], torch.tensor([0.01, 1.0, 0.02]))
    torch.testing.assert_close(layer(torch.tensor([[1.0, 1.0]])), torch.tensor([[1.14, 0.25, -2.52]]))


def test_memory_is_a_quarter_and_is_foretold() -> None:
    model = _model("bert")
    size = size_of(model)
    before = sum(module.weight.numel() * 4 for _, module in linear_layers(model))
    quantize_linear_layers(model)
    layers = [module for module in model.modules() if isinstance(module, Int8Linear)]
    after = sum(layer.weight.nbytes + layer.scale.nbytes for layer in layers)
    assert 0.25 * before < after < 0.27 * before
    held = sum(tensor.nbytes for tensor in [*model.parameters(), *(b for layer in layers for b in layer.buffers())])
    assert weights_bytes(size, "float32", "int8") == held


def test_the_same_every_time_and_in_every_precision() -> None:
    torch.manual_seed(1)
    weight, states = torch.randn(8, 16), 3 * torch.randn(5, 16)
    first, second = Int8Linear(weight, None), Int8Linear(weight.clone(), None)
    assert torch.equal(first(states), second(states))
    for dtype in (torch.bfloat16, torch.float16):
        got = Int8Linear(weight.to(dtype), None)(states.to(dtype))
        assert got.dtype == dtype
        torch.testing.assert_close(got.float(), first(states), atol=0.3, rtol=0.05)
    # Sums that 16-bit floats cannot hold before scaling: 4 096 times 127 is over 65 504.
    wide = Int8Linear(torch.full((1, 4096), 0.01, dtype=torch.float16), None)
    assert wide(torch.ones(1, 4096, dtype=torch.float16)).item() == pytest.approx(40.96, rel=0.01)


def test_subclasses_and_other_modules_stay() -> None:
    model = nn.ModuleDict({"linear": nn.Linear(4, 3), "conv": Conv1D(3, 4), "attention": nn.MultiheadAttention(4, 2)})
    weight = model["conv"].weight.detach().clone()
    assert quantize_linear_layers(model) == 2
    assert type(model["attention"].out_proj).__name__ == "NonDynamicallyQuantizableLinear"
    states = torch.tensor([[1.0, 2.0, -1.0, 0.5]])
    torch.testing.assert_close(model["conv"](states), states @ weight, atol=1e-3, rtol=0.02)


@pytest.mark.parametrize("kind", ["bert", "gpt2", "mbart", "t5", "albert"])
def test_through_load_model(tiny: Callable[[str], Path], kind: str) -> None:
    exact = load_model(tiny(kind), device="cpu")
    coarse = load_model(tiny(kind), device="cpu", options=ModelOptions(quantization="int8"))
    assert any(isinstance(module, Int8Linear) for module in coarse.encoder.modules())
    ids = torch.tensor([coarse.tokenizer("ফুল মা Rose")["input_ids"]])
    pair = [loaded.encoder(input_ids=ids).last_hidden_state for loaded in (exact, coarse)]
    assert nn.functional.cosine_similarity(*pair, dim=-1).min() > 0.999
