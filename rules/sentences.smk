"""Corpus files to sentences with located stimuli; one job a file."""


rule extract_sentences:
    """The sentences of one corpus file in which a stimulus stands, normalized, with the sentences around them."""
    input:
        corpus=lambda wildcards: SHARDS[wildcards.shard].path,
        forms="results/lexicon/forms.parquet",
    output:
        sentences="results/sentences/{shard}.parquet",
        counts="results/sentences/{shard}.json",
    log:
        "logs/sentences/{shard}.log",
    benchmark:
        "benchmarks/sentences/{shard}.tsv"
    params:
        extraction=lambda wildcards: {
            **config["sentences"],
            "language": config["language"],
            "normalization": config["normalization"],
            "documents": SHARDS[wildcards.shard].documents,
            "source": SHARDS[wildcards.shard].source,
            "errors": config["corpus"]["errors"],
        },
    script:
        "../workflow/scripts/extract_sentences.py"


rule sentences:
    """All sentences with a stimulus."""
    input:
        expand("results/sentences/{shard}.parquet", shard=sorted(SHARDS)),
