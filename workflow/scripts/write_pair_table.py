"""Adapter: bias percentages to the layout of Table 2 of Sahoo et al., as CSV, Markdown and LaTeX."""

from pathlib import Path

from prasanga.base.logs import log_to
from prasanga.base.parquet import read_frame, write_text
from prasanga.report.pair_table import render_pair_table

log_to(snakemake.log[0])
layout = render_pair_table(read_frame(snakemake.input[0]), preset=snakemake.params.preset)
for path in map(Path, snakemake.output):
    write_text(path, getattr(layout, path.suffix.removeprefix(".")))
