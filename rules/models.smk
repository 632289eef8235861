"""Models: each is checked before it runs."""


checkpoint check_model:
    """Which model it is, and whether it can be run here, before the corpus is read.

    A checkpoint, so that another question about a model embeds nothing again.
    """
    input:
        model=lambda wildcards: FILES.model(wildcards.family),
    output:
        "<results>/models/{family}.json",
    log:
        "<logs>/models/{family}.check.log",
    priority: 100
    params:
        version={"CHECKS_VERSION": CHECKS_VERSION},
        check=lambda wildcards: SETTINGS.check(wildcards.family),
    script:
        "../workflow/scripts/check_model.py"


checkpoint audit_tokenizers:
    """How often each form occurs in a sample of the texts, and how the tokenizer of each model treats the forms.

    Forms in the sentences of SEAT count too, so that a text without the study's words does not decide. A tokenizer that
    ruins the words is refused here, so models that embed wait for it. A checkpoint, so that another form embeds nothing
    again.
    """
    input:
        corpus=local_paths(STUDY.texts.sampled_files() if STUDY.labels else []),
        forms="<results>/lexicon/forms.parquet",
        templates=["<results>/samples/templates.parquet"] if STUDY.asks_for(SEAT) else [],
        reports=expand("<results>/models/{family}.json", family=config["models"]),
    output:
        counts="<results>/lexicon/occurrences.parquet",
        summaries=expand("<results>/models/{family}.tokenizer.json", family=config["models"]),
        words=expand("<results>/models/{family}.tokenizer.parquet", family=config["models"]),
    log:
        "<logs>/models/tokenizers.log",
    priority: 100
    params:
        version={"SENTENCES_VERSION": SENTENCES_VERSION, "CHECKS_VERSION": CHECKS_VERSION},
        sampling=SETTINGS.sampled_forms(),
        models={family: SETTINGS.tokenizer(family) for family in config["models"]},
    script:
        "../workflow/scripts/audit_tokenizers.py"
