"""Adapter: differences of scores of sentence pairs to the figures of their densities."""

from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from prasanga.logs import log_to
from prasanga.provenance import describe
from prasanga.report.figures.pair_differences import plot_differences
from prasanga.report.figures.panels import save_figure

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake

log_to(snakemake.log[0])
made_from = describe("report", script=__file__, inputs=snakemake.input, libraries=["matplotlib", "scipy"])
differences = pl.read_parquet(snakemake.input[0])
figures = {
    "score_differences": plot_differences(differences),
    "score_differences_by_type": plot_differences(differences, lines="bias_type"),
}
for path in snakemake.output:
    save_figure(figures[Path(path).stem], path, made_from=made_from["fingerprint"])
