"""Load a model from a folder or the hub, or with random weights, with its fast tokenizer.

Weights are read from safetensors, or as plain tensors from a pickle whose sha256 is in the config; a model's own code
runs only if the config allows it. For hidden states the vocabulary head is not loaded, and of an encoder-decoder only
the encoder is (`load_model`); `prasanga.models.heads` loads everything. A twin with random weights
(`ModelOptions.random_weights`) needs only configuration and tokenizer.
"""

from __future__ import annotations

import copy
import json
import logging
import re
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import accelerate
import torch
import transformers
from torch import nn
from transformers import AutoConfig, AutoTokenizer
from transformers.dynamic_module_utils import get_class_from_dynamic_module
from transformers.models.auto import modeling_auto as families

from prasanga.base.errors import InputError
from prasanga.models.devices import (
    DTYPES,
    Size,
    claim_devices,
    free_memory,
    no_room,
    quiet,
    resolve_dtype,
    weights_bytes,
)
from prasanga.models.hub import (
    WITHOUT_HEAD,
    FoundModel,
    Weights,
    explaining,
    find_weights,
    open_source,
    read_names,
    read_settings,
    require_own_code,
    require_own_weights,
    require_tokenizer,
)
from prasanga.models.packaged import NO_OPTIONS, ModelOptions, is_encoder_of_t5
from prasanga.models.pieces import apply_options, keep_normalizer_of_file

_LOG = logging.getLogger(__name__)
_LEFT_FREE = 0.9  # of the free memory of each of several GPUs
_UNLIMITED = 1_000_000  # tokenizers without a limit name a huge number
_ARTICLES = {"encoder": "an encoder", "decoder": "a decoder", "encoder-decoder": "an encoder-decoder"}
_CAUSAL, _MASKED = families.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES, families.MODEL_FOR_MASKED_LM_MAPPING_NAMES
_OF_PICTURES = families.MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES
_RENAMED = {r"^(?:module\.|_orig_mod\.|base_model\.model\.)+": ""}
"""Prefixes that DataParallel, torch.compile or PEFT add to names of weights."""
_INNER = {
    r"^(?:model\.)?(?:language_model|text_model)\.lm_head\.": "lm_head.",
    r"^(?:model\.)?(?:language_model|text_model)\.(?:model\.)?": "model.",
}
"""Names of the decoder's weights inside a model of images or audio."""
_WITH_HEAD = {
    "encoder": "AutoModelForMaskedLM",
    "decoder": "AutoModelForCausalLM",
    "encoder-decoder": "AutoModelForSeq2SeqLM",
}


@dataclass(frozen=True)
class LoadedModel:
    """A tokenizer and a base model, ready to run.

    Attributes:
        name: the user's name for it, for messages and records; with a remark if its weights are random.
        tokenizer: a fast tokenizer (it knows the character span of each piece).
        encoder: the module, in evaluation mode on `device`: for vectors, the model without vocabulary head, of an
            encoder-decoder its encoder; for scores (`prasanga.models.heads`), the whole model with its head.
        config: configuration of the text model.
        device: the device of the input; of several GPUs, the first.
        dtype: float32, bfloat16 or float16.
    """

    name: str
    tokenizer: Any
    encoder: Any
    config: Any
    device: torch.device
    dtype: str


def load_model(model: str | Path, **how: Any) -> LoadedModel:
    """Load tokenizer and base encoder of `model`.

    Args:
        model: a folder, or a hub id (`owner/name`).
        **how: `revision`: branch, tag or commit on the hub, not for folders. `device`: `auto` (a free CUDA GPU if there
            is one and `options.cards` is not 0, otherwise the CPU), `cpu`, `cuda` or `cuda:<number>`. `dtype`: `auto`
            (bfloat16 on CUDA GPUs that have it, otherwise float32), `float32`, `bfloat16` or `float16`. `options`: see
            `ModelOptions`.

    Raises:
        InputError: the model is missing or of another kind; it lacks a fast tokenizer or readable weights; it needs
            code that may not run; its vocabulary is smaller than its tokenizer's; it does not fit into memory; or the
            device, dtype or a tokenizer option is unknown.
    """
    loaded = load_part(model, head=False, **how)
    loaded.encoder.config.use_cache = False
    return replace(loaded, config=text_config(loaded.config))


