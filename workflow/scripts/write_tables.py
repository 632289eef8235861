"""Adapter: the table of estimates to the layout of the paper, as CSV, Markdown and LaTeX."""

from prasanga.base.logs import log_to
from prasanga.base.parquet import read_frame, write_text
from prasanga.report.paper_tables import render_ceat

log_to(snakemake.log[0])
for path, text in zip(snakemake.output, render_ceat(read_frame(snakemake.input[0])), strict=True):
    write_text(path, text)
