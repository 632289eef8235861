"""One bucket of the sentences of traits or categories to the scores that one model gives them."""

from prasanga.base.results import Task
from prasanga.likelihoods.stage import Job, load_sentences, score_rows

task = Task(snakemake, "likelihoods")
settings = {**task.params.sentences, "name": task.wildcards.model}
bucket = int(task.wildcards.bucket), task.params.buckets
job = Job(task.input.model, "results/likelihoods/kept", task.threads, task.cards)
scores = score_rows(load_sentences(settings, task.params.categories), task.wildcards.of, settings, job, bucket)
task.write(task.output[0], scores, task.describe(settings, libraries=["torch", "transformers", "tokenizers"]))