def load_part(
    model: str | Path,
    *,
    head: bool,
    revision: str | None = None,
    device: str = "auto",
    dtype: str = "auto",
    options: ModelOptions = NO_OPTIONS,
) -> LoadedModel:
    """Load tokenizer and a part of `model`; arguments and errors as in `load_model`, except `head`.

    With `head` the part (`encoder`) has the vocabulary head, and all of an encoder-decoder. Without it, it is the part
    that gives vectors, of an encoder-decoder the encoder. `config` is the whole model's.
    """
    device = options.device if device == "auto" else device
    precision = resolve_dtype(dtype, device)
    source = open_source(model, revision)
    config = open_config(source, options)
    weights = find_weights(source, options) if options.random_weights is None else None
    shared = (source, tuple(options.tokenizer.items()), options.remote_code)
    tokenizer = open_tokenizer(source, options) if weights else _share_tokenizer(*shared)
    name = f"{source.name} (random weights)" if weights is None else source.name
    bare = build_bare(source, config, options, head=head)
    require_fitting_tokenizer(source.name, tokenizer, bare)
    devices = claim_devices(device, options.cards)
    size = measure_size(bare, head=head)
    if weights_bytes(size, precision, options.quantization) > sum(map(free_memory, devices)):
        raise no_room(name, size, devices, precision, options.quantization)
    try:
        if weights is None:
            module = _draw_weights(source, config, options, DTYPES[precision], head=head)
        else:
            places: dict[str, Any] = {"device_map": {"": devices[0]}}
            if options.quantization == "int8":  # rounded before they go to a GPU
                places = {}
            elif len(devices) > 1:
                places = {"device_map": "auto", "max_memory": _divide_memory(devices)}
            module = read_weights(source, weights, config, options, DTYPES[precision], head=head, **places)
        if options.quantization == "int8":
            _quantize_linear_layers(module, head=head)
        if weights is None and len(devices) > 1:
            blocks = accelerate.infer_auto_device_map(module, _divide_memory(devices), module._no_split_modules)
            module = accelerate.dispatch_model(module, blocks)
        elif len(devices) == 1:
            module = module.to(devices[0])
    except torch.OutOfMemoryError as error:
        raise no_room(name, size, devices, precision, options.quantization) from error
    if (devices[0].type, precision, options.quantization) == ("cpu", "float32", "none"):
        use_onednn(module)
    return LoadedModel(name, tokenizer, module.eval().requires_grad_(False), config, devices[0], precision)


def _divide_memory(devices: Sequence[torch.device]) -> dict[int, int]:
    """Return how many bytes a model may use on each of several GPUs; the rest is for batches."""
    return {device.index: int(free_memory(device) * _LEFT_FREE) for device in devices}


@lru_cache(maxsize=1)
def _share_tokenizer(source: FoundModel, asked: tuple[tuple[str, Any], ...], remote_code: bool) -> Any:
    """Return the tokenizer that a model's twins share in a job, because reading a large one takes long."""
    return open_tokenizer(source, ModelOptions(tokenizer=dict(asked), remote_code=remote_code))


# --------------------
# Configuration and tokenizer.


def load_tokenizer(model: str | Path, *, revision: str | None = None, options: ModelOptions = NO_OPTIONS) -> Any:
    """Load the fast tokenizer of `model`, with `options.tokenizer`; errors as in `load_model`."""
    return open_tokenizer(open_source(model, revision), options)


def load_config(model: str | Path, *, revision: str | None = None, options: ModelOptions = NO_OPTIONS) -> Any:
    """Return the configuration of `model`, read without its weights; errors as in `load_model`."""
    return open_config(open_source(model, revision), options)


def open_config(source: FoundModel, options: ModelOptions) -> Any:
    """Return the configuration of a model that has been found; refuse one that is not of `options.kind`."""
    if options.remote_code:
        _LOG.warning(
            "model %s: remote_code is true, so the model's own Python code may run, and can do anything that you can do"
            " on this machine.",
            source.name,
        )
        require_own_code(source)
    with quiet(), explaining(source, "config.json"):
        config = _text_part(AutoConfig.from_pretrained(**source.arguments, trust_remote_code=options.remote_code))
        config.is_encoder_decoder |= is_encoder_of_t5(config.architectures or ())
        kind = model_kind(config)
    if options.kind not in ("auto", kind):
        raise InputError(
            f"model {source.name}: kind is {options.kind}, but this is {_ARTICLES[kind]} ({config.model_type})."
            f" Write kind: {kind} (or auto), or name another model."
        )
    return config


def _text_part(config: Any) -> Any:
    """Return the configuration of the decoder inside a model of images or audio, or the configuration itself."""
    text = config.get_text_config()
    if getattr(config, "is_encoder_decoder", False) or text.model_type in _MASKED or text.model_type not in _CAUSAL:
        return config
    text.tie_word_embeddings = getattr(config, "tie_word_embeddings", text.tie_word_embeddings)
    return text


