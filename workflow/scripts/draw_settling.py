"""Adapter: differences and convergence to the figures of how much data is enough."""

from typing import TYPE_CHECKING

from prasanga.frames import read_frame
from prasanga.logs import log_to
from prasanga.provenance import describe
from prasanga.report.figures.saving import save_each
from prasanga.report.figures.settling import plot_convergence, plot_settling

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake

log_to(snakemake.log[0])
band = snakemake.params.band
made_from = describe(
    "report", script=__file__, inputs=snakemake.input, settings={"band": band}, libraries=["matplotlib"]
)["fingerprint"]
tables = {name: read_frame(path) for name, path in snakemake.input.items()}
ceat, differences, settling, convergence = (
    tables[name] for name in ("estimates", "differences", "settling", "convergence")
)
plots = {
    "settling": lambda width: plot_settling(ceat, differences, settling, band=band, width=width),
    "convergence": lambda width: plot_convergence(ceat, convergence, band=band, width=width),
}
save_each(plots, snakemake.output, made_from=made_from)
