"""Tiny models for studies that ask for them, trained on the study's own corpus."""


rule train_model:
    """A masked language model with its tokenizer, trained from nothing in about a minute."""
    input:
        corpus=[ancient(shard.path) for shard in whole_files()],
    output:
        multiext(
            "results/models/{model}/",
            "config.json",
            "model.safetensors",
            "tokenizer.json",
            "tokenizer_config.json",
            "training.json",
        ),
    log:
        "logs/models/{model}.log",
    benchmark:
        "benchmarks/models/{model}.tsv"
    wildcard_constraints:
        model="|".join(TRAINED) or "(?!)",
    params:
        training=lambda wildcards: {
            **config["models"][wildcards.model]["train"],
            **{key: extraction_settings()[key] for key in ("normalization", "replacements")},
            "errors": config["corpus"]["errors"],
            "shards": [shard_settings(shard)["shard"] for shard in whole_files()],
            "digests": [CORPUS[shard.path] for shard in whole_files()],
        },
    script:
        "../workflow/scripts/train_model.py"
