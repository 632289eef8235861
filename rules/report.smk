"""Tables to figures and the page. Needs cached results only, and never imports torch."""


rule draw_figures:
    """Effect size against context length, one panel a category."""
    input:
        "results/associations/ceat.parquet",
    output:
        multiext("results/report/figures/effect_by_length", ".svg", ".pdf", ".png"),
    log:
        "logs/report/figures.log",
    benchmark:
        "benchmarks/report/figures.tsv"
    script:
        "../workflow/scripts/draw_figures.py"


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
        tables=["results/report/tables/ceat.csv", *LAYOUTS, *COMPARED],
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
        LAYOUTS,
        COMPARED,
        multiext("results/report/tables/ceat", ".csv", ".md", ".tex"),
