"""Tables to figures and the page. Needs cached results only, and never imports torch."""


rule draw_effect_by_length:
    """Effect size against context length, one panel a category."""
    input:
        "results/associations/ceat.parquet",
    output:
        multiext("results/report/figures/effect_by_length", ".svg", ".pdf", ".png"),
    log:
        "logs/report/effect_by_length.log",
    benchmark:
        "benchmarks/report/effect_by_length.tsv"
    script:
        "../workflow/scripts/draw_effect_by_length.py"


rule draw_settling:
    """How far effects are from those at the longest length, and how they move as draws are added."""
    input:
        estimates="results/associations/ceat.parquet",
        differences="results/associations/ceat_differences.parquet",
        settling="results/associations/ceat_settling.parquet",
        convergence="results/associations/ceat_convergence.parquet",
    output:
        multiext("results/report/figures/settling", ".svg", ".pdf", ".png"),
        multiext("results/report/figures/convergence", ".svg", ".pdf", ".png"),
    log:
        "logs/report/settling.log",
    benchmark:
        "benchmarks/report/settling.tsv"
    params:
        band=config["associations"]["band"],
    script:
        "../workflow/scripts/draw_settling.py"


rule write_tables:
    """The table in the paper's layout."""
    input:
        "results/associations/ceat.parquet",
    output:
        multiext("results/report/tables/ceat", ".csv", ".md", ".tex"),
    log:
        "logs/report/tables.log",
    benchmark:
        "benchmarks/report/tables.tsv"
    script:
        "../workflow/scripts/write_tables.py"


PAIR_FIGURES = []
STRUCTURES, STRUCTURE_FIGURES = [], []


if BIAS:
    PAIR_FIGURES = expand(
        "results/report/figures/{name}.{ending}",
        name=["score_differences", "score_differences_by_type"],
        ending=["svg", "pdf", "png"],
    )

    rule draw_pairs:
        """Densities of the difference of scores of sentence pairs, by language and by bias type."""
        input:
            "results/likelihoods/pair_differences.parquet",
        output:
            PAIR_FIGURES,
        log:
            "logs/report/pairs.log",
        benchmark:
            "benchmarks/report/pairs.tsv"
        script:
            "../workflow/scripts/draw_pairs.py"


if TRAITS and MASKED:
    STRUCTURES = [f"results/likelihoods/{name}.parquet" for name in ("structures", "structure_differences")]
    STRUCTURE_FIGURES = multiext("results/report/figures/structures", ".svg", ".pdf", ".png")

    rule draw_structures:
        """How log-probability bias spreads over the traits in each sentence structure."""
        input:
            STRUCTURES[:1],
        output:
            STRUCTURE_FIGURES,
        log:
            "logs/report/structures.log",
        benchmark:
            "benchmarks/report/structures.tsv"
        script:
            "../workflow/scripts/draw_structures.py"


rule write_page:
    """The page: what was measured, how, how sure it is, and from what."""
    input:
        ceat="results/associations/ceat.parquet",
        categories="results/lexicon/categories.json",
        forms="results/lexicon/forms.parquet",
        coverage=made_by_the_workflow("results/samples/coverage.parquet"),
        counts=sentence_counts(),
        audit=audit_tables(),
        embeddings=embedding_lists(),
        models=model_reports(),
        figure="results/report/figures/effect_by_length.svg",
        differences="results/associations/ceat_differences.parquet",
        settling="results/associations/ceat_settling.parquet",
        settling_figure="results/report/figures/settling.svg",
        convergence_figure="results/report/figures/convergence.svg",
        others=estimates_beside_ceat(),
        log_probability=[path for method, path in ESTIMATES.items() if method == "log_probability_bias"],
        structures=STRUCTURES,
        structures_figure=STRUCTURE_FIGURES[:1],
        pairs=BIAS,
        pairs_figure=PAIR_FIGURES[:1],
        pair_statistics=["results/pairs/statistics.parquet"] if SETS else [],
        pair_oddities=expand("results/pairs/{set}.oddities.parquet", set=SETS),
        tables=["results/report/tables/ceat.csv", *LAYOUTS, *PAIR_TABLES, *COMPARED],
    output:
        "results/report/index.html",
    log:
        "logs/report/page.log",
    benchmark:
        "benchmarks/report/page.tsv"
    params:
        # where the vectors come from, and into how many files they go, is no part of what the page says
        study={
            **config,
            "embeddings": {key: config["embeddings"][key] for key in ("stored_dtype", "unknown", "audit")},
            "normalization": NORMALIZATION,
        },
        studied=STUDIED,
    script:
        "../workflow/scripts/write_page.py"


rule figures:
    """Everything that can be redrawn from cached results."""
    input:
        "results/report/index.html",
        multiext("results/report/figures/effect_by_length", ".svg", ".pdf", ".png"),
        multiext("results/report/figures/settling", ".svg", ".pdf", ".png"),
        multiext("results/report/figures/convergence", ".svg", ".pdf", ".png"),
        STRUCTURE_FIGURES,
        PAIR_FIGURES,
        LAYOUTS,
        PAIR_TABLES,
        COMPARED,
        multiext("results/report/tables/ceat", ".csv", ".md", ".tex"),
