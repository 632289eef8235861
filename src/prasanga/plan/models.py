"""What a study measures: its models, some at several layers, their twins, static vectors, and what their jobs ask for.

Vectors are asked of the models with `embeddings` in their `stages`, probabilities of those with `likelihoods`.
Everything here is known before any job runs and before anything is loaded.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from prasanga.base.errors import InputError
from prasanga.base.io import made_from
from prasanga.base.seeds import seed_of
from prasanga.models.options import KINDS
from prasanga.models.packaged import PACKAGED

# Files beside `<model>.parquet` and the folder `<model>`: the report on a model and its tokenizer, the log of that, the
# tables of words, terms and sentences of other measurements.
_TAKEN = (".words", ".tokenizer", ".terms", ".sentences", ".json", ".check", ".parquet")
_EMBEDDINGS, _LIKELIHOODS = "embeddings", "likelihoods"
_LARGEST_JSON = 20_000_000  # bytes; what is larger is no config.json, which the job that opens the model says
_TWIN = "-random"


Models = dict[str, dict[str, Any]]


@dataclass(frozen=True)
class ModelsPlan:
    """The models of a study, and their null controls with random weights.

    Attributes:
        studied: the models whose vectors are measured, one per layer, with their settings.
        twins: their null controls, in the same order; one entry `<model>-random` for all twins of a model.
        scored: the models that are asked for probabilities, where layers do not matter.
        scored_twins: their null controls.
        kinds: the kind of each scored model, as far as it is at hand.
        trained, packaged: the models that the workflow trains, and those that it takes from packages.
    """

    studied: Models
    twins: Models
    scored: Models
    scored_twins: Models
    kinds: dict[str, str]
    trained: list[str]
    packaged: list[str]

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> Self:
        """Plan the models of a study.

        Raises:
            InputError: two names that are the same, or no model for what is asked.
        """
        models, scored_words = config["models"], config["log_probability"]
        studied, scored = studied_models(models), scored_models(models)
        twins, scored_twins = (
            twins_of(each, config["seed"], config["associations"]["random_twins"]) for each in (studied, scored)
        )
        kinds = {model: kind_at_hand(settings) for model, settings in scored.items()}
        of_words = [f"log_probability.{key}" for key in ("categories", "traits") if scored_words[key]]
        require_scorers(kinds, ["pairs.sets"] if config["pairs"]["sets"] else [], of_words)
        if shared := config["static"]["vectors"].keys() & {**studied, **scored}.keys():
            raise InputError(
                f"`static.vectors.{min(shared)}` has the name of a model of the study. Rename one of them."
            )
        trained, packaged = (sorted(name for name in models if key in models[name]) for key in ("train", "package"))
        return cls(studied, twins, scored, scored_twins, kinds, trained, packaged)

    @property
    def names(self) -> list[str]:
        """Return the names of the studied models, sorted."""
        return sorted(self.studied)

    @property
    def twin_of(self) -> dict[str, str]:
        """Return the studied model of each entry of twins."""
        return {name: twins["twin_of"] for name, twins in self.twins.items()}

    @property
    def embedded(self) -> Models:
        """Return the studied models and their twins."""
        return self.twins | self.studied

    @property
    def scored_twin_of(self) -> dict[str, str]:
        """Return the scored model of each entry of twins."""
        return {name: twins["twin_of"] for name, twins in self.scored_twins.items()}

    @property
    def scorers(self) -> Models:
        """Return the scored models and their twins."""
        return self.scored_twins | self.scored

    @property
    def masked(self) -> list[str]:
        """Return the scored models with a mask.

        A model of the hub of unknown kind counts as one; `check_model` refuses it if it has no mask.
        """
        return [model for model in self.scored if self.kinds[model] in ("encoder", "auto")]

    @property
    def masked_twins(self) -> list[str]:
        """Return the null controls of the models with a mask."""
        return [twin for twin, model in self.scored_twin_of.items() if model in self.masked]


def studied_models(models: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return the models whose vectors are measured, by the names that tables and figures give them.

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
    require_free_names("models", models, _TAKEN)
    for family, settings in models.items():
        if _EMBEDDINGS not in _stages(settings):
            continue
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
    return studied


def scored_models(models: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return the models that are asked for probabilities, each once: whatever its layers, it has one vocabulary head.

    Args:
        models: `models` of the config, with its defaults.

    Returns:
        Each entry has its model's settings without `layer`, and besides `family`, the model's name, as `twins_of`
        needs it.
    """
    return {
        family: {**{key: value for key, value in settings.items() if key != "layer"}, "family": family}
        for family, settings in models.items()
        if _LIKELIHOODS in _stages(settings)
    }


