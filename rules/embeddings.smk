"""Segments, and SEAT's sentences, to vectors of their target words.

With rules/likelihoods.smk the only ones that ask for a GPU. Their parameters hold what changes vectors and nothing else,
so that a batch size or a device never makes them anew; vectors made once are kept in results/store and used again.

Of a small study one job makes the vectors of all lengths: to start it and to load a model takes longer than the vectors.
"""

EMBEDDER = machine_for(STUDY.models.embedded)
OF_LENGTHS = "{model}/{bucket}" if STUDY.is_small else "{model}/{length}/{bucket}"  # of logs and benchmarks

if STUDY.words.lexicon:

    rule fill_templates:
        """The sentences of all words of SEAT's categories, each word in every template of its class."""
        input:
            ancient(FILES.word_lists()),
            templates=ancient(STUDY.template_files),
        output:
            "results/samples/templates.parquet",
        log:
            "logs/samples/templates.log",
        benchmark:
            "benchmarks/samples/templates.tsv"
        priority: 100  # a word that lacks a form is told before any model runs
        params:
            version={"SENTENCES_VERSION": SENTENCES_VERSION},
            filling=SETTINGS.templates(),
        script:
            "../workflow/scripts/fill_templates.py"


if STUDY.computed:

    rule embed_segments:
        """The vectors of a bucket of segments, of one length or of all, by a model or its twins; computed if no store has them."""
        input:
            segments=lambda wildcards: list(map(once_drawn, FILES.segments_read(**wildcards))),
            model=check_of(STUDY.models.embedded),
            first=lambda wildcards: FILES.first_layer(**wildcards),
        output:
            vectors=FILES.made_at_once("parquet"),
            left_out=FILES.made_at_once("left_out.tsv"),
        log:
            f"logs/embeddings/{OF_LENGTHS}.log",
        benchmark:
            f"benchmarks/embeddings/{OF_LENGTHS}.tsv"
        threads: lambda wildcards: cores_beside(STUDY.models.embedded[wildcards.model]["cards"])
        resources:
            **EMBEDDER,
        params:
            version={"VECTORS_VERSION": VECTORS_VERSION},
            embedding=lambda wildcards: SETTINGS.embedding(wildcards.model),
        script:
            "../workflow/scripts/embed_segments.py"

    rule embed_templates:
        """The vectors of all sentences of SEAT by one model; only those that the store lacks are computed."""
        input:
            sentences="results/samples/templates.parquet",
            model=check_of(STUDY.models.embedded),
        output:
            vectors="results/embeddings/{model}/templates/00.parquet",
            left_out="results/embeddings/{model}/templates/00.left_out.tsv",
        log:
            "logs/embeddings/{model}/templates/00.log",
        benchmark:
            "benchmarks/embeddings/{model}/templates/00.tsv"
        threads: lambda wildcards: cores_beside(STUDY.models.embedded[wildcards.model]["cards"])
        resources:
            **EMBEDDER,
        params:
            version={"VECTORS_VERSION": VECTORS_VERSION},
            embedding=lambda wildcards: SETTINGS.sentence_embedding(wildcards.model),
        script:
            "../workflow/scripts/embed_templates.py"

    rule compare_precision:
        """How far the vectors are from those in full precision, on a few segments of the shortest length."""
        input:
            segments=lambda wildcards: once_drawn(f"results/samples/{STUDY.shortest}/{STUDY.buckets[0]}.parquet"),
            model=check_of(STUDY.models.embedded),
        output:
            "results/embeddings/{model}/precision.json",
        log:
            "logs/embeddings/{model}/precision.log",
        benchmark:
            "benchmarks/embeddings/{model}/precision.tsv"
        threads: lambda wildcards: cores_beside(STUDY.models.embedded[wildcards.model]["cards"])
        resources:
            **EMBEDDER,
        params:
            version={"VECTORS_VERSION": VECTORS_VERSION},
            embedding=lambda wildcards: SETTINGS.embedding(wildcards.model),
        script:
            "../workflow/scripts/compare_precision.py"

    rule list_embeddings:
        """The shards of one model and length (or of SEAT's sentences) with their digests: equal ones rerun no statistics."""
        input:
            vectors=lambda wildcards: FILES.shards(wildcards.model, wildcards.length),
            # not read, but a table that was lost is made again
            left_out=lambda wildcards: FILES.shards(wildcards.model, wildcards.length, "left_out.tsv"),
        output:
            "results/embeddings/{model}/{length}.json",
        log:
            "logs/embeddings/{model}/{length}.log",
        benchmark:
            "benchmarks/embeddings/{model}/{length}.tsv"
        wildcard_constraints:
            length=r"\d+|over\d+|templates",
        script:
            "../workflow/scripts/list_embeddings.py"


rule embeddings:
    """The vectors of all models, and of their twins with random weights, at all lengths."""
    input:
        FILES.lists(),
        FILES.lists(twins=True),
        FILES.model_reports(),
