"""Load a model from a folder or the hub, or with random weights, with its fast tokenizer."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
import transformers
from transformers import AutoConfig, AutoTokenizer

from prasanga.base.errors import InputError
from prasanga.models.devices import (
    DTYPES,
    check_device,
    claim_device,
    claim_several,
    memory_gone,
    require_room,
    resolve_dtype,
    warn_if_slow,
)
from prasanga.models.hub import Source, explaining, open_source, require_own_code, require_plausible_config
from prasanga.models.identity import Weights, find_weights
from prasanga.models.options import NO_OPTIONS, ModelOptions
from prasanga.models.shape import (
    BASE,
    Part,
    for_probabilities,
    from_config,
    model_kind,
    no_head,
    quantize_linear_layers,
    quiet,
    size_of,
    skeleton,
)
from prasanga.models.tokenizer_options import apply_options, check_options, keep_normalizer_of_file

# --------------------
# A model with random weights: the architecture of a real one as its family begins to train it, and nothing it
# learnt.
#
# Weights are drawn on the processor and in float32, whatever the model then runs on and in: the same seed gives the
# same weights for a card and for a processor, and those of half precision are the same ones, rounded.


DRAWN_IN = "float32"
"""Precision in which weights are drawn, and the memory of the machine has to hold them."""


def draw_weights(source: Source, config: Any, seed: int, dtype: str, options: ModelOptions, part: Part = BASE) -> Any:
    """Return a part of a model with the weights that its family begins to train with, drawn from `seed`.

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
    """Spread the encoder over several cards, by block, as the package accelerate does it with a real model's weights.

    Args:
        encoder: on the processor.
        memory: by card, how many bytes the model may take there.
    """
    import accelerate  # slow to import, and needed for several cards alone

    blocks = sorted(encoder._no_split_modules or [])
    places = accelerate.infer_auto_device_map(encoder, dict(memory), no_split_module_classes=blocks)
    return accelerate.dispatch_model(encoder, places)


# --------------------
# Loads a model, from a local folder or from the hub: with its fast tokenizer, for hidden states or for
# probabilities.
#
# Weights are read from safetensors, or as mere tensors from a pickle whose sha256 the user has written down; code
# that comes with a model is run only if the user says so. For hidden states the vocabulary head is not loaded, and
# of an encoder-decoder only the encoder (`load_model`); `prasanga.models.heads` loads all of it. A twin with random
# weights (`ModelOptions.random_weights`) needs configuration and tokenizer alone.


__all__ = [
    "LoadedModel",
    "load_config",
    "load_model",
    "load_part",
    "load_tokenizer",
    "open_config",
    "open_tokenizer",
    "place_model",
    "require_fitting_tokenizer",
    "resolve_dtype",
]

_LOG = logging.getLogger(__name__)
_TOKENIZER_FILES = ("tokenizer.json", "vocab.txt", "vocab.json", "*.model")
_LEFT_FREE = 0.9  # of a card's free memory, when a model is spread over several: the rest is for batches


@dataclass(frozen=True)
class LoadedModel:
    """A tokenizer and a base model, ready to run.

    Attributes:
        name: what the user wrote, for messages and records; with a remark if its weights are random.
        tokenizer: a fast tokenizer (one that knows the character span of each piece).
        encoder: the model without vocabulary head, in evaluation mode on `device`; the encoder of an encoder-decoder.
        config: configuration of the text model.
        device: where `encoder` reads its input; of several cards, the first.
        dtype: float32, bfloat16 or float16.
    """

    name: str
    tokenizer: Any
    encoder: Any
    config: Any
    device: torch.device
    dtype: str


def load_model(
    model: str | Path,
    *,
    revision: str | None = None,
    device: str = "auto",
    dtype: str = "auto",
    options: ModelOptions = NO_OPTIONS,
) -> LoadedModel:
    """Load tokenizer and base encoder of `model`.

    Args:
        model: a folder, or the id of a model of the hub (`owner/name`).
        revision: branch, tag or commit of the hub; not for folders.
        device: `auto` (a free CUDA card if there is one and `options.cards` is not 0, else the CPU), `cpu`, `cuda` or
            `cuda:<number>`.
        dtype: `auto` (bfloat16 on CUDA cards that have it, else float32), `float32`, `bfloat16` or `float16`.
        options: see `ModelOptions`.

    Raises:
        InputError: the model is not there or not of the kind asked for, has no fast tokenizer, no weights that may be
            read or not all of them, needs code that may not run (or that of another repository), has a smaller
            vocabulary than its tokenizer, or does not fit into memory; an unknown device, dtype or option of the
            tokenizer.
    """
    loaded = load_part(model, revision, device, dtype, options, BASE)
    loaded.encoder.config.use_cache = False
    return replace(loaded, config=loaded.config.get_text_config(encoder=True))


