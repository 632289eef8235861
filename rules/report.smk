"""Tables to figures and the page. Needs cached results only, and never imports torch.

A rule is there if the results that it draws are made by the run, or are there already.
"""

from prasanga.report.figures import Measured, drawings_of, figure_files, figure_named

TABLES, PARTS = [*LAYOUTS, *PAIR_TABLES, *AGREED], FILES.results.keys()

# The figures of the study by the name of their files, each with what it is drawn from.
DRAWINGS = drawings_of(
    Measured(config, FILES.models_of_traits() if "traits" in PARTS else []),
    {
        **FILES.results,
        **{"categories": path for path in FILES.of_words().get("categories", [])},
        **{"comparison": path for path in COMPARED[:1]},
        **{"methods": path for path in AGREED[:1]},
    },
)
DRAWN_BY = {name: module_file(drawing.figure.module) for name, drawing in DRAWINGS.items()}
DRAWING_CODE = fingerprints(set(DRAWN_BY.values()))
FIGURES = [name for name, drawing in DRAWINGS.items() if drawing.figure.on_page]


rule draw_figure:
    """One figure of the study, in all its formats and widths; `prasanga.report.figures` lists them."""
    input:
        unpack(lambda wildcards: DRAWINGS[wildcards.figure].tables),
    output:
        figures_in_report(figure_files(["{figure}"], config["report"])),
    log:
        "logs/report/figures/{figure}.log",
    benchmark:
        "benchmarks/report/figures/{figure}.tsv"
    wildcard_constraints:
        figure=name_in(DRAWINGS),
    params:
        plot=lambda wildcards: DRAWINGS[wildcards.figure].figure.plot,
        options=lambda wildcards: DRAWINGS[wildcards.figure].options,
        # the script does not import the module that draws
        code=lambda wildcards: DRAWING_CODE[DRAWN_BY[wildcards.figure]],
        # functions of `input` are not compared: another caption in Snakemake's report draws nothing anew
        caption=lambda wildcards, input: figure_named(wildcards.figure).caption,
    script:
        "../workflow/scripts/draw_figure.py"


if "ceat" in PARTS:
    TABLES += multiext("results/report/tables/ceat", ".csv", ".md", ".tex")

    rule write_tables:
        """The table in the paper's layout."""
        input:
            FILES.results["ceat"],
        output:
            tables_in_report(multiext("results/report/tables/ceat", ".csv", ".md", ".tex")),
        log:
            "logs/report/tables.log",
        benchmark:
            "benchmarks/report/tables.tsv"
        script:
            "../workflow/scripts/write_tables.py"


if STUDY.computed and FILES.measured_sentences():

    rule choose_sentences:
        """Some of the sentences that each word was measured in, to be read behind the numbers of the page."""
        input:
            **FILES.texts_measured(),
        output:
            parquet="results/samples/measured_sentences.parquet",
            tsv="results/samples/measured_sentences.tsv",
        log:
            "logs/report/sentences.log",
        benchmark:
            "benchmarks/report/sentences.tsv"
        script:
            "../workflow/scripts/choose_sentences.py"


# Tables of earlier stages that go with the page, by their names beside it.
DATA = FILES.data()


rule collect_data:
    """The tables behind the page, copied beside it, so that its folder can be sent as it is."""
    input:
        list(DATA.values()),
    output:
        expand("results/report/data/{name}", name=DATA),
    log:
        "logs/report/data.log",
    benchmark:
        "benchmarks/report/data.tsv"
    script:
        "../workflow/scripts/collect_data.py"


CARDS = expand("results/report/{name}_card.md", name=["methods", "data"])
# What lies beside the page.
BESIDE = [
    *figure_files(FIGURES, config["report"]),
    *TABLES,
    *COMPARED,
    *expand("results/report/data/{name}", name=DATA),
    *CARDS,
]


rule describe_study:
    """What was measured on what, how, and what came out: for programs, for a paper's readers and for a data set's."""
    input:
        **FILES.numbers(),
        records=FILES.records(),
    output:
        summary="results/summary.json",
        methods=in_report("results/report/methods_card.md", "cards", "Cards", card="methods"),
        data=in_report("results/report/data_card.md", "cards", "Cards", card="data"),
    log:
        "logs/report/study.log",
    benchmark:
        "benchmarks/report/study.tsv"
    params:
        study=SETTINGS.page(),
        studied=STUDY.models.studied,
        missing=FILES.missing,
        page="results/report/index.html",
        files=BESIDE,
    script:
        "../workflow/scripts/describe_study.py"


rule write_page:
    """The page: what was measured, how, how sure it is, and from what."""
    input:
        **FILES.results,
        **FILES.of_texts(),
        **FILES.of_words(),
        **FILES.of_pairs(),
        **FILES.of_numbers(),
        comparison=COMPARED,
        figures=expand("results/report/figures/{name}.svg", name=FIGURES),
        files=BESIDE,
    output:
        in_report("results/report/index.html", "page", "Page", page="all results"),
    log:
        "logs/report/page.log",
    benchmark:
        "benchmarks/report/page.tsv"
    params:
        study=SETTINGS.page(),
        studied=STUDY.models.studied,
        missing=FILES.missing,
    script:
        "../workflow/scripts/write_page.py"


REPORT = ["results/report/index.html", "results/summary.json", *CARDS]
# Asked for by themselves, so that one that was deleted is made again though nothing else needs it.
TABLES_OF_STUDY = [*FILES.results.values(), *DATA.values(), *BESIDE]


rule figures:
    """Everything that can be redrawn from cached results, each file by itself: one that was deleted is made again."""
    input:
        REPORT,
        BESIDE,
