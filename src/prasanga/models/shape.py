"""Read from a configuration: a model's kind, size, longest input and vocabulary head; its copy with random weights."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
import transformers
from torch import nn
from transformers.conversion_mapping import get_model_conversion_mapping
from transformers.core_model_loading import WeightRenaming
from transformers.dynamic_module_utils import get_class_from_dynamic_module
from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING_NAMES, MODEL_FOR_MASKED_LM_MAPPING_NAMES
from transformers.utils import logging as transformers_logging

from prasanga.base.errors import InputError
from prasanga.models.hub import Source, explaining
from prasanga.models.options import ModelOptions

# --------------------
# Transformers without its progress bars, which fill a job's log file with carriage returns.


@contextmanager
def quiet() -> Iterator[None]:
    """Keep progress bars and the report on unused heads out of a log; as before after the block."""
    verbosity, bars = transformers_logging.get_verbosity(), transformers_logging.is_progress_bar_enabled()
    transformers_logging.set_verbosity_error()
    transformers_logging.disable_progress_bar()
    try:
        yield
    finally:
        transformers_logging.set_verbosity(verbosity)
        if bars:
            transformers_logging.enable_progress_bar()


# --------------------
# How linear layers are multiplied.


def quantize_linear_layers(model: nn.Module, *, apart: nn.Module | None = None) -> None:
    """Keep the weights of linear layers in 8 bits, with one scale per output, by torchao.

    Args:
        model: changed in place.
        apart: a layer to leave as it is, such as the last one of a vocabulary head, whose weights are often those of
            the input embeddings.

    Raises:
        InputError: torchao is not installed.
    """
    try:
        from torchao.quantization import Int8WeightOnlyConfig, quantize_
    except ImportError:
        raise InputError(
            "quantization is int8, which needs the package torchao. Install it (`pip install torchao`), or write"
            " quantization: none."
        ) from None
    quantize_(model, Int8WeightOnlyConfig(), filter_fn=lambda layer, _: type(layer) is nn.Linear and layer is not apart)


def use_onednn(model: nn.Module) -> None:
    """Have oneDNN multiply the linear layers of a model in float32 while no gradients are kept, as it does in bfloat16.

    torch leaves products in float32 to MKL, which computes on processors of other makers than Intel with AVX2 at most:
    oneDNN is twice as fast on one of AMD's with AVX-512, and 1.1 times with AVX2 (docs/performance.md). Weights stay as
    they are. On processors of another kind nothing changes.
    """
    there = torch.backends.mkldnn.is_available()  # type: ignore[no-untyped-call]
    if there and torch.backends.cpu.get_cpu_capability().startswith("AVX"):
        for layer in model.modules():
            if type(layer) is nn.Linear and layer.weight.dtype == torch.float32:
                layer.__class__ = _ByOneDnn


class _ByOneDnn(nn.Linear):
    """A linear layer that oneDNN multiplies."""

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        """Return (..., inputs) to (..., outputs)."""
        if torch.is_grad_enabled() or input.dtype != self.weight.dtype:
            return super().forward(input)
        product: torch.Tensor = torch.ops.mkldnn._linear_pointwise(input, self.weight, self.bias, "none", [], "")
        return product


# --------------------
# What a model is, told from its configuration: kind, number of parameters, longest input. No weight is read.
#
# The model is built on torch's `meta` device, where tensors have a shape and no content.


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
    """

    parameters: int
    linear: int = 0


@dataclass(frozen=True)
class Part:
    """How much of a model is loaded.

    Attributes:
        head: with the vocabulary head, and all of an encoder-decoder, for probabilities; or without, and of an
            encoder-decoder the encoder alone, for vectors.
    """

    head: bool = False

    def class_name(self, config: Any) -> str:
        """Return the class of transformers that loads it."""
        return _WITH_HEAD[model_kind(config)] if self.head else "AutoModel"

    def config(self, config: Any) -> Any:
        """Return a copy of `config` from which no more is built than is needed, and from the files that were checked.

        An encoder-decoder without head has no blocks in its decoder, so that their weights are not loaded.
        """
        config = copy.deepcopy(config)
        config.transformers_weights = None  # a config may name another file to read them from
        if not self.head and getattr(config, "is_encoder_decoder", False):
            for key in ("decoder_layers", "num_decoder_layers"):
                if hasattr(config, key):
                    setattr(config, key, 0)
        return config

    def of(self, model: Any, config: Any) -> Any:
        """Return the part of what that class gives: all of it, or the encoder of an encoder-decoder."""
        return model.get_encoder() if not self.head and getattr(config, "is_encoder_decoder", False) else model


BASE, WITH_HEAD = Part(head=False), Part(head=True)


