"""Estimates to tables in the papers' layouts, to the comparison with a paper, and to copies beside the page."""

from prasanga.base.results import Task
from prasanga.report.paper_tables import write_products

task = Task(snakemake, "report")
write_products(task.params.products)
