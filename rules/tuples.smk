"""From tuples of identity and attribute to pairs, through people's hands; runs when asked for only.

    snakemake propose_attributes         a model's attributes of every identity term
    snakemake write_annotation_sheets    a sheet for each annotator
    snakemake score_annotations          the sheets that came back: votes, and how far they agree
    snakemake propose_sentences          a model's sentences about the tuples that are kept
    snakemake build_pairs                pairs in our own layout, from templates and sentences

Sheets that came back are read from a folder that no rule writes (`construction.returned`).
"""


include: "tuples_inputs.smk"


rule propose_attributes:
    """Ten positive and ten negative attributes of every identity term, and what could not be used of the answers."""
    input:
        identities=IDENTITIES,
        templates=TEMPLATES_OF_PAIRS,
        model=proposer_files,
    output:
        tuples=PROPOSED,
        lost="results/construction/attributes_lost.csv",
    log:
        "logs/construction/attributes.log",
    benchmark:
        "benchmarks/construction/attributes.tsv"
    threads: cores_beside(proposer_cards())
    resources:
        gpu=proposer_cards(),
        cards=proposer_cards(),
    params:
        proposing=proposer_settings(),
    script:
        "../workflow/scripts/propose_attributes.py"


rule write_annotation_sheets:
    """A sheet for each annotator, in an order of their own, and the page that goes with it."""
    input:
        tuples=tuples_to_annotate(),
        identities=IDENTITIES,
    output:
        sheets=expand("results/construction/sheets/{annotator}.csv", annotator=ANNOTATORS),
        instructions="results/construction/sheets/instructions.md",
    log:
        "logs/construction/sheets.log",
    benchmark:
        "benchmarks/construction/sheets.tsv"
    params:
        sheets={"annotators": ANNOTATORS, "seed": config["seed"]},
    script:
        "../workflow/scripts/write_annotation_sheets.py"


rule score_annotations:
    """The tuples with their votes, and Fleiss' kappa, of all and by bias type."""
    input:
        sheets=filled_sheets,
        tuples=tuples_to_annotate(),
        identities=IDENTITIES,
    output:
        tuples="results/construction/tuples.csv",
        agreement="results/construction/agreement.csv",
    log:
        "logs/construction/agreement.log",
    benchmark:
        "benchmarks/construction/agreement.tsv"
    params:
        scoring={"annotators": ANNOTATORS, "votes": CONSTRUCTION["votes"]},
    script:
        "../workflow/scripts/score_annotations.py"


rule propose_sentences:
    """Five sentences about every tuple that is kept, as a sheet to review, and what could not be used of the answers."""
    input:
        tuples=annotated_tuples(),
        identities=IDENTITIES,
        templates=TEMPLATES_OF_PAIRS,
        model=proposer_files,
    output:
        sentences="results/construction/sentences.csv",
        lost="results/construction/sentences_lost.csv",
    log:
        "logs/construction/sentences.log",
    benchmark:
        "benchmarks/construction/sentences.tsv"
    threads: cores_beside(proposer_cards())
    resources:
        gpu=proposer_cards(),
        cards=proposer_cards(),
    params:
        proposing={**proposer_settings(), "votes": CONSTRUCTION["votes"], "annotators": len(ANNOTATORS)},
    script:
        "../workflow/scripts/propose_sentences.py"


rule build_pairs:
    """Pairs in our own layout, minimally distant, and the drafts that were left out with the reason."""
    input:
        tuples=annotated_tuples(),
        identities=IDENTITIES,
        templates=TEMPLATES_OF_PAIRS,
        sentences=sentences_of_pairs,
    output:
        pairs="results/construction/pairs.csv",
        left_out="results/construction/pairs_left_out.csv",
    log:
        "logs/construction/pairs.log",
    benchmark:
        "benchmarks/construction/pairs.tsv"
    params:
        building={
            "votes": CONSTRUCTION["votes"],
            "annotators": len(ANNOTATORS),
            "proposer": CONSTRUCTION["proposer"],
            "reviewed": REVIEWED_SENTENCES,
        },
    script:
        "../workflow/scripts/build_pairs.py"
