"""Adapter: how far the vectors of the study are from those in full precision, on a few of its segments."""

from prasanga.base.documents import read_document, write_document
from prasanga.base.logs import log_to
from prasanga.embeddings import VectorSettings, compare_with_full_precision, settle_dtype

log_to(snakemake.log[0])
report = read_document(snakemake.input.model)
settings = VectorSettings.of(snakemake.params.embedding, cards=snakemake.resources.cards)
settings = settle_dtype(settings, report, "results/store")
compared = compare_with_full_precision(
    settings, report, snakemake.input.segments, "results/store", threads=snakemake.threads
)
write_document(snakemake.output[0], compared)
