"""Adapter: the sentences of templates to the vectors that one model gives them."""

from prasanga.base.logs import log_to
from prasanga.embeddings.stage import embed_files

log_to(snakemake.log[0])
embed_files(
    [snakemake.input.sentences],
    [snakemake.output.vectors],
    left_out=[snakemake.output.left_out],
    model=snakemake.input.model,
    embedding=snakemake.params.embedding,
    root="results/store",
    threads=snakemake.threads,
    cards=snakemake.resources.cards,
)
