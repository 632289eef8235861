"""Whether a model is still the one that was looked at: vectors and scores are kept under its name for good."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from prasanga.errors import InputError
from prasanga.models.identity import model_identity
from prasanga.models.options import ModelOptions


def require_unchanged(model: str | Path, identity: Mapping[str, str], options: ModelOptions) -> None:
    """Refuse a folder whose files are not those that `identity` tells of; all of them are read once a process.

    A byte of the weights that has flipped on the disk changes every vector a little and is seen nowhere else.

    Args:
        model: a folder; of a model of the hub nothing is asked here, its cache has checksums of its own.
        identity: from `prasanga.models.check_model`.
        options: as it is loaded with.

    Raises:
        InputError: they are others.
    """
    expected = identity.get("sha256")
    if expected is None or not Path(model).is_dir():
        return
    found = model_identity(model, options=options)["sha256"]
    if found != expected:
        raise InputError(
            f"model {model}: its files are not those that were looked at (sha256 {found[:12]}..., not"
            f" {expected[:12]}...): replaced since, or damaged. Put them back if they are damaged (a model that the"
            " workflow trains: delete its folder); if you meant to replace them, delete the report on the model under"
            " results/models. Then run again."
        )
