"""Which model it was: enough to tell, later and elsewhere, whether two results come from the same weights.

A folder is named by its content, so that it may be moved or copied without anything being computed again.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

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


def model_identity(model: str | Path, revision: str | None = None) -> dict[str, str]:
    """What identifies `model`, as plain strings for the metadata of what is computed with it.

    Returns:
        For a local folder `{"sha256": ...}`, over names and contents of its configuration, tokenizer and weights (a
        README or a training log beside them does not count). For a model of the hub `{"id": ..., "commit": ...}`, the
        commit that `revision` (or the main branch) stands for.

    Raises:
        InputError: neither a folder of this name nor a model of the hub can be had.
    """
    folder = Path(model)
    if folder.is_dir():
        return {"sha256": _digest_of_folder(folder)}
    from prasanga.models.loading import load_config

    commit = getattr(load_config(model, revision=revision), "_commit_hash", None)
    return {"id": str(model), "commit": str(commit or revision or "")}


def _digest_of_folder(folder: Path) -> str:
    paths = {path for pattern in _IDENTIFYING for path in folder.glob(pattern) if path.is_file()}
    whole = hashlib.sha256()
    for path in sorted(paths):
        with path.open("rb") as file:
            whole.update(f"{path.name}\0{hashlib.file_digest(file, 'sha256').hexdigest()}\0".encode())
    return whole.hexdigest()
