"""Adapter: the study's corpus to a text file of its sentences, for all trainings of static vectors."""

from prasanga.base.logs import log_to
from prasanga.sentences import Shard
from prasanga.static import write_sentences
from prasanga.text import normalizer

log_to(snakemake.log[0])
settings = dict(snakemake.params.cutting)
shards = [Shard(**shard) for shard in settings["shards"]]
normalize = normalizer(settings["normalization"], **settings["replacements"])
write_sentences(shards, snakemake.output[0], normalize, language=settings["language"], errors=settings["errors"])
