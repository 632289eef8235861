"""Pairs made by people: from tuples of identity and attribute, for another society, in another language.

Defined when the config or the command line asks for them (`prasanga_construction.planning.is_asked_for`).

    snakemake propose_attributes         a model's attributes of every identity term
    snakemake write_annotation_sheets    a sheet for each annotator
    snakemake score_annotations          the sheets that came back: votes, and how far they agree
    snakemake propose_sentences          a model's sentences about the tuples that are kept
    snakemake build_pairs                pairs in our own layout, from templates and sentences

    snakemake adapt_pairs                a sheet by which the pairs of a set are kept, modified or removed
    snakemake read_adaptation            the sheet that came back, checked, as pairs
    snakemake translate_pairs            candidates of all engines, a sheet for each annotator
    snakemake choose_translations        the sheets that came back, as pairs
    snakemake shared_pieces              pieces that the modified words of pairs share, by model

Sheets that came back are read from a folder that no rule writes (`construction.returned`).
"""

from prasanga_construction.planning import Plan

CONSTRUCTION = Plan(config)
# Of models that propose: which one writes, and the GPUs that each is spread over.
PROPOSER = config["construction"]["proposer"]
ASKED = {family: each["cards"] for family, each in config["models"].items()}
GIVEN = dict.fromkeys(ASKED, 0) if HAS_NO_GPU else ASKED
PROMPTS = [place("resources/construction/prompts.yaml")] if config["construction"]["prompts"] else []
PROPOSING = {}
if PROPOSER in config["models"]:
    PROPOSING = {
        **SETTINGS.model(PROPOSER),
        "dtype": config["models"][PROPOSER]["dtype"],
        "files": SETTINGS.model_files(PROPOSER),
        "prompts": config["construction"]["prompts"],
        "seed": config["seed"],
    }
# What decides which pairs are on the sheet of an adaptation, and which names are suggested.
ADAPTING = {
    "into": config["construction"]["into"],
    "names": place("resources/candidates"),
    "seed": config["seed"],
}


rule propose_attributes:
    """Ten positive and ten negative attributes of every identity term, and what could not be used of the answers."""
    input:
        identities=config["construction"]["identities"],
        templates=config["construction"]["templates"],
        prompts=PROMPTS,
        model=lambda wildcards: FILES.model(readable(CONSTRUCTION.proposer)),
    output:
        tuples="results/construction/attributes.csv",
        lost="results/construction/attributes_lost.csv",
    log:
        "logs/construction/attributes.log",
    benchmark:
        "benchmarks/construction/attributes.tsv"
    threads: 2 if GIVEN.get(PROPOSER) else 1
    resources:
        gpu=ASKED.get(PROPOSER, 1),
        cards=GIVEN.get(PROPOSER, 1),
    params:
        proposing=PROPOSING,
    script:
        "scripts/propose_attributes.py"


rule write_annotation_sheets:
    """A sheet for each annotator, in an order of their own, and the page that goes with it."""
    input:
        tuples=CONSTRUCTION.tuples_to_annotate(),
        identities=config["construction"]["identities"],
    output:
        sheets=expand("results/construction/sheets/{annotator}.csv", annotator=CONSTRUCTION.annotators),
        instructions="results/construction/sheets/instructions.md",
    log:
        "logs/construction/sheets.log",
    benchmark:
        "benchmarks/construction/sheets.tsv"
    params:
        sheets={"annotators": CONSTRUCTION.annotators, "seed": config["seed"]},
    script:
        "scripts/write_annotation_sheets.py"


rule score_annotations:
    """The tuples with their votes, and Fleiss' kappa, of all and by bias type."""
    input:
        sheets=lambda wildcards: readable(CONSTRUCTION.filled_sheets),
        tuples=CONSTRUCTION.tuples_to_annotate(),
        identities=config["construction"]["identities"],
    output:
        tuples="results/construction/tuples.csv",
        agreement="results/construction/agreement.csv",
    log:
        "logs/construction/agreement.log",
    benchmark:
        "benchmarks/construction/agreement.tsv"
    params:
        scoring={"annotators": CONSTRUCTION.annotators, "votes": config["construction"]["votes"]},
    script:
        "scripts/score_annotations.py"


rule propose_sentences:
    """Five sentences about every tuple that is kept, as a sheet to review, and what could not be used of the answers."""
    input:
        tuples=readable(CONSTRUCTION.annotated_tuples),
        identities=config["construction"]["identities"],
        templates=config["construction"]["templates"],
        prompts=PROMPTS,
        model=lambda wildcards: FILES.model(readable(CONSTRUCTION.proposer)),
    output:
        sentences="results/construction/sentences.csv",
        lost="results/construction/sentences_lost.csv",
    log:
        "logs/construction/sentences.log",
    benchmark:
        "benchmarks/construction/sentences.tsv"
    threads: 2 if GIVEN.get(PROPOSER) else 1
    resources:
        gpu=ASKED.get(PROPOSER, 1),
        cards=GIVEN.get(PROPOSER, 1),
    params:
        proposing={**PROPOSING, "votes": config["construction"]["votes"], "annotators": len(CONSTRUCTION.annotators)},
    script:
        "scripts/propose_sentences.py"


rule build_pairs:
    """Pairs in our own layout, minimally distant, and the drafts that were left out with the reason."""
    input:
        tuples=readable(CONSTRUCTION.annotated_tuples),
        identities=config["construction"]["identities"],
        templates=config["construction"]["templates"],
        sentences=lambda wildcards: readable(CONSTRUCTION.sentences),
    output:
        pairs="results/construction/pairs.csv",
        left_out="results/construction/pairs_left_out.csv",
    log:
        "logs/construction/pairs.log",
    benchmark:
        "benchmarks/construction/pairs.tsv"
    params:
        building={
            "votes": config["construction"]["votes"],
            "annotators": len(CONSTRUCTION.annotators),
            "proposer": PROPOSER,
            "reviewed": CONSTRUCTION.reviewed_sentences,
        },
    script:
        "scripts/build_pairs.py"


