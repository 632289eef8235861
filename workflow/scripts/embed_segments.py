"""Adapter: one bucket of segments to the vectors of its target words."""

from prasanga.base.logs import log_to
from prasanga.embeddings.stage import embed_file
from prasanga.samples.drawing import require_bucket

log_to(snakemake.log[0])
require_bucket(snakemake.input.segments, snakemake.wildcards.length, snakemake.wildcards.bucket)
embed_file(
    snakemake.input.segments,
    snakemake.output.vectors,
    left_out=snakemake.output.left_out,
    model=snakemake.input.model,
    embedding=snakemake.params.embedding,
    root="results/store",
    script=__file__,
    threads=snakemake.threads,
    cards=snakemake.resources.cards,
)
