"""Which model it was: enough to tell, later and elsewhere, whether two results come from the same weights.

A folder is named by its content, so that it may be moved or copied without anything being computed again.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from prasanga.models.options import NO_OPTIONS, ModelOptions

if TYPE_CHECKING:
    from prasanga.models.hub import Source

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
    """What identifies `model`, as plain strings for the metadata of what is computed with it.

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
    from prasanga.models.hub import open_source

    return identity_of(open_source(model, revision), options)


def identity_of(source: Source, options: ModelOptions) -> dict[str, str]:
    """As `model_identity`, of a model that has been found."""
    if source.folder is not None:
        return {"sha256": _digest_of_folder(source.folder, options)}
    return {"id": source.name, "commit": str(source.commit)}


def sha256_of(path: Path) -> str:
    """The sha256 of a file's content, as `sha256sum` prints it; read once per process while the file stays as it is."""
    state = path.stat()
    return _sha256(path.resolve(), state.st_size, state.st_mtime_ns, state.st_ino)


@lru_cache(maxsize=1024)
def _sha256(path: Path, *_state: int) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _digest_of_folder(folder: Path, options: ModelOptions) -> str:
    pickled = not any((folder / name).is_file() for name in _SAFETENSORS)
    patterns = [*_IDENTIFYING, *(_PICKLES if pickled else ()), *(_CODE if options.remote_code else ())]
    paths = {path for pattern in patterns for path in folder.glob(pattern) if path.is_file()}
    whole = hashlib.sha256()
    for path in sorted(paths):
        whole.update(f"{path.name}\0{sha256_of(path)}\0".encode())
    return whole.hexdigest()
