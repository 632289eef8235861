"""Adapter: segments of one length or of several to the vectors of their target words."""

from pathlib import Path

from prasanga.base.logs import log_to
from prasanga.embeddings.stage import embed_files
from prasanga.samples.drawing import require_bucket

log_to(snakemake.log[0])
for path, output in zip(snakemake.input.segments, snakemake.output.vectors, strict=True):
    require_bucket(path, Path(output).parent.name, snakemake.wildcards.bucket)
embed_files(
    snakemake.input.segments,
    snakemake.output.vectors,
    left_out=snakemake.output.left_out,
    model=snakemake.input.model,
    embedding=snakemake.params.embedding,
    root="results/store",
    threads=snakemake.threads,
    cards=snakemake.resources.cards,
)
