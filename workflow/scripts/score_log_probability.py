"""Measure the log-probability bias of a model and its random copies in the sentences of categories."""

from prasanga.associations import TestSettings
from prasanga.base.results import Task
from prasanga.likelihoods.categories import measure_categories
from prasanga.likelihoods.stage import Job, score_study_sentences

task = Task(snakemake, "likelihoods")
job = Job(task.input.model, "results/likelihoods/kept", task.threads, task.cards)
categories = task.params.categories
for number, (name, asked) in enumerate(task.params.log_probability.items()):
    scored = score_study_sentences("log_probability", {**asked, "name": name}, categories, job)
    choices = {key: asked[key] for key in ("exchanged", "pieces", "aggregation", "seed")}
    tables = measure_categories(scored, categories, model=name, settings=TestSettings(**asked["test"]), **choices)
    made_from = task.describe(asked, libraries=["torch", "transformers", "tokenizers", "numpy", "scipy"])
    for table, content in tables._asdict().items():
        task.write(task.output[table][number], content, made_from)
