"""Score traits in the sentence structures with a model and its random copies."""

from prasanga.base.results import Task
from prasanga.likelihoods.stage import Job, score_study_sentences
from prasanga.likelihoods.structures import measure_traits

task = Task(snakemake, "likelihoods")
job = Job(task.input.model, "results/likelihoods/kept", task.threads, task.cards)
for number, (name, asked) in enumerate(task.params.structures.items()):
    settings = {**asked, "name": name, "drawn": task.input.get("drawn")}
    scored = score_study_sentences("structures", settings, {}, job)
    choices = {key: asked[key] for key in ("pieces", "aggregation", "prior_mask")}
    tables = measure_traits(scored, model=name, **choices)
    made_from = task.describe(asked, libraries=["torch", "transformers", "tokenizers"])
    for table, content in tables._asdict().items():
        task.write(task.output[table][number], content, made_from)