rule adapt_pairs:
    """The sheet by which pairs are kept, modified or removed, and the page that goes with it."""
    input:
        pairs=lambda wildcards: readable(CONSTRUCTION.pairs),
    output:
        sheet=f"{CONSTRUCTION.adaptation}/sheet.csv",
        instructions=f"{CONSTRUCTION.adaptation}/instructions.md",
    log:
        "logs/construction/adaptation_sheet.log",
    benchmark:
        "benchmarks/construction/adaptation_sheet.tsv"
    params:
        adaptation=ADAPTING,
    script:
        "scripts/adapt_pairs.py"


rule read_adaptation:
    """The adapted pairs of the returned sheet, findings to check, and counts."""
    input:
        pairs=lambda wildcards: readable(CONSTRUCTION.pairs),
        sheet=lambda wildcards: readable(CONSTRUCTION.adapted_sheet),
    output:
        pairs=f"{CONSTRUCTION.adaptation}/pairs.csv",
        findings=f"{CONSTRUCTION.adaptation}/findings.csv",
        report=f"{CONSTRUCTION.adaptation}/report.csv",
        summary=f"{CONSTRUCTION.adaptation}/summary.csv",
    log:
        "logs/construction/adaptation.log",
    benchmark:
        "benchmarks/construction/adaptation.tsv"
    params:
        adaptation=ADAPTING,
    script:
        "scripts/read_adaptation.py"


rule propose_translations:
    """Translations of both sentences of each pair by one engine."""
    input:
        pairs=lambda wildcards: readable(CONSTRUCTION.pairs),
        model=lambda wildcards: FILES.model(wildcards.family),
    output:
        f"{CONSTRUCTION.translation}/candidates/{{family}}.parquet",
    log:
        "logs/construction/translations/{family}.log",
    benchmark:
        "benchmarks/construction/translations/{family}.tsv"
    threads: lambda wildcards: 2 if GIVEN[wildcards.family] else 1
    resources:
        gpu=lambda wildcards: ASKED[wildcards.family],
        cards=lambda wildcards: GIVEN[wildcards.family],
    params:
        translation=lambda wildcards: {
            **SETTINGS.model(wildcards.family),
            "dtype": config["models"][wildcards.family]["dtype"],
            "files": SETTINGS.model_files(wildcards.family),
            "into": config["construction"]["into"],
            "codes": config["models"][wildcards.family].get("language_codes", {}),
            "prefix": config["construction"]["prefixes"].get(wildcards.family),
            "seed": config["seed"],
        },
    script:
        "scripts/propose_translations.py"


rule translate_pairs:
    """A sheet per annotator that does not name engines, and the separate key to its letters."""
    input:
        pairs=lambda wildcards: readable(CONSTRUCTION.pairs),
        candidates=lambda wildcards: readable(CONSTRUCTION.candidates),
        translations=CONSTRUCTION.translations,
    output:
        key=f"{CONSTRUCTION.translation}/key.csv",
        sheets=expand(f"{CONSTRUCTION.translation}/sheets/{{annotator}}.csv", annotator=CONSTRUCTION.annotators),
        instructions=f"{CONSTRUCTION.translation}/sheets/instructions.md",
    log:
        "logs/construction/translation_sheets.log",
    benchmark:
        "benchmarks/construction/translation_sheets.tsv"
    params:
        sheets={"into": config["construction"]["into"], "seed": config["seed"]},
    script:
        "scripts/translate_pairs.py"


rule choose_translations:
    """The translated pairs in our own layout, the result for each pair, and how often each engine was chosen."""
    input:
        pairs=lambda wildcards: readable(CONSTRUCTION.pairs),
        # kept with the returned sheets, because a new translation must not change the meaning of a letter
        key=lambda wildcards: readable(CONSTRUCTION.translation_key),
        sheets=lambda wildcards: readable(CONSTRUCTION.chosen_translations),
        decisions=lambda wildcards: readable(CONSTRUCTION.decisions),
    output:
        pairs=f"{CONSTRUCTION.translation}/pairs.csv",
        report=f"{CONSTRUCTION.translation}/report.csv",
        engines=f"{CONSTRUCTION.translation}/engines.csv",
    log:
        "logs/construction/choices.log",
    benchmark:
        "benchmarks/construction/choices.tsv"
    params:
        choices={"into": config["construction"]["into"], "annotators": CONSTRUCTION.annotators},
    script:
        "scripts/choose_translations.py"


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
        "scripts/find_shared_pieces.py"


rule gather_shared_pieces:
    """The shared pieces of all sets and models, and how many pairs they concern."""
    input:
        table=lambda wildcards: readable(CONSTRUCTION.shared_pieces, "pieces.parquet"),
        counts=lambda wildcards: readable(CONSTRUCTION.shared_pieces, "counts.parquet"),
    output:
        table="results/construction/shared_pieces.csv",
        counts="results/construction/shared_pieces_counts.csv",
    log:
        "logs/construction/shared_pieces.log",
    benchmark:
        "benchmarks/construction/shared_pieces.tsv"
    script:
        "scripts/gather_shared_pieces.py"


rule shared_pieces:
    """Figure 3 of Sahoo et al. 2024 for the study's models."""
    input:
        rules.gather_shared_pieces.output,
