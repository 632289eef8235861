"""One bucket of a set of sentence pairs to the scores that one model gives them."""

from prasanga.base.io import read_frame
from prasanga.base.results import Task
from prasanga.likelihoods.stage import Job, deal_rows, score_rows

task = Task(snakemake, "likelihoods")
settings, bucket = dict(task.params.scoring), (int(task.wildcards.bucket), task.params.buckets)
job = Job(task.input.model, "results/likelihoods/kept", task.threads, task.cards)
pairs = deal_rows(read_frame(task.input.pairs), settings["which"])
scores = score_rows(pairs, task.wildcards.set, settings, job, bucket)
task.write(task.output[0], scores, task.describe(settings, libraries=["torch", "transformers", "tokenizers"]))
