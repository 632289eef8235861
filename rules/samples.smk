"""Sentences to segments of an exact length, per stimulus.

A checkpoint, because what is embedded depends on what is drawn: a bucket that comes out as it was is not embedded again.
"""


checkpoint draw_samples:
    """The contexts of every stimulus, cut to every length; buckets by stimulus, so that a new category touches few."""
    input:
        expand("results/sentences/{shard}.parquet", shard=sorted(SHARDS)),
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
            "seed": config["seed"],
            "stimuli": stimuli_of(CHOSEN),
            "buckets": len(BUCKETS),
        },
    script:
        "../workflow/scripts/draw_samples.py"
