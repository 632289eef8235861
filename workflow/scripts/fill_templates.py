"""Fill templates with all words of some categories."""

from prasanga.base.results import Task
from prasanga.lexicon import lexicon_of, load_templates
from prasanga.samples.segments import fill_templates

task = Task(snakemake, "samples")
settings = task.params.filling
templates = load_templates(task.input.templates, settings["normalization"])
made_from = task.describe(settings, libraries=["ftfy", "regex"])
task.write(task.output[0], fill_templates(lexicon_of(settings), settings["categories"], templates), made_from)
