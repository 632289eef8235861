"""One bucket of the sentences of traits or categories to the scores that one model gives them."""

from prasanga.likelihoods.stage import SENTENCES, Job, category_shares, flat, rows_of, score_rows, trait_shares
from prasanga.runner import Task

task = Task(snakemake, "likelihoods")
settings = {**task.params.sentences, "name": task.wildcards.model}
of, bucket = task.wildcards.of, (int(task.wildcards.bucket), task.params.buckets)
job = Job(task.input.model, "results/likelihoods/kept", task.threads, task.cards)
shares = trait_shares(settings) if of == "structures" else flat(category_shares(settings, task.params.categories))
scores = score_rows(SENTENCES, rows_of(shares, settings["which"]), of, settings, job, bucket=bucket)
task.write(task.output[0], scores, task.describe(settings, libraries=["torch", "transformers", "tokenizers"]))
