"""The files of a model: how they are to be read, where they come from, which model they are, what holds weights."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shlex
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit
from urllib.request import getproxies

import huggingface_hub
from huggingface_hub import constants, errors

from prasanga.base.errors import InputError, reason
from prasanga.base.io import digest_of, read_cache, sha256_of_file, write_cache

_ADAPTER = "adapter_config.json"
_COMMIT = re.compile(r"[0-9a-f]{40}")
_CODE_ELSEWHERE = re.compile(r'"([\w./-]+)--[\w.]+"')

# --------------------
# Numbers of hidden layers: 0 the embeddings, k the output of block k, -1 the last.


def depth_of(layer: int, blocks: int, model: str) -> int:
    """Return `layer` counted from the embeddings (0 to `blocks`).

    Raises:
        InputError: the model, of that name, has no such layer.
    """
    if not -blocks - 1 <= layer <= blocks:
        raise InputError(
            f"model {model}: layer is {layer}, but the model has {blocks} blocks. Write -1 for the last, or a number"
            f" from 0 (embeddings) to {blocks} (last)."
        )
    return layer % (blocks + 1)


# --------------------
# How a model is to be loaded: what a user may write about it in the config, apart from where it is and its
# precision. Plain values without torch, so that planning a study imports nothing heavy.


CHECKS_VERSION = 1
"""Raise this number when the code reports something else of a model or its tokenizer: all are then checked again."""

KINDS = ("encoder", "decoder", "encoder-decoder")
QUANTIZATIONS = ("none", "int8")


@dataclass(frozen=True)
class ModelOptions:
    """The keys of `models.<name>` in the config that decide how a model is loaded.

    Attributes:
        tokenizer: options given to the tokenizer, such as `{"keep_accents": True}`.
        weights_sha256: sha256 by file name; a pickle is read only if it is named here and its content fits.
        remote_code: run Python code that comes with the model.
        quantization: `none`, or `int8` for linear layers in 8 bits.
        cards: spread the model over so many CUDA cards; 0 for the processor.
        kind: `auto`, or the kind that the model must be of: `encoder`, `decoder`, `encoder-decoder`.
        random_weights: None, or the seed of random weights in place of the model's own, which are then not read.

    Raises:
        InputError: a value that is none of these.
    """

    tokenizer: Mapping[str, bool | int | float | str] = field(default_factory=dict)
    weights_sha256: Mapping[str, str] = field(default_factory=dict)
    remote_code: bool = False
    quantization: str = "none"
    cards: int = 1
    kind: str = "auto"
    random_weights: int | None = None

    def __post_init__(self) -> None:
        """Refuse values that mean nothing here, whoever made the options."""
        if self.quantization not in QUANTIZATIONS or self.kind not in ("auto", *KINDS) or self.cards < 0:
            raise InputError(
                f"quantization is {self.quantization!r}, kind {self.kind!r} and cards {self.cards}. Write"
                f" quantization: {' or '.join(QUANTIZATIONS)}; kind: auto, {', '.join(KINDS)}; and cards: 1 or more,"
                " or 0 for the CPU."
            )
        if self.cards > 1 and self.quantization != "none":
            raise InputError(
                f"cards is {self.cards} and quantization is {self.quantization!r}, which do not go together. Write"
                " quantization: none for a model spread over cards, or cards: 1 for one in 8 bits."
            )

    @property
    def device(self) -> str:
        """Where a model runs if nobody names a device: on the processor without cards, else where there is room."""
        return "auto" if self.cards else "cpu"


NO_OPTIONS = ModelOptions()
"""A model as it comes."""


# --------------------
# Where the files of a model come from: a folder, or one commit of a model of the hub.
#
# A branch of the hub may move while a study runs, so it is turned into its commit once, and every file is then
# asked for by that commit. Files in the local cache are used without network, and HF_HUB_OFFLINE=1 is honored.


@dataclass(frozen=True)
class FoundModel:
    """A model that has been found, with its config.json.

    Attributes:
        name: what the user wrote.
        folder: the folder that it is in; None for a model of the hub.
        commit: the commit of a model of the hub; None for a folder.
        pinned: whether the same files will be found under this name tomorrow: a folder (which is known by its
            content), or a commit in full.
    """

    name: str
    folder: Path | None
    commit: str | None
    pinned: bool

    @property
    def arguments(self) -> dict[str, Any]:
        """What `from_pretrained` of transformers is called with to read exactly these files."""
        return {"pretrained_model_name_or_path": self.folder or self.name, "revision": self.commit or "main"}

    def find(self, file: str) -> Path | None:
        """Return the local path of `file`, downloaded if need be.

        It is None if the model has no such file (or cannot be reached).

        Raises:
            InputError: the hub refuses it, or it cannot be written to the cache.
        """
        if self.folder is not None:
            path = self.folder / file
            return path if os.path.isfile(path) else None  # noqa: PTH113 - a name too long is no file
        try:
            return _download(self.name, file, self.commit)
        except errors.EntryNotFoundError:
            return None
        except (OSError, ValueError) as error:
            raise _explain_refusal(self.name, self.commit, error) from error


def open_source(model: str | Path, revision: str | None = None) -> FoundModel:
    """Find `model`, a folder or the id of a model of the hub, and its config.json.

    Raises:
        InputError: it is neither, has no config.json or no such revision, is gated, is an adapter to another model, or
            is not in the cache of a machine without network.
    """
    name, folder = str(model), Path(model)
    if folder.is_dir():
        if revision is not None:
            raise InputError(f"model {model}: a folder has no revision, but revision is {revision!r}. Remove the key.")
        if not (folder / "config.json").is_file():
            raise InputError(
                f"model {model}: the folder has no config.json. Give the folder that `save_pretrained` wrote, with"
                " config.json, model.safetensors and tokenizer.json."
            )
        if (folder / _ADAPTER).is_file():
            raise InputError(
                f"model {model}: the folder has an {_ADAPTER}, so it is an adapter to another model. Merge it into its"
                " model (`merge_and_unload` of the package peft), save that, and give its folder."
            )
        return FoundModel(name, folder, None, pinned=True)
    if isinstance(model, Path) or folder.is_absolute() or name.startswith(".") or name.count("/") > 1:
        raise _explain_missing(name, "it cannot be the id of a model of the hub (owner/name)")
    try:
        path = _download(name, "config.json", revision)
    except (OSError, ValueError) as error:
        raise _explain_refusal(name, revision, error) from error
    commit = path.parent.name  # the cache keeps files as snapshots/<commit>/<file>
    return FoundModel(name, None, commit, pinned=_COMMIT.fullmatch(revision or "") is not None)


def require_own_code(source: FoundModel) -> None:
    """Refuse a model that runs Python code of another repository, which transformers takes from its main branch.

    Raises:
        InputError: config.json or tokenizer_config.json names such code.
    """
    for name in ("config.json", "tokenizer_config.json"):
        path = source.find(name)
        text = path.read_text(encoding="utf-8", errors="replace") if path else ""
        for repository in _CODE_ELSEWHERE.findall(text):
            if source.folder is not None or repository != source.name:
                raise InputError(
                    f"model {source.name}: auto_map in its {name} names code of another repository, {repository}, whose"
                    f" newest state would run. Put the *.py files of {repository} into a folder with a copy of the"
                    f" model, remove `{repository}--` from {name} there, and give that folder as the model's path."
                )


@contextmanager
def explaining(source: FoundModel, part: str) -> Iterator[None]:
    """Say in the user's words why `part` of a model that was found cannot be loaded.

    Everything but exhausted memory is turned into an `InputError`: the libraries that read a model raise nearly
    everything, a bare `Exception` included.
    """
    try:
        yield
    except (InputError, MemoryError):
        raise
    except Exception as error:
        if type(error).__name__ == "OutOfMemoryError":
            raise
        if "trust_remote_code" in str(error):
            raise InputError(
                f"model {source.name}: it needs Python code of its own that is not part of transformers. Such code is"
                " not run here, because it can do anything to the machine that you can do. Use a model that"
                " transformers knows; or read the code, pin its revision, and write remote_code: true under the model."
            ) from error
        raise InputError(
            f"model {source.name}: its {part} cannot be loaded ({reason(error)}). {_how_to_fetch(source)}"
        ) from error


def download_command(name: str, revision: str | None) -> str:
    """Return what to type on a machine with network to get a model into the cache."""
    return shlex.join(["hf", "download", name, *(["--revision", revision] if revision else [])])


def _how_to_fetch(source: FoundModel) -> str:
    if source.folder is not None:
        return "Fetch the model again."
    return f"Where there is network, `{download_command(source.name, source.commit)}` fetches what there is."


def _download(name: str, file: str, revision: str | None) -> Path:
    known = huggingface_hub.try_to_load_from_cache(name, file, revision=revision)
    if isinstance(known, str) and _COMMIT.fullmatch(revision or ""):
        return Path(known)  # a commit never changes: no need to ask
    local = not getproxies() and not _has_address(constants.ENDPOINT)
    return Path(huggingface_hub.hf_hub_download(name, file, revision=revision, local_files_only=local))


@cache
def _has_address(endpoint: str) -> bool:
    """Return whether a name is known to this machine's network; where none is, the library would try for 23 s."""
    try:
        socket.getaddrinfo(urlsplit(endpoint).hostname, None)
    except OSError:
        return False
    return True


