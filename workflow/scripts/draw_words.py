"""Adapter: associations of words to a figure for each category."""

from typing import TYPE_CHECKING

from prasanga.frames import read_frame
from prasanga.lexicon.categories import read_categories
from prasanga.logs import log_to
from prasanga.provenance import describe
from prasanga.report.figures.names import words_figure
from prasanga.report.figures.saving import save_each
from prasanga.report.figures.words import plot_words

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake

log_to(snakemake.log[0])
made_from = describe("report", script=__file__, inputs=snakemake.input, libraries=["matplotlib"])["fingerprint"]
words = read_frame(snakemake.input.words)
categories = read_categories(snakemake.input.categories)
plots = {
    words_figure(name): lambda width, name=name: plot_words(words, categories, name, width=width)
    for name in categories
    if name != "glosses"
}
save_each(plots, snakemake.output, made_from=made_from)
