"""Compile the categories with their words and glosses from word lists."""

from prasanga.base.io import write_document
from prasanga.base.results import Task
from prasanga.lexicon import categories_of, lexicon_of

task = Task(snakemake, "lexicon")
write_document(task.output[0], categories_of(lexicon_of(task.params.lexicon)))
