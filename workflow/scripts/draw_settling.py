"""Adapter: differences and convergence to the figures of how much data is enough."""

from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from prasanga.logs import log_to
from prasanga.provenance import describe
from prasanga.report.figures.panels import save_figure
from prasanga.report.figures.settling import plot_convergence, plot_settling

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake

log_to(snakemake.log[0])
band = snakemake.params.band
made_from = describe(
    "report", script=__file__, inputs=snakemake.input, settings={"band": band}, libraries=["matplotlib"]
)
tables = {name: pl.read_parquet(path) for name, path in snakemake.input.items()}
figures = {
    "settling": plot_settling(tables["estimates"], tables["differences"], tables["settling"], band=band),
    "convergence": plot_convergence(tables["estimates"], tables["convergence"], band=band),
}
for path in snakemake.output:
    save_figure(figures[Path(path).stem], path, made_from=made_from["fingerprint"])
