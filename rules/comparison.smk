"""Results in the layouts of the papers' tables, and beside the numbers that a paper prints."""

from prasanga.report.paper_tables import ENDINGS, layouts_of, methods_of
from prasanga.report.published import percentage_files, published_files, why_nothing_to_compare

PUBLISHED = Path(workflow.basedir, "resources/published")
LAYOUTS = expand("results/report/tables/{name}.{ending}", name=layouts_of(shown()), ending=ENDINGS)
COMPARED = []
# the tables of the methods that have results
ESTIMATES = {method: RESULTS[method.removesuffix("_bias")] for method in methods_of(shown())}
PAIR_TABLES = []


if LAYOUTS:

    rule write_paper_tables:
        """The tables in the papers' layouts, of what the study measured."""
        input:
            **ESTIMATES,
        output:
            tables_in_report(LAYOUTS),
        log:
            "logs/report/paper_tables.log",
        benchmark:
            "benchmarks/report/paper_tables.tsv"
        params:
            layouts={"preset": config["preset"], "language": config["language"]},
        script:
            "../workflow/scripts/write_paper_tables.py"


if "bias_percentages" in RESULTS:
    PAIR_TABLES = expand("results/report/tables/sahoo_table2.{ending}", ending=ENDINGS)

    rule write_pair_table:
        """Bias percentages of sentence pairs in the layout of Table 2 of Sahoo et al."""
        input:
            RESULTS["bias_percentages"],
        output:
            tables_in_report(PAIR_TABLES),
        log:
            "logs/report/pair_table.log",
        benchmark:
            "benchmarks/report/pair_table.tsv"
        params:
            preset=config["preset"],
        script:
            "../workflow/scripts/write_pair_table.py"


if config["comparison"]["paper"] != "none":
    COMPARED = multiext("results/report/comparison", ".csv", ".md")
    # what a paper prints of sentence pairs
    PERCENTAGES = percentage_files(PUBLISHED, config["comparison"]["paper"]) if "bias_percentages" in RESULTS else []
    # a name that the study or the paper does not have is told before any job, and that no name fits
    warn(
        readable(
            partial(
                why_nothing_to_compare,
                PUBLISHED,
                **config["comparison"],
                language=config["language"],
                studied=list(dict.fromkeys([*MODELS, *SCORED, *config["static"]["vectors"]])),
                pairs=bool(PERCENTAGES),
            )
        )
    )

    rule compare_with_papers:
        """The study's effect sizes beside those of a paper."""
        input:
            **{method: [path] for method, path in ESTIMATES.items()},
            **({"pairs": [RESULTS["bias_percentages"]]} if "bias_percentages" in RESULTS else {}),
        output:
            csv="results/report/comparison.csv",
            markdown="results/report/comparison.md",
        log:
            "logs/report/comparison.log",
        benchmark:
            "benchmarks/report/comparison.tsv"
        params:
            # the published files come with the workflow: their content counts, not their times
            comparison={
                **config["comparison"],
                "language": config["language"],
                "preset": config["preset"],
                "folder": os.path.relpath(PUBLISHED),
                "published": {
                    path.name: digest_of(path.read_text(encoding="utf-8"))
                    for path in [*published_files(PUBLISHED, config["comparison"]["paper"]), *PERCENTAGES]
                },
            },
        script:
            "../workflow/scripts/compare_with_papers.py"

    use rule compare_with_papers as compare_one_method with:
        # One method by itself, only when asked for, and before p is corrected over all: SEAT takes no corpus, CEAT does.
        input:
            unpack(tables_of_method),
        output:
            csv="results/report/comparison_{method}.csv",
            markdown="results/report/comparison_{method}.md",
        log:
            "logs/report/comparison_{method}.log",
        benchmark:
            "benchmarks/report/comparison_{method}.tsv"
        wildcard_constraints:
            method="|".join([*ESTIMATES, *(["pairs"] if "bias_percentages" in RESULTS else [])]) or "(?!)",
