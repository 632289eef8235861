"""Load a model from a folder or the hub, or with random weights, with its fast tokenizer."""

from __future__ import annotations

import json
import logging
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import torch
import transformers
from torch.utils._python_dispatch import TorchDispatchMode
from transformers import AutoConfig, AutoTokenizer
from transformers.initialization import guard_torch_init_functions

from prasanga.base.errors import InputError
from prasanga.base.seeds import seed_of
from prasanga.models.devices import (
    DTYPES,
    check_device,
    claim_device,
    claim_several,
    largest_batch,
    memory_gone,
    require_room,
    resolve_dtype,
    share_bytes,
    warn_if_slow,
)
from prasanga.models.hub import (
    Source,
    Weights,
    explaining,
    find_weights,
    open_source,
    require_own_code,
    require_plausible_config,
)
from prasanga.models.options import NO_OPTIONS, ModelOptions
from prasanga.models.pieces import apply_options, check_options, keep_normalizer_of_file
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
    use_onednn,
)
from prasanga.models.shares import as_share, divides, hold, share_out

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
        whole = from_config(source, config, options, DTYPES[dtype], part)
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


# --------------------
# Loads a model, from a local folder or from the hub: with its fast tokenizer, for hidden states or for
# probabilities.
#
# Weights are read from safetensors, or as mere tensors from a pickle whose sha256 the user has written down; code
# that comes with a model is run only if the user says so. For hidden states the vocabulary head is not loaded, and
# of an encoder-decoder only the encoder (`load_model`); `prasanga.models.heads` loads all of it. A twin with random
# weights (`ModelOptions.random_weights`) needs configuration and tokenizer alone.


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
        budget: most pieces of a batch where that is reckoned and not tried: the layers are divided over several cards,
            and none of them can run out of memory without the others. The forward pass then always runs to its end.
    """

    name: str
    tokenizer: Any
    encoder: Any
    config: Any
    device: torch.device
    dtype: str
    budget: int | None = None


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
    weights = find_weights(source, options) if options.random_weights is None else options.random_weights
    drawn = isinstance(weights, int)
    asked = json.dumps(dict(options.tokenizer), sort_keys=True)
    tokenizer = _of_twins(source, asked, options.remote_code) if drawn else open_tokenizer(source, options)
    name = f"{source.name} (random weights)" if drawn else source.name
    bare = skeleton(source, config, options, part=part)
    require_fitting_tokenizer(source.name, tokenizer, bare.get_input_embeddings().num_embeddings)
    devices, memory = place_model(source, device, options)
    size = size_of(bare, apart=bare.get_output_embeddings() if part.head else None)
    quantization = options.quantization
    require_room(name, size, devices, dtype=precision, quantization=quantization, drawn=drawn)
    warn_if_slow(precision, devices[0])
    budget = _budget_of_shares(bare, weights, devices, memory, precision, options, part)
    try:
        if isinstance(weights, int):
            module = draw_weights(source, config, weights, precision, options, part, device=devices[0], memory=memory)
        elif budget is not None:
            module = share_out(
                devices,
                (model, revision, precision, options, len(devices)),
                lambda: _read(source, weights, config, precision, options, part, as_share(len(devices))),
            )
        else:
            module = _read(source, weights, config, precision, options, part, _placed(devices[0], memory, options))
            if quantization == "int8":
                quantize_linear_layers(module, apart=module.get_output_embeddings() if part.head else None)
                module = module.to(devices[0])
    except torch.OutOfMemoryError as error:
        raise memory_gone(name, size, devices, dtype=precision, quantization=quantization) from error
    if (devices[0].type, precision, budget) == ("cpu", "float32", None):
        use_onednn(module)
    return LoadedModel(
        name=name,
        tokenizer=tokenizer,
        encoder=module.eval().requires_grad_(False),
        config=config,
        device=devices[0],
        dtype=precision,
        budget=budget,
    )


def _budget_of_shares(
    bare: Any,
    weights: Weights | int,
    devices: Sequence[torch.device],
    memory: Mapping[int, int] | None,
    dtype: str,
    options: ModelOptions,
    part: Part,
) -> int | None:
    """Return how many pieces a batch may have where layers are divided over the cards; None where blocks are dealt out.

    Divided over cards, a model is faster, since all work at once. It takes a plan that not every family has, an equal
    share of each card, and on each of them what is not divided. A model with its vocabulary head, a twin and one with
    code of its own have their blocks dealt out.
    """
    if memory is None or part.head or isinstance(weights, int) or options.remote_code:
        return None
    divided = divides(bare, len(devices))
    if divided is None:
        return None
    bare.config.use_cache = False
    left = min(memory.values()) - share_bytes(bare, divided, len(devices), dtype)
    return largest_batch(bare.to(DTYPES[dtype]), left) or None


def hold_share() -> None:
    """Be one of the processes over which a model is divided (`prasanga.models.shares`)."""

    def load(task: Any, _device: torch.device) -> Any:
        model, revision, dtype, options, count = task
        source = open_source(model, revision)
        config, weights = open_config(source, options), find_weights(source, options)
        module = _read(source, weights, config, dtype, options, BASE, as_share(count))
        module.config.use_cache = False
        return module.eval().requires_grad_(False)

    hold(load)


def _placed(device: torch.device, memory: Mapping[int, int] | None, options: ModelOptions) -> dict[str, Any]:
    """Return what `from_pretrained` is told of places: weights are read straight to where they stay.

    But those that are rounded to 8 bits are so before they get there.
    """
    if memory is not None:
        return {"device_map": "auto", "max_memory": dict(memory)}
    return {} if options.quantization == "int8" else {"device_map": {"": device}}


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
    part: Part,
    places: Mapping[str, Any],
) -> Any:
    """Return the part with its weights; `places` tells `from_pretrained` where."""
    # Weights are read from the folder that holds the checked files. Code that comes with a model is looked up by its
    # id and commit: from the path of a folder it would be that of the main branch.
    place = source.arguments if options.remote_code else {"pretrained_model_name_or_path": weights.folder}
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