def _explain_refusal(name: str, revision: str | None, error: Exception) -> InputError:
    page = f"https://huggingface.co/{name}"
    match error:
        case errors.GatedRepoError():
            said = (
                f"it is gated. Ask for access on {page}, then log in on this machine with `hf auth login` (or set"
                " HF_TOKEN). Elsewhere, give the path of a folder that has the model"
            )
        case errors.LocalEntryNotFoundError() | errors.OfflineModeIsEnabled() | ConnectionError():
            offline = "HF_HUB_OFFLINE is set" if constants.is_offline_mode() else "the hub cannot be reached"
            return _explain_missing(
                name,
                f"the model{f' at revision {revision}' if revision else ''} is not in the cache"
                f" {constants.HF_HUB_CACHE}, while {offline}. Fetch it where there is network, with"
                f" `{download_command(name, revision)}`",
            )
        case errors.RepositoryNotFoundError() | errors.HFValidationError():
            return _explain_missing(
                name, "the hub has no model of this id (owner/name) that you may see (a private one needs a login)"
            )
        case _:
            said = (
                f"revision {revision or 'main'} cannot be fetched to {constants.HF_HUB_CACHE} ({reason(error)}). Look"
                f" at {page}, or see what `{download_command(name, revision)}` says"
            )
    return InputError(f"model {name}: {said}.")


