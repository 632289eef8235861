"""Load a model from a folder or the hub, or with random weights, with its fast tokenizer."""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import accelerate
import torch
import transformers
from transformers import AutoConfig, AutoTokenizer

from prasanga.base.errors import InputError
from prasanga.models.devices import (
    DTYPES,
    claim_devices,
    free_memory,
    no_room,
    require_room,
    resolve_dtype,
    warn_if_slow,
)
from prasanga.models.hub import (
    Source,
    Weights,
    explaining,
    find_weights,
    open_source,
    require_no_compiled_code,
    require_own_code,
)
from prasanga.models.options import NO_OPTIONS, ModelOptions
from prasanga.models.pieces import apply_options, check_options, keep_normalizer_of_file
from prasanga.models.shape import (
    BASE,
    Part,
    draw_weights,
    for_probabilities,
    model_kind,
    no_head,
    quantize_linear_layers,
    quiet,
    size_of,
    skeleton,
    use_onednn,
)

# --------------------
# Weights are read from safetensors, or as mere tensors from a pickle whose sha256 the user has written down; code that
# comes with a model is run only if the user says so. For hidden states the vocabulary head is not loaded, and of an
# encoder-decoder only the encoder (`load_model`); `prasanga.models.heads` loads all of it. A twin with random weights
# (`ModelOptions.random_weights`) needs configuration and tokenizer alone.

_LOG = logging.getLogger(__name__)
_TOKENIZER_FILES = ("tokenizer.json", "vocab.txt", "vocab.json", "*.model")
_LEFT_FREE = 0.9  # of the free memory of each of several GPUs


@dataclass(frozen=True)
class LoadedModel:
    """A tokenizer and a base model, ready to run.

    Attributes:
        name: what the user wrote, for messages and records; with a remark if its weights are random.
        tokenizer: a fast tokenizer (one that knows the character span of each piece).
        encoder: what is run, in evaluation mode on `device`. To embed, the model without vocabulary head, of an
            encoder-decoder its encoder; to score (`prasanga.models.heads`), the whole model with its head.
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
    device = options.device if device == "auto" else device
    precision = resolve_dtype(dtype, device)
    source = open_source(model, revision)
    config = open_config(source, options)
    drawn = options.random_weights
    weights = find_weights(source, options) if drawn is None else None
    asked = json.dumps(dict(options.tokenizer), sort_keys=True)
    tokenizer = _of_twins(source, asked, options.remote_code) if weights is None else open_tokenizer(source, options)
    name = f"{source.name} (random weights)" if weights is None else source.name
    bare = skeleton(source, config, options, part=part)
    require_fitting_tokenizer(source.name, tokenizer, bare.get_input_embeddings().num_embeddings)
    devices = claim_devices(device, options.cards)
    size = size_of(bare, apart=bare.get_output_embeddings() if part.head else None)
    require_room(name, size, devices, precision, options.quantization)
    warn_if_slow(precision, devices[0])
    try:
        if weights is None:
            module = draw_weights(source, config, int(drawn or 0), precision, options, part)
        else:
            module = _read(source, weights, config, precision, options, part, devices)
        if options.quantization == "int8":
            quantize_linear_layers(module, apart=module.get_output_embeddings() if part.head else None)
        if weights is None and len(devices) > 1:
            places = accelerate.infer_auto_device_map(module, _share(devices), module._no_split_modules)
            module = accelerate.dispatch_model(module, places)
        elif len(devices) == 1:
            module = module.to(devices[0])
    except torch.OutOfMemoryError as error:
        raise no_room(name, size, devices, precision, options.quantization) from error
    if (devices[0].type, precision, options.quantization) == ("cpu", "float32", "none"):
        use_onednn(module)
    return LoadedModel(name, tokenizer, module.eval().requires_grad_(False), config, devices[0], precision)


def _share(devices: Sequence[torch.device]) -> dict[int, int]:
    """Return how many bytes a model may take on each of several GPUs; the rest is for batches."""
    return {device.index: int(free_memory(device) * _LEFT_FREE) for device in devices}


@lru_cache(maxsize=1)
def _of_twins(source: Source, asked: str, remote_code: bool) -> Any:
    """Return the tokenizer that the twins of a model share in a job: a large one takes longer to read than to draw."""
    return open_tokenizer(source, ModelOptions(tokenizer=json.loads(asked), remote_code=remote_code))


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
    else:
        require_no_compiled_code(source)
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


def _read(
    source: Source,
    weights: Weights,
    config: Any,
    dtype: str,
    options: ModelOptions,
    part: Part,
    devices: Sequence[torch.device],
) -> Any:
    """Return the part with its weights, read straight to where they stay; those for 8 bits are rounded on the way."""
    if options.quantization == "int8":
        places: dict[str, Any] = {}
    elif len(devices) == 1:
        places = {"device_map": {"": devices[0]}}
    else:
        places = {"device_map": "auto", "max_memory": _share(devices)}
    # Weights are read from the folder that holds the checked files. Code that comes with a model is looked up by its
    # id and commit: from the path of a folder it would be that of the main branch.
    place = source.arguments if options.remote_code else {"pretrained_model_name_or_path": weights.files[0].parent}
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
            **places,
        )
    module = part.of(loaded, config)
    missing = [*report["missing_keys"], *(name for name, *_ in report["mismatched_keys"])]
    # Weights that lack would be random numbers; those of a pooler or an unused decoder do not matter.
    names = {name for name, _ in module.named_parameters()}
    absent = sorted(
        key for key in missing if "pooler" not in key and any(key == name or key.endswith(f".{name}") for name in names)
    )
    if absent and part.head and all(for_probabilities(module, key) for key in absent):
        raise no_head(source.name, module, absent)
    if absent:
        raise InputError(
            f"model {source.name}: {len(absent)} weights are missing or of another shape, for example {absent[0]!r}."
            " The file is incomplete or belongs to another config.json: fetch the model again."
        )
    return module
