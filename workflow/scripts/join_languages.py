"""Join the tables of all languages of a study."""

from prasanga.base.results import Task
from prasanga.report.study import join_languages

task = Task(snakemake, "report")
for path, parts in zip(task.output, task.params.parts, strict=True):
    table = join_languages(parts)
    if path.endswith(".csv"):
        task.write_csv(path, table)
    else:
        task.write(path, table, task.describe(inputs=parts.values()))
