"""Static vectors, trained on the corpus or read from a file.

The corpus is cut into words once. A training depends on these and on its options alone and keeps its whole vocabulary;
another word list only looks other words up in it.
"""

from prasanga.plan.models import training_resources

if STUDY.computed:
    TRAINING = training_resources(STUDY.corpus_megabytes())

    rule cut_corpus:
        """The corpus as sentences of numbered words, read once for all trainings."""
        input:
            corpus=ancient(STUDY.local_paths(STUDY.whole_files())),
        output:
            sentences="results/static/corpus/sentences.parquet",
            words="results/static/corpus/words.parquet",
        log:
            "logs/static/corpus/cut.log",
        benchmark:
            "benchmarks/static/corpus/cut.tsv"
        # on a cluster, unless the profile says otherwise; on this machine, at most the cores that Snakemake is given
        threads: TRAINING["threads"]
        resources:
            mem_mb=lambda wildcards, attempt: attempt * TRAINING["mem_mb"],
            runtime=lambda wildcards, attempt: attempt * TRAINING["runtime"],
        params:
            cutting=SETTINGS.cutting(),
        script:
            "../workflow/scripts/cut_corpus.py"

    rule train_static:
        """Static vectors of every word of the corpus that is frequent enough."""
        input:
            sentences="results/static/corpus/sentences.parquet",
            words="results/static/corpus/words.parquet",
        output:
            "results/static/{vectors}.vectors.parquet",
        log:
            "logs/static/{vectors}.train.log",
        benchmark:
            "benchmarks/static/{vectors}.train.tsv"
        wildcard_constraints:
            vectors=name_in(STUDY.vectors.trained),
        threads: TRAINING["threads"]
        resources:
            mem_mb=lambda wildcards, attempt: attempt * TRAINING["mem_mb"],
            runtime=lambda wildcards, attempt: attempt * TRAINING["runtime"],
        params:
            training=lambda wildcards: SETTINGS.static_training(wildcards.vectors),
        script:
            "../workflow/scripts/train_static.py"


if STUDY.lexicon:

    rule read_trained:
        """The vectors of the study's words out of a training."""
        input:
            ancient(FILES.word_lists()),
            trained="results/static/{vectors}.vectors.parquet",
        output:
            "results/static/{vectors}.parquet",
        log:
            "logs/static/{vectors}.log",
        benchmark:
            "benchmarks/static/{vectors}.tsv"
        wildcard_constraints:
            vectors=name_in(STUDY.vectors.trained),
        params:
            reading=lambda wildcards: SETTINGS.static_reading(wildcards.vectors),
        script:
            "../workflow/scripts/read_static.py"

    use rule read_trained as read_vectors with:
        # The same out of a file in one of the usual formats.
        input:
            ancient(FILES.word_lists()),
            file=ancient(lambda wildcards: STUDY.vectors.files[wildcards.vectors]),
        wildcard_constraints:
            vectors=name_in(STUDY.vectors.files),
