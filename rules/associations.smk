"""Vectors to effect sizes: CEAT of contexts, SEAT of filled templates, WEAT of static vectors.

One job a model (and length, or set of vectors) does all categories; what jobs write is gathered in one table a method. Of
an unfinished study, tables are gathered of what is done, apart from its results.
"""

if not FROM_RESULTS:

    if STUDY.labels:

        rule measure_ceat:
            """CEAT of every category in a model, and in its random copies, at all lengths."""
            input:
                embeddings=FILES.of_lengths("results/embeddings/{model}/{length}.json"),
                # fixed draws index the contexts that all models have
                all_embeddings=FILES.lists(),
            output:
                estimates=FILES.of_lengths("results/associations/ceat/{model}/{length}.parquet"),
                words=FILES.of_lengths("results/associations/ceat/{model}/{length}.words.parquet"),
                resamples=FILES.of_lengths("results/associations/ceat/{model}/{length}.resamples.parquet"),
                convergence=FILES.of_lengths("results/associations/ceat/{model}/{length}.convergence.parquet"),
            log:
                "logs/associations/ceat/{model}.log",
            wildcard_constraints:
                model=name_in(FILES.embedded.models),
            params:
                categories=STUDY.words.chosen,
                ceat=lambda wildcards: [
                    SETTINGS.ceat(unit, length)
                    for unit in FILES.embedded.job_of(wildcards.model)
                    for length in STUDY.labels
                ],
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
        params:
            comparison=SETTINGS.comparison_of_ceat(),
        script:
            "../workflow/scripts/compare_ceat.py"

    rule measure_seat:
        """SEAT of every category in a model, and in its random copies."""
        input:
            embeddings=FILES.embedded.paths("results/embeddings/{model}/templates.json"),
            sentences="results/samples/templates.parquet",
        output:
            estimates=FILES.embedded.paths("results/associations/seat/{model}.parquet"),
            words=FILES.embedded.paths("results/associations/seat/{model}.words.parquet"),
            templates=FILES.embedded.paths("results/associations/seat/{model}.templates.parquet"),
        log:
            "logs/associations/seat/{model}.log",
        wildcard_constraints:
            model=name_in(FILES.embedded.models),
        params:
            categories=STUDY.words.seat_chosen,
            seat=lambda wildcards: list(map(SETTINGS.seat, FILES.embedded.job_of(wildcards.model))),
        script:
            "../workflow/scripts/measure_seat.py"

    rule measure_weat:
        """WEAT of every category by one set of static vectors."""
        input:
            "results/static/{vectors}.parquet",
        output:
            estimates="results/associations/weat/{vectors}.parquet",
            words="results/associations/weat/{vectors}.words.parquet",
        log:
            "logs/associations/weat/{vectors}.log",
        params:
            categories=STUDY.words.weat_chosen,
            weat=lambda wildcards: SETTINGS.weat(wildcards.vectors),
        script:
            "../workflow/scripts/measure_weat.py"

    rule measure_multiverse:
        """Every estimate under all choices that the vectors allow: denominators, layers, lengths, templates."""
        input:
            vectors=list(SETTINGS.multiverse()["sources"]),
            sentences=["results/samples/templates.parquet"] if STUDY.asks_for("seat") else [],
        output:
            parquet="results/associations/multiverse.parquet",
            csv="results/associations/multiverse.csv",
        log:
            "logs/associations/multiverse.log",
        params:
            categories={"ceat": STUDY.words.chosen, "seat": STUDY.words.seat_chosen, "weat": STUDY.words.weat_chosen},
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
    wildcard_constraints:
        stage="unfinished" if FROM_RESULTS else "associations|likelihoods",
    script:
        "../workflow/scripts/gather_templates.py"
