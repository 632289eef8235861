"""Write the front page and the summary over all languages of a study."""

from prasanga.base.results import Task
from prasanga.report.page import write_front_page

task = Task(snakemake, "report")
asked = task.params
write_front_page(asked.study, asked.languages, asked.tables, asked.files, dict(task.output.items()))
