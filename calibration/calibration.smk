"""Tiny models, trained where a study asks for them (`models.<name>.train`): for tests and calibration."""


rule train_model:
    """A language model of the kind asked for with its tokenizer, trained from nothing in about a minute."""
    input:
        corpus=ancient(local_paths(STUDY.texts.whole_files())),
    output:
        multiext(
            "<results>/models/{family}/",
            "config.json",
            "model.safetensors",
            "tokenizer.json",
            "tokenizer_config.json",
            "training.json",
        ),
    log:
        "<logs>/models/{family}.log",
    benchmark:
        "<benchmarks>/models/{family}.tsv"
    wildcard_constraints:
        family=name_in(TRAINED),
    params:
        # raise it when the code trains other weights
        version={"TRAINING_VERSION": 1},
        training=lambda wildcards: SETTINGS.training(wildcards.family),
    script:
        "scripts/train_model.py"
