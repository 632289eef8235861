"""Adapter: the table of estimates to the figure of fixed against random draws."""

from typing import TYPE_CHECKING

from prasanga.frames import read_frame
from prasanga.logs import log_to
from prasanga.provenance import describe
from prasanga.report.figures.sample_modes import plot_sample_modes
from prasanga.report.figures.saving import save_widths

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake

log_to(snakemake.log[0])
made_from = describe("report", script=__file__, inputs=snakemake.input, libraries=["matplotlib"])["fingerprint"]
ceat = read_frame(snakemake.input[0])
save_widths(lambda width: plot_sample_modes(ceat, width=width), snakemake.output, made_from=made_from)
