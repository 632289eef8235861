"""Measure bias percentages, differences of scores, and detectable strength from the scores of all sets of pairs."""

from pathlib import Path

from prasanga.base.results import Task
from prasanga.likelihoods.bias import bias_percentage
from prasanga.likelihoods.strength import measure_pair_strengths
from prasanga.pairs.preferences import pair_differences, read_scores
from prasanga.schema import join_curves

task = Task(snakemake, "likelihoods")
task.require_one_version(task.input.scores, task.input.twins)
scores, libraries = read_scores(task.input.scores), ["numpy", "polars", "scipy"]
twins: dict[str, list[str]] = {}
for path in task.input.twins:
    twins.setdefault(task.params.twin_of[Path(path).stem], []).append(path)
controls = {model: read_scores(paths) for model, paths in twins.items()}
bias = bias_percentage(scores, twins=controls, **task.params.bias)
made_from = task.describe(task.params.bias, libraries=libraries)
task.write(task.output.percentages, bias, made_from)
task.write(task.output.differences, pair_differences(scores, controls), made_from)
task.write_csv(task.output.csv, bias)
if task.params.strength["repetitions"]:
    strength = measure_pair_strengths(bias, scores, controls, **task.params.strength)
    how = {**task.params.bias, **task.params.strength}
    task.write(task.output.strength, strength, task.describe(how, libraries=libraries))
    task.write_csv(task.output.strength_csv, join_curves(strength))
