"""Adapter: the shards of one model and length to a small file that names them."""

from prasanga.base.logs import log_to
from prasanga.embeddings import list_shards

log_to(snakemake.log[0])
list_shards(snakemake.input.vectors, snakemake.output[0])
