"""Adapter: tables of estimates, or of bias percentages, to the layouts of the papers, as CSV, Markdown and LaTeX."""

from pathlib import Path

from prasanga.base.logs import log_to
from prasanga.base.parquet import read_frame, write_text
from prasanga.report.paper_tables import render_layout, with_fewer_draws

log_to(snakemake.log[0])
tables = {method: read_frame(path) for method, path in snakemake.input.items()}
asked = dict(snakemake.params.layouts)
first, n_samples = tables.pop("first_draws", None), asked.pop("n_samples", 0)
if "ceat" in tables:
    tables["ceat"] = with_fewer_draws(tables["ceat"], first, n_samples)
paths = [Path(path) for path in snakemake.output]
layouts = {name: render_layout(name, tables, **asked) for name in {path.stem for path in paths}}
for path in paths:
    write_text(path, getattr(layouts[path.stem], path.suffix.removeprefix(".")))
