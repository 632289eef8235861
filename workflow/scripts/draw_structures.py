"""Adapter: the spread of traits by sentence structure to its figure."""

from typing import TYPE_CHECKING

from prasanga.frames import read_frame
from prasanga.logs import log_to
from prasanga.provenance import describe
from prasanga.report.figures.saving import save_widths
from prasanga.report.figures.structures import plot_structures

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake

log_to(snakemake.log[0])
made_from = describe("report", script=__file__, inputs=snakemake.input, libraries=["matplotlib"])["fingerprint"]
spread = read_frame(snakemake.input[0])
save_widths(lambda width: plot_structures(spread, width=width), snakemake.output, made_from=made_from)
