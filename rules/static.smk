"""Static vectors, trained on the corpus or read from a file.

A training depends on the corpus and on its options alone and keeps its whole vocabulary; another word list only looks
other words up in it.
"""

from prasanga.plan.inputs import training_resources

if STUDY.computed:

    rule train_static:
        """Static vectors of every word of the corpus that is frequent enough."""
        input:
            corpus=ancient(STUDY.local_paths(STUDY.whole_files())),
        output:
            "results/static/{vectors}.vectors.parquet",
        log:
            "logs/static/{vectors}.train.log",
        benchmark:
            "benchmarks/static/{vectors}.train.tsv"
        wildcard_constraints:
            vectors=name_in(STUDY.vectors.trained),
        # on a cluster, unless the profile says otherwise; nothing holds a job on this machine to them
        resources:
            mem_mb=lambda wildcards, input, attempt: attempt * training_resources(input.size_mb)["mem_mb"],
            runtime=lambda wildcards, input, attempt: attempt * training_resources(input.size_mb)["runtime"],
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
