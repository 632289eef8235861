"""The files of a model: where they come from, which model they are, and which of them hold weights."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shlex
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit
from urllib.request import getproxies

import huggingface_hub
from huggingface_hub import constants
from huggingface_hub.errors import (
    EntryNotFoundError,
    GatedRepoError,
    HFValidationError,
    LocalEntryNotFoundError,
    OfflineModeIsEnabled,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)
from safetensors import safe_open

from prasanga.base.documents import read_document, sha256_of_file
from prasanga.base.errors import InputError
from prasanga.models.options import NO_OPTIONS, ModelOptions

_ADAPTER = "adapter_config.json"
_NAMES_CODE = re.compile("attn_implementation|experts_implementation|kernel")
_SHORT_COMMIT = re.compile(r"[0-9a-f]{7,39}")


# --------------------
# Where the files of a model come from: a folder, or one commit of a model of the hub.
#
# A branch of the hub may move while a study runs, so it is turned into its commit once, and every file is then
# asked for by that commit. What is in the local cache is used without network, and HF_HUB_OFFLINE=1 is honoured.


@dataclass(frozen=True)
class Source:
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
        except EntryNotFoundError:
            return None
        except (OSError, ValueError) as error:
            raise InputError(_refusal(self.name, self.commit, error)) from error


def open_source(model: str | Path, revision: str | None = None) -> Source:
    """Find `model`, a folder or the id of a model of the hub, and its config.json.

    Raises:
        InputError: it is neither, has no config.json or no such revision (a commit in short is none), is gated, is an
            adapter to another model, or is not in the cache of a machine without network.
    """
    folder = Path(model)
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
        return Source(str(model), folder, None, pinned=True)
    name = str(model)
    if _SHORT_COMMIT.fullmatch(revision or ""):
        raise InputError(
            f"model {name}: revision {revision} is a commit in short, and the hub knows commits by 40 digits. Open"
            f" https://huggingface.co/{name}/commits/main, click on the one that begins so, and write all of its"
            " digits."
        )
    if isinstance(model, Path) or folder.is_absolute() or name.startswith(".") or name.count("/") > 1:
        raise InputError(_not_found(name, "it cannot be the id of a model of the hub (owner/name)"))
    try:
        path = _download(name, "config.json", revision)
    except LocalEntryNotFoundError as error:
        raise InputError(_unreachable(name, revision)) from error
    except EntryNotFoundError as error:
        raise InputError(
            f"model {name}: its repository on the hub has no config.json, so transformers cannot read it. Look for the"
            " model's repository in the format of transformers."
        ) from error
    except (OSError, ValueError) as error:
        raise InputError(_refusal(name, revision, error)) from error
    commit = path.parent.name  # the cache keeps files as snapshots/<commit>/<file>
    return Source(name, None, commit, pinned=bool(re.fullmatch(r"[0-9a-f]{40}", revision or "")))


def require_own_code(source: Source) -> None:
    """Refuse a model that runs Python code of another repository.

    transformers takes such code from that repository's main branch, whatever is there on the day: no revision that a
    user can write holds it still, and the identity of the model does not tell it.

    Raises:
        InputError: `auto_map` in config.json or tokenizer_config.json names code of a repository other than the
            model's own; or one of them cannot be read.
    """
    for name in ("config.json", "tokenizer_config.json"):
        path = source.find(name)
        if path is None:
            continue
        with explaining(source, name):
            references = list(_code_references(json.loads(path.read_text(encoding="utf-8"))))
        for reference in references:
            repository, marked, own = reference.partition("--")
            if marked and (source.folder is not None or repository != source.name):
                place = "the folder" if source.folder is not None else "a folder with a copy of the model"
                raise InputError(
                    f"model {source.name}: auto_map in its {name} has {reference!r}, code of another repository, whose"
                    " newest state would run, and not the one that you have read. Put that repository's *.py files"
                    f" into {place}, write {own!r} there in place of {reference!r}, and give that folder as the"
                    " model's path."
                )


def require_no_compiled_code(source: Source) -> None:
    """Refuse a config.json that names compiled code of the hub, which transformers would fetch and run.

    Raises:
        InputError: with the key and the value; config.json is no JSON.
    """
    path = source.find("config.json")
    with explaining(source, "config.json"):
        config = json.loads(path.read_bytes()) if path is not None else {}
    for key, value in _settings(config):
        code = [text for text in _texts(value) if "/" in text] if _NAMES_CODE.search(key) else []
        if code:
            raise InputError(
                f"model {source.name}: `{key}` in its config.json is {code[0]!r}, compiled code that would be fetched"
                " from the hub and run. Take the line out; or read that code, pin its revision, and write remote_code:"
                " true."
            )


def _settings(config: Any) -> Iterator[tuple[str, Any]]:
    """Yield every key with its value, those of parts included (a text model within another)."""
    pending = [config]
    while pending:
        value = pending.pop()
        if isinstance(value, dict):
            yield from value.items()
            pending.extend(value.values())
        elif isinstance(value, list):
            pending.extend(value)


def _texts(value: Any) -> Iterator[str]:
    """Yield the texts of a value, names and values of mappings, however deep."""
    pending = [value]
    while pending:
        part = pending.pop()
        if isinstance(part, str):
            yield part
        elif isinstance(part, dict):
            pending += [*part, *part.values()]
        elif isinstance(part, list):
            pending += part


def _code_references(settings: Any) -> Iterator[str]:
    """Yield every piece of code that the `auto_map`s of a configuration name, those of its parts included."""
    for key, named in _settings(settings):
        if key == "auto_map":
            # A tokenizer's entry is a list, of the code of the slow and of the fast one, with null where there is none.
            for entry in named.values() if isinstance(named, dict) else [named]:
                yield from (one for one in (entry if isinstance(entry, list) else [entry]) if isinstance(one, str))


@contextmanager
def explaining(source: Source, part: str) -> Iterator[None]:
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
        mend = "Fetch the model again." if source.folder else "Empty its place in the cache, or use another revision."
        raise InputError(f"model {source.name}: its {part} cannot be loaded ({_first_line(error)}). {mend}") from error


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


def download_command(name: str, revision: str | None) -> str:
    """Return what to type on a machine with network to get a model into the cache."""
    return shlex.join(["hf", "download", name, *(["--revision", revision] if revision else [])])


def _download(name: str, file: str, revision: str | None) -> Path:
    if revision is not None:
        known = huggingface_hub.try_to_load_from_cache(name, file, revision=revision)
        if isinstance(known, str) and re.fullmatch(r"[0-9a-f]{40}", revision):
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


def _refusal(name: str, revision: str | None, error: Exception) -> str:
    page = f"https://huggingface.co/{name}"
    if isinstance(error, GatedRepoError):
        return (
            f"model {name}: it is gated. Ask for access on {page}, then log in on this machine with `hf auth login` (or"
            " set HF_TOKEN). Elsewhere, give the path of a folder that has the model."
        )
    if isinstance(error, RevisionNotFoundError):
        return (
            f"model {name}: it has no revision {revision!r}. Write one of the commits, tags or branches that"
            f" {page}/commits/main lists."
        )
    if isinstance(error, RepositoryNotFoundError):
        return _not_found(name, "the hub has no model of this name that you may see (a private one needs a login)")
    if isinstance(error, HFValidationError):
        return _not_found(name, "it cannot be the id of a model of the hub (owner/name)")
    if isinstance(error, OfflineModeIsEnabled | ConnectionError):
        return _unreachable(name, revision)
    return (
        f"model {name}: it cannot be fetched to {constants.HF_HUB_CACHE} ({_first_line(error).rstrip('.')}). Try again,"
        f" or fetch it with `{download_command(name, revision)}` and look at what that says."
    )


def _unreachable(name: str, revision: str | None) -> str:
    why = "HF_HUB_OFFLINE is set" if constants.is_offline_mode() else "the hub cannot be reached"
    at = f" at revision {revision}" if revision else ""
    return _not_found(
        name,
        f"the model{at} is not in the cache {constants.HF_HUB_CACHE}, while {why}. Fetch it where there is network,"
        f" with `{download_command(name, revision)}`",
    )


def _not_found(name: str, why: str) -> str:
    return (
        f"model {name}: not found. There is no folder {Path(name).absolute()}, and {why}. Write the path of a folder"
        " with config.json, model.safetensors and tokenizer.json, or the id of a model of the hub, such as"
        " google/muril-base-cased."
    )


# --------------------
# Which model it is. A folder is named by its content, so that it may be moved or copied without anything being
# computed again.


_IDENTIFYING = (
    "config.json",
    "tokenizer.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "added_tokens.json",
    "vocab.*",
    "merges.txt",
    "*.model",
    "*.safetensors",
    "*.safetensors.index.json",
)
_SAFETENSORS = ("model.safetensors", "model.safetensors.index.json")
_PICKLES = ("*.bin", "pytorch_model.bin.index.json")
_CODE = ("*.py",)


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
    return identity_of(open_source(model, revision), options)


def identity_of(source: Source, options: ModelOptions) -> dict[str, str]:
    """Return the same as `model_identity`, for a model that has been found."""
    folder = source.folder
    if folder is None:
        return {"id": source.name, "commit": str(source.commit)}
    pickled = not any((folder / name).is_file() for name in _SAFETENSORS)
    patterns = [*_IDENTIFYING, *(_PICKLES if pickled else ()), *(_CODE if options.remote_code else ())]
    whole = hashlib.sha256()
    for path in sorted({path for pattern in patterns for path in folder.glob(pattern) if path.is_file()}):
        whole.update(f"{path.name}\0{sha256_of(path)}\0".encode())
    return {"sha256": whole.hexdigest()}


def sha256_of(path: Path) -> str:
    """Return the sha256 of a file's content, as `sha256sum` prints it.

    The file is read once per process while it stays as it is.
    """
    state = path.stat()
    return _sha256(path.resolve(), state.st_size, state.st_mtime_ns, state.st_ino)


@lru_cache(maxsize=1024)
def _sha256(path: Path, *_state: int) -> str:
    return sha256_of_file(path)


# --------------------
# Which files hold a model's weights, and whether they may be read.
#
# Safetensors hold numbers and nothing else. A pickle can run any code when it is opened, so it is read only as
# tensors (torch's `weights_only`), and only if the user has written down its sha256: then it is the file that they
# checked.


_ONE_FILE, _PICKLE = "model.safetensors", "pytorch_model.bin"
_OTHERS = ("*.safetensors", "*.bin", "*.pt", "*.pth", "*.ckpt", "*.h5", "*.msgpack", "*.gguf")


class Weights(NamedTuple):
    """Files in one folder that hold all weights of a model and may be read."""

    files: tuple[Path, ...]
    safetensors: bool


def find_weights(source: Source, options: ModelOptions) -> Weights:
    """Return the weights of a model, downloaded if need be.

    They are safetensors if it has any, else pickles with a known digest.

    Raises:
        InputError: there are none, one of several files is missing, or pickles whose sha256 is not the one in
            `options.weights_sha256`; the message then has the digests found.
    """
    for safetensors, file in ((True, _ONE_FILE), (False, _PICKLE)):
        files = _files(source, file)
        if files:
            if not safetensors:
                _require_digests(source, files, options)
            return Weights(files, safetensors)
    raise InputError(_no_weights(source))


def stored_shapes(source: Source, weights: Weights) -> dict[str, tuple[int, ...]]:
    """Return the shapes of all tensors by name, from the headers of safetensors.

    Of pickles nothing is known without reading.

    Raises:
        InputError: a file is cut short or is none.
    """
    shapes: dict[str, tuple[int, ...]] = {}
    if weights.safetensors:
        for path in weights.files:
            with explaining(source, f"weights in {path.name}"), safe_open(path, framework="numpy") as file:
                shapes |= {name: tuple(file.get_slice(name).get_shape()) for name in file.keys()}  # noqa: SIM118
    return shapes


def _files(source: Source, file: str) -> tuple[Path, ...]:
    """Return `file` itself, or the files that its index lists; none if the model has neither."""
    whole = source.find(file)
    if whole is not None:
        return (whole,)
    index = source.find(f"{file}.index.json")
    return _shards(source, index, Path(file).suffix) if index is not None else ()


def _shards(source: Source, index: Path, suffix: str) -> tuple[Path, ...]:
    with explaining(source, f"list of weights, {index.name},"):
        names = sorted(set(map(str, json.loads(index.read_text(encoding="utf-8"))["weight_map"].values())))
    own = [name for name in names if Path(name).name == name and Path(name).suffix == suffix]
    found = {name: source.find(name) for name in own}
    missing = [name for name in names if found.get(name) is None]
    if missing or not found:
        raise InputError(
            f"model {source.name}: {index.name} lists {len(names)} files of weights, but {len(missing)} of them are"
            f" missing, for example {(missing or ['none at all'])[0]!r}. {_fetch(source)}"
        )
    return tuple(path for path in found.values() if path is not None)


def _require_digests(source: Source, files: tuple[Path, ...], options: ModelOptions) -> None:
    digests = {path.name: sha256_of(path) for path in files}
    for name, found in digests.items():
        expected = options.weights_sha256.get(name)
        if expected == found:
            continue
        state = (
            f"the sha256 of {name} is {found}, but weights_sha256 has {expected}. It is not the file that was checked:"
            " fetch it again, or find out why it has changed"
            if expected
            else f"it has no safetensors weights, only pickled ones: {name}, sha256 {found}. Opening a pickle can run"
            " any code; here only tensors are read from one, and only from a file that you have checked. Use a revision"
            f" that has {_ONE_FILE}, or compare with the source"
        )
        wanted = "".join(f"\n    {file}: {value}" for file, value in digests.items())
        raise InputError(
            f"model {source.name}: {state}. If you trust the file as it is, write under the model:\n"
            f"  weights_sha256:{wanted}"
        )


def _no_weights(source: Source) -> str:
    if source.folder is None:
        return (
            f"model {source.name}: neither {_ONE_FILE} nor {_PICKLE}, nor an index of either, is in its repository"
            f" (or, without network, in the cache of this machine). {_fetch(source)}"
        )
    others = sorted(path.name for pattern in _OTHERS for path in source.folder.glob(pattern))
    seen = f" ({others[0]} is not a name or format that is read)" if others else ""
    return f"model {source.name}: the folder has no weights{seen}. Put its {_ONE_FILE} there."


def _fetch(source: Source) -> str:
    if source.folder is not None:
        return "Fetch the model again."
    return f"Where there is network, `{download_command(source.name, source.commit)}` fetches what there is."


# --------------------
# Whether a model is still the one that was trained, or looked at: what it gives is kept under its name for good.


TRAINING, PACKAGE = ORIGINS = "training.json", "package.json"
"""What the workflow writes beside a model that it trains, or takes from a package: how, and the sha256 of each file."""


def package_of(folder: Path | None) -> dict[str, Any]:
    """Return what is known of the package that a model comes from; nothing of one that comes from elsewhere."""
    if folder is None or not (folder / PACKAGE).is_file():
        return {}
    about = read_document(folder / PACKAGE)
    return {key: about[key] for key in ("name", "requirement", "licence", "weights")}


def require_as_written(folder: Path) -> None:
    """Refuse a model that the workflow has written if its files are other ones now.

    Of weights that have lost a byte before anybody looked at them, nothing else would tell.

    Args:
        folder: of a model; of one that came from elsewhere nothing is known, and nothing asked.

    Raises:
        InputError: a file is another, or gone; or the file that tells of them is damaged.
    """
    origin = next((folder / name for name in ORIGINS if (folder / name).is_file()), None)
    written = read_document(origin).get("sha256") if origin else None
    for name, sha256 in written.items() if isinstance(written, dict) else ():
        path = folder / Path(name).name
        if not path.is_file() or sha256_of(path) != sha256:
            raise InputError(
                f"{path}: not as the workflow has written it: damaged since, or replaced. Delete it and run again:"
                f" the model is made again. If you have changed it yourself, delete {origin}."
            )
