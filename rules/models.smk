"""Models: tiny ones are trained where the config asks for them; every one is looked at before it runs."""

from prasanga.models.studied import asked_of_model, kind_at_hand


rule train_model:
    """A language model of the kind asked for with its tokenizer, trained from nothing in about a minute."""
    input:
        corpus=[ancient(shard.path) for shard in whole_files()],
    output:
        multiext(
            "results/models/{family}/",
            "config.json",
            "model.safetensors",
            "tokenizer.json",
            "tokenizer_config.json",
            "training.json",
        ),
    log:
        "logs/models/{family}.log",
    benchmark:
        "benchmarks/models/{family}.tsv"
    wildcard_constraints:
        family="|".join(TRAINED) or "(?!)",
    params:
        training=lambda wildcards: {
            **config["models"][wildcards.family]["train"],
            "kind": kind_at_hand(config["models"][wildcards.family]),
            **{key: extraction_settings()[key] for key in ("normalization", "replacements")},
            "errors": config["corpus"]["errors"],
            "shards": [shard_settings(shard)["shard"] for shard in whole_files()],
            "digests": [CORPUS[shard.path] for shard in whole_files()],
        },
    script:
        "../workflow/scripts/train_model.py"


checkpoint check_model:
    """Which model it is, whether it can be run here, and how its tokenizer treats every form of the study's words.

    A checkpoint, so that a form more in the lexicon, which has every tokenizer looked at anew, embeds nothing again. It
    comes before the corpus is read: a model that is missing is told in the first minute, not in the fifth hour.
    """
    input:
        forms="results/lexicon/forms.parquet",
        model=model_files,
        # says whether the others are as they were written
        training=lambda wildcards: (
            [f"results/models/{wildcards.family}/training.json"] if wildcards.family in TRAINED else []
        ),
    output:
        report="results/models/{family}.json",
        tokenizer="results/models/{family}.tokenizer.json",
        words="results/models/{family}.tokenizer.parquet",
    log:
        "logs/models/{family}.check.log",
    benchmark:
        "benchmarks/models/{family}.check.tsv"
    priority: 100
    params:
        check=lambda wildcards: {
            **model_settings(wildcards.family),
            "dtype": config["models"][wildcards.family]["dtype"],
            "layers": [each["layer"] for each in STUDIED.values() if each["family"] == wildcards.family],
            "audit": config["embeddings"]["audit"],
            "language_codes": config["models"][wildcards.family]["language_codes"],
            **asked_of_model(config["models"][wildcards.family], config["pairs"], config["log_probability"]),
            # older files in place of newer ones are other files as well
            "files": replaceable_files(wildcards.family),
        },
    script:
        "../workflow/scripts/check_model.py"
