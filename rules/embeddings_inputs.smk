"""What the rules of models and embeddings take in, and what changes what they write."""

from prasanga.models.job_memory import megabytes_of
from prasanga.models.studied import files_of_model


def settings_of(model):
    """The settings of a model as it is measured, or of a twin."""
    return STUDIED.get(model) or TWINS[model]


def first_layer(wildcards):
    """The same shard of the model's first layer: its job embeds the other layers in the same pass."""
    family = settings_of(wildcards.model)["family"]
    alike = STUDIED if wildcards.model in STUDIED else TWINS
    first = next(name for name, settings in alike.items() if settings["family"] == family)
    shard = f"results/embeddings/{first}/{wildcards.length}/{wildcards.bucket}.parquet"
    return [] if first == wildcards.model else [shard]


def checked_model(wildcards):
    """What is known of a model, once it has been looked at."""
    return checkpoints.check_model.get(family=settings_of(wildcards.model)["family"]).output.report


def cards_of(wildcards):
    """The cards that a model is spread over; 0 for one on the processor."""
    return settings_of(wildcards.model)["cards"]


def cards_of_family(wildcards):
    """The same by the name under `models`."""
    return config["models"][wildcards.family]["cards"]


def threads_of(wildcards):
    """Cores of its jobs."""
    return cores_beside(cards_of(wildcards))


def cores_beside(cards):
    """Cores of a job that runs a model on so many cards: without any, several models run at a time, on a core each."""
    return 2 if cards else 1


def on_card(wildcards):
    """1 for a job with cards: of those that share a job of a cluster, so many run at a time."""
    return min(cards_of(wildcards), 1)


def memory_of(wildcards, attempt):
    """MB of memory for a job of this model, more at each attempt."""
    return attempt * megabytes_of(config["models"][settings_of(wildcards.model)["family"]])


def model_files(wildcards):
    """The files of a model that lies on this machine; none for one that comes from the hub."""
    settings = config["models"][wildcards.family]
    if "train" in settings:
        names = (
            "config.json",
            "model.safetensors",
            "tokenizer.json",
            "tokenizer_config.json",
        )
        return [f"results/models/{wildcards.family}/{name}" for name in names]
    folder = Path(settings["path"])
    return sorted(str(path) for path in folder.iterdir() if path.is_file()) if folder.is_dir() else []


def model_settings(family):
    """Which model it is and how it is to be read. How many cards it is spread over changes nothing in its vectors."""
    settings = config["models"][family]
    return {
        "model": settings.get("path", f"results/models/{family}"),
        "revision": settings["revision"],
        "options": {
            key: settings[key] for key in ("kind", "tokenizer", "weights_sha256", "remote_code", "quantization")
        },
    }


def replaceable_files(family):
    """The files of a model that a user may replace by others, as they are now."""
    settings = config["models"][family]
    return files_of_model(settings["path"]) if "path" in settings else {}


def embedding_settings(model):
    """What changes the vectors of a model, and where it comes from."""
    settings = settings_of(model)
    which = model_settings(settings["family"])
    chosen = {key: value for key, value in which["options"].items() if key != "kind"}
    return {
        **which,
        "options": chosen | {key: settings[key] for key in ("random_weights",) if key in settings},
        **{key: settings[key] for key in ("layer", "layers", "dtype", "pieces")},
        **{key: config["embeddings"][key] for key in ("stored_dtype", "unknown")},
    }


def cached_lists():
    """The lists of embeddings of the study, each with what the config says of its vectors."""
    sampling = {key: config["samples"][key] for key in ("pool", "contexts_per_stimulus", "window", "longest")}
    text = {**extraction_settings(), "seed": config["seed"]}
    measured = (*MODELS, *TWINS)
    of_contexts = {
        f"results/embeddings/{model}/{length}.json": {**embedding_settings(model), **sampling, **text}
        for model in measured
        for length in LENGTH_FILES
    }
    # the list of sentences says which vector `auto` came to
    of_sentences = {
        f"results/embeddings/{model}/templates.json": {
            key: value for key, value in sentence_settings(model).items() if (key, value) != ("sentence_vector", "auto")
        }
        for model in (measured if SEAT["categories"] else ())
    }
    return of_contexts | of_sentences


def dispensable_lists():
    """The lists of embeddings that a study can go without, by what to write then."""
    lists = list(cached_lists())
    twins = (
        "of twins with random weights (associations.random_twin); without them: `associations: {random_twin: false}`."
    )
    return {
        twins: [path for path in lists if Path(path).parent.name in TWINS],
        "of sentences for SEAT; without it: `seat: {categories: []}`.": [
            path for path in lists if Path(path).name == "templates.json"
        ],
    }


def all_lists(wildcards):
    """The lists of embeddings of all models at one length."""
    return expand(
        "results/embeddings/{model}/{length}.json",
        model=MODELS,
        length=wildcards.length,
    )


def stored_files():
    """The files of all stores as they are now: what is asked about them is asked anew when they change."""
    return sorted(str(path) for path in Path("results/store").rglob("*.parquet"))


def embedding_lists():
    """The lists of embeddings of all models at all lengths."""
    return expand(
        "results/embeddings/{model}/{length}.json",
        model=MODELS,
        length=LENGTH_FILES,
    )


def model_reports():
    """What is known of the models, of their tokenizers and of the precision of their vectors."""
    of_family = ("{family}.json", "{family}.tokenizer.json", "{family}.tokenizer.parquet")
    paths = [
        *expand([f"results/models/{name}" for name in of_family], family=sorted(config["models"])),
        *expand("results/embeddings/{model}/precision.json", model=MODELS),
    ]
    return [found for path in paths for found in made_by_the_workflow(path)]
