"""Make the tables for judging the lexicon from all sentences."""

from prasanga.base.io import read_table
from prasanga.base.results import Task
from prasanga.sentences.audit import concordance, count_forms, count_suffixes, length_histogram

task = Task(snakemake, "sentences")
settings, paths = task.params.audit, list(task.input.sentences)
task.require_one_version(paths)
forms, hits = count_forms(paths), concordance(paths, settings["concordance"], settings["seed"])
suffixes = count_suffixes(forms, read_table(task.input.forms))
tables = {"forms": forms, "concordance": hits, "suffixes": suffixes, "lengths": length_histogram(paths)}
made_from = task.describe(settings)
for name, table in tables.items():
    task.write(task.output[name], table, made_from)
    task.write_tsv(task.output[f"{name}_tsv"], table, ["false_friend"] if name == "concordance" else [])
