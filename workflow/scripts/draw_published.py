"""Adapter: the comparison with a paper to its figure, at both widths."""

from typing import TYPE_CHECKING

import polars as pl

from prasanga.logs import log_to
from prasanga.provenance import describe
from prasanga.report.figures.published import plot_published
from prasanga.report.figures.saving import save_widths

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake

log_to(snakemake.log[0])
made_from = describe("report", script=__file__, inputs=snakemake.input, libraries=["matplotlib"])
rows = pl.read_csv(snakemake.input[0], infer_schema_length=None)
save_widths(lambda width: plot_published(rows, width=width), snakemake.output, made_from=made_from["fingerprint"])