def text_config(config: Any) -> Any:
    """Return the configuration of the blocks that give vectors: for an encoder-decoder, the encoder's."""
    return config.get_text_config(encoder=True if getattr(config, "is_encoder_decoder", False) else None)


def model_kind(config: Any) -> str:
    """Return `encoder`, `decoder` (each piece sees only earlier ones) or `encoder-decoder`.

    The configuration of decoders such as GPT-2, BLOOM, Llama or Mistral does not name their kind (`is_decoder` means
    something else); but transformers lists them as causal models and not as masked ones. For a model that transformers
    does not know, the class names in config.json decide.
    """
    if getattr(config, "is_encoder_decoder", False):
        return "encoder-decoder"
    text = config.get_text_config()
    if text.model_type in _MASKED:
        return "decoder" if getattr(text, "is_decoder", False) else "encoder"
    names = getattr(config, "architectures", None) or []
    is_causal = any(name.endswith(("ForCausalLM", "LMHeadModel")) for name in names)
    return "decoder" if text.model_type in _CAUSAL or config.model_type in _OF_PICTURES or is_causal else "encoder"


def open_tokenizer(source: FoundModel, options: ModelOptions) -> Any:
    """Return the fast tokenizer of a model that has been found, with `options.tokenizer`."""
    require_tokenizer(source)
    if options.remote_code:
        require_own_code(source)
    with quiet(), explaining(source, "tokenizer"):
        tokenizer = AutoTokenizer.from_pretrained(
            **source.arguments, trust_remote_code=options.remote_code, **options.tokenizer
        )
    if not getattr(tokenizer, "is_fast", False):
        raise InputError(
            f"model {source.name}: {type(tokenizer).__name__} is not a fast tokenizer, which knows the characters of"
            " each piece. Save it as tokenizer.json (`transformers.convert_slow_tokenizer`), or use another model."
        )
    with explaining(source, "tokenizer"):
        settings = source.find("tokenizer_config.json")
        keep_normalizer_of_file(tokenizer, source.find("tokenizer.json"), settings, options.tokenizer)
    apply_options(source.name, tokenizer, options.tokenizer)
    return tokenizer


def require_fitting_tokenizer(name: str, tokenizer: Any, model: Any) -> None:
    """Refuse a tokenizer with pieces beyond the model's embedding table."""
    rows = int(model.get_input_embeddings().num_embeddings)
    beyond = sorted((number, piece) for piece, number in tokenizer.get_vocab().items() if number >= rows)
    if beyond:
        listed = ", ".join(f"{piece!r} ({number})" for number, piece in beyond[:5])
        raise InputError(
            f"model {name}: the model has {rows} rows of embeddings, but {len(beyond)} pieces of the tokenizer have"
            f" ids from {rows} on: {listed}{', ...' if len(beyond) > 5 else ''}. Use the model's own tokenizer; if"
            f" pieces were added, `model.resize_token_embeddings({beyond[-1][0] + 1})`, train the model, and save it."
        )


def max_pieces(tokenizer: Any, config: Any, model: nn.Module) -> int | None:
    """Return the most pieces that a model reads at once, special ones included; None for no limit."""
    limits = [tokenizer.model_max_length, getattr(config, "max_position_embeddings", None)]
    for name, module in model.named_modules():
        # RoBERTa and related models count positions from padding_idx + 1 on, so the first rows are never used.
        padding = getattr(module, "padding_idx", None)
        if name.endswith("position_embeddings") and isinstance(padding, int):
            limits.append(module.num_embeddings - padding - 1)
    known = [int(limit) for limit in limits if limit is not None and 0 < limit < _UNLIMITED]
    return min(known, default=None)


# --------------------
# Modules: empty, with random weights, or with weights from files.


def build_bare(source: FoundModel, config: Any, options: ModelOptions, *, head: bool) -> Any:
    """Return a part of the model as an empty module, on the meta device.

    Args:
        source: the model, which has been found.
        config: its configuration.
        options: how it is loaded.
        head: see `load_part`.

    Raises:
        InputError: transformers cannot build a model from this config.json, or it is not a text model: models of audio
            or images lack an embedding table, or a single stack of blocks.
    """
    with torch.device("meta"), explaining(source, "config.json"):
        model = _build(source, config, options, head=head)
    try:
        text = text_config(config)
        numbers = () if head else (text.num_hidden_layers, text.hidden_size)
        reads_text = all(int(number) > 0 for number in (model.get_input_embeddings().num_embeddings, *numbers))
    except (AttributeError, NotImplementedError, TypeError, ValueError):
        reads_text = False
    if not reads_text:
        raise InputError(
            f"model {source.name}: its config.json has the type {str(config.model_type)!r}, which is not a text model."
            " Use a model of text, such as google/muril-base-cased."
        )
    return model


