"""A model with random weights: the architecture of a real one as its family begins to train it, and nothing it learnt.

Weights are drawn on the processor and in float32, whatever the model then runs on and in: the same seed gives the same
weights for a card and for a processor, and those of half precision are the same ones, rounded.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from prasanga.models.devices import DTYPES
from prasanga.models.hub import Source
from prasanga.models.options import ModelOptions
from prasanga.models.shape import BASE, Part, from_config, skeleton

DRAWN_IN = "float32"
"""Precision in which weights are drawn, and the memory of the machine has to hold them."""


def draw_weights(source: Source, config: Any, seed: int, dtype: str, options: ModelOptions, part: Part = BASE) -> Any:
    """A part of a model with the weights that its family begins to train with, drawn from `seed`.

    No file of weights is opened. The random numbers of the process are as they were afterwards.

    Args:
        source: the model, which has been found.
        config: its configuration.
        seed: a whole number from 0 to 2^64 - 1.
        dtype: precision of the model.
        options: as the model is loaded with.
        part: how much of it.

    Raises:
        InputError: transformers cannot build a model from this config.json.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        drawn = part.of(from_config(source, config, options, DTYPES[DRAWN_IN], part), config)
    if dtype != DRAWN_IN:
        _round(drawn, skeleton(source, config, options, DTYPES[dtype], part))
    return drawn


def _round(encoder: torch.nn.Module, pattern: torch.nn.Module) -> None:
    """Give each tensor of `encoder`, in place, the precision that it has in `pattern`.

    Not all have that of the model: frequencies of positions, for example, stay in float32.
    """
    wanted = {name: tensor.dtype for name, tensor in [*pattern.named_parameters(), *pattern.named_buffers()]}
    for name, tensor in [*encoder.named_parameters(), *encoder.named_buffers()]:
        tensor.data = tensor.data.to(wanted[name])


def spread(encoder: Any, memory: Mapping[int, int]) -> Any:
    """The encoder over several cards, by block, as the package accelerate does it with the weights of a real model.

    Args:
        encoder: on the processor.
        memory: by card, how many bytes the model may take there.
    """
    import accelerate  # an optional package

    blocks = sorted(encoder._no_split_modules or [])
    places = accelerate.infer_auto_device_map(encoder, dict(memory), no_split_module_classes=blocks)
    return accelerate.dispatch_model(encoder, places)
