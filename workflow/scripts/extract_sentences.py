"""Extract the sentences with located stimuli from corpus files, or from a part of one."""

from prasanga.base.io import digests_of_files, read_document, write_batches, write_document
from prasanga.base.results import Task
from prasanga.sentences import REPEATED, SENTENCE_SCHEMA, ExtractionReport, Shard, extract_shard, read_forms
from prasanga.text import normalizer

task = Task(snakemake, "sentences")
asked, short = task.params.extraction, task.input.get("short")
settings = {key: asked[key] for key in ("match", "before", "after", "language", "errors")}
settings["normalization"] = normalizer(asked["normalization"], **asked["replacements"])
shards = [Shard(**shard) for shard in (asked["shard"], *asked.get("more", []))]
digest = {name: each for shard in shards for name, each in shard.digest().items()}
made = digests_of_files([task.input.forms, short] if short else [task.input.forms])
made_from = task.describe(asked, made | digest, ["ftfy", "regex", "numba", "xxhash"])
# The supplement is read only for these stimuli, if there are any.
only = read_document(short)["stimuli"] if short else None
forms = read_forms(task.input.forms, only, neighbours=asked["neighbours"] == "exclude")
reports = [ExtractionReport() for _ in shards]
found = (
    batch
    for shard, report in zip(shards, reports, strict=True)
    for batch in (extract_shard(shard, lexicon=forms, report=report, **settings) if forms.claims() else [])
)
write_batches(task.output.sentences, SENTENCE_SCHEMA, found, made_from, dictionary=REPEATED)
counts = {name: sum(report.as_dict()[name] for report in reports) for name in reports[0].as_dict()}
write_document(task.output.counts, {"files": len(shards), **counts, "digest": digest})
