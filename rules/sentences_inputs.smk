"""What the rules of sentences and samples take in, and what changes what they write."""

from functools import cache

from snakemake.exceptions import IncompleteCheckpointException

from prasanga.samples import counts_of


@cache
def asked_for_samples(known):
    """What Snakemake says to who asks for the samples: None once they are drawn.

    It looks through all lengths and buckets for it, and its answer depends on the outputs of checkpoints that are known
    by then, of which there are only ever more: `known` is their number.
    """
    try:
        checkpoints.draw_samples.get()
    except IncompleteCheckpointException as error:
        return error


def wait_for_samples():
    """Tell Snakemake to come back when the samples are drawn, until they are."""
    if error := asked_for_samples(len(checkpoints.created_output)):
        raise error.with_traceback(None)


def drawn_segments(wildcards):
    """The bucket of segments of one length, known once they are drawn."""
    wait_for_samples()
    return f"results/samples/{wildcards.length}/{wildcards.bucket}.parquet"


def drawn_short_segments(wildcards):
    """A bucket of segments of the shortest length, known once they are drawn."""
    wait_for_samples()
    shortest = min(LENGTHS, key=lambda length: length.words).file_name
    return f"results/samples/{shortest}/{BUCKETS[0]}.parquet"


def extraction_settings():
    """What decides which sentences are found in a text, and what stands in them."""
    chosen = {key: config["sentences"][key] for key in ("match", "before", "after")}
    asked = {key: text for key, text in config["replacements"].items() if text is not None}
    return {
        **chosen,
        "language": config["language"],
        "normalization": NORMALIZATION,
        "replacements": asked,
    }


def shard_settings(shard):
    """What one job reads: a file or a part of it, known by its content."""
    return {
        **extraction_settings(),
        "errors": config["corpus"]["errors"],
        # which entry of the config names a file changes nothing in it
        "shard": {**shard._asdict(), "columns": list(shard.columns), "text": 0},
        "digest": CORPUS[shard.path],
        "manifest": f"results/{MANIFEST}",
    }


def whole_files():
    """The files of the corpus, not in parts."""
    files = {shard.path: shard._replace(start=0, end=None) for shard in SHARDS.values()}
    return [files[path] for path in sorted(files)]


def audit_tables():
    """The tables by which a reader judges the lexicon, made or used as those of an earlier stage are."""
    names = ("forms", "concordance", "suffixes", "lengths")
    paths = [f"results/sentences/audit/{name}.parquet" for name in names]
    return [found for path in paths for found in made_by_the_workflow(path)]


def sentence_counts():
    """What was read of each corpus file: made if vectors are computed, else that of the files that were sampled."""
    if COMPUTED:
        return [f"results/sentences/{shard}.json" for shard in sorted(SHARDS)]
    return readable(counts_of, "results/samples/coverage.parquet")


def candidate_files(wildcards):
    """The candidate sets and suffix groups that the candidates' forms are compiled from."""
    return files_of(CANDIDATES["stimuli"]) + [CANDIDATES["suffix_groups"]]


def nothing_to_rank(wildcards):
    """Tell who asks for a ranking without candidates what to write."""
    raise WorkflowError(
        "lexicon.candidates is null, so there is nothing to rank. Name a folder with candidate word sets there, such as"
        f" resources/candidates/{config['language']} (docs/candidates.md)."
    )
