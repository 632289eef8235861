"""Sentences to segments of a length, per stimulus.

A checkpoint, because what is embedded depends on what is drawn: a bucket that comes out as it was is not embedded again.
Whoever waits for a checkpoint waits for its first output alone, so that one is named after all others: for another
length or another number of buckets it is missing, and the samples are drawn anew. Otherwise Snakemake would go on without
the new ones, and hand out the first output in their place.
"""

if SUPPLEMENT:

    rule find_short_stimuli:
        """The stimuli with too few contexts at some length; the supplement is searched for these alone."""
        input:
            expand("results/sentences/{shard}.parquet", shard=sorted(SHARDS)),
        output:
            "results/samples/short.json",
        log:
            "logs/samples/short.log",
        benchmark:
            "benchmarks/samples/short.tsv"
        params:
            sampling={
                **{key: config["samples"][key] for key in ("lengths", "pool", "minimum", "window", "longest")},
                "stimuli": stimuli_of(CHOSEN),
            },
        script:
            "../workflow/scripts/find_short_stimuli.py"


checkpoint draw_samples:
    """The contexts of every stimulus, cut to every length; buckets by stimulus, so that a new category touches few."""
    input:
        sentences=expand("results/sentences/{shard}.parquet", shard=sorted(SHARDS)),
        supplement=expand(
            "results/sentences/supplement/{shard}.parquet",
            shard=sorted(SUPPLEMENT),
        ),
    output:
        drawn=DRAWN,
        segments=expand(
            "results/samples/{length}/{bucket}.parquet",
            length=LENGTH_FILES,
            bucket=BUCKETS,
        ),
        coverage="results/samples/coverage.parquet",
        forms="results/samples/forms.parquet",
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
