"""Adapter: one bucket of a set of sentence pairs to the scores that one model gives them."""

from prasanga.base.logs import log_to
from prasanga.base.parquet import read_frame, write_table
from prasanga.likelihoods.stage import PAIRS, deal_pairs, score_rows
from prasanga.provenance import describe

log_to(snakemake.log[0])
settings = dict(snakemake.params.scoring)
scores = score_rows(
    PAIRS,
    deal_pairs(read_frame(snakemake.input.pairs), settings["which"]),
    snakemake.wildcards.set,
    settings=settings,
    model=snakemake.input.model,
    kept="results/likelihoods/kept",
    threads=snakemake.threads,
    cards=snakemake.resources.cards,
    bucket=(int(snakemake.wildcards.bucket), snakemake.params.buckets),
)
libraries = ["torch", "transformers", "tokenizers"]
made_from = describe("likelihoods", script=__file__, inputs=snakemake.input, settings=settings, libraries=libraries)
write_table(snakemake.output[0], scores.to_arrow(), made_from)
