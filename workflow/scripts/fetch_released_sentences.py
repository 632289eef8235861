"""Adapter: the sentences that the authors released, from the network."""

from prasanga.base.logs import log_to
from prasanga.sentences import fetch

log_to(snakemake.log[0])
fetch(target=snakemake.output[0], **snakemake.params.fetching)
