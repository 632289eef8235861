"""Segments to vectors of their target words.

The only rule that asks for a GPU. Its parameters hold what changes vectors and nothing else, so that a batch size or a
device never makes them anew; vectors made once are kept in results/store and used again (prasanga.embeddings.store).
"""

if COMPUTED:

    rule embed_segments:
        """The vectors of one bucket of segments by one model; only those that are not in the store are computed."""
        input:
            segments=drawn_segments,
            model=model_files,
        output:
            "results/embeddings/{model}/{length}/{bucket}.parquet",
        log:
            "logs/embeddings/{model}/{length}/{bucket}.log",
        benchmark:
            "benchmarks/embeddings/{model}/{length}/{bucket}.tsv"
        threads: 2
        resources:
            gpu=1,
        params:
            embedding=lambda wildcards: embedding_settings(wildcards.model),
        script:
            "../workflow/scripts/embed_segments.py"

    rule list_embeddings:
        """The shards of one model and length with their digests: equal shards rerun no statistics."""
        input:
            expand(
                "results/embeddings/{{model}}/{{length}}/{bucket}.parquet",
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
    from prasanga.embeddings.vectors import require_shards

    readable(require_shards, cached_lists())


rule embeddings:
    """The vectors of all models at all lengths."""
    input:
        expand(
            "results/embeddings/{model}/{length}.json",
            model=MODELS,
            length=LENGTH_FILES,
        ),
