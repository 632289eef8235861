"""Vectors to CEAT effect sizes; one job a model and length does all categories and sample modes."""


rule measure_ceat:
    """CEAT of every category in one model, or in its twin with random weights, at one length."""
    input:
        embeddings="results/embeddings/{model}/{length}.json",
        # fixed draws index the contexts that all models have
        all_embeddings=all_lists,
        # their digests count, and not the file with all categories and glosses
        categories=ancient("results/lexicon/categories.json"),
    output:
        estimates="results/associations/ceat/{model}/{length}.parquet",
        words="results/associations/ceat/{model}/{length}.words.parquet",
        resamples="results/associations/ceat/{model}/{length}.resamples.parquet",
        convergence="results/associations/ceat/{model}/{length}.convergence.parquet",
    log:
        "logs/associations/ceat/{model}/{length}.log",
    benchmark:
        "benchmarks/associations/ceat/{model}/{length}.tsv"
    params:
        *digests_of(CHOSEN),
        ceat=lambda wildcards: {
            **ceat_settings(wildcards.model),
            "categories": config["categories"],
            "segment_length": LABELS[wildcards.length],
        },
    script:
        "../workflow/scripts/measure_ceat.py"


rule gather_ceat:
    """All estimates of the study in one table, with their twins and corrected for their number; and all words."""
    input:
        estimates=ceat_tables("parquet"),
        twins=ceat_tables("parquet", TWINS),
        words=ceat_tables("words.parquet"),
        others=other_tests("ceat"),
    output:
        parquet="results/associations/ceat.parquet",
        csv="results/associations/ceat.csv",
        words="results/associations/ceat_words.parquet",
    log:
        "logs/associations/gather.ceat.log",
    benchmark:
        "benchmarks/associations/gather.ceat.tsv"
    params:
        twin_of=[TWIN_OF[twin] for twin in TWINS for _ in LENGTH_FILES],
    script:
        "../workflow/scripts/gather_estimates.py"


rule compare_ceat:
    """How effects differ between lengths and between models, and from which length and number of draws on they stay."""
    input:
        estimates="results/associations/ceat.parquet",
        resamples=ceat_tables("resamples.parquet"),
        convergence=ceat_tables("convergence.parquet"),
    output:
        differences="results/associations/ceat_differences.parquet",
        settling="results/associations/ceat_settling.parquet",
        convergence="results/associations/ceat_convergence.parquet",
    log:
        "logs/associations/compare.log",
    benchmark:
        "benchmarks/associations/compare.tsv"
    params:
        comparison={"band": config["associations"]["band"], "models": MODELS},
    script:
        "../workflow/scripts/compare_ceat.py"


rule associations:
    """The tables of all estimates."""
    input:
        "results/associations/ceat.parquet",
        "results/associations/ceat_differences.parquet",
        estimates_beside_ceat(),