def load_part(
    model: str | Path, revision: str | None, device: str, dtype: str, options: ModelOptions, part: Part
) -> LoadedModel:
    """Load tokenizer and a part of `model`; the other arguments and what is raised are those of `load_model`.

    Returns:
        `encoder` is the part, `config` the configuration of the whole model.
    """
    check_device(device)
    device = options.device if device == "auto" else device
    precision = resolve_dtype(dtype, device)
    source = open_source(model, revision)
    config = open_config(source, options)
    tokenizer = open_tokenizer(source, options)
    weights = find_weights(source, options) if options.random_weights is None else options.random_weights
    drawn = isinstance(weights, int)
    name = f"{source.name} (random weights)" if drawn else source.name
    bare = skeleton(source, config, options, part=part)
    require_fitting_tokenizer(source.name, tokenizer, bare.get_input_embeddings().num_embeddings)
    devices, memory = place_model(source, device, options)
    size = size_of(bare, apart=bare.get_output_embeddings() if part.head else None)
    quantization = options.quantization
    drawn_in = DRAWN_IN if drawn else None
    require_room(name, size, devices, dtype=precision, quantization=quantization, drawn_in=drawn_in)
    warn_if_slow(precision, devices[0])
    try:
        if isinstance(weights, int):
            module = draw_weights(source, config, weights, precision, options, part)
        else:
            module = _read(source, weights, config, precision, options, memory, part)
        if quantization == "int8":
            quantize_linear_layers(module, apart=module.get_output_embeddings() if part.head else None)
        if memory is None:
            module = module.to(devices[0])
        elif drawn:
            module = spread(module, memory)
    except torch.OutOfMemoryError as error:
        raise memory_gone(name, size, devices, dtype=precision, quantization=quantization) from error
    return LoadedModel(
        name=name,
        tokenizer=tokenizer,
        encoder=module.eval().requires_grad_(False),
        config=config,
        device=devices[0],
        dtype=precision,
    )


def load_tokenizer(model: str | Path, *, revision: str | None = None, options: ModelOptions = NO_OPTIONS) -> Any:
    """Load the fast tokenizer of `model`, with `options.tokenizer` in effect.

    It raises `InputError` as `load_model` does.
    """
    return open_tokenizer(open_source(model, revision), options)


def load_config(model: str | Path, *, revision: str | None = None, options: ModelOptions = NO_OPTIONS) -> Any:
    """Return the configuration of `model`, read without its weights. Raises `InputError` as `load_model` does."""
    return open_config(open_source(model, revision), options)


def open_config(source: Source, options: ModelOptions) -> Any:
    """Return the configuration of a model that has been found; refused if the model is not of `options.kind`."""
    if options.remote_code:
        _LOG.warning(
            "model %s: remote_code is true, so Python code that comes with the model may run, and can do anything that"
            " you can do on this machine.",
            source.name,
        )
        require_own_code(source)
    if (path := source.find("config.json")) is not None:
        require_plausible_config(source.name, path, code_may_run=options.remote_code)
    with quiet(), explaining(source, "config.json"):
        config = AutoConfig.from_pretrained(**source.arguments, trust_remote_code=options.remote_code)
    kind = model_kind(config)
    if options.kind not in ("auto", kind):
        raise InputError(
            f"model {source.name}: kind is {options.kind}, but this is {_ARTICLES[kind]} ({config.model_type})."
            f" Write kind: {kind} (or auto), or name another model."
        )
    return config


