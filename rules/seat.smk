"""SEAT: templates with words in them, the vectors of these sentences, and the associations between them.

Sentences are few, so that one job a model does all of them; their vectors are kept in the stores of the other vectors,
under keys of their own.
"""

from prasanga.lexicon.templates import load_templates, require_classes, texts_of

# A mistake in the templates, and a word that no template takes, are told while planning, as one in the word lists is.
TEMPLATE_TEXTS = {}
if SEAT["categories"] and LEXICON is not None:
    TEMPLATES = readable(partial(load_templates, normalization=NORMALIZATION), SEAT["templates"])
    readable(partial(require_language, key="seat.templates"), TEMPLATES.language, config["language"])
    SEAT_STIMULI = stimuli_of(SEAT_CHOSEN)
    readable(require_classes, LEXICON.classes, SEAT_STIMULI, TEMPLATES)
    TEMPLATE_TEXTS = texts_of(TEMPLATES, (LEXICON.classes[name][0] for name in SEAT_STIMULI))

if LEXICON is not None:

    rule fill_templates:
        """The sentences of all words of the categories, each word in every template of its class."""
        input:
            ancient(lexicon_files),
            templates=ancient(SEAT["templates"]),
        output:
            SENTENCES,
        log:
            "logs/samples/templates.log",
        benchmark:
            "benchmarks/samples/templates.tsv"
        priority: 100  # a word that lacks a form is told before any model runs
        params:
            filling=template_settings(),
        script:
            "../workflow/scripts/fill_templates.py"


if COMPUTED:

    rule embed_templates:
        """The vectors of all sentences by one model; only those that are not in the store are computed."""
        input:
            sentences=SENTENCES,
            model=checked_model,
        output:
            vectors="results/embeddings/{model}/templates/00.parquet",
            left_out="results/embeddings/{model}/templates/00.left_out.tsv",
        log:
            "logs/embeddings/{model}/templates/00.log",
        benchmark:
            "benchmarks/embeddings/{model}/templates/00.tsv"
        threads: threads_of
        resources:
            gpu=cards_of,
            cards=cards_of,
            on_card=on_card,
            mem_mb=memory_of,
        params:
            embedding=lambda wildcards: sentence_settings(wildcards.model),
        script:
            "../workflow/scripts/embed_templates.py"

    rule list_templates:
        """The shard of one model's sentences with its digest: an equal one reruns no statistics."""
        input:
            vectors=["results/embeddings/{model}/templates/00.parquet"],
            # not read, but a table that was lost is made again
            left_out=["results/embeddings/{model}/templates/00.left_out.tsv"],
        output:
            "results/embeddings/{model}/templates.json",
        log:
            "logs/embeddings/{model}/templates.log",
        benchmark:
            "benchmarks/embeddings/{model}/templates.tsv"
        script:
            "../workflow/scripts/list_embeddings.py"


rule measure_seat:
    """SEAT of every category in one model, or in its twin with random weights."""
    input:
        embeddings="results/embeddings/{model}/templates.json",
        sentences=SENTENCES,
        categories=ancient("results/lexicon/categories.json"),
    output:
        estimates="results/associations/seat/{model}.parquet",
        words="results/associations/seat/{model}.words.parquet",
    log:
        "logs/associations/seat/{model}.log",
    benchmark:
        "benchmarks/associations/seat/{model}.tsv"
    wildcard_constraints:
        # a name may hold full stops, and that of the second table is none of a model
        model="|".join(map(re.escape, [*MODELS, *TWINS])),
    params:
        *digests_of(SEAT_CHOSEN),
        seat=lambda wildcards: seat_settings(wildcards.model),
    script:
        "../workflow/scripts/measure_seat.py"


rule gather_seat:
    """SEAT of all models in one table, with their twins and corrected for their number; and all words."""
    input:
        estimates=expand("results/associations/seat/{model}.parquet", model=MODELS),
        twins=expand("results/associations/seat/{model}.parquet", model=TWINS),
        words=expand("results/associations/seat/{model}.words.parquet", model=MODELS),
        others=other_tests("seat"),
    output:
        parquet="results/associations/seat.parquet",
        csv="results/associations/seat.csv",
        words="results/associations/seat_words.parquet",
    log:
        "logs/associations/gather.seat.log",
    benchmark:
        "benchmarks/associations/gather.seat.tsv"
    params:
        twin_of=[TWIN_OF[twin] for twin in TWINS],
    script:
        "../workflow/scripts/gather_estimates.py"
