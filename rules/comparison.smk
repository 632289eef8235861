"""The study's effect sizes beside those of a paper, one method by itself; the report has all methods."""

PUBLISHED = place("resources/published")
COMPARISON = {}

if config["comparison"]["paper"] != "none":
    COMPARISON = SETTINGS.comparison(PUBLISHED, pairs=FILES.has_percentages)
    # a name that the study or the paper does not have is told before any job, and that no name fits
    warn(readable(FILES.nothing_to_compare, PUBLISHED))

    rule compare_one_method:
        """One method, only when asked for, and before p is corrected over all: SEAT takes no corpus, CEAT does."""
        input:
            unpack(lambda wildcards: {wildcards.method: FILES.compared_alone(wildcards.method)}),
        output:
            "results/report/comparison_{method}.csv",
            "results/report/comparison_{method}.md",
        log:
            "logs/report/comparison_{method}.log",
        wildcard_constraints:
            method=name_in(FILES.compared()),
        params:
            comparison=COMPARISON,
        script:
            "../workflow/scripts/compare_one_method.py"