def open_tokenizer(source: Source, options: ModelOptions) -> Any:
    """Return the fast tokenizer of a model that has been found, with `options.tokenizer` in effect."""
    if source.folder is not None and not any(any(source.folder.glob(pattern)) for pattern in _TOKENIZER_FILES):
        raise InputError(
            f"model {source.name}: the folder has no tokenizer. Put the model's tokenizer.json there (and its"
            " tokenizer_config.json), for example with `tokenizer.save_pretrained`."
        )
    check_options(source.name, options.tokenizer)
    if options.remote_code:
        require_own_code(source)
    with quiet(), explaining(source, "tokenizer"):
        tokenizer = AutoTokenizer.from_pretrained(
            **source.arguments, trust_remote_code=options.remote_code, **options.tokenizer
        )
    if not getattr(tokenizer, "is_fast", False):
        raise InputError(
            f"model {source.name}: {type(tokenizer).__name__} is not a fast tokenizer, and only those say which"
            " characters a piece stands for. Convert it once and save it as tokenizer.json in the model's folder"
            " (`transformers.convert_slow_tokenizer`), or use a model that has one."
        )
    with explaining(source, "tokenizer"):
        settings = source.find("tokenizer_config.json")
        keep_normalizer_of_file(tokenizer, source.find("tokenizer.json"), settings, options.tokenizer)
    apply_options(source.name, tokenizer, options.tokenizer)
    return tokenizer


def require_fitting_tokenizer(name: str, tokenizer: Any, rows: int) -> None:
    """Refuse a tokenizer that has pieces for which the model, with `rows` rows of embeddings, has none."""
    if len(tokenizer) > rows:
        raise InputError(
            f"model {name}: the tokenizer has {len(tokenizer)} pieces, the model only {rows} rows of embeddings. They"
            " do not belong together: use the tokenizer that the model was trained with."
        )


_ARTICLES = {"encoder": "an encoder", "decoder": "a decoder", "encoder-decoder": "an encoder-decoder"}


def place_model(
    source: Source, device: str, options: ModelOptions
) -> tuple[Sequence[torch.device], dict[int, int] | None]:
    """Return the devices to run on and, for several cards, how many bytes the model may take on each."""
    if options.cards == 1 or (options.cards == 0 and device in ("auto", "cpu")):
        return [claim_device(options.device if device == "auto" else device)], None
    if device != "auto":
        raise InputError(f"model {source.name}: device is {device!r} and cards is {options.cards}. Write device: auto.")
    cards = claim_several(options.cards)
    return (
        [torch.device("cuda", card.index) for card in cards],
        {card.index: int(card.free * _LEFT_FREE) for card in cards},
    )


def _read(
    source: Source,
    weights: Weights,
    config: Any,
    dtype: str,
    options: ModelOptions,
    memory: dict[int, int] | None,
    part: Part,
) -> Any:
    """Return the part with its weights: on the CPU, or over the cards that `memory` lists."""
    # Weights are read from the folder that holds the checked files. Code that comes with a model is looked up by its
    # id and commit: from the path of a folder it would be that of the main branch.
    place = source.arguments if options.remote_code else {"pretrained_model_name_or_path": weights.folder}
    over_cards = {} if memory is None else {"device_map": "auto", "max_memory": memory}
    with quiet(), explaining(source, "weights"):
        loaded, report = getattr(transformers, part.class_name(config)).from_pretrained(
            **place,
            config=part.config(config),
            dtype=DTYPES[dtype],
            use_safetensors=weights.safetensors,
            weights_only=True,
            trust_remote_code=options.remote_code,
            ignore_mismatched_sizes=True,  # so that the refusal below, which names the model, is the one that is read
            output_loading_info=True,
            **over_cards,
        )
    module = part.of(loaded, config)
    missing = [*report["missing_keys"], *(name for name, *_ in report["mismatched_keys"])]
    _require_whole(source.name, module, missing, part)
    return module


def _require_whole(name: str, module: Any, missing: list[str], part: Part) -> None:
    """Refuse a model whose files lack weights, as these would be random numbers.

    Those of a pooler or an unused decoder do not matter.
    """
    names = {name for name, _ in module.named_parameters()}
    absent = sorted(
        key for key in missing if "pooler" not in key and any(key == name or key.endswith(f".{name}") for name in names)
    )
    if absent and part.head and all(for_probabilities(module, key) for key in absent):
        raise no_head(name, module, absent)
    if absent:
        raise InputError(
            f"model {name}: {len(absent)} weights are missing or of another shape, for example {absent[0]!r}. The file"
            " is incomplete or belongs to another config.json: fetch the model again."
        )
