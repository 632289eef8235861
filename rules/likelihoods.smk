"""Probabilities: sentence pairs by models of every kind, words in templates by those that have a mask.

Parameters hold what changes scores and nothing else. Where vectors come from the cache, scores are used as they are.
"""

BIAS = "pairs: n_runs share n_resamples ties equivalence_margin; seed"
PAIR_STRENGTH = {"strength": "<results>/calibration/pairs.parquet", "strength_csv": "<results>/calibration/pairs.csv"}
DRAWN = "<results>/likelihoods/drawn_sentences.parquet"
JOB_OF = STUDY.scored.job_of
SCORER = machine_for(STUDY.scored.every, CORES if ONE_BY_ONE else 1, on_cpu=HAS_NO_GPU)

if STUDY.computed:

    if STUDY.sets:

        rule score_pairs:
            """Scores of both sentences of each pair of all sets, by a model and its random copies."""
            input:
                pairs=expand("<results>/pairs/{set}.parquet", set=STUDY.sets),
                model=CHECKPOINTS.wait_for_check(STUDY.scored.every),
            output:
                STUDY.scored.paths(*(f"<results>/likelihoods/pairs/{name}/{{model}}.parquet" for name in STUDY.sets)),
            log:
                "<logs>/likelihoods/pairs/{model}.log",
            wildcard_constraints:
                model=name_in(STUDY.scored.jobs),
            threads: SCORER.threads
            resources:
                **SCORER.resources,
            params:
                version={"SCORES_VERSION": SCORES_VERSION},
                scoring=lambda wildcards: list(map(SETTINGS.pair_scores, JOB_OF(wildcards.model))),
            script:
                "../workflow/scripts/score_pairs.py"

    rule draw_sentences:
        """Sentences of the corpus for the structure S5, one per trait; only if `log_probability.s5_from_corpus` says so."""
        input:
            corpus=local_paths(STUDY.texts.whole_files()),
            texts=ancient(files_of_sentences(config["log_probability"], "structures")),
        output:
            parquet=DRAWN,
            csv="<results>/likelihoods/drawn_sentences.csv",
        log:
            "<logs>/likelihoods/drawn_sentences.log",
        params:
            version={"SENTENCES_VERSION": SENTENCES_VERSION},
            drawing=SETTINGS.drawing(),
        script:
            "../workflow/scripts/draw_sentences.py"

    rule score_structures:
        """Log-probability bias of every trait in the sentence structures S1 to S5, by a model and its random copies."""
        input:
            **({"drawn": DRAWN} if config["log_probability"]["s5_from_corpus"] else {}),
            model=CHECKPOINTS.wait_for_check(STUDY.scored.every),
            texts=ancient(files_of_sentences(config["log_probability"], "structures")),
        output:
            traits=STUDY.scored.paths("<results>/likelihoods/structures/{model}.parquet"),
            terms=STUDY.scored.paths("<results>/likelihoods/structures/{model}.terms.parquet"),
        log:
            "<logs>/likelihoods/structures/{model}.log",
        wildcard_constraints:
            model=name_in(STUDY.scored.jobs),
        threads: SCORER.threads
        resources:
            **SCORER.resources,
        params:
            structures=lambda wildcards: {
                unit: SETTINGS.sentence_scores("structures", unit) for unit in JOB_OF(wildcards.model)
            },
        script:
            "../workflow/scripts/score_structures.py"

    rule score_log_probability:
        """Log-probability bias of every category, by a model and its random copies."""
        input:
            model=CHECKPOINTS.wait_for_check(STUDY.scored.every),
            texts=ancient(files_of_sentences(config["log_probability"], "log_probability")),
        output:
            estimates=STUDY.scored.paths("<results>/likelihoods/log_probability/{model}.parquet"),
            words=STUDY.scored.paths("<results>/likelihoods/log_probability/{model}.words.parquet"),
            sentences=STUDY.scored.paths("<results>/likelihoods/log_probability/{model}.sentences.parquet"),
            templates=STUDY.scored.paths("<results>/likelihoods/log_probability/{model}.templates.parquet"),
            terms=STUDY.scored.paths("<results>/likelihoods/log_probability/{model}.terms.parquet"),
        log:
            "<logs>/likelihoods/log_probability/{model}.log",
        wildcard_constraints:
            model=name_in(STUDY.scored.jobs),
        threads: SCORER.threads
        resources:
            **SCORER.resources,
        params:
            categories=STUDY.words.chosen["log_probability"],
            log_probability=lambda wildcards: {unit: SETTINGS.log_probability(unit) for unit in JOB_OF(wildcards.model)},
        script:
            "../workflow/scripts/score_log_probability.py"


rule measure_bias_percentages:
    """How often models prefer the stereotypical sentence, and by how much; and the strength that could be found."""
    input:
        scores=FILES.fill("<results>/likelihoods/pairs/{set}/{scored}.parquet"),
        twins=FILES.fill("<results>/likelihoods/pairs/{set}/{scored_twin}.parquet"),
    output:
        **(PAIR_STRENGTH if config["calibration"]["repetitions"] else {}),
        percentages="<results>/likelihoods/bias_percentages.parquet",
        csv="<results>/likelihoods/bias_percentages.csv",
        differences="<results>/likelihoods/pair_differences.parquet",
    log:
        "<logs>/likelihoods/bias_percentages.log",
    params:
        bias=SETTINGS.select(BIAS),
        strength=SETTINGS.select("calibration: repetitions shifts; seed"),
        twin_of=STUDY.scored.twin_of,
    script:
        "../workflow/scripts/measure_bias_percentages.py"


rule gather_structures:
    """How the scores of traits spread in each structure, and structures compared."""
    input:
        traits=FILES.estimates("structures"),
        twins=FILES.estimates("structures", twins=True),
    output:
        spread="<results>/likelihoods/structures.parquet",
        csv="<results>/likelihoods/structures.csv",
        differences="<results>/likelihoods/structure_differences.parquet",
        traits="<results>/likelihoods/traits.parquet",
        oddities="<results>/likelihoods/trait_oddities.parquet",
    log:
        "<logs>/likelihoods/structures.log",
    params:
        gathering={
            "twin_of": list(STUDY.scored.masked.twin_of.values()),
            "traits": config["log_probability"]["traits"],
            "normalization": STUDY.normalization,
            **SETTINGS.select("associations: n_resamples; seed"),
        },
    script:
        "../workflow/scripts/gather_structures.py"


rule likelihoods:
    """The tables of everything that models were asked about probabilities."""
    input:
        [
            path
            for path in FILES.results.values()
            if path.startswith((f"{STUDY.results}/likelihoods/", f"{STUDY.results}/pairs/"))
        ],
