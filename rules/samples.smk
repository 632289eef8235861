"""Sentences to segments of an exact length, per stimulus.

A checkpoint, because what is embedded depends on what is drawn: a bucket that comes out as it was is not embedded again.
"""


checkpoint draw_samples:
    """The contexts of every stimulus, cut to every length; buckets by stimulus, so that a new category touches few."""
    input:
        sentences=expand("results/sentences/{shard}.parquet", shard=sorted(SHARDS)),
        categories="results/lexicon/categories.json",
    output:
        segments=expand(
            "results/samples/{length}/{bucket}.parquet",
            length=LENGTH_FILES,
            bucket=BUCKETS,
        ),
        coverage="results/samples/coverage.parquet",
    log:
        "logs/samples/draw.log",
    benchmark:
        "benchmarks/samples/draw.tsv"
    params:
        sampling={
            **config["samples"],
            "categories": config["categories"],
            "buckets": config["embeddings"]["buckets"],
            "seed": config["seed"],
        },
    script:
        "../workflow/scripts/draw_samples.py"