def require_scorers(kinds: Mapping[str, str], asked: Sequence[str], masked: Sequence[str]) -> None:
    """Refuse a study that asks for probabilities, and has no model that can give them.

    Args:
        kinds: of each model that is asked for probabilities, its kind as far as it is at hand (`kind_at_hand`).
        asked: the keys of the config that need any such model; none if nothing does.
        masked: those that need an encoder.

    Raises:
        InputError: with the keys, and what to write.
    """
    encoders = [model for model, kind in kinds.items() if kind in ("encoder", "auto")]
    for keys, able, what in ((asked, kinds, "model"), (masked, encoders, "encoder")):
        if keys and not able:
            named = " and ".join(f"`{key}`" for key in keys)
            raise InputError(
                f"{named}: the study has no {what} with likelihoods among its `stages`. Write `stages: [likelihoods,"
                f" embeddings]` under one, add one under `models`, or leave {named} empty."
            )


def asked_of_model(
    settings: Mapping[str, Any], pairs: Mapping[str, Any], log_probability: Mapping[str, Any]
) -> dict[str, list[str]]:
    """Return what a study asks of one of its models, for `prasanga.models.check_model`.

    A model whose kind is not at hand is asked for all that a model of any kind would be, so that a decoder of the hub
    is told that it cannot give log-probability bias before anything runs.

    Args:
        settings: of the model, from `models` of the config.
        pairs: `pairs` of the config.
        log_probability: `log_probability` of the config.

    Returns:
        `stages`, without likelihoods if the study asks for none that such a model can give; `kinds`, of which one must
        be the model's; `masked`, the kinds of model that are asked to hide words.
    """
    kind, stages = kind_at_hand(settings), list(_stages(settings))
    words = bool(log_probability["traits"] or log_probability["categories"]) and kind in ("encoder", "auto")
    if _LIKELIHOODS not in stages or not (pairs["sets"] or words):
        stages = [stage for stage in stages if stage != _LIKELIHOODS]
        return {"stages": stages, "kinds": list(KINDS), "masked": []}
    encoder = words or pairs["encoder"] in ("p_unmodified", "p_modified")
    other = bool(pairs["sets"]) and pairs["encoder_decoder"] == "infill"
    asked = {"encoder": encoder, "encoder-decoder": other}
    masked = [name for name in asked if asked[name] and kind in (name, "auto")]
    return {"stages": stages, "kinds": ["encoder"] if words else list(KINDS), "masked": masked}


def kind_at_hand(settings: Mapping[str, Any]) -> str:
    """Return the kind of a model as far as it can be told without loading anything.

    Args:
        settings: of the model, from `models` of the config or from one of the functions above.

    Returns:
        `encoder`, `decoder` or `encoder-decoder`, if the config or the model's own config.json says so; `auto` if
        neither does, as for a model of the hub whose `kind` is not written down.
    """
    said = str(settings.get("kind", "auto"))
    if said != "auto":
        return said
    if "train" in settings:
        return "encoder"
    if "package" in settings:
        return PACKAGED[settings["package"]].kind
    try:
        file = Path(settings["path"], "config.json")
        if not file.is_file() or file.stat().st_size > _LARGEST_JSON:
            return "auto"
        own = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return "auto"  # what is wrong with a folder is said by the job that opens it
    return _kind_of(own) if isinstance(own, dict) else "auto"


def _kind_of(own: Mapping[str, Any]) -> str:
    """Return the kind of a model by its config.json; it never contradicts `prasanga.models.loading.model_kind`."""
    if own.get("is_encoder_decoder"):
        return "encoder-decoder"
    listed = own.get("architectures")
    names = [name for name in listed if isinstance(name, str)] if isinstance(listed, list) else []
    if own.get("model_type") in _MASKED_TOO or any(name.endswith(("ForMaskedLM", "ForPreTraining")) for name in names):
        return "decoder" if own.get("is_decoder") else "encoder"
    return "decoder" if any(name.endswith(("ForCausalLM", "LMHeadModel")) for name in names) else "auto"


