"""Adapter: differences of scores of sentence pairs to the figures of their densities."""

from typing import TYPE_CHECKING

from prasanga.frames import read_frame
from prasanga.logs import log_to
from prasanga.provenance import describe
from prasanga.report.figures.pair_differences import plot_differences
from prasanga.report.figures.saving import save_each

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake

log_to(snakemake.log[0])
made_from = describe("report", script=__file__, inputs=snakemake.input, libraries=["matplotlib", "numpy"])[
    "fingerprint"
]
differences = read_frame(snakemake.input[0])
plots = {
    "score_differences": lambda width: plot_differences(differences, width=width),
    "score_differences_by_type": lambda width: plot_differences(differences, lines="bias_type", width=width),
}
save_each(plots, snakemake.output, made_from=made_from)
