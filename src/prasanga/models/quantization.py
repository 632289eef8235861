"""Linear layers with weights in 8 bits, for a model that does not fit into a card's memory otherwise.

Each row of a weight matrix is divided by its largest absolute value and rounded to -127 .. 127; what is multiplied is
the weight rebuilt from this, so only the weights are coarser, not what flows through the layer. This needs no
calibration data, is the same on every run, and works wherever torch does.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import nn
from torch.nn import functional
from transformers.pytorch_utils import Conv1D

_STEPS = 127


class Int8Linear(nn.Module):
    """A linear layer whose weights are whole numbers with one scale per output.

    Attributes:
        weight: (outputs, inputs) int8.
        scale: (outputs, 1) float32; `weight * scale` is about the weight that was given.
        bias: (outputs,) or None.
    """

    weight: torch.Tensor
    scale: torch.Tensor

    def __init__(self, weight: torch.Tensor, bias: torch.Tensor | None) -> None:
        """Round `weight`, (outputs, inputs) of any floating type; `bias` is kept as it is."""
        super().__init__()
        self.out_features, self.in_features = weight.shape
        exact = weight.detach().float()
        scale = exact.abs().amax(dim=1, keepdim=True) / _STEPS
        scale = torch.where(scale > 0, scale, torch.ones_like(scale))  # a row of zeros stays one
        self.register_buffer("weight", (exact / scale).round().to(torch.int8))
        self.register_buffer("scale", scale)
        self.bias = None if bias is None else nn.Parameter(bias.detach(), requires_grad=False)

    def forward(self, states: torch.Tensor) -> torch.Tensor:
        """(..., inputs) to (..., outputs), in the precision of `states`."""
        # Scaled before the product: sums of products with numbers up to 127 would leave float16's range.
        weight = self.weight.to(states.dtype) * self.scale.to(states.dtype)
        return functional.linear(states, weight, None if self.bias is None else self.bias.to(states.dtype))

    def extra_repr(self) -> str:
        """Shown when a model is printed."""
        return f"{self.in_features}, {self.out_features}, int8"


def linear_layers(model: nn.Module) -> Iterator[tuple[str, nn.Linear | Conv1D]]:
    """Name and module of every linear layer, those of GPT-2 (which are stored transposed) included.

    Subclasses are left alone: they compute something else, or are read from by a fused kernel.
    """
    for name, module in model.named_modules():
        if type(module) in (nn.Linear, Conv1D):
            yield name, module


def quantize_linear_layers(model: nn.Module, *, apart: nn.Module | None = None) -> int:
    """Replace every linear layer of `model` by one in 8 bits, in place; how many were replaced.

    One layer at a time, so that never more than one is there twice.

    Args:
        model: a module.
        apart: a layer to leave as it is, such as the last one of a vocabulary head, whose weights are often those of
            the input embeddings.
    """
    names = [name for name, layer in linear_layers(model) if layer is not apart]
    for name in names:
        parent, _, child = name.rpartition(".")
        layer = model.get_submodule(name)
        weight: torch.Tensor = layer.weight  # type: ignore[assignment]
        if isinstance(layer, Conv1D):
            weight = weight.t()
        setattr(model.get_submodule(parent), child, Int8Linear(weight, layer.bias))  # type: ignore[arg-type]
    return len(names)
