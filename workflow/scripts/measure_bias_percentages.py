"""The scores of all sets of pairs to bias percentages and to the differences of scores."""

from pathlib import Path

from prasanga.base.results import Task
from prasanga.likelihoods.bias import bias_percentage
from prasanga.pairs.preferences import pair_differences, read_scores

task = Task(snakemake, "likelihoods")
task.require_one_version(task.input.scores, task.input.twins)
scores = read_scores(task.input.scores)
twins: dict[str, list[str]] = {}
for path in task.input.twins:
    twins.setdefault(task.params.twin_of[Path(path).stem], []).append(path)
controls = {model: read_scores(paths) for model, paths in twins.items()}
bias = bias_percentage(scores, twins=controls, **task.params.bias)
made_from = task.describe(task.params.bias, libraries=["numpy", "polars", "scipy"])
task.write(task.output.percentages, bias, made_from)
task.write(task.output.differences, pair_differences(scores, controls), made_from)
task.write_csv(task.output.csv, bias)
