"""Probabilities: sentence pairs by models of every kind, words in templates by those that have a mask.

Their parameters hold what changes scores and nothing else, as those of the embedding stage; results of models that are
not at hand are used as they are where vectors come from the cache.
"""

from prasanga.likelihoods.planning import plan_sentences, require_scores

# A mistake in the templates, and a word without a form that they ask for, is told while planning.
SENTENCES_OF = {}
if LEXICON is not None and (TRAITS or LOG_PROBABILITY["categories"]):
    SENTENCES_OF = readable(
        partial(plan_sentences, cache=CACHE),
        LOG_PROBABILITY,
        lexicon_settings(),
        LEXICON.words,
        LOG_PROBABILITY_CHOSEN,
    )


# Of all names of models only these, so that tables beside `<model>.parquet` are no models.
SCORER_NAMES = "|".join(map(re.escape, [*SCORED, *SCORED_TWINS])) or "(?!)"


if COMPUTED:

    rule score_pairs:
        """Scores of both sentences of each pair of a set, by a model or its twin with random weights."""
        input:
            pairs="results/pairs/{set}.parquet",
            model=checked_scorer,
        output:
            "results/likelihoods/pairs/{set}/{model}.parquet",
        log:
            "logs/likelihoods/pairs/{set}/{model}.log",
        benchmark:
            "benchmarks/likelihoods/pairs/{set}/{model}.tsv"
        wildcard_constraints:
            model=SCORER_NAMES,
        threads: threads_of_scorer
        resources:
            gpu=cards_of_scorer,
            cards=cards_of_scorer,
            on_card=scorer_on_card,
            mem_mb=memory_of_scorer,
        params:
            scoring=lambda wildcards: pair_settings(wildcards.model),
        script:
            "../workflow/scripts/score_pairs.py"

    rule score_structures:
        """Log-probability bias of every trait in the sentence structures S1 to S5, by a model or its twin."""
        input:
            model=checked_scorer,
            texts=[ancient(path) for path in [*TRAITS, LOG_PROBABILITY["structures"]] if TRAITS],
        output:
            traits="results/likelihoods/structures/{model}.parquet",
            terms="results/likelihoods/structures/{model}.terms.parquet",
        log:
            "logs/likelihoods/structures/{model}.log",
        benchmark:
            "benchmarks/likelihoods/structures/{model}.tsv"
        wildcard_constraints:
            model=SCORER_NAMES,
        threads: threads_of_scorer
        resources:
            gpu=cards_of_scorer,
            cards=cards_of_scorer,
            on_card=scorer_on_card,
            mem_mb=memory_of_scorer,
        params:
            structures=lambda wildcards: structure_settings(wildcards.model),
        script:
            "../workflow/scripts/score_structures.py"

    rule score_log_probability:
        """Log-probability bias of every category, by a model or its twin."""
        input:
            model=checked_scorer,
            templates=ancient(LOG_PROBABILITY["templates"]),
            categories=ancient("results/lexicon/categories.json"),
        output:
            estimates="results/likelihoods/log_probability/{model}.parquet",
            words="results/likelihoods/log_probability/{model}.words.parquet",
            sentences="results/likelihoods/log_probability/{model}.sentences.parquet",
        log:
            "logs/likelihoods/log_probability/{model}.log",
        benchmark:
            "benchmarks/likelihoods/log_probability/{model}.tsv"
        wildcard_constraints:
            model=SCORER_NAMES,
        threads: threads_of_scorer
        resources:
            gpu=cards_of_scorer,
            cards=cards_of_scorer,
            on_card=scorer_on_card,
            mem_mb=memory_of_scorer,
        params:
            *digests_of(LOG_PROBABILITY_CHOSEN),
            log_probability=lambda wildcards: category_settings(wildcards.model),
        script:
            "../workflow/scripts/score_log_probability.py"

else:
    readable(require_scores, cached_scores())


rule measure_bias_percentages:
    """How often models prefer the stereotypical sentence, by type, with intervals and tests; and by how much."""
    input:
        scores=pair_scores(SCORED),
        twins=pair_scores(SCORED_TWINS),
    output:
        percentages="results/likelihoods/bias_percentages.parquet",
        csv="results/likelihoods/bias_percentages.csv",
        differences="results/likelihoods/pair_differences.parquet",
    log:
        "logs/likelihoods/bias_percentages.log",
    benchmark:
        "benchmarks/likelihoods/bias_percentages.tsv"
    params:
        bias=bias_settings(),
        twin_of=SCORED_TWIN_OF,
    script:
        "../workflow/scripts/measure_bias_percentages.py"


rule gather_structures:
    """How the scores of traits spread in each structure, and structures compared."""
    input:
        traits=expand("results/likelihoods/structures/{model}.parquet", model=MASKED),
        twins=expand("results/likelihoods/structures/{model}.parquet", model=MASKED_TWINS),
    output:
        spread="results/likelihoods/structures.parquet",
        csv="results/likelihoods/structures.csv",
        differences="results/likelihoods/structure_differences.parquet",
        traits="results/likelihoods/traits.parquet",
        oddities="results/likelihoods/trait_oddities.parquet",
    log:
        "logs/likelihoods/structures.log",
    benchmark:
        "benchmarks/likelihoods/structures.tsv"
    params:
        gathering=gathering_settings([SCORED_TWIN_OF[twin] for twin in MASKED_TWINS]),
    script:
        "../workflow/scripts/gather_structures.py"


rule gather_log_probability:
    """All estimates of log-probability bias, beside their twins and corrected for the number of the study's tests."""
    input:
        estimates=estimates_of_jobs("log_probability"),
        twins=expand("results/likelihoods/log_probability/{model}.parquet", model=MASKED_TWINS),
        words=expand("results/likelihoods/log_probability/{model}.words.parquet", model=MASKED),
        others=other_tests("log_probability"),
    output:
        parquet="results/likelihoods/log_probability.parquet",
        csv="results/likelihoods/log_probability.csv",
        words="results/likelihoods/log_probability_words.parquet",
    log:
        "logs/likelihoods/log_probability.log",
    benchmark:
        "benchmarks/likelihoods/log_probability.tsv"
    params:
        twin_of=[SCORED_TWIN_OF[twin] for twin in MASKED_TWINS],
    script:
        "../workflow/scripts/gather_estimates.py"


rule likelihoods:
    """The tables of everything that models were asked about probabilities."""
    input:
        likelihood_tables(),
