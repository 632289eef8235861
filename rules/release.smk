"""The sampled contexts as a data set for others, with sources and licences; runs when asked for (`snakemake release`)."""

from prasanga.samples.release import texts_of


rule export_release:
    """The CSV in the layout of the authors, where its sentences come from and under which terms, and a datasheet."""
    input:
        sentences=expand("results/sentences/{shard}.parquet", shard=sorted(SHARDS)),
        supplement=expand("results/sentences/supplement/{shard}.parquet", shard=sorted(SUPPLEMENT)),
        segments=expand(
            "results/samples/{length}/{bucket}.parquet",
            length=LENGTH_FILES,
            bucket=BUCKETS,
        ),
    output:
        sentences="results/release/sentences.csv",
        sources="results/release/SOURCES.md",
        datasheet="results/release/README.md",
    log:
        "logs/release/export.log",
    benchmark:
        "benchmarks/release/export.tsv"
    params:
        release={
            "study": config["study"],
            "title": config["title"],
            "texts": [list(text) for text in texts_of(config["corpus"])],
            "of_table": [
                *(SHARDS[name].text for name in sorted(SHARDS)),
                *(len(config["corpus"]["texts"]) + SUPPLEMENT[name].text for name in sorted(SUPPLEMENT)),
            ],
            # what of the config decides which sentences there are, and how they are written
            "settings": {
                **{key: config[key] for key in ("language", "seed", "replacements", "categories", "samples")},
                "normalization": config["normalization"][config["language"]],
                "sentences": {key: config["sentences"][key] for key in ("match", "before", "after")},
                "corpus": [text["files"] for key in ("texts", "supplement") for text in config["corpus"][key]],
                "forms": FORMS,
            },
        },
    script:
        "../workflow/scripts/export_release.py"


rule release:
    """The data set to pass on, in results/release."""
    input:
        rules.export_release.output,
