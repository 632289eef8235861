"""What a study measures: its models, one of them several times where the config asks for several of its layers.

Everything here is known before any job runs and before anything is loaded.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from prasanga.errors import InputError
from prasanga.seeds import seed_of

# Files beside `<model>.parquet` and `<model>.json`: the table of words of SEAT, the report on a tokenizer.
_TAKEN = (".words", ".tokenizer")
_TWIN = "-random"


def studied_models(models: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """The models as they are measured, by the names that tables and figures give them.

    A model with one layer stands for itself. A list of layers makes one entry for each, in the list's order, named
    `<model>-layer<k>` after the layer: 8 is `-layer8`, -1 `-layer-last`, -2 `-layer-last-1`.

    Args:
        models: `models` of the config, with its defaults.

    Returns:
        Each entry has its model's settings with `layer` as one number, and besides `family`, the model's own name, and
        `layers`, all layers that are measured of that model, as a list.

    Raises:
        InputError: two of them would have the same name, or files of the same name.
    """
    studied: dict[str, dict[str, Any]] = {}
    for family, settings in models.items():
        asked = settings.get("layer", -1)
        several = isinstance(asked, Sequence)
        layers = list(asked) if several else [asked]
        for layer in layers:
            name = f"{family}-layer{_layer_name(layer)}" if several else family
            if name in studied or (name != family and name in models):
                raise InputError(
                    f"`models.{family}.layer` is {asked}, and its layer {layer} would be called {name!r}, which is the"
                    f" name of another model. Rename `models.{name}`, or `models.{family}`."
                )
            studied[name] = {**settings, "layer": layer, "family": family, "layers": layers}
        for ending in _TAKEN:
            if family.endswith(ending) and family.removesuffix(ending) in models:
                raise InputError(
                    f"`models.{family}` has the name of a file that is written about"
                    f" `models.{family.removesuffix(ending)}`. Rename it, for example to"
                    f" `{family.removesuffix(ending)}-{ending.removeprefix('.')}`."
                )
    return studied


def twins_of(studied: Mapping[str, Mapping[str, Any]], seed: int) -> dict[str, dict[str, Any]]:
    """The null controls of a study: a twin of each model, with the same architecture, tokenizer and random weights.

    What a twin measures comes from these and from the texts alone, since it has learnt nothing.

    Args:
        studied: from `studied_models`.
        seed: of the study; each family's twin has a seed of its own from it, by the family's name. All layers of a
            family are those of one twin.

    Returns:
        For each `<model>` an entry `<model>-random`, in the same order, with the model's settings and besides
        `twin_of`, the model's name, and `random_weights`, the seed of its weights.

    Raises:
        InputError: a model of the study has the name of a twin.
    """
    families = {settings["family"] for settings in studied.values()}
    twins: dict[str, dict[str, Any]] = {}
    for model, settings in studied.items():
        family, name = settings["family"], f"{model}{_TWIN}"
        if name in studied or name in families:
            raise InputError(
                f"the twin of {model!r} with random weights (associations.random_twin) would be called {name!r}, which"
                f" is the name of another model. Rename `models.{studied.get(name, {}).get('family', name)}`, or"
                f" `models.{family}`; or write associations: {{random_twin: false}}."
            )
        weights = seed_of(seed, "models", "random weights", family) >> 1  # which fits into every column and file
        twins[name] = {**settings, "twin_of": model, "random_weights": weights}
    return twins


def require_places(models: Mapping[str, Mapping[str, Any]], root: str | Path) -> None:
    """Refuse a model whose path can only be a folder, where there is no such folder.

    What may be the name of a model on the hub (`owner/name`, or `name`) is left to the job that loads it, since only
    the hub can tell.

    Args:
        models: `models` of the config.
        root: the folder that relative paths start from.

    Raises:
        InputError: with the key, the path and where it was looked for, of every such model.
    """
    problems = [
        f"`models.{name}.path` is {settings['path']!r}, but there is no folder {Path(root, settings['path'])}. Write"
        " the path of a folder with config.json, weights and tokenizer.json, or the name of a model on the hub"
        " (owner/name)."
        for name, settings in models.items()
        if "path" in settings and _only_a_folder(settings["path"]) and not Path(root, settings["path"]).is_dir()
    ]
    if problems:
        raise InputError("\n".join(problems))


def files_of_model(path: str | Path) -> dict[str, list[int]]:
    """What can be seen of a model's files without reading them, to notice that some were replaced.

    Snakemake compares times with those of its outputs, which says nothing about a file that was replaced by an older
    one; compared with what is noted here, every change shows.

    Args:
        path: a folder, relative ones from where the process runs.

    Returns:
        Bytes and time of the last change (nanoseconds since 1970) of each file directly in the folder, by name; links
        are followed. Empty if there is no such folder, as for a model of the hub.
    """
    folder = Path(path)
    if not folder.is_dir():
        return {}
    states = {file.name: file.stat() for file in sorted(folder.iterdir()) if file.is_file()}
    return {name: [state.st_size, state.st_mtime_ns] for name, state in states.items()}


def _layer_name(layer: int) -> str:
    if layer >= 0:
        return str(layer)
    return "-last" if layer == -1 else f"-last{layer + 1}"


def _only_a_folder(path: str) -> bool:
    """Whether no model on the hub can have this name."""
    return path in ("", "~") or path.startswith(("/", ".", "~/")) or path.endswith("/") or path.count("/") > 1
