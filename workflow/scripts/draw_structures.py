"""Adapter: the spread of traits by sentence structure to its figure."""

from typing import TYPE_CHECKING

import polars as pl

from prasanga.logs import log_to
from prasanga.provenance import describe
from prasanga.report.figures.panels import save_figure
from prasanga.report.figures.structures import plot_structures

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake

log_to(snakemake.log[0])
made_from = describe("report", script=__file__, inputs=snakemake.input, libraries=["matplotlib"])
figure = plot_structures(pl.read_parquet(snakemake.input[0]))
for path in snakemake.output:
    save_figure(figure, path, made_from=made_from["fingerprint"])
