"""Word lists, suffix groups and templates to surface forms, categories and filled sentences.

The lexicon is read while planning (`prasanga.plan`), and its digests are parameters here, so the files themselves are
`ancient`: another gloss makes the categories again, and searches no corpus again.
"""

if STUDY.words.lexicon.forms:
    WORD_LISTS = list_word_files(STUDY.words.source)

    rule compile_forms:
        """The surface forms of every stimulus, for the matcher and for the reader."""
        input:
            ancient(WORD_LISTS),
        output:
            table="<results>/lexicon/forms.parquet",
            for_spreadsheets="<results>/lexicon/forms.tsv",
        log:
            "<logs>/lexicon/forms.log",
        priority: 100
        params:
            version={"SENTENCES_VERSION": SENTENCES_VERSION},
            lexicon={**STUDY.words.source, "forms": STUDY.words.lexicon.forms},
        script:
            "../workflow/scripts/compile_forms.py"

    rule compile_categories:
        """The categories with their words and glosses, for the page."""
        input:
            ancient(WORD_LISTS),
        output:
            "<results>/lexicon/categories.json",
        log:
            "<logs>/lexicon/categories.log",
        params:
            lexicon={**STUDY.words.source, "categories": digest_of(STUDY.words.lexicon.categories)},
        script:
            "../workflow/scripts/compile_categories.py"

    if STUDY.asks_for(SEAT):

        rule fill_templates:
            """The sentences of all words of SEAT's categories, each word in every template of its class."""
            input:
                ancient(WORD_LISTS),
                templates=ancient(list(map(str, template_files(config["seat"]["templates"])))),
            output:
                "<results>/samples/templates.parquet",
            log:
                "<logs>/samples/templates.log",
            priority: 100
            params:
                version={"SENTENCES_VERSION": SENTENCES_VERSION},
                filling=SETTINGS.templates(),
            script:
                "../workflow/scripts/fill_templates.py"


if STUDY.computed and config["lexicon"]["candidates"]:
    # Runs only when asked for (`snakemake rank_candidates`): the words of a study come from its files, and no count of a
    # corpus changes them.
    from prasanga.extras.corpora import read_candidates

    CANDIDATES, PLANNED_CANDIDATES = readable(plan_candidates, config)
    CANDIDATE_FILES = list_word_files(CANDIDATES)
    CANDIDATE_SETS = readable(lambda: read_candidates(config["lexicon"]["candidates"], STUDY.normalization))

    use rule compile_forms as compile_candidates with:
        # The surface forms of every candidate.
        input:
            ancient(CANDIDATE_FILES),
        output:
            table="<results>/lexicon/candidates.parquet",
            for_spreadsheets="<results>/lexicon/candidates.tsv",
        log:
            "<logs>/lexicon/candidates.log",
        params:
            lexicon={**CANDIDATES, "forms": PLANNED_CANDIDATES.forms},

    rule count_candidates:
        """How often each candidate occurs in one part of the corpus."""
        input:
            corpus=lambda wildcards: local_paths(STUDY.texts.shards[wildcards.shard]),
            forms="<results>/lexicon/candidates.parquet",
        output:
            "<results>/lexicon/counts/{shard}.parquet",
        log:
            "<logs>/lexicon/counts/{shard}.log",
        params:
            version={"SENTENCES_VERSION": SENTENCES_VERSION},
            # as stimuli are looked for, without contexts
            extraction=lambda wildcards: SETTINGS.shard(STUDY.texts.shards[wildcards.shard]) | {"before": 0, "after": 0},
        script:
            "../workflow/scripts/count_candidates.py"

    rule rank_candidates:
        """The candidates by frequency, and the first of each set as a word set to copy to the stimuli."""
        input:
            counts=expand("<results>/lexicon/counts/{shard}.parquet", shard=sorted(STUDY.texts.shards)),
            sets=ancient(CANDIDATE_FILES),
        output:
            ranking="<results>/lexicon/candidates.csv",
            sets=[f"<results>/lexicon/candidates/{each.name}.yaml" for each in CANDIDATE_SETS],
        log:
            "<logs>/lexicon/ranking.log",
        params:
            ranking={
                **SETTINGS.select("lexicon: candidates top"),
                "normalization": STUDY.normalization,
                "entries": digest_of(CANDIDATE_SETS),
            },
        script:
            "../workflow/scripts/rank_candidates.py"
