"""Read files of sentence pairs into tables, with their oddities and statistics."""

import polars as pl

from prasanga.base.results import Task
from prasanga.pairs import read_pair_file, statistics

task = Task(snakemake, "pairs")
outputs = zip(task.input, task.output.pairs, task.output.oddities, task.output.csv, strict=True)
tables = []
for (name, asked), (path, pairs, oddities, csv) in zip(task.params.pairs.items(), outputs, strict=True):
    found = read_pair_file(path, asked["languages"], layout=asked["layout"], spoken=asked["spoken"])
    made_from = task.describe(asked, [path])
    task.write(pairs, found.pairs, made_from)
    task.write(oddities, found.oddities, made_from)
    task.write_csv(csv, found.oddities)
    tables.append(statistics(found.pairs).with_columns(set=pl.lit(name)))
table = pl.concat(tables)
task.write(task.output.statistics, table, task.describe({"sets": list(task.params.pairs)}, task.output.pairs))
task.write_csv(task.output.statistics_csv, table)
