"""Vectors to effect sizes: CEAT of contexts, SEAT of filled templates, WEAT of static vectors.

One job a model (and length, or set of vectors) does all categories; what jobs write is gathered in one table a method. Of
an unfinished study, tables are gathered of what is done, apart from its results.
"""

if not FROM_RESULTS:

    rule measure_ceat:
        """CEAT of every category in one model, or in its twins with random weights, at one length."""
        input:
            embeddings="results/embeddings/{model}/{length}.json",
            # fixed draws index the contexts that all models have
            all_embeddings=lambda wildcards: FILES.lists(wildcards.length),
            # their digests count, and not the file with all categories and glosses
            categories=ancient("results/lexicon/categories.json"),
        output:
            estimates="results/associations/ceat/{model}/{length}.parquet",
            words="results/associations/ceat/{model}/{length}.words.parquet",
            resamples="results/associations/ceat/{model}/{length}.resamples.parquet",
            convergence="results/associations/ceat/{model}/{length}.convergence.parquet",
        log:
            "logs/associations/ceat/{model}/{length}.log",
        benchmark:
            "benchmarks/associations/ceat/{model}/{length}.tsv"
        params:
            *digests_of(STUDY.words.chosen),
            ceat=lambda wildcards: SETTINGS.ceat(wildcards.model, wildcards.length),
        script:
            "../workflow/scripts/measure_ceat.py"

    rule compare_ceat:
        """How effects differ between lengths and between models, from which length and number of draws on they stay."""
        input:
            estimates="results/associations/ceat.parquet",
            resamples=FILES.ceat("resamples.parquet"),
            convergence=FILES.ceat("convergence.parquet"),
        output:
            differences="results/associations/ceat_differences.parquet",
            settling="results/associations/ceat_settling.parquet",
            convergence="results/associations/ceat_convergence.parquet",
        log:
            "logs/associations/compare.log",
        benchmark:
            "benchmarks/associations/compare.tsv"
        params:
            comparison=SETTINGS.comparison_of_ceat(),
        script:
            "../workflow/scripts/compare_ceat.py"

    rule measure_seat:
        """SEAT of every category in one model, or in its twins with random weights."""
        input:
            embeddings="results/embeddings/{model}/templates.json",
            sentences="results/samples/templates.parquet",
            categories=ancient("results/lexicon/categories.json"),
        output:
            estimates="results/associations/seat/{model}.parquet",
            words="results/associations/seat/{model}.words.parquet",
            templates="results/associations/seat/{model}.templates.parquet",
        log:
            "logs/associations/seat/{model}.log",
        benchmark:
            "benchmarks/associations/seat/{model}.tsv"
        wildcard_constraints:
            # a model's name may contain full stops, but `<model>.templates` is the second table and no model
            model=name_in(STUDY.models.embedded),
        params:
            *digests_of(STUDY.words.seat_chosen),
            seat=lambda wildcards: SETTINGS.seat(wildcards.model),
        script:
            "../workflow/scripts/measure_seat.py"

    rule measure_weat:
        """WEAT of every category by one set of static vectors."""
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
        params:
            *digests_of(STUDY.words.weat_chosen),
            weat=lambda wildcards: SETTINGS.weat(wildcards.vectors),
        script:
            "../workflow/scripts/measure_weat.py"

    rule measure_multiverse:
        """Every estimate under all choices that the vectors allow: denominators, layers, lengths, templates."""
        input:
            vectors=list(SETTINGS.multiverse()["sources"]),
            sentences="results/samples/templates.parquet" if STUDY.asks_for("seat") else [],
            categories=ancient("results/lexicon/categories.json"),
        output:
            parquet="results/associations/multiverse.parquet",
            csv="results/associations/multiverse.csv",
        log:
            "logs/associations/multiverse.log",
        benchmark:
            "benchmarks/associations/multiverse.tsv"
        params:
            *digests_of({**STUDY.words.seat_chosen, **STUDY.words.weat_chosen, **STUDY.words.chosen}),
            multiverse=SETTINGS.multiverse(),
        script:
            "../workflow/scripts/measure_multiverse.py"

    rule associations:
        """The tables of all estimates of associations."""
        input:
            FILES.associations(),


rule gather_estimates:
    """The effects of all methods, with those of random copies; p corrected once, for all tests of the study."""
    input:
        FILES.measured_effects(),
    output:
        tables=expand("{table}.parquet", table=FILES.effects().values()),
        csv=expand("{table}.csv", table=FILES.effects().values()),
        words=expand("{table}_words.parquet", table=FILES.effects().values()),
    log:
        "logs/associations/gather.log",
    benchmark:
        "benchmarks/associations/gather.tsv"
    params:
        language=config["language"],
        methods={
            method: {**FILES.gathered(method), "twin_of": FILES.models_of_twins(method)}
            | {"tokenizers": FILES.tokenizers(method), "table": FILES.effects().get(method)}
            for method in names_of(FAMILY)
            if FILES.gathered(method)["estimates"]
        },
    script:
        "../workflow/scripts/gather_estimates.py"


rule gather_templates:
    """The effects by template of all models in one table, of a method whose words stand in templates."""
    input:
        lambda wildcards: FILES.by_template(wildcards.method),
    output:
        parquet="results/{stage}/{method}_templates.parquet",
        csv="results/{stage}/{method}_templates.csv",
    log:
        "logs/{stage}/gather.{method}_templates.log",
    benchmark:
        "benchmarks/{stage}/gather.{method}_templates.tsv"
    wildcard_constraints:
        stage="unfinished" if FROM_RESULTS else "associations|likelihoods",
    script:
        "../workflow/scripts/gather_templates.py"
