"""Write tables in the papers' layouts, the comparison with a paper, and copies for the page."""

from prasanga.base.results import Task
from prasanga.report.paper_tables import write_products

task = Task(snakemake, "report")
write_products(task.params.products)
