"""Adapter: the small files of the stores to few large ones."""

from typing import TYPE_CHECKING

from prasanga.embeddings import compact_stores, history_of
from prasanga.logs import log_to
from prasanga.parquet import write_text
from prasanga.spreadsheets import to_tsv

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake

log_to(snakemake.log[0])
compact_stores("results/store")
write_text(snakemake.output[0], to_tsv(history_of("results/store").to_arrow()))
