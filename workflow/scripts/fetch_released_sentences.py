"""Fetch the sentences that the authors released."""

from prasanga.base.results import Task
from prasanga.sentences import fetch

task = Task(snakemake, "sentences")
fetch(target=task.output[0], **task.params.fetching)
