"""Static vectors, trained on the corpus or read from a file, and WEAT on them.

A training depends on the corpus and on its options alone and keeps its whole vocabulary; another word list only looks
other words up in it.
"""

from prasanga.static.planning import plan_vectors, training_options, training_resources

STATIC = config["static"]
VECTORS = readable(partial(plan_vectors, cached=not COMPUTED), STATIC["vectors"])
WEAT_CHOSEN = readable(
    partial(chosen_categories, key="static.categories"),
    CATEGORIES,
    config["categories"] if STATIC["categories"] is None else STATIC["categories"],
)
if STATIC["vectors"]:
    readable(partial(require_words, key="static.categories", files=SET_FILES), CATEGORIES, WEAT_CHOSEN)
# Files of vectors, too, are known by their content, which is read once.
VECTOR_DIGESTS = readable(update_manifest, f"results/{MANIFEST}", VECTORS.files.values()) if VECTORS.files else {}

# What changes trained vectors: the options, and the text as words.
TRAININGS = {
    name: {
        **training_options(STATIC["vectors"][name]["train"]),
        **{key: extraction_settings()[key] for key in ("language", "normalization", "replacements")},
        "errors": config["corpus"]["errors"],
        "shards": [shard_settings(shard)["shard"] for shard in whole_files()],
        "digests": [CORPUS[shard.path] for shard in whole_files()],
        "manifest": f"results/{MANIFEST}",
    }
    for name in VECTORS.trained
}
# What decides which vectors the words get: the words with their spellings, and the file.
READINGS = {
    name: {
        **lexicon_settings(),
        "words": [LEXICON.forms, LEXICON.words],
        "pooling": STATIC["forms"],
        "format": STATIC["vectors"][name].get("format", "auto"),
        "digest": VECTOR_DIGESTS.get(VECTORS.files.get(name)),
        "manifest": f"results/{MANIFEST}",
    }
    for name in (*VECTORS.trained, *VECTORS.files)
    if LEXICON is not None
}


if COMPUTED:

    rule train_static:
        """Static vectors of every word of the corpus that is frequent enough."""
        input:
            corpus=[ancient(shard.path) for shard in whole_files()],
        output:
            "results/static/{vectors}.vectors.parquet",
        log:
            "logs/static/{vectors}.train.log",
        benchmark:
            "benchmarks/static/{vectors}.train.tsv"
        wildcard_constraints:
            vectors="|".join(map(re.escape, VECTORS.trained)) or "(?!)",
        # on a cluster, unless the profile says otherwise; nothing holds a job on this machine to them
        resources:
            mem_mb=lambda wildcards, input, attempt: attempt * training_resources(input.size_mb)["mem_mb"],
            runtime=lambda wildcards, input, attempt: attempt * training_resources(input.size_mb)["runtime"],
        params:
            training=lambda wildcards: TRAININGS[wildcards.vectors],
        script:
            "../workflow/scripts/train_static.py"


if LEXICON is not None:

    rule read_trained:
        """The vectors of the study's words out of a training."""
        input:
            ancient(lexicon_files),
            trained="results/static/{vectors}.vectors.parquet",
        output:
            "results/static/{vectors}.parquet",
        log:
            "logs/static/{vectors}.log",
        benchmark:
            "benchmarks/static/{vectors}.tsv"
        wildcard_constraints:
            vectors="|".join(map(re.escape, VECTORS.trained)) or "(?!)",
        params:
            reading=lambda wildcards: READINGS[wildcards.vectors],
        script:
            "../workflow/scripts/read_static.py"

    use rule read_trained as read_vectors with:
        # The same out of a file in one of the usual formats.
        input:
            ancient(lexicon_files),
            file=ancient(lambda wildcards: VECTORS.files[wildcards.vectors]),
        wildcard_constraints:
            vectors="|".join(map(re.escape, VECTORS.files)) or "(?!)",


rule measure_weat:
    """WEAT of every category by one set of vectors."""
    input:
        "results/static/{vectors}.parquet",
        categories=ancient("results/lexicon/categories.json"),
    output:
        estimates="results/associations/weat/{vectors}.parquet",
        words="results/associations/weat/{vectors}.words.parquet",
    log:
        "logs/associations/weat/{vectors}.log",
    benchmark:
        "benchmarks/associations/weat/{vectors}.tsv"
    wildcard_constraints:
        vectors="|".join(map(re.escape, STATIC["vectors"])) or "(?!)",
    params:
        *digests_of(WEAT_CHOSEN),
        weat=lambda wildcards: {
            "categories": list(WEAT_CHOSEN),
            "test": test_settings(),
            "forms": STATIC["forms"],
            "source": STATIC["vectors"][wildcards.vectors].get("path", "the study's corpus"),
            "seed": config["seed"],
        },
    script:
        "../workflow/scripts/measure_weat.py"


rule gather_weat:
    """WEAT of all vectors in one table, corrected for their number; and all words. Vectors have no twins."""
    input:
        estimates=expand("results/associations/weat/{vectors}.parquet", vectors=sorted(STATIC["vectors"])),
        twins=[],
        words=expand("results/associations/weat/{vectors}.words.parquet", vectors=sorted(STATIC["vectors"])),
        others=other_tests("weat"),
    output:
        parquet="results/associations/weat.parquet",
        csv="results/associations/weat.csv",
        words="results/associations/weat_words.parquet",
    log:
        "logs/associations/gather.weat.log",
    benchmark:
        "benchmarks/associations/gather.weat.tsv"
    params:
        twin_of=[],
    script:
        "../workflow/scripts/gather_estimates.py"
