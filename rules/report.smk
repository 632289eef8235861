"""Tables to figures and the page. Needs cached results only, and never imports torch.

A rule is there if the results that it draws are made by the run, or are there already.
"""

from prasanga.report.figures.names import hexbins_figure, words_figure

FIGURES, TABLES, PARTS = [], [*LAYOUTS, *PAIR_TABLES], RESULTS.keys()


if "ceat" in PARTS:
    FIGURES += ["effect_by_length"]
    TABLES += multiext("results/report/tables/ceat", ".csv", ".md", ".tex")

    rule draw_effect_by_length:
        """Effect size against context length, one panel a category."""
        input:
            RESULTS["ceat"],
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
            RESULTS["ceat"],
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
            RESULTS["ceat"],
        output:
            drawn("sample_modes", "sample_modes"),
        log:
            "logs/report/sample_modes.log",
        benchmark:
            "benchmarks/report/sample_modes.tsv"
        script:
            "../workflow/scripts/draw_sample_modes.py"


if "ceat_words" in PARTS and config["categories"] and of_words()["categories"]:
    # Not among the figures of the page, which shows the words themselves; `snakemake results/report/figures/words_C1.pdf`.
    WORDS = [words_figure(category) for category in config["categories"]]

    rule draw_words:
        """Associations of single words, a figure a category."""
        input:
            words=RESULTS["ceat_words"],
            categories=of_words()["categories"][0],
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
            estimates=RESULTS["ceat"],
            differences=RESULTS["differences"],
            settling=RESULTS["settling"],
            convergence=RESULTS["convergence"],
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
            RESULTS["pair_differences"],
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
            RESULTS["structures"],
        output:
            drawn("structures", "structures"),
        log:
            "logs/report/structures.log",
        benchmark:
            "benchmarks/report/structures.tsv"
        script:
            "../workflow/scripts/draw_structures.py"


if "traits" in PARTS:
    HEXBINS = [hexbins_figure(model) for model in models_of_traits()]
    FIGURES += HEXBINS

    rule draw_hexbins:
        """Prior against corrected scores of traits by sentence structure, a figure a model."""
        input:
            RESULTS["traits"],
        output:
            drawn("hexbins", *HEXBINS),
        log:
            "logs/report/hexbins.log",
        benchmark:
            "benchmarks/report/hexbins.tsv"
        params:
            models=models_of_traits(),
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
DATA = {
    **{f"{name}_estimates.csv": csv_of(name) for name in ("ceat", "seat", "weat", "log_probability") if name in PARTS},
    **{
        f"{name}_words.parquet": words_of(name) for name in ("ceat", "seat", "weat", "log_probability") if name in PARTS
    },
    **{f"ceat_{name}.parquet": RESULTS[name] for name in ("differences", "settling", "convergence") if name in PARTS},
    **({"structures_spread.csv": csv_of("structures")} if "structures" in PARTS else {}),
    **({"traits.parquet": RESULTS["traits"]} if "traits" in PARTS else {}),
    **({"bias_percentages.csv": csv_of("bias_percentages")} if "bias_percentages" in PARTS else {}),
    **({"pair_differences.parquet": RESULTS["pair_differences"]} if "pair_differences" in PARTS else {}),
    **({"pair_statistics.csv": csv_of("pair_statistics")} if "pair_statistics" in PARTS else {}),
    **{Path(path).name: path for path in data_of_texts()},
}
DATA = {name: path for name, path in DATA.items() if lies_beside(path)}


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
        **numbers_of_study(),
        records=records_of_study(),
    output:
        summary="results/summary.json",
        methods=in_report("results/report/methods_card.md", "cards", "Cards", card="methods"),
        data=in_report("results/report/data_card.md", "cards", "Cards", card="data"),
    log:
        "logs/report/study.log",
    benchmark:
        "benchmarks/report/study.tsv"
    params:
        study=study_of_page(),
        studied=STUDIED,
        missing=MISSING,
        page="results/report/index.html",
        files=BESIDE,
        # functions of `input` are not compared: where vectors come from the cache, less is known of the corpus
        corpus=lambda wildcards, input: corpus_of_study(),
        manifest=lambda wildcards, input: [
            path for path in ["results/corpus.json"] if not COMPUTED and Path(path).exists()
        ],
    script:
        "../workflow/scripts/describe_study.py"


rule write_page:
    """The page: what was measured, how, how sure it is, and from what."""
    input:
        **RESULTS,
        **of_texts(),
        **of_words(),
        **of_pairs(),
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
        study=study_of_page(),
        studied=STUDIED,
        missing=MISSING,
    script:
        "../workflow/scripts/write_page.py"


REPORT = ["results/report/index.html", "results/summary.json", *CARDS]


rule figures:
    """Everything that can be redrawn from cached results."""
    input:
        REPORT,
