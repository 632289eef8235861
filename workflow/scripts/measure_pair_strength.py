"""The scores and percentages of all sets of pairs to the strength of stereotype that could have been found."""

from pathlib import Path

from prasanga.base.results import Task
from prasanga.likelihoods.strength import measure_pair_strengths
from prasanga.pairs.preferences import read_scores
from prasanga.schema import join_curves, read_table

task = Task(snakemake, "likelihoods")
twins: dict[str, list[str]] = {}
for path in task.input.twins:
    twins.setdefault(task.params.twin_of[Path(path).stem], []).append(path)
copies = {model: read_scores(paths) for model, paths in twins.items()}
bias, scores = read_table(task.input.bias), read_scores(task.input.scores)
table = measure_pair_strengths(bias, scores, copies, **task.params.strength)
task.write(task.output.parquet, table, task.describe(task.params.strength, libraries=["numpy", "polars", "scipy"]))
task.write_csv(task.output.csv, join_curves(table))
