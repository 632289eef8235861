"""Candidate words to a ranking by their frequency in the corpus, and the first ones of each set as a word set.

Runs when asked for (`snakemake rank_candidates`) and for nothing else: the words of a study are those of its files, and no
count of a corpus changes them.
"""

from functools import partial

from prasanga.sentences.ranking import read_candidates

if config["lexicon"]["candidates"]:
    CANDIDATES = {
        "stimuli": config["lexicon"]["candidates"],
        "suffix_groups": config["lexicon"]["suffix_groups"],
        "normalization": config["normalization"][config["language"]],
    }
    CANDIDATE_LEXICON = readable(partial(plan_lexicon, **CANDIDATES, cache=CACHE))
    readable(require_language, CANDIDATE_LEXICON.language, config["language"])
    CANDIDATE_SETS = readable(read_candidates, CANDIDATES["stimuli"], CANDIDATES["normalization"])

    rule compile_candidates:
        """The surface forms of every candidate."""
        input:
            ancient(candidate_files),
        output:
            table="results/lexicon/candidates.parquet",
            for_spreadsheets="results/lexicon/candidates.tsv",
        log:
            "logs/lexicon/candidates.log",
        benchmark:
            "benchmarks/lexicon/candidates.tsv"
        params:
            lexicon={**CANDIDATES, "forms": CANDIDATE_LEXICON.forms},
        script:
            "../workflow/scripts/compile_forms.py"

    rule count_candidates:
        """How often each candidate stands in one part of the corpus."""
        input:
            corpus=ancient(lambda wildcards: SHARDS[wildcards.shard].path),
            forms="results/lexicon/candidates.parquet",
        output:
            "results/lexicon/counts/{shard}.parquet",
        log:
            "logs/lexicon/counts/{shard}.log",
        benchmark:
            "benchmarks/lexicon/counts/{shard}.tsv"
        params:
            # candidates are looked for as the study's stimuli are; contexts are of no use here
            extraction=lambda wildcards: {
                **shard_settings(SHARDS[wildcards.shard]),
                "before": 0,
                "after": 0,
            },
        script:
            "../workflow/scripts/count_candidates.py"

    rule rank_candidates:
        """The candidates by frequency, and the first of each set as a word set to copy to the stimuli."""
        input:
            counts=expand("results/lexicon/counts/{shard}.parquet", shard=sorted(SHARDS)),
            sets=ancient(candidate_files),
        output:
            ranking="results/lexicon/candidates.csv",
            sets=[f"results/lexicon/candidates/{each.name}.yaml" for each in CANDIDATE_SETS],
        log:
            "logs/lexicon/ranking.log",
        benchmark:
            "benchmarks/lexicon/ranking.tsv"
        params:
            ranking={
                "candidates": CANDIDATES["stimuli"],
                "normalization": CANDIDATES["normalization"],
                "top": config["lexicon"]["top"],
                "entries": digest_of(CANDIDATE_SETS),
            },
        script:
            "../workflow/scripts/rank_candidates.py"

else:

    rule rank_candidates:
        """Without candidates there is nothing to rank; asking for it says what to write."""
        input:
            nothing_to_rank,