_MASKED_TOO = (
    *("bart", "bert", "big_bird", "camembert", "data2vec-text", "electra", "ernie", "mbart", "megatron-bert", "mvp"),
    *("reformer", "rembert", "roberta", "roberta-prelayernorm", "roc_bert", "roformer", "xlm", "xlm-roberta"),
    *("xlm-roberta-xl", "xmod"),
)
"""Families that transformers has as masked models and as causal ones: a class of either kind says nothing."""


def twins_of(studied: Mapping[str, Mapping[str, Any]], seed: int, number: int) -> dict[str, dict[str, Any]]:
    """Return the null controls of a study: the twins of each model, which are measured by the same jobs.

    A twin has the same architecture and tokenizer, and random weights.

    What a twin measures comes from these and from the texts alone, since it has learnt nothing.

    Args:
        studied: from `studied_models` or `scored_models`.
        seed: of the study; each family's twins have seeds of their own from it, by the family's name and their number.
            All layers of a family are those of the same twins.
        number: of twins of each model that does not say how many itself.

    Returns:
        For each `<model>` that has twins an entry `<model>-random`, in the same order, with the model's settings and
        besides `twin_of`, the model's name, and `random_weights`, the seeds of its twins' weights. The first of more
        twins are those of fewer.

    Raises:
        InputError: a model of the study has the name of the twins.
    """
    families = {settings["family"] for settings in studied.values()}
    twins: dict[str, dict[str, Any]] = {}
    for model, settings in studied.items():
        family, name, wanted = settings["family"], f"{model}{_TWIN}", settings.get("random_twins", number)
        if wanted and (name in studied or name in families):
            raise InputError(
                f"the twins of {model!r} with random weights (associations.random_twins) would be called {name!r},"
                f" which is the name of another model. Rename one of them, or write associations: {{random_twins: 0}}."
            )
        if wanted:
            # halved, each fits into every column and file
            seeds = [seed_of(seed, "models", "random weights", family, twin) >> 1 for twin in range(wanted)]
            twins[name] = {**settings, "twin_of": model, "random_weights": seeds}
    return twins


def require_places(models: Mapping[str, Mapping[str, Any]], root: str | Path) -> None:
    """Refuse a model whose path can only be a folder, where there is no such folder.

    A path that may be the name of a model on the hub (`owner/name`, or `name`) is left to the job that loads it.

    Args:
        models: `models` of the config.
        root: the folder that relative paths start from.

    Raises:
        InputError: one line per model: the key, the path and the folder.
    """
    paths = {name: settings["path"] for name, settings in models.items() if "path" in settings}
    problems = [
        f"`models.{name}.path` is {path!r}, but there is no folder {Path(root, path)}. Write the path of a folder with"
        " config.json, weights and tokenizer.json, or the name of a model on the hub (owner/name)."
        for name, path in paths.items()
        if _only_a_folder(path) and not Path(root, path).is_dir()
    ]
    if problems:
        raise InputError("\n".join(problems))


def require_free_names(key: str, names: Collection[str], endings: Iterable[str], reserved: Iterable[str] = ()) -> None:
    """Refuse names under a key of the config whose files would be those that are written about another, or about all.

    Args:
        key: where the names stand, for the message.
        names: the names.
        endings: what a name has between itself and the ending of a file that is written about it.
        reserved: names of files that are written about all.

    Raises:
        InputError: with the name, and another one to write.
    """
    for name in names:
        base, _, last = name.rpartition(".")
        is_about_one = base in names and f".{last}" in endings
        if is_about_one or name in reserved:
            about, other = (f"`{key}.{base}`", f"{base}-{last}") if is_about_one else (f"all of `{key}`", f"{name}-1")
            raise InputError(
                f"`{key}.{name}` has the name of a file that is written about {about}. Rename it, for example to"
                f" `{other}`."
            )


