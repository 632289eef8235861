"""Adapter: the study's corpus to sentences of numbered words, for all trainings of static vectors."""

from contextlib import ExitStack

from prasanga.base.logs import log_to
from prasanga.provenance import describe
from prasanga.sentences import Shard
from prasanga.sentences.manifest import as_planned
from prasanga.static import cut_corpus
from prasanga.text import normalizer

log_to(snakemake.log[0])
settings = dict(snakemake.params.cutting)
digests = dict(zip((shard["path"] for shard in settings["shards"]), settings["digests"], strict=True))
libraries = ["ftfy", "numba", "numpy", "polars", "regex"]
made_from = describe("static", script=__file__, inputs=digests, settings=settings, libraries=libraries)
normalize = normalizer(settings["normalization"], **settings["replacements"])
with ExitStack() as planned:
    for path, digest in digests.items():
        planned.enter_context(as_planned(path, digest, settings["manifest"]))
    cut_corpus(
        [Shard(**shard) for shard in settings["shards"]],
        *(snakemake.output.sentences, snakemake.output.words, normalize),
        language=settings["language"],
        errors=settings["errors"],
        processes=snakemake.threads,
        made_from=made_from,
    )