def _explain_missing(name: str, why: str) -> InputError:
    return InputError(
        f"model {name}: not found. There is no folder {Path(name).absolute()}, and {why}. Write the path of a folder"
        " with config.json, model.safetensors and tokenizer.json, or the id of a model of the hub, such as"
        " google/muril-base-cased."
    )


# --------------------
# Which model it is. A folder is named by its content, so that it may be moved or copied without anything being
# computed again.


_IDENTIFYING = (
    *("config.json", "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json"),
    *("vocab.*", "merges.txt", "*.model", "*.safetensors", "*.safetensors.index.json"),
)
_ONE_FILE, _PICKLE = "model.safetensors", "pytorch_model.bin"


def model_identity(
    model: str | Path, revision: str | None = None, *, options: ModelOptions = NO_OPTIONS
) -> dict[str, str]:
    """Return what identifies `model`, as plain strings for the metadata of what is computed with it.

    Args:
        model: a folder, whose files are read in full (once per model is enough), or the id of a model of the hub.
        revision: branch, tag or commit of the hub.
        options: as it is loaded with; code that comes with the model counts if it may run.

    Returns:
        For a local folder `{"sha256": ...}`, over names and contents of its configuration, tokenizer and weights (a
        README or a training log beside them does not count, nor do pickles beside safetensors). For a model of the hub
        `{"id": ..., "commit": ...}`, the commit that `revision` (or the main branch) stands for.

    Raises:
        InputError: neither a folder of this name nor a model of the hub can be had.
    """
    return identify(open_source(model, revision), options)


def identify(source: FoundModel, options: ModelOptions) -> dict[str, str]:
    """Return the same as `model_identity`, for a model that has been found."""
    folder = source.folder
    if folder is None:
        return {"id": source.name, "commit": str(source.commit)}
    whole = hashlib.sha256()
    for path in _identifying_files(folder, options):
        whole.update(f"{path.name}\0{sha256_of_file(path)}\0".encode())
    return {"sha256": whole.hexdigest()}


def _identifying_files(folder: Path, options: ModelOptions) -> list[Path]:
    pickled = not any((folder / name).is_file() for name in (_ONE_FILE, f"{_ONE_FILE}.index.json"))
    pickles = ("*.bin", f"{_PICKLE}.index.json") if pickled else ()
    patterns = [*_IDENTIFYING, *pickles, *(("*.py",) if options.remote_code else ())]
    return sorted({path for pattern in patterns for path in folder.glob(pattern) if path.is_file()})


