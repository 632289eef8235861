"""Tables of what is done so far, for the page of a study that is not finished; never among its results."""


rule gather_unfinished:
    """The estimates of those jobs of a method that are done, with p corrected for what is there."""
    input:
        estimates=lambda wildcards: done(estimates_of_jobs(wildcards.method)),
        twins=lambda wildcards: done(twins_of_method(wildcards.method)),
        words=lambda wildcards: done(
            str(Path(path).with_suffix(".words.parquet")) for path in done(estimates_of_jobs(wildcards.method))
        ),
        others=lambda wildcards: done(other_tests(wildcards.method)),
    output:
        parquet=f"{UNFINISHED}/{{method}}.parquet",
        csv=f"{UNFINISHED}/{{method}}.csv",
        words=f"{UNFINISHED}/{{method}}_words.parquet",
    log:
        "logs/report/unfinished.{method}.log",
    benchmark:
        "benchmarks/report/unfinished.{method}.tsv"
    wildcard_constraints:
        method="ceat|seat|weat|log_probability",
    params:
        twin_of=lambda wildcards: [
            model for path, model in twins_of_method(wildcards.method).items() if Path(path).exists()
        ],
    script:
        "../workflow/scripts/gather_estimates.py"


rule measure_unfinished_percentages:
    """Bias percentages of the sets and models that are scored."""
    input:
        scores=done(pair_scores(SCORED)),
        twins=done(pair_scores(SCORED_TWINS)),
    output:
        percentages=f"{UNFINISHED}/bias_percentages.parquet",
        csv=f"{UNFINISHED}/bias_percentages.csv",
        differences=f"{UNFINISHED}/pair_differences.parquet",
    log:
        "logs/report/unfinished.pairs.log",
    benchmark:
        "benchmarks/report/unfinished.pairs.tsv"
    params:
        bias=bias_settings(),
        twin_of=SCORED_TWIN_OF,
    script:
        "../workflow/scripts/measure_bias_percentages.py"


rule gather_unfinished_structures:
    """How the scores of traits spread in each structure, of the models that are done."""
    input:
        traits=done(expand("results/likelihoods/structures/{model}.parquet", model=MASKED)),
        twins=done(expand("results/likelihoods/structures/{model}.parquet", model=MASKED_TWINS)),
    output:
        spread=f"{UNFINISHED}/structures.parquet",
        csv=f"{UNFINISHED}/structures.csv",
        differences=f"{UNFINISHED}/structure_differences.parquet",
        traits=f"{UNFINISHED}/traits.parquet",
        oddities=f"{UNFINISHED}/trait_oddities.parquet",
    log:
        "logs/report/unfinished.structures.log",
    benchmark:
        "benchmarks/report/unfinished.structures.tsv"
    params:
        gathering=lambda wildcards, input: gathering_settings([SCORED_TWIN_OF[Path(path).stem] for path in input.twins]),
    script:
        "../workflow/scripts/gather_structures.py"
