"""Sets of sentence pairs to the scores that a model and its random copies give both sentences of each pair."""

from pathlib import Path

from prasanga.base.parquet import read_frame
from prasanga.likelihoods.stage import PAIRS, Job, deal_pairs, score_rows, set_table
from prasanga.runner import Task

task = Task(snakemake, "likelihoods")
job = Job(task.input.model, "results/likelihoods/kept", task.threads, task.cards)
libraries = ["torch", "transformers", "tokenizers"]
paths = iter(task.output)
for settings in task.params.scoring:
    for pairs in task.input.pairs:
        path, name = next(paths), Path(pairs).stem
        dealt, folder = deal_pairs(read_frame(pairs), settings["which"]), Path(path).with_suffix("")
        buckets = [bucket for bucket in task.input.buckets if Path(bucket).parent == folder]
        scores = score_rows(PAIRS, dealt, name, settings, job, buckets=buckets)
        made_from = task.describe(settings, [pairs, task.input.model, *buckets], libraries)
        task.write(path, set_table(dealt, scores, name, settings["name"]), made_from)
