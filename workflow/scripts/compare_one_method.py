"""Compare the estimates of one method, before p is corrected, with a paper's numbers."""

from prasanga.base.results import Task
from prasanga.report.paper_tables import write_comparison

task = Task(snakemake, "report")
write_comparison(dict(task.input.items()), task.params.comparison, list(task.output))
