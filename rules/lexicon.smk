"""Word lists and suffix groups to the table of surface forms, and the categories.

The lexicon is read while planning (rules/common.smk), and what it comes to is a parameter here, so the files themselves
are `ancient`: another gloss makes the categories anew, and does not search the corpus again.
"""


rule compile_forms:
    """The surface forms of every stimulus, for the matcher and for the reader."""
    input:
        ancient(lexicon_files),
    output:
        table="results/lexicon/forms.parquet",
        for_spreadsheets="results/lexicon/forms.tsv",
    log:
        "logs/lexicon/forms.log",
    benchmark:
        "benchmarks/lexicon/forms.tsv"
    priority: 100  # the models are looked at by these forms before anything else is done
    params:
        lexicon={**lexicon_settings(), "forms": FORMS},
    script:
        "../workflow/scripts/compile_forms.py"


rule compile_categories:
    """The categories with their words and glosses, for the page."""
    input:
        ancient(lexicon_files),
    output:
        "results/lexicon/categories.json",
    log:
        "logs/lexicon/categories.log",
    benchmark:
        "benchmarks/lexicon/categories.tsv"
    params:
        lexicon={**lexicon_settings(), "categories": digest_of(CATEGORIES)},
    script:
        "../workflow/scripts/compile_categories.py"
