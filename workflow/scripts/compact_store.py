"""Adapter: the small files of the stores to few large ones."""

from prasanga.base.documents import to_tsv
from prasanga.base.logs import log_to
from prasanga.base.parquet import write_text
from prasanga.embeddings import compact_stores, history_of

log_to(snakemake.log[0])
compact_stores("results/store")
write_text(snakemake.output[0], to_tsv(history_of("results/store").to_arrow()))
