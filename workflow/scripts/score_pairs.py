"""Score both sentences of each pair with a model and its random copies."""

from pathlib import Path

import polars as pl

from prasanga.base.io import read_frame
from prasanga.base.results import Task
from prasanga.likelihoods.stage import Job, add_scores, deal_rows, score_rows

task = Task(snakemake, "likelihoods")
job = Job(task.input.model, "results/likelihoods/kept", task.threads, task.cards)
libraries = ["torch", "transformers", "tokenizers"]
paths = iter(task.output)
for settings in task.params.scoring:
    for pairs in task.input.pairs:
        path, name = next(paths), Path(pairs).stem
        dealt = deal_rows(read_frame(pairs), settings["which"])
        scored = add_scores(dealt, score_rows(dealt, name, settings, job))
        table = scored.with_columns(set=pl.lit(name), model=pl.lit(settings["name"]))
        made_from = task.describe(settings, [pairs, task.input.model], libraries)
        task.write(path, table.select(pl.exclude("twin"), pl.col("^twin$")), made_from)
