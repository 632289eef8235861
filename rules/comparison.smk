"""Results in the layouts of the papers' tables, and beside the numbers that a paper prints."""

from prasanga.report.layouts import ENDINGS, layouts_of, methods_of
from prasanga.report.published import published_files, why_nothing_to_compare

PUBLISHED = Path(workflow.basedir, "resources/published")
LAYOUTS = expand(
    "results/report/tables/{name}.{ending}",
    name=layouts_of(config),
    ending=ENDINGS,
)
COMPARED = []
# the tables of the methods that the study measures
ESTIMATES = expand("results/associations/{method}.parquet", method=methods_of(config))


if LAYOUTS:

    rule write_paper_tables:
        """The tables in the papers' layouts, of what the study measured."""
        input:
            ESTIMATES,
        output:
            LAYOUTS,
        log:
            "logs/report/paper_tables.log",
        benchmark:
            "benchmarks/report/paper_tables.tsv"
        params:
            layouts={"preset": config["preset"], "language": config["language"]},
        script:
            "../workflow/scripts/write_paper_tables.py"


if config["comparison"]["paper"] != "none":
    COMPARED = multiext("results/report/comparison", ".csv", ".md")
    # a name that the study or the paper does not have is told before any job, and that no name fits
    warn(
        readable(
            partial(
                why_nothing_to_compare,
                PUBLISHED,
                **config["comparison"],
                language=config["language"],
                studied=[*MODELS, *config["static"]["vectors"]],
            )
        )
    )

    rule compare_with_papers:
        """The study's effect sizes beside those of a paper."""
        input:
            **{Path(path).stem: [path] for path in ESTIMATES},
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
                "folder": os.path.relpath(PUBLISHED),
                "published": {
                    path.name: digest_of(path.read_text(encoding="utf-8"))
                    for path in published_files(PUBLISHED, config["comparison"]["paper"])
                },
            },
        script:
            "../workflow/scripts/compare_with_papers.py"

    use rule compare_with_papers as compare_one_method with:
        # One method by itself, only when asked for, and before p is corrected over all: SEAT takes no corpus, CEAT does.
        input:
            unpack(lambda wildcards: {wildcards.method: estimates_of_jobs(wildcards.method)}),
        output:
            csv="results/report/comparison_{method}.csv",
            markdown="results/report/comparison_{method}.md",
        log:
            "logs/report/comparison_{method}.log",
        benchmark:
            "benchmarks/report/comparison_{method}.tsv"
        wildcard_constraints:
            method="|".join(methods_of(config)),
