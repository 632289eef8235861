"""Word lists and suffix groups to the table of surface forms, and the categories; and a ranking of candidate words.

The lexicon is read while planning (`prasanga.plan.Study`), and what it comes to is a parameter here, so the files themselves
are `ancient`: another gloss makes the categories anew, and does not search the corpus again.
"""

if STUDY.words.lexicon:

    rule compile_forms:
        """The surface forms of every stimulus, for the matcher and for the reader."""
        input:
            ancient(FILES.word_lists()),
        output:
            table="results/lexicon/forms.parquet",
            for_spreadsheets="results/lexicon/forms.tsv",
        log:
            "logs/lexicon/forms.log",
        benchmark:
            "benchmarks/lexicon/forms.tsv"
        priority: 100  # the models are looked at by these forms before anything else is done
        params:
            version={"SENTENCES_VERSION": SENTENCES_VERSION},
            lexicon=SETTINGS.forms(),
        script:
            "../workflow/scripts/compile_forms.py"

    rule compile_categories:
        """The categories with their words and glosses, for the page."""
        input:
            ancient(FILES.word_lists()),
        output:
            "results/lexicon/categories.json",
        log:
            "logs/lexicon/categories.log",
        benchmark:
            "benchmarks/lexicon/categories.tsv"
        params:
            lexicon=SETTINGS.categories(),
        script:
            "../workflow/scripts/compile_categories.py"

    if STUDY.computed:

        rule count_forms:
            """How often each form stands in a sample of the corpus, or of a study without one in SEAT's sentences.

            By that tokenizers are judged. Of a study with a corpus the sentences are no input: for another template, every
            model would be checked again.
            """
            input:
                corpus=STUDY.local_paths(STUDY.sampled_files()),
                forms="results/lexicon/forms.parquet",
                templates=["results/samples/templates.parquet"] if STUDY.asks_for("seat") and not STUDY.labels else [],
            output:
                "results/lexicon/occurrences.parquet",
            log:
                "logs/lexicon/occurrences.log",
            benchmark:
                "benchmarks/lexicon/occurrences.tsv"
            priority: 100  # as the forms
            params:
                version={"SENTENCES_VERSION": SENTENCES_VERSION},
                sampling=SETTINGS.sampled_forms(),
            script:
                "../workflow/scripts/count_forms.py"


if STUDY.computed and config["lexicon"]["candidates"]:
    # Runs when asked for (`snakemake rank_candidates`) and for nothing else: the words of a study are those of its files,
    # and no count of a corpus changes them.
    from prasanga.extras.candidates import read_candidates

    CANDIDATES = readable(STUDY.plan_candidates)
    CANDIDATE_SETS = readable(lambda: read_candidates(config["lexicon"]["candidates"], STUDY.normalization))

    use rule compile_forms as compile_candidates with:
        # The surface forms of every candidate.
        input:
            ancient(FILES.candidates()),
        output:
            table="results/lexicon/candidates.parquet",
            for_spreadsheets="results/lexicon/candidates.tsv",
        log:
            "logs/lexicon/candidates.log",
        benchmark:
            "benchmarks/lexicon/candidates.tsv"
        priority: 0
        params:
            lexicon={**SETTINGS.candidates(), "forms": CANDIDATES.forms},

    rule count_candidates:
        """How often each candidate stands in one part of the corpus."""
        input:
            corpus=lambda wildcards: STUDY.local_paths([STUDY.texts.shards[wildcards.shard]]),
            forms="results/lexicon/candidates.parquet",
        output:
            "results/lexicon/counts/{shard}.parquet",
        log:
            "logs/lexicon/counts/{shard}.log",
        benchmark:
            "benchmarks/lexicon/counts/{shard}.tsv"
        params:
            version={"SENTENCES_VERSION": SENTENCES_VERSION},
            extraction=lambda wildcards: SETTINGS.counting(STUDY.texts.shards[wildcards.shard]),
        script:
            "../workflow/scripts/count_candidates.py"

    rule rank_candidates:
        """The candidates by frequency, and the first of each set as a word set to copy to the stimuli."""
        input:
            counts=expand("results/lexicon/counts/{shard}.parquet", shard=sorted(STUDY.texts.shards)),
            sets=ancient(FILES.candidates()),
        output:
            ranking="results/lexicon/candidates.csv",
            sets=[f"results/lexicon/candidates/{each.name}.yaml" for each in CANDIDATE_SETS],
        log:
            "logs/lexicon/ranking.log",
        benchmark:
            "benchmarks/lexicon/ranking.tsv"
        params:
            ranking=SETTINGS.ranking(CANDIDATE_SETS),
        script:
            "../workflow/scripts/rank_candidates.py"

elif STUDY.computed:

    rule rank_candidates:
        """Without candidates there is nothing to rank; asking for it says what to write."""
        input:
            lambda wildcards: readable(FILES.candidates),
