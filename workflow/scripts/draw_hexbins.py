"""Adapter: traits in sentence structures to a figure of prior against corrected scores for each model."""

from typing import TYPE_CHECKING

from prasanga.frames import read_frame
from prasanga.logs import log_to
from prasanga.provenance import describe
from prasanga.report.figures.hexbins import plot_hexbins
from prasanga.report.figures.names import hexbins_figure
from prasanga.report.figures.saving import save_each

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake

log_to(snakemake.log[0])
models = list(snakemake.params.models)
made_from = describe(
    "report", script=__file__, inputs=snakemake.input, settings={"models": models}, libraries=["matplotlib", "numpy"]
)["fingerprint"]
traits = read_frame(snakemake.input[0])
plots = {
    hexbins_figure(model): lambda width, model=model: plot_hexbins(traits, model=model, width=width) for model in models
}
save_each(plots, snakemake.output, made_from=made_from)