def _draw_weights(source: FoundModel, config: Any, options: ModelOptions, dtype: torch.dtype, *, head: bool) -> Any:
    """Return a part of a model with the initial weights of its family's training.

    They are drawn on the CPU; the state of the process's random generators is restored.
    """
    with torch.random.fork_rng(devices=[]), explaining(source, "config.json"):
        torch.manual_seed(int(options.random_weights or 0))
        return _build(source, config, options, head=head, dtype=dtype)


def _build(source: FoundModel, config: Any, options: ModelOptions, *, head: bool, **dtype: torch.dtype) -> Any:
    # `from_config` would take a model's own code from the main branch, and register it for all later uses.
    name, trimmed = _class_name(config, head), _trim_config(config, head)
    own = (getattr(config, "auto_map", None) or {}).get(name) if options.remote_code else None
    with quiet():
        if own is None:
            model = getattr(transformers, name).from_config(trimmed, **dtype)
        else:
            model = get_class_from_dynamic_module(own, **source.arguments)._from_config(trimmed, **dtype)
    return _take_part(model, config, head)


def read_weights(
    source: FoundModel,
    weights: Weights,
    config: Any,
    options: ModelOptions,
    dtype: torch.dtype,
    *,
    head: bool,
    **places: Any,
) -> Any:
    """Return a part of a model with its weights, read directly to their device.

    Args:
        source: the model, which has been found.
        weights: its files; of safetensors, the meta device reads only the shapes.
        config: its configuration.
        options: how it is loaded.
        dtype: precision of the weights.
        head: see `load_part`.
        places: `device_map` and `max_memory` of `from_pretrained`.

    Raises:
        InputError: files cannot be read; weights are missing or of another shape, which would be random numbers.
    """
    # Weights are read from the folder with the checked files. A model's own code is found by id and commit; by the
    # folder's path it would come from the main branch.
    read_names(source, weights)
    is_inner = read_settings(source, "config.json").get("model_type") != config.model_type
    with quiet(), explaining(source, "weights"), _whole_index(weights) as folder:
        place = source.arguments if options.remote_code else {"pretrained_model_name_or_path": folder}
        loaded, report = getattr(transformers, _class_name(config, head)).from_pretrained(
            **place,
            config=_trim_config(config, head),
            dtype=dtype,
            use_safetensors=weights.safetensors,
            weights_only=True,
            key_mapping=_RENAMED | (_INNER if is_inner else {}),
            trust_remote_code=options.remote_code,
            ignore_mismatched_sizes=True,  # so that the message below, which names the model, is shown
            output_loading_info=True,
            **places,
        )
    module = _take_part(loaded, config, head)
    missing = [*report["missing_keys"], *(name for name, *_ in report["mismatched_keys"])]
    # Weights of a pooler or an unused decoder do not matter.
    kept = set(module.parameters())
    names = {name for name, each in loaded.named_parameters() if each in kept}
    absent = sorted(key for key in missing if "pooler" not in key and key in names)
    if absent:
        require_own_weights(source, report["unexpected_keys"])
        inner = [name for name in report["unexpected_keys"] if name.endswith(f".{absent[0]}")]
        why = f" Or {WITHOUT_HEAD}" if head else ""
        if inner:
            why = f" The file has {inner[0]!r}: save the model alone there, without its wrapper."
        raise InputError(
            f"model {source.name}: {len(absent)} weights are missing or of another shape, for example {absent[0]!r}."
            f" The file is incomplete or belongs to another config.json: fetch the model again.{why}"
        )
    for name in sorted(report["unexpected_keys"]):
        first = re.sub(r"\.\d+\.", ".0.", name, count=1)
        number = re.search(r"\.(\d+)\.", name)
        is_known = {first, first.removeprefix(f"{loaded.base_model_prefix}.")} & names
        if number and is_known and int(number[1]) >= text_config(config).num_hidden_layers:
            raise InputError(
                f"model {source.name}: config.json has {text_config(config).num_hidden_layers} blocks, but the weights"
                f" have {name!r}, of one more. Fetch both from one place, or save the shorter model with its weights."
            )
    table = module.get_input_embeddings().weight
    if not table.is_meta and not table.any():
        raise InputError(
            f"model {source.name}: all embeddings in its weights are 0, which makes all texts the same. Fetch it again."
        )
    return module


