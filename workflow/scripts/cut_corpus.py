"""Adapter: the study's corpus to a text file of its sentences, for all trainings of static vectors."""

from contextlib import ExitStack

from prasanga.base.logs import log_to
from prasanga.sentences import Shard
from prasanga.sentences.manifest import as_planned
from prasanga.static import write_sentences
from prasanga.text import normalizer

log_to(snakemake.log[0])
settings = dict(snakemake.params.cutting)
shards = [Shard(**shard) for shard in settings["shards"]]
normalize = normalizer(settings["normalization"], **settings["replacements"])
with ExitStack() as planned:
    for shard, digest in zip(shards, settings["digests"], strict=True):
        planned.enter_context(as_planned(shard.path, digest, settings["manifest"]))
    options = {key: settings[key] for key in ("language", "errors")}
    write_sentences(shards, snakemake.output[0], normalize, **options)
