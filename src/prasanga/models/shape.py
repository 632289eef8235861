"""What a model is, told from its configuration: kind, size, longest input, vocabulary head; its twin; its 8 bits."""

from __future__ import annotations

import copy
import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
import transformers
from torch import nn
from torch.nn import functional
from torch.utils._python_dispatch import TorchDispatchMode
from transformers.conversion_mapping import get_model_conversion_mapping
from transformers.core_model_loading import WeightRenaming
from transformers.dynamic_module_utils import get_class_from_dynamic_module
from transformers.initialization import guard_torch_init_functions
from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING_NAMES, MODEL_FOR_MASKED_LM_MAPPING_NAMES
from transformers.pytorch_utils import Conv1D
from transformers.utils import logging as transformers_logging

from prasanga.base.errors import InputError
from prasanga.base.seeds import seed_of
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
# Linear layers with weights in 8 bits, for a model that does not fit into a card's memory otherwise.
#
# Each row of a weight matrix is divided by its largest absolute value and rounded to -127 .. 127; what is
# multiplied is the weight rebuilt from this, so only the weights are coarser, not what flows through the layer.
# This needs no calibration data, is the same on every run, and works wherever torch does.


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
        """Return (..., inputs) to (..., outputs), in the precision of `states`."""
        # Scaled before the product: sums of products with numbers up to 127 would leave float16's range.
        weight = self.weight.to(states.dtype) * self.scale.to(states.dtype)
        return functional.linear(states, weight, None if self.bias is None else self.bias.to(states.dtype))


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


