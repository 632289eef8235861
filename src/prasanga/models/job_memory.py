"""How much memory a job that runs a model asks of a cluster, before anything is loaded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from prasanga.models.studied import files_of_model

_LIBRARIES = 1500
_TRAINED = 1000
_UNKNOWN = 16000
_ENDINGS = (".safetensors", ".bin")


def megabytes_of(settings: Mapping[str, Any]) -> int:
    """Megabytes (10^6 bytes) of the node's memory for one job of a model, whether or not it has a card.

    Weights pass through the node's memory on their way to a card, and may stand there twice while they are loaded.

    Args:
        settings: of the model, from `models` of the config.

    Returns:
        Twice its weights and what the libraries need, for a folder; a gigabyte for a model that the workflow trains;
        16000 for a model of the hub, whose size is not known while planning.
    """
    if "train" in settings:
        return _TRAINED
    files = files_of_model(settings["path"])
    # the same weights may lie there in both formats
    weights = max(sum(size for name, (size, _) in files.items() if name.endswith(ending)) for ending in _ENDINGS)
    return _LIBRARIES + 2 * weights // 10**6 if weights else _UNKNOWN
