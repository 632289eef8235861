"""Find the stimuli with too few contexts, for the search in the supplement."""

from pathlib import Path

from prasanga.base.io import write_document
from prasanga.base.results import Task
from prasanga.samples import parse_length, short_stimuli

task = Task(snakemake, "samples")
task.require_one_version(task.input)
settings = dict(task.params.sampling)
lengths = [parse_length(length) for length in settings.pop("lengths")]
found = short_stimuli(task.input, lengths=lengths, scratch=Path(task.output[0]).parent, **settings)
write_document(task.output[0], {"minimum": settings["minimum"], "stimuli": found})
