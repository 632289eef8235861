"""Adapter: what was ever embedded here, when, and with which versions."""

from typing import TYPE_CHECKING

from prasanga.base.documents import to_tsv
from prasanga.base.logs import log_to
from prasanga.base.parquet import write_text
from prasanga.embeddings import history_of

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake

log_to(snakemake.log[0])
write_text(snakemake.output[0], to_tsv(history_of("results/store").to_arrow()))