def model_kind(config: Any) -> str:
    """Return `encoder`, `decoder` (each piece sees only those before it) or `encoder-decoder`.

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


def skeleton(source: Source, config: Any, options: ModelOptions, part: Part = BASE) -> Any:
    """Return the part of the model that is loaded, as a module without content, on the meta device.

    Args:
        source: the model, which has been found.
        config: its configuration.
        options: as it is loaded with.
        part: how much of it.

    Raises:
        InputError: transformers cannot build a model from this config.json, or it is none that reads text.
    """
    with torch.device("meta"), explaining(source, "config.json"):
        model = part.of(from_config(source, config, options, part=part), config)
    require_text_model(source.name, config, lambda: model.get_input_embeddings().num_embeddings)
    return model


def require_text_model(name: str, config: Any, *numbers: Callable[[], Any]) -> None:
    """Refuse models of sounds, of pictures, or of both and text: without a table of pieces, or one stack of blocks.

    Args:
        name: of the model, for the message.
        config: its configuration.
        numbers: what such a model has more than none of.

    Raises:
        InputError: one of them is not there.
    """
    try:
        reads_text = all(int(number()) > 0 for number in numbers)
    except (AttributeError, NotImplementedError, TypeError, ValueError):
        reads_text = False
    if not reads_text:
        raise InputError(
            f"model {name}: its config.json says that it is of the type {str(config.model_type)!r}, which is no model"
            " of text alone. Take an encoder, decoder or encoder-decoder of text, such as google/muril-base-cased."
        )


def from_config(
    source: Source, config: Any, options: ModelOptions, dtype: torch.dtype | None = None, part: Part = BASE
) -> Any:
    """Return the model as its family begins to train it, for vectors without the decoder's blocks.

    The arguments are those of `skeleton`, and the precision, that of config.json if None.

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
    layers = [layer for layer in model.modules() if type(layer) is nn.Linear and layer is not apart]
    return Size(
        parameters=sum(parameter.numel() for parameter in model.parameters()),
        linear=sum(layer.weight.numel() for layer in layers),
    )


def max_pieces(tokenizer: Any, config: Any, model: torch.nn.Module) -> int | None:
    """Return most pieces that a model reads at once, special ones included; None if nothing limits it."""
    limits = [tokenizer.model_max_length, getattr(config, "max_position_embeddings", None)]
    for name, module in model.named_modules():
        # RoBERTa and its kin count positions from padding_idx + 1 on, so that many of the table's rows are never used.
        padding = getattr(module, "padding_idx", None)
        if name.endswith("position_embeddings") and isinstance(padding, int):
            limits.append(module.num_embeddings - padding - 1)
    known = [int(limit) for limit in limits if limit is not None and 0 < limit < _UNLIMITED]
    return min(known, default=None)


# --------------------
# Whether the files of a model hold the vocabulary head that probabilities come from.
#
# Many do not: those of ELECTRA's discriminators, of sentence encoders, and of an encoder that was saved without its
# decoder. transformers would draw what is missing at random.


def missing_of_head(model: Any, stored: Iterable[str]) -> list[str]:
    """Return the parameters that only probabilities need and that no file holds.

    Args:
        model: with its head, of any device (`skeleton` with `WITH_HEAD`).
        stored: names of all tensors in the files, as the files have them: older names are known.

    Returns:
        Their names. A parameter with several names, such as a head that is the table of embeddings, is missing if none
        of them is stored.
    """
    renamings = [one for one in get_model_conversion_mapping(model) if isinstance(one, WeightRenaming)]
    # A file of the base model alone has names without the model's prefix, that of a larger model others before it.
    endings = {
        ending
        for name in stored
        for ending in itertools.accumulate(
            reversed(_as_read(renamings, name).split(".")), lambda end, part: f"{part}.{end}"
        )
    }
    prefix = f"{model.base_model_prefix}."
    names_of: dict[int, list[str]] = {}
    for name, parameter in model.named_parameters(remove_duplicate=False):
        names_of.setdefault(id(parameter), []).append(name)
    return [
        names[0]
        for names in names_of.values()
        if any(for_probabilities(model, name) for name in names)
        and not any(name in endings or name.removeprefix(prefix) in endings for name in names)
    ]


def for_probabilities(model: Any, name: str) -> bool:
    """Return whether a parameter of this name serves probabilities alone.

    These are the head, and an encoder-decoder's decoder.
    """
    prefix = model.base_model_prefix
    below = (prefix,) if hasattr(model, prefix) else ("encoder", "decoder", "shared")  # T5 has nothing around them
    return name.partition(".")[0] not in below or _in_decoder(model, name)


def no_head(name: str, model: Any, missing: list[str]) -> InputError:
    """Return what to raise for a model, `name`, that lacks these parameters, which serve probabilities alone."""
    what = "decoder" if any(_in_decoder(model, one) for one in missing) else "vocabulary head"
    count = f"{len(missing)} weights of it are" if len(missing) > 1 else "one weight of it is"
    remedy = "Use files that were saved with it"
    if "Electra" in type(model).__name__:
        remedy = "They are those of an ELECTRA's discriminator: use its generator"
    return InputError(
        f"model {name}: its files have no {what} ({count} missing, for example {missing[0]!r}), so it gives vectors and"
        f" no probabilities. {remedy}, or write stages: [embeddings] under the model."
    )


def _in_decoder(model: Any, name: str) -> bool:
    own = name.removeprefix(f"{model.base_model_prefix}.")
    return bool(model.config.is_encoder_decoder) and own.startswith("decoder.")


def _as_read(renamings: Iterable[WeightRenaming], name: str) -> str:
    """Return the name under which transformers reads a tensor: older files have gamma and beta, for example."""
    for renaming in renamings:
        name, _ = renaming.rename_source_key(name)
    return name


# --------------------
# A model with random weights: the architecture of a real one as its family begins to train it, and nothing it learned.


def draw_weights(source: Source, config: Any, seed: int, dtype: str, options: ModelOptions, part: Part = BASE) -> Any:
    """Return a part of a model with the weights that its family begins to train with, drawn from `seed` on the CPU.

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
        return part.of(from_config(source, config, options, getattr(torch, dtype), part), config)
