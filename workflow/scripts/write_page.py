"""Adapter: all results of the study to one page."""

from prasanga.base.logs import log_to
from prasanga.base.origin import describe
from prasanga.base.parquet import write_text
from prasanga.report.page import render_page
from prasanga.report.study import read_results

LIBRARIES = ["matplotlib", "numpy", "polars", "pyarrow", "scipy"]

log_to(snakemake.log[0])
study, page = snakemake.params.study, snakemake.output[0]
results = read_results(
    dict(snakemake.input.items()), page=page, studied=snakemake.params.studied, missing=snakemake.params.missing
)
linked = set(snakemake.input.files) - {*snakemake.input.figures, *snakemake.input.comparison}
shown = [path for path in snakemake.input if path not in linked]
made_from = describe("report", inputs=shown, settings=study, libraries=LIBRARIES)
write_text(page, render_page(config=study, results=results, made_from=made_from))
