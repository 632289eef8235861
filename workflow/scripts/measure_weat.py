"""Measure WEAT of every category from the static vectors of the study's words."""

from prasanga.associations import TestSettings
from prasanga.associations.effects import measure_weat
from prasanga.base.io import made_from as made_from_of
from prasanga.base.results import Task
from prasanga.static import read_looked_up

task = Task(snakemake, "associations")
made_from, settings = task.describe(task.params.weat, libraries=["numpy", "scipy"]), dict(task.params.weat)
del settings["categories"]  # their names
vectors, missing = read_looked_up(task.input[0])
estimates, words = measure_weat(
    task.params.categories,
    vectors,
    missing,
    name=task.wildcards.vectors,
    settings=TestSettings(**settings.pop("test")),
    method=made_from_of(task.input[0])["method"],
    **settings,
)
task.write(task.output.estimates, estimates, made_from)
task.write(task.output.words, words, made_from)
