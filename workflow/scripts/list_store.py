"""Adapter: what was ever embedded here, when, and with which versions."""

from prasanga.base.documents import to_tsv
from prasanga.base.logs import log_to
from prasanga.base.parquet import write_text
from prasanga.embeddings import history_of

log_to(snakemake.log[0])
write_text(snakemake.output[0], to_tsv(history_of("results/store").to_arrow()))
