"""Loads a model for reading its hidden states: fast tokenizer and base encoder, from a local folder or from the hub.

Only safetensors weights are read and no code that comes with a model is run: both a pickle and remote code can do
anything to the machine. The vocabulary head is never loaded, and of an encoder-decoder only the encoder is kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from transformers import AutoConfig, AutoModel, AutoTokenizer

from prasanga.errors import InputError
from prasanga.models.quiet import quiet

_DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}
_TOKENIZER_FILES = ("tokenizer.json", "vocab.txt", "vocab.json", "*.model")
_WEIGHT_FILES = ("*.safetensors",)
_PICKLE_FILES = ("*.bin", "*.pt", "*.pth", "*.ckpt")


@dataclass(frozen=True)
class LoadedModel:
    """A tokenizer and a base model, ready to run.

    Attributes:
        name: what the user wrote, for messages.
        tokenizer: a fast tokenizer (one that knows the character span of each piece).
        encoder: the model without vocabulary head, in evaluation mode on `device`; the encoder of an encoder-decoder.
        config: configuration of the text model.
        device: where `encoder` is.
        dtype: float32, bfloat16 or float16.
    """

    name: str
    tokenizer: Any
    encoder: Any
    config: Any
    device: torch.device
    dtype: str


def load_model(
    model: str | Path, *, revision: str | None = None, device: str = "auto", dtype: str = "auto"
) -> LoadedModel:
    """Load tokenizer and base encoder of `model`.

    Args:
        model: a folder, or the id of a model of the hub (`owner/name`).
        revision: branch, tag or commit of the hub; not for folders.
        device: `auto` (CUDA if there is one, else the CPU), or a device of torch.
        dtype: `auto` (bfloat16 on CUDA, else float32), `float32`, `bfloat16` or `float16`.

    Raises:
        InputError: the model is not there, has no fast tokenizer, no safetensors weights or not all of them, needs
            remote code, or has a smaller vocabulary than its tokenizer; an unknown device or dtype.
    """
    where = _device(device)
    kind = resolve_dtype(dtype, device)
    config = load_config(model, revision=revision)
    _require_files(model)
    tokenizer = _load_tokenizer(model, revision)
    with quiet(), _explaining(model, "weights"):
        loaded, report = AutoModel.from_pretrained(
            model,
            revision=revision or "main",
            config=config,
            dtype=_DTYPES[kind],
            use_safetensors=True,
            trust_remote_code=False,
            ignore_mismatched_sizes=True,  # so that the refusal below, which names the model, is the one that is read
            output_loading_info=True,
        )
    encoder = loaded.get_encoder() if config.is_encoder_decoder else loaded
    _require_whole(model, encoder, [*report["missing_keys"], *(name for name, *_ in report["mismatched_keys"])])
    rows = encoder.get_input_embeddings().num_embeddings
    if len(tokenizer) > rows:
        raise InputError(
            f"model {model}: the tokenizer has {len(tokenizer)} pieces, the model only {rows} rows of embeddings. They"
            " do not belong together: use the tokenizer that the model was trained with."
        )
    encoder.config.use_cache = False
    return LoadedModel(
        name=str(model),
        tokenizer=tokenizer,
        encoder=encoder.eval().requires_grad_(False).to(where),
        config=config.get_text_config(encoder=True),
        device=where,
        dtype=kind,
    )


def load_config(model: str | Path, *, revision: str | None = None) -> Any:
    """The configuration of `model`, read without its weights. Raises `InputError` as `load_model` does."""
    _require_place(model, revision)
    with quiet(), _explaining(model, "config.json"):
        return AutoConfig.from_pretrained(model, revision=revision or "main", trust_remote_code=False)


def hidden_size(model: str | Path, *, revision: str | None = None) -> int:
    """The width of the hidden states of `model`, from its configuration alone."""
    return int(load_config(model, revision=revision).get_text_config(encoder=True).hidden_size)


def resolve_dtype(dtype: str, device: str = "auto") -> str:
    """The precision that `dtype` means on `device`: `auto` is bfloat16 on CUDA, else float32.

    Raises:
        InputError: an unknown dtype or device.
    """
    if dtype == "auto":
        return "bfloat16" if _device(device).type == "cuda" else "float32"
    if dtype not in _DTYPES:
        raise InputError(f"dtype is {dtype!r}; write auto, {', '.join(_DTYPES)}.")
    return dtype


def _device(device: str) -> torch.device:
    if device == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        where = torch.device(device)
    except RuntimeError:
        raise InputError(f"device is {device!r}; write auto, cpu, cuda or cuda:<number>.") from None
    if where.type == "cuda" and not torch.cuda.is_available():
        raise InputError(f"device is {device!r}, but torch sees no CUDA device here. Write auto or cpu.")
    return where


def _require_place(model: str | Path, revision: str | None) -> None:
    """Refuse what can be neither a folder nor an id of the hub before anybody asks the hub."""
    folder = Path(model)
    if folder.is_dir():
        if revision is not None:
            raise InputError(f"model {model}: a folder has no revision, but revision is {revision!r}. Remove the key.")
        if not (folder / "config.json").is_file():
            raise InputError(
                f"model {model}: the folder has no config.json. Give the folder that `save_pretrained` wrote, with"
                " config.json, model.safetensors and tokenizer.json."
            )
    elif isinstance(model, Path) or folder.is_absolute() or str(model).startswith(".") or str(model).count("/") > 1:
        raise InputError(_not_found(model, "it cannot be the id of a model of the hub (owner/name)"))


def _require_files(model: str | Path) -> None:
    folder = Path(model)
    if not folder.is_dir():
        return
    if not any(any(folder.glob(pattern)) for pattern in _WEIGHT_FILES):
        pickles = sorted(path.name for pattern in _PICKLE_FILES for path in folder.glob(pattern))
        if pickles:
            raise InputError(_pickled(model, pickles[0]))
        raise InputError(f"model {model}: the folder has no weights. Put its model.safetensors there.")
    if not any(any(folder.glob(pattern)) for pattern in _TOKENIZER_FILES):
        raise InputError(
            f"model {model}: the folder has no tokenizer. Put the model's tokenizer.json there (and its"
            " tokenizer_config.json), for example with `tokenizer.save_pretrained`."
        )


def _load_tokenizer(model: str | Path, revision: str | None) -> Any:
    with quiet(), _explaining(model, "tokenizer"):
        tokenizer = AutoTokenizer.from_pretrained(model, revision=revision or "main", trust_remote_code=False)
    if not getattr(tokenizer, "is_fast", False):
        raise InputError(
            f"model {model}: {type(tokenizer).__name__} is not a fast tokenizer, and only those say which characters a"
            " piece stands for. Convert it once and save it as tokenizer.json in the model's folder"
            " (`transformers.convert_slow_tokenizer`), or use a model that has one."
        )
    return tokenizer


def _require_whole(model: str | Path, encoder: Any, missing: list[str]) -> None:
    """Weights that the files lack would be random numbers; those of a pooler or a decoder are not used."""
    names = {name for name, _ in encoder.named_parameters()}
    absent = sorted(
        key for key in missing if "pooler" not in key and any(key == name or key.endswith(f".{name}") for name in names)
    )
    if absent:
        raise InputError(
            f"model {model}: {len(absent)} weights are missing or of another shape, for example {absent[0]!r}. The file"
            " is incomplete or belongs to another config.json: fetch the model again."
        )


@contextmanager
def _explaining(model: str | Path, part: str) -> Iterator[None]:
    """Say in the user's words why a model cannot be had."""
    try:
        yield
    except (OSError, ValueError, ImportError, SafetensorError) as error:
        text = str(error)
        if isinstance(error, InputError):
            raise
        if "trust_remote_code" in text:
            reason = (
                f"model {model}: it needs Python code of its own that is not part of transformers. Such code is not run"
                " here, because it can do anything to the machine. Use a model that transformers knows."
            )
        elif Path(model).is_dir():
            reason = f"model {model}: its {part} cannot be loaded ({_first_line(text)}). Fetch the model again."
        elif "safetensors" in text:
            reason = _pickled(model, "pytorch_model.bin")
        else:
            reason = _not_found(model, f"the hub gave no {part} for it: {_first_line(text)}")
        raise InputError(reason) from error


def _pickled(model: str | Path, file: str) -> str:
    return (
        f"model {model}: it has no safetensors weights, only pickled ones ({file}), and unpickling can run any code."
        " Use a revision that has model.safetensors, or convert the weights once in a safe place with"
        " `save_pretrained` and give that folder."
    )


def _not_found(model: str | Path, why: str) -> str:
    return (
        f"model {model}: not found. There is no folder {Path(model).absolute()}, and {why.rstrip('.')}. Write the path"
        " of a folder with config.json, model.safetensors and tokenizer.json, or the id of a model of the hub, such as"
        " google/muril-base-cased; a gated model needs a login first, and a machine without network the model in its"
        " cache."
    )


def _first_line(text: str) -> str:
    return text.strip().splitlines()[0] if text.strip() else "no reason given"
