"""Word lists and suffix groups to the table of surface forms."""


rule compile_lexicon:
    """The surface forms of every stimulus, for the matcher and for the reader, and the categories with their words."""
    input:
        lexicon_files,
    output:
        forms="results/lexicon/forms.parquet",
        categories="results/lexicon/categories.json",
    log:
        "logs/lexicon/compile.log",
    benchmark:
        "benchmarks/lexicon/compile.tsv"
    params:
        lexicon=config["lexicon"],
    script:
        "../workflow/scripts/compile_lexicon.py"