def files_of_model(path: str | Path) -> dict[str, list[int]]:
    """Return what can be seen of a model's files without reading them, to notice that some were replaced.

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


def _stages(settings: Mapping[str, Any]) -> Any:
    return settings.get("stages", (_EMBEDDINGS, _LIKELIHOODS))


def _layer_name(layer: int) -> str:
    return str(layer) if layer >= 0 else "-last" if layer == -1 else f"-last{layer + 1}"


def _only_a_folder(path: str) -> bool:
    """Return whether no model on the hub can have this name."""
    return path in ("", "~") or path.startswith(("/", ".", "~/")) or path.endswith("/") or path.count("/") > 1


# --------------------
# How much memory a job that runs a model asks of a cluster, before anything is loaded.


_LIBRARIES = 1500
_PACKAGED = 3000
_UNKNOWN = 16000
_ENDINGS = (".safetensors", ".bin")


def megabytes_of(settings: Mapping[str, Any]) -> int:
    """Return the megabytes (10^6 bytes) of the node's memory for one job of a model.

    Weights are never there twice. But files in half precision take twice their bytes where a model runs in float32.
    Over several cards, weights go straight to these, one matrix after the other, and each card may have a process.

    Args:
        settings: of the model, from `models` of the config.

    Returns:
        What the libraries need, and twice the bytes of the weights for a folder, or with several cards the libraries
        once more for each and the largest of its files; the libraries alone for a model that the workflow trains, 3000
        for one of a package; 16000 for a model of the hub, whose size is not known while planning.
    """
    if "path" not in settings:
        return _LIBRARIES if "train" in settings else _PACKAGED
    files = files_of_model(settings["path"])
    # the same weights may lie there in both formats
    sizes = [[size for name, (size, _) in files.items() if name.endswith(ending)] for ending in _ENDINGS]
    weights = max(sizes, key=sum)
    if not weights:
        return _UNKNOWN
    cards = int(settings.get("cards", 1))
    return _LIBRARIES * max(cards, 1) + (max(weights) if cards > 1 else 2 * sum(weights)) // 10**6


# --------------------
# Which static vectors a study has, where each comes from, and what its training is given.


# Files beside `<name>.parquet`: the whole vocabulary of a training, the table of words of an association.
_TAKEN_BY_VECTORS = (".vectors", ".words", ".train")

EPOCHS: Mapping[str, int] = {"word2vec": 5, "glove": 25}
"""Passes of a training that does not say how many: gensim's number; half of the least that GloVe's authors took."""


@dataclass(frozen=True)
class VectorsPlan:
    """Static vectors by where they come from.

    Attributes:
        trained: those trained on the corpus, sorted.
        files: those read from a file that is there, with its path.
        kept: those of which, with cached vectors, only earlier results are there: their file is not on this machine.
    """

    trained: list[str] = field(default_factory=list)
    files: dict[str, str] = field(default_factory=dict)
    kept: list[str] = field(default_factory=list)

    @classmethod
    def from_config(cls, static: Mapping[str, Any], *, cached: bool = False) -> Self:
        """Plan the vectors of a study.

        Args:
            static: of the config.
            cached: whether earlier results may replace a file that is absent, if they were made from a file of that
                path.

        Raises:
            InputError: a file that is absent, or a name that would be that of another entry's file.
        """
        vectors = static["vectors"]
        require_free_names("static.vectors", vectors, _TAKEN_BY_VECTORS)
        trained, files, kept = [], {}, []
        for name, settings in sorted(vectors.items()):
            table = Path(f"results/static/{name}.parquet")
            if "train" in settings:
                trained.append(name)
            elif Path(settings["path"]).is_file():
                files[name] = str(settings["path"])
            elif cached and table.is_file() and settings["path"] in json.loads(made_from(table).get("inputs", "{}")):
                kept.append(name)
            else:
                raise InputError(
                    f"`static.vectors.{name}.path` is {settings['path']!r}, but there is no such file. Write the path"
                    " of a file of vectors (word2vec, GloVe, fastText), or put the file there."
                )
        return cls(trained, files, kept)


def training_options(train: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of a training (`static.vectors.<name>.train`), sorted, with the passes that suit its method.

    Args:
        train: complete with the schema's defaults; `epochs` may be None.
    """
    epochs = EPOCHS[train["method"]] if train["epochs"] is None else train["epochs"]
    options = {**train, "epochs": epochs}
    if train["method"] == "glove":
        options.pop("workers", None)  # GloVe trains in one thread
    return dict(sorted(options.items()))


def training_resources(input_megabytes: float) -> dict[str, int]:
    """Return the resources of a training: `mem_mb`, and `runtime` in minutes.

    Args:
        input_megabytes: size of the corpus, not compressed. A megabyte of Bangla has about 60,000 words, which take 2
            to 6 s in either method with the default options. Memory holds the vocabulary, whose size grows with the
            power 0.58 of the text; the job asks for twice that estimate.
    """
    return {"mem_mb": round(1000 + 65 * input_megabytes**0.6), "runtime": 60 + round(input_megabytes / 10)}
