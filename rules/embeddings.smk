"""Segments, and SEAT's sentences, to vectors of their target words.

Parameters hold what changes vectors and nothing else, so another batch size or device never makes them again. One job makes
the vectors of a model, and of its random copies, at all lengths, and compares a few with full precision. A study of more
than `embeddings.shard_size` segments has a job per bucket of words, and jobs of their own for the copies.
"""

# The models of a study share the cores of this machine; on a cluster a job without a GPU has one core.
SHARE = CORES if ONE_BY_ONE else CORES // max(1, len(STUDY.embedded.models))
EMBEDDER = machine_for(STUDY.embedded.every, SHARE, on_cpu=HAS_NO_GPU)
SHARDED = len(STUDY.buckets) > 1
SHORTEST = f"{STUDY.results}/samples/{STUDY.shortest}/{STUDY.buckets[0]}.parquet"
BUCKET = "{bucket}" if SHARDED else STUDY.buckets[0]

if STUDY.computed and STUDY.labels:

    rule embed_segments:
        """The vectors of all segments, or of a bucket, by a model and its copies; only those that no store has are computed."""
        input:
            segments=lambda wildcards: list(map(CHECKPOINTS.once_drawn, FILES.segments_read(**wildcards))),
            shortest=[] if SHARDED else lambda wildcards: CHECKPOINTS.once_drawn(SHORTEST),
            model=CHECKPOINTS.wait_for_check(STUDY.embedded.every),
            audit=ancient(CHECKPOINTS.wait_for_audit),
            first=lambda wildcards: FILES.first_layer(**wildcards),
        output:
            vectors=FILES.fill_lengths(f"<results>/embeddings/{{model}}/{{length}}/{BUCKET}.parquet"),
            left_out=FILES.fill_lengths(f"<results>/embeddings/{{model}}/{{length}}/{BUCKET}.left_out.tsv"),
            lists=[] if SHARDED else FILES.fill_lengths("<results>/embeddings/{model}/{length}.json"),
            precision=[] if SHARDED else "<results>/embeddings/{model}/precision.json",
        log:
            f"<logs>/embeddings/{{model}}/{BUCKET}.log",
        wildcard_constraints:
            model=name_in(STUDY.embedded.jobs),
        threads: EMBEDDER.threads
        resources:
            **EMBEDDER.resources,
        params:
            version={"VECTORS_VERSION": VECTORS_VERSION},
            embedding=lambda wildcards: list(map(SETTINGS.embedding, STUDY.embedded.job_of(wildcards.model))),
        script:
            "../workflow/scripts/embed_segments.py"

    if SHARDED:

        rule compare_precision:
            """How far the vectors are from those in full precision, on a few segments of the shortest length."""
            input:
                segments=lambda wildcards: CHECKPOINTS.once_drawn(SHORTEST),
                model=CHECKPOINTS.wait_for_check(STUDY.embedded.every),
            output:
                "<results>/embeddings/{model}/precision.json",
            log:
                "<logs>/embeddings/{model}/precision.log",
            threads: EMBEDDER.threads
            resources:
                **EMBEDDER.resources,
            params:
                version={"VECTORS_VERSION": VECTORS_VERSION},
                embedding=lambda wildcards: SETTINGS.embedding(wildcards.model),
            script:
                "../workflow/scripts/compare_precision.py"

        rule list_embeddings:
            """The shards of a model at each length with their digests: equal ones rerun no statistics."""
            input:
                vectors=FILES.fill("<results>/embeddings/{{model}}/{length}/{bucket}.parquet"),
                # not read, but a table that was lost is made again
                left_out=FILES.fill("<results>/embeddings/{{model}}/{length}/{bucket}.left_out.tsv"),
            output:
                FILES.fill("<results>/embeddings/{{model}}/{length}.json"),
            log:
                "<logs>/embeddings/{model}/lists.log",
            script:
                "../workflow/scripts/list_embeddings.py"


if STUDY.computed and STUDY.asks_for(SEAT):

    rule embed_templates:
        """The vectors of all sentences of SEAT by a model and its copies; only those that the store lacks are computed."""
        input:
            segments=["<results>/samples/templates.parquet"],
            model=CHECKPOINTS.wait_for_check(STUDY.embedded.every),
            audit=ancient(CHECKPOINTS.wait_for_audit),
        output:
            vectors=STUDY.embedded.paths("<results>/embeddings/{model}/templates/00.parquet"),
            left_out=STUDY.embedded.paths("<results>/embeddings/{model}/templates/00.left_out.tsv"),
            lists=STUDY.embedded.paths("<results>/embeddings/{model}/templates.json"),
        log:
            "<logs>/embeddings/{model}/templates.log",
        wildcard_constraints:
            model=name_in(STUDY.embedded.jobs),
        priority: 100
        threads: lambda wildcards: max(1, EMBEDDER.threads(wildcards) // (2 if PART else 1))  # does not wait for a small job
        resources:
            **EMBEDDER.resources,
        params:
            version={"VECTORS_VERSION": VECTORS_VERSION},
            embedding=lambda wildcards: list(map(SETTINGS.sentence_embedding, STUDY.embedded.job_of(wildcards.model))),
        script:
            "../workflow/scripts/embed_segments.py"


rule embeddings:
    """The vectors of all models, and of their twins with random weights, at all lengths."""
    input:
        FILES.fill(LISTS, LISTS.replace("{model}", "{twin}")),
        FILES.texts_shown()["embeddings"] if STUDY.embedded.models else [],
