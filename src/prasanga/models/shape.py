"""What a model is, told from its configuration: kind, number of parameters, longest input. No weight is read.

The model is built on torch's `meta` device, where tensors have a shape and no content.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

import torch
import transformers
from transformers.dynamic_module_utils import get_class_from_dynamic_module
from transformers.models.auto.modeling_auto import (
    MODEL_FOR_CAUSAL_LM_MAPPING_NAMES,
    MODEL_FOR_MASKED_LM_MAPPING_NAMES,
)

from prasanga.models.hub import Source, explaining
from prasanga.models.options import ModelOptions
from prasanga.models.quantization import linear_layers
from prasanga.models.quiet import quiet

_WITH_HEAD = {
    "encoder": "AutoModelForMaskedLM",
    "decoder": "AutoModelForCausalLM",
    "encoder-decoder": "AutoModelForSeq2SeqLM",
}
_UNLIMITED = 1_000_000  # tokenizers without a limit name a huge number
_CAUSAL_NAMES = ("ForCausalLM", "LMHeadModel")


@dataclass(frozen=True)
class Size:
    """How many numbers a model has.

    Attributes:
        parameters: all of them.
        linear: those in the weights of linear layers (without biases), which can be kept in 8 bits.
        rows: outputs of all linear layers together; in 8 bits, each has a scale.
    """

    parameters: int
    linear: int = 0
    rows: int = 0


@dataclass(frozen=True)
class Part:
    """How much of a model is loaded.

    Attributes:
        head: with the vocabulary head, and all of an encoder-decoder, for probabilities; or without, and of an
            encoder-decoder the encoder alone, for vectors.
    """

    head: bool = False

    def class_name(self, config: Any) -> str:
        """The class of transformers that loads it."""
        return _WITH_HEAD[model_kind(config)] if self.head else "AutoModel"

    def config(self, config: Any) -> Any:
        """A copy of `config` from which no more is built than is needed."""
        return copied(config) if self.head else without_decoder(config)

    def of(self, model: Any, config: Any) -> Any:
        """The part of what that class gives."""
        return model if self.head else encoder_of(model, config)


BASE, WITH_HEAD = Part(head=False), Part(head=True)


def model_kind(config: Any) -> str:
    """`encoder`, `decoder` (each piece sees only those before it) or `encoder-decoder`.

    Decoders such as GPT-2, BLOOM, Llama or Mistral do not say so in their configuration (`is_decoder` means something
    else there); what tells them apart is that transformers has them as causal models and not as masked ones. Of a
    model that it does not know at all, the names of the classes in config.json decide.
    """
    if getattr(config, "is_encoder_decoder", False):
        return "encoder-decoder"
    text = config.get_text_config()
    masked = text.model_type in MODEL_FOR_MASKED_LM_MAPPING_NAMES
    causal = text.model_type in MODEL_FOR_CAUSAL_LM_MAPPING_NAMES
    if masked:
        return "decoder" if getattr(text, "is_decoder", False) else "encoder"
    if causal:
        return "decoder"
    names = getattr(config, "architectures", None) or []
    return "decoder" if any(name.endswith(_CAUSAL_NAMES) for name in names) else "encoder"


def without_decoder(config: Any) -> Any:
    """A copy of `config` whose decoder has no blocks, so that an encoder-decoder is loaded without their weights."""
    config = copied(config)
    if getattr(config, "is_encoder_decoder", False):
        for key in ("decoder_layers", "num_decoder_layers"):
            if hasattr(config, key):
                setattr(config, key, 0)
    return config


def copied(config: Any) -> Any:
    """A copy of `config` to build a model from, and to read the weights of the files that were checked."""
    config = copy.deepcopy(config)
    config.transformers_weights = None  # a config may name another file to read them from
    return config


def encoder_of(model: Any, config: Any) -> Any:
    """The part of a base model that gives hidden states: all of it, or the encoder of an encoder-decoder."""
    return model.get_encoder() if getattr(config, "is_encoder_decoder", False) else model


def skeleton(
    source: Source, config: Any, options: ModelOptions, dtype: torch.dtype | None = None, part: Part = BASE
) -> Any:
    """The part of the model that is loaded, as a module without content, on the meta device.

    Args:
        source: the model, which has been found.
        config: its configuration.
        options: as it is loaded with.
        dtype: precision of the module; that of config.json if None.
        part: how much of it.

    Raises:
        InputError: transformers cannot build a model from this config.json.
    """
    with torch.device("meta"):
        return part.of(from_config(source, config, options, dtype, part), config)


def from_config(
    source: Source, config: Any, options: ModelOptions, dtype: torch.dtype | None = None, part: Part = BASE
) -> Any:
    """The model as its family begins to train it, for vectors without the decoder's blocks; as `skeleton`.

    Raises:
        InputError: transformers cannot build a model from this config.json.
    """
    # `from_config` would take a model's own code from the main branch, and register it for every later use.
    name, built = part.class_name(config), part.config(config)
    own = (getattr(config, "auto_map", None) or {}).get(name) if options.remote_code else None
    precision = {} if dtype is None else {"dtype": dtype}
    with quiet(), explaining(source, "config.json"):
        if own is None:
            loader = getattr(transformers, name)
            return loader.from_config(built, trust_remote_code=options.remote_code, **precision)
        kind = get_class_from_dynamic_module(own, **source.arguments)
        return kind._from_config(built, **precision) if precision else kind(built)


def size_of(model: torch.nn.Module, *, apart: torch.nn.Module | None = None) -> Size:
    """Count the parameters of a module, on whatever device; `apart` is a layer that is never kept in 8 bits."""
    layers = [layer for _, layer in linear_layers(model) if layer is not apart]
    return Size(
        parameters=sum(parameter.numel() for parameter in model.parameters()),
        linear=sum(layer.weight.numel() for layer in layers),
        rows=sum(layer.out_features if isinstance(layer, torch.nn.Linear) else layer.nf for layer in layers),
    )


def max_pieces(tokenizer: Any, config: Any, model: torch.nn.Module) -> int | None:
    """Most pieces that a model reads at once, special ones included; None if nothing limits it."""
    limits = [tokenizer.model_max_length, getattr(config, "max_position_embeddings", None)]
    for name, module in model.named_modules():
        # RoBERTa and its kin count positions from padding_idx + 1 on, so that many of the table's rows are never used.
        padding = getattr(module, "padding_idx", None)
        if name.endswith("position_embeddings") and isinstance(padding, int):
            limits.append(module.num_embeddings - padding - 1)
    known = [int(limit) for limit in limits if limit is not None and 0 < limit < _UNLIMITED]
    return min(known, default=None)
