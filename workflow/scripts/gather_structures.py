"""Gather the scores of traits by all models, their spread by structure, and comparisons of structures."""

import polars as pl

from prasanga.base.io import read_frame
from prasanga.base.results import Task
from prasanga.likelihoods.structures import compare_structures, gather_traits, list_oddities, spread_by_structure

task = Task(snakemake, "likelihoods")
settings = task.params.gathering
task.require_one_version(task.input.traits, task.input.twins)
traits = pl.concat(map(read_frame, task.input.traits))
twins = gather_traits({m: read_frame(p) for m, p in zip(settings["twin_of"], task.input.twins, strict=True)})
chance = {name: settings[name] for name in ("n_resamples", "seed")}
tables = {
    "spread": spread_by_structure(traits, twins, **chance),
    "differences": compare_structures(traits, **chance),
    "traits": traits,
    "oddities": list_oddities(settings["traits"], settings["normalization"]),
}
made_from = task.describe(settings, libraries=["numpy"])
for name, table in tables.items():
    task.write(task.output[name], table, made_from)
task.write_csv(task.output.csv, tables["spread"])
