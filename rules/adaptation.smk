"""Pairs to another society and to another language, by people: sheets go out and come back; runs when asked for only.

    snakemake adapt_pairs            a sheet by which the pairs are kept, modified or removed
    snakemake read_adaptation        the sheet that came back, checked, as pairs
    snakemake translate_pairs        candidates of all engines, a sheet for each annotator
    snakemake choose_translations    the sheets that came back, as pairs
    snakemake shared_pieces          pieces that the modified words of pairs share, by model

Sheets that came back are read from a folder that no rule writes (`construction.returned`).
"""


include: "adaptation_inputs.smk"


rule write_adaptation_sheet:
    """A sheet with a row for each pair, and the page that goes with it."""
    input:
        pairs=pairs_to_construct,
    output:
        sheet=f"{ADAPTATION}/sheet.csv",
        instructions=f"{ADAPTATION}/instructions.md",
    log:
        "logs/construction/adaptation_sheet.log",
    benchmark:
        "benchmarks/construction/adaptation_sheet.tsv"
    params:
        adaptation=adaptation_settings(),
    script:
        "../workflow/scripts/write_adaptation_sheet.py"


rule adapt_pairs:
    """The sheet by which pairs are kept, modified or removed."""
    input:
        rules.write_adaptation_sheet.output,


rule check_adaptation:
    """The adapted pairs of the sheet that came back, what is to be looked at, and counts."""
    input:
        pairs=pairs_to_construct,
        sheet=lambda wildcards: returned_sheet(f"{RETURNED}/adaptation.csv"),
    output:
        pairs=f"{ADAPTATION}/pairs.csv",
        findings=f"{ADAPTATION}/findings.csv",
        report=f"{ADAPTATION}/report.csv",
        summary=f"{ADAPTATION}/summary.csv",
    log:
        "logs/construction/adaptation.log",
    benchmark:
        "benchmarks/construction/adaptation.tsv"
    params:
        adaptation=adaptation_settings(),
    script:
        "../workflow/scripts/read_adaptation.py"


rule read_adaptation:
    """The adapted pairs, in our own layout."""
    input:
        rules.check_adaptation.output,


rule propose_translations:
    """Translations of both sentences of each pair by one engine."""
    input:
        pairs=pairs_to_construct,
        model=lambda wildcards: FILES.model(wildcards.family),
    output:
        f"{TRANSLATION}/candidates/{{family}}.parquet",
    log:
        "logs/construction/translations/{family}.log",
    benchmark:
        "benchmarks/construction/translations/{family}.tsv"
    threads: lambda wildcards: cores_beside(config["models"][wildcards.family]["cards"])
    resources:
        gpu=lambda wildcards: config["models"][wildcards.family]["cards"],
        cards=lambda wildcards: config["models"][wildcards.family]["cards"],
    params:
        translation=lambda wildcards: {
            **SETTINGS.model(wildcards.family),
            "dtype": config["models"][wildcards.family]["dtype"],
            "files": SETTINGS.model_files(wildcards.family),
            "into": config["construction"]["into"],
            "codes": config["models"][wildcards.family].get("language_codes", {}),
            "prefix": config["construction"].get("prefixes", {}).get(wildcards.family),
            "seed": config["seed"],
        },
    script:
        "../workflow/scripts/propose_translations.py"


rule write_translation_sheets:
    """A sheet for each annotator that names no engine, and the key to its letters, which is no part of the sheets."""
    input:
        pairs=pairs_to_construct,
        candidates=translations,
    output:
        key=f"{TRANSLATION}/key.csv",
        sheets=expand(f"{TRANSLATION}/sheets/{{annotator}}.csv", annotator=config["construction"]["annotators"]),
        instructions=f"{TRANSLATION}/sheets/instructions.md",
    log:
        "logs/construction/translation_sheets.log",
    benchmark:
        "benchmarks/construction/translation_sheets.tsv"
    params:
        sheets={"into": config["construction"]["into"], "seed": config["seed"]},
    script:
        "../workflow/scripts/write_translation_sheets.py"


rule translate_pairs:
    """The sheets on which annotators choose a translation of each pair."""
    input:
        rules.write_translation_sheets.output,


rule resolve_translations:
    """The translated pairs, what became of each pair, and how often each engine was chosen."""
    input:
        pairs=pairs_to_construct,
        # what was given out, kept with what came back: translating anew must not change what a letter meant
        key=returned_key,
        sheets=returned_translations,
        decisions=decisions_on_translations,
    output:
        pairs=f"{TRANSLATION}/pairs.csv",
        report=f"{TRANSLATION}/report.csv",
        engines=f"{TRANSLATION}/engines.csv",
    log:
        "logs/construction/choices.log",
    benchmark:
        "benchmarks/construction/choices.tsv"
    params:
        choices={"into": config["construction"]["into"], "annotators": config["construction"]["annotators"]},
    script:
        "../workflow/scripts/choose_translations.py"


rule choose_translations:
    """The translated pairs, in our own layout."""
    input:
        rules.resolve_translations.output,


rule find_shared_pieces:
    """The pieces that modified words of a set's pairs share, by one model's tokenizer."""
    input:
        pairs="results/pairs/{set}.parquet",
        model=lambda wildcards: FILES.model(wildcards.family),
    output:
        table="results/construction/shared_pieces/{set}/{family}.pieces.parquet",
        counts="results/construction/shared_pieces/{set}/{family}.counts.parquet",
    log:
        "logs/construction/shared_pieces/{set}/{family}.log",
    benchmark:
        "benchmarks/construction/shared_pieces/{set}/{family}.tsv"
    wildcard_constraints:
        set=r"[A-Za-z0-9][A-Za-z0-9_.-]*",
    params:
        pieces=lambda wildcards: {
            **SETTINGS.model(wildcards.family),
            "files": SETTINGS.model_files(wildcards.family),
        },
    script:
        "../workflow/scripts/find_shared_pieces.py"


rule gather_shared_pieces:
    """The shared pieces of all sets and models, and how many pairs they concern."""
    input:
        table=lambda wildcards: sets_by_model("pieces.parquet"),
        counts=lambda wildcards: sets_by_model("counts.parquet"),
    output:
        table="results/construction/shared_pieces.csv",
        counts="results/construction/shared_pieces_counts.csv",
    log:
        "logs/construction/shared_pieces.log",
    benchmark:
        "benchmarks/construction/shared_pieces.tsv"
    script:
        "../workflow/scripts/gather_shared_pieces.py"


rule shared_pieces:
    """Figure 3 of Sahoo et al. 2024 for the study's models."""
    input:
        rules.gather_shared_pieces.output,
