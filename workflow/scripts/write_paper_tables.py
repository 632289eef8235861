"""Adapter: the tables of estimates to the layouts of the papers, as CSV, Markdown and LaTeX."""

from pathlib import Path
from typing import TYPE_CHECKING

from prasanga.base.logs import log_to
from prasanga.base.parquet import read_frame, write_text
from prasanga.report.paper_tables import render_layout

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake

log_to(snakemake.log[0])
tables = {method: read_frame(path) for method, path in snakemake.input.items()}
paths = [Path(path) for path in snakemake.output]
layouts = {name: render_layout(name, tables, **snakemake.params.layouts) for name in {path.stem for path in paths}}
for path in paths:
    write_text(path, getattr(layouts[path.stem], path.suffix.removeprefix(".")))
