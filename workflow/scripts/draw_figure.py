"""Adapter: tables to one figure, in all its formats and widths."""

import json

from prasanga.base.logs import log_to
from prasanga.base.origin import describe
from prasanga.report.figures.canvas import draw_figure

log_to(snakemake.log[0])
plot, options = snakemake.params.plot, dict(snakemake.params.options)
# the function that draws is known by name alone, so its code is a setting
settings = {"plot": plot, "options": options, "code": snakemake.params.code}
made_from = describe("report", inputs=snakemake.input, settings=settings, libraries=["matplotlib", "numpy"])
draw_figure(plot, snakemake.input, options, snakemake.output, made_from=json.dumps(made_from))
