"""Count the occurrences and sentences of each candidate in corpus files, or in a part of one."""

from prasanga.base.io import digests_of_files
from prasanga.base.results import Task
from prasanga.extras.corpora import count_stimuli
from prasanga.sentences import Shard, extract_shard, read_forms
from prasanga.text import normalizer

task = Task(snakemake, "lexicon")
asked = task.params.extraction
settings = {key: asked[key] for key in ("match", "before", "after", "language", "errors")}
settings["normalization"] = normalizer(asked["normalization"], **asked["replacements"])
shards = [Shard(**shard) for shard in (asked["shard"], *asked.get("more", []))]
digest = {name: each for shard in shards for name, each in shard.digest().items()}
inputs = {**digests_of_files([task.input.forms]), **digest}
forms = read_forms(task.input.forms, neighbours=asked["neighbours"] == "exclude")
counts = count_stimuli(batch for shard in shards for batch in extract_shard(shard, lexicon=forms, **settings))
task.write(task.output[0], counts, task.describe(asked, inputs, ["ftfy", "regex", "numba", "xxhash"]))
