"""Corpus files to sentences with located stimuli; one job reads small files, a large one, or a part of it."""


rule extract_sentences:
    """The sentences of corpus files, or a part of one, that have a stimulus, with the sentences around them."""
    input:
        corpus=lambda wildcards: local_paths(STUDY.texts.shards[wildcards.shard]),
        forms="<results>/lexicon/forms.parquet",
    output:
        sentences="<results>/sentences/{shard}.parquet",
        counts="<results>/sentences/{shard}.json",
    log:
        "<logs>/sentences/{shard}.log",
    params:
        version={"SENTENCES_VERSION": SENTENCES_VERSION},
        extraction=lambda wildcards: SETTINGS.shard(STUDY.texts.shards[wildcards.shard]),
    script:
        "../workflow/scripts/extract_sentences.py"


use rule extract_sentences as extract_supplement with:
    # The same for the texts that are read only for stimuli with too few contexts.
    input:
        corpus=lambda wildcards: local_paths(STUDY.texts.supplement[wildcards.shard]),
        forms="<results>/lexicon/forms.parquet",
        short="<results>/samples/short.json",
    output:
        sentences="<results>/sentences/supplement/{shard}.parquet",
        counts="<results>/sentences/supplement/{shard}.json",
    log:
        "<logs>/sentences/supplement/{shard}.log",
    params:
        extraction=lambda wildcards: SETTINGS.shard(STUDY.texts.supplement[wildcards.shard]),


rule sentences:
    """All sentences with a stimulus."""
    input:
        FILES.fill(SENTENCES),


rule audit_sentences:
    """Forms and suffixes with their hits, lengths of contexts, a concordance: what a reader judges the lexicon by."""
    input:
        sentences=FILES.fill(SENTENCES, SUPPLEMENT),
        forms="<results>/lexicon/forms.parquet",
    output:
        **{name: f"<results>/sentences/audit/{name}.parquet" for name in AUDIT},
        **{f"{name}_tsv": f"<results>/sentences/audit/{name}.tsv" for name in AUDIT},
    log:
        "<logs>/sentences/audit.log",
    params:
        audit=SETTINGS.select("sentences: concordance; seed"),
    script:
        "../workflow/scripts/audit_sentences.py"


RELEASED = "https://huggingface.co/datasets/csebuetnlp/BanglaContextualBias"


rule fetch_released_sentences:
    """The sentences that the authors of the Bangla paper released, from the network; no other rule needs them."""
    output:
        "<results>/sentences/authors/weat_word_extracted_sentences.zip",
    log:
        "<logs>/sentences/fetch_released_sentences.log",
    retries: 2
    localrule: True
    params:
        fetching={"url": f"{RELEASED}/resolve/main/weat_word_extracted_sentences.zip", "sha256": None},
    script:
        "../workflow/scripts/fetch_released_sentences.py"