def require_unchanged(model: str | Path, identity: Mapping[str, str], options: ModelOptions, root: str | Path) -> None:
    """Refuse a folder whose files were replaced after the model was checked.

    Files are read once, by the first job. Later jobs compare the size and time of each file with a note of that job.

    Args:
        model: a folder; a model of the hub is known by its commit and not looked at.
        identity: from `prasanga.models.check_model`.
        options: as it is loaded with.
        root: folder of the stores, for the note.

    Raises:
        InputError: the files have another identity, or are missing.
    """
    if "sha256" not in identity:
        return
    folder = Path(model)
    states = [(path.name, path.stat()) for path in _identifying_files(folder, options)]
    seen = [[name, state.st_size, state.st_mtime_ns] for name, state in states]
    note, key = Path(root, "checked", f"{digest_of(str(folder.resolve()))}.json"), digest_of([dict(identity), seen])
    if read_cache(note, key) is not None:
        return
    if not (folder / "config.json").is_file() or model_identity(folder, options=options) != identity:
        raise InputError(
            f"model {model}: its files are not those that were checked: replaced since, damaged or missing. Put them"
            " back; or, if you meant to replace them, delete the report on the model under results/models (and the"
            " folder as well, if the workflow made it). Then run again."
        )
    write_cache(note, key, True)


# --------------------
# Which files hold a model's weights, and whether they may be read.
#
# Safetensors hold numbers and nothing else. A pickle can run any code when it is opened, so it is read only as
# tensors (torch's `weights_only`), and only if the user has written down its sha256: then it is the file that they
# checked.


class Weights(NamedTuple):
    """Files in one folder that hold all weights of a model and may be read."""

    files: tuple[Path, ...]
    safetensors: bool


def find_weights(source: FoundModel, options: ModelOptions) -> Weights:
    """Return the weights of a model, downloaded if need be.

    They are safetensors if it has any, else pickles with a known digest.

    Raises:
        InputError: there are none, one of several files is missing, or pickles whose sha256 is not the one in
            `options.weights_sha256`; the message then has the digests found.
    """
    for name in (_ONE_FILE, _PICKLE):
        files = _find_files(source, name)
        if files and name == _PICKLE:
            _require_digests(source, files, options)
        if files:
            return Weights(files, name == _ONE_FILE)
    if source.folder is None:
        where = "nor an index of either, is in its repository (or, without network, in the cache of this machine)"
        raise InputError(f"model {source.name}: neither {_ONE_FILE} nor {_PICKLE}, {where}. {_how_to_fetch(source)}")
    raise InputError(f"model {source.name}: the folder has no weights. Put its {_ONE_FILE} there.")


def _find_files(source: FoundModel, name: str) -> tuple[Path, ...]:
    """Return a file itself, or the files that its index lists; none if the model has neither."""
    if (whole := source.find(name)) is not None:
        return (whole,)
    if (index := source.find(f"{name}.index.json")) is None:
        return ()
    with explaining(source, f"list of weights, {index.name},"):
        names = sorted(set(map(str, json.loads(index.read_text(encoding="utf-8"))["weight_map"].values())))
    beside = [each for each in names if Path(each).name == each and Path(each).suffix == Path(name).suffix]
    found = {each: path for each in beside if (path := source.find(each)) is not None}
    missing = [each for each in names if each not in found]
    if missing or not names:
        raise InputError(
            f"model {source.name}: {index.name} lists {len(names)} files of weights, but {len(missing)} of them are"
            f" missing, for example {(missing or ['none at all'])[0]!r}. {_how_to_fetch(source)}"
        )
    return tuple(found.values())


def _require_digests(source: FoundModel, files: tuple[Path, ...], options: ModelOptions) -> None:
    digests = {path.name: sha256_of_file(path) for path in files}
    other = [name for name, found in digests.items() if options.weights_sha256.get(name) != found]
    if other:
        expected = options.weights_sha256.get(other[0])
        state = (
            f"the sha256 of {other[0]} is {digests[other[0]]}, but weights_sha256 has {expected}. Fetch it again, or"
            " find out why it has changed"
            if expected
            else f"it has no safetensors weights, only pickled ones: {other[0]}, sha256 {digests[other[0]]}. Opening a"
            " pickle can run any code; here only tensors are read from one, and only from a file that you have checked."
            f" Use a revision that has {_ONE_FILE}, or compare with the source"
        )
        wanted = "".join(f"\n    {file}: {value}" for file, value in digests.items())
        raise InputError(
            f"model {source.name}: {state}. If you trust the file as it is, write under the model:\n"
            f"  weights_sha256:{wanted}"
        )
