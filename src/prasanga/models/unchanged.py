"""Whether a model is still the one that was trained, or looked at: what it gives is kept under its name for good."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from prasanga.documents import read_document
from prasanga.errors import InputError
from prasanga.models.identity import model_identity, sha256_of
from prasanga.models.options import ModelOptions

TRAINING = "training.json"
"""What the workflow writes beside a model that it trains: how, and the sha256 of each file."""


def require_as_trained(folder: Path) -> None:
    """Refuse a model that the workflow has trained if its files are not those that training has written.

    Of weights that have lost a byte before anybody looked at them, nothing else would tell.

    Args:
        folder: of a model; of one that came from elsewhere nothing is known, and nothing asked.

    Raises:
        InputError: a file is another, or gone; or the file that tells of them is damaged.
    """
    if not (folder / TRAINING).is_file():
        return
    written = read_document(folder / TRAINING).get("sha256")
    for name, sha256 in written.items() if isinstance(written, dict) else ():
        path = folder / Path(name).name
        if not path.is_file() or sha256_of(path) != sha256:
            raise InputError(
                f"{path}: not as training has written it: damaged since, or replaced. Delete it and run the workflow"
                f" again: the model is trained anew. If you have changed it yourself, delete {folder / TRAINING}."
            )


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
