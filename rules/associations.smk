"""Vectors to effect sizes: CEAT of contexts, SEAT of filled templates, WEAT of static vectors.

One job per model (or set of vectors) does all categories; one table per method gathers what the jobs write.
"""

GATHERED = {method.name: FILES.gathered(method) for method in FAMILY if STUDY.asks_for(method)}

if STUDY.labels:

    rule measure_ceat:
        """CEAT of every category in a model, and in its random copies, at all lengths and over them."""
        input:
            embeddings=FILES.fill_lengths(LISTS),
            # fixed draws index the contexts that all models have
            all_embeddings=FILES.fill(LISTS),
        output:
            estimates=STUDY.embedded.paths("<results>/associations/ceat/{model}.parquet"),
            words=STUDY.embedded.paths("<results>/associations/ceat/{model}.words.parquet"),
            resamples=STUDY.embedded.paths("<results>/associations/ceat/{model}.resamples.parquet"),
            convergence=STUDY.embedded.paths("<results>/associations/ceat/{model}.convergence.parquet"),
        log:
            "<logs>/associations/ceat/{model}.log",
        wildcard_constraints:
            model=name_in(STUDY.embedded.jobs),
        params:
            categories=STUDY.words.chosen["ceat"],
            lengths=STUDY.labels,
            ceat=lambda wildcards: list(map(SETTINGS.ceat, STUDY.embedded.job_of(wildcards.model))),
        script:
            "../workflow/scripts/measure_ceat.py"


rule measure_seat:
    """SEAT of every category in a model, and in its random copies."""
    input:
        embeddings=STUDY.embedded.paths("<results>/embeddings/{model}/templates.json"),
        sentences="<results>/samples/templates.parquet",
    output:
        estimates=STUDY.embedded.paths("<results>/associations/seat/{model}.parquet"),
        words=STUDY.embedded.paths("<results>/associations/seat/{model}.words.parquet"),
        templates=STUDY.embedded.paths("<results>/associations/seat/{model}.templates.parquet"),
    log:
        "<logs>/associations/seat/{model}.log",
    wildcard_constraints:
        model=name_in(STUDY.embedded.jobs),
    priority: 200  # what SEAT needs has 100: it is quick, and the terminal shows its effects at once
    params:
        categories=STUDY.words.chosen["seat"],
        seat=lambda wildcards: list(map(SETTINGS.seat, STUDY.embedded.job_of(wildcards.model))),
    script:
        "../workflow/scripts/measure_seat.py"


rule measure_weat:
    """WEAT of every category by one set of static vectors."""
    input:
        "<results>/static/{vectors}.parquet",
    output:
        estimates="<results>/associations/weat/{vectors}.parquet",
        words="<results>/associations/weat/{vectors}.words.parquet",
    log:
        "<logs>/associations/weat/{vectors}.log",
    params:
        categories=STUDY.words.chosen["weat"],
        weat=lambda wildcards: SETTINGS.weat(wildcards.vectors),
    script:
        "../workflow/scripts/measure_weat.py"


rule measure_multiverse:
    """Every estimate under all choices that the vectors allow: denominators, layers, lengths, templates."""
    input:
        vectors=list(SETTINGS.multiverse()["sources"]),
        sentences=["<results>/samples/templates.parquet"] if "seat" in GATHERED else [],
    output:
        parquet="<results>/associations/multiverse.parquet",
        csv="<results>/associations/multiverse.csv",
    log:
        "<logs>/associations/multiverse.log",
    params:
        categories={method: STUDY.words.chosen[method] for method in ("ceat", "seat", "weat")},
        multiverse=SETTINGS.multiverse(),
    script:
        "../workflow/scripts/measure_multiverse.py"


rule gather_estimates:
    """The effects of all methods and of random copies; p corrected once, for all tests of the study.

    With them the effects by template, and for CEAT how effects differ between lengths and between models, and from which
    length and number of draws on they stay.
    """
    input:
        list_paths(GATHERED),
    output:
        FILES.gathered_tables(),
    log:
        "<logs>/associations/gather.log",
    params:
        language=config["language"],
        methods=GATHERED,
        band=config["associations"]["band"],
        models=sorted(STUDY.embedded.models),
        categories=STUDY.words.chosen["ceat"],
    script:
        "../workflow/scripts/gather_estimates.py"


if config["calibration"]["repetitions"]:

    rule measure_strength:
        """The strength of bias that a method could have found, by shifts planted in the vectors it measured."""
        input:
            estimates=[f"<results>/{method_named(name).tables[0].path}.parquet" for name in GATHERED],
            vectors=lambda wildcards: list_paths(FILES.vectors(wildcards.method)),
            sentences=["<results>/samples/templates.parquet"] if "seat" in GATHERED else [],
        output:
            parquet="<results>/calibration/{method}.parquet",
            csv="<results>/calibration/{method}.csv",
        log:
            "<logs>/calibration/{method}.log",
        wildcard_constraints:
            method=name_in(["ceat", "seat", "weat"]),
        params:
            categories=lambda wildcards: STUDY.words.chosen[wildcards.method],
            vectors=lambda wildcards: FILES.vectors(wildcards.method),
            strength=SETTINGS.strength(),
        script:
            "../workflow/scripts/measure_strength.py"

    if FILES.terms:

        rule measure_term_strength:
            """The strength of log-probability bias that could have been found, by shifts planted in the scores of terms."""
            input:
                estimates=rules.measure_strength.input.estimates,
                scores=list_paths(FILES.terms),
            output:
                parquet="<results>/calibration/log_probability.parquet",
                csv="<results>/calibration/log_probability.csv",
            log:
                "<logs>/calibration/log_probability.log",
            params:
                categories=STUDY.words.chosen["log_probability"],
                scores=FILES.terms,
                strength=SETTINGS.term_strength(),
            script:
                "../workflow/scripts/measure_term_strength.py"
