"""Audit each model's tokenizer on surface forms, counted in a sample of the texts."""

from prasanga.base.io import digests_of_files, read_document, read_frame, write_document
from prasanga.base.results import Task
from prasanga.models import ModelOptions, audit_tokenizer, load_tokenizer
from prasanga.sentences import Shard, read_forms
from prasanga.sentences.passages import count_in_sample
from prasanga.text import normalizer

task = Task(snakemake, "models")
sample, files = task.params.sampling, [task.input.forms, *task.input.templates]
shards = [Shard(**shard) for shard in sample["shards"]]
forms, *templates = map(read_frame, files)
lexicon = read_forms(task.input.forms, neighbours=sample["neighbours"] == "exclude")
normalize = normalizer(sample["normalization"], **sample["replacements"])
how = {"lexicon": lexicon, "normalization": normalize, "match": sample["match"]}
counts = count_in_sample(forms, shards, templates[0] if templates else None, **how)
libraries = ["ftfy", "regex", "numba"]
task.write(task.output.counts, counts, task.describe(sample, digests_of_files(files), libraries, stage="lexicon"))
outputs = zip(task.input.reports, task.output.summaries, task.output.words, strict=True)
for (name, settings), (report, summary, words) in zip(task.params.models.items(), outputs, strict=True):
    revision = read_document(report)["identity"].get("commit", settings["revision"])
    tokenizer = load_tokenizer(settings["model"], revision=revision, options=ModelOptions(**settings["options"]))
    audit = audit_tokenizer(tokenizer, read_frame(task.output.counts))
    if settings["limits"]:
        audit.require(settings["limits"], name)
    task.write(words, audit.table, task.describe(settings, [task.output.counts]))
    write_document(summary, audit.summary)
