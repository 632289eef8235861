"""Results in the layouts of the papers' tables, and beside the numbers that a paper prints."""

PUBLISHED = place("resources/published")
LAYOUTS, PAIR_TABLES, COMPARED = FILES.paper_tables(), FILES.pair_table(), []


if LAYOUTS:

    rule write_paper_tables:
        """The tables in the papers' layouts, of what the study measured."""
        input:
            **FILES.estimates_shown(),
            **FILES.first_draws(),
        output:
            tables_in_report(LAYOUTS),
        log:
            "logs/report/paper_tables.log",
        benchmark:
            "benchmarks/report/paper_tables.tsv"
        params:
            layouts=SETTINGS.paper_tables(),
        script:
            "../workflow/scripts/write_paper_tables.py"


if PAIR_TABLES:

    rule write_pair_table:
        """Bias percentages of sentence pairs in the layout of Table 2 of Sahoo et al."""
        input:
            pairs=FILES.results["bias_percentages"],
        output:
            tables_in_report(PAIR_TABLES),
        log:
            "logs/report/pair_table.log",
        benchmark:
            "benchmarks/report/pair_table.tsv"
        params:
            layouts={"preset": config["preset"]},
        script:
            "../workflow/scripts/write_paper_tables.py"


AGREED = []

if FILES.methods_compared():
    AGREED = ["results/report/tables/methods.csv", "results/report/tables/agreement.csv"]

    rule compare_methods:
        """The estimates of all methods side by side, and how far every two agree about the order of categories."""
        input:
            **FILES.methods_compared(),
        output:
            tables_in_report(AGREED),
        log:
            "logs/report/methods.log",
        benchmark:
            "benchmarks/report/methods.tsv"
        script:
            "../workflow/scripts/compare_methods.py"


if config["comparison"]["paper"] != "none":
    COMPARED = multiext("results/report/comparison", ".csv", ".md")
    # a name that the study or the paper does not have is told before any job, and that no name fits
    warn(readable(FILES.nothing_to_compare, PUBLISHED))

    rule compare_with_papers:
        """The study's effect sizes beside those of a paper."""
        input:
            **FILES.compared(),
            **FILES.first_draws(),
        output:
            csv="results/report/comparison.csv",
            markdown="results/report/comparison.md",
        log:
            "logs/report/comparison.log",
        benchmark:
            "benchmarks/report/comparison.tsv"
        params:
            comparison=SETTINGS.comparison(PUBLISHED, pairs=FILES.has_percentages),
        script:
            "../workflow/scripts/compare_with_papers.py"

    use rule compare_with_papers as compare_one_method with:
        # One method by itself, only when asked for, and before p is corrected over all: SEAT takes no corpus, CEAT does.
        input:
            unpack(lambda wildcards: {wildcards.method: FILES.compared_alone(wildcards.method)}),
        output:
            csv="results/report/comparison_{method}.csv",
            markdown="results/report/comparison_{method}.md",
        log:
            "logs/report/comparison_{method}.log",
        benchmark:
            "benchmarks/report/comparison_{method}.tsv"
        wildcard_constraints:
            method=name_in(FILES.compared()),
