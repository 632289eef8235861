"""What the files of a model may not do, whoever wrote them: lead elsewhere, fetch code, ask for absurd sizes.

All of it is told from names and from config.json, before transformers looks at either.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from prasanga.errors import InputError

_ADAPTER = "adapter_config.json"
_LARGEST_JSON = 20_000_000  # bytes
_MOST_LAYERS = 10_000
_MOST_PARTS = 1_000_000  # experts of all layers, labels
_LARGEST = 2**40
_SIZES = ("size", "vocab", "head", "dim", "position", "inner", "state", "bucket", "rank", "window")
_IMPLEMENTATIONS = ("attn_implementation", "experts_implementation")


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
        if key.endswith(_IMPLEMENTATIONS) and isinstance(value, str) and "/" in value and not code_may_run:
            raise InputError(
                f"model {name}: `{key}` in its config.json is {value!r}, compiled code that would be fetched from the"
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


def _absurd(name: str, what: str, most: int) -> InputError:
    return InputError(f"model {name}: {what}, and at most {most} is believed. Fetch the model again.")


def _settings(config: Any) -> Iterator[tuple[str, Any]]:
    """Every key with its value, those of parts included (a text model within another)."""
    pending = [config]
    while pending:
        value = pending.pop()
        if isinstance(value, dict):
            yield from value.items()
            pending.extend(value.values())
        elif isinstance(value, list):
            pending.extend(value)
