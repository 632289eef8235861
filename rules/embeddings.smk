"""Segments to vectors of their target words.

The only rules that ask for a GPU. Their parameters hold what changes vectors and nothing else, so that a batch size or a
device never makes them anew; vectors made once are kept in results/store and used again (prasanga.embeddings.store).
"""

if COMPUTED:

    rule embed_segments:
        """The vectors of one bucket of segments by a model or a twin; only those that the store lacks are computed."""
        input:
            segments=drawn_segments,
            model=checked_model,
            first=first_layer,
        output:
            vectors="results/embeddings/{model}/{length}/{bucket}.parquet",
            left_out="results/embeddings/{model}/{length}/{bucket}.left_out.tsv",
        log:
            "logs/embeddings/{model}/{length}/{bucket}.log",
        benchmark:
            "benchmarks/embeddings/{model}/{length}/{bucket}.tsv"
        threads: threads_of
        resources:
            gpu=cards_of,
            cards=cards_of,
            on_card=on_card,
            mem_mb=memory_of,
        params:
            embedding=lambda wildcards: embedding_settings(wildcards.model),
        script:
            "../workflow/scripts/embed_segments.py"

    rule compare_precision:
        """How far the vectors are from those in full precision, on a few segments of the shortest length."""
        input:
            segments=drawn_short_segments,
            model=checked_model,
        output:
            "results/embeddings/{model}/precision.json",
        log:
            "logs/embeddings/{model}/precision.log",
        benchmark:
            "benchmarks/embeddings/{model}/precision.tsv"
        threads: threads_of
        resources:
            gpu=cards_of,
            cards=cards_of,
            on_card=on_card,
            mem_mb=memory_of,
        params:
            embedding=lambda wildcards: embedding_settings(wildcards.model),
        script:
            "../workflow/scripts/compare_precision.py"

    rule list_embeddings:
        """The shards of one model and length with their digests: equal shards rerun no statistics."""
        input:
            vectors=expand(
                "results/embeddings/{{model}}/{{length}}/{bucket}.parquet",
                bucket=BUCKETS,
            ),
            # not read, but a table that was lost is made again
            left_out=expand(
                "results/embeddings/{{model}}/{{length}}/{bucket}.left_out.tsv",
                bucket=BUCKETS,
            ),
        output:
            "results/embeddings/{model}/{length}.json",
        log:
            "logs/embeddings/{model}/{length}.log",
        benchmark:
            "benchmarks/embeddings/{model}/{length}.tsv"
        script:
            "../workflow/scripts/list_embeddings.py"

else:
    from prasanga.embeddings.shards import require_shards

    readable(require_shards, cached_lists(), dispensable_lists())


rule list_store:
    """A table of all that was ever embedded here: when, on what, with which versions. Only when asked for."""
    output:
        "results/store/history.tsv",
    log:
        "logs/store/list.log",
    benchmark:
        "benchmarks/store/list.tsv"
    params:
        files=lambda wildcards: stored_files(),
    script:
        "../workflow/scripts/list_store.py"


rule compact_store:
    """Small files of the stores put together, such as killed jobs leave behind. Only when asked for."""
    output:
        "results/store/compacted.tsv",
    log:
        "logs/store/compact.log",
    benchmark:
        "benchmarks/store/compact.tsv"
    params:
        files=lambda wildcards: stored_files(),
    script:
        "../workflow/scripts/compact_store.py"


rule embeddings:
    """The vectors of all models, and of their twins with random weights, at all lengths."""
    input:
        embedding_lists(),
        expand(
            "results/embeddings/{model}/{length}.json",
            model=TWINS,
            length=LENGTH_FILES,
        ),
        model_reports(),
