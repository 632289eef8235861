"""Adapter: the table of estimates to the layout of the paper, as CSV, Markdown and LaTeX."""

from prasanga.base.logs import log_to
from prasanga.base.parquet import read_frame, write_text
from prasanga.report.ceat_table import to_csv, to_latex, to_markdown

log_to(snakemake.log[0])
ceat = read_frame(snakemake.input[0])
for path, render in zip(snakemake.output, (to_csv, to_markdown, to_latex), strict=True):
    write_text(path, render(ceat))
