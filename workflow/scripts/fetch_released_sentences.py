"""Adapter: the sentences that the authors released, from the network."""

from typing import TYPE_CHECKING

from prasanga.base.logs import log_to
from prasanga.sentences.released import fetch

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake

log_to(snakemake.log[0])
fetch(target=snakemake.output[0], **snakemake.params.fetching)
