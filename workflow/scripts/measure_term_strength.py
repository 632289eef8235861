"""Measure the strength of log-probability bias that could have been found, from scores of terms and estimates."""

from pathlib import Path
from typing import Any

import polars as pl

from prasanga.associations import TestSettings
from prasanga.associations.strength import measure_strengths
from prasanga.base.io import read_table
from prasanga.base.results import Task
from prasanga.likelihoods.strength import build_term_studies
from prasanga.schema import join_curves

task = Task(snakemake, "likelihoods")
asked = dict(task.params.strength)
made_from, settings = task.describe(asked, libraries=["numpy", "polars", "scipy"]), TestSettings(**asked.pop("test"))
choices: dict[str, Any] = {name: asked.pop(name) for name in ("exchanged", "aggregation")}


def build(row: Any, rule: Any, rng: Any) -> Any:
    """The simulated studies of an estimate."""
    scores, *copies = (pl.DataFrame(read_table(paths[0])) for paths in task.params.scores[row["model"]])
    return build_term_studies(task.params.categories, row, scores, copies, rule, rng, **choices)


tables = {Path(path).stem: read_table(path).to_pylist() for path in task.input.estimates}
table = measure_strengths(tables, "log_probability", build, settings=settings, **asked)
task.write(task.output.parquet, table, made_from)
task.write_csv(task.output.csv, join_curves(table))
