"""Which model it was, which files hold its weights, and whether they are still the same.

A folder is named by its content, so that it may be moved or copied without anything being computed again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from safetensors import safe_open

from prasanga.base.documents import read_document
from prasanga.base.errors import InputError, open_regular
from prasanga.models.hub import Source, download_command, explaining
from prasanga.models.options import NO_OPTIONS, ModelOptions

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
    from prasanga.models.hub import open_source

    return identity_of(open_source(model, revision), options)


def identity_of(source: Source, options: ModelOptions) -> dict[str, str]:
    """Return the same as `model_identity`, for a model that has been found."""
    if source.folder is not None:
        return {"sha256": _digest_of_folder(source.folder, options)}
    return {"id": source.name, "commit": str(source.commit)}


def sha256_of(path: Path) -> str:
    """Return the sha256 of a file's content, as `sha256sum` prints it.

    The file is read once per process while it stays as it is.
    """
    state = path.stat()
    return _sha256(path.resolve(), state.st_size, state.st_mtime_ns, state.st_ino)


@lru_cache(maxsize=1024)
def _sha256(path: Path, *_state: int) -> str:
    with open_regular(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _digest_of_folder(folder: Path, options: ModelOptions) -> str:
    pickled = not any((folder / name).is_file() for name in _SAFETENSORS)
    patterns = [*_IDENTIFYING, *(_PICKLES if pickled else ()), *(_CODE if options.remote_code else ())]
    paths = {path for pattern in patterns for path in folder.glob(pattern) if path.is_file()}
    whole = hashlib.sha256()
    for path in sorted(paths):
        whole.update(f"{path.name}\0{sha256_of(path)}\0".encode())
    return whole.hexdigest()


# --------------------
# Which files hold a model's weights, and whether they may be read.
#
# Safetensors hold numbers and nothing else. A pickle can run any code when it is opened, so it is read only as
# tensors (torch's `weights_only`), and only if the user has written down its sha256: then it is the file that they
# checked.


_ONE_FILE, _PICKLE = "model.safetensors", "pytorch_model.bin"
_OTHERS = ("*.safetensors", "*.bin", "*.pt", "*.pth", "*.ckpt", "*.h5", "*.msgpack", "*.gguf")


@dataclass(frozen=True)
class Weights:
    """Files that hold all weights of a model and may be read.

    Attributes:
        folder: the folder that all of them are in.
        files: their paths.
        safetensors: whether they are safetensors, not pickles.
    """

    folder: Path
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
            return Weights(files[0].parent, files, safetensors)
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
        names = sorted(set(json.loads(index.read_text(encoding="utf-8"))["weight_map"].values()), key=str)
    for name in names:
        # An index may name any file; one elsewhere or of another format would get around the digests.
        if not isinstance(name, str) or Path(name).name != name or Path(name).suffix != suffix:
            raise InputError(
                f"model {source.name}: {index.name} lists {name!r}, which is no *{suffix} file beside it. Fetch the"
                " model again, from a source that you trust."
            )
    found = {name: source.find(name) for name in names}
    missing = [name for name, path in found.items() if path is None]
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