@contextmanager
def _whole_index(weights: Weights) -> Iterator[Path]:
    """Yield the weights' folder, or a folder of links to it if their index lacks entries that transformers needs."""
    folder = weights.files[0].parent
    index = folder / f"{'model.safetensors' if weights.safetensors else 'pytorch_model.bin'}.index.json"
    listed = json.loads(index.read_text(encoding="utf-8")) if index.is_file() and len(weights.files) else {}
    if not listed or isinstance(listed.get("metadata"), dict):
        yield folder
        return
    with tempfile.TemporaryDirectory() as place:
        for path in weights.files:
            Path(place, path.name).symlink_to(path.absolute())
        Path(place, index.name).write_text(json.dumps({**listed, "metadata": {}}), encoding="utf-8")
        yield Path(place)


def _class_name(config: Any, head: bool) -> str:
    if head and config.model_type in _OF_PICTURES and config.model_type not in _CAUSAL:
        return "AutoModelForImageTextToText"
    return _WITH_HEAD[model_kind(config)] if head else "AutoModel"


def _trim_config(config: Any, head: bool) -> Any:
    """Return a copy of `config` that builds only what is needed, from the files that were checked.

    An encoder-decoder without head gets no blocks in its decoder, so their weights are not loaded.
    """
    config = copy.deepcopy(config)
    config.transformers_weights = None  # a config may name another file to read them from
    config.chunk_size_feed_forward = 0  # saves memory without changing numbers, but some sizes divide no text
    if not head and getattr(config, "is_encoder_decoder", False):
        for key in ("decoder_layers", "num_decoder_layers"):
            if hasattr(config, key):
                setattr(config, key, 0)
    return config


def _take_part(model: Any, config: Any, head: bool) -> Any:
    """Return all of a model, or for vectors the encoder of an encoder-decoder or the decoder of an image model."""
    if head:
        return model
    if getattr(config, "is_encoder_decoder", False):
        return model.get_encoder()
    return model.get_decoder() if config.model_type in _OF_PICTURES else model


# --------------------
# Linear layers.


def measure_size(model: nn.Module, *, head: bool) -> Size:
    """Count the parameters of a module, on any device, and those of its linear layers, which 8 bits can hold."""
    linear = sum(layer.weight.numel() for layer in _find_linear_layers(model, head=head))
    return Size(sum(parameter.numel() for parameter in model.parameters()), linear)


def _find_linear_layers(model: Any, *, head: bool) -> Iterable[nn.Linear]:
    """Return the linear layers except the last one of a head, which often shares its weights with the input."""
    last = model.get_output_embeddings() if head else None
    return [layer for layer in model.modules() if type(layer) is nn.Linear and layer is not last]


def _quantize_linear_layers(model: nn.Module, *, head: bool) -> None:
    """Keep the weights of linear layers in 8 bits, with one scale per output, by torchao."""
    try:
        from torchao.quantization import Int8WeightOnlyConfig, quantize_
    except ImportError:
        raise InputError(
            "quantization is int8, which needs the package torchao. Install it (`pip install torchao`), or write"
            " quantization: none."
        ) from None
    layers = set(_find_linear_layers(model, head=head))
    quantize_(model, Int8WeightOnlyConfig(), filter_fn=lambda layer, _: layer in layers)


def use_onednn(model: nn.Module) -> None:
    """Use oneDNN for a model's linear layers in float32, when no gradients are kept, as torch does in bfloat16.

    torch uses MKL for float32, which uses AVX2 at most on CPUs that are not Intel's. oneDNN is twice as fast on an AMD
    CPU with AVX-512, and 1.1 times with AVX2. Weights do not change. Elsewhere nothing changes.
    """
    there = torch.backends.mkldnn.is_available()  # type: ignore[no-untyped-call]
    if there and torch.backends.cpu.get_cpu_capability().startswith("AVX"):
        for layer in model.modules():
            if type(layer) is nn.Linear and layer.weight.dtype == torch.float32:
                layer.__class__ = _ByOneDnn


class _ByOneDnn(nn.Linear):
    """A linear layer that uses oneDNN."""

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        """Map (..., inputs) to (..., outputs)."""
        if torch.is_grad_enabled() or input.dtype != self.weight.dtype:
            return super().forward(input)
        product: torch.Tensor = torch.ops.mkldnn._linear_pointwise(input, self.weight, self.bias, "none", [], "")
        return product
