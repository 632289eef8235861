"""Probabilities: sentence pairs by models of every kind, words in templates by those that have a mask.

Their parameters hold what changes scores and nothing else, as those of the embedding stage; results of models that are
not at hand are used as they are where vectors come from the cache. Of an unfinished study, tables are made of what is done,
apart from its results.
"""

SCORER = machine_for(STUDY.models.scorers)
GATHERED = "unfinished" if FROM_RESULTS else "likelihoods"

if STUDY.computed:

    if STUDY.sets:

        rule score_pairs:
            """Scores of both sentences of each pair of all sets, by a model and its random copies."""
            input:
                pairs=expand("results/pairs/{set}.parquet", set=STUDY.sets),
                model=check_of(STUDY.models.scorers),
                # none where this job scores all
                buckets=lambda wildcards: FILES.pair_buckets(wildcards.model),
            output:
                FILES.scored.paths(*(f"results/likelihoods/pairs/{name}/{{model}}.parquet" for name in STUDY.sets)),
            log:
                "logs/likelihoods/pairs/{model}.log",
            wildcard_constraints:
                model=name_in(FILES.scored.models),
            threads: lambda wildcards: cores_beside(STUDY.models.scorers[wildcards.model]["cards"])
            resources:
                **machine_for(STUDY.models.scorers, lambda wildcards: min(map(len, STUDY.pair_buckets.values())) > 1),
            params:
                version={"SCORES_VERSION": SCORES_VERSION},
                scoring=lambda wildcards: list(map(SETTINGS.pair_scores, FILES.scored.job_of(wildcards.model))),
            script:
                "../workflow/scripts/score_pairs.py"

    rule score_structures:
        """Log-probability bias of every trait in the sentence structures S1 to S5, by a model and its random copies."""
        input:
            model=check_of(STUDY.models.scorers),
            texts=ancient(FILES.texts_of_sentences("structures")),
            buckets=lambda wildcards: FILES.sentence_buckets("structures", wildcards.model),
        output:
            traits=FILES.scored.paths("results/likelihoods/structures/{model}.parquet"),
            terms=FILES.scored.paths("results/likelihoods/structures/{model}.terms.parquet"),
        log:
            "logs/likelihoods/structures/{model}.log",
        wildcard_constraints:
            model=name_in(FILES.scored.models),
        threads: lambda wildcards: cores_beside(STUDY.models.scorers[wildcards.model]["cards"])
        resources:
            **machine_for(STUDY.models.scorers, lambda wildcards: FILES.sentence_buckets("structures", wildcards.model)),
        params:
            structures=lambda wildcards: {
                unit: SETTINGS.structures(unit) for unit in FILES.scored.job_of(wildcards.model)
            },
        script:
            "../workflow/scripts/score_structures.py"

    rule score_log_probability:
        """Log-probability bias of every category, by a model and its random copies."""
        input:
            model=check_of(STUDY.models.scorers),
            texts=ancient(FILES.texts_of_sentences("log_probability")),
            buckets=lambda wildcards: FILES.sentence_buckets("log_probability", wildcards.model),
        output:
            estimates=FILES.scored.paths("results/likelihoods/log_probability/{model}.parquet"),
            words=FILES.scored.paths("results/likelihoods/log_probability/{model}.words.parquet"),
            sentences=FILES.scored.paths("results/likelihoods/log_probability/{model}.sentences.parquet"),
            templates=FILES.scored.paths("results/likelihoods/log_probability/{model}.templates.parquet"),
        log:
            "logs/likelihoods/log_probability/{model}.log",
        wildcard_constraints:
            model=name_in(FILES.scored.models),
        threads: lambda wildcards: cores_beside(STUDY.models.scorers[wildcards.model]["cards"])
        resources:
            **machine_for(
                STUDY.models.scorers, lambda wildcards: FILES.sentence_buckets("log_probability", wildcards.model)
            ),
        params:
            categories=STUDY.words.log_probability_chosen,
            log_probability=lambda wildcards: {
                unit: SETTINGS.log_probability(unit) for unit in FILES.scored.job_of(wildcards.model)
            },
        script:
            "../workflow/scripts/score_log_probability.py"

    rule score_pair_bucket:
        """Scores of one bucket of a set of pairs, by a model or its twins; only those that are not kept are computed."""
        input:
            pairs="results/pairs/{set}.parquet",
            model=check_of(STUDY.models.scorers),
        output:
            "results/likelihoods/pairs/{set}/{model}/{bucket}.parquet",
        log:
            "logs/likelihoods/pairs/{set}/{model}/{bucket}.log",
        wildcard_constraints:
            model=name_in(STUDY.models.scorers),
        threads: lambda wildcards: cores_beside(STUDY.models.scorers[wildcards.model]["cards"])
        resources:
            **SCORER,
        params:
            version={"SCORES_VERSION": SCORES_VERSION},
            scoring=lambda wildcards: SETTINGS.pair_scores(wildcards.model),
            buckets=lambda wildcards: len(STUDY.pair_buckets[wildcards.set]),
        script:
            "../workflow/scripts/score_pair_bucket.py"

    rule score_sentence_bucket:
        """Scores of one bucket of the sentences of all traits, or of all categories, by a model or its twins."""
        input:
            model=check_of(STUDY.models.scorers),
            texts=ancient(lambda wildcards: FILES.texts_of_sentences(wildcards.of)),
        output:
            "results/likelihoods/{of}/{model}/{bucket}.parquet",
        log:
            "logs/likelihoods/{of}/{model}/{bucket}.log",
        wildcard_constraints:
            of=name_in(STUDY.sentence_buckets),
            model=name_in(STUDY.models.scorers),
        threads: lambda wildcards: cores_beside(STUDY.models.scorers[wildcards.model]["cards"])
        resources:
            **SCORER,
        params:
            version={"SCORES_VERSION": SCORES_VERSION},
            categories=STUDY.words.log_probability_chosen,
            sentences=lambda wildcards: SETTINGS.scored_sentences(wildcards.of, wildcards.model),
            buckets=lambda wildcards: len(STUDY.sentence_buckets[wildcards.of]),
        script:
            "../workflow/scripts/score_sentence_bucket.py"


rule measure_bias_percentages:
    """How often models prefer the stereotypical sentence, by type, with intervals and tests; and by how much."""
    input:
        **FILES.gathered_pairs(),
    output:
        percentages=f"results/{GATHERED}/bias_percentages.parquet",
        csv=f"results/{GATHERED}/bias_percentages.csv",
        differences=f"results/{GATHERED}/pair_differences.parquet",
    log:
        f"logs/{GATHERED}/bias_percentages.log",
    params:
        bias=SETTINGS.bias(),
        twin_of=STUDY.models.scored_twin_of,
    script:
        "../workflow/scripts/measure_bias_percentages.py"


rule gather_structures:
    """How the scores of traits spread in each structure, and structures compared."""
    input:
        **FILES.gathered_structures(),
    output:
        spread=f"results/{GATHERED}/structures.parquet",
        csv=f"results/{GATHERED}/structures.csv",
        differences=f"results/{GATHERED}/structure_differences.parquet",
        traits=f"results/{GATHERED}/traits.parquet",
        oddities=f"results/{GATHERED}/trait_oddities.parquet",
    log:
        f"logs/{GATHERED}/structures.log",
    params:
        gathering=SETTINGS.gathering_structures(FILES.models_of_twins("structures")),
    script:
        "../workflow/scripts/gather_structures.py"


if not FROM_RESULTS:

    rule likelihoods:
        """The tables of everything that models were asked about probabilities."""
        input:
            FILES.likelihoods(),
