"""Which files hold a model's weights, and whether they may be read.

Safetensors hold numbers and nothing else. A pickle can run any code when it is opened, so it is read only as tensors
(torch's `weights_only`), and only if the user has written down its sha256: then it is the file that they checked.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from safetensors import safe_open

from prasanga.errors import InputError
from prasanga.models.hub import Source, download_command, explaining
from prasanga.models.identity import sha256_of
from prasanga.models.options import ModelOptions

_SAFETENSORS, _PICKLE = "model.safetensors", "pytorch_model.bin"
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
    """The weights of a model, downloaded if need be: safetensors if it has any, else pickles with a known digest.

    Raises:
        InputError: there are none, one of several files is missing, or pickles whose sha256 is not the one in
            `options.weights_sha256`; the message then has the digests found.
    """
    for safetensors, file in ((True, _SAFETENSORS), (False, _PICKLE)):
        files = _files(source, file)
        if files:
            if not safetensors:
                _require_digests(source, files, options)
            return Weights(files[0].parent, files, safetensors)
    raise InputError(_no_weights(source))


def stored_shapes(source: Source, weights: Weights) -> dict[str, tuple[int, ...]]:
    """Shapes of all tensors by name, from the headers of safetensors; of pickles nothing is known without reading.

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
    """`file` itself, or the files that its index lists; none if the model has neither."""
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
            f" that has {_SAFETENSORS}, or compare with the source"
        )
        wanted = "".join(f"\n    {file}: {value}" for file, value in digests.items())
        raise InputError(
            f"model {source.name}: {state}. If you trust the file as it is, write under the model:\n"
            f"  weights_sha256:{wanted}"
        )


def _no_weights(source: Source) -> str:
    if source.folder is None:
        return (
            f"model {source.name}: neither {_SAFETENSORS} nor {_PICKLE}, nor an index of either, is in its repository"
            f" (or, without network, in the cache of this machine). {_fetch(source)}"
        )
    others = sorted(path.name for pattern in _OTHERS for path in source.folder.glob(pattern))
    seen = f" ({others[0]} is not a name or format that is read)" if others else ""
    return f"model {source.name}: the folder has no weights{seen}. Put its {_SAFETENSORS} there."


def _fetch(source: Source) -> str:
    if source.folder is not None:
        return "Fetch the model again."
    return f"Where there is network, `{download_command(source.name, source.commit)}` fetches what there is."
