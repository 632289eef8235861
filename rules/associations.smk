"""Vectors to CEAT effect sizes; one job a model and length does all categories and sample modes."""


rule measure_ceat:
    """CEAT of every category in one model at one length."""
    input:
        embeddings="results/embeddings/{model}/{length}.json",
        # fixed draws index the contexts that all models have
        all_embeddings=all_lists,
    output:
        "results/associations/ceat/{model}/{length}.parquet",
    log:
        "logs/associations/ceat/{model}/{length}.log",
    benchmark:
        "benchmarks/associations/ceat/{model}/{length}.tsv"
    params:
        ceat=lambda wildcards: {
            **config["associations"],
            "categories": CHOSEN,
            "pool": config["samples"]["pool"],
            "segment_length": LABELS[wildcards.length],
            "seed": config["seed"],
        },
    script:
        "../workflow/scripts/measure_ceat.py"


rule gather_ceat:
    """All estimates of the study in one table."""
    input:
        expand(
            "results/associations/ceat/{model}/{length}.parquet",
            model=MODELS,
            length=LENGTH_FILES,
        ),
    output:
        parquet="results/associations/ceat.parquet",
        csv="results/associations/ceat.csv",
    log:
        "logs/associations/gather.log",
    benchmark:
        "benchmarks/associations/gather.tsv"
    script:
        "../workflow/scripts/gather_ceat.py"


rule associations:
    """The table of all estimates."""
    input:
        "results/associations/ceat.parquet",
