"""What the rules of construction ask before any job: whether there is a proposer, and what to write without one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from prasanga.errors import InputError


def require_proposer(construction: Mapping[str, Any], models: Mapping[str, Mapping[str, Any]]) -> str:
    """The name of the model that proposes.

    Args:
        construction: the section of the config.
        models: `models` of the config.

    Raises:
        InputError: none is named, or one that is not under `models`, or is said to be no decoder.
    """
    name = construction["proposer"]
    decoders = [model for model, settings in models.items() if settings.get("kind", "auto") in ("auto", "decoder")]
    there = f" Models that may be decoders: {', '.join(sorted(decoders)) or 'none'}."
    if name is None:
        raise InputError(
            "construction.proposer is null, so no model can propose anything. Write the name of a decoder that stands"
            f" under `models`.{there}"
        )
    if name not in models:
        raise InputError(
            f"construction.proposer is {name!r}, which is not under `models`.{there} Add it, or write one."
        )
    if name not in decoders:
        raise InputError(
            f"construction.proposer is {name!r}, of kind {models[name]['kind']}; only a decoder goes on from a prompt."
            f"{there} Write one of them."
        )
    return str(name)
