"""Static vectors, trained on the corpus or read from a file.

The corpus is cut into sentences of words once. A training depends only on these and on its options and keeps its whole
vocabulary; with another word list, only other words are looked up in it.
"""

from prasanga.plan.models import complete_training, estimate_training

VECTORS = config["static"]["vectors"]
TRAININGS = {name: complete_training(each["train"]) for name, each in VECTORS.items() if "train" in each}

if STUDY.computed:
    TRAINING = estimate_training(STUDY.texts.corpus_megabytes())

    rule cut_corpus:
        """The corpus as a text file of sentences, read once for all trainings."""
        input:
            corpus=local_paths(STUDY.texts.whole_files()),
        output:
            "<results>/static/corpus.txt",
        log:
            "<logs>/static/corpus.log",
        resources:
            mem_mb=lambda wildcards, attempt: attempt * TRAINING["mem_mb"],
            runtime=lambda wildcards, attempt: attempt * TRAINING["runtime"],
        params:
            version={"STATIC_VERSION": STATIC_VERSION},
            cutting=SETTINGS.whole_corpus("language", "normalization", "replacements"),
        script:
            "../workflow/scripts/cut_corpus.py"

    rule train_static:
        """Static vectors of every word of the corpus that is frequent enough."""
        input:
            "<results>/static/corpus.txt",
        output:
            "<results>/static/{vectors}.vectors.parquet",
        log:
            "<logs>/static/{vectors}.train.log",
        wildcard_constraints:
            vectors=name_in(TRAININGS),
        threads: lambda wildcards: TRAININGS[wildcards.vectors].get("workers", 1)
        resources:
            mem_mb=lambda wildcards, attempt: attempt * TRAINING["mem_mb"],
            runtime=lambda wildcards, attempt: attempt * TRAINING["runtime"],
        params:
            version={"STATIC_VERSION": STATIC_VERSION},
            training=lambda wildcards: TRAININGS[wildcards.vectors],
        script:
            "../workflow/scripts/train_static.py"


if STUDY.words.lexicon.forms:

    rule read_trained:
        """The vectors of the study's words, from a training."""
        input:
            ancient(WORD_LISTS),
            trained="<results>/static/{vectors}.vectors.parquet",
        output:
            "<results>/static/{vectors}.parquet",
        log:
            "<logs>/static/{vectors}.log",
        wildcard_constraints:
            vectors=name_in(TRAININGS),
        params:
            reading=lambda wildcards: SETTINGS.static_reading(wildcards.vectors),
        script:
            "../workflow/scripts/read_static.py"

    use rule read_trained as read_vectors with:
        # The same from a file in one of the usual formats.
        input:
            ancient(WORD_LISTS),
            file=lambda wildcards: STUDY.vectors[wildcards.vectors],
        wildcard_constraints:
            vectors=name_in(STUDY.vectors),
