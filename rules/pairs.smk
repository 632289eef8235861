"""Files of sentence pairs to tables: their pairs, their oddities, and the paper's statistics of a set."""

if STUDY.sets:

    rule read_pairs:
        """Each set of pairs as a table, every oddity of its file, and statistics as in Table 6 of Sahoo et al."""
        input:
            ancient([settings["path"] for settings in STUDY.sets.values()]),
        output:
            pairs=expand("<results>/pairs/{set}.parquet", set=STUDY.sets),
            oddities=expand("<results>/pairs/{set}.oddities.parquet", set=STUDY.sets),
            csv=expand("<results>/pairs/{set}.oddities.csv", set=STUDY.sets),
            statistics="<results>/pairs/statistics.parquet",
            statistics_csv="<results>/pairs/statistics.csv",
        log:
            "<logs>/pairs/read.log",
        priority: 100  # a mistake in a file is reported before any model runs
        params:
            version={"PAIRS_VERSION": PAIRS_VERSION},
            # the digest of a file counts, not its time
            pairs=lambda wildcards: {name: readable(SETTINGS.pair_set, name) for name in STUDY.sets},
        script:
            "../workflow/scripts/read_pairs.py"
