"""Plan the models of a study, their random copies, and its static vectors, before anything is loaded.

Models with `embeddings` in their `stages` give vectors, models with `likelihoods` probabilities.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from prasanga.base.errors import InputError
from prasanga.base.io import made_from
from prasanga.base.seeds import seed_of
from prasanga.methods import TWIN_ENDING
from prasanga.models.packaged import KINDS, PACKAGED, read_kind

Models = dict[str, dict[str, Any]]
_MASKED = ("encoder", "auto")


@dataclass(frozen=True)
class MeasuredModels:
    """Models that are measured in the same way, and their copies with random weights.

    Attributes:
        models: by name, with their settings.
        twins: the random copies, in the same order; one entry `<model>-random` for all copies of a model.
        are_joined: whether the job of a model measures its random copies as well.
    """

    models: Models
    twins: Models
    are_joined: bool

    @property
    def every(self) -> Models:
        """Return the models and their random copies."""
        return self.twins | self.models

    @property
    def twin_of(self) -> dict[str, str]:
        """Return the model of each entry of random copies."""
        return {name: twins["twin_of"] for name, twins in self.twins.items()}

    @property
    def masked(self) -> MeasuredModels:
        """Return the models with a mask, and hub models of unknown kind, which `check_model` refuses without a mask."""
        models, twins = (
            {name: each for name, each in part.items() if has_mask(each)} for part in (self.models, self.twins)
        )
        return MeasuredModels(models, twins, self.are_joined)

    @property
    def jobs(self) -> list[str]:
        """Return the models and entries of random copies that have a job."""
        return [*self.models, *([] if self.are_joined else self.twins)]

    def job_of(self, model: str) -> list[str]:
        """Return the entries that a model's job measures: the model, and its random copies if they are joined."""
        return [model, f"{model}{TWIN_ENDING}"] if self.are_joined else [model]

    def paths(self, *patterns: str) -> list[str]:
        """Return files of a job as patterns with `{model}`: first for the model, then for its random copies."""
        copies = [pattern.replace("{model}", f"{{model}}{TWIN_ENDING}") for pattern in patterns]
        return [*patterns, *copies] if self.are_joined else [*patterns]


def plan_embedded(config: Mapping[str, Any], *, are_joined: bool) -> MeasuredModels:
    """Return the models whose vectors are measured, by the names that tables and figures give them.

    A list of layers makes one entry for each, in the list's order, named `<model>-layer<k>` after the layer: 8 is
    `-layer8`, -1 `-layer-last`, -2 `-layer-last-1`.

    Args:
        config: complete.
        are_joined: whether the job of a model may measure its random copies as well.

    Returns:
        Each entry has its model's settings with `layer` as one number, `family`, the model's own name, and `layers`,
        all layers that are measured of that model.

    Raises:
        InputError: two of them would have the same name.
    """
    models, studied = config["models"], Models()
    for family, settings in models.items():
        asked = settings["layer"]
        layers = asked if isinstance(asked, list) else [asked]
        for layer in layers if "embeddings" in settings["stages"] else []:
            number = str(layer) if layer >= 0 else f"-last{layer + 1 or ''}"
            name = f"{family}-layer{number}" if isinstance(asked, list) else family
            if name in studied or (name != family and name in models):
                raise InputError(
                    f"`models.{family}.layer` is {asked}, and its layer {layer} would be called {name!r}, which is the"
                    f" name of another model. Rename `models.{name}`, or `models.{family}`."
                )
            studied[name] = {**settings, "layer": layer, "family": family, "layers": layers}
    return _add_twins(studied, config, are_joined=are_joined)


def plan_scored(config: Mapping[str, Any]) -> MeasuredModels:
    """Return the models that give probabilities, each once, because its layers share one vocabulary head.

    Returns:
        Each entry has its model's settings without `layer`, and `family`, the model's own name.

    Raises:
        InputError: the study asks for probabilities that no model can give.
    """
    scored = {
        family: {**{key: value for key, value in settings.items() if key != "layer"}, "family": family}
        for family, settings in config["models"].items()
        if "likelihoods" in settings["stages"]
    }
    words, masked = config["log_probability"], [*filter(has_mask, scored.values())]
    for key, asked, able, what in (
        ("pairs.sets", config["pairs"]["sets"], scored, "model"),
        ("log_probability.categories", words["categories"], masked, "encoder"),
        ("log_probability.traits", words["traits"], masked, "encoder"),
    ):
        if asked and not able:
            raise InputError(
                f"`{key}`: the study has no {what} with likelihoods in its `stages`. Write `stages: [likelihoods,"
                f" embeddings]` under a model, add one under `models`, or leave `{key}` empty."
            )
    return _add_twins(scored, config, are_joined=True)