def linear_layers(model: nn.Module) -> Iterator[tuple[str, nn.Linear | Conv1D]]:
    """Name and module of every linear layer, those of GPT-2 (which are stored transposed) included.

    Subclasses are left alone: they compute something else.
    """
    for name, module in model.named_modules():
        if type(module) in (nn.Linear, _ByOneDnn, Conv1D):
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
    layers = [layer for _, layer in linear_layers(model) if layer is not apart]
    return Size(
        parameters=sum(parameter.numel() for parameter in model.parameters()),
        linear=sum(layer.weight.numel() for layer in layers),
        rows=sum(layer.out_features if isinstance(layer, torch.nn.Linear) else layer.nf for layer in layers),
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
# A model with random weights: the architecture of a real one as its family begins to train it, and nothing it
# learnt.
#
# Weights are drawn module by module where the model will run, so that the machine never holds a copy of them: of a
# model of 70 billion that would be 280 GB. A parameter is drawn in float32 and rounded to the model's precision. The
# random numbers are a hash of the seed, the module's name and a counter, and not those of torch, which are others on a
# processor and on each kind of card: a seed gives the same weights everywhere, but for rounding, in whatever order.


_CPU = torch.device("cpu")
_RUN = 1 << 18  # numbers that have one key
_ROUNDS = ((16, 0x7FEB352D), (15, 0x846CA68B - (1 << 32)))  # shifts and factors of a 32-bit hash, by C. Wellons
_HASH_OF_COUNTER = 0x5BD1E995


class _Draws(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """While it is active, normal and uniform numbers come from the seed, the name set last, and how many were drawn."""

    def __init__(self, seed: int) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._seed, self._name, self._calls = seed, "", 0
        self._counters: dict[torch.device, torch.Tensor] = {}

    def of(self, name: str) -> None:
        """Draw for the module of this name from here on."""
        self._name, self._calls = name, 0
        torch.manual_seed(seed_of(self._seed, name))  # for what is drawn in any other way

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Fill a tensor, where that is asked; leave all other functions as they are."""
        if function is torch.ops.aten.normal_.default:
            return self._fill(*args[:3], normal=True)
        if function is torch.ops.aten.uniform_.default:
            return self._fill(*args[:3], normal=False)
        return function(*args, **(kwargs or {}))

    def _fill(self, tensor: torch.Tensor, first: float = 0.0, second: float = 1.0, *, normal: bool) -> torch.Tensor:
        """Fill with numbers of mean `first` and deviation `second`, or from `first` to `second`."""
        drawn = torch.empty(tensor.numel(), dtype=tensor.dtype, device=tensor.device)
        for start in range(0, len(drawn), _RUN):
            here = drawn[start : start + _RUN]
            middle = self._between_zero_and_one(len(here), start, tensor.device)
            if normal:
                here.copy_(torch.erfinv(2 * middle - 1) * (second * 2**0.5) + first)
            else:
                here.copy_(middle * (second - first) + first)
        self._calls += 1
        return tensor.copy_(drawn.view_as(tensor))

    def _between_zero_and_one(self, n: int, start: int, device: torch.device) -> torch.Tensor:
        """Return (n,) numbers, each the middle of one of 2^23 equal parts: more have no such float32 below 1."""
        if device not in self._counters:
            self._counters[device] = _hashed(torch.arange(_RUN, dtype=torch.int32, device=device), _HASH_OF_COUNTER, 0)
        key = seed_of(self._seed, self._name, self._calls, start)
        one, other = ((half & 0xFFFFFFFF) - (1 << 31) for half in (key, key >> 32))
        bits = _hashed(self._counters[device][:n].clone(), one, other)
        return (((bits >> 9) & 0x7FFFFF).float() + 0.5) * 2**-23


def _hashed(numbers: torch.Tensor, key: int, other: int) -> torch.Tensor:
    """Hash (n,) int32 numbers in place, with two keys of 32 bits."""
    numbers ^= key
    for shift, factor in _ROUNDS:
        numbers ^= (numbers >> shift) & ((1 << (32 - shift)) - 1)  # the sign is no number to be shifted
        numbers *= factor
        numbers += other
    numbers ^= (numbers >> 16) & 0xFFFF
    return numbers


def draw_weights(
    source: Source,
    config: Any,
    seed: int,
    dtype: str,
    options: ModelOptions,
    part: Part = BASE,
    *,
    device: torch.device = _CPU,
    memory: Mapping[int, int] | None = None,
) -> Any:
    """Return a part of a model with the weights that its family begins to train with, drawn from `seed`.

    No file of weights is opened. The random numbers of the process are as they were afterwards.

    Args:
        source: the model, which has been found.
        config: its configuration.
        seed: a whole number from 0 to 2^64 - 1.
        dtype: precision of the model.
        options: as the model is loaded with; with int8, each block is rounded once it is drawn.
        part: how much of it.
        device: where it goes.
        memory: by card, how many bytes the model may take there; None for one device.

    Raises:
        InputError: transformers cannot build a model from this config.json; its code leaves out how a weight begins.
    """
    with _parameters_without_content():
        whole = from_config(source, config, options, getattr(torch, dtype), part)
    module = part.of(whole, config)
    blocks = tuple(sorted(getattr(module, "_no_split_modules", None) or ()))
    places: dict[str, Any] = {"": device}
    if memory is not None:
        import accelerate  # slow to import, and needed for several cards alone

        places = accelerate.infer_auto_device_map(module, dict(memory), no_split_module_classes=list(blocks))
    apart = module.get_output_embeddings() if part.head else None
    drawn: dict[int, torch.nn.Parameter] = {}
    cards = {place.index for name in places if (place := _place_of(name, places)).type == "cuda"}
    with (
        torch.no_grad(),
        torch.random.fork_rng(sorted(cards)),
        guard_torch_init_functions(),
        _Draws(seed) as draws,
    ):
        for name, each, owner in _children_first(module, whole):
            draws.of(name)
            _draw_module(each, owner, drawn, _place_of(name, places))
            if options.quantization == "int8" and type(each).__name__ in blocks:
                quantize_linear_layers(each, apart=apart)
    if options.quantization == "int8":
        quantize_linear_layers(module, apart=apart)
    undrawn = [
        name for name, each in module.named_parameters() if each.is_floating_point() and not bool(each.isfinite().all())
    ]
    if undrawn:
        raise InputError(
            f"model {source.name}: its code does not say how {len(undrawn)} of its weights begin, for example"
            f" {undrawn[0]!r}, so it can have no twin with random weights. Write random_twins: 0 under the model."
        )
    return module.to(device) if memory is None else accelerate.dispatch_model(module, places)


def _draw_module(
    module: torch.nn.Module, owner: Any, drawn: dict[int, torch.nn.Parameter], device: torch.device
) -> None:
    """Give the parameters of one module, without its parts, their content; `drawn` has those of others, by identity."""
    own = {name: each for name, each in module._parameters.items() if each is not None and each.is_meta}
    shared = {name: drawn[id(each)] for name, each in own.items() if id(each) in drawn}
    for name, each in own.items():
        if name in shared:
            module._parameters[name] = shared[name]
        else:
            wide, nothing = (torch.float32, math.nan) if each.is_floating_point() else (each.dtype, 0)
            content = torch.full(each.shape, nothing, dtype=wide, device=device)
            module._parameters[name] = torch.nn.Parameter(content, requires_grad=False)
    for each in shared.values():  # it is drawn already, and transformers leaves such alone
        each._is_hf_initialized = True  # type: ignore[attr-defined]
    owner._init_weights(module)
    mine = [module._parameters[name] for name in own if name not in shared]
    begin = getattr(module, "reset_parameters", None)
    if begin is not None and any(bool(each.isnan().any()) for each in mine if each is not None):
        begin()  # as torch does
    for each in shared.values():
        del each._is_hf_initialized  # type: ignore[attr-defined]
    for name, each in own.items():
        if name not in shared:
            rounded = module._parameters[name].to(each.dtype)  # type: ignore[union-attr]
            drawn[id(each)] = module._parameters[name] = torch.nn.Parameter(rounded, requires_grad=False)


def _children_first(module: Any, owner: Any, name: str = "") -> Iterator[tuple[str, torch.nn.Module, Any]]:
    """Yield each module after its parts, with its name and the model that says how its weights begin."""
    owner = module if isinstance(module, transformers.PreTrainedModel) else owner
    for child, part in list(module.named_children()):
        yield from _children_first(part, owner, f"{name}.{child}" if name else child)
    yield name, module, owner


def _place_of(name: str, places: Mapping[str, Any]) -> torch.device:
    """Return the device of a module, by the longest beginning of its name that has one."""
    while name and name not in places:
        name = name.rpartition(".")[0]
    place = places.get(name, next(iter(places.values())))
    return torch.device("cuda", place) if isinstance(place, int) else torch.device(place)


@contextmanager
def _parameters_without_content() -> Iterator[None]:
    """Let modules be made with parameters on the meta device; buffers, which are computed, are as ever."""
    register = torch.nn.Module.register_parameter

    def without_content(module: torch.nn.Module, name: str, parameter: torch.nn.Parameter | None) -> None:
        if parameter is not None and not parameter.is_meta:
            parameter = torch.nn.Parameter(parameter.to("meta"), requires_grad=parameter.requires_grad)
        register(module, name, parameter)

    torch.nn.Module.register_parameter = without_content  # type: ignore[method-assign,assignment]
    try:
        yield
    finally:
        torch.nn.Module.register_parameter = register  # type: ignore[method-assign]
