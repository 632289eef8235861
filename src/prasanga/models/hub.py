"""Where the files of a model come from, and what they may not do."""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

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

from prasanga.base.errors import InputError, gave_up

# --------------------
# What the files of a model may not do, whoever wrote them: lead elsewhere, fetch code, ask for absurd sizes.
#
# All of it is told from names and from config.json, before transformers looks at either.


_ADAPTER = "adapter_config.json"
_LARGEST_JSON = 20_000_000  # bytes
_MOST_LAYERS = 10_000
_MOST_PARTS = 1_000_000  # experts of all layers, labels
_LARGEST = 2**40
_SIZES = ("size", "vocab", "head", "dim", "position", "inner", "state", "bucket", "rank", "window")
_NAMES_CODE = re.compile("attn_implementation|experts_implementation|kernel")
_SHORT_COMMIT = re.compile(r"[0-9a-f]{7,39}")


def require_own_files(name: str, folder: Path) -> None:
    """Refuse a folder with links to files elsewhere, or with an adapter that names another model.

    In the hub's cache, the files of a snapshot are links to `blobs` beside it; these are its own.

    Raises:
        InputError: with the file, where it leads, and what to do.
    """
    home = folder.resolve()
    own = [home, home.parent.parent / "blobs"] if home.parent.name == "snapshots" else [home]
    for path in sorted(folder.iterdir()):
        if path.is_symlink() and path.is_file():
            real = path.resolve()
            if not any(real.is_relative_to(place) for place in own):
                raise InputError(
                    f"model {name}: {path.name} is a link to {str(real)!r}, outside of the model's folder. Copy the"
                    " file into the folder if it is meant, or give the folder that it lies in."
                )
    if (folder / _ADAPTER).is_file():
        raise InputError(
            f"model {name}: the folder has an {_ADAPTER}, so it is an adapter to another model, which would be fetched"
            " from wherever that file says. Merge it into its model (`merge_and_unload` of the package peft), save"
            " that, and give its folder."
        )


def require_plausible_config(name: str, path: Path, *, code_may_run: bool) -> None:
    """Refuse a config.json that is none, that asks for code from the hub, or for more than any machine has.

    Args:
        name: the model, for messages.
        path: its config.json.
        code_may_run: whether the user has allowed code that comes with the model.

    Raises:
        InputError: with the key and the value.
    """
    size = path.stat().st_size
    if size > _LARGEST_JSON:
        raise InputError(f"model {name}: its config.json has {size} bytes, and is none. Fetch the model again.")
    try:
        config = json.loads(path.read_bytes())
    except (ValueError, RecursionError) as error:
        raise InputError(
            f"model {name}: its config.json cannot be loaded (not JSON: {error}). Fetch the model again."
        ) from None
    if not isinstance(config, dict):
        raise InputError(
            f"model {name}: its config.json holds a {type(config).__name__}, where an object is wanted. Fetch the model"
            " again."
        )
    layers = parts = 1
    for key, value in _settings(config):
        code = [text for text in _texts(value) if "/" in text] if _NAMES_CODE.search(key) and not code_may_run else []
        if code:
            raise InputError(
                f"model {name}: `{key}` in its config.json is {code[0]!r}, compiled code that would be fetched from the"
                " hub and run. Take the line out; or read that code, pin its revision, and write remote_code: true."
            )
        if not isinstance(value, int) or isinstance(value, bool):
            continue
        if "layer" in key or key == "n_block":
            layers = max(layers, value)
            most = _MOST_LAYERS
        elif "expert" in key or key == "num_labels":
            parts = max(parts, value)
            most = _MOST_PARTS
        else:
            most = _LARGEST
        if value > most and (most != _LARGEST or any(part in key for part in _SIZES)):
            raise _absurd(name, f"`{key}` in its config.json is {value}", most)
    if layers * parts > _MOST_PARTS * 10:
        raise _absurd(name, f"its config.json asks for {layers} layers of {parts} parts", _MOST_PARTS * 10)


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


def _absurd(name: str, what: str, most: int) -> InputError:
    return InputError(f"model {name}: {what}, and at most {most} is believed. Fetch the model again.")


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
        InputError: it is neither, has no config.json or no such revision (a commit in short is none), is gated, or is
            not in the cache of a machine without network; a folder has links to files elsewhere, or is an adapter to
            another model; the message says which and what to do.
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
        require_own_files(str(model), folder)
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
            references = _code_references(json.loads(path.read_text(encoding="utf-8")))
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


@contextmanager
def explaining(source: Source, part: str) -> Iterator[None]:
    """Say in the user's words why `part` of a model that was found cannot be loaded.

    Everything but exhausted memory is turned into an `InputError`: what is read are files that anybody may have
    written, and the libraries that read them raise nearly everything, a bare `Exception` included, and where Rust gives
    up (`gave_up`) no `Exception` at all.
    """
    try:
        yield
    except (InputError, MemoryError):
        raise
    except BaseException as error:
        if type(error).__name__ == "OutOfMemoryError" or not (isinstance(error, Exception) or gave_up(error)):
            raise
        text = str(error).strip()
        if "trust_remote_code" in text:
            raise InputError(
                f"model {source.name}: it needs Python code of its own that is not part of transformers. Such code is"
                " not run here, because it can do anything to the machine that you can do. Use a model that"
                " transformers knows; or read the code, pin its revision, and write remote_code: true under the model."
            ) from error
        reason = text.splitlines()[0] if text else type(error).__name__
        mend = "Fetch the model again." if source.folder else "Empty its place in the cache, or use another revision."
        raise InputError(f"model {source.name}: its {part} cannot be loaded ({reason}). {mend}") from error


def download_command(name: str, revision: str | None) -> str:
    """Return what to type on a machine with network to get a model into the cache."""
    return shlex.join(["hf", "download", name, *(["--revision", revision] if revision else [])])


def _download(name: str, file: str, revision: str | None) -> Path:
    if revision is not None:
        known = huggingface_hub.try_to_load_from_cache(name, file, revision=revision)
        if isinstance(known, str) and re.fullmatch(r"[0-9a-f]{40}", revision):
            return Path(known)  # a commit never changes: no need to ask
    return Path(huggingface_hub.hf_hub_download(name, file, revision=revision))


def _code_references(settings: Any) -> list[str]:
    """Return every piece of code that the `auto_map`s of a configuration name, those of its parts included."""
    if isinstance(settings, list):
        return [found for part in settings for found in _code_references(part)]
    if not isinstance(settings, dict):
        return []
    named = settings.get("auto_map") or {}
    values = named.values() if isinstance(named, dict) else [named]
    # A tokenizer's entry is a list, of the code of the slow and of the fast one, with null where there is none.
    flat = [one for value in values for one in (value if isinstance(value, list) else [value])]
    inner = [part for key, part in settings.items() if key != "auto_map"]
    return [one for one in flat if isinstance(one, str)] + _code_references(inner)


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
        f"model {name}: it cannot be fetched to {constants.HF_HUB_CACHE} ({_first_line(error)}). Try again, or fetch it"
        f" with `{download_command(name, revision)}` and look at what that says."
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


def _first_line(error: Exception) -> str:
    text = str(error).strip()
    return text.splitlines()[0].rstrip(".") if text else type(error).__name__
