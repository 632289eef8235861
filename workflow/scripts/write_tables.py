"""Estimates to tables in the papers' layouts, to the comparison with a paper, and to copies beside the page."""

from prasanga.report.page import write_products
from prasanga.runner import Task

task = Task(snakemake, "report")
write_products(task.params.products)
