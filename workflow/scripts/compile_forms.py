"""Compile the table of surface forms from word lists and suffix groups."""

import logging

from prasanga.base.results import Task
from prasanga.lexicon import forms_table, lexicon_of

task = Task(snakemake, "lexicon")
lexicon = lexicon_of(task.params.lexicon)
for warning in lexicon.warnings:
    logging.getLogger("prasanga.lexicon").warning("%s", warning)
forms = forms_table(lexicon)
task.write(task.output.table, forms, task.describe(task.params.lexicon))
task.write_tsv(task.output.for_spreadsheets, forms)
