"""Write the sentences of the study's corpus to a text file, for all trainings of static vectors."""

from prasanga.base.results import Task
from prasanga.sentences import Shard
from prasanga.static import write_sentences
from prasanga.text import normalizer

task = Task(snakemake, "static")
asked = task.params.cutting
normalize = normalizer(asked["normalization"], **asked["replacements"])
shards = [Shard(**shard) for shard in asked["shards"]]
write_sentences(shards, task.output[0], normalize, language=asked["language"], errors=asked["errors"])
