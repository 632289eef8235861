"""Files of sentence pairs to tables: what they hold, what is odd about them, and the paper's statistics of a set."""


rule read_pairs:
    """One set of pairs as a table, and every oddity of its file."""
    input:
        # its digest counts, not its time
        ancient(lambda wildcards: STUDY.sets[wildcards.set]["path"]),
    output:
        pairs="results/pairs/{set}.parquet",
        oddities="results/pairs/{set}.oddities.parquet",
        csv="results/pairs/{set}.oddities.csv",
    log:
        "logs/pairs/{set}.log",
    benchmark:
        "benchmarks/pairs/{set}.tsv"
    priority: 100  # a mistake in a file is told before any model runs
    params:
        version={"PAIRS_VERSION": PAIRS_VERSION},
        pairs=lambda wildcards: readable(SETTINGS.set_of_pairs, wildcards.set),
    script:
        "../workflow/scripts/read_pairs.py"


rule describe_pairs:
    """Lengths, labels and bias types of all sets, as in Table 6 of Sahoo et al."""
    input:
        expand("results/pairs/{set}.parquet", set=STUDY.sets),
    output:
        parquet="results/pairs/statistics.parquet",
        csv="results/pairs/statistics.csv",
    log:
        "logs/pairs/statistics.log",
    benchmark:
        "benchmarks/pairs/statistics.tsv"
    params:
        sets=list(STUDY.sets),
    script:
        "../workflow/scripts/describe_pairs.py"