def _add_twins(models: Models, config: Mapping[str, Any], *, are_joined: bool) -> MeasuredModels:
    """Return models with their random copies: the same architecture and tokenizer, and random weights.

    Returns:
        Each entry of copies has its model's settings, `twin_of`, the model's name, and `random_weights`, the seeds of
        the copies' weights. All layers of a model have the same copies, and more copies begin with the same ones.

    Raises:
        InputError: a model of the study has the name of the copies.
    """
    twins, taken = Models(), {*models, *(settings["family"] for settings in models.values())}
    for model, settings in models.items():
        name, number = f"{model}{TWIN_ENDING}", settings.get("random_twins", config["associations"]["random_twins"])
        if number and name in taken:
            fault = f"the random twins of {model!r} would be called {name!r}, like another model"
            raise InputError(f"{fault}. Rename one of them, or write associations: {{random_twins: 0}}.")
        if number:
            names = ("models", "random weights", settings["family"])
            # halved, they fit into every column and file
            seeds = [seed_of(config["seed"], *names, twin) >> 1 for twin in range(number)]
            twins[name] = {**settings, "twin_of": model, "random_weights": seeds}
    return MeasuredModels(models, twins, are_joined and len(twins) == len(models))


def list_questions(settings: Mapping[str, Any], config: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return the demands of a study on one of its models, for `prasanga.models.check_model`.

    A model of unknown kind must meet the demands on all kinds, so a decoder of the hub is refused before anything runs
    if the study asks for log-probability bias.

    Returns:
        `stages`, without likelihoods if the study asks for none that such a model can give; `kinds`, the allowed kinds;
        `masked`, the kinds of model that must hide words.
    """
    pairs, asked, stages = config["pairs"], config["log_probability"], list(settings["stages"])
    words = bool(asked["traits"] or asked["categories"]) and has_mask(settings)
    if "likelihoods" not in stages or not (pairs["sets"] or words):
        return {"stages": [stage for stage in stages if stage != "likelihoods"], "kinds": list(KINDS), "masked": []}
    masked = {
        "encoder": words or pairs["encoder"] in ("p_unmodified", "p_modified"),
        "encoder-decoder": bool(pairs["sets"]) and pairs["encoder_decoder"] == "infill",
    }
    hidden = [name for name in masked if masked[name] and find_kind(settings) in (name, "auto")]
    return {"stages": stages, "kinds": ["encoder"] if words else list(KINDS), "masked": hidden}


def has_mask(settings: Mapping[str, Any]) -> bool:
    """Return whether a model has a mask, as far as it is known without loading anything."""
    return find_kind(settings) in _MASKED


def find_kind(settings: Mapping[str, Any]) -> str:
    """Return the kind of a model as far as it is known without loading anything.

    Args:
        settings: of the model, from `models` of the config.

    Returns:
        `encoder`, `decoder` or `encoder-decoder`, from the config or the model's own config.json; else `auto`, as for a
        model of the hub without `kind`.
    """
    if settings["kind"] != "auto":
        return str(settings["kind"])
    if "path" not in settings:
        return PACKAGED[settings["package"]].kind if "package" in settings else "encoder"
    with suppress(OSError, ValueError, RecursionError):  # the job that opens the folder reports its mistakes
        own = json.loads(Path(settings["path"], "config.json").read_text(encoding="utf-8"))
        return read_kind(own) if isinstance(own, dict) else "auto"
    return "auto"


def require_folder(name: str, path: str) -> None:
    """Refuse the path of a model that is neither a folder nor a possible name on the hub."""
    is_folder = path.startswith(("/", ".", "~")) or path.endswith("/") or path.count("/") > 1
    if is_folder and not Path(path).is_dir():
        raise InputError(
            f"`models.{name}.path` is {path!r}, but there is no folder {Path(path).absolute()}. Write a folder with"
            " config.json, weights and tokenizer.json, or the name of a model on the hub (owner/name)."
        )


def require_file(key: str, path: str, what: str) -> None:
    """Refuse a path of the config without a file."""
    if not Path(path).is_file():
        raise InputError(f"`{key}.path` is {path!r}, but there is no such file. Write the path of {what}.")


def list_model_files(path: str | Path) -> dict[str, list[int]]:
    """Return sizes and times of a model's files.

    Snakemake compares times with its outputs' times, which misses a replacement by an older file; these notes show
    every change.

    Returns:
        Bytes and time of the last change (nanoseconds since 1970) of each file in the folder and in its folders of
        sentence modules (1_Pooling), by path; links are followed. Empty without such a folder, as for a model of the
        hub.
    """
    folder = Path(path)
    files = sorted(file for pattern in ("*", "[0-9]_*/*") for file in folder.glob(pattern) if file.is_file())
    states = {file.relative_to(folder).as_posix(): file.stat() for file in files}
    return {name: [state.st_size, state.st_mtime_ns] for name, state in states.items()}


_LIBRARIES, _PACKAGED, _UNKNOWN = 1500, 3000, 16000


def estimate_memory(settings: Mapping[str, Any]) -> int:
    """Return the megabytes (10^6 bytes) of the node's memory for one job of a model.

    Memory has weights only once, but in float32 they take twice the bytes of files in half precision. Over several
    GPUs, weights go straight to the GPUs, one matrix after the other, and each GPU may have a process.

    Args:
        settings: of the model, from `models` of the config.

    Returns:
        For a folder, the libraries and twice the bytes of the weights, or with several GPUs the libraries once for each
        and the largest file; only the libraries for a model that the workflow trains; 3000 for a packaged model; 16000
        for a model of the hub, whose size is unknown while planning.
    """
    if "path" not in settings:
        return _LIBRARIES if "train" in settings else _PACKAGED
    files = list_model_files(settings["path"])
    # the same weights may be there in both formats
    formats = ([size for name, (size, _) in files.items() if name.endswith(end)] for end in (".safetensors", ".bin"))
    weights, cards = max(formats, key=sum), max(settings["cards"], 1)
    n_bytes = max(weights, default=0) if cards > 1 else 2 * sum(weights)
    return _LIBRARIES * cards + n_bytes // 10**6 if weights else _UNKNOWN


# --------------------
# Static vectors: their files, and the options of their training.


EPOCHS: Mapping[str, int] = {"word2vec": 5, "glove": 25}
"""Default passes of a training: gensim's number; half of the lowest number of GloVe's authors."""


def find_vectors(vectors: Mapping[str, Any], results: str, *, cached: bool) -> dict[str, str]:
    """Return the files of static vectors, by name, without vectors that the workflow trains.

    Args:
        vectors: `static.vectors` of the config.
        results: the folder of the study's results.
        cached: whether earlier results may replace a missing file, if they were made from that path.

    Raises:
        InputError: a file is missing.
    """
    files = {name: str(settings["path"]) for name, settings in sorted(vectors.items()) if "path" in settings}
    absent = {name for name, path in files.items() if cached and not Path(path).is_file()}
    tables = {name: path for name in absent if (path := Path(f"{results}/static/{name}.parquet")).is_file()}
    kept = {name for name, table in tables.items() if files[name] in made_from(table).get("inputs", "")}
    for name in files.keys() - kept:
        require_file(f"static.vectors.{name}", files[name], "a file of vectors (word2vec, GloVe, fastText)")
    return {name: path for name, path in files.items() if name not in kept}


def complete_training(train: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of a training (`static.vectors.<name>.train`), with the default passes of its method."""
    epochs = EPOCHS[train["method"]] if train["epochs"] is None else train["epochs"]
    # GloVe trains in one thread
    options = {key: train[key] for key in sorted(train) if key != "workers" or train["method"] != "glove"}
    return {**options, "epochs": epochs}


def estimate_training(input_megabytes: float) -> dict[str, int]:
    """Return the resources of a training: `mem_mb`, and `runtime` in minutes.

    Args:
        input_megabytes: size of the corpus, not compressed. A megabyte of Bangla has about 60,000 words, which take 2
            to 6 s in either method with the default options. Memory holds the vocabulary, whose size grows with the
            power 0.58 of the text; the job asks for twice that estimate.
    """
    return {"mem_mb": round(1000 + 65 * input_megabytes**0.6), "runtime": 60 + round(input_megabytes / 10)}
