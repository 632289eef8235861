"""Tables to figures and the page. Needs cached results only, and never imports torch.

A rule is there if the results that it draws are made by the run, or are there already.
"""

from prasanga.report.figures.names import hexbins_figure, words_figure

FIGURES, TABLES, PARTS = [], [*LAYOUTS, *PAIR_TABLES], FILES.results.keys()


if "ceat" in PARTS:
    FIGURES += ["effect_by_length"]
    TABLES += multiext("results/report/tables/ceat", ".csv", ".md", ".tex")

    rule draw_effect_by_length:
        """Effect size against context length, one panel a category."""
        input:
            FILES.results["ceat"],
        output:
            drawn("effect_by_length", "effect_by_length"),
        log:
            "logs/report/effect_by_length.log",
        benchmark:
            "benchmarks/report/effect_by_length.tsv"
        script:
            "../workflow/scripts/draw_effect_by_length.py"

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


if "ceat" in PARTS and {"fixed", "random"} <= set(config["associations"]["sample_modes"]):
    FIGURES += ["sample_modes"]

    rule draw_sample_modes:
        """Fixed against random draws."""
        input:
            FILES.results["ceat"],
        output:
            drawn("sample_modes", "sample_modes"),
        log:
            "logs/report/sample_modes.log",
        benchmark:
            "benchmarks/report/sample_modes.tsv"
        script:
            "../workflow/scripts/draw_sample_modes.py"


if "ceat_words" in PARTS and config["categories"] and FILES.of_words()["categories"]:
    # Not among the figures of the page, which shows the words themselves; `snakemake results/report/figures/words_C1.pdf`.
    WORDS = [words_figure(category) for category in config["categories"]]

    rule draw_words:
        """Associations of single words, a figure a category."""
        input:
            words=FILES.results["ceat_words"],
            categories=FILES.of_words()["categories"][0],
        output:
            drawn("words", *WORDS),
        log:
            "logs/report/words.log",
        benchmark:
            "benchmarks/report/words.tsv"
        script:
            "../workflow/scripts/draw_words.py"


if {"ceat", "differences", "settling", "convergence"} <= PARTS:
    FIGURES += ["settling", "convergence"]

    rule draw_settling:
        """How far effects are from those at the longest length, and how they move as draws are added."""
        input:
            estimates=FILES.results["ceat"],
            differences=FILES.results["differences"],
            settling=FILES.results["settling"],
            convergence=FILES.results["convergence"],
        output:
            drawn("settling", "settling"),
            drawn("convergence", "convergence"),
        log:
            "logs/report/settling.log",
        benchmark:
            "benchmarks/report/settling.tsv"
        params:
            band=config["associations"]["band"],
        script:
            "../workflow/scripts/draw_settling.py"


if "pair_differences" in PARTS:
    FIGURES += ["score_differences", "score_differences_by_type"]

    rule draw_pairs:
        """Densities of the difference of scores of sentence pairs, by language and by bias type."""
        input:
            FILES.results["pair_differences"],
        output:
            drawn("score_differences", "score_differences", "score_differences_by_type"),
        log:
            "logs/report/pairs.log",
        benchmark:
            "benchmarks/report/pairs.tsv"
        script:
            "../workflow/scripts/draw_pairs.py"


if "structures" in PARTS:
    FIGURES += ["structures"]

    rule draw_structures:
        """How log-probability bias spreads over the traits in each sentence structure."""
        input:
            FILES.results["structures"],
        output:
            drawn("structures", "structures"),
        log:
            "logs/report/structures.log",
        benchmark:
            "benchmarks/report/structures.tsv"
        script:
            "../workflow/scripts/draw_structures.py"


if "traits" in PARTS:
    HEXBINS = [hexbins_figure(model) for model in FILES.models_of_traits()]
    FIGURES += HEXBINS

    rule draw_hexbins:
        """Prior against corrected scores of traits by sentence structure, a figure a model."""
        input:
            FILES.results["traits"],
        output:
            drawn("hexbins", *HEXBINS),
        log:
            "logs/report/hexbins.log",
        benchmark:
            "benchmarks/report/hexbins.tsv"
        params:
            models=FILES.models_of_traits(),
        script:
            "../workflow/scripts/draw_hexbins.py"


if COMPARED:
    FIGURES += ["published"]

    rule draw_published:
        """The study beside a paper's numbers."""
        input:
            COMPARED[0],
        output:
            drawn("published", "published"),
        log:
            "logs/report/published.log",
        benchmark:
            "benchmarks/report/published.tsv"
        script:
            "../workflow/scripts/draw_published.py"


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
BESIDE = [*figure_files(*FIGURES), *TABLES, *COMPARED, *expand("results/report/data/{name}", name=DATA), *CARDS]


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
        studied=STUDY.studied,
        missing=FILES.missing,
        page="results/report/index.html",
        files=BESIDE,
        # functions of `input` are not compared: where vectors come from the cache, less is known of the corpus
        corpus=lambda wildcards, input: FILES.corpus(),
        manifest=lambda wildcards, input: [
            path for path in ["results/corpus.json"] if not STUDY.computed and Path(path).exists()
        ],
    script:
        "../workflow/scripts/describe_study.py"


rule write_page:
    """The page: what was measured, how, how sure it is, and from what."""
    input:
        **FILES.results,
        **FILES.of_texts(),
        **FILES.of_words(),
        **FILES.of_pairs(),
        comparison=COMPARED,
        figures=expand("results/report/figures/{name}.svg", name=FIGURES),
        files=BESIDE,
    output:
        in_report("results/report/index.html", "page", "Page", page=config["title"]),
    log:
        "logs/report/page.log",
    benchmark:
        "benchmarks/report/page.tsv"
    params:
        study=SETTINGS.page(),
        studied=STUDY.studied,
        missing=FILES.missing,
    script:
        "../workflow/scripts/write_page.py"


REPORT = ["results/report/index.html", "results/summary.json", *CARDS]


rule figures:
    """Everything that can be redrawn from cached results."""
    input:
        REPORT,
